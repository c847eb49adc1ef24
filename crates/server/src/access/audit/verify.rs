//! Verifying a complete audit log.

use super::chain::{Flaw, Link, TornRecord, check, hex};
use sha2::{Digest as _, Sha256};
use std::io::{self, BufRead};

/// The longest line of a record, in bytes.
pub(super) const MAX_LINE: usize = 1024 * 1024;

/// The result of verifying a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Each record continues the one before it.
    Intact(Intact),
    /// The first invalid line.
    Flawed {
        /// The line number, from 1.
        line: u64,
        /// The flaw.
        flaw: Flaw,
    },
}

/// A valid log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Intact {
    /// The number of records.
    pub(crate) records: u64,
    /// The hash of the last record.
    pub(crate) hash: String,
    /// The unfinished lines of killed servers, which later servers recorded.
    pub(crate) unfinished: Vec<u64>,
    /// Whether a record has the expected hash.
    pub(crate) has_expected: bool,
}

/// Verifies a log up to its end or first flaw. `expected` is the hash of a record that must exist.
pub(crate) fn verify(mut log: impl BufRead, expected: Option<&str>) -> io::Result<Verdict> {
    let mut verifier = Verifier {
        expected,
        ..Verifier::default()
    };
    let mut line = Vec::new();
    loop {
        line.clear();
        let limit = u64::try_from(MAX_LINE).unwrap_or(u64::MAX);
        let read = io::Read::take(&mut log, limit).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(verifier.end());
        }
        let flawed = match line.strip_suffix(b"\n") {
            Some(line) => verifier.line(line),
            None if read == MAX_LINE => Some(verifier.flawed(Flaw::NoRecord)),
            // The last line.
            None => Some(verifier.flawed(Flaw::Unfinished)),
        };
        if let Some(verdict) = flawed {
            return Ok(verdict);
        }
    }
}

#[derive(Default)]
struct Verifier<'a> {
    link: Link,
    /// The number of lines.
    lines: u64,
    unfinished: Vec<u64>,
    suspect: Option<UnparsedLines>,
    expected: Option<&'a str>,
    has_expected: bool,
}

/// Invalid lines, which the next record may explain.
struct UnparsedLines {
    line: u64,
    flaw: Flaw,
    bytes: u64,
    hasher: Sha256,
}

impl UnparsedLines {
    fn is(&self, torn: &TornRecord) -> bool {
        self.bytes == torn.bytes && hex(&self.hasher.clone().finalize()) == torn.sha256
    }

    fn add(&mut self, bytes: &[u8]) {
        self.bytes += u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        self.hasher.update(bytes);
    }
}

impl Verifier<'_> {
    /// Processes the next line, without the line feed.
    fn line(&mut self, line: &[u8]) -> Option<Verdict> {
        self.lines += 1;
        let sealed = match check(line) {
            Ok(sealed) => sealed,
            Err(flaw) => {
                match &mut self.suspect {
                    Some(suspect) => {
                        suspect.add(b"\n");
                        suspect.add(line);
                    }
                    None => {
                        let mut suspect = UnparsedLines {
                            line: self.lines,
                            flaw,
                            bytes: 0,
                            hasher: Sha256::new(),
                        };
                        suspect.add(line);
                        self.suspect = Some(suspect);
                    }
                }
                return None;
            }
        };
        match (self.suspect.take(), &sealed.torn) {
            (None, None) => {}
            (Some(suspect), Some(torn)) if suspect.is(torn) => self.unfinished.push(suspect.line),
            (Some(suspect), _) => {
                return Some(Verdict::Flawed {
                    line: suspect.line,
                    flaw: suspect.flaw,
                });
            }
            // The record reports an unfinished line that does not exist.
            (None, Some(_)) => return Some(self.at(Flaw::Broken)),
        }
        let expected = self.link.seq + 1;
        if sealed.seq != expected {
            return Some(self.at(Flaw::Gap {
                found: sealed.seq,
                expected,
            }));
        }
        if sealed.prev != self.link.hash {
            return Some(self.at(Flaw::Broken));
        }
        self.has_expected |= self.expected == Some(&*sealed.hash);
        self.link = Link {
            seq: sealed.seq,
            hash: sealed.hash,
        };
        None
    }

    /// Returns the verdict about an invalid line.
    fn flawed(&mut self, flaw: Flaw) -> Verdict {
        self.lines += 1;
        match self.suspect.take() {
            Some(suspect) => Verdict::Flawed {
                line: suspect.line,
                flaw: suspect.flaw,
            },
            None => self.at(flaw),
        }
    }

    fn at(&self, flaw: Flaw) -> Verdict {
        Verdict::Flawed {
            line: self.lines,
            flaw,
        }
    }

    fn end(self) -> Verdict {
        match self.suspect {
            Some(UnparsedLines { line, flaw, .. }) => Verdict::Flawed { line, flaw },
            None => Verdict::Intact(Intact {
                records: self.link.seq,
                hash: self.link.hash,
                unfinished: self.unfinished,
                has_expected: self.has_expected,
            }),
        }
    }
}
