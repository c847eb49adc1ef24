//! The `Inspector` domain: the end of a target.

use serde::{Deserialize, Serialize};

use super::{Empty, command, event};

/// [`Inspector.enable`](https://chromedevtools.github.io/devtools-protocol/tot/Inspector/#method-enable)
#[derive(Debug, Clone, Default, Serialize)]
pub struct Enable {}
command!(Enable, "Inspector.enable", Empty);

/// [`Inspector.disable`](https://chromedevtools.github.io/devtools-protocol/tot/Inspector/#method-disable)
#[derive(Debug, Clone, Default, Serialize)]
pub struct Disable {}
command!(Disable, "Inspector.disable", Empty);

/// [`Inspector.targetCrashed`](https://chromedevtools.github.io/devtools-protocol/tot/Inspector/#event-targetCrashed)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct TargetCrashed {}
event!(TargetCrashed, "Inspector.targetCrashed");

/// [`Inspector.targetReloadedAfterCrash`](https://chromedevtools.github.io/devtools-protocol/tot/Inspector/#event-targetReloadedAfterCrash)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct TargetReloadedAfterCrash {}
event!(
    TargetReloadedAfterCrash,
    "Inspector.targetReloadedAfterCrash"
);

/// [`Inspector.detached`](https://chromedevtools.github.io/devtools-protocol/tot/Inspector/#event-detached)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Detached {
    pub reason: String,
}
event!(Detached, "Inspector.detached");
