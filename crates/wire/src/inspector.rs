//! The remote inspector of WebKitGTK, over TCP: what Web Inspector says to a browser, and what the browser says of its pages.
//!
//! It is not specified, and belongs to the browser's version; whoever uses it must do without if need be. A browser that WebDriver
//! drives tells nobody but its driver which pages it has, so the driver speaks to the browser through us: a [`Relay`] passes every byte
//! on and reads the list. On a connection of our own ([`Inspector`]), pages are then listened to and asked.
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
