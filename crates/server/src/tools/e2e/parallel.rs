//! Two logs of one server as one text: their lines in the order of their times if all lines have one, or else one log after the other.

use std::fmt::Write as _;

/// Joins texts with the names of their sources. Returns one text without a name if there is only one, or if the lines could be merged by
/// time.
pub(super) fn join(texts: Vec<(&'static str, String)>) -> Vec<(Option<&'static str>, String)> {
    if let [(_, one), (_, other)] = &*texts
        && let Some(merged) = merge(one, other)
    {
        return vec![(None, merged)];
    }
    let is_one = texts.len() == 1;
    let texts = texts.into_iter();
    texts
        .map(|(name, text)| ((!is_one).then_some(name), text))
        .collect()
}

/// Returns the non-empty texts as one text, each below its name.
pub(super) fn with_headings(texts: &[(Option<&str>, String)]) -> String {
    let mut all = String::new();
    for (name, text) in texts {
        let text = text.trim_end();
        if text.is_empty() {
            continue;
        }
        if !all.is_empty() {
            all.push('\n');
        }
        if let Some(name) = name {
            let _ = writeln!(all, "[{name}]");
        }
        all += text;
    }
    all
}

/// Merges the lines of two texts in the order of their times. Returns `None` if a text does not begin with a time.
fn merge(one: &str, other: &str) -> Option<String> {
    let mut entries = entries(one)?;
    entries.extend(self::entries(other)?);
    // A stable sort: entries with the same time keep the order of their log.
    entries.sort_by(|(a, _), (b, _)| a.cmp(b));
    Some(entries.into_iter().map(|(_, entry)| entry).collect())
}

/// Splits a text into entries with their times. An entry is a line with a time and the following lines without one.
fn entries(text: &str) -> Option<Vec<(String, String)>> {
    let mut entries: Vec<(String, String)> = Vec::new();
    for line in text.split_inclusive('\n') {
        match (time(line), entries.last_mut()) {
            // Lines of one log keep their order even if the clock was set back.
            (Some(time), last) => {
                let time = last.map_or(time.clone(), |(last, _)| time.max(last.clone()));
                entries.push((time, String::new()));
            }
            (None, None) if line.trim().is_empty() => continue,
            (None, None) => return None,
            (None, Some(_)) => {}
        }
        let (_, entry) = entries.last_mut()?;
        entry.push_str(line);
        if !entry.ends_with('\n') {
            entry.push('\n');
        }
    }
    Some(entries)
}

/// Returns the time at the beginning of a line, in the form `2026-11-21T08:09:17.011`, which sorts as a text.
fn time(line: &str) -> Option<String> {
    const SHAPE: &[u8] = b"0000-00-00T00:00:00";
    let line = line.trim_start().trim_start_matches(['[', '"']);
    let (begin, rest) = line.split_at_checked(SHAPE.len())?;
    let fits = begin.bytes().zip(SHAPE).all(|(byte, shape)| match shape {
        b'0' => byte.is_ascii_digit(),
        b'T' => byte == b'T' || byte == b' ',
        shape => byte == *shape,
    });
    let digits = rest.strip_prefix(['.', ',']).unwrap_or_default();
    let end = digits.find(|char: char| !char.is_ascii_digit());
    let digits = &digits[..end.unwrap_or(digits.len())];
    fits.then(|| format!("{}.{digits}", begin.replace(' ', "T")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(stdout: &str, stderr: &str) -> String {
        let texts = vec![("stdout", stdout.to_owned()), ("stderr", stderr.to_owned())];
        with_headings(&join(texts))
    }

    #[test]
    fn lines_with_times_are_in_their_order() {
        let stdout = "2026-11-21T08:00:01Z up\n[2026-11-21 08:00:03,500] GET /\n";
        let stderr = "2026-11-21T08:00:03.25Z Error: no\n    at app.js:1\n2026-11-21T08:00:09Z end";
        let lines = [
            "2026-11-21T08:00:01Z up",
            "2026-11-21T08:00:03.25Z Error: no",
            "    at app.js:1",
            "[2026-11-21 08:00:03,500] GET /",
            "2026-11-21T08:00:09Z end",
        ];
        assert_eq!(shown(stdout, stderr), lines.join("\n"));
        assert_eq!(shown(stdout, ""), stdout.trim_end());
    }

    #[test]
    fn lines_without_times_stand_below_the_names_of_their_logs() {
        assert_eq!(shown("up\n", "no\n"), "[stdout]\nup\n[stderr]\nno");
        assert_eq!(shown("", "no\n"), "[stderr]\nno");
        assert_eq!(
            shown("2026-11-21T08:00:01Z up", "no"),
            "[stdout]\n2026-11-21T08:00:01Z up\n[stderr]\nno"
        );
        assert_eq!(
            with_headings(&join(vec![("stdout", "up\n".to_owned())])),
            "up"
        );
    }
}
