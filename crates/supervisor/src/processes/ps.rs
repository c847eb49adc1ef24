//! The table of processes from `ps` and `lsof`, on systems without `/proc`. They do not show the environment of processes.
//! <https://pubs.opengroup.org/onlinepubs/9799919799/utilities/ps.html>

use std::collections::BTreeSet;
use std::process::{Command, Stdio};

use super::{Entry, Identity, shortened};

const COLUMNS: &str = "pid=,ppid=,pgid=,stat=,lstart=";

/// Returns all processes.
pub fn all() -> impl Iterator<Item = Entry> {
    let (ps, text) = run("ps", &["-A", "-o", COLUMNS]);
    // `ps` lists itself, which is a child of this process.
    let entries = entries(&text).filter(|entry| entry.pid != ps);
    entries.collect::<Vec<_>>().into_iter()
}

pub fn read(pid: u32) -> Option<Entry> {
    let (_, text) = run("ps", &["-p", &pid.to_string(), "-o", COLUMNS]);
    entries(&text).next()
}

/// Returns the user of a process.
pub fn user(pid: u32) -> Option<u32> {
    let (_, text) = run("ps", &["-p", &pid.to_string(), "-o", "uid="]);
    text.trim().parse().ok()
}

/// Returns the program and arguments of a process, shortened.
pub fn command(pid: u32) -> Option<String> {
    let (_, text) = run("ps", &["-ww", "-p", &pid.to_string(), "-o", "command="]);
    shortened(&text)
}

/// Returns false: the environment of a process is not known.
pub fn bears(_: u32, _: &[u8]) -> bool {
    false
}

/// Returns the ports on which these processes listen.
pub fn ports(pids: &[u32]) -> BTreeSet<u16> {
    // Without numbers it would list all processes.
    if pids.is_empty() {
        return BTreeSet::new();
    }
    let pids: Vec<_> = pids.iter().map(u32::to_string).collect();
    let which = ["-a", "-p", &pids.join(","), "-iTCP", "-sTCP:LISTEN", "-Fn"];
    let (_, text) = run("lsof", &[&["-nP"], &which[..]].concat());
    ports_of(&text).collect()
}

/// Returns the process that listens on a port.
pub fn listener(port: u16) -> Option<Identity> {
    let port = format!("-iTCP:{port}");
    let (_, text) = run("lsof", &["-nP", &port, "-sTCP:LISTEN", "-Fp"]);
    Identity::of(pids_of(&text).next()?)
}

/// Returns the number of the process and its output, which is empty if the program is missing.
#[expect(
    clippy::disallowed_methods,
    reason = "the output of a short command, which this function waits for"
)]
fn run(program: &str, arguments: &[&str]) -> (u32, String) {
    let child = Command::new(program)
        .args(arguments)
        // The names of months.
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let Ok(child) = child else {
        return (0, String::new());
    };
    let pid = child.id();
    let output = child.wait_with_output();
    let text = output.map(|output| output.stdout).unwrap_or_default();
    (pid, String::from_utf8_lossy(&text).into_owned())
}

/// Returns the lines of `ps` with these columns.
fn entries(text: &str) -> impl Iterator<Item = Entry> {
    text.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let mut number = || words.next()?.parse().ok();
        let (pid, parent, group) = (number()?, number()?, number()?);
        let ended = words.next()?.starts_with('Z');
        let started: Vec<_> = words.collect();
        Some(Entry {
            pid,
            parent,
            group,
            started: start_time(&started).unwrap_or_else(|| started.join("_")),
            ended,
            processor_time: None,
        })
    })
}

/// Returns a date like `Fri Nov 27 07:31:17 2026` as a number that can be compared, after a word, like a start time of `/proc`.
fn start_time(words: &[&str]) -> Option<String> {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let &[_, month, day, time, year] = words else {
        return None;
    };
    let month = MONTHS.iter().position(|name| *name == month)? + 1;
    Some(format!(
        "lstart {year}{month:02}{day:0>2}{}",
        time.replace(':', "")
    ))
}

/// Returns the ports in the output of `lsof -Fn`, whose lines are `n*:3000`, `n127.0.0.1:3000` or `n[::1]:3000`.
fn ports_of(text: &str) -> impl Iterator<Item = u16> {
    let port = |line: &str| line.strip_prefix('n')?.rsplit_once(':')?.1.parse().ok();
    text.lines().filter_map(port)
}

/// Returns the processes in the output of `lsof -Fp`, whose lines are `p123`.
fn pids_of(text: &str) -> impl Iterator<Item = u32> {
    let pid = |line: &str| line.strip_prefix('p')?.parse().ok();
    text.lines().filter_map(pid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn start_times_can_be_compared() {
        let text = "    1     0     1 Ss   Sun Nov  1 07:31:17 2026
  412     1   412 Z+   Fri Nov 27 07:31:17 2026\n";
        let [first, second] = entries(text).collect::<Vec<_>>().try_into().ok().unwrap();
        assert_eq!((second.pid, second.parent, second.group), (412, 1, 412));
        assert!(!first.ended && second.ended);
        assert_eq!(first.started, "lstart 20261101073117");
        let (first, second) = (first.identity(), second.identity());
        assert_eq!(first.is_older_than(&second), Some(true));
        assert_eq!(second.is_older_than(&first), Some(false));
    }

    #[test]
    fn ports_and_processes_are_read_from_lsof() {
        let text = "p412\nf22\nn*:3000\nf23\nn[::1]:3001\nn127.0.0.1:3002\n";
        assert_eq!(ports_of(text).collect::<Vec<_>>(), [3000, 3001, 3002]);
        assert_eq!(pids_of(text).collect::<Vec<_>>(), [412]);
    }
}
