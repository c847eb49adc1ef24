//! Processes of others: which of them belong to an app, told so that a number that was given away again is never taken for the old one.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};
use serde::{Deserialize, Serialize};

use super::state::State;
use super::supervisor::MARK;

/// How long killed processes may take to be gone: as long as the kernel does.
const KILLED: Duration = Duration::from_secs(3);
const LOOK: Duration = Duration::from_millis(20);

/// A process for as long as the system runs: its number, and when it was started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Identity {
    pub(super) pid: u32,
    pub(super) started: String,
}

impl Identity {
    /// `None` when it has ended, whether or not somebody has taken note.
    pub(super) fn of(pid: u32) -> Option<Self> {
        let entry = table::read(pid).filter(|entry| !entry.ended)?;
        Some(entry.identity())
    }

    /// The same of a child that nobody has waited for: it may have ended.
    pub(super) fn of_child(pid: u32) -> Option<Self> {
        Some(table::read(pid)?.identity())
    }

    pub(super) fn is_alive(&self) -> bool {
        Self::of(self.pid).as_ref() == Some(self)
    }

    /// Asks it to end.
    pub(super) fn terminate(&self) {
        self.send(Signal::TERM);
    }

    pub(super) fn kill(&self) {
        self.send(Signal::KILL);
    }

