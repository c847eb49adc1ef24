//! The lines of a rendered snapshot: what each line shows, without another copy of the text.

use std::fmt;

/// A snapshot as text, without a final line break; empty for an empty page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rendered {
    pub(crate) text: String,
    pub(crate) lines: Lines,
}

/// The lines of a rendered snapshot, in order: 24 bytes each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lines {
    lines: Vec<Stored>,
    /// The prefixes of the refs and the roles of the lines, each once.
    prefixes: Vec<Box<str>>,
    roles: Vec<Box<str>>,
}

/// A line of a rendered snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'a> {
    /// The text without indentation and line break.
    pub text: &'a str,
    /// The number of lines above it that contain it.
    pub level: u32,
    /// The ref of its element, whether or not the text has it. A text has the ref of the wrapper that contains nothing else.
    pub reference: Option<Ref<'a>>,
    /// What it shows.
    pub kind: LineKind<'a>,
    pub(super) rank: Rank,
}

/// What an outline keeps longest, lowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum Rank {
    #[default]
    Other,
    Control,
    /// A control in a form or a dialog.
    InForm,
    /// A heading of level 4 to 6.
    LowHeading,
    /// A container other than a landmark, such as a table.
    Container,
    /// A heading of level 3.
    Heading,
    /// A control in the viewport.
    InView,
    /// A landmark, a form, a dialog, or a heading of level 1 or 2.
    Landmark,
    /// Nothing has this rank.
    Nothing,
}

impl Rank {
    /// All ranks in their order.
    pub(super) const ALL: [Self; 9] = [
        Self::Other,
        Self::Control,
        Self::InForm,
        Self::LowHeading,
        Self::Container,
        Self::Heading,
        Self::InView,
        Self::Landmark,
        Self::Nothing,
    ];
}

/// What a line of a snapshot shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LineKind<'a> {
    /// A text between elements.
    Text,
    /// A property of the line above, such as `/url` in the full layout.
    Property,
    /// An element with this role.
    Element(&'a str),
}

/// A ref, which formats as in a snapshot, such as `f1e5`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ref<'a> {
    pub(super) prefix: &'a str,
    pub(super) number: u32,
}

impl fmt::Display for Ref<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}e{}", self.prefix, self.number)
    }
}

/// A line as it is stored. Its text ends where the next line begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stored {
    /// Where it begins, in bytes.
    start: u32,
    level: u32,
    /// The number of its ref, which is greater than 0, or 0.
    number: u32,
    /// The index of the prefix of its ref.
    prefix: u32,
    /// The index of its role, or `TEXT`, or `PROPERTY`.
    kind: u32,
    rank: Rank,
}

const TEXT: u32 = u32::MAX;
const PROPERTY: u32 = u32::MAX - 1;

impl Lines {
    /// Returns the lines of the text for which this was created, in order.
    pub fn iter<'a>(&'a self, text: &'a str) -> impl Iterator<Item = Line<'a>> {
        let starts = self.lines.iter().skip(1).map(|line| line.start as usize);
        let ends = starts.map(|start| start - 1).chain([text.len()]);
        self.lines.iter().zip(ends).map(|(line, end)| Line {
            text: text[line.start as usize..end].trim_start_matches(' '),
            level: line.level,
            reference: (line.number > 0).then(|| Ref {
                prefix: &self.prefixes[line.prefix as usize],
                number: line.number,
            }),
            kind: match line.kind {
                TEXT => LineKind::Text,
                PROPERTY => LineKind::Property,
                role => LineKind::Element(&self.roles[role as usize]),
            },
            rank: line.rank,
        })
    }

    /// Returns the number of lines.
    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// Returns the size in memory, in bytes.
    pub(crate) fn size(&self) -> usize {
        self.lines.len() * size_of::<Stored>()
    }

    /// Adds a line that begins at a byte of the text.
    pub(super) fn push(
        &mut self,
        start: usize,
        level: u32,
        reference: Option<Ref<'_>>,
        kind: LineKind<'_>,
    ) {
        let prefix = reference.map_or(0, |it| index(&mut self.prefixes, it.prefix));
        let kind = match kind {
            LineKind::Text => TEXT,
            LineKind::Property => PROPERTY,
            LineKind::Element(role) => index(&mut self.roles, role),
        };
        self.lines.push(Stored {
            start: number(start),
            level,
            number: reference.map_or(0, |it| it.number),
            prefix,
            kind,
            rank: Rank::Other,
        });
    }

    /// Sets the rank of the last line.
    pub(super) fn set_rank(&mut self, rank: Rank) {
        if let Some(last) = self.lines.last_mut() {
            last.rank = rank;
        }
    }
}

/// Returns the index of a name, which is added if it is new.
fn index(names: &mut Vec<Box<str>>, name: &str) -> u32 {
    let known = names.iter().rposition(|known| **known == *name);
    number(known.unwrap_or_else(|| {
        names.push(name.into());
        names.len() - 1
    }))
}

/// Converts a number that the limits on the size of a snapshot keep small.
fn number(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
