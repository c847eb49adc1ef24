//! The browser that all tests share, and what each test gets of its own.

use crate::{DIFFERS, ENGINE};
use engine::{
    Browser, BrowserContext, BrowserKind, ContextOptions, FrameFacts, FrameId, InputStep,
    LaunchOptions, LoadState, MouseButton, Page, Point, Progress, sandbox_unavailable,
};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;
use testkit::{Engine, Site};
use tokio::runtime::Runtime;
use tokio::sync::OnceCell;

/// How long anything may take; only a failure waits for it.
const TEST_TIMEOUT: Duration = Duration::from_secs(30);

static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Runtime::new().expect("a runtime can be started"));
static BROWSER: OnceCell<Browser> = OnceCell::const_new();

/// What a test works with.
pub(crate) struct Stage {
    pub(crate) browser: Browser,
    pub(crate) context: BrowserContext,
    pub(crate) page: Page,
    pub(crate) site: Site,
}

/// Runs a test with a fresh context and a blank page.
pub(crate) fn on_a_page(test: impl AsyncFnOnce(&Stage)) {
    in_a_context(ContextOptions::default(), test);
}

/// The same with a context of that kind.
pub(crate) fn in_a_context(options: ContextOptions, test: impl AsyncFnOnce(&Stage)) {
    with_browser(async |browser| {
        let context = browser.new_context(&soon(), options).await.unwrap();
        let page = context.new_page(&soon()).await.unwrap();
        let stage = Stage {
            browser: browser.clone(),
            context,
            page,
            site: Site::start().await,
        };
        test(&stage).await;
        stage.context.close(&soon()).await.unwrap();
    });
}

/// Runs a test with the shared browser and nothing else.
pub(crate) fn with_browser(test: impl AsyncFnOnce(&Browser)) {
    with_options(async |options| {
        let browser = BROWSER
            .get_or_init(async || {
                let mut options = options;
                options.user_data_dir = Some(shared_profile());
                Browser::launch(&soon(), &options).await.unwrap()
            })
            .await;
        test(browser).await;
    });
}

/// Runs a test that starts browsers of its own with (variants of) these options.
pub(crate) fn with_options(test: impl AsyncFnOnce(LaunchOptions)) {
    if differs() {
        return;
    }
    RUNTIME.block_on(test(launch_options(ENGINE.executable())));
}

/// Whether this test is not one for the engine; that is said.
#[expect(clippy::print_stderr, reason = "a skipped test must be seen")]
fn differs() -> bool {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or_default();
    let listed = DIFFERS.iter().find(|(name, _)| test == *name);
    if let Some((_, reason)) = listed {
        eprintln!("not on {}: {reason}", ENGINE.name());
    }
    listed.is_some()
}

fn launch_options(executable: PathBuf) -> LaunchOptions {
    LaunchOptions {
        kind: match ENGINE {
            Engine::Chromium => BrowserKind::Chromium,
            Engine::Firefox => BrowserKind::Firefox,
            Engine::Webkit => BrowserKind::Webkit,
        },
        headless_shell: executable.ends_with("chromium-headless-shell"),
        executable,
        headless: true,
        sandbox_unavailable: sandbox_unavailable(),
        ..LaunchOptions::default()
    }
}

/// Nothing runs after the last test, so the next run removes what is left of the last.
fn shared_profile() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let owner = name.strip_prefix("engine-profile-");
        if owner.is_some_and(|process| !Path::new("/proc").join(process).exists()) {
            // Another test run may be at it.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
    folder.join(format!("engine-profile-{}", std::process::id()))
}

/// The deadline of one step.
pub(crate) fn soon() -> Progress {
    Progress::new(TEST_TIMEOUT)
}

impl Stage {
    /// Serves `html` at `path` and opens it.
    pub(crate) async fn show(&self, path: &str, html: &str) -> String {
        let url = self.site.add_page(path, html);
        goto(&self.page, &url).await;
        url
    }

    /// What the site was asked for, but for what browsers ask by themselves.
    pub(crate) fn received_requests(&self) -> Vec<testkit::Request> {
        let mut asked = self.site.requests();
        asked.retain(|request| request.target != "/favicon.ico");
        asked
    }

