//! The `input` module: trusted input, and file dialogs.

use serde::{Deserialize, Serialize};

use crate::actions::Source;

use super::browsing_context::BrowsingContext;
use super::script::{RemoteValue, SharedReference};
use super::{Empty, command, event};

/// [`input.performActions`](https://w3c.github.io/webdriver-bidi/#command-input-performActions)
#[derive(Debug, Clone, Default, Serialize)]
pub struct PerformActions {
    pub context: BrowsingContext,
    pub actions: Vec<Source>,
}
command!(PerformActions, "input.performActions", Empty);

/// [`input.setFiles`](https://w3c.github.io/webdriver-bidi/#command-input-setFiles)
#[derive(Debug, Clone, Serialize)]
pub struct SetFiles {
    pub context: BrowsingContext,
    pub element: SharedReference,
    pub files: Vec<String>,
}
command!(SetFiles, "input.setFiles", Empty);

/// [`input.fileDialogOpened`](https://w3c.github.io/webdriver-bidi/#event-input-fileDialogOpened)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct FileDialogOpened {
    pub context: BrowsingContext,
    pub element: Option<RemoteValue>,
    pub multiple: bool,
}
event!(FileDialogOpened, "input.fileDialogOpened");
