//! The logs of the app's servers.

use super::lifecycle::find_server;
use super::{E2eSession, parallel};
use crate::access::principal::Permission;
use crate::answers::bound::truncated;
use crate::apps::{self, DevServer, Excerpt, Position};
use crate::calls::Call;
use crate::error::{Error, Problem, Result};
use crate::sessions::session::app::Mark;
use crate::tools::evidence;
use crate::tools::tool::{Effect, Object, Tool, ToolDef};
use engine::Pattern;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use supervisor::Status;
use tokio::time::Instant;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<E2eLogs>(), ToolDef::of::<WaitForServerLog>()];

/// The largest excerpt of a log in an answer, in bytes.
const MAX_ANSWER_BYTES: u64 = 24_000;

/// The largest part of a log that is searched, in bytes.
const MAX_SEARCHED_BYTES: u64 = 16 * 1024 * 1024;

/// The largest excerpt in the error about a missing line, in bytes.
const MAX_SHOWN_BYTES: u64 = 2000;

/// The longest line that is found although it is written in several parts, in bytes.
const MAX_LINE_BYTES: u64 = 64 * 1024;

/// The longest line in an answer, in bytes.
const MAX_SHOWN_LINE_BYTES: usize = 4000;

/// The time between two status requests to a server that seems to have ended.
const STATUS_INTERVAL: Duration = Duration::from_secs(1);

/// The time between two reads of a log that is waited for.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// An output of a server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Stream {
    #[default]
    Combined,
    Stdout,
    Stderr,
}

/// Read what the app's server logged: all of it, or its end where it is long.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct E2eLogs {
    /// Its name; the one that was started by default.
    server: Option<String>,
    /// Combined by default.
    stream: Option<Stream>,
    /// Only so many lines, the last.
    tail: Option<usize>,
    /// Only what came with the last action (click, navigation…), and since.
    since_last_call: Option<bool>,
    /// Only lines with this text, or that match /regex/flags.
    search: Option<String>,
    /// Read on from this byte.
    offset: Option<u64>,
}

/// A log, or a part of it.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Log {
    log: String,
    path: String,
    /// The number of bytes before the excerpt.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<u64>,
    /// The offset of the rest of the log.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<u64>,
    /// The number of lines that match.
    #[serde(skip_serializing_if = "Option::is_none")]
    matches: Option<usize>,
}

impl Tool for E2eLogs {
    const NAME: &'static str = "e2e_logs";
    const TITLE: &'static str = "Logs of the app";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Read;
    const WAITS: bool = false;
    const HAS_LARGE_ANSWERS: bool = true;
    type Scope = E2eSession;
    type Output = Object<Log>;

    async fn run(self, session: E2eSession, _: &Call) -> Result<Object<Log>> {
        let search = match &self.search {
            Some(search) => Some(pattern(Self::NAME, "search", search)?),
            None => None,
        };
        let marks = session.app().marks_at_last_action();
        let source = Source::of(&session, self.server.as_deref(), self.stream)?;
        if self.offset.is_some() && source.parts.len() > 1 {
            let message = "Needs \"stream\": \"stdout\" or \"stderr\", as this server writes two logs and no combined one";
            return Err(wrong(Self::NAME, "offset", message.to_owned()));
        }
        task::compute(move || self.read(&source, &marks, search.as_ref())).await
    }
}

impl E2eLogs {
    /// Reads, searches and shortens the log.
    fn read(
        self,
        source: &Source,
        marks: &[Mark],
        search: Option<&Pattern>,
    ) -> Result<Object<Log>> {
        let (mut texts, mut left_out, mut next_offset) = (Vec::new(), 0, None);
        for part in &source.parts {
            let room = match search.is_some() || self.tail.is_some() {
                true => MAX_SEARCHED_BYTES,
                false => MAX_ANSWER_BYTES / source.parts.len() as u64,
            };
            let (excerpt, next) = self.excerpt(part, source.position(part, marks), room)?;
            texts.push((part.stream.name(), excerpt.text));
            left_out += excerpt.left_out;
            next_offset = next;
        }
        let mut shown = parallel::join(texts);
        let room = usize::try_from(MAX_ANSWER_BYTES).unwrap_or(usize::MAX) / shown.len();
        let mut matches = search.map(|_| 0);
        for (_, text) in &mut shown {
            if let (Some(pattern), Some(matches)) = (search, &mut matches) {
                let matched = pattern.matches(text.lines())?;
                let found = text.lines().zip(matched).filter(|(_, matched)| *matched);
                let found: Vec<_> = found.map(|(line, _)| line).collect();
                *matches += found.len();
                *text = found.join("\n");
            }
            left_out += keep_last(text, self.tail, room);
        }
        let paths = source.parts.iter().map(|part| part.path.display());
        let paths: Vec<_> = paths.map(|path| path.to_string()).collect();
        Ok(Log {
            log: parallel::with_headings(&shown),
            path: paths.join(", "),
            left_out: (left_out > 0).then_some(left_out),
            next_offset,
            matches,
        }
        .into())
    }

