//! The outline of a snapshot that is too large for an answer: lines of the snapshot, and folds that stand for the others.

use super::facts::Layout;
use super::fold::{self, LineRange, Shown};
use super::label::label;
use super::line::{Line, LineKind, Lines, Rank, Ref, Rendered};
use crate::tokens::estimate_tokens;
use std::collections::HashMap;
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

/// The largest size of a fold, in tokens, with names and without.
const FOLD: usize = 36;
const SHORT_FOLD: usize = 24;

/// The smallest limit with room for names in folds, and for more than folds on any page, in tokens.
const MIN_NAMED: usize = 1_000;

/// The lines at the beginning of a page that are shown in any case.
const FIRST_LINES: usize = 10;

/// The part of the size that is used, in percent, if there is more to show, and the most attempts.
const USED: usize = 92;
const ATTEMPTS: usize = 4;

/// How often an outline is rendered to find out how many lines it has room for.
const TRIES: usize = 6;

/// The most bytes of a token: a longer text is not rendered to its end.
const TOKEN_BYTES: usize = 16;

/// The largest size of what a fold opens in addition to the lines for which it stands, in tokens.
const OVERLAP: usize = 50;

/// Consecutive lines of a snapshot, down to a level below the outermost of them.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    range: Range<usize>,
    depth: Option<u32>,
}

impl Part {
    /// Returns whether a line, whose part begins at this level, is too deep to be shown.
    fn is_deeper(&self, level: u32, line: &Line<'_>) -> bool {
        let deepest = level.saturating_add(self.depth.unwrap_or(u32::MAX));
        let is_property = line.kind == LineKind::Property;
        line.level > deepest.saturating_add(is_property.into())
    }
}

impl Rendered {
    /// Returns all lines, down to a level below the outermost.
    pub(crate) fn all(&self, depth: Option<u32>) -> Part {
        let range = 0..self.lines.len();
        Part { range, depth }
    }

    /// Returns the lines of a range, down to a level below the outermost; `None` if they are not there. `prefix` is the part of all refs that
    /// targets are without.
    pub(crate) fn find(&self, range: &LineRange, prefix: &str, depth: Option<u32>) -> Option<Part> {
        let lines: Vec<Line<'_>> = self.lines.iter(&self.text).collect();
        let range = range.find(&lines, prefix)?;
        Some(Part { range, depth })
    }

    /// Returns only these lines.
    pub(crate) fn part(&self, part: &Part, layout: Layout) -> Self {
        let lines: Vec<Line<'_>> = self.lines.iter(&self.text).collect();
        let level = outermost(&lines[part.range.clone()]);
        let mut text = String::new();
        let mut kept = Lines::default();
        for line in &lines[part.range.clone()] {
            if !part.is_deeper(level, line) {
                let level = line.level - level;
                kept.push(text.len(), level, line.reference, line.kind);
                kept.set_rank(line.rank);
                write(level, line.text, layout, &mut text);
            }
        }
        text.pop();
        Self { text, lines: kept }
    }

    /// Returns whether the text is larger than a number of tokens.
    pub(crate) fn is_larger_than(&self, tokens: usize) -> bool {
        self.text.len() > tokens && estimate_tokens(&self.text) > tokens
    }

    /// Returns the outline of some lines within a number of tokens.
    ///
    /// A fold opens at most four fifths of that number. Only if there is no room for so many folds, each opens more, which is an outline again. A single
    /// line is returned even if it is larger.
    pub(crate) fn outline(&self, part: &Part, layout: Layout, most: usize) -> String {
        let lines: Vec<Line<'_>> = self.lines.iter(&self.text).collect();
        let mut outline = Outline::of(&lines, part, layout, most);
        let Some((step, best)) = outline
            .best_step(most)
            .or_else(|| outline.with_larger_folds(most))
        else {
            return outline.folded();
        };
        let best = outline.with_structure(step, best, most);
        let best = outline.unfolded(step, best, most);
        outline.filled(step, best, most).text
    }
}

/// The text of an outline, without a final line break, and the lines for which its folds stand.
#[derive(Default)]
struct Output {
    text: String,
    folds: Vec<Range<usize>>,
    /// The size after which the rest is not written, in bytes; 0 if there is none.
    most: usize,
}

