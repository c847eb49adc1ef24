//! Checking a whole audit log.

use super::chain::{Flaw, Link, TornRecord, check, hex};
use sha2::{Digest as _, Sha256};
use std::io::{self, BufRead};

/// The longest line that can be a record, in bytes.
pub(super) const MAX_LINE: usize = 1024 * 1024;

/// What a log is found to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Each record continues the one before it.
    Intact(Intact),
    /// The first line that does not.
    Flawed {
        /// Its number, from 1.
        line: u64,
        /// What is wrong with it.
        flaw: Flaw,
    },
}

/// A log without flaws.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Intact {
    /// How many records there are.
    pub(crate) records: u64,
    /// The hash of the last one.
    pub(crate) hash: String,
    /// The lines that a server left unfinished when it was killed, as the next server found and recorded them.
    pub(crate) unfinished: Vec<u64>,
    /// Whether one of the records has the hash that was looked for.
    pub(crate) has_expected: bool,
}

/// Reads a log to its end, or to its first flaw. `expected` is the hash of a record that is looked for.
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
            // The last one.
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
    /// How many lines were read.
    lines: u64,
    unfinished: Vec<u64>,
    suspect: Option<UnparsedLines>,
    expected: Option<&'a str>,
    has_expected: bool,
}

/// Lines that are no records, which the next record may explain.
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
    /// Takes the next line, without its end.
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
            // What it speaks of is not there.
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

    /// The verdict over a line that was read and not taken.
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
