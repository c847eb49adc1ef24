//! The sources of secrets: a dotenv file, or the configuration file itself.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::super::value::{OptionValue, Problem};
use super::ORIGINS;

/// The source of the secrets.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum SecretsSource {
    /// The path of a dotenv file.
    File(PathBuf),
    /// Names and values in the configuration file.
    Inline(Vec<(String, String)>),
}

impl SecretsSource {
    /// Returns the names and values. Reads the file; relative paths are relative to `cwd`.
    pub(crate) fn read(self, cwd: &Path) -> std::io::Result<Vec<(String, String)>> {
        match self {
            SecretsSource::File(path) => Ok(dotenv(&std::fs::read_to_string(cwd.join(path))?)),
            SecretsSource::Inline(pairs) => Ok(pairs),
        }
    }
}

impl OptionValue for SecretsSource {
    const WORD: &'static str = "PATH";

    fn parse(text: &str) -> Result<Self, Problem> {
        PathBuf::parse(text).map(SecretsSource::File)
    }

    fn from_json(value: &Value) -> Result<Self, Problem> {
        let expected = || {
            Problem::expected(
                "the path of a dotenv file, or an object of strings or of objects with a value and origins",
            )
        };
        match value {
            Value::String(path) => Self::parse(path),
            Value::Object(map) => {
                let mut pairs = Vec::new();
                for (name, value) in map {
                    pairs.extend(entries(name, value).ok_or_else(expected)?);
                }
                Ok(SecretsSource::Inline(pairs))
            }
            _ => Err(expected()),
        }
    }

    fn to_json(&self) -> Value {
        match self {
            SecretsSource::File(path) => path.to_json(),
            SecretsSource::Inline(pairs) => pairs
                .iter()
                .map(|(name, value)| (name.clone(), json!(value)))
                .collect(),
        }
    }

    fn schema() -> Value {
        json!({
            "type": ["string", "object"],
            "additionalProperties": {
                "type": ["string", "object"],
                "properties": {
                    "value": { "type": "string" },
                    "origins": { "type": "array", "items": { "type": "string" } }
                },
                "required": ["value"],
                "additionalProperties": false
            }
        })
    }

    fn extend(&mut self, later: Self) {
        match (self, later) {
            (SecretsSource::Inline(mine), SecretsSource::Inline(later)) => mine.extend(later),
            (mine, later) => *mine = later,
        }
    }
}

/// Converts a secret of the configuration file to entries of a dotenv file: its value, and its origins if it has any.
fn entries(name: &str, value: &Value) -> Option<Vec<(String, String)>> {
    if let Some(text) = value.as_str() {
        return Some(vec![(name.to_owned(), text.to_owned())]);
    }
    let members = value.as_object()?;
    if members.keys().any(|key| key != "value" && key != "origins") {
        return None;
    }
    let mut pairs = vec![(name.to_owned(), members.get("value")?.as_str()?.to_owned())];
    if let Some(origins) = members.get("origins") {
        let origins = origins.as_array()?.iter().map(Value::as_str);
        let origins: Vec<_> = origins.collect::<Option<_>>()?;
        pairs.push((format!("{name}{ORIGINS}"), origins.join(" ")));
    }
    Some(pairs)
}

/// Parses a dotenv file: `NAME=value`, `export NAME=value`. Values are bare (up to a `#`) or in one of three kinds of
/// quotes, in which they may span several lines. In double quotes, `\n` is a line break.
fn dotenv(text: &str) -> Vec<(String, String)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut pairs: Vec<(String, String)> = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        rest = after;
        let line = line.trim_start();
        let line = match line.strip_prefix("export") {
            Some(exported) if exported.starts_with(char::is_whitespace) => exported,
            _ => line,
        };
        let Some((name, value)) = line.split_once('=') else {
            continue;
        };
        let name = name.trim();
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
        if name.is_empty() || !name.chars().all(is_name) {
            continue;
        }
        let value = value.trim();
        // The search starts at the value, because the value may span several lines.
        let start = value.as_ptr() as usize - text.as_ptr() as usize;
        let quote = value
            .chars()
            .next()
            .filter(|c| matches!(c, '"' | '\'' | '`'));
        let value = match quote.and_then(|quote| Some((quote, closing(&text[start + 1..], quote)?)))
        {
            Some((quote, end)) => {
                let quoted = &text[start + 1..start + 1 + end];
                let tail = &text[start + 2 + end..];
                rest = tail.split_once('\n').map_or("", |(_, rest)| rest);
                match quote {
                    '"' => quoted.replace("\\n", "\n").replace("\\r", "\r"),
                    _ => quoted.to_owned(),
                }
            }
            None => value
                .split('#')
                .next()
                .unwrap_or_default()
                .trim_end()
                .to_owned(),
        };
        pairs.retain(|(known, _)| known != name);
        pairs.push((name.to_owned(), value));
    }
    pairs
}

/// Returns the position of the closing quote. A quote after a backslash is skipped.
fn closing(text: &str, quote: char) -> Option<usize> {
    text.match_indices(quote)
        .map(|(at, _)| at)
        .find(|at| !text[..*at].ends_with('\\'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_secrets_is_read_as_dotenv_reads_it() {
        let text = "\u{feff}# x\nA=1\r\nexport B = two words # not this\nC='a # b'\nD=\"x\\ny\" # z\n\
            E=\"over\nlines\"\nF=\nno value\nG=it's\nA=2\n2 H=3\nI=`a\"b'c`\nJ=\"open";
        let pairs = [
            ("B", "two words"),
            ("C", "a # b"),
            ("D", "x\ny"),
            ("E", "over\nlines"),
            ("F", ""),
            ("G", "it's"),
            ("A", "2"),
            ("I", "a\"b'c"),
            ("J", "\"open"),
        ];
        let pairs = pairs.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(dotenv(text), pairs);
    }
}
