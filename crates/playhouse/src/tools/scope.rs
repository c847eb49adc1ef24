//! What tools can act on, and how a call gets hold of it.

use crate::answers::reply::{Event, Part, Reply};
use crate::calls::Call;
use crate::config::WrongOrigin;
use crate::error::{Error, Result};
use crate::files::artifacts::ScreenshotInfo;
use crate::files::{FileAccess, Output, WrittenFile};
use crate::sessions::Visible;
use crate::sessions::session::{Session, Tab};
use crate::tools::tool::{Reach, Scope};
use engine::codegen::Typed;
use engine::{
    BrowserContext, LoadState, Locator, NavigationOutcome, Page, Progress, Selector, SettleOptions,
    Settled, Watch,
};
use std::ops::Deref;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// How long a page that an action opened may take to load.
const OPENED_PAGE_TIMEOUT: Duration = Duration::from_secs(5);

/// Nothing of a session: the server itself. Needs no turn.
pub(crate) struct OfServer;

/// A session with all its contexts; `Arc<Session>` is the one that the call is for.
pub(crate) struct WholeSession(pub(crate) Arc<Session>);

/// The current tab, whatever is open in it.
pub(crate) struct TabInAnyState {
    /// Its page.
    pub(crate) page: Page,
    /// The tab.
    pub(crate) tab: Arc<Tab>,
    /// Its session.
    pub(crate) session: Arc<Session>,
}

/// The current tab, with nothing open in it that waits for an answer.
pub(crate) struct CurrentTab(TabInAnyState);

/// The current tab, where no dialog holds the page: a file chooser keeps nobody from anything.
pub(crate) struct FreeTab(TabInAnyState);

/// The current tab, with a dialog open.
pub(crate) struct DialogTab(TabInAnyState);

/// The current tab, with a file chooser open.
pub(crate) struct FileChooserTab(TabInAnyState);

/// What a target names, and how code names it.
pub(crate) struct Found {
    /// The element, to act on.
    pub(crate) locator: Locator,
    /// The locator that code shows, e.g. `getByRole('button', { name: 'Go' })`.
    pub(crate) shown: Selector,
}

impl TabInAnyState {
    /// What a target names: a ref, a selector, or a locator expression.
    pub(crate) async fn find(&self, call: &Call, target: &str) -> Result<Found> {
        let locator = self.page.locator(target)?;
        // Before anything is done to it: afterwards it may look different, or be gone.
        let shown = locator.generated(&call.action()).await?;
        Ok(Found { locator, shown })
    }

    /// What is typed for a text, and how code shows it: the name of a secret stands for its value. Fails where the secret is not for the
    /// document of the field.
    pub(crate) async fn typed(
        &self,
        call: &Call,
        locator: Locator,
        text: &str,
    ) -> Result<(Locator, String, Typed)> {
        let secrets = &call.settings.secrets;
        let (value, shown) = secrets.typed(text);
        if !secrets.is_bound(text) {
            return Ok((locator, value, shown));
        }
        let origin = locator.origin(&call.action()).await?;
        match secrets.check(text, &origin) {
            Ok(()) => Ok((locator.on_origin(&origin), value, shown)),
            Err(WrongOrigin { name, origins }) => Err(Error::SecretNotAllowedHere {
                name,
                origin,
                allowed_origins: origins,
            }),
        }
    }

    /// What several targets name, in their order.
    pub(crate) async fn find_all(&self, call: &Call, targets: &[&str]) -> Vec<Result<Found>> {
        let locators: Vec<_> = targets
            .iter()
            .map(|target| self.page.locator(target))
            .collect();
        let parsed: Vec<_> = locators.iter().flatten().cloned().collect();
        let mut shown = self
            .page
            .generated(&call.action(), &parsed)
            .await
            .into_iter();
        let found = locators.into_iter().map(|locator| {
            let (locator, shown) = (locator?, shown.next());
            let shown = shown.unwrap_or(Err(engine::Error::PageClosed {}))?;
            Ok(Found { locator, shown })
        });
        found.collect()
    }

    /// Notes that a file shows the page, so that it can be read as a resource; its address.
    pub(crate) fn record_screenshot(
        &self,
        output: &Output,
        file: &WrittenFile,
        (width, height): (u32, u32),
        full_page: bool,
    ) -> String {
        let picture = ScreenshotInfo {
            page: self.page.id().0.to_string(),
            width,
            height,
            full_page,
            at: SystemTime::now(),
        };
        let uri = picture.address(self.session.id()).to_string();
        output.artifacts().set_screenshot(&file.path, picture);
        uri
    }

