//! What code asks for, as `api/` sends it.

use engine::{Cookie, Geolocation, Headers, Modifier, MouseButton, Point};
use serde::Deserialize;

/// What something is done to.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct On {
    /// The page.
    pub(super) page: Option<String>,
    /// The frame, if not the main one.
    pub(super) frame: Option<String>,
    /// The element, as a locator expression.
    pub(super) locator: Option<String>,
    /// How long it may take, in milliseconds; 0 for as long as anything may.
    pub(super) timeout: Option<f64>,
}

/// What is done to an element.
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

/// How to click.
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

/// A key that is held meanwhile.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(super) enum HeldKey {
    Alt,
    Control,
    ControlOrMeta,
    Meta,
    Shift,
}

impl From<HeldKey> for Modifier {
    fn from(key: HeldKey) -> Self {
        match key {
            HeldKey::Alt => Self::Alt,
            HeldKey::ControlOrMeta if cfg!(target_os = "macos") => Self::Meta,
            HeldKey::Control | HeldKey::ControlOrMeta => Self::Control,
            HeldKey::Meta => Self::Meta,
            HeldKey::Shift => Self::Shift,
        }
    }
}

/// How to draw.
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

/// A part of a page, in CSS pixels.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(super) struct Clip {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// How to print.
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

/// CSS pixels, or a number with a unit.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(super) enum Length {
    Pixels(f64),
    Text(String),
}

/// How far a document must have come.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Until {
    Committed,
    DomContentLoaded,
    Loaded,
}

impl From<Until> for engine::LoadState {
    fn from(until: Until) -> Self {
        match until {
            Until::Committed => Self::Committed,
            Until::DomContentLoaded => Self::DomContentLoaded,
            Until::Loaded => Self::Loaded,
        }
    }
}

/// What is done to a page.
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
        /// A document that goes away meanwhile is no failure.
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

/// Media features; what is `null` is the browser's own again, what is missing stays.
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

/// What is done to the context, and to nothing in particular.
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
        /// Where a copy goes.
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

/// What becomes of a request; bodies are base64.
#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub(super) enum Verdict {
    /// Somebody else decides.
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
        /// A file that is the body.
        path: Option<String>,
    },
    Abort {
        reason: String,
    },
}

/// Which events code wants to hear of.
#[derive(Debug, Deserialize)]
pub(super) struct Listen {
    /// The page; none for the context.
    pub(super) page: Option<String>,
    /// The event, as listeners name it.
    pub(super) event: String,
    /// From now on, or no more.
    pub(super) on: bool,
}

/// What code asks without waiting.
#[derive(Debug, Deserialize)]
#[serde(tag = "op", rename_all = "camelCase")]
pub(super) enum Question {
    Pages,
    Url { page: String },
    IsClosed { page: String },
    Opener { page: String },
    Frames { page: String },
    Viewport { page: String },
    Busy { page: String },
}
