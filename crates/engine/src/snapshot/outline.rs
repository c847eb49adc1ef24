//! The outline of a snapshot that is too large for an answer: lines of the snapshot, and folds that stand for the others.

use super::facts::Layout;
use super::fold::{self, LineRange, Shown};
use super::line::{Line, LineKind, Lines, Rank, Rendered};
use crate::tokens::estimate_tokens;
use std::ops::Range;

/// How much an outline shows.
#[derive(Debug, Clone, Copy)]
struct Step {
    /// The number of siblings that are shown of each run of similar ones, and of each long run.
    head: [usize; 2],
    /// The lowest rank of lines that are shown anyway.
    rank: Rank,
}

/// The numbers of siblings that are shown of each run, in the order of preference.
const HEADS: &[[usize; 2]] = &[
    [50, 50],
    [20, 20],
    [10, 10],
    [5, 5],
    [3, 3],
    [1, 3],
    [0, 3],
    [0, 1],
];

/// The smallest number of siblings of a long run.
const LONG_RUN: usize = 10;

/// The largest size of a fold, in tokens.
const FOLD: usize = 24;

/// The largest size of what a fold opens in addition to the lines for which it stands, in tokens.
const OVERLAP: usize = 50;

impl Rendered {
    /// Returns only some lines, down to a level below them; `None` if they are not there. `prefix` is the part of all refs that targets are
    /// without.
    pub(crate) fn part(
        &self,
        range: &LineRange,
        prefix: &str,
        layout: Layout,
        depth: Option<u32>,
    ) -> Option<Self> {
        let lines: Vec<Line<'_>> = self.lines.iter(&self.text).collect();
        let lines = &lines[range.find(&lines, prefix)?];
        Some(part(lines, layout, depth))
    }

    /// Returns whether the text is larger than a number of tokens.
    pub(crate) fn is_larger_than(&self, tokens: usize) -> bool {
        self.text.len() > tokens && estimate_tokens(&self.text) > tokens
    }

    /// Returns the outline within a number of tokens.
    pub(crate) fn outline(&self, layout: Layout, tokens: usize) -> String {
        let lines: Vec<Line<'_>> = self.lines.iter(&self.text).collect();
        outline(&lines, layout, tokens)
    }
}

/// Renders some lines of a snapshot, down to a level below the outermost.
fn part(lines: &[Line<'_>], layout: Layout, depth: Option<u32>) -> Rendered {
    let level = outermost(lines);
    let deepest = level.saturating_add(depth.unwrap_or(u32::MAX));
    let mut text = String::new();
    let mut kept = Lines::default();
    for line in lines {
        let is_property = line.kind == LineKind::Property;
        if line.level <= deepest.saturating_add(is_property.into()) {
            let level = line.level - level;
            kept.push(text.len(), level, line.reference, line.kind);
            kept.set_rank(line.rank);
            write(level, line.text, layout, &mut text);
        }
    }
    text.pop();
    Rendered { text, lines: kept }
}

/// Renders the outline of some lines of a snapshot within a number of tokens.
///
/// A fold opens at most four fifths of that number. Only if there is no room for so many folds, each opens more, which is an outline again. A single line is
/// returned even if it is larger.
fn outline(lines: &[Line<'_>], layout: Layout, most: usize) -> String {
    let mut outline = Outline::of(lines, layout, most);
    for rank in &Rank::ALL[1..] {
        let step = |head: &[usize; 2]| Step {
            head: *head,
            rank: *rank,
        };
        let none = [0, 0];
        let Some(least) = outline.within(step(&none), most) else {
            continue;
        };
        let mut heads = HEADS.iter();
        let larger = heads.find_map(|head| Some((head, outline.within(step(head), most)?)));
        let (head, best) = larger.unwrap_or((&none, least));
        return outline.unfolded(step(head), best, most);
    }
    let mut out = Output::default();
    outline.fold_all(&mut out);
    if out.text.lines().count() == 1 {
        // The fold would open as itself: a line that is larger than the limit.
        out.text.clear();
        (0..lines.len()).for_each(|index| outline.write(index, &mut out));
    }
    out.text.pop();
    out.text
}

/// The text of an outline, without a final line break, and the lines for which its folds stand.
#[derive(Default)]
struct Output {
    text: String,
    folds: Vec<Range<usize>>,
}

struct Outline<'a> {
    lines: &'a [Line<'a>],
    layout: Layout,
    /// The level of the outermost line, which is not indented.
    level: u32,
    /// The sums of tokens before each line, and of all.
    tokens: Vec<usize>,
    /// The index after the last line below each line.
    ends: Vec<usize>,
    /// The highest rank of each line and those below it.
    ranks: Vec<Rank>,
    /// The lines that are shown whatever the step is.
    opened: Vec<bool>,
    /// The largest size of what is shown unfolded as one line, and of what a fold opens, in tokens.
    max_line: usize,
    max_fold: usize,
    /// The largest number of folds if there is nothing else.
    max_folds: usize,
}