    /// The element that a selector names; one that is not there yet is waited for.
    pub(crate) fn awaited(&self, selector: &str) -> Result<Locator> {
        Ok(self.page.locator(selector)?.waiting_for_element())
    }

    /// Goes to a URL, whatever is open in the tab, and waits until it has come as far as `until`. The tab that it led to something in, which is
    /// another one if this one hung; `None` when the page asks whether to leave it.
    pub(crate) async fn go_to(
        &self,
        call: &Call,
        progress: &Progress,
        url: &str,
        until: LoadState,
    ) -> Result<Option<(Arc<Tab>, NavigationOutcome)>> {
        let (tab, landed) = match self.tab.go_to(progress, url, until).await {
            // Its tab is replaced, and the new one is not to blame.
            Err(Error::Engine(engine::Error::PageHung {})) => {
                self.tab.set_crash_reported();
                let fresh = self.session.current_tab(call).await?;
                let landed = fresh.go_to(&call.navigation(), url, until).await?;
                (fresh, landed)
            }
            landed => (self.tab.clone(), landed?),
        };
        Ok(landed.map(|landed| (tab, landed)))
    }

    /// Does something to the page, and waits until its consequences are over. A dialog that it opens ends both; one that came before it was done fails it.
    pub(crate) async fn act<T>(
        &self,
        call: &Call,
        deed: impl Future<Output = engine::Result<T>>,
    ) -> Result<()> {
        let options = SettleOptions {
            changes: call.settings.timeouts.settle,
            ..SettleOptions::default()
        };
        let watch = self.page.watch(&call.action()).await;
        self.act_and_settle(call, deed, watch, options).await
    }

    /// The same for what seldom has consequences: typing, a key, hovering. What the document changes is for the next call to see.
    pub(crate) async fn act_briefly<T>(
        &self,
        call: &Call,
        deed: impl Future<Output = engine::Result<T>>,
    ) -> Result<()> {
        let limit = call.settings.timeouts.settle;
        let options = SettleOptions {
            changes: limit,
            requests: limit.min(SettleOptions::default().requests),
        };
        let watch = self.page.watch_events();
        self.act_and_settle(call, deed, watch, options).await
    }

    async fn act_and_settle<T>(
        &self,
        call: &Call,
        deed: impl Future<Output = engine::Result<T>>,
        watch: Watch,
        options: SettleOptions,
    ) -> Result<()> {
        let context = self.context()?;
        let (before, mut changes) = (context.pages(), context.changes());
        let failures = self.page.failures();
        let loading = self.page.guard_loading();
        let held = (
            self.tab.hold_console(),
            self.session.open_tabs().map(|tabs| tabs.downloads().hold()),
        );
        let done = deed.await;
        drop(held);
        if let Err(error) = done {
            loading.disarm();
            return Err(error.into());
        }
        let elsewhere = async move {
            let _ = changes.changed().await;
        };
        let settled = watch.settle_with(&options, elsewhere).await;
        tracing::debug!(?settled, tool = call.tool.name, "settled");
        let opened = context.pages().into_iter();
        let loaded = opened
            .filter(|page| !before.contains(page))
            .map(async |page| page.settle_opened(OPENED_PAGE_TIMEOUT).await);
        futures_util::future::join_all(loaded).await;
        if settled == Settled::TimedOut {
            self.page.finish_navigation(&call.navigation()).await?;
        }
        loading.disarm();
        match self.page.failure_since(failures) {
            Some(failure) if call.tool.answers_with_object() => Err(failure.into()),
            _ => {
                self.report_failure(failures);
                Ok(())
            }
        }
    }

    /// Waits, after a script of the client, for what it has begun: changes of the document only if it made some at once.
    pub(crate) async fn settle_briefly(&self, call: &Call, watch: Watch) {
        let options = SettleOptions {
            changes: Duration::ZERO,
            ..SettleOptions::default()
        };
        let settled = watch.settle(&options).await;
        tracing::debug!(?settled, tool = call.tool.name, "settled");
    }

    /// Has the answer tell of a navigation of the page that failed after so many others did.
    pub(crate) fn report_failure(&self, failures: u64) {
        if let Some(failure) = self.page.failure_since(failures) {
            let reason = failure.to_string();
            self.session
                .report_event(Event::NavigationFailed { reason });
        }
    }

    /// The context that the page belongs to.
    pub(crate) fn context(&self) -> Result<BrowserContext> {
        let tabs = self
            .session
            .open_tabs()
            .ok_or(engine::Error::PageClosed {})?;
        Ok(tabs.open().context.clone())
    }

