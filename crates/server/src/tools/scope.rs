//! The scopes of tools, and how a call enters them.

use crate::answers::reply::{Event, Part, Reply};
use crate::calls::Call;
use crate::config::WrongOrigin;
use crate::error::{Error, Result};
use crate::files::artifacts::ScreenshotInfo;
use crate::files::{FileAccess, Output, WrittenFile};
use crate::sessions::Visible;
use crate::sessions::session::{Session, Tab};
use crate::telemetry::part_span;
use crate::tools::tool::{Reach, Scope, StepCaller};
use engine::codegen::Typed;
use engine::{
    BrowserContext, Capabilities, Feature, LoadState, Locator, NavigationOutcome, Page, Peek,
    Progress, Selector, SettleOptions, Settled, Target, Watch,
};
use futures_util::TryFutureExt as _;
use std::ops::Deref;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tracing::Instrument as _;

/// How long a page that an action opened may take to load.
const OPENED_PAGE_TIMEOUT: Duration = Duration::from_secs(5);

/// The server itself, without a session. A call in this scope needs no turn.
pub(crate) struct OfServer;

/// A session with all its contexts. The scope `Arc<Session>` is only the context that the call is for.
pub(crate) struct WholeSession(pub(crate) Arc<Session>);

/// The caller of the steps of a batch, in the turn of the session.
pub(crate) struct SessionSteps(pub(crate) Arc<dyn StepCaller>);

/// The current tab, whether or not a modal state is open in it.
pub(crate) struct TabInAnyState {
    /// The page of the tab.
    pub(crate) page: Page,
    /// The tab.
    pub(crate) tab: Arc<Tab>,
    /// The session of the tab.
    pub(crate) session: Arc<Session>,
}

/// The current tab, without a modal state.
pub(crate) struct CurrentTab(TabInAnyState);

/// The current tab, without a dialog. An open file chooser is allowed, because it does not block the page.
pub(crate) struct FreeTab(TabInAnyState);

/// The current tab, with a dialog open.
pub(crate) struct DialogTab(TabInAnyState);

/// The current tab, with a file chooser open.
pub(crate) struct FileChooserTab(TabInAnyState);

/// The element that a target names, and the locator of generated code.
pub(crate) struct Found {
    /// The locator with which actions resolve the element.
    pub(crate) locator: Locator,
    /// The locator in generated code, such as `getByRole('button', { name: 'Go' })`.
    pub(crate) shown: Selector,
}

impl TabInAnyState {
    /// Resolves a target: a ref, a selector, or a locator expression. Actions wait until its element is attached.
    pub(crate) async fn find(&self, call: &Call, target: &str) -> Result<Found> {
        let locator = self.locator_with_wait(target)?;
        // Generated before the action, which may change or remove the element.
        let shown = locator.generated(&call.action()).await?;
        if self.session.observers().is_observed() {
            call.record_target(&shown);
        }
        Ok(Found { locator, shown })
    }

    /// Returns the locator of the field, the value to type for `text`, and its form in generated code, which has the names of secrets
    /// instead of their values. Fails if a secret is not allowed on the origin of the field's document.
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

