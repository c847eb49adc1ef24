//! The requests of client code, as `crates/script/api` sends them.

use engine::{Cookie, Geolocation, Headers, HeldKey, MouseButton, Point};
use serde::Deserialize;

/// The object of an operation.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct On {
    /// The page.
    pub(super) page: Option<String>,
    /// The frame; default: the main frame.
    pub(super) frame: Option<String>,
    /// The element, as a locator expression.
    pub(super) locator: Option<String>,
    /// The timeout, in milliseconds; 0 for the longest one.
    pub(super) timeout: Option<f64>,
}

/// An operation on an element.
#[derive(Debug, Deserialize)]
#[serde(tag = "op", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(super) enum ElementOp {
    Click(ClickOptions),
    Hover(ClickOptions),
    Fill { value: String },
    Type { text: String, delay: Option<f64> },
    Press { key: String },
    Focus,
    SetChecked { checked: bool },
    SelectOptions { values: Vec<String> },
    SetInputFiles { paths: Vec<String> },
    DragTo { target: String },
    ScrollIntoView,
    WaitFor { state: Option<String> },
    Screenshot(ScreenshotOptions),
    Text,
    InnerText,
    Value,
    Attribute { name: String },
    IsVisible,
    States,
    Count,
    Bounds,
    Evaluate { script: String },
    EvaluateAll { script: String },
}

/// The options of a click.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct ClickOptions {
    pub(super) button: MouseButton,
    pub(super) click_count: Option<u32>,
    pub(super) delay: f64,
    pub(super) force: bool,
    pub(super) modifiers: Vec<HeldKey>,
    pub(super) position: Option<Point>,
}

/// The options of a screenshot.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct ScreenshotOptions {
    pub(super) clip: Option<Clip>,
    pub(super) full_page: bool,
    pub(super) omit_background: bool,
    pub(super) path: Option<String>,
    pub(super) quality: Option<u8>,
    pub(super) scale: Option<String>,
    pub(super) r#type: Option<engine::ScreenshotFormat>,
}

/// A clip rectangle, in CSS pixels.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(super) struct Clip {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// The options of a PDF.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct PrintOptions {
    pub(super) format: Option<String>,
    pub(super) width: Option<Length>,
    pub(super) height: Option<Length>,
    pub(super) landscape: bool,
    pub(super) print_background: bool,
    pub(super) path: Option<String>,
}

/// A length: CSS pixels, or a number with a unit.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(super) enum Length {
    Pixels(f64),
    Text(String),
}

/// A load state.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Until {
    Committed,
    DomContentLoaded,
    Loaded,
    NetworkIdle,
}

impl From<Until> for engine::LoadState {
    fn from(until: Until) -> Self {
        match until {
            Until::Committed => Self::Committed,
            Until::DomContentLoaded => Self::DomContentLoaded,
            Until::Loaded => Self::Loaded,
            Until::NetworkIdle => Self::NetworkIdle,
        }
    }
}

/// An operation on a page.
#[derive(Debug, Deserialize)]
#[serde(tag = "op", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(super) enum PageOp {
    Goto {
        url: String,
        until: Until,
    },
    Reload {
        until: Until,
    },
    Go {
        delta: i32,
        until: Until,
    },
    WaitForLoad {
        until: Until,
    },
    EvaluatePage {
        script: String,
        /// Whether a navigation meanwhile is not an error.
        #[serde(default)]
        patient: bool,
    },
    Screenshot(ScreenshotOptions),
    Pdf(PrintOptions),
    Resize {
        width: u32,
        height: u32,
    },
    EmulateMedia {
        media: Media,
    },
    Activate,
    Close,
    KeyPress {
        key: String,
    },
    KeyType {
        text: String,
        delay: Option<f64>,
    },
    InsertText {
        text: String,
    },
    KeyDown {
        key: String,
    },
    KeyUp {
        key: String,
    },
    MouseMove {
        x: f64,
        y: f64,
    },
    MouseDown {
        #[serde(default)]
        button: MouseButton,
    },
    MouseUp {
        #[serde(default)]
        button: MouseButton,
    },
    MouseClick {
        x: f64,
        y: f64,
        #[serde(flatten)]
        how: ClickOptions,
    },
    MouseWheel {
        delta_x: f64,
        delta_y: f64,
    },
    AnswerDialog {
        accept: bool,
        text: Option<String>,
    },
    AnswerFileChooser {
        paths: Vec<String>,
    },
    Response {
        request: String,
        url: String,
    },
    ResponseBody {
        request: String,
    },
    Finished {
        request: String,
    },
    Routing {
        on: bool,
    },
    AddInitScript {
        script: String,
    },
    SetExtraHeaders {
        headers: Vec<(String, String)>,
    },
}

/// Media features; `null` restores the browser's default, a missing value is unchanged.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Media {
    #[serde(deserialize_with = "present")]
    pub(super) media: Option<Option<String>>,
    #[serde(deserialize_with = "present")]
    pub(super) color_scheme: Option<Option<String>>,
    #[serde(deserialize_with = "present")]
    pub(super) reduced_motion: Option<Option<String>>,
    #[serde(deserialize_with = "present")]
    pub(super) forced_colors: Option<Option<String>>,
    #[serde(deserialize_with = "present")]
    pub(super) contrast: Option<Option<String>>,
}

fn present<'de, D: serde::Deserializer<'de>>(value: D) -> Result<Option<Option<String>>, D::Error> {
    Deserialize::deserialize(value).map(Some)
}

/// An operation on the context, or a global one.
#[derive(Debug, Deserialize)]
#[serde(tag = "op", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(super) enum ContextOp {
    Sleep {
        ms: f64,
    },
    NewPage,
    Cookies,
    AddCookies {
        cookies: Vec<Cookie>,
    },
    RemoveCookies {
        cookies: Vec<Cookie>,
    },
    StorageState,
    SetOffline {
        offline: bool,
    },
    GrantPermissions {
        permissions: Vec<String>,
        origin: Option<String>,
    },
    ClearPermissions,
    SetGeolocation {
        geolocation: Option<Geolocation>,
    },
    SetExtraHeaders {
        headers: Vec<(String, String)>,
    },
    AddInitScript {
        script: String,
    },
    Downloaded {
        download: u64,
        /// The path of the copy.
        path: Option<String>,
    },
    FetchRoute {
        pause: u64,
        verdict: Verdict,
    },
    Decide {
        pause: u64,
        verdict: Verdict,
    },
    Unroute {
        of: Option<String>,
        wanted: Option<String>,
    },
}

/// The decision about an intercepted request; bodies are base64.
#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub(super) enum Verdict {
    /// Another handler decides.
    Pass,
    Continue {
        url: Option<String>,
        method: Option<String>,
        headers: Option<Headers>,
        body: Option<String>,
    },
    Fulfill {
        status: u16,
        headers: Headers,
        body: String,
        /// A file with the body.
        path: Option<String>,
    },
    Abort {
        reason: String,
    },
}

/// Adds or removes a listener.
#[derive(Debug, Deserialize)]
pub(super) struct Listen {
    /// The page; `None` for the context.
    pub(super) page: Option<String>,
    /// The name of the event.
    pub(super) event: String,
    /// Whether to listen.
    pub(super) on: bool,
}

/// A synchronous request.
#[derive(Debug, Deserialize)]
#[serde(tag = "op", rename_all = "camelCase")]
pub(super) enum Question {
    Pages,
    Url { page: String },
    IsClosed { page: String },
    Opener { page: String },
    Frames { page: String },
    Viewport { page: String },
}
