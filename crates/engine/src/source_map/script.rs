//! A built file with its source map: the positions and the functions of stack traces.

use super::SourceMap;
use crate::backend::SourcePosition;
use regex::{Captures, Regex};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

/// The largest number of occurrences of a name among which its definition is searched.
const MAX_OCCURRENCES: usize = 20_000;

/// The longest text from the begin of a function to its parameters, in characters.
const MAX_HEAD: usize = 300;

/// A script or a style sheet, and its source map.
#[derive(Debug)]
pub(crate) struct MappedFile {
    map: SourceMap,
    text: String,
    /// The offset of each line.
    lines: Vec<usize>,
}

impl MappedFile {
    pub(crate) fn new(map: SourceMap, text: String) -> Self {
        let breaks = line_starts(&text);
        let lines = std::iter::once(0).chain(breaks).collect();
        Self { map, text, lines }
    }

    /// Returns the position in a source of a position in the script, whose line and column are from 0.
    pub(crate) fn position(&self, line: u32, column: u32) -> Option<SourcePosition> {
        self.map.position(line, column)
    }

    /// Returns the positions in the file at which another part of a source begins, in order, and the positions there.
    pub(crate) fn mappings(&self) -> impl Iterator<Item = ((u32, u32), Option<SourcePosition>)> {
        self.map.mappings()
    }

    /// Returns the name in the source of a function that a stack trace names, such as `t.save`. The position is in the function.
    pub(crate) fn function(&self, name: &str, line: u32, column: u32) -> String {
        self.name_before(name, self.offset(line, column))
    }

    /// Returns the name and the position in the source of a function that begins at a position, such as `function t(e) {`.
    pub(crate) fn declaration(
        &self,
        name: &str,
        line: u32,
        column: u32,
    ) -> Option<(String, SourcePosition)> {
        let start = self.offset(line, column)?;
        let rest = self.text[start..].char_indices().take(MAX_HEAD);
        let head = rest.take_while(|(_, char)| !matches!(char, '(' | '=' | '{' | '\n'));
        let length = head.map(|(_, char)| char.len_utf8()).sum::<usize>();
        let width = self.text[start..start + length].encode_utf16().count();
        // The first mapping of a function may be that of its name.
        let column = column.checked_add(u32::try_from(width).ok()?)?;
        let position = self.position(line, column)?;
        Some((self.name_before(name, Some(start + length)), position))
    }

    /// Returns the name in the source of a function, from the last definitions of its parts before an offset.
    fn name_before(&self, name: &str, end: Option<usize>) -> String {
        let Some(end) = end.filter(|_| !self.map.names.is_empty()) else {
            return name.to_owned();
        };
        let mut function = String::new();
        let mut rest = name;
        while let Some(start) = rest.find(is_identifier) {
            let (before, word) = rest.split_at(start);
            let length = word.find(|char| !is_identifier(char)).unwrap_or(word.len());
            let (word, after) = word.split_at(length);
            function += before;
            function += self.defined_name(word, end).unwrap_or(word);
            rest = after;
        }
        function + rest
    }

    /// Returns the name in the source of the function, class or variable whose last definition before an offset has this name.
    fn defined_name(&self, word: &str, end: usize) -> Option<&str> {
        let occurrences = self.text[..end].rmatch_indices(word).take(MAX_OCCURRENCES);
        let mut definitions = occurrences.filter(|(at, _)| {
            let (before, after) = (&self.text[..*at], &self.text[at + word.len()..]);
            let is_word = !before.ends_with(is_identifier) && !after.starts_with(is_identifier);
            if !is_word {
                return false;
            }
            let (before, after) = (before.trim_end(), after.trim_start());
            let is_assigned = after.starts_with('=')
                && !after.starts_with("==")
                && !after.starts_with("=>")
                && !before.ends_with('.');
            let keywords = ["function", "function*", "class"];
            is_assigned || keywords.iter().any(|keyword| before.ends_with(keyword))
        });
        let (at, _) = definitions.next()?;
        let line = self.lines.partition_point(|start| *start <= at) - 1;
        let column = self.text[self.lines[line]..at].encode_utf16().count();
        self.map
            .name(u32::try_from(line).ok()?, u32::try_from(column).ok()?)
    }

    /// Returns the offset of a position.
    fn offset(&self, line: u32, column: u32) -> Option<usize> {
        let start = *self.lines.get(line as usize)?;
        let mut left = column as usize;
        for (index, char) in self.text[start..].char_indices() {
            if left == 0 || char == '\n' {
                return Some(start + index);
            }
            left = left.saturating_sub(char.len_utf16());
        }
        Some(self.text.len())
    }

    /// Returns the approximate size, in bytes.
    pub(super) fn size(&self) -> usize {
        self.map.size() + self.text.len() + self.lines.len() * size_of::<usize>()
    }
}

/// Returns the offsets after line breaks, as browsers count lines.
fn line_starts(text: &str) -> impl Iterator<Item = usize> {
    let breaks = text.char_indices().filter(|(at, char)| match char {
        '\n' | '\u{2028}' | '\u{2029}' => true,
        '\r' => !text[at + 1..].starts_with('\n'),
        _ => false,
    });
    breaks.map(|(at, char)| at + char.len_utf8())
}

fn is_identifier(char: char) -> bool {
    char.is_alphanumeric() || matches!(char, '_' | '$' | '#')
}

