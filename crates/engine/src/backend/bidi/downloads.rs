//! Files that pages download.

use super::browser::Shared;
use crate::backend::{DownloadEvent, FrameId, PageEvent};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use wire::bidi::browsing_context::{DownloadEnd, DownloadWillBegin};

/// The downloads of a context that have not ended: the browser's name for each, and ours.
#[derive(Default)]
pub(super) struct Downloads(Mutex<(u64, Vec<(Key, String)>)>);

/// A navigation, where it was one, and the address.
type Key = (Option<String>, String);

impl Downloads {
    fn insert(&self, key: Key) -> String {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.0 += 1;
        let id = format!("download-{}", state.0);
        state.1.push((key, id.clone()));
        id
    }

    fn remove(&self, key: &Key) -> Option<String> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let index = state.1.iter().position(|(known, _)| known == key)?;
        Some(state.1.remove(index).1)
    }
}

impl Shared {
    pub(super) fn on_download_will_begin(&self, download: DownloadWillBegin) {
        let Some(page) = self.page_of(&download.context) else {
            return;
        };
        let Some(context) = page.context() else {
            return;
        };
        let frame = FrameId::from(&download.context);
        // The document stays.
        page.report(PageEvent::NavigationAborted {
            frame,
            loader: download.navigation.as_ref().map(Into::into),
            reason: String::new(),
        });
        let name = download.download.or(download.navigation);
        let id = context.downloads.insert((name, download.url.clone()));
        context.observer().download(DownloadEvent::Started {
            id,
            page: Some(page.page_id().clone()),
            url: download.url,
            suggested_name: without_number(&download.suggested_filename),
        });
    }

    pub(super) fn on_download_end(&self, download: DownloadEnd) {
        let key = (download.download.or(download.navigation), download.url);
        // Its page may be gone by now.
        let ended = self
            .contexts()
            .into_iter()
            .find_map(|context| Some((context.downloads.remove(&key)?, context)));
        let Some((id, context)) = ended else { return };
        let event = match download.filepath {
            Some(path) if download.status == "complete" => DownloadEvent::Finished {
                id,
                path: PathBuf::from(path),
            },
            _ => DownloadEvent::Failed {
                id,
                reason: "canceled".to_owned(),
            },
        };
        context.observer().download(event);
    }
}

/// `a(1).txt` is what Firefox makes of `a.txt` where there is one already.
fn without_number(name: &str) -> String {
    let (stem, extension) = match name.rfind('.') {
        Some(dot) => name.split_at(dot),
        None => (name, ""),
    };
    let plain = stem.strip_suffix(')').and_then(|stem| {
        let (plain, number) = stem.rsplit_once('(')?;
        let counts = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        (counts && !plain.is_empty() && !plain.ends_with(' ')).then_some(plain)
    });
    plain.map_or_else(|| name.to_owned(), |plain| format!("{plain}{extension}"))
}
