//! The windows of a browser.

use crate::error::Result;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::{Mutex, MutexGuard};
use wire::Session;
use wire::bidi::browser;
use wire::bidi::browsing_context::{GetTree, Info};

/// The windows in which pages open.
///
/// A window takes three times as long to open as a tab. Firefox starts with a window whose tab belongs to no context; a page opens in it,
/// as the selected tab, if the window has no other page.
pub(super) struct Windows {
    root: Session,
    /// Whether the windows are not visible, and no context has their tabs.
    are_reused: AtomicBool,
    taking: Mutex<()>,
}

/// A window without a page, which no other page takes until this is dropped.
pub(super) struct EmptyWindow<'a> {
    /// The tab that belongs to no context.
    pub(super) tab: String,
    _taking: MutexGuard<'a, ()>,
}

impl Windows {
    pub(super) fn new(root: Session, are_reused: bool) -> Self {
        Self {
            root,
            are_reused: AtomicBool::new(are_reused),
            taking: Mutex::default(),
        }
    }

    /// Opens each page in a new window from now on, because a context has the tabs of the default user context.
    pub(super) fn stop_reuse(&self) {
        self.are_reused.store(false, Ordering::SeqCst);
    }

    /// Returns a window without a page, if there is one.
    pub(super) async fn take_empty(&self) -> Result<Option<EmptyWindow<'_>>> {
        if !self.are_reused.load(Ordering::SeqCst) {
            return Ok(None);
        }
        let taking = self.taking.lock().await;
        let tree = self.root.call(&GetTree {
            max_depth: Some(0),
            root: None,
        });
        let tab = empty_window(tree.await?.contexts);
        Ok(tab.map(|tab| EmptyWindow {
            tab,
            _taking: taking,
        }))
    }
}

/// Returns the tab of a window without a page.
fn empty_window(mut tabs: Vec<Info>) -> Option<String> {
    let is_empty = |tab: &Info| {
        let is_other = |other: &&Info| other.client_window == tab.client_window;
        tab.user_context.as_deref() == Some(browser::DEFAULT)
            && tab.client_window.is_some()
            && tabs.iter().filter(is_other).count() == 1
    };
    let found = tabs.iter().position(is_empty)?;
    Some(tabs.swap_remove(found).context)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_empty_if_its_only_tab_belongs_to_no_context() {
        let tab = |context: &str, user_context: &str, window: Option<&str>| Info {
            context: context.to_owned(),
            user_context: Some(user_context.to_owned()),
            client_window: window.map(str::to_owned),
            ..Info::default()
        };
        let taken = [
            tab("blank", browser::DEFAULT, Some("one")),
            tab("page", "1", Some("one")),
            tab("other page", "1", Some("two")),
            tab("in an older Firefox", browser::DEFAULT, None),
        ];
        assert_eq!(empty_window(taken.to_vec()), None);
        let empty = tab("empty", browser::DEFAULT, Some("three"));
        let tabs = [&taken[..], &[empty]].concat();
        assert_eq!(empty_window(tabs).as_deref(), Some("empty"));
    }
}