    fn excerpt(
        &self,
        part: &Part,
        position: Position,
        room: u64,
    ) -> Result<(Excerpt, Option<u64>)> {
        let path = &part.path;
        let read = match (self.since_last_call, self.offset) {
            (Some(true), _) => apps::since(path, position, room).map(|since| (since, None)),
            (_, Some(offset)) => apps::page(path, offset, MAX_ANSWER_BYTES),
            // The log of an output that is still empty may not exist.
            _ if part.is_separate && !path.exists() => Ok((Excerpt::default(), None)),
            _ => apps::last(path, room).map(|last| (last, None)),
        };
        read.map_err(|error| Error::file(path, "open", &error))
    }
}

/// Keeps the last `tail` lines, of at most `room` bytes. Returns the number of bytes that were removed.
fn keep_last(text: &mut String, tail: Option<usize>, room: usize) -> u64 {
    let before = text.len();
    if let Some(tail) = tail {
        let mut ends = text.trim_end().rmatch_indices('\n');
        let begin = match tail.checked_sub(1) {
            None => text.len(),
            Some(more) => ends.nth(more).map_or(0, |(at, _)| at + 1),
        };
        text.drain(..begin);
    }
    let surplus = text.ceil_char_boundary(text.len().saturating_sub(room));
    if surplus > 0 {
        match text[surplus..].find('\n') {
            Some(at) => drop(text.drain(..=surplus + at)),
            None => text.replace_range(..surplus, "…"),
        }
    }
    before.saturating_sub(text.len()) as u64
}

/// Wait until the app's server logs a line: with the last action, or later.
#[derive(Deserialize, JsonSchema)]
pub(super) struct WaitForServerLog {
    /// Text in the line, or /regex/flags.
    pattern: String,
    /// Its name; the one that was started by default.
    server: Option<String>,
    /// Combined by default.
    stream: Option<Stream>,
}

/// The line that was found.
#[derive(Serialize, JsonSchema)]
pub(super) struct Line {
    line: String,
}

impl Tool for WaitForServerLog {
    const NAME: &'static str = "wait_for_server_log";
    const TITLE: &'static str = "Wait for server log";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Read;
    type Scope = E2eSession;
    type Output = Object<Line>;

    async fn run(self, session: E2eSession, call: &Call) -> Result<Object<Line>> {
        let pattern = pattern(Self::NAME, "pattern", &self.pattern)?;
        let marks = session.app().marks_at_last_action();
        let source = Source::of(&session, self.server.as_deref(), self.stream)?;
        let parts = source.parts.iter();
        let mut searches: Vec<_> = parts
            .map(|part| LogSearch::of(&part.path, source.position(part, &marks)))
            .collect();
        let server = find_server(session.app().servers(), self.server.as_deref())?;
        let progress = call.action();
        let found = progress.run(async {
            let mut status_at = Instant::now();
            loop {
                // Checked before the log is read, so that the last lines of the server are read.
                let gone = Instant::now() >= status_at && server.is_gone();
                for search in &mut searches {
                    if let Some(line) = search.next(&pattern).await? {
                        return Ok(Some(line));
                    }
                }
                if gone {
                    // Another session may have restarted the server.
                    if evidence::state(server).await.status == Status::Stopped {
                        return Ok(None);
                    }
                    status_at = Instant::now() + STATUS_INTERVAL;
                }
                tokio::time::sleep(POLL_INTERVAL).await;
            }
        });
        let started_at = Instant::now();
        let waited = match found.await {
            Ok(Some(line)) => return Ok(Line { line }.into()),
            // The error contains the time until the server ended.
            Ok(None) => started_at.elapsed(),
            Err(engine::Error::Timeout { .. }) => progress.timeout(),
            Err(error) => return Err(error.into()),
        };
        let logged = source.parts.iter().map(|part| {
            let since = apps::since(&part.path, source.position(part, &marks), MAX_SHOWN_BYTES);
            (part.stream.name(), since.unwrap_or_default().text)
        });
        let logged = parallel::with_headings(&parallel::join(logged.collect()));
        Err(Error::NotLogged {
            server: source.server,
            pattern: pattern.to_string(),
            timeout_ms: u64::try_from(waited.as_millis()).unwrap_or(u64::MAX),
            logged,
        })
    }
}

