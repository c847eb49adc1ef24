//! The output of an app: written to three files of limited size, searched for the readiness pattern, with its end kept for errors. A full
//! disk costs log lines, but never stops the app.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use crate::state::LogPaths;

/// The query of each health check: lines of the app that contain it are omitted from its logs.
pub(crate) const PROBE: &str = "playhouse-probe";
/// The number of rotated files of a log; `.1` is the newest.
const MAX_ROTATED_FILES: u32 = 3;
/// The size of the end of the output that is kept, in bytes.
const MAX_TAIL_BYTES: usize = 16 * 1024;
/// The number of its lines in an error.
const MAX_SHOWN_LINES: usize = 20;
/// The longest line that is not interleaved with lines of the other stream, and that is searched, in bytes.
const MAX_LINE_BYTES: usize = 16 * 1024;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Stream {
    Stdout,
    Stderr,
}

/// The result of a pattern match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PatternMatch {
    pub(crate) url: Option<String>,
    pub(crate) port: Option<u16>,
}

pub(crate) struct Logs {
    streams: Mutex<Streams>,
    pattern: Option<regex::Regex>,
    found: watch::Sender<Option<PatternMatch>>,
}

struct Streams {
    logs: [Log; 2],
    combined: Log,
    /// The incomplete last line of each stream.
    partial: [Vec<u8>; 2],
    tails: [VecDeque<u8>; 2],
}

impl Logs {
    /// Creates new files; those of the previous run are renamed.
    pub(crate) fn begin(paths: &LogPaths, limit: u64, pattern: Option<regex::Regex>) -> Self {
        let log = |path: &Path| Log::begin(path.to_owned(), limit);
        Self {
            streams: Mutex::new(Streams {
                logs: [log(&paths.stdout), log(&paths.stderr)],
                combined: log(&paths.combined),
                partial: Default::default(),
                tails: Default::default(),
            }),
            pattern,
            found: watch::Sender::default(),
        }
    }

    /// Returns whether readiness is determined by a pattern.
    pub(crate) fn has_pattern(&self) -> bool {
        self.pattern.is_some()
    }

    /// Forgets the previous output, because the app is restarted.
    pub(crate) fn forget(&self) {
        self.streams().tails = Default::default();
        self.found.send_replace(None);
    }

    /// Writes output; returns whether its last line is incomplete. The combined log gets that line when it is complete, or at
    /// [`Logs::pause`].
    pub(crate) fn write(&self, stream: Stream, bytes: &[u8]) -> bool {
        let mut streams = self.streams();
        let partial = &mut streams.partial[stream as usize];
        let seen = partial.len();
        partial.extend_from_slice(bytes);
        // Very long lines are not held back.
        let whole = match partial[seen..].iter().rposition(|&byte| byte == b'\n') {
            Some(end) => seen + end + 1,
            None if partial.len() > MAX_LINE_BYTES => partial.len(),
            None => 0,
        };
        self.search(partial);
        let lines: Vec<u8> = partial.drain(..whole).collect();
        let has_begun = !partial.is_empty();
        streams.put(stream, &lines);
        has_begun
    }

    /// Writes the incomplete line of a stream, because more output is not expected soon.
    pub(crate) fn pause(&self, stream: Stream) {
        let mut streams = self.streams();
        let rest = std::mem::take(&mut streams.partial[stream as usize]);
        streams.put(stream, &rest);
    }

    /// Waits until the pattern has matched.
    pub(crate) async fn found(&self) -> PatternMatch {
        let mut found = self.found.subscribe();
        match found.wait_for(Option::is_some).await {
            Ok(found) => found.clone().unwrap_or_default(),
            Err(_) => std::future::pending().await,
        }
    }

    /// Returns the last lines of stderr, or of stdout if it is empty, without colours.
    pub(crate) fn last_lines(&self) -> String {
        let streams = self.streams();
        let [stdout, stderr] = &streams.tails;
        let tail = if stderr.iter().all(u8::is_ascii_whitespace) {
            stdout
        } else {
            stderr
        };
        let bytes: Vec<u8> = tail.iter().copied().collect();
        let text = plain(&bytes);
        let lines: Vec<&str> = text.trim_end().lines().collect();
        let lines = &lines[lines.len().saturating_sub(MAX_SHOWN_LINES)..];
        lines.join("\n").trim().to_owned()
    }

