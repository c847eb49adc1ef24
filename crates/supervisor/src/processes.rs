//! Processes of this machine, identified independently of the reuse of their numbers.

#[cfg(unix)]
use rustix::process::{Pid, Signal};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

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

/// The table of processes, read from `/proc`. <https://man7.org/linux/man-pages/man5/proc.5.html>
#[cfg(target_os = "linux")]
pub mod table {
    use std::collections::{BTreeSet, HashSet};
    use std::fs;

    use super::{Entry, Identity};

    /// Returns all processes.
    pub fn all() -> impl Iterator<Item = Entry> {
        let folders = fs::read_dir("/proc").into_iter().flatten().flatten();
        folders.filter_map(|folder| read(folder.file_name().to_str()?.parse().ok()?))
    }

    pub fn read(pid: u32) -> Option<Entry> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name before it may contain any character.
        let (_, rest) = stat.rsplit_once(") ")?;
        let fields: Vec<&str> = rest.split(' ').collect();
        Some(Entry {
            pid,
            parent: fields.get(1)?.parse().ok()?,
            group: fields.get(2)?.parse().ok()?,
            started: format!("{} {}", boot(), fields.get(19)?),
            ended: matches!(fields.first(), Some(&("Z" | "X"))),
        })
    }

    /// Returns the user of a process.
    pub fn user(pid: u32) -> Option<u32> {
        use std::os::unix::fs::MetadataExt as _;
        Some(fs::metadata(format!("/proc/{pid}")).ok()?.uid())
    }

    /// Returns the program and arguments of a process, shortened.
    pub fn command(pid: u32) -> Option<String> {
        let line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let words: Vec<_> = line.split(|&byte| byte == 0).collect();
        let line = String::from_utf8_lossy(&words.join(&b' '))
            .trim()
            .to_owned();
        let line: String = line.chars().take(120).collect();
        (!line.is_empty()).then_some(line)
    }

    fn boot() -> String {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id");
        boot.unwrap_or_default().trim().to_owned()
    }

    /// Returns whether the initial environment of the process contains the variable.
    pub fn bears(pid: u32, variable: &[u8]) -> bool {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment
            .split(|&byte| byte == 0)
            .any(|word| word == variable)
    }

    /// Returns the ports on which these processes listen.
    pub fn ports(pids: &[u32]) -> BTreeSet<u16> {
        let Some(first) = pids.first() else {
            return BTreeSet::new();
        };
        let sockets: HashSet<u64> = pids.iter().flat_map(|&pid| sockets(pid)).collect();
        let listening = listening(*first).filter(|(_, socket)| sockets.contains(socket));
        listening.map(|(port, _)| port).collect()
    }

    /// Returns the process that listens on a port.
    pub fn listener(port: u16) -> Option<Identity> {
        let wanted: HashSet<u64> = listening(std::process::id())
            .filter(|(its, _)| *its == port)
            .map(|(_, socket)| socket)
            .collect();
        if wanted.is_empty() {
            return None;
        }
        let has = |entry: &Entry| sockets(entry.pid).any(|socket| wanted.contains(&socket));
        all().find(has).map(Entry::identity)
    }

    fn sockets(pid: u32) -> impl Iterator<Item = u64> {
        let files = fs::read_dir(format!("/proc/{pid}/fd"));
        files.into_iter().flatten().flatten().filter_map(|file| {
            let target = fs::read_link(file.path()).ok()?;
            let target = target.to_str()?;
            target
                .strip_prefix("socket:[")?
                .strip_suffix(']')?
                .parse()
                .ok()
        })
    }

    /// Returns the ports and sockets of all listeners in the network namespace of a process.
    fn listening(pid: u32) -> impl Iterator<Item = (u16, u64)> {
        const LISTEN: &str = "0A";
        let tables =
            ["tcp", "tcp6"].map(|name| fs::read_to_string(format!("/proc/{pid}/net/{name}")));
        let mut found = Vec::new();
        for table in tables.into_iter().flatten() {
            for line in table.lines().skip(1) {
                let fields: Vec<&str> = line.split_whitespace().collect();
                let (Some(local), Some(&LISTEN), Some(socket)) =
                    (fields.get(1), fields.get(3), fields.get(9))
                else {
                    continue;
                };
                let port = local
                    .rsplit_once(':')
                    .map(|(_, port)| u16::from_str_radix(port, 16));
                if let (Some(Ok(port)), Ok(socket)) = (port, socket.parse()) {
                    found.push((port, socket));
                }
            }
        }
        found.into_iter()
    }
}

/// The process table from `ps`, on systems without `/proc`: no marks, no ports.
#[cfg(not(target_os = "linux"))]
pub mod table {
    use std::collections::BTreeSet;
    use std::process::{Command, Stdio};

    use super::{Entry, Identity};

    pub fn all() -> impl Iterator<Item = Entry> {
        rows(&["-A"]).into_iter()
    }

    pub fn read(pid: u32) -> Option<Entry> {
        rows(&["-p", &pid.to_string()]).into_iter().next()
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "a short question that is waited for at once"
    )]
    fn rows(which: &[&str]) -> Vec<Entry> {
        let asked = Command::new("ps")
            .args(which)
            .args(["-o", "pid=,ppid=,pgid=,stat=,lstart="])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let Ok(asked) = asked else { return Vec::new() };
        // `ps` lists itself, which is a child of this process.
        let itself = asked.id();
        let output = asked.wait_with_output();
        let text = output.map(|output| output.stdout).unwrap_or_default();
        let row = |line: &str| {
            let mut words = line.split_whitespace();
            let mut number = || words.next()?.parse().ok();
            let (pid, parent, group) = (number()?, number()?, number()?);
            let ended = words.next()?.starts_with('Z');
            Some(Entry {
                pid,
                parent,
                group,
                started: words.collect::<Vec<_>>().join("_"),
                ended,
            })
        };
        String::from_utf8_lossy(&text)
            .lines()
            .filter_map(row)
            .filter(|entry| entry.pid != itself)
            .collect()
    }

    pub fn user(_: u32) -> Option<u32> {
        None
    }

    pub fn command(_: u32) -> Option<String> {
        None
    }

    pub fn bears(_: u32, _: &[u8]) -> bool {
        false
    }

    pub fn ports(_: &[u32]) -> BTreeSet<u16> {
        BTreeSet::new()
    }

    pub fn listener(_: u16) -> Option<Identity> {
        None
    }
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