    /// The page that opens while `work` runs.
    pub(crate) async fn popup(&self, work: impl Future<Output = ()>) -> Page {
        let known = self.context.pages();
        work.await;
        until_some(&self.context, || {
            self.context
                .pages()
                .into_iter()
                .find(|page| !known.contains(page))
        })
        .await
    }
}

/// Opens `url` and waits for its load event.
pub(crate) async fn goto(page: &Page, url: &str) {
    page.goto(&soon(), url, LoadState::Loaded).await.unwrap();
}

/// The value of an expression in the page's own world, `Null` for undefined.
pub(crate) async fn eval(page: &Page, expression: &str) -> Value {
    page.evaluate(&soon(), expression)
        .await
        .unwrap()
        .unwrap_or(Value::Null)
}

/// The same in a frame.
pub(crate) async fn eval_in(page: &Page, frame: &FrameId, expression: &str) -> Value {
    soon()
        .run(page.backend().evaluate(frame, expression, None))
        .await
        .unwrap()
        .unwrap_or(Value::Null)
}

/// What the injected code says to a call.
pub(crate) async fn call(page: &Page, frame: &FrameId, function: &str) -> engine::Result<Value> {
    let answer = soon()
        .run(page.backend().call(frame, function, &Value::Null))
        .await?;
    Ok(serde_json::from_str(&answer).unwrap())
}

/// A trusted click at this point of the main frame's viewport.
pub(crate) async fn click(page: &Page, x: f64, y: f64) -> engine::Result<()> {
    let at = Point { x, y };
    let steps = [
        InputStep::MouseMove {
            to: at,
            buttons: vec![],
            modifiers: vec![],
        },
        InputStep::MouseDown {
            at,
            button: MouseButton::Left,
            buttons: vec![MouseButton::Left],
            count: 1,
            modifiers: vec![],
        },
        InputStep::MouseUp {
            at,
            button: MouseButton::Left,
            buttons: vec![],
            count: 1,
            modifiers: vec![],
        },
    ];
    soon().run(page.backend().input(&steps)).await
}

/// Clicks, and waits until `condition` holds; the click itself may be held up by what it causes.
pub(crate) async fn click_until(page: &Page, x: f64, y: f64, mut condition: impl FnMut() -> bool) {
    tokio::select! {
        clicked = click(page, x, y) => clicked.unwrap(),
        () = until(page, &mut condition) => return,
    }
    until(page, condition).await;
}

/// Waits until `look` finds something; looks again whenever the page or context changes.
pub(crate) async fn until_some<T>(of: &impl Observable, mut look: impl FnMut() -> Option<T>) -> T {
    let mut changes = of.changes();
    let found = async {
        loop {
            changes.mark_unchanged();
            if let Some(found) = look() {
                return found;
            }
            changes.changed().await.expect("its owner is alive");
        }
    };
    tokio::time::timeout(TEST_TIMEOUT, found)
        .await
        .expect("it should have happened by now")
}

/// Waits until `condition` holds.
pub(crate) async fn until(of: &impl Observable, mut condition: impl FnMut() -> bool) {
    until_some(of, || condition().then_some(())).await;
}

/// Waits until the page has loaded a frame at this URL, and returns it.
pub(crate) async fn frame_at(page: &Page, url: &str) -> FrameFacts {
    until_some(page, || {
        page.frames()
            .into_iter()
            .find(|frame| frame.url == url && frame.loaded && !frame.pending)
    })
    .await
}

/// Waits until the frame was drawn: before that the browser does not know where it is.
pub(crate) async fn wait_until_drawn(page: &Page, frame: &FrameFacts) {
    let twice = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))";
    eval_in(page, &frame.id, twice).await;
}

/// What counts its changes.
pub(crate) trait Observable {
    fn changes(&self) -> tokio::sync::watch::Receiver<u64>;
}

impl Observable for Page {
    fn changes(&self) -> tokio::sync::watch::Receiver<u64> {
        Page::changes(self)
    }
}

impl Observable for BrowserContext {
    fn changes(&self) -> tokio::sync::watch::Receiver<u64> {
        BrowserContext::changes(self)
    }
}
