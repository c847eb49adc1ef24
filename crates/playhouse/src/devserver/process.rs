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
    began: Began,
}

/// When a process began; the same for no two processes of one number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Began {
    /// Names the time since the machine was started.
    boot: String,
    /// Counted since then, in the system's own steps.
    ticks: u64,
    /// The user whose it is.
    user: u32,
}

impl Process {
    /// The process that has this number now.
    pub(super) fn of(pid: u32) -> Option<Self> {
        Some(Self {
            pid,
            began: began(pid)?,
        })
    }

    /// The process that has this number now, if it may be what `command` has started: it is of the same user, and not older. What a
    /// command tells may be the number of a process of a container, which is another one's here.
    pub(super) fn started_by(command: &Self, pid: u32) -> Option<Self> {
        let process = Self::of(pid)?;
        let (began, before) = (&process.began, &command.began);
        let fits =
            began.boot == before.boot && began.user == before.user && began.ticks >= before.ticks;
        fits.then_some(process)
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
fn began(pid: u32) -> Option<Began> {
    use std::os::unix::fs::MetadataExt as _;
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let user = std::fs::metadata(format!("/proc/{pid}")).ok()?.uid();
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may have spaces and parentheses: see proc_pid_stat(5).
    let mut fields = stat.rsplit_once(") ")?.1.split(' ');
    let state = fields.next()?;
    let ticks = fields.nth(18)?.parse().ok()?;
    (!matches!(state, "Z" | "X")).then(|| Began {
        boot: boot.trim().to_owned(),
        ticks,
        user,
    })
}

/// Nothing tells it there: such a process is never killed by us.
#[cfg(not(target_os = "linux"))]
fn began(_: u32) -> Option<Began> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn another_process_of_the_same_number_is_another_one() {
        let this = Process::of(std::process::id()).unwrap();
        assert!(this.lives());
        let mut former = this.clone();
        former.began.ticks -= 1;
        assert!(!former.lives() && !former.signal(true));
    }

    #[test]
    fn only_what_is_younger_than_the_command_may_be_its_server() {
        let this = Process::of(std::process::id()).unwrap();
        assert!(Process::started_by(&this, this.pid).is_some());
        let mut later = this.clone();
        later.began.ticks += 1;
        assert_eq!(Process::started_by(&later, this.pid), None);
        assert_eq!(Process::started_by(&this, 1), None);
    }
}
