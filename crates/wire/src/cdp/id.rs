//! Identifiers that several domains use.

/// [`DOM.BackendNodeId`](https://chromedevtools.github.io/devtools-protocol/tot/DOM/#type-BackendNodeId)
pub type BackendNodeId = i64;

/// [`Network.LoaderId`](https://chromedevtools.github.io/devtools-protocol/tot/Network/#type-LoaderId)
pub type LoaderId = String;

/// [`Page.FrameId`](https://chromedevtools.github.io/devtools-protocol/tot/Page/#type-FrameId)
pub type FrameId = String;
