//! Identifying the process of a server that a command started, and terminating it.

use std::time::Duration;
use supervisor::processes::Identity;

/// How long a process may take to end after it was requested to.
#[cfg(unix)]
const TERMINATE_TIMEOUT: Duration = Duration::from_secs(3);

/// How long a process may take to end after it was killed.
const KILL_TIMEOUT: Duration = Duration::from_secs(2);

const POLL_INTERVAL: Duration = Duration::from_millis(25);

/// Returns the process of this number if `command` may have started it: it has the same user and is not older. The number that a command
/// reports may be that of a process in a container, which is another process here.
pub(super) fn started_by(command: &Identity, pid: u32) -> Option<Identity> {
    let process = Identity::of(pid)?;
    let fits = process.is_our_users() && process.is_older_than(command) == Some(false);
    fits.then_some(process)
}

/// Terminates a process, and its group if it leads one; returns whether it has ended.
pub(super) async fn end(process: &Identity) -> bool {
    #[cfg(unix)]
    {
        process.terminate_group();
        if is_gone_within(process, TERMINATE_TIMEOUT).await {
            return true;
        }
        process.kill_group();
    }
    is_gone_within(process, KILL_TIMEOUT).await
}

async fn is_gone_within(process: &Identity, limit: Duration) -> bool {
    let gone = async {
        while process.is_alive() {
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    };
    tokio::time::timeout(limit, gone).await.is_ok()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn only_a_younger_process_can_be_the_server_of_a_command() {
        let this = Identity::of(std::process::id()).unwrap();
        assert!(started_by(&this, this.pid).is_some());
        let later = Identity {
            started: this.started.replacen(' ', " 1", 1),
            ..this.clone()
        };
        assert_eq!(started_by(&later, this.pid), None);
        assert_eq!(started_by(&this, 1), None);
    }
}
