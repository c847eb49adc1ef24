//! Two logs of one server as one text: line by line in the order of their times, where all lines tell them, or else one after the other.

use std::fmt::Write as _;

/// A text with the name of where it comes from; several where the order of their lines is not known.
pub(super) fn joined(texts: Vec<(&'static str, String)>) -> Vec<(Option<&'static str>, String)> {
    if let [(_, one), (_, other)] = &*texts
        && let Some(merged) = merged(one, other)
    {
        return vec![(None, merged)];
    }
    let is_one = texts.len() == 1;
    let texts = texts.into_iter();
    texts
        .map(|(name, text)| ((!is_one).then_some(name), text))
        .collect()
}

/// Each text under its name, without those that are empty.
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

/// The lines of both in the order of their times; `None` where one does not begin with a time.
fn merged(one: &str, other: &str) -> Option<String> {
    let mut entries = entries(one)?;
    entries.extend(self::entries(other)?);
    // Stable: what was written at once stays in the order of its log.
    entries.sort_by(|(a, _), (b, _)| a.cmp(b));
    Some(entries.into_iter().map(|(_, entry)| entry).collect())
}

/// What was written at once, with its time: a line that has one, and those after it that have none.
fn entries(text: &str) -> Option<Vec<(String, String)>> {
    let mut entries: Vec<(String, String)> = Vec::new();
    for line in text.split_inclusive('\n') {
        match (time(line), entries.last_mut()) {
            // A clock that was set back: lines of one log keep their order.
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

/// The time that a line begins with, such as `2026-11-21T08:09:17.011`, so that times can be compared as texts.
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
        with_headings(&joined(texts))
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
            with_headings(&joined(vec![("stdout", "up\n".to_owned())])),
            "up"
        );
    }
}
