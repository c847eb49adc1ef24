//! What the app's servers write.

use super::E2eSession;
use super::lifecycle::chosen;
use crate::call::Call;
use crate::devserver::{self, DevServer, Excerpt, Position};
use crate::error::{Error, Problem, Result};
use crate::evidence;
use crate::session::app::Mark;
use crate::tool::{Effect, ObjectTool, Outcome, ToolDef};
use engine::Pattern;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

pub(super) const TOOLS: &[ToolDef] = &[
    ToolDef::object::<E2eLogs>(),
    ToolDef::object::<WaitForServerLog>(),
];

/// The most of a log that one answer has, in bytes.
const ROOM: u64 = 24_000;

/// The most that is searched, in bytes.
const SEARCHED: u64 = 16 * 1024 * 1024;

/// The most that is shown of a log that lacks what was waited for, in bytes.
const SHOWN: u64 = 2000;

/// How long a line may be that is written in parts, and found all the same, in bytes.
const LINE: u64 = 64 * 1024;

/// The most that is shown of a line, in bytes.
const SHOWN_OF_LINE: usize = 4000;

/// How often the command is asked after a server that seems to have ended.
const ASKED: Duration = Duration::from_secs(1);

/// How often a log is looked at that is waited for.
const STEP: Duration = Duration::from_millis(50);

/// Which of the outputs.
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
    /// Bytes before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<u64>,
    /// Where to read on.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<u64>,
    /// Lines that were found.
    #[serde(skip_serializing_if = "Option::is_none")]
    matches: Option<usize>,
}

impl ObjectTool for E2eLogs {
    const NAME: &'static str = "e2e_logs";
    const TITLE: &'static str = "Logs of the app";
    const EFFECT: Effect = Effect::Reads;
    const WAITS: bool = false;
    type Scope = E2eSession;
    type Output = Log;

    async fn run(self, session: E2eSession, _: &Call) -> Result<Outcome<Log>> {
        let search = match &self.search {
            Some(search) => Some(pattern(Self::NAME, "search", search)?),
            None => None,
        };
        let marks = session.app().last_deed();
        let source = Source::of(&session, self.server.as_deref(), self.stream)?;
        engine::compute(move || self.read(&source, &marks, search.as_ref())).await
    }
}

impl E2eLogs {
    /// Reads, searches and cuts the log.
    fn read(
        self,
        source: &Source,
        marks: &[Mark],
        search: Option<&Pattern>,
    ) -> Result<Outcome<Log>> {
        let path = source.path.display().to_string();
        let unreadable = |error: std::io::Error| Error::file(&source.path, "open", &error);
        let room = if search.is_some() || self.tail.is_some() {
            SEARCHED
        } else {
            ROOM
        };
        let (excerpt, next_offset) = match (self.since_last_call, self.offset) {
            (Some(true), _) => {
                let position = source.position(marks);
                let excerpt = devserver::since(&source.path, position, room);
                (excerpt.map_err(unreadable)?, None)
            }
            (_, Some(offset)) => devserver::page(&source.path, offset, ROOM).map_err(unreadable)?,
            _ => (
                devserver::last(&source.path, room).map_err(unreadable)?,
                None,
            ),
        };
        let Excerpt {
            mut text,
            mut left_out,
        } = excerpt;
        let mut matches = None;
        if let Some(pattern) = search {
            let matched = pattern.matches(text.lines())?;
            let found = text.lines().zip(matched).filter(|(_, matched)| *matched);
            let found: Vec<_> = found.map(|(line, _)| line).collect();
            matches = Some(found.len());
            text = found.join("\n");
        }
        if let Some(tail) = self.tail {
            let begin = text
                .trim_end()
                .rmatch_indices('\n')
                .nth(tail.saturating_sub(1));
            let begin = if tail == 0 {
                text.len()
            } else {
                begin.map_or(0, |(at, _)| at + 1)
            };
            left_out += begin as u64;
            text.drain(..begin);
        }
        let surplus = text
            .len()
            .saturating_sub(usize::try_from(ROOM).unwrap_or(usize::MAX));
        if surplus > 0 {
            let begin = text[text.ceil_char_boundary(surplus)..].find('\n');
            let begin = begin.map_or(surplus, |at| text.ceil_char_boundary(surplus) + at + 1);
            left_out += begin as u64;
            text.drain(..text.ceil_char_boundary(begin));
        }
        Ok(Log {
            log: text.trim_end().to_owned(),
            path,
            left_out: (left_out > 0).then_some(left_out),
            next_offset,
            matches,
        }
        .into())
    }
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

/// The line.
#[derive(Serialize, JsonSchema)]
pub(super) struct Line {
    line: String,
}

impl ObjectTool for WaitForServerLog {
    const NAME: &'static str = "wait_for_server_log";
    const TITLE: &'static str = "Wait for server log";
    const EFFECT: Effect = Effect::Reads;
    type Scope = E2eSession;
    type Output = Line;

