//! The protocol of the browser extension of `@playwright/mcp`, version 2, which Playhouse's own extension (`extension/`) has too.
//!
//! The extension connects to a WebSocket of the server and gives it some tabs of a running browser. The server sends calls of
//! [`chrome.debugger`](https://developer.chrome.com/docs/extensions/reference/api/debugger) and
//! [`chrome.tabs`](https://developer.chrome.com/docs/extensions/reference/api/tabs) with positional parameters; the extension returns their
//! results, and sends their events. A [`Connection`](crate::Connection) over it is one of the Chrome DevTools Protocol with flat sessions:
//! the commands of the browser level that `chrome.debugger` lacks are answered here, as far as tabs of a running browser have an answer.

mod relay;
mod tabs;
#[cfg(test)]
mod tests;
mod transport;

pub use relay::{ExtensionConnection, ExtensionRelay, PROTOCOL_VERSION};
