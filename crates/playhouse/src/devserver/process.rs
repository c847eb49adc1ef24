//! A process of somebody else's, told from any other that may get its number later.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How long it may take to end when it is asked to.
const POLITE: Duration = Duration::from_secs(3);

/// How long it may take to be gone once it was killed.
const GONE: Duration = Duration::from_secs(2);

const STEP: Duration = Duration::from_millis(25);

/// A process: its number, and when it began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Process {
    pid: u32,
    /// In the system's own terms; the same for no two processes of one number.
    began: String,
}

impl Process {
    /// The process that has this number now.
    pub(super) fn of(pid: u32) -> Option<Self> {
        Some(Self {
            pid,
            began: began(pid)?,
        })
    }

    pub(super) fn lives(&self) -> bool {
        began(self.pid).as_ref() == Some(&self.began)
    }

    /// Ends it, and its group if it leads one; whether it is gone.
    pub(super) async fn end(&self) -> bool {
        if !self.signal(false) {
            return true;
        }
        if self.is_gone_within(POLITE).await {
            return true;
        }
        self.signal(true);
        self.is_gone_within(GONE).await
    }

    async fn is_gone_within(&self, limit: Duration) -> bool {
        let gone = async {
            while self.lives() {
                tokio::time::sleep(STEP).await;
            }
        };
        tokio::time::timeout(limit, gone).await.is_ok()
    }

    /// False if there is nobody to signal.
    #[cfg(unix)]
    fn signal(&self, kill: bool) -> bool {
        use rustix::process::{Pid, Signal, getpgid, kill_process, kill_process_group};
        let pid = i32::try_from(self.pid).ok().and_then(Pid::from_raw);
        let Some(pid) = pid.filter(|_| self.lives()) else {
            return false;
        };
        let signal = if kill { Signal::KILL } else { Signal::TERM };
        let _ = match getpgid(Some(pid)) {
            Ok(group) if group == pid => kill_process_group(pid, signal),
            _ => kill_process(pid, signal),
        };
        true
    }

    #[cfg(not(unix))]
    fn signal(&self, _: bool) -> bool {
        false
    }
}

/// When the process of that number began; `None` if there is none, or none that runs.
#[cfg(target_os = "linux")]
fn began(pid: u32) -> Option<String> {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may have spaces and parentheses: see proc_pid_stat(5).
    let mut fields = stat.rsplit_once(") ")?.1.split(' ');
    let state = fields.next()?;
    let start = fields.nth(18)?;
    (!matches!(state, "Z" | "X")).then(|| format!("{} {start}", boot.trim()))
}

/// Nothing tells it there: such a process is never killed by us.
#[cfg(not(target_os = "linux"))]
fn began(_: u32) -> Option<String> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn another_process_of_the_same_number_is_another_one() {
        let this = Process::of(std::process::id()).unwrap();
        assert!(this.lives());
        let former = Process {
            began: "some boot 1".to_owned(),
            ..this.clone()
        };
        assert!(!former.lives() && !former.signal(true));
    }
}
