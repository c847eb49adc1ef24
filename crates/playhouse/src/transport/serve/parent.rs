//! The process that started us: a wrapper, such as a package runner, may be killed without a word and leave our stdin open.

#[cfg(unix)]
use std::time::Duration;

/// How often it is looked for. The kernel gives orphans another parent, and tells nobody.
#[cfg(unix)]
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Resolves when the process that is our parent now has ended. Never, if that is the first process of the system, or one that we
/// cannot see.
#[cfg(unix)]
pub(super) async fn gone() {
    let Some(parent) = rustix::process::getppid().filter(|parent| !parent.is_init()) else {
        return std::future::pending().await;
    };
    while rustix::process::getppid() == Some(parent) {
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

/// Never: nothing is left of whoever started us that could be asked for.
#[cfg(not(unix))]
pub(super) async fn gone() {
    std::future::pending().await
}
