//! Scripts that all browsers share.

/// Returns a script that clears the timers of a document, which have consecutive numbers. If there were more than `most`, the oldest remain.
pub(crate) fn clear_timers(most: u32) -> String {
    format!(
        "for (let last = setTimeout(String), id = last; id > Math.max(0, last - {most}); id--) clearTimeout(id)"
    )
}

/// A script that prevents pages from registering service workers.
pub(crate) const BLOCK_SERVICE_WORKERS: &str = "if (navigator.serviceWorker) navigator.serviceWorker.register = async () => { console.warn('Service workers are blocked by Playhouse'); };";
