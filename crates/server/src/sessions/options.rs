//! The options of a session at its creation, which override the server's settings.

use super::emulation::EmulationOptions;
use crate::access::restrictions;
use crate::config::{SessionExpiry, Settings, StorageStateSource};
use crate::error::{Error, Problem, Result};
use engine::{Channel, Proxy, StorageState};
use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Duration;

/// The options of a session that differ from the server's settings.
#[derive(Debug, Clone, Default)]
pub(crate) struct SessionOptions {
    /// The name.
    pub(crate) name: Option<SessionName>,
    /// The browser.
    pub(crate) browser: Option<BrowserOption>,
    /// The emulation.
    pub(crate) emulation: EmulationOptions,
    /// The proxy.
    pub(crate) proxy: Option<ProxyOption>,
    /// The initial storage state.
    pub(crate) storage_state: Option<StorageState>,
    /// The lifetime; `None`: that of the server's settings.
    pub(crate) lifetime: Option<Duration>,
    /// Whether calls extend the lifetime, if it differs from the server's setting.
    pub(crate) expiry: Option<SessionExpiry>,
}

/// The name of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SessionName {
    /// A name that the client requires. The creation fails if a session has it.
    Given(String),
    /// A name that gets a number if another session has it.
    Proposed(String),
}

impl SessionName {
    /// Validates the name that a client chose: letters, digits, - and _, and not a reserved name.
    pub(crate) fn given(tool: &'static str, name: String) -> Result<Self> {
        let message = match name.as_str() {
            crate::sessions::session::DEFAULT_NAME => "Is the name of the default session",
            text if uuid::Uuid::parse_str(text).is_ok() => "Must not look like an id",
            text => {
                check_name(tool, "name", text)?;
                return Ok(Self::Given(name));
            }
        };
        Err(invalid_name(tool, message.to_owned()))
    }
}

/// Returns an error for a text that a session, a context or a saved storage state cannot have as its name.
pub(crate) fn check_name(tool: &'static str, parameter: &str, name: &str) -> Result<()> {
    match is_name(name) {
        true => Ok(()),
        false => Err(Error::InvalidArguments {
            tool,
            problems: vec![Problem {
                parameter: parameter.to_owned(),
                message: "Must be up to 64 letters, digits, - and _".to_owned(),
                missing: false,
            }],
        }),
    }
}

/// Returns the error for an invalid name.
pub(super) fn invalid_name(tool: &'static str, message: String) -> Error {
    Error::InvalidArguments {
        tool,
        problems: vec![Problem {
            parameter: "name".to_owned(),
            message,
            missing: false,
        }],
    }
}

/// Returns whether a session or a context may have this name.
pub(crate) fn is_name(text: &str) -> bool {
    let plain = |char: char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_');
    !text.is_empty() && text.len() <= 64 && text.chars().all(plain)
}

/// A browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum BrowserOption {
    Chromium,
    Chrome,
    Msedge,
    Firefox,
    Webkit,
}

impl From<BrowserOption> for Channel {
    fn from(browser: BrowserOption) -> Self {
        match browser {
            BrowserOption::Chromium => Self::Chromium,
            BrowserOption::Chrome => Self::Chrome,
            BrowserOption::Msedge => Self::Msedge,
            BrowserOption::Firefox => Self::Firefox,
            BrowserOption::Webkit => Self::Webkit,
        }
    }
}

/// A proxy.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(crate) struct ProxyOption {
    /// http://host:port, https://host:port or socks5://host:port.
    server: String,
    /// Hosts without the proxy, separated by commas.
    bypass: Option<String>,
    /// User name.
    username: Option<String>,
    /// Password.
    password: Option<String>,
}

impl ProxyOption {
    fn checked(&self) -> Result<Proxy> {
        let bypass = self.bypass.as_deref();
        let (username, password) = (self.username.clone(), self.password.clone());
        Proxy::new(&self.server, bypass, username, password).map_err(|error| Error::Arguments {
            reason: error.to_string().into(),
            parameters: &["proxy"],
            missing: &[],
            bare: false,
        })
    }
}

