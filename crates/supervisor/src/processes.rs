//! Processes of this machine, identified independently of the reuse of their numbers.

#[cfg(target_os = "linux")]
pub mod proc;
// Its parsers are tested on Linux, too.
#[cfg(any(test, not(target_os = "linux")))]
pub mod ps;
#[cfg(target_os = "linux")]
pub use proc as table;
#[cfg(not(target_os = "linux"))]
pub use ps as table;

#[cfg(unix)]
use rustix::process::{Pid, Signal};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

/// Returns a path that starts this program. On Linux it does so also if an upgrade replaced the file.
pub fn own_program() -> PathBuf {
    let own = std::env::current_exe().unwrap_or_else(|_| "playhouse".into());
    match cfg!(target_os = "linux") && !own.exists() {
        true => "/proc/self/exe".into(),
        false => own,
    }
}

/// The identity of a process: its number and start time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    pub pid: u32,
    pub started: String,
}

impl Identity {
    /// Returns the identity of a running process; `None` if it has ended, also for a zombie.
    pub fn of(pid: u32) -> Option<Self> {
        let entry = table::read(pid).filter(|entry| !entry.ended)?;
        Some(entry.identity())
    }

    /// Returns the identity of a child that was not reaped, which may have ended.
    pub fn of_child(pid: u32) -> Option<Self> {
        Some(table::read(pid)?.identity())
    }

    pub fn is_alive(&self) -> bool {
        Self::of(self.pid).as_ref() == Some(self)
    }

    /// Returns whether the process was started before the other; `None` if unknown.
    pub fn is_older_than(&self, other: &Self) -> Option<bool> {
        let (boot, since) = self.started.split_once(' ')?;
        let (other_boot, other_since) = other.started.split_once(' ')?;
        let numbers = (since.parse::<u64>().ok()?, other_since.parse::<u64>().ok()?);
        (boot == other_boot).then_some(numbers.0 < numbers.1)
    }

    /// Returns whether the process belongs to the current user.
    pub fn is_our_users(&self) -> bool {
        table::user(self.pid).is_some_and(|user| table::user(std::process::id()) == Some(user))
            && self.is_alive()
    }
}

#[cfg(unix)]
impl Identity {
    /// Sends SIGTERM to the process.
    pub fn terminate(&self) {
        self.send(Signal::TERM);
    }

    /// Kills the process.
    pub fn kill(&self) {
        self.send(Signal::KILL);
    }

    /// Sends SIGTERM to the process, and to its group if it leads one.
    pub fn terminate_group(&self) {
        self.send_group(Signal::TERM);
    }

    /// Kills the process, and its group if it leads one.
    pub fn kill_group(&self) {
        self.send_group(Signal::KILL);
    }

    fn send_group(&self, signal: Signal) {
        use rustix::process::{getpgid, kill_process_group};
        let Some(pid) = Pid::from_raw(self.pid.cast_signed()) else {
            return;
        };
        match getpgid(Some(pid)) {
            // The number of a group is not reused while it has members.
            Ok(group) if group == pid && self.is_alive() => {
                let _ = kill_process_group(pid, signal);
            }
            _ => self.send(signal),
        }
    }

    #[cfg(target_os = "linux")]
    fn send(&self, signal: Signal) {
        use rustix::process::{PidfdFlags, pidfd_open, pidfd_send_signal};
        // From here on the descriptor refers to that process, even if its number is reused.
        let Some(pid) = Pid::from_raw(self.pid.cast_signed()) else {
            return;
        };
        if let Ok(process) = pidfd_open(pid, PidfdFlags::empty())
            && self.is_alive()
        {
            let _ = pidfd_send_signal(process, signal);
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn send(&self, signal: Signal) {
        if let Some(pid) = Pid::from_raw(self.pid.cast_signed())
            && self.is_alive()
        {
            let _ = rustix::process::kill_process(pid, signal);
        }
    }
}

/// An entry of the process table.
pub struct Entry {
    pub pid: u32,
    pub parent: u32,
    pub group: u32,
    /// The start time: unique among the processes of that number.
    pub started: String,
    /// Whether it is a zombie.
    pub ended: bool,
    /// With that of its children that have ended. `None` where it is not read (macOS).
    processor_time: Option<Duration>,
}

impl Entry {
    /// Returns the identity of the process.
    pub fn identity(self) -> Identity {
        Identity {
            pid: self.pid,
            started: self.started,
        }
    }
}

pub(crate) fn descendants(all: &[Entry], of: u32) -> BTreeSet<u32> {
    let mut found = BTreeSet::from([of]);
    loop {
        let known = found.len();
        let children = all.iter().filter(|entry| found.contains(&entry.parent));
        let children: Vec<u32> = children.map(|entry| entry.pid).collect();
        found.extend(children);
        if found.len() == known {
            return found;
        }
    }
}

/// Returns the processor time of a process and its descendants. `None` if the process has ended, and where it is not read (macOS).
pub fn processor_time(pid: u32) -> Option<Duration> {
    let all: Vec<Entry> = table::all().collect();
    all.iter().find(|entry| entry.pid == pid && !entry.ended)?;
    let members = descendants(&all, pid);
    let members = all.iter().filter(|entry| members.contains(&entry.pid));
    members.map(|entry| entry.processor_time).sum()
}

/// Returns a command line with at most 120 characters, or `None` if it is empty.
fn shortened(line: &str) -> Option<String> {
    let line: String = line.trim().chars().take(120).collect();
    (!line.is_empty()).then_some(line)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_process_with_a_reused_pid_is_another_process() {
        let this = Identity::of(std::process::id()).unwrap();
        assert!(this.is_alive() && this.is_our_users());
        let former = Identity {
            started: this.started.replacen(' ', " 1", 1),
            ..this.clone()
        };
        assert!(!former.is_alive() && !former.is_our_users());
        // A kill would end this test.
        former.kill();
        former.kill_group();
        assert_eq!(this.is_older_than(&former), Some(true));
        assert_eq!(former.is_older_than(&this), Some(false));
    }
}