impl Output {
    fn is_full(&self) -> bool {
        self.most > 0 && self.text.len() > self.most
    }
}

struct Outline<'a> {
    /// All lines of the snapshot: the targets of folds refer to them.
    lines: &'a [Line<'a>],
    /// The lines of the outline.
    part: &'a Part,
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
    /// The line that contains each line.
    parents: Vec<Option<usize>>,
    /// The first line with each ref.
    places: HashMap<Ref<'a>, usize>,
    /// The largest size of what is shown unfolded as one line, and of what a fold opens, in tokens.
    max_line: usize,
    max_fold: usize,
    /// The largest number of folds if there is nothing else.
    max_folds: usize,
    /// Whether folds show the first and last name in them.
    has_names: bool,
}

impl<'a> Outline<'a> {
    fn of(lines: &'a [Line<'a>], part: &'a Part, layout: Layout, most: usize) -> Self {
        let mut outline = Self {
            lines,
            part,
            layout,
            level: outermost(&lines[part.range.clone()]),
            tokens: vec![0],
            ends: vec![lines.len(); lines.len()],
            ranks: lines.iter().map(|line| line.rank).collect(),
            opened: vec![false; lines.len()],
            parents: Vec::with_capacity(lines.len()),
            places: HashMap::new(),
            max_line: most / 2,
            max_fold: most / 5 * 4,
            max_folds: (most / SHORT_FOLD).max(2),
            has_names: most >= MIN_NAMED,
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
            outline.parents.push(open.last().copied());
            open.push(index);
            if let Some(reference) = line.reference {
                outline.places.entry(reference).or_insert(index);
            }
            if !part.is_deeper(outline.level, line) {
                let indent = line.level > outline.level;
                sum += estimate_tokens(line.text) + 1 + usize::from(indent);
            }
            outline.tokens.push(sum);
        }
        // A range can end in an element.
        for end in &mut outline.ends {
            *end = part.range.end.min(*end);
        }
        outline
    }

    /// Renders the outline of a step; `None` if it has more tokens.
    fn within(&self, step: Step, most: usize) -> Option<Output> {
        let mut out = Output {
            most: most * TOKEN_BYTES,
            ..Output::default()
        };
        self.siblings(self.part.range.clone(), step, &mut out);
        out.text.pop();
        (estimate_tokens(&out.text) <= most).then_some(out)
    }

    /// Returns the step that shows most within the limit, with its outline.
    fn best_step(&self, most: usize) -> Option<(Step, Output)> {
        Rank::ALL[1..].iter().find_map(|rank| {
            let step = |head: &[usize; 2]| Step {
                head: *head,
                rank: *rank,
            };
            let none = step(&[0, 0]);
            let least = self.within(none, most)?;
            let mut heads = HEADS.iter().map(step);
            let larger = heads.find_map(|step| Some((step, self.within(step, most)?)));
            Some(larger.unwrap_or((none, least)))
        })
    }

    /// Lets folds open as outlines, so that fewer of them are needed; `None` if even they take all the room.
    fn with_larger_folds(&mut self, most: usize) -> Option<(Step, Output)> {
        if most < MIN_NAMED {
            return None;
        }
        let total = self.size(&self.part.range);
        let largest = most * most / (4 * FOLD);
        let step = Step {
            head: [0, 0],
            rank: Rank::Nothing,
        };
        [4, 2].into_iter().find_map(|part| {
            let max_fold = total / (most / FOLD / part).max(1);
            let before = std::mem::replace(&mut self.max_fold, max_fold);
            let out = (max_fold <= largest).then(|| self.within(step, most / 2));
            let found = out.flatten().map(|out| (step, out));
            if found.is_none() {
                self.max_fold = before;
            }
            found
        })
    }

    /// Opens the smallest folds of an outline as long as there is room for what they stand for.
    fn unfolded(&mut self, step: Step, outline: Output, most: usize) -> Output {
        let mut room = most - estimate_tokens(&outline.text).min(most);
        let mut folds = outline.folds.clone();
        folds.sort_by_key(|fold| self.size(fold));
        let before = self.opened.clone();
        for fold in folds {
            let Some(rest) = room.checked_sub(self.size(&fold)) else {
                break;
            };
            room = rest;
            self.opened[fold].fill(true);
        }
        self.within(step, most).unwrap_or_else(|| {
            self.opened = before;
            outline
        })
    }

    /// Opens the first lines of the page, its landmarks and its headings, as far as they take three quarters of the room.
    fn with_structure(&mut self, step: Step, outline: Output, most: usize) -> Output {
        let all = || self.part.range.clone();
        let mut lines: Vec<usize> = all().take(FIRST_LINES).collect();
        for rank in [Rank::Landmark, Rank::Heading] {
            lines.extend(all().filter(|index| self.lines[*index].rank == rank));
        }
        let used = estimate_tokens(&outline.text).min(most);
        self.opening(&lines, step, used + (most - used) / 4 * 3)
            .unwrap_or(outline)
    }

    /// Opens the first folded lines as long as there is room.
    fn filled(&mut self, step: Step, mut outline: Output, most: usize) -> Output {
        for _ in 0..ATTEMPTS {
            let used = estimate_tokens(&outline.text);
            if outline.folds.is_empty() || used * 100 >= most * USED {
                break;
            }
            let folded = outline.folds.iter().flat_map(Range::clone);
            let is_small = |index: &usize| used + self.size(&(*index..index + 1)) < most;
            let lines: Vec<usize> = folded.filter(is_small).collect();
            match self.opening(&lines, step, most) {
                Some(larger) => outline = larger,
                None => break,
            }
        }
        outline
    }

    /// Opens as many of these lines as there is room for, with those that contain them; `None` if there is none.
    fn opening(&mut self, lines: &[usize], step: Step, most: usize) -> Option<Output> {
        let before = self.opened.clone();
        let mut best = None;
        let (mut fits, mut exceeds) = (0, lines.len() + 1);
        // The sizes of the lines alone are a first limit.
        let mut sum = 0;
        let mut next = lines.iter().take_while(|index| {
            sum += self.size(&(**index..**index + 1));
            sum <= most
        });
        let mut count = next.by_ref().count();
        for _ in 0..TRIES {
            if fits + 1 >= exceeds {
                break;
            }
            count = count.clamp(fits + 1, exceeds - 1);
            self.opened.clone_from(&before);
            for index in &lines[..count] {
                self.open(*index);
            }
            match self.within(step, most) {
                Some(out) => {
                    let used = estimate_tokens(&out.text);
                    best = Some((out, self.opened.clone()));
                    fits = count;
                    if used * 100 >= most * USED {
                        break;
                    }
                }
                None => exceeds = count,
            }
            count = usize::midpoint(fits, exceeds);
        }
        self.opened = before;
        let (out, opened) = best?;
        self.opened = opened;
        Some(out)
    }

    /// Opens a line and those that contain it.
    fn open(&mut self, index: usize) {
        let mut line = Some(index);
        while let Some(index) = line.filter(|index| !self.opened[*index]) {
            self.opened[index] = true;
            line = self.parents[index];
        }
    }

    fn size(&self, range: &Range<usize>) -> usize {
        self.tokens[range.end] - self.tokens[range.start]
    }

    /// Writes siblings with what is below them.
    fn siblings(&self, range: Range<usize>, step: Step, out: &mut Output) {
        if out.is_full() {
            return;
        }
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
                if out.is_full() {
                    return;
                }
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

    /// Returns nothing but folds, as large as needed.
    fn folded(&mut self) -> String {
        self.has_names = false;
        let all = self.part.range.clone();
        let most = self.max_fold.max(self.size(&all) / self.max_folds);
        let mut out = Output::default();
        self.fold(all.clone(), most, &mut out);
        if out.text.lines().count() == 1 {
            // The fold would open as itself: a line that is larger than the limit.
            out.text.clear();
            all.for_each(|index| self.write(index, &mut out));
        }
        out.text.pop();
        out.text
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
            match self.size(&(start..end)) <= SHORT_FOLD {
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
        let names = self.has_names.then(|| label(part, self.layout));
        let names = names.filter(|names| !names.is_empty());
        let label = names.map_or_else(String::new, |names| format!(": {names}"));
        let fold = format!("{item}… {count} more {kind}{plural}{label} [ref={target}]");
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
            let index = self.places.get(&reference).copied().unwrap_or(index);
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
        if !self.part.is_deeper(self.level, line) {
            let level = line.level - self.level;
            write(level, line.text, self.layout, &mut out.text);
        }
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
