//! Connecting to tabs of the user's own browser, which its extension gives.

use super::find::{BrowserChoice, Channel, FoundBrowser, Search, find};
use super::source::Source;
use crate::backend::BrowserBackend;
use crate::backend::cdp::CdpBrowser;
use crate::error::{Error, Result};
use crate::peer::is_same_user;
use crate::progress::Progress;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use tokio::process::Child;
use wire::extension::{ExtensionRelay, PROTOCOL_VERSION};

/// The identifiers of the extensions that are searched for: that of `@playwright/mcp` in the Chrome Web Store, and that of Playhouse.
pub const EXTENSIONS: [&str; 2] = [
    "mmlmfjhmonkocbjadbfplnigmagldckm",
    "iikfcfnjnlhkghcdknhannpglcpmcpmi",
];
/// Where the first of them is installed from.
const STORE: &str = "https://chromewebstore.google.com/detail/playwright-extension/mmlmfjhmonkocbjadbfplnigmagldckm";

/// The user's own browser with its extension.
#[derive(Debug, Clone)]
pub struct ExtensionEndpoint {
    /// The requested browser.
    pub choice: BrowserChoice,
    /// The locations in which it is searched.
    pub search: Search,
    /// The folder with its profiles, unless it is the default one.
    pub user_data_dir: Option<PathBuf>,
    /// The default folders with the profiles of browsers, each with the name of the browser.
    pub profiles: Vec<(String, PathBuf)>,
    /// The name of the profile's folder in the folder with profiles; `None`: the last used one that has the extension.
    pub profile: Option<String>,
    /// The identifier of the extension; `None`: the first of [`EXTENSIONS`] that is installed.
    pub extension: Option<String>,
    /// The token of the extension, which replaces the user's approval.
    pub token: Option<String>,
    /// The name that the extension shows to the user.
    pub client: String,
    /// Whether the extension neither activates tabs nor focuses the window.
    pub background: bool,
    /// Whether the extension groups the tabs.
    pub tab_group: bool,
    /// How long the extension may take to connect, including the user's approval.
    pub timeout: Duration,
    /// Additional command-line switches.
    pub args: Vec<String>,
    /// Additional environment variables.
    pub env: Vec<(String, String)>,
}

/// An installed extension.
#[derive(Debug, PartialEq)]
struct Installed {
    /// The name of the profile's folder.
    profile: String,
    extension: String,
}

/// Opens the page of the extension in the user's browser, and waits until the user has allowed the connection.
pub(super) async fn connect(
    progress: &Progress,
    options: &ExtensionEndpoint,
) -> Result<Arc<dyn BrowserBackend>> {
    let connecting = async {
        let found = find(&options.choice, &options.search)?;
        let (profile, extension) = options.locate(&found)?;
        let failed = |error: wire::Error| connect_error(&extension, error.to_string());
        // The secret in the path of the relay: 122 random bits.
        let secret = uuid::Uuid::new_v4().to_string();
        let relay = ExtensionRelay::start(&extension, &secret, is_same_user)
            .await
            .map_err(failed)?;
        let page = options.connect_page(&extension, &relay.url());
        let not_launched = |reason: String| {
            let path = found.path.display();
            connect_error(&extension, format!("Failed to launch {path}: {reason}"))
        };
        let mut browser = options
            .open(&found, profile.as_deref(), &page)
            .map_err(|error| not_launched(error.to_string()))?;
        let failed_to_start = async {
            match browser.wait().await {
                Ok(status) if !status.success() => not_launched(format!("it has ended: {status}")),
                // A browser that runs already opens the page.
                _ => std::future::pending().await,
            }
        };
        let accepted = tokio::select! {
            accepted = tokio::time::timeout(options.timeout, relay.accept(options.background)) => accepted,
            error = failed_to_start => return Err(error),
        };
        let (connection, events) = accepted
            .map_err(|_| connect_error(&extension, options.timeout_reason(profile.as_deref())))?
            .map_err(failed)?;
        CdpBrowser::start(connection, events, Source::Extension).await
    };
    progress.run(connecting).await
}

impl ExtensionEndpoint {
    /// Returns the profile to open, if it is known, and the extension. Fails if the profiles are known and none has an extension.
    fn locate(&self, found: &FoundBrowser) -> Result<(Option<String>, String)> {
        let wanted: Vec<&str> = match &self.extension {
            Some(extension) => vec![extension],
            None => EXTENSIONS.to_vec(),
        };
        let default = || {
            let name = browser_name(found.channel?)?;
            let mut profiles = self.profiles.iter();
            Some(profiles.find(|(browser, _)| browser == name)?.1.clone())
        };
        let folder = self.user_data_dir.clone().or_else(default);
        let installed = folder
            .as_deref()
            .and_then(|folder| installed(folder, self.profile.as_deref(), &wanted));
        match (installed, folder) {
            (Some(Installed { profile, extension }), _) => Ok((Some(profile), extension)),
            // A program that the user named may have its extensions elsewhere.
            (None, Some(folder)) if found.channel.is_some() => {
                let profile = self.profile.iter().map(String::as_str);
                let folder: PathBuf = [folder.as_path()]
                    .into_iter()
                    .chain(profile.map(Path::new))
                    .collect();
                Err(connect_error(
                    wanted[0],
                    format!(
                        "The browser extension is not installed in {}. Install it from {STORE}, or load Playhouse's own (the folder `extension`) in chrome://extensions, and try again.",
                        folder.display()
                    ),
                ))
            }
            (None, _) => Ok((self.profile.clone(), wanted[0].to_owned())),
        }
    }

