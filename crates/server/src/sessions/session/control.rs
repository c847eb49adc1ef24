//! Who uses the browser of a session: its calls, or a user at the dashboard who has taken it over.

use super::Session;
use crate::answers::reply::Event;
use crate::calls::Call;
use crate::error::{Error, Result};
use crate::sessions::call_log::CallLog;
use engine::Page;
use std::sync::Arc;
use std::time::Duration;
use task::Task;
use tokio::sync::watch;

/// How long a call without a timeout of its own waits until the user hands the browser back.
const HAND_BACK_TIMEOUT: Duration = Duration::from_secs(30);

/// How long the user may take to annotate a page, unless the call has a timeout of its own.
pub(crate) const ANNOTATION_TIMEOUT: Duration = Duration::from_secs(600);

/// Who controls a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Holder {
    /// Its calls.
    #[default]
    Calls,
    /// A user, after the call that still runs.
    UserNext,
    /// A user.
    User,
}

/// Who controls a session, and the calls that its dashboards show.
#[derive(Default)]
pub(crate) struct Control {
    state: watch::Sender<State>,
    call_log: Arc<CallLog>,
}

#[derive(Default)]
struct State {
    holder: Holder,
    /// The number of calls that have their turn and wait for the user.
    waiting: usize,
    /// The number of dashboards that show the session.
    watchers: usize,
    /// The pages that the user annotates.
    annotated: Vec<Page>,
}

/// The control of a session by a user, until it is dropped.
pub(crate) struct UserControl {
    session: Arc<Session>,
    /// Waits for the call that still runs.
    _begin: Task,
}

/// Counts something of a session until it is dropped.
pub(crate) struct Counted {
    control: Arc<Control>,
    counter: fn(&mut State) -> &mut usize,
}

/// The annotation of a page by the user, until it is dropped.
pub(crate) struct Annotation {
    control: Arc<Control>,
    page: Page,
}

impl Session {
    /// Gives the control to a user as soon as no call runs that acts; `None` if another user has it.
    pub(crate) fn take_control(self: &Arc<Self>) -> Option<UserControl> {
        if !self.control.pass(Holder::Calls, Holder::UserNext) {
            return None;
        }
        let session = self.clone();
        let begin = task::spawn("user control", async move {
            let mut state = session.control.state.subscribe();
            tokio::select! {
                _turn = session.turn() => {}
                // This call has the turn and does nothing.
                _ = state.wait_for(|state| state.waiting > 0) => {}
            }
            session.control.pass(Holder::UserNext, Holder::User);
        });
        Some(UserControl {
            session: self.clone(),
            _begin: begin,
        })
    }

    /// Waits for the turn of a call, and, if the call acts, until no user controls the session. Fails if the session has ended meanwhile, or
    /// after the timeout of the call if the user has not handed the browser back.
    pub(crate) async fn begin_call(self: &Arc<Self>, call: &Call) -> Result<()> {
        call.take_turn(self.turn()).await;
        self.ensure_open()?;
        // The steps of a batch are parts of one call.
        if call.tool.acts() && !call.is_step() {
            self.control.wait_for_call(call).await?;
            self.ensure_open()?;
        }
        Ok(())
    }

    /// Like [`Self::begin_call`], for a call that closes the session: it cancels the calls before it. While a user controls the session, it
    /// waits behind them instead.
    pub(crate) async fn begin_close(self: &Arc<Self>, call: &Call) -> Result<()> {
        match self.control.holder() {
            Holder::Calls => call.take_turn(self.last_turn()).await,
            Holder::UserNext | Holder::User => call.take_turn(self.turn()).await,
        }
        self.ensure_open()?;
        self.control.wait_for_call(call).await?;
        self.ensure_open()
    }
}

impl Control {
    /// Returns the last calls of the session; none without a dashboard.
    pub(crate) fn call_log(&self) -> &Arc<CallLog> {
        &self.call_log
    }

    /// Returns who controls the session.
    pub(crate) fn holder(&self) -> Holder {
        self.state.borrow().holder
    }

    /// Waits until the user has handed the browser back. Fails after the timeout of the call. The call has its turn.
    async fn wait_for_call(self: &Arc<Self>, call: &Call) -> Result<()> {
        if self.holder() == Holder::Calls {
            return Ok(());
        }
        call.set_status("waiting for the user, who has taken over the browser");
        let limit = call.timeout_or(HAND_BACK_TIMEOUT);
        let is_back = async {
            // While the call counts as waiting, a user can take the session over again.
            while self.holder() != Holder::Calls {
                let _waiting = self.count(|state| &mut state.waiting);
                self.wait_for_hand_back().await;
            }
        };
        let outcome = tokio::time::timeout(limit, is_back).await;
        call.clear_status();
        outcome.map_err(|_| Error::UserHasControl {
            tool: call.tool.name,
            waited_ms: u64::try_from(limit.as_millis()).unwrap_or(u64::MAX),
        })
    }

    /// Waits until no user controls the session.
    pub(super) async fn wait_for_hand_back(&self) {
        let mut state = self.state.subscribe();
        // The sender lives as long as the session.
        let _ = state.wait_for(|state| state.holder == Holder::Calls).await;
    }

    /// Records that a dashboard shows the session.
    pub(crate) fn watch(self: &Arc<Self>) -> Counted {
        self.count(|state| &mut state.watchers)
    }

    /// Returns whether a dashboard shows the session.
    pub(crate) fn is_watched(&self) -> bool {
        self.state.borrow().watchers > 0
    }

    /// Records that the user annotates the page, for which their input is accepted.
    pub(crate) fn begin_annotation(self: &Arc<Self>, page: &Page) -> Annotation {
        self.change(|state| state.annotated.push(page.clone()));
        Annotation {
            control: self.clone(),
            page: page.clone(),
        }
    }

    /// Returns whether the user annotates a page of the session.
    pub(crate) fn is_annotated(&self) -> bool {
        !self.state.borrow().annotated.is_empty()
    }

    /// Returns whether the user annotates this page.
    pub(crate) fn is_page_annotated(&self, page: &Page) -> bool {
        self.state.borrow().annotated.contains(page)
    }

    fn count(self: &Arc<Self>, counter: fn(&mut State) -> &mut usize) -> Counted {
        self.change(|state| *counter(state) += 1);
        Counted {
            control: self.clone(),
            counter,
        }
    }

    /// Changes who has control; returns false if `from` does not have it.
    fn pass(&self, from: Holder, to: Holder) -> bool {
        let mut is_held = false;
        self.change(|state| {
            is_held = state.holder == from;
            if is_held {
                state.holder = to;
            }
        });
        is_held
    }

    /// Changes the state, and reports the change to the dashboards.
    fn change(&self, change: impl FnOnce(&mut State)) {
        self.state.send_modify(change);
        self.call_log.on_change();
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let counter = self.counter;
        self.control.change(|state| *counter(state) -= 1);
    }
}

impl Drop for Annotation {
    fn drop(&mut self) {
        self.control.change(|state| {
            let at = state.annotated.iter().position(|page| *page == self.page);
            at.map(|at| state.annotated.swap_remove(at));
        });
    }
}

impl Drop for UserControl {
    fn drop(&mut self) {
        if self.session.control.holder() == Holder::User {
            let active = self.session.context_or_active(None);
            let active = active.unwrap_or_else(|_| self.session.clone());
            let mut state = active.state();
            let is_reported = |event: &Event| matches!(event, Event::UserActed {});
            if !state.events.iter().any(is_reported) {
                state.events.push(Event::UserActed {});
            }
        }
        self.session
            .control
            .change(|state| state.holder = Holder::Calls);
    }
}
