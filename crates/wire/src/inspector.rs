//! The remote inspector protocol of WebKitGTK over TCP, which Web Inspector uses.
//!
//! The protocol is not specified and depends on the version of the browser, so its users must work without it. A browser under WebDriver
//! reports its pages only to its driver. A [`Relay`] between the driver and the browser forwards all messages and reads the list of pages.
//! An [`Inspector`] is a second connection, which attaches to pages, sends commands and receives events.
//!
//! <https://github.com/WebKit/WebKit/tree/main/Source/JavaScriptCore/inspector/protocol>

mod connection;
mod frame;
mod relay;

pub use connection::{Inspector, InspectorEvent};
pub use frame::InspectedPage;
pub use relay::Relay;

#[cfg(test)]
mod tests;
