//! The table of processes, read from `/proc`. <https://man7.org/linux/man-pages/man5/proc.5.html>

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::time::Duration;

use super::{Entry, Identity, shortened};

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
        processor_time: Some(processor_time(fields.get(11..15)?)),
    })
}

/// Adds up the processor times of a process and of its children that have ended.
fn processor_time(fields: &[&str]) -> Duration {
    // `USER_HZ`, a hundredth of a second on each architecture.
    let ticks = fields.iter().filter_map(|field| field.parse::<u64>().ok());
    Duration::from_millis(10 * ticks.sum::<u64>())
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
    shortened(&String::from_utf8_lossy(&words.join(&b' ')))
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
    let tables = ["tcp", "tcp6"].map(|name| fs::read_to_string(format!("/proc/{pid}/net/{name}")));
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