    /// Resolves several targets. The results have the order of the targets.
    pub(crate) async fn find_all(&self, call: &Call, targets: &[&str]) -> Vec<Result<Found>> {
        let locators: Vec<_> = targets
            .iter()
            .map(|target| self.locator_with_wait(target))
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
            if self.session.observers().is_observed() {
                call.record_target(&shown);
            }
            Ok(Found { locator, shown })
        });
        found.collect()
    }

    /// Records that a file is a screenshot of the page, so that clients can read it as a resource. Returns the URI of the resource.
    pub(crate) fn record_screenshot(
        &self,
        output: &Output,
        file: &WrittenFile,
        (width, height): (u32, u32),
        full_page: bool,
    ) -> String {
        let screenshot = ScreenshotInfo {
            page: self.page.id().0.to_string(),
            width,
            height,
            full_page,
            at: SystemTime::now(),
        };
        let uri = screenshot.address(self.session.id()).to_string();
        output.artifacts().set_screenshot(&file.path, screenshot);
        uri
    }

    /// Resolves a target like [`Self::find`], and waits until its element is attached, for what may take longer than an action.
    pub(crate) async fn find_attached(&self, call: &Call, target: &str) -> Result<Found> {
        let found = self.find(call, target).await?;
        wait_for(call, &found.locator).await?;
        Ok(found)
    }

    /// Waits until the element of a target is attached, and returns its locator.
    pub(crate) async fn attached(&self, call: &Call, target: &str) -> Result<Locator> {
        let locator = self.locator_with_wait(target)?;
        wait_for(call, &locator).await?;
        Ok(locator)
    }

    /// Returns a locator for a selector. Its actions wait until the element is attached.
    pub(crate) fn locator_with_wait(&self, selector: &str) -> Result<Locator> {
        Ok(self.page.locator(selector)?.waiting_for_element())
    }

    /// Navigates the tab to a URL, whatever modal state is open, and waits for the load state `until`. Returns the tab and the outcome; the
    /// tab is another one if this one was unresponsive. Returns `None` if a beforeunload dialog is open.
    pub(crate) async fn go_to(
        &self,
        call: &Call,
        progress: &Progress,
        url: &str,
        until: LoadState,
    ) -> Result<Option<(Arc<Tab>, NavigationOutcome)>> {
        let (tab, outcome) = match self.tab.go_to(progress, url, until).await {
            // The unresponsive tab is replaced, and the navigation is repeated in the new one.
            Err(Error::Engine(engine::Error::PageHung {})) => {
                self.tab.set_crash_reported();
                let fresh = self.session.current_tab(call).await?;
                let outcome = fresh.go_to(&call.navigation(), url, until).await?;
                (fresh, outcome)
            }
            outcome => (self.tab.clone(), outcome?),
        };
        Ok(outcome.map(|outcome| (tab, outcome)))
    }

    /// Does an action on the page and waits until the page has settled. A dialog that the action opens ends both; one that was opened
    /// before the action fails it.
    pub(crate) async fn act<T>(
        &self,
        call: &Call,
        action: impl Future<Output = engine::Result<T>> + Send,
    ) -> Result<()> {
        let watch = self.page.watch(&call.action()).await;
        let action = action.map_ok(drop);
        self.act_and_settle(call, pin!(action), watch, None).await
    }

    /// Does an action that seldom has effects outside the element, such as typing, a key or hovering. Changes of the document are waited
    /// for only if the action caused a request, or something that has not run yet.
    pub(crate) async fn act_briefly<T>(
        &self,
        call: &Call,
        action: impl Future<Output = engine::Result<T>> + Send,
    ) -> Result<()> {
        let watch = self.page.watch_events();
        let action = action.map_ok(drop);
        let causes = call.settings.timeouts.settle;
        let peek: Peek<'_> = Box::new(move || Box::pin(self.tab.peek(call, causes)));
        let peek = (!causes.is_zero()).then_some(peek);
        self.act_and_settle(call, pin!(action), watch, peek).await
    }

    /// The action is not a type parameter, so that this function is compiled once.
    async fn act_and_settle(
        &self,
        call: &Call,
        action: Pin<&mut (dyn Future<Output = engine::Result<()>> + Send)>,
        watch: Watch,
        peek: Option<Peek<'_>>,
    ) -> Result<()> {
        let limit = call.settings.timeouts.settle;
        let options = SettleOptions {
            changes: limit,
            causes: limit,
            ..SettleOptions::default()
        };
        let context = self.context()?;
        let (before, mut changes) = (context.pages(), context.changes());
        let failures = self.page.failures();
        let loading = self.page.guard_loading();
        let paused_reports = (
            self.tab.hold_console(),
            self.session.open_tabs().map(|tabs| tabs.downloads().hold()),
        );
        let done = action.instrument(part_span!("action")).await;
        drop(paused_reports);
        if let Err(error) = done {
            loading.disarm();
            return Err(error.into());
        }
        let pages_changed = async move {
            let _ = changes.changed().await;
        };
        let settling = watch.settle_with(&options, pages_changed, peek);
        let settled = settling.instrument(part_span!("settle")).await;
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

    /// Waits until the page has settled after a script of the client. Changes of the document are waited for only if the script made some
    /// synchronously.
    pub(crate) async fn settle_briefly(&self, call: &Call, watch: Watch) {
        let options = SettleOptions {
            changes: Duration::ZERO,
            causes: call.settings.timeouts.settle,
            ..SettleOptions::default()
        };
        let settling = watch.settle(&options);
        let settled = settling.instrument(part_span!("settle")).await;
        tracing::debug!(?settled, tool = call.tool.name, "settled");
    }

    /// Adds an event to the answer if more than `failures` navigations of the page have failed.
    pub(crate) fn report_failure(&self, failures: u64) {
        if let Some(failure) = self.page.failure_since(failures) {
            let reason = failure.to_string();
            self.session
                .report_event(Event::NavigationFailed { reason });
        }
    }

    /// Returns the browser context of the page.
    pub(crate) fn context(&self) -> Result<BrowserContext> {
        let tabs = self
            .session
            .open_tabs()
            .ok_or(engine::Error::PageClosed {})?;
        Ok(tabs.open().context.clone())
    }

    /// Fails if the browser does not report the frames of WebSockets, or otherwise the events of event sources.
    pub(crate) fn require_messages(&self, of_sockets: bool) -> Result<()> {
        self.require(match of_sockets {
            true => Feature::WebSocketFrames,
            false => Feature::ServerSentEvents,
        })
    }

    /// Fails if the browser does not support the feature.
    pub(crate) fn require(&self, feature: Feature) -> Result<()> {
        Ok(self.capabilities()?.require(feature)?)
    }

    /// Returns the features of the browser.
    pub(crate) fn capabilities(&self) -> Result<&'static Capabilities> {
        let tabs = self.session.open_tabs();
        let tabs = tabs.ok_or(engine::Error::PageClosed {})?;
        Ok(tabs.open().browser.capabilities())
    }

    /// Returns the text as the answer, or writes it to the file that the client named and returns a link.
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

    /// Returns the files of the session, with the access rights of the call.
    pub(crate) async fn files(&self, call: &Call) -> FileAccess {
        self.session.files(call).await
    }
}

