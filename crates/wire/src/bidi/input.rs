//! The `input` module: trusted input, and file dialogs.

use serde::{Deserialize, Serialize};

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

/// One device; the n-th actions of all devices happen together.
/// [`input.SourceActions`](https://w3c.github.io/webdriver-bidi/#command-input-performActions)
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Source {
    Key {
        id: &'static str,
        actions: Vec<Action>,
    },
    Pointer {
        id: &'static str,
        actions: Vec<Action>,
    },
    Wheel {
        id: &'static str,
        actions: Vec<Action>,
    },
}

/// What a device does.
#[derive(Debug, Clone, Serialize)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum Action {
    Pause {
        /// In milliseconds.
        #[serde(skip_serializing_if = "Option::is_none")]
        duration: Option<u64>,
    },
    KeyDown {
        value: String,
    },
    KeyUp {
        value: String,
    },
    PointerMove {
        x: f64,
        y: f64,
    },
    PointerDown {
        button: u8,
    },
    PointerUp {
        button: u8,
    },
    Scroll {
        x: i64,
        y: i64,
        delta_x: i64,
        delta_y: i64,
    },
}

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