impl SessionOptions {
    /// Returns an error that names the parameter, if the browser rejected an option of it.
    pub(super) fn with_parameter(&self, tool: &'static str, error: Error) -> Error {
        let given = |option| match option {
            "locale" => self.emulation.locale.is_some(),
            "timezone" => self.emulation.timezone.is_some(),
            "permissions" => self.emulation.permissions.is_some(),
            _ => false,
        };
        match error {
            Error::Engine(engine::Error::InvalidOption { option, message }) if given(option) => {
                Error::InvalidArguments {
                    tool,
                    problems: vec![Problem {
                        parameter: option.to_owned(),
                        message,
                        missing: false,
                    }],
                }
            }
            error => error,
        }
    }

    /// Returns the settings of a named context of a session, which starts without the session's storage.
    pub(crate) fn applied_to_context(&self, session: &Settings) -> Result<Settings> {
        let mut settings = session.clone();
        settings.context.storage_state = None;
        self.applied_to(&settings)
    }

    /// Returns the settings of the session: an isolated context with these options.
    pub(crate) fn applied_to(&self, settings: &Settings) -> Result<Settings> {
        let mut settings = settings.clone();
        settings.browser.isolated = true;
        // The expiry decides when the session ends.
        settings.browser.idle_timeout = None;
        if let Some(browser) = self.browser {
            settings.browser = settings.browser.of_channel(browser.into());
        }
        self.emulation.apply(&mut settings.context)?;
        if self.proxy.is_some() {
            restrictions::check_proxy(&settings)?;
        }
        let context = &mut settings.context;
        if let Some(proxy) = &self.proxy {
            context.options.proxy = Some(proxy.checked()?);
            settings.browser.confined = true;
        }
        if let Some(state) = &self.storage_state {
            let state = StorageStateSource::Inline(serde_json::json!(state));
            context.storage_state = Some(state);
        }
        Ok(settings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorCode;
    use engine::BrowserKind;

    #[test]
    fn a_session_that_was_created_is_not_closed_for_being_idle() {
        let mut settings = Settings::of_flags(&["--headless"]);
        settings.browser.idle_timeout = Some(Duration::from_secs(1));
        let applied = SessionOptions::default().applied_to(&settings);
        assert_eq!(applied.unwrap().browser.idle_timeout, None);
    }

    #[test]
    fn another_browser_kind_gets_no_switches_of_the_server() {
        let flags = ["--headless", "--browser", "chrome"];
        let mut settings = Settings::of_flags(&flags);
        settings.browser.args = vec!["--some-switch".to_owned()];
        let of = |browser| {
            let options = SessionOptions {
                browser: Some(browser),
                ..SessionOptions::default()
            };
            options.applied_to(&settings).unwrap().browser
        };
        let same = |browser| of(browser).is_same_browser(&settings.browser);
        assert!(same(BrowserOption::Chromium) && same(BrowserOption::Chrome));
        assert!(!same(BrowserOption::Msedge) && !same(BrowserOption::Firefox));
        assert_eq!(of(BrowserOption::Msedge).args, settings.browser.args);
        assert_eq!(of(BrowserOption::Firefox).kind, BrowserKind::Firefox);
        assert!(of(BrowserOption::Firefox).args.is_empty());
    }

    #[test]
    fn an_invalid_proxy_is_refused() {
        let settings = Settings::of_flags(&["--headless"]);
        for server in ["", "http://", "nonsense://x", "http://proxy:99999"] {
            let options = SessionOptions {
                proxy: Some(ProxyOption {
                    server: server.to_owned(),
                    bypass: None,
                    username: None,
                    password: None,
                }),
                ..SessionOptions::default()
            };
            let error = options.applied_to(&settings).expect_err(server);
            assert_eq!(error.code(), ErrorCode::InvalidParameters, "{server}");
        }
    }

    #[test]
    fn a_named_context_does_not_begin_with_the_storage_of_its_session() {
        let mut settings = Settings::of_flags(&["--headless"]);
        settings.context.storage_state = Some(StorageStateSource::File("session.json".into()));
        let mut options = SessionOptions::default();
        let begins = |options: &SessionOptions| {
            let applied = options.applied_to_context(&settings).unwrap();
            format!("{:?}", applied.context.storage_state)
        };
        assert_eq!(begins(&options), "None");
        options.storage_state = Some(StorageState::default());
        assert!(begins(&options).starts_with("Some(Inline("));
    }
}
