//! The `browsingContext` module: tabs and frames, their navigations, screenshots and dialogs.

use serde::{Deserialize, Serialize};

use super::browser::{ClientWindow, UserContext};
use super::{Binary, Empty, command, event};

/// The id of a tab or a frame. <https://w3c.github.io/webdriver-bidi/#type-browsingContext-BrowsingContext>
pub type BrowsingContext = String;
/// The id of a navigation. <https://w3c.github.io/webdriver-bidi/#type-browsingContext-Navigation>
pub type Navigation = String;

/// [`browsingContext.Info`](https://w3c.github.io/webdriver-bidi/#type-browsingContext-Info)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Info {
    pub context: BrowsingContext,
    pub parent: Option<BrowsingContext>,
    pub original_opener: Option<BrowsingContext>,
    pub url: String,
    /// `None` for a context that was closed with its user context.
    pub user_context: Option<UserContext>,
    /// The window of a page.
    pub client_window: Option<ClientWindow>,
    pub children: Option<Vec<Info>>,
}

/// [`browsingContext.create`](https://w3c.github.io/webdriver-bidi/#command-browsingContext-create)
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Create {
    #[serde(rename = "type")]
    pub kind: CreateType,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_context: Option<UserContext>,
    /// A page in the same window as which a tab is created.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference_context: Option<BrowsingContext>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background: Option<bool>,
}
command!(Create, "browsingContext.create", CreateResult);

/// [`browsingContext.CreateType`](https://w3c.github.io/webdriver-bidi/#command-browsingContext-create)
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum CreateType {
    Tab,
    Window,
}

/// The result of [`Create`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct CreateResult {
    pub context: BrowsingContext,
}

/// [`browsingContext.close`](https://w3c.github.io/webdriver-bidi/#command-browsingContext-close)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Close {
    pub context: BrowsingContext,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_unload: Option<bool>,
}
command!(Close, "browsingContext.close", Empty);

/// [`browsingContext.activate`](https://w3c.github.io/webdriver-bidi/#command-browsingContext-activate)
#[derive(Debug, Clone, Default, Serialize)]
pub struct Activate {
    pub context: BrowsingContext,
}
command!(Activate, "browsingContext.activate", Empty);

/// [`browsingContext.getTree`](https://w3c.github.io/webdriver-bidi/#command-browsingContext-getTree)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GetTree {
    /// 0 for pages without their frames.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_depth: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<BrowsingContext>,
}
command!(GetTree, "browsingContext.getTree", GetTreeResult);

/// The result of [`GetTree`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct GetTreeResult {
    pub contexts: Vec<Info>,
}

/// The readiness state of a navigation at which its command returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ReadinessState {
    None,
    Interactive,
    Complete,
}

/// [`browsingContext.navigate`](https://w3c.github.io/webdriver-bidi/#command-browsingContext-navigate)
#[derive(Debug, Clone, Serialize)]
pub struct Navigate {
    pub context: BrowsingContext,
    pub url: String,
    pub wait: ReadinessState,
}
command!(Navigate, "browsingContext.navigate", NavigateResult);

/// [`browsingContext.reload`](https://w3c.github.io/webdriver-bidi/#command-browsingContext-reload)
#[derive(Debug, Clone, Serialize)]
pub struct Reload {
    pub context: BrowsingContext,
    pub wait: ReadinessState,
}
command!(Reload, "browsingContext.reload", NavigateResult);

/// The result of [`Navigate`] and [`Reload`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct NavigateResult {
    pub navigation: Option<Navigation>,
    pub url: String,
}

/// [`browsingContext.traverseHistory`](https://w3c.github.io/webdriver-bidi/#command-browsingContext-traverseHistory)
#[derive(Debug, Clone, Default, Serialize)]
pub struct TraverseHistory {
    pub context: BrowsingContext,
    pub delta: i32,
}
command!(TraverseHistory, "browsingContext.traverseHistory", Empty);

/// [`browsingContext.handleUserPrompt`](https://w3c.github.io/webdriver-bidi/#command-browsingContext-handleUserPrompt)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HandleUserPrompt {
    pub context: BrowsingContext,
    pub accept: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_text: Option<String>,
}
command!(HandleUserPrompt, "browsingContext.handleUserPrompt", Empty);

/// [`browsingContext.setViewport`](https://w3c.github.io/webdriver-bidi/#command-browsingContext-setViewport)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetViewport {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<BrowsingContext>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_contexts: Option<Vec<UserContext>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub viewport: Option<Viewport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_pixel_ratio: Option<f64>,
}
command!(SetViewport, "browsingContext.setViewport", Empty);

/// [`browsingContext.setViewport`](https://w3c.github.io/webdriver-bidi/#command-browsingContext-setViewport) with `null`, which resets the
/// viewport.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResetViewport {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<BrowsingContext>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_contexts: Option<Vec<UserContext>>,
    /// Always `null`.
    pub viewport: (),
    /// Always `null`.
    pub device_pixel_ratio: (),
}
command!(ResetViewport, "browsingContext.setViewport", Empty);

/// A size in CSS pixels.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Viewport {
    pub width: u32,
    pub height: u32,
}

/// [`browsingContext.captureScreenshot`](https://w3c.github.io/webdriver-bidi/#command-browsingContext-captureScreenshot)
#[derive(Debug, Clone, Serialize)]
pub struct CaptureScreenshot {
    pub context: BrowsingContext,
    /// `viewport` or `document`.
    pub origin: &'static str,
    pub format: ImageFormat,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clip: Option<Clip>,
}
command!(
    CaptureScreenshot,
    "browsingContext.captureScreenshot",
    DataResult
);

