//! The hash chain: how a record is sealed, and how a sealed line is checked by itself.
//!
//! A line is a JSON object whose last two members are `prev` and `hash`. `hash` is the SHA-256 of the same object without its
//! last member, as it is written, in lower-case hexadecimal digits. `prev` is the hash of the record before, and [`GENESIS`] in the first.

use serde::Deserialize;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

/// `prev` of the first record.
pub(super) const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// What stands before the hash.
const BEFORE_HASH: &[u8] = b",\"hash\":\"";
/// What stands after it.
const AFTER_HASH: &[u8] = b"\"}";
/// Digits of a hash.
const DIGITS: usize = 64;

/// Where the next record goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Link {
    /// The number of the last record; 0: there is none.
    pub(super) seq: u64,
    /// Its hash.
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
    /// The line of the next record, without its end, and the link after it.
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

/// What a line says of its place in the chain.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct RecordLink {
    pub(super) seq: u64,
    pub(super) prev: String,
    pub(super) hash: String,
    /// What a server found behind the record before, if this is the record of that.
    pub(super) torn: Option<TornRecord>,
}

/// The remains of a record that was not written to its end.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct TornRecord {
    /// How many bytes.
    pub(super) bytes: u64,
    /// Their hash.
    pub(super) sha256: String,
}

/// Why a line cannot stand where it does.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Flaw {
    /// The line has not the form of a record.
    #[error("it is not a record of an audit log")]
    NoRecord,
    /// The content and the hash do not fit each other.
    #[error("its content does not have the hash that it names: it was changed")]
    Changed,
    /// Records before it are missing, or are behind it.
    #[error(
        "it is record {found} where record {expected} was expected: records are missing or out of order"
    )]
    Gap {
        /// Its number.
        found: u64,
        /// The number that would continue the chain.
        expected: u64,
    },
    /// It follows another record than the one before it.
    #[error("it does not continue the record before it: that one was exchanged or is missing")]
    Broken,
    /// There is no line end.
    #[error("it has no end: a server was killed while it wrote it, or the file was cut off there")]
    Unfinished,
}

/// Checks that a line, without its end, is a record and that its content has its hash.
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

/// Lower-case hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
