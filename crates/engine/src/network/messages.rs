//! The messages of WebSockets and event sources of a document.

use crate::backend::{RequestId, StreamMessage, StreamMessageKind};
use std::collections::{HashMap, VecDeque};

/// The largest number of messages of a document; the oldest are removed first.
const MAX_MESSAGES: usize = 1_000;
/// The largest size of all payloads of a document, in bytes.
const MAX_PAYLOADS: usize = 2 * 1024 * 1024;

/// The messages of all streams of a document, oldest first.
#[derive(Debug, Default)]
pub(super) struct MessageLog {
    messages: VecDeque<(RequestId, StreamMessage)>,
    /// The size of the payloads in bytes.
    size: usize,
    /// The number of removed messages of each stream.
    removed: HashMap<RequestId, usize>,
}

/// The messages of one stream.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StreamMessages {
    /// The messages, oldest first.
    pub messages: Vec<StreamMessage>,
    /// The number of older messages that are no longer stored.
    pub removed: usize,
}

impl MessageLog {
    pub(super) fn add(&mut self, id: RequestId, message: StreamMessage) {
        self.size += message.payload.len();
        self.messages.push_back((id, message));
        while self.messages.len() > MAX_MESSAGES || self.size > MAX_PAYLOADS {
            let Some((id, message)) = self.messages.pop_front() else {
                return;
            };
            self.size -= message.payload.len();
            *self.removed.entry(id).or_default() += 1;
        }
    }

    pub(super) fn of(&self, id: &RequestId) -> StreamMessages {
        let own = self.messages.iter().filter(|(other, _)| other == id);
        StreamMessages {
            messages: own.map(|(_, message)| message.clone()).collect(),
            removed: self.removed.get(id).copied().unwrap_or_default(),
        }
    }

    /// Returns the number of messages that a stream has received. Those that are no longer stored count as received.
    pub(super) fn received(&self, id: &RequestId) -> usize {
        let is_received = |(stream, message): &(RequestId, StreamMessage)| {
            stream == id && !matches!(message.kind, StreamMessageKind::Sent(_))
        };
        let removed = self.removed.get(id).copied().unwrap_or_default();
        removed + self.messages.iter().filter(|it| is_received(it)).count()
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_messages_are_removed_and_counted() {
        let mut log = MessageLog::default();
        let message = |text: String| StreamMessage::now(StreamMessageKind::Received(1), text);
        for number in 0..MAX_MESSAGES + 3 {
            log.add("1".into(), message(number.to_string()));
        }
        log.add("2".into(), message("x".repeat(MAX_PAYLOADS)));
        let first = log.of(&"1".into());
        assert_eq!(
            (first.removed, first.messages[0].payload.as_str()),
            (4, "4")
        );
        let second = log.of(&"2".into());
        assert_eq!(second.messages[0].length, MAX_PAYLOADS);
        assert_eq!(second.messages[0].payload.len(), 16 * 1024);
        for _ in 0..MAX_MESSAGES {
            log.add("3".into(), message("x".repeat(16 * 1024)));
        }
        assert!(log.size <= MAX_PAYLOADS);
    }
}
