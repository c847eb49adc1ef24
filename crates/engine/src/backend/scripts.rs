//! Scripts that are the same for every browser.

/// Clears the timers of a document, which are numbered one after the other; a page that had more than `most` keeps the oldest.
pub(crate) fn clear_timers(most: u32) -> String {
    format!(
        "for (let last = setTimeout(String), id = last; id > Math.max(0, last - {most}); id--) clearTimeout(id)"
    )
}

/// Pages register no service workers.
pub(crate) const BLOCK_SERVICE_WORKERS: &str = "if (navigator.serviceWorker) navigator.serviceWorker.register = async () => { console.warn('Service workers are blocked by Playhouse'); };";
