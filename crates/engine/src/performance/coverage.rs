//! Coverage of scripts and style sheets: how much of each file is used, and all of it in the format of lcov.

use crate::backend::{CoveredRange, CoveredSource, SourceKind};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

/// The coverage of all files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoverageReport {
    /// The files, those with the most unused text first.
    pub files: Vec<CoveredFile>,
    /// All lines and functions in the format of lcov.
    pub lcov: String,
}

/// How much of a file is used. Sources with the same URL, such as the inline scripts of a document, are one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoveredFile {
    /// The URL.
    pub url: String,
    /// The language.
    pub kind: SourceKind,
    /// The length in UTF-16 units.
    pub length: usize,
    /// The length of the parts that are used.
    pub used: usize,
}

/// The lines and functions of a file.
#[derive(Default)]
struct Lines {
    /// The executions of each line that contains code, by its number from 1.
    lines: BTreeMap<usize, u64>,
    /// The executions of each function, by its line and name.
    functions: BTreeMap<(usize, String), u64>,
    length: usize,
    used: usize,
}

impl CoverageReport {
    /// Computes the coverage of the sources.
    pub(crate) fn of(sources: &[CoveredSource]) -> Self {
        let mut files: BTreeMap<(&str, SourceKind), Lines> = BTreeMap::new();
        for source in sources {
            let file = files.entry((&source.url, source.kind)).or_default();
            file.add(source);
        }
        let mut lcov = String::new();
        for ((url, _), file) in &files {
            file.write_lcov(url, &mut lcov);
        }
        let mut files: Vec<_> = files
            .into_iter()
            .map(|((url, kind), file)| CoveredFile {
                url: url.to_owned(),
                kind,
                length: file.length,
                used: file.used,
            })
            .collect();
        files.sort_by_key(|file| std::cmp::Reverse(file.length - file.used));
        Self { files, lcov }
    }
}

impl Lines {
    fn add(&mut self, source: &CoveredSource) {
        let counts = Counts::of(source);
        let starts: Vec<_> = source
            .functions
            .iter()
            .filter_map(|(name, ranges)| Some((name, *ranges.first()?)))
            // The function around a script is the script itself.
            .filter(|(name, range)| {
                source.kind == SourceKind::Script && (!name.is_empty() || range.start > 0)
            })
            .collect();
        let mut starts = {
            let mut starts = starts;
            starts.sort_by_key(|(_, range)| range.start);
            starts.into_iter().peekable()
        };
        let mut runs = counts.runs.iter().peekable();
        let mut comment = Comment::default();
        let (mut offset, mut line, mut column) = (0, source.first_line + 1, 1);
        for char in source.text.chars() {
            while let Some((name, range)) = starts.next_if(|(_, range)| range.start <= offset) {
                let name = match name.as_str() {
                    "" => format!("(anonymous@{line}:{column})"),
                    name => name.to_owned(),
                };
                *self.functions.entry((line, name)).or_default() += range.count;
            }
            while runs.next_if(|(end, _)| *end <= offset).is_some() {}
            let count = runs.peek().map_or(0, |(_, count)| *count);
            let is_code = comment.is_code(source.kind, char);
            let units = char.len_utf16();
            self.length += units;
            self.used += if count > 0 { units } else { 0 };
            if is_code && char.is_alphanumeric() {
                let hits = self.lines.entry(line).or_default();
                *hits = (*hits).max(count);
            }
            offset += units;
            column += units;
            if char == '\n' {
                (line, column) = (line + 1, 1);
            }
        }
    }

    fn write_lcov(&self, url: &str, lcov: &mut String) {
        // Writing to a string does not fail.
        let _ = writeln!(lcov, "TN:\nSF:{}", url.replace(['\n', '\r'], ""));
        // The name of a function identifies it, so those of several functions get a line.
        let mut uses: HashMap<&str, usize> = HashMap::new();
        for (_, name) in self.functions.keys() {
            *uses.entry(name).or_default() += 1;
        }
        let unique = |line: &usize, name: &str| match uses.get(name) {
            Some(2..) => format!("{name}@{line}"),
            _ => name.to_owned(),
        };
        for (line, name) in self.functions.keys() {
            let _ = writeln!(lcov, "FN:{line},{}", unique(line, name));
        }
        for ((line, name), count) in &self.functions {
            let _ = writeln!(lcov, "FNDA:{count},{}", unique(line, name));
        }
        let executed = self.functions.values().filter(|count| **count > 0).count();
        let _ = writeln!(lcov, "FNF:{}\nFNH:{executed}", self.functions.len());
        for (line, count) in &self.lines {
            let _ = writeln!(lcov, "DA:{line},{count}");
        }
        let hit = self.lines.values().filter(|count| **count > 0).count();
        let _ = writeln!(lcov, "LF:{}\nLH:{hit}\nend_of_record", self.lines.len());
    }
}

