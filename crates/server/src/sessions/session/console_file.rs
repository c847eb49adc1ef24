//! The console log of a tab: a file that grows with the messages, and the position up to which answers have reported it.

use crate::answers::escape::{indented, one_line};
use crate::answers::reply::Event;
use crate::config::ConsoleLevel;
use crate::files::Output;
use crate::files::artifacts::ArtifactInfo;
use engine::{ConsoleMessage, MessageKind, Page};
use std::path::PathBuf;
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
    let (url, line) = match &message.location {
        Some(place) => (place.url.as_str(), place.line),
        None => ("", 0),
    };
    format!(
        "[{kind}] {} @ {}:{line}",
        indented(&message.text),
        one_line(url)
    )
}

/// The largest size of a log, in bytes: a page that logs without end must not fill the disk.
const MAX_FILE_BYTES: usize = 32 * 1024 * 1024;

/// The console log of a tab.
pub(super) struct ConsoleFile {
    output: Output,
    level: ConsoleLevel,
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
}

impl ConsoleFile {
    /// Creates a log for messages at `level` or above.
    pub(super) fn new(output: Output, level: ConsoleLevel) -> Self {
        Self {
            output,
            level,
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
            .iter()
            .filter(|entry| level(entry.message.kind) <= self.level);
        let lines: Vec<_> = wanted.map(|entry| line(&entry.message)).collect();
        self.note_all(lines);
    }

    /// Adds a message.
    pub(super) fn note(&mut self, message: &str) {
        self.note_all(vec![message.to_owned()]);
    }

    fn note_all(&mut self, messages: Vec<String>) {
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
        Some(Event::Console {
            link: self.output.link(&file.path),
            first,
            last: file.lines,
        })
    }

    fn append(&mut self, messages: Vec<String>) -> std::io::Result<()> {
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
                })
            }
        };
        if file.size >= MAX_FILE_BYTES {
            return Ok(());
        }
        let time = file.began.elapsed().as_millis();
        let mut text = String::new();
        for message in messages {
            let message = self.output.redacted(message);
            text += &format!("[{time:>8}ms] {message}\n");
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
    use engine::SourceLocation;

    #[test]
    fn a_line_has_kind_text_and_location() {
        let message = ConsoleMessage {
            kind: MessageKind::TimeEnd,
            text: "t: 1 ms".into(),
            location: Some(SourceLocation {
                url: "http://x/".into(),
                line: 4,
                column: 2,
            }),
        };
        assert_eq!(line(&message), "[TIMEEND] t: 1 ms @ http://x/:4");
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
