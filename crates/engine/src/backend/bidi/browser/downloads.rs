//! Downloads of pages.

use super::Shared;
use crate::backend::{DownloadEvent, FrameId, PageBackend, PageEvent};
use std::path::PathBuf;
use wire::bidi::browsing_context::{DownloadEnd, DownloadWillBegin};

impl Shared {
    pub(super) fn on_download_will_begin(&self, download: DownloadWillBegin) {
        let Some(page) = self.pages.get(&download.context) else {
            return;
        };
        let Some(context) = self.context(page.user_context()) else {
            return;
        };
        let frame = FrameId::from(&download.context);
        // The document stays.
        page.report(PageEvent::NavigationAborted {
            frame,
            loader: download.navigation.as_ref().map(Into::into),
            reason: None,
        });
        let name = download.download.or(download.navigation);
        let id = context.downloads.insert((name, download.url.clone()));
        context.observer().download(DownloadEvent::Started {
            id,
            page: Some(page.id().clone()),
            url: download.url,
            suggested_name: without_number(&download.suggested_filename),
        });
    }

    pub(super) fn on_download_end(&self, download: DownloadEnd) {
        let key = (download.download.or(download.navigation), download.url);
        // The page may have been closed.
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

/// Returns a file name without the number that Firefox adds to a name that exists: `a.txt` for `a(1).txt`.
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
