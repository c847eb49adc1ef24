//! Features that some browsers do not support, and the alternatives.

use serde::{Serialize, Serializer};

/// A feature that some browsers do not support; its name begins a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, strum::IntoStaticStr, strum::VariantArray)]
pub enum Feature {
    /// [`crate::ContextOptions::throttling`].
    #[strum(to_string = "Network throttling")]
    Throttling,
    /// [`crate::BrowserContext::set_cpu_throttling`].
    #[strum(to_string = "CPU throttling")]
    CpuThrottling,
    /// [`crate::Page::start_trace`].
    #[strum(to_string = "Recording a performance trace")]
    PerformanceTrace,
    /// [`crate::Page::heap_snapshot`].
    #[strum(to_string = "Taking a heap snapshot")]
    HeapSnapshot,
    /// [`crate::Page::start_coverage`].
    #[strum(to_string = "Measuring code coverage")]
    Coverage,
    /// [`crate::Locator::styles`].
    #[strum(to_string = "Reading the style rules of an element")]
    StyleRules,
    /// [`crate::VideoEncoder::Browser`].
    #[strum(to_string = "Recording a video without ffmpeg")]
    VideoFrames,
    /// [`crate::Page::evaluate_in_worker`].
    #[strum(to_string = "Evaluating scripts in workers")]
    WorkerEvaluation,
    /// [`crate::ContextOptions::media`] and later changes of it.
    #[strum(to_string = "Media feature emulation")]
    MediaFeatures,
    /// [`crate::MediaFeatures::forced_colors`].
    #[strum(to_string = "Forced colors emulation")]
    ForcedColors,
    /// [`crate::Viewport::is_mobile`].
    #[strum(to_string = "Mobile viewport emulation")]
    MobileViewport,
    /// [`crate::Viewport::has_touch`].
    #[strum(to_string = "Touch emulation")]
    TouchScreen,
    /// [`crate::ContextOptions::bypass_csp`].
    #[strum(to_string = "Bypassing the Content-Security-Policy")]
    BypassCsp,
    /// [`crate::ContextOptions::java_script_enabled`].
    #[strum(to_string = "Disabling JavaScript")]
    WithoutScripts,
    /// A [`crate::Proxy`].
    #[strum(to_string = "A proxy")]
    Proxy,
    /// [`crate::ContextOptions::origins`].
    #[strum(to_string = "Rules about domains and origins")]
    OriginRules,
    /// [`crate::ContextOptions::addresses`].
    #[strum(to_string = "Rules about IP addresses and ports")]
    AddressRules,
    /// [`crate::ContextOptions::tls`].
    #[strum(to_string = "Own certificate authorities and client certificates")]
    Certificates,
    /// [`crate::ContextOptions::locale`].
    #[strum(to_string = "Locale emulation")]
    Locale,
    /// [`crate::ContextOptions::timezone`].
    #[strum(to_string = "Time zone emulation")]
    TimeZone,
    /// Changes of [`crate::ContextOptions::locale`] and [`crate::ContextOptions::timezone`] in an open context.
    #[strum(to_string = "Changing the locale or the time zone of an open context")]
    LocaleChange,
    /// [`crate::ContextOptions::ignore_https_errors`] in the context that the browser begins with.
    #[strum(to_string = "Ignoring certificate errors in a persistent profile")]
    IgnoreCertificatesInProfile,
    /// A [`crate::Verdict::Continue`] with a changed URL or body.
    #[strum(to_string = "Rewriting the URL or body of requests")]
    RewriteRequest,
    /// `PageBackend::fetch`.
    #[strum(to_string = "Response interception")]
    HoldResponse,
    /// Permissions with other names.
    #[strum(to_string = "Granting this permission")]
    Permission,
    /// [`crate::Viewport::device_scale_factor`] other than 1.
    #[strum(to_string = "Device scale factor emulation")]
    ScaledViewport,
    /// `PageBackend::pdf`.
    #[strum(to_string = "PDF export")]
    Pdf,
    /// [`crate::ContextOptions::geolocation`] and later changes of it.
    #[strum(to_string = "Geolocation emulation")]
    Geolocation,
    /// [`crate::ContextOptions::http_credentials`].
    #[strum(to_string = "HTTP authentication")]
    HttpCredentials,
    /// [`crate::ContextOptions::offline`] and later changes of it.
    #[strum(to_string = "Offline emulation")]
    Offline,
    /// Interception of requests: routes, `PageBackend::set_interception`.
    #[strum(to_string = "Request interception")]
    Interception,
    /// [`crate::ContextOptions::init_scripts`] and init scripts that are added later.
    #[strum(to_string = "Init scripts")]
    InitScripts,
    /// [`crate::ContextOptions::extra_headers`] and later changes of them.
    #[strum(to_string = "Extra HTTP headers")]
    ExtraHeaders,
    /// [`crate::ContextOptions::user_agent`].
    #[strum(to_string = "User agent emulation")]
    UserAgent,
    /// A folder as the file of an input.
    #[strum(to_string = "Uploading a folder")]
    FolderUpload,
    /// Contexts other than the default one.
    #[strum(to_string = "An isolated browser context")]
    IsolatedContext,
    /// `PageBackend::response_body` and `PageBackend::request_body`.
    #[strum(to_string = "Reading request and response bodies")]
    Bodies,
    /// The frames of WebSockets in the request log.
    #[strum(to_string = "Reading the frames of WebSockets")]
    WebSocketFrames,
    /// The events of event sources in the request log.
    #[strum(to_string = "Reading server-sent events")]
    ServerSentEvents,
}

impl Feature {
    /// Returns all features in the order of the documentation.
    pub fn all() -> &'static [Self] {
        <Self as strum::VariantArray>::VARIANTS
    }

    /// Returns the name, with which a sentence can begin.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl Serialize for Feature {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// The alternative to an unsupported feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, strum::Display)]
#[serde(rename_all = "camelCase")]
pub enum Alternative {
    /// Use Chromium.
    #[strum(to_string = "Use Chromium for it.")]
    Chromium,
    /// Install ffmpeg.
    #[strum(to_string = "Install ffmpeg, or use Chromium.")]
    Ffmpeg,
    /// Use Chromium or Firefox.
    #[strum(to_string = "Use Chromium or Firefox for it.")]
    ChromiumOrFirefox,
    /// Use an isolated context, or Chromium.
    #[strum(to_string = "Use an isolated context, or Chromium.")]
    IsolatedContext,
    /// Set it when the context is created, or use Chromium or Firefox.
    #[strum(to_string = "Set it when the context is created, or use Chromium or Firefox.")]
    NewContext,
    /// Mock the response, or use Chromium.
    #[strum(to_string = "Mock the response, or use Chromium.")]
    MockedResponse,
    /// Grant only the permissions that Firefox supports, or use Chromium.
    #[strum(
        to_string = "Firefox grants geolocation, notifications, persistent-storage and storage-access; use Chromium for others."
    )]
    FirefoxPermissions,
    /// Configure the proxy on the machine of the browser.
    #[strum(to_string = "Configure the proxy where the browser runs.")]
    OwnProxy,
    /// Launch the browser on this machine, where its connections use an egress proxy, or restrict its network where it runs.
    #[strum(
        to_string = "Start the browser on this machine, or restrict its network where it runs."
    )]
    LocalBrowser,
    /// Launch a browser, instead of using that of the user.
    #[strum(to_string = "Use a browser that Playhouse starts for it.")]
    LaunchedBrowser,
}
