//! The console messages of a page, with limits.

use crate::backend::{ConsoleMessage, MessageKind};
use crate::text::shorten;
use std::collections::VecDeque;
use std::sync::Arc;

/// The largest number of messages of a page; the oldest are removed first, but still counted.
const MAX_MESSAGES: usize = 5_000;
/// The largest size of a message, in bytes.
const MAX_MESSAGE_LENGTH: usize = 20_000;
/// The largest size of all messages, in bytes.
const MAX_TOTAL_LENGTH: usize = 8_000_000;

/// The console log of a page.
#[derive(Debug, Default)]
pub(crate) struct ConsoleLog {
    entries: VecDeque<ConsoleEntry>,
    next: u64,
    document: u64,
    counts: ConsoleCounts,
    all_counts: ConsoleCounts,
    /// The size of the entries' texts, in bytes.
    size: usize,
}

/// A message and its number.
#[derive(Debug, Clone)]
pub struct ConsoleEntry {
    /// The number, which increases by one per message of the page.
    pub number: u64,
    /// The message.
    pub message: Arc<ConsoleMessage>,
    /// Whether the message belongs to the current document.
    pub current: bool,
    document: u64,
}

/// The numbers of messages of the current document, or of all documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ConsoleCounts {
    /// All messages.
    pub total: usize,
    /// Errors and uncaught errors.
    pub errors: usize,
    /// Warnings.
    pub warnings: usize,
}

impl ConsoleLog {
    pub(crate) fn add(&mut self, mut message: ConsoleMessage) {
        shorten(&mut message.text, MAX_MESSAGE_LENGTH);
        for counts in [&mut self.counts, &mut self.all_counts] {
            counts.total += 1;
            match message.kind {
                MessageKind::Error | MessageKind::PageError => counts.errors += 1,
                MessageKind::Warning => counts.warnings += 1,
                _ => {}
            }
        }
        self.size += message.text.len();
        while self.entries.len() >= MAX_MESSAGES || self.size > MAX_TOTAL_LENGTH {
            let Some(oldest) = self.entries.pop_front() else {
                break;
            };
            self.size -= oldest.message.text.len();
        }
        self.entries.push_back(ConsoleEntry {
            number: self.next,
            message: Arc::new(message),
            current: true,
            document: self.document,
        });
        self.next += 1;
    }

    /// Restarts the counters for a new document.
    pub(crate) fn on_navigated(&mut self) {
        self.document += 1;
        self.counts = ConsoleCounts::default();
    }

    pub(crate) fn counts(&self) -> ConsoleCounts {
        self.counts
    }

    pub(crate) fn all_counts(&self) -> ConsoleCounts {
        self.all_counts
    }

    /// Returns the messages from a number on.
    pub(crate) fn since(&self, number: u64) -> Vec<ConsoleEntry> {
        let first = self.next - self.entries.len() as u64;
        let known = usize::try_from(number.saturating_sub(first)).unwrap_or(usize::MAX);
        let news = self.entries.range(known.min(self.entries.len())..);
        news.map(|entry| ConsoleEntry {
            current: entry.document == self.document,
            ..entry.clone()
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error() -> ConsoleMessage {
        ConsoleMessage {
            kind: MessageKind::Error,
            text: "x".into(),
            location: None,
        }
    }

    #[test]
    fn a_navigation_resets_the_counts_and_keeps_the_messages() {
        let mut log = ConsoleLog::default();
        log.add(error());
        log.on_navigated();
        log.add(error());
        assert_eq!(log.counts().errors, 1);
        assert_eq!(log.all_counts().errors, 2);
        let entries = log.since(0);
        assert_eq!(
            entries
                .iter()
                .map(|entry| entry.current)
                .collect::<Vec<_>>(),
            [false, true]
        );
    }

    #[test]
    fn all_messages_are_counted_and_the_newest_kept() {
        let mut log = ConsoleLog::default();
        for _ in 0..MAX_MESSAGES + 10 {
            log.add(error());
        }
        assert_eq!(log.counts().errors, MAX_MESSAGES + 10);
        assert_eq!(log.since(0).len(), MAX_MESSAGES);
        assert_eq!(log.since(0)[0].number, 10);
        let next = MAX_MESSAGES as u64 + 10;
        assert_eq!(log.since(next - 3)[0].number, next - 3);
        assert!(log.since(next).is_empty() && log.since(next + 1).is_empty());
    }

    #[test]
    fn long_messages_are_truncated_and_their_total_size_is_limited() {
        let mut log = ConsoleLog::default();
        for _ in 0..1_000 {
            log.add(ConsoleMessage {
                text: "x".repeat(1_000_000),
                ..error()
            });
        }
        assert_eq!(log.counts().errors, 1_000);
        let kept = log.since(0);
        assert!(kept.len() >= 300, "{}", kept.len());
        let held: usize = kept.iter().map(|entry| entry.message.text.capacity()).sum();
        assert!(held <= MAX_TOTAL_LENGTH, "{held}");
    }
}
