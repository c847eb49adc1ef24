//! The processes that a program has started, for tests of what is left of them. Linux only.

use crate::eventually;
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::path::Path;

/// Processes with their start times, because process ids are reused.
#[derive(Clone, Debug, Default)]
pub struct Processes(Vec<Process>);

#[derive(Clone, Debug)]
struct Process {
    id: u32,
    parent: u32,
    group: u32,
    started: u64,
    command: String,
}

impl Processes {
    /// Returns a process, all of its descendants, and all members of their process groups.
    pub fn from(root: u32) -> Self {
        let all: Vec<_> = all().collect();
        let mut found: Vec<Process> = Vec::new();
        let mut wanted = vec![root];
        while let Some(id) = wanted.pop() {
            for process in &all {
                let descends = process.id == id || process.parent == id;
                // The group of the root itself contains unrelated processes.
                let joined = process.group == id && id != root;
                if (descends || joined) && !found.iter().any(|known| known.id == process.id) {
                    found.push(process.clone());
                    wanted.push(process.id);
                }
            }
        }
        Self(found)
    }

    /// Adds processes whose command line contains `text`, such as the folder of a profile.
    pub fn and_mentioning(mut self, text: &str) -> Self {
        for process in all().filter(|process| process.command.contains(text)) {
            if !self.0.iter().any(|known| known.id == process.id) {
                self.0.push(process);
            }
        }
        self
    }

    /// Returns the ids of the processes whose command line contains `text`.
    pub fn mentioning(&self, text: &str) -> Vec<u32> {
        let matching = self
            .0
            .iter()
            .filter(|process| process.command.contains(text));
        matching.map(|process| process.id).collect()
    }

    /// Returns the number of processes.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Returns whether all have ended.
    pub fn have_ended(&self) -> bool {
        self.remaining().is_empty()
    }

    /// Waits until all have ended.
    pub async fn gone(&self) {
        eventually(async || match self.remaining() {
            remaining if remaining.is_empty() => Ok(()),
            remaining => Err(format!("left over: {remaining:#?}")),
        })
        .await;
    }

    /// Kills those that still run.
    pub fn kill(&self) {
        for process in self.remaining() {
            if let Some(id) = i32::try_from(process.id).ok().and_then(Pid::from_raw) {
                // The process may have ended at this moment.
                let _ = kill_process(id, Signal::KILL);
            }
        }
    }

    fn remaining(&self) -> Vec<&Process> {
        let same =
            |process: &&Process| read(process.id).is_some_and(|now| now.started == process.started);
        self.0.iter().filter(same).collect()
    }
}

fn all() -> impl Iterator<Item = Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| read(entry.file_name().to_str()?.parse().ok()?))
}

/// Reads a process; `None` if it has ended, also for a zombie.
fn read(id: u32) -> Option<Process> {
    let folder = Path::new("/proc").join(id.to_string());
    let status = fs::read_to_string(folder.join("stat")).ok()?;
    // The name before may contain any character. <https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html>
    let (_, rest) = status.rsplit_once(") ")?;
    let fields: Vec<&str> = rest.split(' ').collect();
    if matches!(fields[0], "Z" | "X") {
        return None;
    }
    let command = fs::read(folder.join("cmdline")).unwrap_or_default();
    Some(Process {
        id,
        parent: fields[1].parse().ok()?,
        group: fields[2].parse().ok()?,
        started: fields[19].parse().ok()?,
        command: String::from_utf8_lossy(&command).replace('\0', " "),
    })
}