    fn search(&self, bytes: &[u8]) {
        let Some(pattern) = &self.pattern else { return };
        if self.found.borrow().is_some() {
            return;
        }
        for line in bytes.split(|&byte| byte == b'\n') {
            let line = plain(&line[..line.len().min(MAX_LINE_BYTES)]);
            let Some(hit) = pattern.captures(&line) else {
                continue;
            };
            let group = |name| hit.name(name).map(|group| group.as_str());
            self.found.send_replace(Some(PatternMatch {
                url: group("url").map(str::to_owned),
                port: group("port").and_then(|port| port.parse().ok()),
            }));
            return;
        }
    }

    fn streams(&self) -> MutexGuard<'_, Streams> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Streams {
    /// Writes lines, except those about health checks.
    fn put(&mut self, stream: Stream, lines: &[u8]) {
        if is_of_probe(lines) {
            for line in lines.split_inclusive(|&byte| byte == b'\n') {
                if !is_of_probe(line) {
                    self.append(stream, line);
                }
            }
        } else {
            self.append(stream, lines);
        }
    }

    fn append(&mut self, stream: Stream, lines: &[u8]) {
        let at = stream as usize;
        self.logs[at].write(lines);
        self.combined.write(lines);
        let tail = &mut self.tails[at];
        tail.extend(lines);
        tail.drain(..tail.len().saturating_sub(MAX_TAIL_BYTES));
    }
}

fn is_of_probe(text: &[u8]) -> bool {
    let wanted = PROBE.as_bytes();
    text.windows(wanted.len()).any(|part| part == wanted)
}

/// A log file with its rotated ones.
struct Log {
    path: PathBuf,
    limit: u64,
    /// `None` if it cannot be opened.
    file: Option<File>,
    size: u64,
    /// The number of bytes that could not be written since the last successful write.
    lost: u64,
}

impl Log {
    fn begin(path: PathBuf, limit: u64) -> Self {
        let mut log = Self {
            path,
            limit,
            file: None,
            size: 0,
            lost: 0,
        };
        log.rotate();
        log
    }

    fn write(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if self.size > 0 && self.size.saturating_add(size) > self.limit {
            self.rotate();
        }
        if self.lost > 0 {
            let note = format!(
                "\n[playhouse: {} bytes are missing here, which could not be written]\n",
                self.lost
            );
            match self.append(note.as_bytes()) {
                Ok(()) => self.lost = 0,
                Err(_) => {
                    self.lost += size;
                    return;
                }
            }
        }
        if self.append(bytes).is_err() {
            self.lost += size;
        }
    }

