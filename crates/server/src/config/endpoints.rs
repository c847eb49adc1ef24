//! The settings of browsers that Playhouse connects to instead of launching one.

use std::{path::PathBuf, time::Duration};

use serde_json::{Map, Value};

/// A running browser to connect to over CDP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CdpSettings {
    /// The endpoint, an `http`, `https`, `ws` or `wss` URL; or `auto`.
    pub endpoint: String,
    /// The profile folders in which `auto` searches a running browser, each with the name of the browser.
    pub profiles: Vec<(String, PathBuf)>,
    /// The headers of the connection.
    pub headers: Vec<(String, String)>,
    /// The longest time that connecting may take.
    pub timeout: Duration,
}

/// The extension of the user's own browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExtensionSettings {
    /// The identifier; `None`: one of the known ones that is installed.
    pub id: Option<String>,
    /// The token that replaces the user's approval.
    pub token: Option<String>,
    /// The folder of the profile; `None`: the last used one that has the extension.
    pub profile: Option<String>,
    /// The default profile folders of browsers, each with the name of the browser.
    pub profiles: Vec<(String, PathBuf)>,
    /// Whether tabs are not activated and the window is not focused.
    pub background: bool,
    /// Whether the tabs are grouped.
    pub tab_group: bool,
    /// The longest time that connecting may take, including the user's approval.
    pub timeout: Duration,
}

/// A WebDriver server.
#[derive(Debug, Clone, PartialEq)]
pub struct WebDriverSettings {
    /// The endpoint, an `http`, `https`, `ws` or `wss` URL.
    pub endpoint: String,
    /// The headers of each request.
    pub headers: Vec<(String, String)>,
    /// Additional capabilities to request.
    pub capabilities: Map<String, Value>,
}

impl WebDriverSettings {
    /// Whether the endpoint is a single running browser instead of a server that starts browsers.
    pub(crate) fn is_one_browser(&self) -> bool {
        self.endpoint.starts_with("ws")
    }
}