/// A line of a stack trace: its beginning, the name of the function if there is one, and the URL, line and column of the call.
fn frame() -> &'static Regex {
    static FRAME: OnceLock<Regex> = OnceLock::new();
    #[expect(clippy::expect_used, reason = "the pattern is constant")]
    FRAME.get_or_init(|| {
        Regex::new(r"(?m)^(\s*at (?:async )?)(?:(.*?) (\())?([a-z][a-z0-9+.-]*:\S*?):(\d+):(\d+)")
            .expect("a valid pattern")
    })
}

/// Returns the URLs of the scripts in the stack traces of a text.
pub(crate) fn scripts_of(text: &str) -> BTreeSet<String> {
    let frames = frame().captures_iter(text);
    frames.map(|frame| frame[4].to_owned()).collect()
}

/// Returns a text whose stack traces have the positions and functions of the sources, as far as the scripts have maps.
pub(crate) fn map_frames(text: &str, scripts: &BTreeMap<String, Arc<MappedFile>>) -> String {
    let mapped = frame().replace_all(text, |call: &Captures<'_>| {
        mapped_call(call, scripts).unwrap_or_else(|| call[0].to_owned())
    });
    mapped.into_owned()
}

fn mapped_call(call: &Captures<'_>, scripts: &BTreeMap<String, Arc<MappedFile>>) -> Option<String> {
    let script = scripts.get(&call[4])?;
    // Positions of stack traces are from 1.
    let place = |text: &str| text.parse::<u32>().ok()?.checked_sub(1);
    let (line, column) = (place(&call[5])?, place(&call[6])?);
    let position = script.position(line, column)?;
    let function = call
        .get(2)
        .map(|name| script.function(name.as_str(), line, column));
    let start = &call[1];
    Some(match function {
        Some(function) => format!("{start}{function} ({position}"),
        None => format!("{start}{position}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use url::Url;

    /// A script that esbuild has built from `src/cart.ts` and minified.
    const BUILT: &str = "(()=>{var e=class{add(r){n(r)}};function n(t){if(!t)throw new Error(\"no item\")}new e().add(0);})();\n";

    fn script() -> MappedFile {
        let base = Url::parse("http://localhost/app.js.map").unwrap();
        // `class Cart`, `function check` and the position of the throw.
        let text = r#"{"version": 3, "sources": ["src/cart.ts"], "names": ["Cart", "check"],
            "mappings": "UAAAA,mCAIAC,WAEE"}"#;
        let text = text.replace("UAAAA,mCAIAC,WAEE", &mappings());
        MappedFile::new(SourceMap::parse(&text, &base).unwrap(), BUILT.to_owned())
    }

    /// Encodes the mappings of the test by hand, so that columns follow from the text.
    fn mappings() -> String {
        let at = |word: &str| i64::try_from(BUILT.find(word).unwrap()).unwrap();
        let (class, function, thrown) = (at("e=class"), at("n(t)"), at("throw"));
        [
            [class, 0, 0, 0, 0].map(vlq).concat(),
            [function - class, 0, 4, 0, 1].map(vlq).concat(),
            [thrown - function, 0, 2, 2].map(vlq).concat(),
        ]
        .join(",")
    }

    fn vlq(number: i64) -> String {
        const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut rest = (number.unsigned_abs() << 1) | u64::from(number < 0);
        let mut text = String::new();
        loop {
            let more = u64::from(rest > 31) << 5;
            text.push(char::from(
                DIGITS[usize::try_from(rest & 31 | more).unwrap()],
            ));
            rest >>= 5;
            if rest == 0 {
                return text;
            }
        }
    }

    #[test]
    fn stack_traces_name_the_sources() {
        let column = BUILT.find("throw").unwrap() + 1;
        let text = format!(
            "Error: no item\n    at n (http://localhost/app.js:1:{column})\n    at async e.add (http://localhost/app.js:1:{column})\n    at http://localhost/app.js:1:{column}\n    at http://localhost/other.js:1:2\n    at async Promise.all (index 0) x"
        );
        let urls: Vec<_> = scripts_of(&text).into_iter().collect();
        assert_eq!(
            urls,
            ["http://localhost/app.js", "http://localhost/other.js"]
        );
        let scripts = BTreeMap::from([(urls[0].clone(), Arc::new(script()))]);
        assert_eq!(
            map_frames(&text, &scripts),
            "Error: no item\n    at check (src/cart.ts:7:3)\n    at async Cart.add (src/cart.ts:7:3)\n    at src/cart.ts:7:3\n    at http://localhost/other.js:1:2\n    at async Promise.all (index 0) x"
        );
    }

    #[test]
    fn a_function_without_a_name_in_the_map_keeps_its_name() {
        let script = script();
        let column = u32::try_from(BUILT.find("throw").unwrap()).unwrap();
        assert_eq!(script.function("t", 0, column), "t");
        assert_eq!(script.function("new e", 0, column), "new Cart");
        assert_eq!(script.function("<anonymous>", 0, column), "<anonymous>");
        assert_eq!(script.function("n", 9, 0), "n");
        assert_eq!(script.function("n", 0, u32::MAX), "check");
    }

    #[test]
    fn columns_are_utf16_units() {
        let script = MappedFile::new(SourceMap::default(), "é😀x\r\ny\u{2028}z".to_owned());
        assert_eq!(script.offset(0, 3), Some("é😀".len()));
        assert_eq!(script.lines.len(), 3);
        assert_eq!(script.offset(1, 0), Some("é😀x\r\n".len()));
        assert_eq!(script.offset(0, 2), Some("é😀".len()));
    }
}