/// The search for a line in a growing log.
struct LogSearch {
    path: PathBuf,
    /// The position at which the search began.
    first: Position,
    /// The position from which the log has not been searched.
    from: Position,
    /// The end of the log at the last search.
    end: Position,
}

impl LogSearch {
    fn of(path: &Path, position: Position) -> Self {
        Self {
            path: path.to_owned(),
            first: position,
            from: position,
            end: Position::default(),
        }
    }

    /// Searches what was written since the last search. Returns the first line that matches.
    async fn next(&mut self, pattern: &Pattern) -> engine::Result<Option<String>> {
        let now = apps::end(&self.path);
        if now == self.end {
            return Ok(None);
        }
        let (path, pattern, from) = (self.path.clone(), pattern.clone(), self.from);
        // After the first search, the excerpt begins in a line that has been searched.
        let is_first = from == self.first;
        let line = task::compute(move || first_line(&path, from, is_first, &pattern)).await?;
        (self.from, self.end) = (now.back(MAX_LINE_BYTES, self.first), now);
        Ok(line)
    }
}

/// Returns the first line from a position on that matches the pattern.
fn first_line(
    path: &Path,
    from: Position,
    is_first: bool,
    pattern: &Pattern,
) -> engine::Result<Option<String>> {
    let excerpt = apps::since(path, from, MAX_SEARCHED_BYTES).unwrap_or_default();
    let text = match is_first {
        true => &*excerpt.text,
        false => excerpt.text.split_once('\n').map_or("", |(_, rest)| rest),
    };
    let matched = pattern.matches(text.lines())?;
    let found = text.lines().zip(matched).find(|(_, matched)| *matched);
    Ok(found.map(|(line, _)| truncated(line, MAX_SHOWN_LINE_BYTES)))
}

/// A log of a server, or two logs that are read as one.
struct Source {
    server: String,
    index: usize,
    parts: Vec<Part>,
}

/// A file of a log.
struct Part {
    stream: Stream,
    path: PathBuf,
    is_separate: bool,
}

impl Source {
    fn of(session: &E2eSession, server: Option<&str>, stream: Option<Stream>) -> Result<Self> {
        let servers = session.app().servers();
        let server = find_server(servers, server)?;
        let index = servers.iter().position(|other| Arc::ptr_eq(other, server));
        let logs = server.logs();
        let both = [
            (Stream::Stdout, &logs.stdout),
            (Stream::Stderr, &logs.stderr),
        ];
        let files = match stream.unwrap_or_default() {
            Stream::Combined if logs.combined().is_none() => both.to_vec(),
            Stream::Combined => vec![(Stream::Combined, &logs.combined)],
            Stream::Stdout => vec![both[0]],
            Stream::Stderr => vec![both[1]],
        };
        let files = files.into_iter();
        let mut parts: Vec<_> = files
            .filter_map(|(stream, path)| {
                Some(Part {
                    stream,
                    path: path.clone()?,
                    is_separate: false,
                })
            })
            .collect();
        parts.dedup_by(|one, other| one.path == other.path);
        if parts.is_empty() {
            return Err(log_not_reported(server));
        }
        if parts.len() > 1 {
            parts.iter_mut().for_each(|part| part.is_separate = true);
        }
        Ok(Self {
            server: server.name().to_owned(),
            index: index.unwrap_or_default(),
            parts,
        })
    }

    fn position(&self, part: &Part, marks: &[Mark]) -> Position {
        let mark = marks.get(self.index).copied().unwrap_or_default();
        match part.stream {
            Stream::Combined => mark.combined,
            Stream::Stdout => mark.stdout,
            Stream::Stderr => mark.stderr,
        }
    }
}

impl Stream {
    fn name(self) -> &'static str {
        match self {
            Self::Combined => "combined",
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
        }
    }
}

fn log_not_reported(server: &DevServer) -> Error {
    Error::File {
        path: String::new(),
        reason: format!(
            "The command of the server \"{}\" reported no path of that log (`logs` in its answer)",
            server.name()
        ),
    }
}

/// Returns a pattern for a text, or for a regular expression between slashes.
fn pattern(tool: &'static str, parameter: &str, text: &str) -> Result<Pattern> {
    let is_regex = text.len() > 1 && text.starts_with('/') && text[1..].contains('/');
    if !is_regex {
        return Ok(Pattern::text(text));
    }
    Pattern::regex(text).map_err(|error| wrong(tool, parameter, error))
}

fn wrong(tool: &'static str, parameter: &str, message: String) -> Error {
    Error::InvalidArguments {
        tool,
        problems: vec![Problem {
            parameter: parameter.to_owned(),
            message,
            missing: false,
        }],
    }
}