    /// Returns the URL of the extension's page. Its parameters are those of the protocol.
    fn connect_page(&self, extension: &str, relay: &str) -> String {
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        query
            .append_pair("mcpRelayUrl", relay)
            .append_pair("client", &json!({ "name": self.client }).to_string())
            .append_pair("protocolVersion", &PROTOCOL_VERSION.to_string());
        if !self.tab_group {
            query.append_pair("tabGroup", "false");
        }
        if self.background {
            query.append_pair("background", "true");
        }
        if let Some(token) = &self.token {
            query.append_pair("token", token);
        }
        format!("{}?{}", page_of(extension), query.finish())
    }

    /// Opens a page in the browser. A browser that was not running stays open when this process ends.
    fn open(
        &self,
        found: &FoundBrowser,
        profile: Option<&str>,
        page: &str,
    ) -> std::io::Result<Child> {
        #[expect(
            clippy::disallowed_methods,
            reason = "the browser belongs to the user and must not end with the server"
        )]
        let mut command = tokio::process::Command::new(&found.path);
        let folder = self.user_data_dir.as_ref();
        command
            .args(folder.map(|folder| format!("--user-data-dir={}", folder.display())))
            .args(profile.map(|profile| format!("--profile-directory={profile}")))
            .args(super::is_root().then_some("--no-sandbox"))
            .args(&self.args)
            .arg(page)
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        // A signal of the terminal ends the server only.
        #[cfg(unix)]
        command.process_group(0);
        // The runtime reaps the process, also after this is dropped.
        command.spawn()
    }

    /// Returns why the extension did not connect, and what to do.
    fn timeout_reason(&self, profile: Option<&str>) -> String {
        let timeout = self.timeout;
        let profile = profile.map(|profile| format!(" \"{profile}\""));
        let profile = profile.unwrap_or_default();
        let cause = match self.token {
            Some(_) => "see that PLAYWRIGHT_MCP_EXTENSION_TOKEN is the token of that profile",
            None => "click Allow on the page that opens in the browser",
        };
        format!(
            "The browser extension did not connect within {timeout:?}. See that it is installed and enabled in the profile{profile} of the browser (from {STORE}, or Playhouse's own with --extension-id), and {cause}. Then try again."
        )
    }
}

fn page_of(extension: &str) -> String {
    format!("chrome-extension://{extension}/connect.html")
}

fn connect_error(extension: &str, reason: String) -> Error {
    Error::ConnectFailed {
        endpoint: page_of(extension),
        reason,
    }
}

/// Returns the name of a browser in the list of profile folders.
fn browser_name(channel: Channel) -> Option<&'static str> {
    Some(match channel {
        Channel::Chrome => "Chrome",
        Channel::ChromeBeta => "Chrome Beta",
        Channel::ChromeDev => "Chrome Dev",
        Channel::ChromeCanary => "Chrome Canary",
        Channel::Chromium => "Chromium",
        Channel::Msedge => "Edge",
        Channel::MsedgeBeta => "Edge Beta",
        Channel::MsedgeDev => "Edge Dev",
        Channel::MsedgeCanary
        | Channel::ChromiumHeadlessShell
        | Channel::Firefox
        | Channel::Webkit => return None,
    })
}

/// Finds one of the extensions: in the given profile, or in any, the last used one first.
fn installed(folder: &Path, profile: Option<&str>, wanted: &[&str]) -> Option<Installed> {
    let profiles = match profile {
        Some(profile) => vec![profile.to_owned()],
        None => profiles(folder),
    };
    profiles.into_iter().find_map(|profile| {
        let extension = installed_in(&folder.join(&profile), wanted)?;
        Some(Installed {
            profile,
            extension: extension.to_owned(),
        })
    })
}