/// Waits until the element of a selector is attached.
async fn wait_for(call: &Call, locator: &Locator) -> Result<()> {
    if matches!(locator.target(), Target::Selector(_)) {
        locator.resolve(&call.action()).await?;
    }
    Ok(())
}

impl Scope for OfServer {
    const HAS_SESSION: bool = false;
    const CAN_BE_STEP: bool = false;

    async fn enter(call: &Call, _: &Reach) -> Result<Self> {
        call.skip_turn();
        Ok(Self)
    }
}

impl Scope for Visible {
    const HAS_SESSION: bool = false;
    const CAN_BE_STEP: bool = false;

    async fn enter(_: &Call, reach: &Reach) -> Result<Self> {
        Ok(reach.sessions.clone())
    }
}

/// Waits for the call's turn and returns the session. Fails if it was closed meanwhile.
async fn begin_turn<'a>(call: &Call, reach: &'a Reach) -> Result<&'a Arc<Session>> {
    let session = &reach.session;
    session.begin_call(call).await?;
    if let Some(app) = session
        .app()
        .filter(|_| call.tool.acts() && !call.is_step())
    {
        app.call_began();
    }
    Ok(session)
}

impl Scope for Arc<Session> {
    async fn enter(call: &Call, reach: &Reach) -> Result<Self> {
        begin_turn(call, reach).await?.part(call)
    }
}

impl Scope for WholeSession {
    async fn enter(call: &Call, reach: &Reach) -> Result<Self> {
        Ok(Self(begin_turn(call, reach).await?.clone()))
    }
}

impl Scope for SessionSteps {
    const CAN_BE_STEP: bool = false;
    const HAS_STEPS: bool = true;

    async fn enter(call: &Call, reach: &Reach) -> Result<Self> {
        begin_turn(call, reach).await?;
        Ok(Self(reach.steps.clone()))
    }
}

impl Scope for TabInAnyState {
    async fn enter(call: &Call, reach: &Reach) -> Result<Self> {
        let session = begin_turn(call, reach).await?.part(call)?;
        let tab = session.current_tab(call).await?;
        if call.tool.acts() {
            tab.on_action_started();
            if let Some(tabs) = session.open_tabs() {
                tabs.on_action_started();
            }
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

impl<A: Scope, B: Scope> Scope for (A, B) {
    const HAS_SESSION: bool = A::HAS_SESSION || B::HAS_SESSION;
    const CAN_BE_STEP: bool = A::CAN_BE_STEP || B::CAN_BE_STEP;
    const HAS_STEPS: bool = A::HAS_STEPS || B::HAS_STEPS;

    async fn enter(call: &Call, reach: &Reach) -> Result<Self> {
        Ok((A::enter(call, reach).await?, B::enter(call, reach).await?))
    }
}

macro_rules! impl_deref_to_tab {
    ($($scope:ident),*) => { $(
        impl Deref for $scope {
            type Target = TabInAnyState;

            fn deref(&self) -> &TabInAnyState {
                &self.0
            }
        }
    )* };
}
impl_deref_to_tab!(CurrentTab, FreeTab, DialogTab, FileChooserTab);
