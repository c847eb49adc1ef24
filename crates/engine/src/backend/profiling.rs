//! The files and facts of traces, heap snapshots and coverage.

use super::SourcePosition;
use crate::error::{Error, Result};
use std::fmt;
use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;

/// An open file to which a profile is written in parts.
#[derive(Debug)]
pub struct OutputFile {
    /// The file.
    pub file: File,
    /// The path of the file, for errors.
    pub path: PathBuf,
}

impl OutputFile {
    /// Appends a part.
    pub(crate) fn append(&mut self, part: &[u8]) -> Result<()> {
        self.file.write_all(part).map_err(|error| Error::File {
            path: self.path.display().to_string(),
            reason: format!("{} cannot be written: {error}", self.path.display()),
        })
    }
}

/// A function that a profile names. Line and column are from 1; 0 where they are not known.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FunctionPosition {
    /// The name, or `(anonymous)`.
    pub name: String,
    /// The URL of the script; empty for work of the engine itself.
    pub url: String,
    /// The line.
    pub line: u32,
    /// The column, in UTF-16 units.
    pub column: u32,
    /// The position in the source from which the script was built, with a source map.
    pub source: Option<SourcePosition>,
}

/// The format: `work http://localhost/app.js:3`, `checkName src/cart.ts:4:20`.
impl fmt::Display for FunctionPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, url, .. } = self;
        match (&self.source, self.line) {
            (Some(source), _) => write!(f, "{name} {source}"),
            (None, _) if url.is_empty() => f.write_str(name),
            (None, 0) => write!(f, "{name} {url}"),
            (None, line) => write!(f, "{name} {url}:{line}"),
        }
    }
}

/// The language of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SourceKind {
    /// JavaScript.
    Script,
    /// CSS.
    StyleSheet,
}

/// A script or a style sheet with its coverage. Offsets are in UTF-16 units.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoveredSource {
    /// The language.
    pub kind: SourceKind,
    /// The URL of the source, or of the document that contains it.
    pub url: String,
    /// The line of the document in which an inline source begins, from 0.
    pub first_line: usize,
    /// The source.
    pub text: String,
    /// The ranges of each function, the outermost first. The innermost range at an offset counts. Other offsets were not executed.
    pub functions: Vec<(String, Vec<CoveredRange>)>,
}

/// A part of a source and how often it was executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CoveredRange {
    /// The first offset.
    pub start: usize,
    /// The offset after the last one.
    pub end: usize,
    /// The number of executions; 1 for a used rule of a style sheet.
    pub count: u64,
}