/// [`browsingContext.ImageFormat`](https://w3c.github.io/webdriver-bidi/#command-browsingContext-captureScreenshot)
#[derive(Debug, Clone, Serialize)]
pub struct ImageFormat {
    /// The media type, such as `image/png`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The quality, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quality: Option<f64>,
}

/// [`browsingContext.BoxClipRectangle`](https://w3c.github.io/webdriver-bidi/#command-browsingContext-captureScreenshot)
#[derive(Debug, Clone, Serialize)]
pub struct Clip {
    /// `box`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

/// [`browsingContext.print`](https://w3c.github.io/webdriver-bidi/#command-browsingContext-print)
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Print {
    pub context: BrowsingContext,
    pub background: bool,
    pub margin: Margin,
    /// `portrait` or `landscape`.
    pub orientation: &'static str,
    pub page: PaperSize,
    pub shrink_to_fit: bool,
}
command!(Print, "browsingContext.print", DataResult);

/// A page size, in centimetres.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Margin {
    pub top: f64,
    pub bottom: f64,
    pub left: f64,
    pub right: f64,
}

/// The margins, in centimetres.
#[derive(Debug, Clone, Serialize)]
pub struct PaperSize {
    pub width: f64,
    pub height: f64,
}

/// The result of [`CaptureScreenshot`] and [`Print`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct DataResult {
    pub data: Binary,
}

/// [`browsingContext.contextCreated`](https://w3c.github.io/webdriver-bidi/#event-browsingContext-contextCreated)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(transparent)]
pub struct ContextCreated(pub Info);
event!(ContextCreated, "browsingContext.contextCreated");

/// [`browsingContext.contextDestroyed`](https://w3c.github.io/webdriver-bidi/#event-browsingContext-contextDestroyed)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(transparent)]
pub struct ContextDestroyed(pub Info);
event!(ContextDestroyed, "browsingContext.contextDestroyed");

/// The fields of all navigation events.
/// [`browsingContext.NavigationInfo`](https://w3c.github.io/webdriver-bidi/#type-browsingContext-NavigationInfo)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct NavigationInfo {
    pub context: BrowsingContext,
    pub navigation: Option<Navigation>,
    pub url: String,
}

macro_rules! navigation_event {
    ($name:ident, $method:literal, $anchor:literal) => {
        #[doc = concat!("[`", $method, "`](https://w3c.github.io/webdriver-bidi/#event-", $anchor, ")")]
        #[derive(Debug, Clone, Default, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub NavigationInfo);
        event!($name, $method);
    };
}
navigation_event!(
    NavigationStarted,
    "browsingContext.navigationStarted",
    "browsingContext-navigationStarted"
);
navigation_event!(
    NavigationCommitted,
    "browsingContext.navigationCommitted",
    "browsingContext-navigationCommitted"
);
navigation_event!(
    NavigationAborted,
    "browsingContext.navigationAborted",
    "browsingContext-navigationAborted"
);
navigation_event!(
    NavigationFailed,
    "browsingContext.navigationFailed",
    "browsingContext-navigationFailed"
);
navigation_event!(
    FragmentNavigated,
    "browsingContext.fragmentNavigated",
    "browsingContext-fragmentNavigated"
);
navigation_event!(
    HistoryUpdated,
    "browsingContext.historyUpdated",
    "browsingContext-historyUpdated"
);
navigation_event!(
    DomContentLoaded,
    "browsingContext.domContentLoaded",
    "browsingContext-domContentLoaded"
);
navigation_event!(Load, "browsingContext.load", "browsingContext-load");

/// [`browsingContext.downloadWillBegin`](https://w3c.github.io/webdriver-bidi/#event-browsingContext-downloadWillBegin)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DownloadWillBegin {
    pub context: BrowsingContext,
    pub navigation: Option<Navigation>,
    /// The id of the download, if the browser supports it.
    pub download: Option<String>,
    pub url: String,
    pub suggested_filename: String,
}
event!(DownloadWillBegin, "browsingContext.downloadWillBegin");

/// [`browsingContext.downloadEnd`](https://w3c.github.io/webdriver-bidi/#event-browsingContext-downloadEnd)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DownloadEnd {
    pub context: BrowsingContext,
    pub navigation: Option<Navigation>,
    pub download: Option<String>,
    pub url: String,
    /// `complete` or `canceled`.
    pub status: String,
    pub filepath: Option<String>,
}
event!(DownloadEnd, "browsingContext.downloadEnd");

/// [`browsingContext.userPromptOpened`](https://w3c.github.io/webdriver-bidi/#event-browsingContext-userPromptOpened)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct UserPromptOpened {
    pub context: BrowsingContext,
    /// `alert`, `beforeunload`, `confirm` or `prompt`.
    #[serde(rename = "type")]
    pub kind: String,
    pub message: String,
    pub default_value: Option<String>,
}
event!(UserPromptOpened, "browsingContext.userPromptOpened");

/// [`browsingContext.userPromptClosed`](https://w3c.github.io/webdriver-bidi/#event-browsingContext-userPromptClosed)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct UserPromptClosed {
    pub context: BrowsingContext,
}
event!(UserPromptClosed, "browsingContext.userPromptClosed");
