//! The process of a server that a command has started, as far as it is known for certain, and its end.

use std::time::Duration;
use supervisor::processes::Identity;

/// How long it may take to end when it is asked to.
#[cfg(unix)]
const TERMINATE_TIMEOUT: Duration = Duration::from_secs(3);

/// How long it may take to be gone once it was killed.
const KILL_TIMEOUT: Duration = Duration::from_secs(2);

const POLL_INTERVAL: Duration = Duration::from_millis(25);

/// The process that has this number now, if it may be what `command` has started: it is of the same user, and not older. What a command
/// tells may be the number of a process of a container, which is another one's here.
pub(super) fn started_by(command: &Identity, pid: u32) -> Option<Identity> {
    let process = Identity::of(pid)?;
    let fits = process.is_our_users() && process.is_older_than(command) == Some(false);
    fits.then_some(process)
}

/// Ends it, and its group if it leads one; whether it is gone.
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
