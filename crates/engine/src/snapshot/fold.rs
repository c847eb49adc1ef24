//! The targets of folds: consecutive lines of a snapshot, from one ref to another.

use super::line::{Line, LineKind, Ref};
use std::fmt;
use std::ops::Range;

/// Consecutive lines of a snapshot, such as `e12..e390`: the lines of both elements with all between them and below them. `e5+1..e5+200` are
/// lines without refs: the first to the 200th line after that of `e5`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineRange {
    from: Position,
    to: Position,
}

/// The line of a ref, or so many lines after it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Position {
    reference: String,
    offset: usize,
}

impl LineRange {
    /// Parses the target of a fold; `None` if it is the target of something else.
    #[must_use]
    pub fn parse(target: &str) -> Option<Self> {
        let (from, to) = target.trim().split_once("..")?;
        Some(Self {
            from: Position::parse(from)?,
            to: Position::parse(to)?,
        })
    }

    /// Returns the refs of the first and the last line.
    pub(crate) fn references(&self) -> [&str; 2] {
        [&self.from.reference, &self.to.reference]
    }

    /// Returns the indexes of the lines; `None` if the second ref is not after the first. `prefix` is the part of all refs that targets are
    /// without.
    pub(super) fn find(&self, lines: &[Line<'_>], prefix: &str) -> Option<Range<usize>> {
        let line = |position: &Position| {
            let is_own = |line: &Line<'_>| {
                let reference = line.reference;
                reference.is_some_and(|it| is_named(it, prefix, &position.reference))
            };
            let line = lines.iter().position(is_own)?;
            Some((line + position.offset).min(lines.len() - 1))
        };
        let (from, to) = (line(&self.from)?, line(&self.to)?);
        let start = match self.from.offset {
            0 => start(lines, from),
            _ => from,
        };
        let end = match self.to.offset {
            0 => end(lines, to),
            _ => to + 1,
        };
        (start < end).then_some(start..end)
    }
}

impl Position {
    fn parse(text: &str) -> Option<Self> {
        let (reference, offset) = text.split_once('+').unwrap_or((text, "0"));
        let (frame, number) = reference.rsplit_once('e')?;
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
        let is_frame = frame.is_empty() || frame.strip_prefix('f').is_some_and(is_number);
        (is_frame && is_number(number)).then_some(())?;
        Some(Self {
            reference: reference.to_owned(),
            offset: offset.parse().ok()?,
        })
    }
}

impl fmt::Display for LineRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.from, self.to)
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_position(f, &self.reference, self.offset)
    }
}

fn write_position(
    f: &mut fmt::Formatter<'_>,
    reference: impl fmt::Display,
    offset: usize,
) -> fmt::Result {
    reference.fmt(f)?;
    match offset {
        0 => Ok(()),
        offset => write!(f, "+{offset}"),
    }
}

fn is_named(reference: Ref<'_>, prefix: &str, wanted: &str) -> bool {
    let frame = reference.prefix.strip_prefix(prefix);
    let rest = frame.and_then(|frame| wanted.strip_prefix(frame));
    let number = rest.and_then(|rest| rest.strip_prefix('e'));
    number.is_some_and(|number| number.parse() == Ok(reference.number))
}

/// Returns where a range begins that begins with this line: the lines before it that have no ref belong to the range.
pub(super) fn start(lines: &[Line<'_>], line: usize) -> usize {
    let is_loose = |line: &&Line<'_>| line.reference.is_none() && line.kind != LineKind::Property;
    line - lines[..line].iter().rev().take_while(is_loose).count()
}

/// Returns where a range ends that ends with this line: what is below it, and the lines after that which have no ref, belong to the range.
pub(super) fn end(lines: &[Line<'_>], line: usize) -> usize {
    let level = lines[line].level;
    let below = lines[line + 1..].iter();
    let end = line + 1 + below.take_while(|line| line.level > level).count();
    let loose = lines[end..].iter();
    end + loose.take_while(|line| line.reference.is_none()).count()
}

/// An end of a range as a fold shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shown<'a> {
    pub(super) reference: Ref<'a>,
    pub(super) offset: usize,
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_position(f, self.reference, self.offset)
    }
}

impl Shown<'_> {
    /// Removes the name of the browser context from the ref, which the first ref of a range has.
    pub(super) fn without_context(self) -> Self {
        let prefix = self.reference.prefix;
        Self {
            reference: Ref {
                prefix: prefix.rsplit(':').next().unwrap_or(prefix),
                ..self.reference
            },
            ..self
        }
    }
}
