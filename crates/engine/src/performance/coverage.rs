//! Coverage of scripts and style sheets: how much of each file is used, and all of it in the format of lcov. The files are the sources of
//! what was built with a source map.

use crate::backend::{CoveredRange, CoveredSource, SourceKind, SourcePosition};
use crate::source_map::MappedFile;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::sync::Arc;

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
    /// The URL, or the path of a source on the origin of the built file.
    pub url: String,
    /// The language.
    pub kind: SourceKind,
    /// The length in UTF-16 units: of a source, that of the built code.
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
    /// Computes the coverage of the sources. Those with a source map count for the files that they were built from; code that has no place
    /// in them is left out.
    pub(crate) fn of(sources: &[(CoveredSource, Option<Arc<MappedFile>>)]) -> Self {
        let mut files = Files::default();
        for (source, built) in sources {
            files.add(source, built.as_deref());
        }
        let mut lcov = String::new();
        for ((url, _), index) in &files.index {
            files.all[*index].write_lcov(url, &mut lcov);
        }
        let covered = files.index.iter().map(|((url, kind), index)| CoveredFile {
            url: url.to_string(),
            kind: *kind,
            length: files.all[*index].length,
            used: files.all[*index].used,
        });
        let mut covered: Vec<_> = covered.collect();
        covered.sort_by_key(|file| std::cmp::Reverse(file.length - file.used));
        Self {
            files: covered,
            lcov,
        }
    }
}

/// The files by their names.
#[derive(Default)]
struct Files {
    all: Vec<Lines>,
    index: BTreeMap<(Arc<str>, SourceKind), usize>,
}

/// The position that code counts for: the index of the file, and line and column from 1.
type CodePosition = (usize, usize, usize);

impl Files {
    fn index_of(&mut self, name: Arc<str>, kind: SourceKind) -> usize {
        let all = &mut self.all;
        *self.index.entry((name, kind)).or_insert_with(|| {
            all.push(Lines::default());
            all.len() - 1
        })
    }

    fn position_in(&mut self, position: SourcePosition, kind: SourceKind) -> CodePosition {
        let file = self.index_of(position.source, kind);
        (file, position.line as usize, position.column as usize)
    }

    fn add(&mut self, source: &CoveredSource, built: Option<&MappedFile>) {
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
        let own = match built {
            Some(_) => None,
            None => Some(self.index_of(source.url.as_str().into(), source.kind)),
        };
        let mut mappings = built.into_iter().flat_map(MappedFile::mappings).peekable();
        let mut place: Option<CodePosition> = own.map(|own| (own, source.first_line + 1, 1));
        // From 0, as in source maps.
        let (mut offset, mut line, mut column) = (0, 0, 0);
        for char in source.text.chars() {
            while let Some((at, original)) = mappings.next_if(|(at, _)| *at <= (line, column)) {
                // A mapping ends with its line.
                let original = original.filter(|_| at.0 == line);
                place = original.map(|original| self.position_in(original, source.kind));
            }
            while let Some((name, range)) = starts.next_if(|(_, range)| range.start <= offset) {
                let Some((place, name)) = (match built {
                    Some(built) => built
                        .declaration(name, line, column)
                        .map(|(name, at)| (self.position_in(at, source.kind), name)),
                    None => place.map(|place| (place, name.clone())),
                }) else {
                    continue;
                };
                let (file, line, column) = place;
                let name = match name.as_str() {
                    "" => format!("(anonymous@{line}:{column})"),
                    _ => name,
                };
                let functions = &mut self.all[file].functions;
                *functions.entry((line, name)).or_default() += range.count;
            }
            while runs.next_if(|(end, _)| *end <= offset).is_some() {}
            let count = runs.peek().map_or(0, |(_, count)| *count);
            let is_code = comment.is_code(source.kind, char);
            let units = char.len_utf16();
            if let Some((file, line_of_source, _)) = place {
                let file = &mut self.all[file];
                file.length += units;
                file.used += if count > 0 { units } else { 0 };
                if is_code && char.is_alphanumeric() {
                    let hits = file.lines.entry(line_of_source).or_default();
                    *hits = (*hits).max(count);
                }
            }
            offset += units;
            if char == '\n' {
                (line, column) = (line + 1, 0);
                place = own.map(|own| (own, source.first_line + 1 + line as usize, 1));
            } else {
                column += u32::try_from(units).unwrap_or(1);
                if own.is_some() {
                    place = place.map(|(file, line, column)| (file, line, column + units));
                }
            }
        }
    }
}

impl Lines {
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
        let report = CoverageReport::of(&[(source, None)]);
        let expected = "TN:\nSF:http://localhost/é.js\nFN:1,used\nFN:6,never\nFNDA:2,used\nFNDA:0,never\nFNF:2\nFNH:1\n\
            DA:1,2\nDA:2,2\nDA:3,0\nDA:6,0\nDA:7,1\nLF:5\nLH:3\nend_of_record\n";
        assert_eq!(report.lcov, expected);
        let [file] = &report.files[..] else { panic!() };
        let unused = "{\n    skipped();\n  }".len() + "function never() { return 1 }\n".len();
        assert_eq!((file.length, file.used), (text.len(), text.len() - unused));
    }

    #[test]
    fn built_code_counts_for_its_sources() {
        // Columns 0 and 26 of the first line are lines 3 and 7 of two sources; the second line has none.
        let text = "function n(){return 1}n();function t(){return 2}\n// no source\n";
        let map = r#"{"version": 3, "sources": ["src/a.ts", "src/b.ts"], "names": ["first", "second"],
            "mappings": "AAEA,SAASA,iBCIT,SAASC"}"#;
        let base = url::Url::parse("http://localhost/app.js").unwrap();
        let map = crate::source_map::SourceMap::parse(map, &base).unwrap();
        let at = |part: &str| text.find(part).unwrap();
        let source = CoveredSource {
            kind: SourceKind::Script,
            url: "http://localhost/app.js".to_owned(),
            first_line: 0,
            text: text.to_owned(),
            functions: vec![
                (String::new(), vec![range(0, text.len(), 1)]),
                ("n".to_owned(), vec![range(0, at("n();"), 1)]),
                ("t".to_owned(), vec![range(at("function t"), at("\n"), 0)]),
            ],
        };
        let built = Arc::new(MappedFile::new(map, text.to_owned()));
        let report = CoverageReport::of(&[(source, Some(built))]);
        let expected = "TN:\nSF:src/a.ts\nFN:3,first\nFNDA:1,first\nFNF:1\nFNH:1\nDA:3,1\nLF:1\nLH:1\nend_of_record\n\
            TN:\nSF:src/b.ts\nFN:7,second\nFNDA:0,second\nFNF:1\nFNH:0\nDA:7,0\nLF:1\nLH:0\nend_of_record\n";
        assert_eq!(report.lcov, expected);
        let names: Vec<_> = report.files.iter().map(|file| &*file.url).collect();
        assert_eq!(names, ["src/b.ts", "src/a.ts"]);
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
        let report = CoverageReport::of(&[(source, None)]);
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
