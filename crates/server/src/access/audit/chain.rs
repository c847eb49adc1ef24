//! The hash chain of the audit log: sealing records, and verifying single lines.
//!
//! A line is a JSON object whose last two members are `prev` and `hash`. `hash` is the SHA-256 of the serialized object without its last
//! member, in lower-case hexadecimal digits. `prev` is the hash of the previous record, and [`GENESIS`] in the first one.

use serde::Deserialize;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

/// `prev` of the first record.
pub(super) const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// The text before the hash.
const BEFORE_HASH: &[u8] = b",\"hash\":\"";
/// The text after the hash.
const AFTER_HASH: &[u8] = b"\"}";
/// The number of digits of a hash.
const DIGITS: usize = 64;

/// The last record, which the next one continues.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Link {
    /// The number of the last record; 0: there is none.
    pub(super) seq: u64,
    /// The hash of the last record.
    pub(super) hash: String,
}

impl Default for Link {
    fn default() -> Self {
        Self {
            seq: 0,
            hash: GENESIS.to_owned(),
        }
    }
}

impl Link {
    /// Returns the line of the next record, without the line feed, and the new end of the chain.
    pub(super) fn seal(&self, members: &Map<String, Value>) -> (String, Self) {
        let seq = self.seq + 1;
        let mut record = Map::with_capacity(members.len() + 2);
        record.insert("seq".to_owned(), seq.into());
        record.extend(members.clone());
        record.insert("prev".to_owned(), self.hash.clone().into());
        let mut line = Value::Object(record).to_string();
        let hash = hex(&Sha256::digest(line.as_bytes()));
        line.pop();
        line += &format!(",\"hash\":\"{hash}\"}}");
        (line, Self { seq, hash })
    }
}

/// The members of a line that link it to the chain.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct RecordLink {
    pub(super) seq: u64,
    pub(super) prev: String,
    pub(super) hash: String,
    /// The unfinished record before this one, which this one reports.
    pub(super) torn: Option<TornRecord>,
}

/// The rest of an unfinished record.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct TornRecord {
    /// The size, in bytes.
    pub(super) bytes: u64,
    /// The hash.
    pub(super) sha256: String,
}

/// Why a line is not a valid continuation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Flaw {
    /// The line does not have the format of a record.
    #[error("it is not a record of an audit log")]
    NoRecord,
    /// The content does not match the hash.
    #[error("its content does not have the hash that it names: it was changed")]
    Changed,
    /// Earlier records are missing, or follow later.
    #[error(
        "it is record {found} where record {expected} was expected: records are missing or out of order"
    )]
    Gap {
        /// The number of the record.
        found: u64,
        /// The number that would continue the chain.
        expected: u64,
    },
    /// The previous hash does not match the record before it.
    #[error("it does not continue the record before it: that one was exchanged or is missing")]
    Broken,
    /// The line feed is missing.
    #[error("it has no end: a server was killed while it wrote it, or the file was cut off there")]
    Unfinished,
}

/// Verifies that a line, without the line feed, is a record whose content matches its hash.
pub(super) fn check(line: &[u8]) -> Result<RecordLink, Flaw> {
    let body = line.strip_suffix(AFTER_HASH).ok_or(Flaw::NoRecord)?;
    let (body, hash) = body
        .split_at_checked(body.len().saturating_sub(DIGITS))
        .ok_or(Flaw::NoRecord)?;
    let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    if hash.len() != DIGITS || !hash.iter().all(is_digit) {
        return Err(Flaw::NoRecord);
    }
    let body = body.strip_suffix(BEFORE_HASH).ok_or(Flaw::NoRecord)?;
    let mut hasher = Sha256::new();
    hasher.update(body);
    hasher.update(b"}");
    if hex(&hasher.finalize()).as_bytes() != hash {
        return Err(Flaw::Changed);
    }
    serde_json::from_slice(line).map_err(|_| Flaw::NoRecord)
}

/// Formats bytes as lower-case hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
