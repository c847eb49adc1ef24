//! Options whose value is one of a few words.

use engine::codegen::Language;
use serde_json::{Value, json};
use strum::{EnumString, IntoStaticStr, VariantNames};

use super::{OptionValue, Problem};

/// Declares enums of words; the order of the variants is the order in which messages name them.
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

/// Reads and prints an enum as one of its words.
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
    /// Whether something is done.
    Switch {
        /// It is.
        On,
        /// It is not.
        Off,
    }

    /// The least severe console messages that are kept.
    ConsoleLevel {
        /// Errors only.
        Error,
        /// Errors and warnings.
        Warning,
        /// And `log` and `info`.
        Info,
        /// Everything.
        Debug,
    }

    /// How the answers of actions show the page.
    SnapshotMode {
        /// With a snapshot.
        Full,
        /// Without.
        None,
    }

    /// What becomes of images in answers.
    ImageResponses {
        /// They are attached.
        Allow,
        /// They are left out.
        Omit,
        /// An answer with an image is that image alone.
        Only,
    }

    /// How answers write the paths of files.
    FilePaths {
        /// Relative to the workspace.
        Relative,
        /// In full.
        Absolute,
    }

    /// What `prefers-color-scheme` says.
    ColorScheme {
        /// `light`
        Light,
        /// `dark`
        Dark,
        /// `no-preference`
        NoPreference,
    }

    /// What `prefers-reduced-motion` says.
    ReducedMotion {
        /// `reduce`
        Reduce,
        /// `no-preference`
        NoPreference,
    }

    /// What `forced-colors` says.
    ForcedColors {
        /// `active`
        Active,
        /// `none`
        None,
    }

    /// What `prefers-contrast` says.
    Contrast {
        /// `no-preference`
        NoPreference,
        /// `more`
        More,
    }

    /// How much the server tells of itself on stderr.
    LogLevel {
        /// What failed.
        Error,
        /// And what looks wrong.
        Warn,
        /// And what happens.
        Info,
        /// And how.
        Debug,
        /// And each message on the wire.
        Trace,
    }

    /// How reports are written.
    LogFormat {
        /// For people.
        Text,
        /// For programs: one object a line.
        Json,
    }

    /// Where reports go.
    LogDestination {
        /// To stderr.
        Stderr,
        /// To stderr as well: stdout belongs to the protocol.
        Stdout,
        /// To the file that is named.
        File,
    }

    /// How clients are served.
    Transport {
        /// Over stdin and stdout.
        Stdio,
        /// Over HTTP.
        Http,
        /// The same: WebSockets are a part of it.
        Websocket,
    }

    /// How those show who they are that connect over HTTP.
    AuthMode {
        /// They need not.
        None,
        /// By a key.
        ApiKey,
        /// By a token of an issuer.
        Oauth,
    }

    /// Whether calls prolong the life of their session.
    SessionExpiry {
        /// Each call does.
        Sliding,
        /// It ends when it was said at first.
        Fixed,
    }

    /// A family of tools.
    ToolsetName {
        /// The `browser_*` tools.
        Browser,
        /// The session tools.
        Session,
        /// The dev-server tools.
        E2e,
    }

    /// A group of `browser_*` tools that is off unless asked for.
    Capability {
        /// The configuration, for the client to read.
        Config,
        /// Named contexts beside the default one.
        Contexts,
        /// Request mocking and offline.
        Network,
        /// Saving pages as PDF.
        Pdf,
        /// Cookies and web storage.
        Storage,
        /// Assertions and locators.
        Testing,
        /// The mouse by coordinates.
        Vision,
        /// Traces, videos, highlights.
        Devtools,
    }
}
