//! The `emulation` module: overrides for the pages of a user context.

use serde::Serialize;

use super::browser::UserContext;
use super::{Empty, command};

/// [`emulation.setUserAgentOverride`](https://w3c.github.io/webdriver-bidi/#command-emulation-setUserAgentOverride)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetUserAgentOverride {
    pub user_agent: Option<String>,
    pub user_contexts: Vec<UserContext>,
}
command!(
    SetUserAgentOverride,
    "emulation.setUserAgentOverride",
    Empty
);

/// [`emulation.setLocaleOverride`](https://w3c.github.io/webdriver-bidi/#command-emulation-setLocaleOverride)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetLocaleOverride {
    pub locale: Option<String>,
    pub user_contexts: Vec<UserContext>,
}
command!(SetLocaleOverride, "emulation.setLocaleOverride", Empty);

/// [`emulation.setTimezoneOverride`](https://w3c.github.io/webdriver-bidi/#command-emulation-setTimezoneOverride)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetTimezoneOverride {
    pub timezone: Option<String>,
    pub user_contexts: Vec<UserContext>,
}
command!(SetTimezoneOverride, "emulation.setTimezoneOverride", Empty);

/// [`emulation.setGeolocationOverride`](https://w3c.github.io/webdriver-bidi/#command-emulation-setGeolocationOverride)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetGeolocationOverride {
    pub coordinates: Option<Coordinates>,
    pub user_contexts: Vec<UserContext>,
}
command!(
    SetGeolocationOverride,
    "emulation.setGeolocationOverride",
    Empty
);

/// [`emulation.GeolocationCoordinates`](https://w3c.github.io/webdriver-bidi/#command-emulation-setGeolocationOverride)
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Coordinates {
    pub latitude: f64,
    pub longitude: f64,
    pub accuracy: f64,
}

/// [`emulation.setNetworkConditions`](https://w3c.github.io/webdriver-bidi/#command-emulation-setNetworkConditions)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetNetworkConditions {
    pub network_conditions: Option<NetworkConditions>,
    pub user_contexts: Vec<UserContext>,
}
command!(
    SetNetworkConditions,
    "emulation.setNetworkConditions",
    Empty
);

/// [`emulation.NetworkConditionsOffline`](https://w3c.github.io/webdriver-bidi/#command-emulation-setNetworkConditions)
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum NetworkConditions {
    Offline,
}
