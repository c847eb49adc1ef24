//! The console log of a tab: a file that grows with the messages, and the position up to which answers have reported it.

use crate::answers::escape::{indented, one_line};
use crate::answers::reply::Event;
use crate::calls::Call;
use crate::config::{AnswerStyle, ConsoleLevel};
use crate::files::Output;
use crate::files::artifacts::ArtifactInfo;
use engine::{ConsoleMessage, MessageKind, Page};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// Returns the least severe level at which a message is listed.
pub(crate) fn level(kind: MessageKind) -> ConsoleLevel {
    match kind {
        MessageKind::Error | MessageKind::PageError | MessageKind::Assert => ConsoleLevel::Error,
        MessageKind::Warning => ConsoleLevel::Warning,
        MessageKind::Debug
        | MessageKind::Trace
        | MessageKind::Clear
        | MessageKind::StartGroup
        | MessageKind::StartGroupCollapsed
        | MessageKind::EndGroup => ConsoleLevel::Debug,
        MessageKind::Log
        | MessageKind::Info
        | MessageKind::Verbose
        | MessageKind::Dir
        | MessageKind::Dirxml
        | MessageKind::Table
        | MessageKind::Profile
        | MessageKind::ProfileEnd
        | MessageKind::Count
        | MessageKind::TimeEnd => ConsoleLevel::Info,
    }
}

/// Formats a message for lists and logs: its kind, text and location.
pub(crate) fn line(message: &ConsoleMessage) -> String {
    if message.kind == MessageKind::PageError {
        return indented(&message.text);
    }
    let kind = message.kind.to_string().to_uppercase();
    let text = indented(&message.text);
    let place = match &message.location {
        None => ":0".to_owned(),
        Some(place) => match &place.source {
            None => format!("{}:{}", place.url, place.line),
            Some(source) if place.function.is_empty() => source.to_string(),
            Some(source) => format!("{} ({source})", place.function),
        },
    };
    format!("[{kind}] {text} @ {}", one_line(&place))
}

/// Formats messages of a page like [`line`]. Compact answers name the sources of built scripts in errors.
pub(crate) async fn lines(
    call: &Call,
    page: &Page,
    messages: Vec<Arc<ConsoleMessage>>,
) -> Vec<String> {
    let messages = match call.settings.answers.style {
        AnswerStyle::Compact => page.with_sources(&call.action(), messages).await,
        AnswerStyle::Playwright => messages,
    };
    messages.iter().map(|message| line(message)).collect()
}

/// The largest size of a log, in bytes: a page that logs without end must not fill the disk.
const MAX_FILE_BYTES: usize = 32 * 1024 * 1024;

/// The largest number of unreported lines whose sources are looked up.
const MAX_UNREPORTED: usize = 500;

/// The console log of a tab.
pub(super) struct ConsoleFile {
    output: Output,
    level: ConsoleLevel,
    /// Whether errors name the sources of built scripts once they are reported.
    has_sources: bool,
    file: Option<OpenFile>,
    /// The number of the first message that is not written yet.
    next: u64,
    /// The number of actions in progress during which messages are not written.
    held: usize,
}

struct OpenFile {
    path: PathBuf,
    began: Instant,
    /// The size, in bytes.
    size: usize,
    lines: usize,
    reported: usize,
    /// The size up to the last reported line, in bytes.
    reported_size: usize,
    /// The entries after it, as far as their sources are looked up.
    unreported: Vec<Entry>,
}

/// An entry of the log.
#[derive(Clone)]
struct Entry {
    /// The time since the log was started, in milliseconds.
    time: u128,
    /// The message; `None` for an entry of the server.
    message: Option<Arc<ConsoleMessage>>,
    text: String,
}

impl Entry {
    fn line(&self) -> String {
        format!("[{:>8}ms] {}\n", self.time, self.text)
    }
}

impl ConsoleFile {
    /// Creates a log for messages at `level` or above, whose errors name the sources of built scripts with `has_sources`.
    pub(super) fn new(output: Output, level: ConsoleLevel, has_sources: bool) -> Self {
        Self {
            output,
            level,
            has_sources,
            file: None,
            next: 0,
            held: 0,
        }
    }

    /// Writes the new messages, unless they are held back. Write errors are ignored, because tools still return the messages.
    pub(super) fn write(&mut self, page: &Page) {
        if self.held == 0 {
            self.write_all(page);
        }
    }

    /// Holds messages back, until as many releases.
    pub(super) fn hold(&mut self) {
        self.held += 1;
    }

    /// Writes the messages that were held back, unless another action holds them.
    pub(super) fn release(&mut self, page: &Page) {
        self.held = self.held.saturating_sub(1);
        self.write(page);
    }

    fn write_all(&mut self, page: &Page) {
        let news = page.console(self.next);
        let Some(last) = news.last() else { return };
        self.next = last.number + 1;
        let wanted = news
            .into_iter()
            .filter(|entry| level(entry.message.kind) <= self.level);
        let lines: Vec<_> = wanted
            .map(|entry| (line(&entry.message), Some(entry.message)))
            .collect();
        self.note_all(lines);
    }

    /// Adds a message.
    pub(super) fn note(&mut self, message: &str) {
        self.note_all(vec![(message.to_owned(), None)]);
    }

