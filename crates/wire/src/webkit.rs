//! The remote inspector server of WebKitGTK over TCP (`WEBKIT_INSPECTOR_SERVER`): one connection carries the `Automation` domain of the
//! browser, which WebKitWebDriver uses, and the inspector of each page, which Web Inspector uses.
//!
//! Neither protocol is specified; both depend on the version of the browser.
//!
//! <https://github.com/WebKit/WebKit/blob/main/Source/WebKit/UIProcess/Automation/Automation.json>
//! <https://github.com/WebKit/WebKit/tree/main/Source/JavaScriptCore/inspector/protocol>

mod connection;
mod frame;

pub use connection::{Automation, Event};

#[cfg(test)]
mod tests;
