//! The `IO` domain: streams that other commands return.

use serde::{Deserialize, Serialize};

use super::{Empty, command};

/// Reads the next part of a stream, until `eof`.
/// [`IO.read`](https://chromedevtools.github.io/devtools-protocol/tot/IO/#method-read)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Read {
    pub handle: StreamHandle,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<i64>,
}
command!(Read, "IO.read", ReadResponse);

/// The result of [`Read`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ReadResponse {
    pub base64_encoded: Option<bool>,
    pub data: String,
    pub eof: bool,
}

/// [`IO.StreamHandle`](https://chromedevtools.github.io/devtools-protocol/tot/IO/#type-StreamHandle)
pub type StreamHandle = String;

/// [`IO.close`](https://chromedevtools.github.io/devtools-protocol/tot/IO/#method-close)
#[derive(Debug, Clone, Default, Serialize)]
pub struct Close {
    pub handle: StreamHandle,
}
command!(Close, "IO.close", Empty);
