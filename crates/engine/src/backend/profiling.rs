//! The files and facts of traces, heap snapshots and coverage.

use crate::error::{Error, Result};
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
