//! The memory and processor time of a server's processes, from `/proc`. Linux only; on other systems the figures are empty.
//!
//! The processes of a server have a mark in their environment, because helpers may outlive their parent or leave its group. Browsers are
//! distinguished from servers by the program that they run.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;

use tempfile::TempDir;

/// The variable that marks the processes of one launch.
pub const MARK: &str = "TESTKIT_MARK";

/// All processes of one launch at one time.
#[derive(Clone, Debug, Default)]
pub struct ProcessStats {
    /// The server and its helpers.
    pub servers: Cost,
    /// The browsers of the server.
    pub browsers: Cost,
}

/// The resources of processes.
#[derive(Clone, Debug, Default)]
pub struct Cost {
    /// The process ids.
    pub pids: Vec<u32>,
    /// The proportional set size, in bytes: private memory and the share of shared memory.
    pub memory: u64,
    /// The processor time, including ended children, in milliseconds.
    pub cpu: f64,
    /// The number of open file descriptors.
    pub files: usize,
}

/// The extent of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Ids, processor time and file descriptors.
    Quick,
    /// Also the memory, for which the kernel visits every page.
    Memory,
}

impl ProcessStats {
    /// Measures the processes that have `mark` in their environment, and their descendants.
    pub fn take(mark: &str, depth: Depth) -> Self {
        let all = everyone();
        let needle = format!("{MARK}={mark}");
        let mut ours: HashSet<u32> = all
            .keys()
            .copied()
            .filter(|&pid| bears(pid, &needle))
            .collect();
        loop {
            let more: Vec<u32> = all
                .iter()
                .filter(|(pid, process)| !ours.contains(pid) && ours.contains(&process.parent))
                .map(|(&pid, _)| pid)
                .collect();
            if more.is_empty() {
                break;
            }
            ours.extend(more);
        }
        let mut stats = Self::default();
        for pid in ours {
            let kind = if is_browser(pid) {
                &mut stats.browsers
            } else {
                &mut stats.servers
            };
            kind.add(pid, &all[&pid], depth);
        }
        stats
    }

    /// Returns all process ids.
    pub fn pids(&self) -> impl Iterator<Item = u32> + '_ {
        self.servers.pids.iter().chain(&self.browsers.pids).copied()
    }
}

impl Cost {
    fn add(&mut self, pid: u32, process: &Process, depth: Depth) {
        self.pids.push(pid);
        self.cpu += (process.own_cpu.max(threads_cpu(pid))) + process.children_cpu;
        self.files += fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, Iterator::count);
        if depth == Depth::Memory {
            self.memory += proportional_size(pid);
        }
    }
}

/// Returns the command line of a process: program and arguments.
pub fn command_line(pid: u32) -> Vec<String> {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    text.split('\0')
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Returns the program of a process.
pub fn program(pid: u32) -> Option<std::path::PathBuf> {
    fs::read_link(format!("/proc/{pid}/exe")).ok()
}

/// Returns the number of files and folders in a folder, recursively.
pub fn entries(folder: &Path) -> usize {
    let inside = fs::read_dir(folder).into_iter().flatten().flatten();
    inside
        .map(|entry| {
            let deeper = entry.file_type().is_ok_and(|kind| kind.is_dir());
            1 + if deeper { entries(&entry.path()) } else { 0 }
        })
        .sum()
}

/// Returns a unique mark, and the temporary folder that makes it unique.
pub fn fresh_mark() -> (String, TempDir) {
    let folder = tempfile::Builder::new()
        .prefix("testkit-mark-")
        .tempdir()
        .expect("a temporary folder");
    let name = folder
        .path()
        .file_name()
        .expect("it has a name")
        .to_string_lossy()
        .into_owned();
    (name, folder)
}

#[derive(Debug)]
struct Process {
    parent: u32,
    own_cpu: f64,
    children_cpu: f64,
}

/// The unit of processor time in `/proc`, in milliseconds: fixed by the interface at 100 Hz.
const TICK: f64 = 10.0;

fn everyone() -> HashMap<u32, Process> {
    let folders = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = folders.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter_map(|pid| Some((pid, process(pid)?))).collect()
}

fn process(pid: u32) -> Option<Process> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may contain any character; the fields after it do not.
    let (_, rest) = stat.rsplit_once(") ")?;
    let fields: Vec<&str> = rest.split(' ').collect();
    let ticks = |at: usize| {
        fields
            .get(at)?
            .parse::<f64>()
            .ok()
            .map(|ticks| ticks * TICK)
    };
    Some(Process {
        parent: fields.get(1)?.parse().ok()?,
        own_cpu: ticks(11)? + ticks(12)?,
        children_cpu: ticks(13)? + ticks(14)?,
    })
}

/// Returns the processor time of running threads, with a resolution finer than ticks.
fn threads_cpu(pid: u32) -> f64 {
    let threads = fs::read_dir(format!("/proc/{pid}/task"))
        .into_iter()
        .flatten()
        .flatten();
    let nanoseconds = threads.filter_map(|thread| {
        let line = fs::read_to_string(thread.path().join("schedstat")).ok()?;
        line.split(' ').next()?.parse::<f64>().ok()
    });
    nanoseconds.sum::<f64>() / 1e6
}

fn proportional_size(pid: u32) -> u64 {
    let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
    let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"));
    let kilobytes = line.and_then(|line| line.trim().split(' ').next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}

fn bears(pid: u32, needle: &str) -> bool {
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environment
        .split(|&byte| byte == 0)
        .any(|variable| variable == needle.as_bytes())
}

fn is_browser(pid: u32) -> bool {
    let program = program(pid);
    let name = program.as_deref().and_then(Path::file_name);
    name.is_some_and(|name| name.to_string_lossy().contains("chrom") || name == "headless_shell")
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_marked_process_is_counted_with_its_memory_and_files() {
        let (mark, _folder) = fresh_mark();
        assert_eq!(ProcessStats::take(&mark, Depth::Quick).pids().count(), 0);
        #[expect(clippy::disallowed_methods, reason = "a test starts it, and ends it")]
        let mut child = std::process::Command::new("sh")
            .args(["-c", "read line"])
            .env(MARK, &mark)
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        // The environment is available after `exec`.
        while ProcessStats::take(&mark, Depth::Quick).pids().count() == 0 {
            std::thread::yield_now();
        }
        let stats = ProcessStats::take(&mark, Depth::Memory);
        assert_eq!(stats.servers.pids, [child.id()]);
        assert!(
            stats.servers.memory > 0 && stats.servers.files >= 3,
            "{stats:?}"
        );
        assert!(stats.browsers.pids.is_empty());
        drop(child.stdin.take());
        child.wait().unwrap();
    }
}