    fn note_all(&mut self, messages: Vec<(String, Option<Arc<ConsoleMessage>>)>) {
        if !messages.is_empty()
            && let Err(error) = self.append(messages)
        {
            tracing::debug!(%error, "the console log cannot be written");
        }
    }

    /// Abandons the file and its unreported lines; the next message creates another file.
    pub(super) fn restart(&mut self, page: &Page) {
        self.write_all(page);
        self.file = None;
    }

    /// Returns the lines that were not reported yet.
    pub(super) fn new_lines(&mut self) -> Option<Event> {
        let file = self.file.as_mut()?;
        if file.reported == file.lines {
            return None;
        }
        let first = file.reported + 1;
        file.reported = file.lines;
        file.reported_size = file.size;
        file.unreported.clear();
        Some(Event::Console {
            link: self.output.link(&file.path),
            first,
            last: file.lines,
        })
    }

    /// Returns the messages that were not reported yet and may be about built scripts.
    pub(super) fn unreported(&self) -> Vec<Arc<ConsoleMessage>> {
        let entries = self.file.iter().flat_map(|file| &file.unreported);
        entries.filter_map(|entry| entry.message.clone()).collect()
    }

    /// Writes the entries of unreported messages again, with the sources of built scripts: `mapped` has the messages of `earlier` in the
    /// same order.
    pub(super) fn set_sources(
        &mut self,
        earlier: &[Arc<ConsoleMessage>],
        mapped: &[Arc<ConsoleMessage>],
    ) {
        let Some(file) = &mut self.file else { return };
        let mut is_changed = false;
        for entry in &mut file.unreported {
            let Some(message) = &entry.message else {
                continue;
            };
            let at = earlier.iter().position(|other| Arc::ptr_eq(other, message));
            let mapped = at.and_then(|at| mapped.get(at));
            if let Some(mapped) = mapped.filter(|mapped| !Arc::ptr_eq(mapped, message)) {
                let text = self.output.redacted(line(mapped));
                is_changed |= text != entry.text;
                entry.text = text;
            }
        }
        let is_complete = file.unreported.len() < MAX_UNREPORTED && file.size < MAX_FILE_BYTES;
        if !is_changed || !is_complete {
            return;
        }
        let text: String = file.unreported.iter().map(Entry::line).collect();
        match self
            .output
            .replace_end(&file.path, file.reported_size, &text)
        {
            Ok(()) => {
                file.size = file.reported_size + text.len();
                file.lines = file.reported + text.matches('\n').count();
            }
            Err(error) => tracing::debug!(%error, "the console log cannot be written"),
        }
    }

    fn append(
        &mut self,
        messages: Vec<(String, Option<Arc<ConsoleMessage>>)>,
    ) -> std::io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            None => {
                let path = self.output.make("console-*.log")?;
                self.output.artifacts().add(&path, ArtifactInfo::default());
                self.file.insert(OpenFile {
                    path,
                    began: Instant::now(),
                    size: 0,
                    lines: 0,
                    reported: 0,
                    reported_size: 0,
                    unreported: Vec::new(),
                })
            }
        };
        if file.size >= MAX_FILE_BYTES {
            return Ok(());
        }
        let time = file.began.elapsed().as_millis();
        let mut text = String::new();
        for (message, of) in messages {
            let entry = Entry {
                time,
                message: of,
                text: self.output.redacted(message),
            };
            text += &entry.line();
            if self.has_sources && file.unreported.len() < MAX_UNREPORTED {
                file.unreported.push(entry);
            }
        }
        file.size += text.len();
        if file.size >= MAX_FILE_BYTES {
            text += &format!("[{time:>8}ms] The log ends here: it is too long.\n");
        }
        // Not kept open, because the file may be removed meanwhile.
        self.output.append(&file.path, &text)?;
        file.lines += text.matches('\n').count();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::{SourceLocation, SourcePosition};

    #[test]
    fn a_line_has_kind_text_and_location() {
        let message = ConsoleMessage {
            kind: MessageKind::TimeEnd,
            text: "t: 1 ms".into(),
            location: Some(SourceLocation {
                url: "http://x/".into(),
                line: 4,
                column: 2,
                ..SourceLocation::default()
            }),
        };
        assert_eq!(line(&message), "[TIMEEND] t: 1 ms @ http://x/:4");
    }

    #[test]
    fn a_line_names_the_source_of_a_built_script() {
        let message = |function: &str| ConsoleMessage {
            kind: MessageKind::Error,
            text: "no item".into(),
            location: Some(SourceLocation {
                url: "http://x/app.js".into(),
                function: function.into(),
                source: Some(SourcePosition {
                    source: "src/cart.ts".into(),
                    line: 7,
                    column: 3,
                }),
                ..SourceLocation::default()
            }),
        };
        let lines = ["", "Cart.add\n#"].map(|function| line(&message(function)));
        assert_eq!(lines[0], "[ERROR] no item @ src/cart.ts:7:3");
        assert_eq!(lines[1], "[ERROR] no item @ Cart.add\\n# (src/cart.ts:7:3)");
    }

    #[test]
    fn an_uncaught_error_is_its_stack() {
        let message = ConsoleMessage {
            kind: MessageKind::PageError,
            text: "Error: late\n    at x".into(),
            location: None,
        };
        assert_eq!(line(&message), "Error: late\n    at x");
    }
}