/// The executions of each part of a source: the end of a run and its count, in order.
struct Counts {
    runs: Vec<(usize, u64)>,
}

impl Counts {
    /// Flattens nested ranges; the innermost one counts.
    fn of(source: &CoveredSource) -> Self {
        let mut ranges: Vec<CoveredRange> = source
            .functions
            .iter()
            .flat_map(|(_, ranges)| ranges.iter().copied())
            .filter(|range| range.start < range.end)
            .collect();
        // An outer range comes before those in it.
        ranges.sort_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
        let mut runs = Vec::new();
        let mut open: Vec<CoveredRange> = Vec::new();
        let mut at = 0;
        let close_until = |open: &mut Vec<CoveredRange>, at: &mut usize, runs: &mut Vec<_>, to| {
            while let Some(range) = open.pop_if(|range| range.end <= to) {
                if range.end > *at {
                    runs.push((range.end, range.count));
                    *at = range.end;
                }
            }
        };
        for range in ranges {
            close_until(&mut open, &mut at, &mut runs, range.start);
            if range.start > at {
                runs.push((range.start, open.last().map_or(0, |outer| outer.count)));
                at = range.start;
            }
            open.push(range);
        }
        close_until(&mut open, &mut at, &mut runs, usize::MAX);
        Self { runs }
    }
}

/// Whether a position of a style sheet is in a comment. Comments of scripts are not recognized, because a `/*` may be part of a string.
#[derive(Default)]
struct Comment {
    is_open: bool,
    previous: char,
}

impl Comment {
    fn is_code(&mut self, kind: SourceKind, char: char) -> bool {
        if kind == SourceKind::Script {
            return true;
        }
        let was_open = self.is_open;
        match (self.previous, char) {
            ('/', '*') if !self.is_open => self.is_open = true,
            ('*', '/') if self.is_open => self.is_open = false,
            _ => {}
        }
        self.previous = char;
        !was_open && !self.is_open
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(start: usize, end: usize, count: u64) -> CoveredRange {
        CoveredRange { start, end, count }
    }

    #[test]
    fn the_innermost_range_decides_and_lines_have_the_largest_count() {
        let text = "function used() {\n  if (no) {\n    skipped();\n  }\n}\nfunction never() { return 1 }\nused(); used();\n";
        let at = |part: &str| text.find(part).unwrap();
        let source = CoveredSource {
            kind: SourceKind::Script,
            url: "http://localhost/é.js".to_owned(),
            first_line: 0,
            text: text.to_owned(),
            functions: vec![
                (String::new(), vec![range(0, text.len(), 1)]),
                (
                    "used".to_owned(),
                    vec![
                        range(0, at("function never") - 1, 2),
                        range(at("{\n    skipped"), at("}\n}") + 1, 0),
                    ],
                ),
                (
                    "never".to_owned(),
                    vec![range(at("function never"), at("used(); used"), 0)],
                ),
            ],
        };
        let report = CoverageReport::of(&[source]);
        let expected = "TN:\nSF:http://localhost/é.js\nFN:1,used\nFN:6,never\nFNDA:2,used\nFNDA:0,never\nFNF:2\nFNH:1\n\
            DA:1,2\nDA:2,2\nDA:3,0\nDA:6,0\nDA:7,1\nLF:5\nLH:3\nend_of_record\n";
        assert_eq!(report.lcov, expected);
        let [file] = &report.files[..] else { panic!() };
        let unused = "{\n    skipped();\n  }".len() + "function never() { return 1 }\n".len();
        assert_eq!((file.length, file.used), (text.len(), text.len() - unused));
    }

    #[test]
    fn offsets_count_utf16_units_and_comments_of_style_sheets_are_no_lines() {
        let text = "/* 😀 note */\n.a { color: red }\n.b { color: blue }\n";
        let start = text
            .chars()
            .take_while(|char| *char != '.')
            .map(char::len_utf16)
            .sum();
        let source = CoveredSource {
            kind: SourceKind::StyleSheet,
            url: "u".to_owned(),
            first_line: 4,
            text: text.to_owned(),
            functions: vec![(String::new(), vec![range(start, start + 17, 1)])],
        };
        let report = CoverageReport::of(&[source]);
        assert!(
            report
                .lcov
                .contains("FNF:0\nFNH:0\nDA:6,1\nDA:7,0\nLF:2\nLH:1\n"),
            "{}",
            report.lcov
        );
        assert_eq!(report.files[0].used, 17);
    }
}
