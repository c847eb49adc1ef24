//! Detecting the end of the parent process: a wrapper, such as a package runner, may be killed without closing the server's stdin.

#[cfg(unix)]
use std::time::Duration;

/// The interval between checks. The kernel assigns orphans another parent without a notification.
#[cfg(unix)]
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Resolves when the current parent process has ended. Never, if that is the first process of the system, or an invisible one.
#[cfg(unix)]
pub(super) async fn gone() {
    let Some(parent) = rustix::process::getppid().filter(|parent| !parent.is_init()) else {
        return std::future::pending().await;
    };
    while rustix::process::getppid() == Some(parent) {
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

/// Never resolves: an orphan cannot be detected on this platform.
#[cfg(not(unix))]
pub(super) async fn gone() {
    std::future::pending().await
}