    /// Appends bytes; a partial write is not undone.
    fn append(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        if self.file.is_none() {
            self.open()?;
        }
        let Some(file) = &mut self.file else {
            return Ok(());
        };
        while !bytes.is_empty() {
            match file.write(bytes) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => {
                    self.size += u64::try_from(written).unwrap_or_default();
                    bytes = &bytes[written..];
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn rotate(&mut self) {
        self.file = None;
        let older = |age: u32| {
            let mut name = self.path.clone().into_os_string();
            name.push(format!(".{age}"));
            PathBuf::from(name)
        };
        // An empty file must not replace an older one.
        if fs::metadata(&self.path).is_ok_and(|known| known.len() > 0) {
            for age in (1..MAX_ROTATED_FILES).rev() {
                let _ = fs::rename(older(age), older(age + 1));
            }
            let _ = fs::rename(&self.path, older(1));
        }
        self.size = 0;
        // The file must exist even if the app prints nothing.
        let _ = self.open();
    }

    fn open(&mut self) -> io::Result<()> {
        let file = File::options()
            .append(true)
            .create(true)
            .mode(0o600)
            .open(&self.path)?;
        self.size = file.metadata()?.len();
        self.file = Some(file);
        Ok(())
    }
}

/// Removes the escape sequences of colours. <https://ecma-international.org/publications-and-standards/standards/ecma-48/>
fn plain(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(char) = rest.next() {
        match char {
            '\u{1b}' => {
                if rest.as_str().starts_with('[') {
                    rest.next();
                    for parameter in rest.by_ref() {
                        if ('@'..='~').contains(&parameter) {
                            break;
                        }
                    }
                }
            }
            '\r' => {}
            char => plain.push(char),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn logs(folder: &Path, limit: u64, pattern: Option<&str>) -> (Logs, LogPaths) {
        let paths = LogPaths {
            stdout: folder.join("stdout.log"),
            stderr: folder.join("stderr.log"),
            combined: folder.join("combined.log"),
        };
        let pattern = pattern.map(|pattern| regex::Regex::new(pattern).unwrap());
        (Logs::begin(&paths, limit, pattern), paths)
    }

    fn text(path: impl AsRef<Path>) -> String {
        fs::read_to_string(path).unwrap()
    }

    #[test]
    fn lines_of_two_streams_stay_whole_in_the_combined_log() {
        let folder = tempfile::tempdir().unwrap();
        let (logs, paths) = logs(folder.path(), 1000, None);
        logs.write(Stream::Stdout, b"one\ntw");
        logs.write(Stream::Stderr, b"error\n");
        logs.write(Stream::Stdout, b"o\nthree");
        logs.pause(Stream::Stdout);
        assert_eq!(text(paths.stdout), "one\ntwo\nthree");
        assert_eq!(text(paths.stderr), "error\n");
        assert_eq!(text(paths.combined), "one\nerror\ntwo\nthree");
        assert_eq!(logs.last_lines(), "error");
    }

    #[test]
    fn probe_requests_are_not_logged() {
        let folder = tempfile::tempdir().unwrap();
        let (logs, paths) = logs(folder.path(), 1000, None);
        logs.write(Stream::Stderr, b"GET /orders 500\nGET /?playhouse-");
        logs.write(Stream::Stderr, b"probe 200\nError: no table\n");
        logs.write(Stream::Stdout, b"GET /?playhouse-probe 200");
        logs.pause(Stream::Stdout);
        let expected = "GET /orders 500\nError: no table\n";
        assert_eq!(text(paths.stderr), expected);
        assert_eq!(text(paths.combined), expected);
        assert_eq!(text(paths.stdout), "");
        assert_eq!(logs.last_lines(), expected.trim());
    }

    #[test]
    fn a_log_that_is_full_begins_anew_and_some_old_ones_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let (first, paths) = logs(folder.path(), 8, None);
        for line in ["a", "b", "c", "d", "e", "f"] {
            first.write(Stream::Stdout, format!("line {line}\n").as_bytes());
        }
        let (_second, _) = logs(folder.path(), 8, None);
        assert_eq!(text(&paths.stdout), "");
        for (age, line) in [(1, "f"), (2, "e"), (3, "d")] {
            let older = folder.path().join(format!("stdout.log.{age}"));
            assert_eq!(text(older), format!("line {line}\n"));
        }
        assert!(!folder.path().join("stdout.log.4").exists());
    }

    #[test]
    fn output_lost_on_a_full_disk_is_reported_later() {
        let folder = tempfile::tempdir().unwrap();
        let (logs, paths) = logs(folder.path(), 1000, None);
        // With a folder in place of the file, writing fails.
        fs::remove_file(&paths.combined).unwrap();
        fs::create_dir(&paths.combined).unwrap();
        logs.streams().combined.file = None;
        logs.write(Stream::Stdout, b"lost\n");
        logs.write(Stream::Stdout, b"too\n");
        fs::remove_dir(&paths.combined).unwrap();
        logs.write(Stream::Stdout, b"kept\n");
        assert_eq!(
            text(paths.combined),
            "\n[playhouse: 9 bytes are missing here, which could not be written]\nkept\n"
        );
        assert_eq!(text(paths.stdout), "lost\ntoo\nkept\n");
    }

    #[test]
    fn a_pattern_sees_through_colours_and_pieces() {
        let folder = tempfile::tempdir().unwrap();
        let pattern = r"Local:\s+(?<url>http\S+)|port (?<port>\d+)\.";
        let (first, _) = logs(folder.path(), 1000, Some(pattern));
        first.write(Stream::Stdout, b"  Local:   ");
        assert_eq!(*first.found.borrow(), None);
        first.write(
            Stream::Stdout,
            b"\x1b[36mhttp://localhost:\x1b[1m5173\x1b[22m/\x1b[39m\n",
        );
        let found = first.found.borrow().clone().unwrap();
        assert_eq!(found.url.as_deref(), Some("http://localhost:5173/"));
        let (second, _) = logs(folder.path(), 1000, Some(pattern));
        second.write(Stream::Stderr, b"port 80");
        second.write(Stream::Stderr, b"81.");
        assert_eq!(second.found.borrow().clone().unwrap().port, Some(8081));
    }
}