/// Returns the names of the profile folders, the last used one first, then in the order of their creation.
fn profiles(folder: &Path) -> Vec<String> {
    let number = |name: &str| match name {
        "Default" => Some(0),
        _ => name.strip_prefix("Profile ")?.parse::<u32>().ok(),
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<_> = names.filter(|name| number(name).is_some()).collect();
    let state = read_json(&folder.join("Local State"));
    let last_used = state["profile"]["last_used"].as_str().unwrap_or_default();
    names.sort_by_key(|name| (name != last_used, number(name)));
    names
}

/// Returns the first of the extensions that a profile has: installed from the store, or loaded from a folder.
fn installed_in<'a>(profile: &Path, wanted: &[&'a str]) -> Option<&'a str> {
    let preferences =
        ["Secure Preferences", "Preferences"].map(|name| read_json(&profile.join(name)));
    let mut wanted = wanted.iter();
    let found = wanted.find(|id| {
        let is_listed =
            |preferences: &Value| preferences["extensions"]["settings"][**id].is_object();
        profile.join("Extensions").join(id).is_dir() || preferences.iter().any(is_listed)
    });
    found.copied()
}

/// Returns the content of a JSON file; null if it cannot be read.
fn read_json(path: &Path) -> Value {
    let bytes = fs::read(path).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint() -> ExtensionEndpoint {
        ExtensionEndpoint {
            choice: BrowserChoice::Any,
            search: Search::default(),
            user_data_dir: None,
            profiles: Vec::new(),
            profile: None,
            extension: None,
            token: None,
            client: "A \"client\"".to_owned(),
            background: false,
            tab_group: true,
            timeout: Duration::from_secs(1),
            args: Vec::new(),
            env: Vec::new(),
        }
    }

    fn found(channel: Option<Channel>) -> FoundBrowser {
        FoundBrowser {
            path: "/chrome".into(),
            channel,
            headless_shell: false,
        }
    }

    #[test]
    fn the_page_has_the_parameters_of_the_protocol() {
        let mut options = endpoint();
        let parameters = |options: &ExtensionEndpoint| {
            let page = options.connect_page("abc", "ws://127.0.0.1:1/extension/x");
            let page = url::Url::parse(&page).unwrap();
            assert_eq!(page.host_str(), Some("abc"));
            assert_eq!(page.path(), "/connect.html");
            let pairs = page.query_pairs().into_owned();
            pairs.collect::<Vec<_>>()
        };
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let mut expected = vec![
            pair("mcpRelayUrl", "ws://127.0.0.1:1/extension/x"),
            pair("client", r#"{"name":"A \"client\""}"#),
            pair("protocolVersion", "2"),
        ];
        assert_eq!(parameters(&options), expected);
        options.token = Some("t&x".to_owned());
        expected.push(pair("token", "t&x"));
        assert_eq!(parameters(&options), expected);
    }

    #[test]
    fn the_last_used_profile_with_an_extension_is_chosen() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let [store, ours] = EXTENSIONS;
        let mut options = endpoint();
        options.profiles = vec![("Chrome".to_owned(), folder.path().to_owned())];
        let locate = |options: &ExtensionEndpoint| options.locate(&found(Some(Channel::Chrome)));
        let chosen = |profile: &str, id: &str| (Some(profile.to_owned()), id.to_owned());
        write("Default/Preferences", "{}");
        write("Profile 10/Preferences", "not JSON");
        let refused = locate(&options).unwrap_err().to_string();
        assert!(refused.contains("not installed in"), "{refused}");
        assert!(refused.contains(STORE), "{refused}");
        // One is loaded from a folder, another is installed from the store.
        let settings = json!({ "extensions": { "settings": { ours: { "location": 4 } } } });
        write("Profile 10/Secure Preferences", &settings.to_string());
        assert_eq!(locate(&options).unwrap(), chosen("Profile 10", ours));
        write(
            &format!("Profile 2/Extensions/{store}/1.0/manifest.json"),
            "{}",
        );
        assert_eq!(locate(&options).unwrap(), chosen("Profile 2", store));
        let state = json!({ "profile": { "last_used": "Profile 10" } });
        write("Local State", &state.to_string());
        assert_eq!(locate(&options).unwrap(), chosen("Profile 10", ours));
        options.extension = Some(store.to_owned());
        assert_eq!(locate(&options).unwrap(), chosen("Profile 2", store));
        options.profile = Some("Default".to_owned());
        let refused = locate(&options).unwrap_err().to_string();
        let default = folder.path().join("Default").display().to_string();
        assert!(refused.contains(&default), "{refused}");
        // The folder of another program is not known.
        let other = options.locate(&found(None)).unwrap();
        assert_eq!(other, chosen("Default", store));
    }

    #[test]
    fn an_extension_that_does_not_connect_is_reported_with_the_next_step() {
        let mut options = endpoint();
        let reason = options.timeout_reason(None);
        assert!(
            reason.contains("within 1s") && reason.contains("click Allow"),
            "{reason}"
        );
        options.token = Some("secret".to_owned());
        let reason = options.timeout_reason(Some("Profile 1"));
        assert!(
            reason.contains("\"Profile 1\"") && !reason.contains("click Allow"),
            "{reason}"
        );
        assert!(
            reason.contains("EXTENSION_TOKEN") && !reason.contains("secret"),
            "{reason}"
        );
    }
}