impl<'a> Outline<'a> {
    fn of(lines: &'a [Line<'a>], layout: Layout, most: usize) -> Self {
        let mut outline = Self {
            lines,
            layout,
            level: outermost(lines),
            tokens: vec![0],
            ends: vec![lines.len(); lines.len()],
            ranks: lines.iter().map(|line| line.rank).collect(),
            opened: vec![false; lines.len()],
            max_line: most / 2,
            max_fold: most / 5 * 4,
            max_folds: (most / FOLD).max(2),
        };
        let mut open: Vec<usize> = Vec::new();
        let mut sum = 0;
        for (index, line) in lines.iter().enumerate() {
            while let Some(last) = open.pop_if(|last| lines[*last].level >= line.level) {
                outline.ends[last] = index;
            }
            for above in open.iter().rev() {
                if outline.ranks[*above] >= line.rank {
                    break;
                }
                outline.ranks[*above] = line.rank;
            }
            open.push(index);
            let indent = line.level > outline.level;
            sum += estimate_tokens(line.text) + 1 + usize::from(indent);
            outline.tokens.push(sum);
        }
        outline
    }

    /// Renders the outline of a step; `None` if it has more tokens.
    fn within(&self, step: Step, most: usize) -> Option<Output> {
        let mut out = Output::default();
        self.siblings(0..self.lines.len(), step, &mut out);
        out.text.pop();
        (estimate_tokens(&out.text) <= most).then_some(out)
    }

    /// Opens the smallest folds of an outline as long as there is room for what they stand for.
    fn unfolded(&mut self, step: Step, outline: Output, most: usize) -> String {
        let mut room = most - estimate_tokens(&outline.text).min(most);
        let mut folds = outline.folds;
        folds.sort_by_key(|fold| self.size(fold));
        for fold in folds {
            let Some(rest) = room.checked_sub(self.size(&fold)) else {
                break;
            };
            room = rest;
            self.opened[fold].fill(true);
        }
        self.within(step, most)
            .map_or(outline.text, |opened| opened.text)
    }

    fn size(&self, range: &Range<usize>) -> usize {
        self.tokens[range.end] - self.tokens[range.start]
    }

    /// Writes siblings with what is below them.
    fn siblings(&self, range: Range<usize>, step: Step, out: &mut Output) {
        let next = |index: &usize| self.ends.get(*index).copied();
        let siblings = std::iter::successors(Some(range.start), next);
        let siblings: Vec<usize> = siblings.take_while(|index| *index < range.end).collect();
        let is_element = |index: &&usize| self.lines[**index].kind != LineKind::Property;
        let is_alone = siblings.iter().filter(is_element).count() == 1;
        let mut folded: Option<Range<usize>> = None;
        for run in siblings.chunk_by(|one, next| self.lines[*one].kind == self.lines[*next].kind) {
            let kind = self.lines[run[0]].kind;
            // A fold takes as much as a few short lines.
            let head = match step.head[usize::from(run.len() >= LONG_RUN)] {
                head if head > 0 && run.len() <= head + 2 => run.len(),
                head => head,
            };
            for (place, index) in run.iter().enumerate() {
                let own = *index..self.ends[*index];
                let is_leaf = own.len() == 1;
                let is_opened = self.opened[*index];
                let is_shown = kind == LineKind::Property
                    || is_alone
                    || is_opened
                    || self.ranks[*index] >= step.rank
                    || place < head
                    || (self.size(&own) > self.max_fold && !is_leaf);
                let is_long = is_leaf && self.size(&own) > self.max_line;
                if !is_shown || (is_long && !is_alone && !is_opened) {
                    let start = folded.map_or(own.start, |folded| folded.start);
                    folded = Some(start..own.end);
                    continue;
                }
                if let Some(folded) = folded.take() {
                    self.fold(folded, self.max_fold, out);
                }
                self.write(*index, out);
                self.siblings(own.start + 1..own.end, step, out);
            }
        }
        if let Some(folded) = folded {
            self.fold(folded, self.max_fold, out);
        }
    }

    /// Writes folds for all lines.
    fn fold_all(&self, out: &mut Output) {
        let all = 0..self.lines.len();
        let most = self.max_fold.max(self.size(&all) / self.max_folds);
        self.fold(all, most, out);
    }

    /// Writes consecutive lines as folds of at most so many tokens.
    fn fold(&self, range: Range<usize>, most: usize, out: &mut Output) {
        let mut start = range.start;
        while start < range.end {
            let is_fitting = |end: &usize| self.size(&(start..*end)) <= most;
            let fitting = (start + 1..=range.end).take_while(is_fitting).count();
            let largest = start + fitting.max(1);
            let level = self.lines[start].level;
            let is_before_sibling = |end: &usize| {
                *end == range.end || (self.is_whole(*end) && self.lines[*end].level <= level)
            };
            let is_whole = |end: &usize| *end == range.end || self.is_whole(*end);
            let end = (start + 1..=largest)
                .rfind(is_before_sibling)
                .or_else(|| (start + 1..=largest).rfind(is_whole))
                .or_else(|| (largest..=range.end).find(is_whole))
                .unwrap_or(range.end);
            match self.size(&(start..end)) <= FOLD {
                true => (start..end).for_each(|index| self.write(index, out)),
                false => self.write_fold(start..end, out),
            }
            start = end;
        }
    }

    /// Returns whether nothing is below the line before this one.
    fn is_whole(&self, end: usize) -> bool {
        self.ends[end - 1] == end
    }

    fn write_fold(&self, range: Range<usize>, out: &mut Output) {
        let Some(target) = self.target(&range) else {
            // Nothing can open it.
            range.for_each(|index| self.write(index, out));
            return;
        };
        let part = &self.lines[range.clone()];
        let level = part.iter().map(|line| line.level).min().unwrap_or_default();
        let outermost = || part.iter().filter(|line| line.level == level);
        let kind = outermost().next().map(|line| line.kind);
        let is_same = part[0].level == level && outermost().all(|line| Some(line.kind) == kind);
        let (count, kind) = match kind {
            Some(LineKind::Element(role)) if is_same => (outermost().count(), role),
            Some(LineKind::Text) if is_same => (outermost().count(), "text"),
            _ => (part.len(), "line"),
        };
        let plural = match kind {
            _ if count == 1 => "",
            kind if kind.ends_with(['s', 'x']) || kind.ends_with("ch") => "es",
            _ => "s",
        };
        let item = match self.layout {
            Layout::Full => "- ",
            Layout::Compact => "",
        };
        let fold = format!("{item}… {count} more {kind}{plural} [ref={target}]");
        write(level - self.level, &fold, self.layout, &mut out.text);
        out.folds.push(range);
    }

    /// Returns the target that opens these lines, or `None` if no line before them or of them has a ref.
    fn target(&self, range: &Range<usize>) -> Option<String> {
        let lines = self.lines;
        let is_near = |from: usize, end: usize| from <= end && self.size(&(from..end)) <= OVERLAP;
        let has_ref = |index: &usize| lines[*index].reference.is_some();
        let after = |index: usize, line: usize| {
            let reference = lines[index].reference?;
            // A text has the ref of the element that contains it.
            let is_same = |line: &Line<'_>| line.reference == Some(reference);
            let index = lines[..index].iter().position(is_same).unwrap_or(index);
            let offset = line - index;
            Some(Shown { reference, offset })
        };
        let first = range.clone().find(has_ref);
        let first = first.filter(|first| is_near(fold::start(lines, *first), range.start));
        let from = match first {
            Some(first) => after(first, first)?,
            None => after((0..range.start).rfind(has_ref)?, range.start)?,
        };
        let last = range
            .clone()
            .rfind(|index| has_ref(index) && is_near(range.end, fold::end(lines, *index)));
        let last = last.map(|last| self.topmost(last, range));
        let to = match last {
            Some(last) => after(last, last)?,
            None => after((0..range.end).rfind(has_ref)?, range.end - 1)?,
        };
        let is_element = first == last && Some(range.start) == first;
        Some(
            match is_element && self.ends[range.start] == range.end && from == to {
                true => from.to_string(),
                false => format!("{from}..{}", to.without_context()),
            },
        )
    }

    /// Returns the outermost line of a range that has a ref and contains this last line.
    fn topmost(&self, last: usize, range: &Range<usize>) -> usize {
        let contains = |index: &usize| self.ends[*index] >= self.ends[last];
        let has_ref = |index: &usize| self.lines[*index].reference.is_some();
        let is_within = |index: &usize| self.ends[*index] <= range.end;
        let mut above = range.start..last;
        let found = above.find(|index| contains(index) && has_ref(index) && is_within(index));
        found.unwrap_or(last)
    }

    fn write(&self, index: usize, out: &mut Output) {
        let line = &self.lines[index];
        write(
            line.level - self.level,
            line.text,
            self.layout,
            &mut out.text,
        );
    }
}

/// Returns the level of the outermost lines.
fn outermost(lines: &[Line<'_>]) -> u32 {
    lines.iter().map(|line| line.level).min().unwrap_or(0)
}

fn write(level: u32, text: &str, layout: Layout, out: &mut String) {
    for _ in 0..level {
        out.push_str(layout.indent());
    }
    out.push_str(text);
    out.push('\n');
}
