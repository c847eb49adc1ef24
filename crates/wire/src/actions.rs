//! Input sources and their actions, with the same types in WebDriver and WebDriver BiDi. <https://www.w3.org/TR/webdriver2/#actions>

use serde::Serialize;

/// An input source; the n-th actions of all sources are dispatched together.
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

/// An action of an input source.
#[derive(Debug, Clone, Serialize)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum Action {
    Pause {
        /// The duration, in milliseconds.
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
