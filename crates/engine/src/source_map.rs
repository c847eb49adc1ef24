//! Source maps: the positions in the sources from which a script or a style sheet was built. <https://tc39.es/ecma426/>

mod cache;
mod script;

pub(crate) use cache::SourceMaps;
pub(crate) use script::{MappedFile, map_frames, scripts_of};

use crate::backend::SourcePosition;
use crate::text::shorten;
use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use percent_encoding::percent_decode_str;
use serde::Deserialize;
use std::sync::Arc;
use url::Url;

/// The largest number of mappings that are used; later ones are ignored.
const MAX_MAPPINGS: usize = 2_000_000;
/// The largest size of the name of a source or a function, in bytes.
const MAX_NAME_LENGTH: usize = 200;

/// A source map. Lines and columns of mappings are from 0; columns are in UTF-16 units.
#[derive(Debug, Default)]
pub(crate) struct SourceMap {
    sources: Vec<Option<Arc<str>>>,
    names: Vec<String>,
    /// The mappings in the order of their positions in the built file.
    mappings: Vec<Mapping>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Mapping {
    line: u32,
    column: u32,
    original: Option<Original>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Original {
    source: u32,
    line: u32,
    column: u32,
    /// The index of the name; `NO_NAME` without one.
    name: u32,
}

const NO_NAME: u32 = u32::MAX;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Raw {
    version: u32,
    source_root: Option<String>,
    #[serde(default)]
    sources: Vec<Option<String>>,
    #[serde(default)]
    names: Vec<String>,
    #[serde(default)]
    mappings: String,
    sections: Option<Vec<Section>>,
}

#[derive(Deserialize)]
struct Section {
    offset: Offset,
    map: Box<Raw>,
}

#[derive(Deserialize, Clone, Copy, Default)]
struct Offset {
    line: u32,
    column: u32,
}

impl SourceMap {
    /// Reads a source map, whose sources are relative to the URL `base`: that of the map, or of the built file if the map is part of it.
    /// Returns `None` for a text that is no source map.
    pub(crate) fn parse(text: &str, base: &Url) -> Option<Self> {
        // Servers may put this in front of JSON, so that it cannot be executed as a script.
        let text = match text.strip_prefix(")]}'") {
            Some(rest) => rest.split_once('\n')?.1,
            None => text,
        };
        let raw: Raw = serde_json::from_str(text).ok()?;
        let mut map = Self::default();
        match raw.sections {
            None => map.add(raw, base, Offset::default())?,
            Some(sections) => {
                for section in sections {
                    map.add(*section.map, base, section.offset)?;
                }
            }
        }
        map.mappings
            .sort_by_key(|mapping| (mapping.line, mapping.column));
        Some(map)
    }

    /// Adds the mappings of a map, or of a section of an index map. Invalid mappings are left out.
    fn add(&mut self, raw: Raw, base: &Url, offset: Offset) -> Option<()> {
        if raw.version != 3 {
            return None;
        }
        let first_source = u32::try_from(self.sources.len()).ok()?;
        let first_name = u32::try_from(self.names.len()).ok()?;
        let root = raw.source_root.unwrap_or_default();
        let sources = raw.sources.into_iter();
        self.sources
            .extend(sources.map(|source| Some(source_name(&root, &source?, base).into())));
        self.names.extend(raw.names.into_iter().map(plain));
        let [mut source, mut original_line, mut original_column, mut name] = [0_i64; 4];
        for (index, segments) in raw.mappings.split(';').enumerate() {
            let index = u32::try_from(index).ok();
            let Some(line) = index.and_then(|index| offset.line.checked_add(index)) else {
                break;
            };
            let mut column = match line == offset.line {
                true => i64::from(offset.column),
                false => 0,
            };
            for segment in segments.split(',').filter(|segment| !segment.is_empty()) {
                let Some((fields, count)) = numbers(segment.as_bytes()) else {
                    continue;
                };
                column += fields[0];
                let mut original = None;
                if count >= 4 {
                    source += fields[1];
                    original_line += fields[2];
                    original_column += fields[3];
                    if count == 5 {
                        name += fields[4];
                    }
                    let index = |first: u32, index: i64| first.checked_add(number(index)?);
                    original = index(first_source, source)
                        .zip(number(original_line).zip(number(original_column)))
                        .map(|(source, (line, column))| Original {
                            source,
                            line,
                            column,
                            name: match count {
                                5 => index(first_name, name).unwrap_or(NO_NAME),
                                _ => NO_NAME,
                            },
                        });
                }
                if self.mappings.len() == MAX_MAPPINGS {
                    return Some(());
                }
                if let Some(column) = number(column) {
                    self.mappings.push(Mapping {
                        line,
                        column,
                        original,
                    });
                }
            }
        }
        Some(())
    }

    /// Returns the position in a source of a position in the built file, whose line and column are from 0.
    pub(crate) fn position(&self, line: u32, column: u32) -> Option<SourcePosition> {
        self.position_of(self.mapping(line, column)?.original?)
    }

    /// Returns the positions of the built file at which a mapping begins, in order, and the positions in the sources.
    fn mappings(&self) -> impl Iterator<Item = ((u32, u32), Option<SourcePosition>)> {
        let mappings = self.mappings.iter();
        mappings.map(|mapping| {
            let original = mapping.original.and_then(|it| self.position_of(it));
            ((mapping.line, mapping.column), original)
        })
    }

    fn position_of(&self, original: Original) -> Option<SourcePosition> {
        let source = self.sources.get(original.source as usize)?.clone()?;
        Some(SourcePosition {
            source,
            line: original.line.saturating_add(1),
            column: original.column.saturating_add(1),
        })
    }

    /// Returns the name in the source of the identifier that begins at a position of the built file.
    fn name(&self, line: u32, column: u32) -> Option<&str> {
        let mapping = self.mapping(line, column)?;
        let name = self.names.get(mapping.original?.name as usize)?;
        (mapping.column == column).then_some(name)
    }

    /// Returns the last mapping up to a position in its line.
    fn mapping(&self, line: u32, column: u32) -> Option<&Mapping> {
        let is_before = |mapping: &Mapping| (mapping.line, mapping.column) <= (line, column);
        let after = self.mappings.partition_point(is_before);
        let mapping = self.mappings.get(after.checked_sub(1)?)?;
        (mapping.line == line).then_some(mapping)
    }

    /// Returns the approximate size, in bytes.
    fn size(&self) -> usize {
        let names: usize = self.names.iter().map(String::len).sum();
        self.mappings.len() * size_of::<Mapping>() + names
    }
}

fn number(number: i64) -> Option<u32> {
    u32::try_from(number).ok()
}

/// Decodes the Base64 VLQ numbers of a segment: 1, 4 or 5. <https://tc39.es/ecma426/#sec-base64-vlq>
fn numbers(segment: &[u8]) -> Option<([i64; 5], usize)> {
    let mut numbers = [0; 5];
    let (mut count, mut value, mut shift) = (0, 0_i64, 0);
    for byte in segment {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        value |= i64::from(digit & 31) << shift;
        if digit & 32 != 0 {
            shift += 5;
            // Numbers have 32 bits.
            if shift > 30 {
                return None;
            }
            continue;
        }
        let magnitude = value >> 1;
        *numbers.get_mut(count)? = if value & 1 == 1 {
            -magnitude
        } else {
            magnitude
        };
        (count, value, shift) = (count + 1, 0, 0);
    }
    (shift == 0 && matches!(count, 1 | 4 | 5)).then_some((numbers, count))
}

/// Returns how a source is shown.
pub(crate) fn source_name(root: &str, source: &str, base: &Url) -> String {
    let separator = match root.is_empty() || root.ends_with('/') {
        true => "",
        false => "/",
    };
    let source = format!("{root}{separator}{source}");
    let Ok(url) = base.join(&source) else {
        return plain(source);
    };
    // The origins of URLs with an opaque origin differ.
    if url.origin() != base.origin() {
        return plain(url.into());
    }
    let path = percent_decode_str(url.path().trim_start_matches('/')).decode_utf8_lossy();
    let query = url.query().map(|query| format!("?{query}"));
    plain(path.into_owned() + &query.unwrap_or_default())
}

/// Returns a text of a map for a line of an answer.
fn plain(mut text: String) -> String {
    text.retain(|char| !char.is_control() && !matches!(char, '\u{2028}' | '\u{2029}'));
    shorten(&mut text, MAX_NAME_LENGTH);
    text
}

/// Returns the URL of the source map that the last comment of a script or a style sheet names.
/// <https://tc39.es/ecma426/#sec-linking-generated-code>
pub(crate) fn reference(text: &str) -> Option<&str> {
    const NAME: &str = "sourceMappingURL=";
    let at = text.rfind(NAME)?;
    let before = text[..at].trim_end_matches([' ', '\t']);
    if !["//#", "//@", "/*#", "/*@"]
        .iter()
        .any(|start| before.ends_with(start))
    {
        return None;
    }
    let rest = &text[at + NAME.len()..];
    let end = rest.find(|char: char| char.is_whitespace() || matches!(char, '"' | '\'' | '*'));
    let (url, after) = rest.split_at(end.unwrap_or(rest.len()));
    let after = after.trim_start().trim_start_matches("*/");
    let is_last = after
        .lines()
        .all(|line| line.trim().is_empty() || line.trim_start().starts_with("//"));
    (is_last && !url.is_empty()).then_some(url)
}

/// Returns the text of a `data:` URL. <https://www.rfc-editor.org/rfc/rfc2397>
pub(crate) fn data_of(url: &str) -> Option<String> {
    let (head, data) = url.strip_prefix("data:")?.split_once(',')?;
    let bytes: Vec<u8> = percent_decode_str(data).collect();
    let bytes = match head.ends_with(";base64") {
        true => {
            let config = GeneralPurposeConfig::new()
                .with_decode_padding_mode(DecodePaddingMode::Indifferent);
            GeneralPurpose::new(&STANDARD, config).decode(bytes).ok()?
        }
        false => bytes,
    };
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base() -> Url {
        Url::parse("http://localhost/dist/app.js.map").unwrap()
    }

    fn shown(map: &SourceMap, line: u32, column: u32) -> Option<String> {
        map.position(line, column).map(|at| at.to_string())
    }

    #[test]
    fn a_position_has_the_last_mapping_before_it_in_its_line() {
        // Columns 0 and 4 of the first line, and column 2 of the third one, which has no source.
        let text = r#"{"version": 3, "sources": ["../src/a b.ts"], "names": ["sum"],
            "mappings": "AAAA,IACEA;;E", "sourcesContent": ["…"]}"#;
        let map = SourceMap::parse(text, &base()).unwrap();
        assert_eq!(shown(&map, 0, 3).as_deref(), Some("src/a b.ts:1:1"));
        assert_eq!(shown(&map, 0, 9).as_deref(), Some("src/a b.ts:2:3"));
        assert_eq!((map.name(0, 4), map.name(0, 5)), (Some("sum"), None));
        assert_eq!(shown(&map, 1, 0), None);
        assert_eq!(shown(&map, 2, 5), None);
    }

    #[test]
    fn an_index_map_has_sections() {
        let text = r#")]}'
            {"version": 3, "sections": [
                {"offset": {"line": 0, "column": 0}, "map": {"version": 3, "sources": ["a.ts"], "mappings": "AAAA"}},
                {"offset": {"line": 1, "column": 10}, "map": {"version": 3, "sources": ["b.ts"], "mappings": "AAAA;AACA"}}
            ]}"#;
        let map = SourceMap::parse(text, &base()).unwrap();
        assert_eq!(shown(&map, 0, 0).as_deref(), Some("dist/a.ts:1:1"));
        assert_eq!(shown(&map, 1, 5), None);
        assert_eq!(shown(&map, 1, 10).as_deref(), Some("dist/b.ts:1:1"));
        assert_eq!(shown(&map, 2, 0).as_deref(), Some("dist/b.ts:2:1"));
    }

    #[test]
    fn a_source_is_shown_by_its_path_or_url() {
        let shown = |root, source| source_name(root, source, &base());
        assert_eq!(shown("", "../../src/app.ts"), "src/app.ts");
        assert_eq!(shown("/lib", "x.ts"), "lib/x.ts");
        assert_eq!(
            shown("", "webpack://app/./src/x.ts"),
            "webpack://app/src/x.ts"
        );
        assert_eq!(shown("", "http://other/x.ts"), "http://other/x.ts");
        assert_eq!(shown("", "x\ny.ts"), "dist/xy.ts");
    }

    #[test]
    fn hostile_maps_have_no_positions() {
        for text in [
            "",
            "[]",
            r#"{"version": 2, "mappings": ""}"#,
            r#"{"version": 3, "sections": [{"offset": {"line": 4294967295, "column": 0}, "map": {"version": 4}}]}"#,
        ] {
            assert!(SourceMap::parse(text, &base()).is_none(), "{text}");
        }
        for mappings in [
            "AAAA,!",
            "g",
            "ggggggggggggE",
            "AADA",
            "AD",
            "DAAA",
            "AAAAAA",
            "AAAAB",
            "ACAA",
        ] {
            let text = format!(
                r#"{{"version": 3, "sources": ["a"], "mappings": "{mappings};;;{mappings}"}}"#
            );
            let map = SourceMap::parse(&text, &base()).unwrap();
            for at in 0..4 {
                let _ = (map.position(at, at), map.name(at, at));
            }
        }
        let text = r#"{"version": 3, "sections": [{"offset": {"line": 4294967295, "column": 4294967295},
            "map": {"version": 3, "sources": [null], "mappings": "+/////DAAA;AAAA"}}]}"#;
        let map = SourceMap::parse(text, &base()).unwrap();
        assert_eq!(map.position(u32::MAX, u32::MAX), None);
    }

    #[test]
    fn the_last_comment_names_the_map() {
        for (text, url) in [
            ("f()\n//# sourceMappingURL=app.js.map\n", Some("app.js.map")),
            ("f()\n//@ sourceMappingURL=a.map", Some("a.map")),
            (
                "a {}\n/*# sourceMappingURL=a.css.map */\n",
                Some("a.css.map"),
            ),
            (
                "//# sourceMappingURL=a.map\n//# sourceURL=x.js\n",
                Some("a.map"),
            ),
            ("//# sourceMappingURL=a.map\nf()", None),
            ("f('sourceMappingURL=')", None),
            ("f() //# sourceMappingURL=", None),
            ("", None),
        ] {
            assert_eq!(reference(text), url, "{text}");
        }
    }

    #[test]
    fn data_urls_are_decoded() {
        let of = |url| data_of(url);
        assert_eq!(
            of("data:application/json;base64,e30=").as_deref(),
            Some("{}")
        );
        assert_eq!(
            of("data:application/json;charset=utf-8;base64,e30").as_deref(),
            Some("{}")
        );
        assert_eq!(of("data:,%7B%7D").as_deref(), Some("{}"));
        assert_eq!(of("data:;base64,!"), None);
        assert_eq!(of("http://localhost/"), None);
    }
}
