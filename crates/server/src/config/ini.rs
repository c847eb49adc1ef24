//! INI files: sections, keys and values.

/// A line `key = value`, under the last `[section]` before it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entry<'t> {
    pub(super) section: Option<&'t str>,
    pub(super) key: &'t str,
    pub(super) value: String,
}

/// Parses an INI file. A comment is a line that begins with `;` or `#`. A value that begins with a quote reaches to the next such quote, with
/// its spaces and line breaks; what follows it in the line belongs to it, too. A backslash is not an escape, because paths on Windows contain
/// it. Errors name the line.
pub(super) fn parse(text: &str) -> Result<Vec<Entry<'_>>, String> {
    let mut entries = Vec::new();
    let mut section = None;
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        if rest.is_empty() {
            return Ok(entries);
        }
        let fault = |reason: &str| {
            let line = text[..text.len() - rest.len()].matches('\n').count() + 1;
            format!("line {line}: {reason}")
        };
        let line = line_of(rest);
        if line.starts_with([';', '#']) {
            rest = &rest[line.len()..];
        } else if let Some(name) = line.strip_prefix('[') {
            let name = name.trim_end().strip_suffix(']');
            let name = name.ok_or_else(|| fault("a section is [NAME], alone in its line"))?;
            section = Some(name.trim());
            rest = &rest[line.len()..];
        } else {
            let (key, value) = line
                .find(['=', ':'])
                .map(|end| (line[..end].trim_end(), &rest[end + 1..]))
                .filter(|(key, _)| !key.is_empty())
                .ok_or_else(|| fault("not a section, a comment or KEY = VALUE"))?;
            let (value, after) =
                value_of(value).ok_or_else(|| fault("the quote of a value is not closed"))?;
            entries.push(Entry {
                section,
                key,
                value,
            });
            rest = after;
        }
    }
}

/// Returns the value at the beginning of a text, and what follows it; `None` if a quote is not closed.
fn value_of(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut rest = text.trim_start_matches([' ', '\t']);
    while let Some(quote) = rest
        .chars()
        .next()
        .filter(|first| matches!(first, '"' | '\''))
    {
        let (quoted, after) = rest[1..].split_once(quote)?;
        value.push_str(quoted);
        rest = after;
    }
    let line = line_of(rest);
    value.push_str(line.trim_end());
    Some((value, &rest[line.len()..]))
}

fn line_of(text: &str) -> &str {
    text.split(['\n', '\r']).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Vec<(&str, &str, String)> {
        let entries = parse(text).expect("valid");
        entries
            .into_iter()
            .map(|entry| (entry.section.unwrap_or("-"), entry.key, entry.value))
            .collect()
    }

    #[test]
    fn sections_comments_and_separators_are_read() {
        let text = "a = 1\r\n\n; no\n  # no\nb.c:x=y \n[ one ]\n  d =\ne=f # g\n[two]\na=2\na=3";
        let expected = [
            ("-", "a", "1"),
            ("-", "b.c", "x=y"),
            ("one", "d", ""),
            ("one", "e", "f # g"),
            ("two", "a", "2"),
            ("two", "a", "3"),
        ];
        assert_eq!(
            parsed(text),
            expected.map(|(section, key, value)| (section, key, value.to_owned()))
        );
    }

    #[test]
    fn quotes_keep_spaces_and_backslashes_are_text() {
        for (text, value) in [
            (r#""  a  ""#, "  a  "),
            (r#"'it is "b"' and c "#, r#"it is "b" and c"#),
            (r#"a "b""#, r#"a "b""#),
            ("\"a\nb\"", "a\nb"),
            (r"C:\new\", r"C:\new\"),
            (r#""""#, ""),
        ] {
            assert_eq!(
                parsed(&format!("k = {text}\nl = 1")),
                [("-", "k", value.to_owned()), ("-", "l", "1".to_owned())],
                "{text}"
            );
        }
    }

    #[test]
    fn errors_name_the_line() {
        for (text, error) in [
            (
                "a = 1\nb",
                "line 2: not a section, a comment or KEY = VALUE",
            ),
            ("\n = 1", "line 2: not a section, a comment or KEY = VALUE"),
            ("[a", "line 1: a section is [NAME], alone in its line"),
            ("[a] b", "line 1: a section is [NAME], alone in its line"),
            (
                "a = 1\n\nb = 'x",
                "line 3: the quote of a value is not closed",
            ),
        ] {
            assert_eq!(parse(text), Err(error.to_owned()));
        }
    }
}
