//! A browser without a process, for tests of what uses the engine. It loads pages over HTTP and understands elements, text, events and
//! scripts (`testing/document.js`); it has no layout, no style and no frames.

mod commands;
mod context;
mod document;
mod network;
mod page;
mod requests;
mod shared;

pub(crate) use context::FakeBrowser;
#[cfg(test)]
pub(crate) use page::{FakePage, Script};

use std::sync::atomic::{AtomicBool, Ordering};

/// The name and version of the fake browser.
const PRODUCT: &str = "Chrome/0.0.0.0";
const USER_AGENT: &str = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/0.0.0.0 Safari/537.36";

static IS_INSTALLED: AtomicBool = AtomicBool::new(false);

/// Makes every further launch of this process start a fake browser. Connections to running browsers are not changed.
pub fn install() {
    IS_INSTALLED.store(true, Ordering::Relaxed);
}

pub(crate) fn is_installed() -> bool {
    IS_INSTALLED.load(Ordering::Relaxed)
}
