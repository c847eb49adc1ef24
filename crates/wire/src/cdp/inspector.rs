//! The `Inspector` domain: the end of a target.

use serde::Deserialize;

use super::event;

/// [`Inspector.targetCrashed`](https://chromedevtools.github.io/devtools-protocol/tot/Inspector/#event-targetCrashed)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct TargetCrashed {}
event!(TargetCrashed, "Inspector.targetCrashed");

/// [`Inspector.detached`](https://chromedevtools.github.io/devtools-protocol/tot/Inspector/#event-detached)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Detached {
    pub reason: String,
}
event!(Detached, "Inspector.detached");