    async fn run(self, session: E2eSession, call: &Call) -> Result<Outcome<Line>> {
        let wanted = pattern(Self::NAME, "pattern", &self.pattern)?;
        let marks = session.app().last_deed();
        let source = Source::of(&session, self.server.as_deref(), self.stream)?;
        let position = source.position(&marks);
        let server = chosen(session.app().servers(), self.server.as_deref())?;
        let progress = call.action();
        let found = progress.run(async {
            let (mut from, mut seen) = (position, Position::default());
            let mut ask_at = Instant::now();
            loop {
                // Before: what it says when it ends comes first.
                let gone = Instant::now() >= ask_at && server.is_gone();
                let now = devserver::end(&source.path);
                if now != seen {
                    let (path, wanted) = (source.path.clone(), wanted.clone());
                    // The first line of what was searched before was seen as a whole.
                    let is_first = from == position;
                    let search = move || first_line(&path, from, is_first, &wanted);
                    if let Some(line) = engine::compute(search).await? {
                        return Ok(Some(line));
                    }
                    (from, seen) = (now.back(LINE, position), now);
                }
                if gone {
                    // Somebody else may have restarted it.
                    if evidence::state(server).await.status == "stopped" {
                        return Ok(None);
                    }
                    ask_at = Instant::now() + ASKED;
                }
                tokio::time::sleep(STEP).await;
            }
        });
        let began = Instant::now();
        let waited = match found.await {
            Ok(Some(line)) => return Ok(Line { line }.into()),
            // What came of it is told with the server's end.
            Ok(None) => began.elapsed(),
            Err(engine::Error::Timeout { .. }) => progress.timeout(),
            Err(error) => return Err(error.into()),
        };
        let logged = devserver::since(&source.path, position, SHOWN).unwrap_or_default();
        Err(Error::NotLogged {
            server: source.server,
            pattern: wanted.to_string(),
            timeout_ms: u64::try_from(waited.as_millis()).unwrap_or(u64::MAX),
            logged: logged.text.trim_end().to_owned(),
        })
    }
}

/// The first line of a log from a place on in which the pattern is.
fn first_line(
    path: &Path,
    from: Position,
    is_first: bool,
    wanted: &Pattern,
) -> engine::Result<Option<String>> {
    let excerpt = devserver::since(path, from, SEARCHED).unwrap_or_default();
    let text = match is_first {
        true => &*excerpt.text,
        false => excerpt.text.split_once('\n').map_or("", |(_, rest)| rest),
    };
    let matched = wanted.matches(text.lines())?;
    let found = text.lines().zip(matched).find(|(_, matched)| *matched);
    Ok(found.map(|(line, _)| shortened(line)))
}

/// A line that an answer has room for.
fn shortened(line: &str) -> String {
    match line.len() > SHOWN_OF_LINE {
        true => format!("{}…", &line[..line.floor_char_boundary(SHOWN_OF_LINE)]),
        false => line.to_owned(),
    }
}

/// A log of a server.
struct Source {
    server: String,
    index: usize,
    stream: Stream,
    path: PathBuf,
}

impl Source {
    fn of(session: &E2eSession, server: Option<&str>, stream: Option<Stream>) -> Result<Self> {
        let servers = session.app().servers();
        let server = chosen(servers, server)?;
        let index = servers.iter().position(|other| Arc::ptr_eq(other, server));
        let logs = server.logs();
        let (stream, path) = match stream.unwrap_or_default() {
            Stream::Stdout => (Stream::Stdout, logs.stdout),
            Stream::Stderr => (Stream::Stderr, logs.stderr),
            Stream::Combined if logs.combined().is_none() => (Stream::Stdout, logs.stdout),
            Stream::Combined => (Stream::Combined, logs.combined),
        };
        Ok(Self {
            server: server.name().to_owned(),
            index: index.unwrap_or_default(),
            stream,
            path: path.ok_or_else(|| unknown(server))?,
        })
    }

    fn position(&self, marks: &[Mark]) -> Position {
        let mark = marks.get(self.index).copied().unwrap_or_default();
        match self.stream {
            Stream::Combined => mark.combined,
            Stream::Stdout => mark.stdout,
            Stream::Stderr => mark.stderr,
        }
    }
}

fn unknown(server: &DevServer) -> Error {
    Error::File {
        path: String::new(),
        reason: format!(
            "The command of the server \"{}\" told no path of that log (`logs` in its answer)",
            server.name()
        ),
    }
}

/// A text, or a regular expression between slashes.
fn pattern(tool: &'static str, parameter: &str, text: &str) -> Result<Pattern> {
    let is_regex = text.len() > 1 && text.starts_with('/') && text[1..].contains('/');
    if !is_regex {
        return Ok(Pattern::text(text));
    }
    Pattern::regex(text).map_err(|error| Error::InvalidArguments {
        tool,
        problems: vec![Problem {
            parameter: parameter.to_owned(),
            message: error,
            missing: false,
        }],
    })
}
