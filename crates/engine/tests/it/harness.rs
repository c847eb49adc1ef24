//! The browsers that all tests share, and the context of each test.

use engine::{
    Browser, BrowserContext, BrowserKind, ContextOptions, FrameFacts, FrameId, InputStep,
    LaunchOptions, LoadState, MouseButton, Page, Point, Progress, sandbox_unavailable,
};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;
use testkit::{Engine, Site, eventually};
use tokio::runtime::Runtime;
use tokio::sync::OnceCell;

/// How long anything may take; only a failure takes so long.
const TEST_TIMEOUT: Duration = Duration::from_secs(30);

static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Runtime::new().expect("a runtime can be started"));
/// The browser of each engine.
static BROWSERS: [OnceCell<Browser>; 3] = [const { OnceCell::const_new() }; 3];

/// The fixtures of a test.
pub(crate) struct Stage {
    pub(crate) browser: Browser,
    pub(crate) context: BrowserContext,
    pub(crate) page: Page,
    pub(crate) site: Site,
}

/// Runs a test with a new context and a blank page.
pub(crate) fn on_a_page(engine: Engine, test: impl AsyncFnOnce(&Stage)) {
    in_a_context(engine, ContextOptions::default(), test);
}

/// Runs a test with a context of that kind and a blank page.
pub(crate) fn in_a_context(
    engine: Engine,
    options: ContextOptions,
    test: impl AsyncFnOnce(&Stage),
) {
    with_browser(engine, async |browser| {
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

/// Runs a test with the shared browser only.
pub(crate) fn with_browser(engine: Engine, test: impl AsyncFnOnce(&Browser)) {
    with_options(engine, async |options| {
        let browser = BROWSERS[engine as usize]
            .get_or_init(async || {
                let mut options = options;
                options.user_data_dir = Some(shared_profile(engine));
                Browser::launch(&soon(), &options).await.unwrap()
            })
            .await;
        test(browser).await;
    });
}

/// Runs a test that launches its own browsers with (variants of) these options.
pub(crate) fn with_options(engine: Engine, test: impl AsyncFnOnce(LaunchOptions)) {
    let executable = engine.executable();
    let options = LaunchOptions {
        kind: match engine {
            Engine::Chromium => BrowserKind::Chromium,
            Engine::Firefox => BrowserKind::Firefox,
            Engine::Webkit => BrowserKind::Webkit,
        },
        headless_shell: executable.ends_with("chromium-headless-shell"),
        executable,
        headless: true,
        sandbox_unavailable: sandbox_unavailable(),
        ..LaunchOptions::default()
    };
    RUNTIME.block_on(test(options));
}

/// No code runs after the last test, so the next run removes the leftovers.
fn shared_profile(engine: Engine) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let owner = name.strip_prefix("engine-profile-");
        let owner = owner.and_then(|name| name.split('-').next());
        if owner.is_some_and(|process| !Path::new("/proc").join(process).exists()) {
            // Another test run may use it.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
    let process = std::process::id();
    folder.join(format!("engine-profile-{process}-{}", engine.name()))
}

/// Returns the deadline of one step.
pub(crate) fn soon() -> Progress {
    Progress::new(TEST_TIMEOUT)
}

impl Stage {
    /// Serves `html` at `path` and navigates there.
    pub(crate) async fn show(&self, path: &str, html: &str) -> String {
        let url = self.site.add_page(path, html);
        goto(&self.page, &url).await;
        url
    }

    /// Returns the requests to the site, except those that browsers send without a page.
    pub(crate) fn received_requests(&self) -> Vec<testkit::Request> {
        let mut asked = self.site.requests();
        asked.retain(|request| request.target != "/favicon.ico");
        asked
    }

    /// Returns the page that opens while `work` runs.
    pub(crate) async fn popup(&self, work: impl Future<Output = ()>) -> Page {
        let known = self.context.pages();
        work.await;
        eventually(async || {
            self.context
                .pages()
                .into_iter()
                .find(|page| !known.contains(page))
        })
        .await
    }
}

/// Navigates to `url` and waits for its load event.
pub(crate) async fn goto(page: &Page, url: &str) {
    page.goto(&soon(), url, LoadState::Loaded).await.unwrap();
}

/// Returns the value of an expression in the page's default context, `Null` for undefined.
pub(crate) async fn eval(page: &Page, expression: &str) -> Value {
    page.evaluate(&soon(), expression)
        .await
        .unwrap()
        .unwrap_or(Value::Null)
}

/// Returns the value of an expression in a frame.
pub(crate) async fn eval_in(page: &Page, frame: &FrameId, expression: &str) -> Value {
    soon()
        .run(page.backend().evaluate(frame, expression, None))
        .await
        .unwrap()
        .unwrap_or(Value::Null)
}

/// Returns the result of an injected function.
pub(crate) async fn call(page: &Page, frame: &FrameId, function: &str) -> engine::Result<Value> {
    let answer = soon()
        .run(page.backend().call(frame, function, &Value::Null))
        .await?;
    Ok(serde_json::from_str(&answer).unwrap())
}

/// Clicks with trusted input at this point of the main frame's viewport.
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

/// Clicks, and waits until `condition` holds; the click itself may be blocked by its effect.
pub(crate) async fn click_until(page: &Page, x: f64, y: f64, mut condition: impl FnMut() -> bool) {
    tokio::select! {
        clicked = click(page, x, y) => clicked.unwrap(),
        () = eventually(async || condition()) => return,
    }
    eventually(async || condition()).await;
}

/// Waits until the page has loaded a frame with this URL, and returns it.
pub(crate) async fn frame_at(page: &Page, url: &str) -> FrameFacts {
    eventually(async || {
        page.frames()
            .into_iter()
            .find(|frame| frame.url == url && frame.loaded && !frame.pending)
    })
    .await
}

/// Waits until the frame was painted: before that the browser does not know its position.
pub(crate) async fn wait_until_drawn(page: &Page, frame: &FrameFacts) {
    let twice = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))";
    eval_in(page, &frame.id, twice).await;
}