    /// The text as the answer, or in the file that the client named.
    pub(crate) async fn text_or_file(
        &self,
        call: &Call,
        text: String,
        filename: Option<&str>,
        title: &str,
    ) -> Result<Reply> {
        let Some(name) = filename else {
            return Ok(Reply::page(text));
        };
        let files = self.files(call).await;
        let file = files.writable(name)?;
        let text = files.redacted(text);
        files
            .write_as(&file, text, call.tool.is_sensitive())
            .await?;
        Ok(Reply::default().and(Part::File {
            title: title.to_owned(),
            link: file.link,
        }))
    }

    /// The files of the session, as the call may use them.
    pub(crate) async fn files(&self, call: &Call) -> FileAccess {
        self.session.files(call).await
    }
}

impl Scope for OfServer {
    const HAS_SESSION: bool = false;

    async fn enter(call: &Call, _: &Reach) -> Result<Self> {
        call.skip_turn();
        Ok(Self)
    }
}

impl Scope for Visible {
    const HAS_SESSION: bool = false;

    async fn enter(_: &Call, reach: &Reach) -> Result<Self> {
        Ok(reach.sessions.clone())
    }
}

/// The session, once it is the call's turn; it may have ended meanwhile.
async fn at_its_turn<'a>(call: &Call, reach: &'a Reach) -> Result<&'a Arc<Session>> {
    call.take_turn(reach.session.turn()).await;
    reach.session.ensure_open()?;
    if let Some(app) = reach.session.app().filter(|_| call.tool.acts()) {
        app.call_began();
    }
    Ok(&reach.session)
}

impl Scope for Arc<Session> {
    async fn enter(call: &Call, reach: &Reach) -> Result<Self> {
        at_its_turn(call, reach).await?.part(call)
    }
}

impl Scope for WholeSession {
    async fn enter(call: &Call, reach: &Reach) -> Result<Self> {
        Ok(Self(at_its_turn(call, reach).await?.clone()))
    }
}

impl Scope for TabInAnyState {
    async fn enter(call: &Call, reach: &Reach) -> Result<Self> {
        let session = at_its_turn(call, reach).await?.part(call)?;
        let tab = session.current_tab(call).await?;
        if call.tool.acts() {
            tab.on_action_started();
        }
        Ok(Self {
            page: tab.page.clone(),
            tab,
            session,
        })
    }
}

impl Scope for CurrentTab {
    async fn enter(call: &Call, reach: &Reach) -> Result<Self> {
        let tab = TabInAnyState::enter(call, reach).await?;
        if tab.tab.modals().is_empty() {
            Ok(Self(tab))
        } else {
            Err(Error::ModalState {
                tool: call.tool.name,
            })
        }
    }
}

impl Scope for FreeTab {
    async fn enter(call: &Call, reach: &Reach) -> Result<Self> {
        let tab = TabInAnyState::enter(call, reach).await?;
        match tab.page.dialog() {
            None => Ok(Self(tab)),
            Some(_) => Err(Error::ModalState {
                tool: call.tool.name,
            }),
        }
    }
}

impl Scope for DialogTab {
    async fn enter(call: &Call, reach: &Reach) -> Result<Self> {
        let tab = TabInAnyState::enter(call, reach).await?;
        match tab.page.dialog() {
            Some(_) => Ok(Self(tab)),
            None => Err(no_modal_error(call)),
        }
    }
}

impl Scope for FileChooserTab {
    async fn enter(call: &Call, reach: &Reach) -> Result<Self> {
        let tab = TabInAnyState::enter(call, reach).await?;
        match tab.page.file_chooser() {
            Some(_) => Ok(Self(tab)),
            None => Err(no_modal_error(call)),
        }
    }
}

fn no_modal_error(call: &Call) -> Error {
    Error::NoModalState {
        tool: call.tool.name,
    }
}

/// Both.
impl<A: Scope, B: Scope> Scope for (A, B) {
    const HAS_SESSION: bool = A::HAS_SESSION || B::HAS_SESSION;

    async fn enter(call: &Call, reach: &Reach) -> Result<Self> {
        Ok((A::enter(call, reach).await?, B::enter(call, reach).await?))
    }
}

macro_rules! is_a_tab {
    ($($scope:ident),*) => { $(
        impl Deref for $scope {
            type Target = TabInAnyState;

            fn deref(&self) -> &TabInAnyState {
                &self.0
            }
        }
    )* };
}
is_a_tab!(CurrentTab, FreeTab, DialogTab, FileChooserTab);