    #[cfg(target_os = "linux")]
    fn send(&self, signal: Signal) {
        use rustix::process::{PidfdFlags, pidfd_open, pidfd_send_signal};
        // From here on the descriptor means that process, whatever becomes of its number.
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

/// The processes of an app: those that bear its mark, those of the group that it was started in, and, for its supervisor, all that descend
/// from it.
pub(super) struct Family {
    mark: PathBuf,
    leader: Option<Identity>,
    is_ours: bool,
}

impl Family {
    /// What is left of the app whose mark and state these are, its supervisor included.
    pub(super) fn of(folder: &Path, state: Option<&State>) -> Self {
        Self {
            mark: folder.to_owned(),
            leader: state.and_then(|state| state.app.clone()),
            is_ours: false,
        }
    }

    /// Those that we look after ourselves: whom nobody else waits for is our child.
    pub(super) fn supervised(folder: &Path, leader: Identity) -> Self {
        Self {
            mark: folder.to_owned(),
            leader: Some(leader),
            is_ours: true,
        }
    }

    /// Those that run; neither us, nor what has ended and was not taken note of.
    pub(super) fn members(&self) -> Vec<Identity> {
        let us = std::process::id();
        let mark = format!("{MARK}={}", self.mark.display());
        // The number of a group is not given away while anybody is in it.
        let group = self.leader.as_ref().filter(|leader| leader.is_alive());
        let all: Vec<Entry> = table::all().collect();
        let descendants = if self.is_ours {
            descendants(&all, us)
        } else {
            BTreeSet::new()
        };
        let ours = |entry: &Entry| {
            descendants.contains(&entry.pid)
                || group.is_some_and(|leader| leader.pid == entry.group)
                || table::bears(entry.pid, mark.as_bytes())
        };
        all.into_iter()
            .filter(|entry| !entry.ended && entry.pid != us && ours(entry))
            .map(Entry::identity)
            .collect()
    }

    /// Asks all of them to end, kills what has not after `grace`, and returns what could not be killed.
    pub(super) async fn end(&self, grace: Duration) -> Vec<u32> {
        let until = Instant::now() + grace;
        let mut asked = BTreeSet::new();
        while Instant::now() < until {
            let members = self.members();
            if members.is_empty() {
                return Vec::new();
            }
            for member in members {
                // What was started while it ends has not been asked yet.
                if asked.insert(member.pid) {
                    member.terminate();
                }
            }
            tokio::time::sleep(LOOK).await;
        }
        let until = Instant::now() + KILLED;
        loop {
            let members = self.members();
            if members.is_empty() || Instant::now() > until {
                return members.iter().map(|member| member.pid).collect();
            }
            members.iter().for_each(Identity::kill);
            tokio::time::sleep(LOOK).await;
        }
    }

    /// On which ports they listen; empty also where that cannot be known.
    pub(super) fn ports(&self) -> BTreeSet<u16> {
        let pids: Vec<u32> = self.members().iter().map(|member| member.pid).collect();
        table::ports(&pids)
    }
}

/// Who listens on a port that an app does not listen on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stranger {
    /// Nobody, or nobody knows who.
    Unknown,
    /// Somebody who was there before the app.
    Older,
    /// Somebody who came later: on behalf of the app, as a container's proxy does, or by chance.
    Younger,
}

impl Stranger {
    pub(super) fn on(port: u16, app: &Identity) -> Self {
        let number = |started: &str| started.split(' ').next_back()?.parse::<u64>().ok();
        match table::listener(port) {
            None => Self::Unknown,
            Some(started) if number(&started) < number(&app.started) => Self::Older,
            Some(_) => Self::Younger,
        }
    }
}

fn descendants(all: &[Entry], of: u32) -> BTreeSet<u32> {
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

/// A row of the table of processes.
struct Entry {
    pid: u32,
    parent: u32,
    group: u32,
    /// When: the same text for the same process, and for no other of its number.
    started: String,
    /// It has, and nobody has taken note.
    ended: bool,
}

impl Entry {
    fn identity(self) -> Identity {
        Identity {
            pid: self.pid,
            started: self.started,
        }
    }
}

/// The table of processes, read from `/proc`. <https://man7.org/linux/man-pages/man5/proc.5.html>
#[cfg(target_os = "linux")]
mod table {
    use std::collections::{BTreeSet, HashSet};
    use std::fs;

    use super::Entry;

    pub(super) fn all() -> impl Iterator<Item = Entry> {
        let folders = fs::read_dir("/proc").into_iter().flatten().flatten();
        folders.filter_map(|folder| read(folder.file_name().to_str()?.parse().ok()?))
    }

    pub(super) fn read(pid: u32) -> Option<Entry> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name before may hold anything.
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

    fn boot() -> String {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id");
        boot.unwrap_or_default().trim().to_owned()
    }

    /// Whether a variable stands in the environment that it was started with.
    pub(super) fn bears(pid: u32, variable: &[u8]) -> bool {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment
            .split(|&byte| byte == 0)
            .any(|word| word == variable)
    }

    pub(super) fn ports(pids: &[u32]) -> BTreeSet<u16> {
        let Some(first) = pids.first() else {
            return BTreeSet::new();
        };
        let sockets: HashSet<u64> = pids.iter().flat_map(|&pid| sockets(pid)).collect();
        let listening = listening(*first).filter(|(_, socket)| sockets.contains(socket));
        listening.map(|(port, _)| port).collect()
    }

    /// When the process was started that listens on a port.
    pub(super) fn listener(port: u16) -> Option<String> {
        let wanted: HashSet<u64> = listening(std::process::id())
            .filter(|(its, _)| *its == port)
            .map(|(_, socket)| socket)
            .collect();
        if wanted.is_empty() {
            return None;
        }
        let has = |entry: &Entry| sockets(entry.pid).any(|socket| wanted.contains(&socket));
        all().find(has).map(|entry| entry.started)
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

    /// Ports and sockets of all that listen, in the network that a process sees.
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

/// The same from `ps`, where there is no `/proc`: no marks, no ports.
#[cfg(not(target_os = "linux"))]
mod table {
    use std::collections::BTreeSet;
    use std::process::{Command, Stdio};

    use super::Entry;

    pub(super) fn all() -> impl Iterator<Item = Entry> {
        rows(&["-A"]).into_iter()
    }

    pub(super) fn read(pid: u32) -> Option<Entry> {
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
        // It sees itself, our child, which is none of anybody's.
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

    pub(super) fn bears(_: u32, _: &[u8]) -> bool {
        false
    }

    pub(super) fn ports(_: &[u32]) -> BTreeSet<u16> {
        BTreeSet::new()
    }

    pub(super) fn listener(_: u16) -> Option<String> {
        None
    }
}
