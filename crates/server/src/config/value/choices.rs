//! Options whose value is one of a few words.

use engine::codegen::Language;
use serde_json::{Value, json};
use strum::{EnumString, IntoStaticStr, VariantNames};

use super::{OptionValue, Problem};

/// Declares enums of words. Errors list the words in the order of the variants.
macro_rules! choices {
    ($($(#[doc = $doc:literal])* $name:ident { $($(#[doc = $about:literal])* $variant:ident,)* })*) => { $(
        $(#[doc = $doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[derive(EnumString, IntoStaticStr, VariantNames)]
        #[strum(serialize_all = "kebab-case")]
        pub enum $name { $($(#[doc = $about])* $variant,)* }

        words!($name);
    )* };
}

/// Implements [`OptionValue`] for an enum whose values are words.
macro_rules! words {
    ($name:ident) => {
        impl OptionValue for $name {
            const WORD: &'static str = "WORD";

            fn parse(text: &str) -> Result<Self, Problem> {
                text.parse().map_err(|_| Problem::NotOneOf(Self::VARIANTS))
            }

            fn from_json(value: &Value) -> Result<Self, Problem> {
                Self::parse(value.as_str().ok_or(Problem::NotOneOf(Self::VARIANTS))?)
            }

            fn to_json(&self) -> Value {
                json!(<&'static str>::from(self))
            }

            fn schema() -> Value {
                json!({ "enum": Self::VARIANTS })
            }
        }
    };
}

words!(Language);

choices! {
    /// A setting with the words `on` and `off`.
    Switch {
        /// The setting is on.
        On,
        /// The setting is off.
        Off,
    }

    /// The least severe level of console messages that are recorded.
    ConsoleLevel {
        /// Only errors.
        Error,
        /// Errors and warnings.
        Warning,
        /// Errors, warnings, `log` and `info`.
        Info,
        /// All messages.
        Debug,
    }

    /// The style of answers in text.
    AnswerStyle {
        /// As `@playwright/mcp` answers.
        Playwright,
        /// The same facts in fewer tokens.
        Compact,
    }

    /// Whether answers of actions include a snapshot.
    SnapshotMode {
        /// Answers include a snapshot.
        Full,
        /// Answers have no snapshot.
        None,
    }

    /// How images are included in answers.
    ImageResponses {
        /// Images are attached.
        Allow,
        /// Images are left out.
        Omit,
        /// An answer with an image contains only the image.
        Only,
    }

    /// How answers write the paths of files.
    FilePaths {
        /// Relative to the workspace.
        Relative,
        /// Absolute.
        Absolute,
    }

    /// The value of the media feature `prefers-color-scheme`.
    ColorScheme {
        /// `light`
        Light,
        /// `dark`
        Dark,
        /// `no-preference`
        NoPreference,
    }

    /// The value of the media feature `prefers-reduced-motion`.
    ReducedMotion {
        /// `reduce`
        Reduce,
        /// `no-preference`
        NoPreference,
    }

    /// The value of the media feature `forced-colors`.
    ForcedColors {
        /// `active`
        Active,
        /// `none`
        None,
    }

    /// The value of the media feature `prefers-contrast`.
    Contrast {
        /// `no-preference`
        NoPreference,
        /// `more`
        More,
    }

    /// The least severe level of log messages.
    LogLevel {
        /// Only errors.
        Error,
        /// Errors and warnings.
        Warn,
        /// Errors, warnings and normal events.
        Info,
        /// Further details of each event.
        Debug,
        /// All messages, including those of the protocols.
        Trace,
    }

    /// The format of log messages.
    LogFormat {
        /// Plain text.
        Text,
        /// One JSON object on each line.
        Json,
    }

    /// Where log messages are written.
    LogDestination {
        /// To stderr.
        Stderr,
        /// To stderr as well, because stdout carries the protocol.
        Stdout,
        /// To the file that `--log-file` names.
        File,
    }

    /// The transport of clients.
    Transport {
        /// Standard input and output.
        Stdio,
        /// Streamable HTTP, with the other transports over HTTP.
        Http,
        /// Another word for `http`, which includes WebSocket.
        Websocket,
    }

    /// How clients authenticate over HTTP.
    AuthMode {
        /// Clients do not authenticate.
        None,
        /// With an API key.
        ApiKey,
        /// With an access token of an issuer.
        Oauth,
    }

    /// Whether calls extend the lifetime of their session.
    SessionExpiry {
        /// Each call extends the lifetime.
        Sliding,
        /// The session expires a fixed time after its creation.
        Fixed,
    }

    /// A group of tools.
    ToolsetName {
        /// The `browser_*` tools.
        Browser,
        /// The tools for sessions.
        Session,
        /// The tools for the app under test.
        E2e,
    }

    /// A group of `browser_*` tools that `--caps` turns on.
    Capability {
        /// Reading the configuration.
        Config,
        /// Named contexts.
        Contexts,
        /// Routes with mock responses, and offline mode.
        Network,
        /// Saving pages as PDF.
        Pdf,
        /// Core Web Vitals, traces, heap snapshots, coverage and throttling.
        Performance,
        /// Cookies and web storage.
        Storage,
        /// Assertions and locators.
        Testing,
        /// Mouse input at coordinates.
        Vision,
        /// Traces, videos, highlights and styles.
        Devtools,
        /// Fixed tools that list and call the tools of pages.
        Webmcp,
        /// Accessibility audit and page check.
        Audit,
    }
}
