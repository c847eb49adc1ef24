//! Secrets: texts that a client may type by their names, and that nothing it reads may show.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use engine::codegen::Typed;
use regex::{Captures, Regex, RegexBuilder};
use serde_json::{Value, json};

use super::value::{OptionValue, Problem};

/// Names and values, in the order given. Those without a value are left out.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secrets {
    values: Vec<(String, String)>,
    hidden: Hidden,
    learned: Learned,
}

/// How a value looks, and the name that stands for it.
type Spelling = (String, String);

/// What must not be shown, and whose it is; the longest first.
#[derive(Clone, Default)]
struct Hidden {
    spellings: Arc<[Spelling]>,
    /// Any of them. Its time is linear in the text, however many of them a page shows.
    any: Option<Regex>,
}

impl PartialEq for Hidden {
    fn eq(&self, other: &Self) -> bool {
        self.spellings == other.spellings
    }
}

impl Eq for Hidden {}

impl Hidden {
    fn new(mut spellings: Vec<Spelling>) -> Self {
        // One value may be the beginning of another.
        spellings.sort_by_key(|(spelling, _)| Reverse(spelling.len()));
        let each: Vec<_> = spellings.iter().map(|(it, _)| regex::escape(it)).collect();
        let any = RegexBuilder::new(&each.join("|"))
            .size_limit(usize::MAX)
            .build();
        Self {
            any: any.ok().filter(|_| !spellings.is_empty()),
            spellings: spellings.into(),
        }
    }

    fn name_of(&self, value: &str) -> &str {
        let found = self
            .spellings
            .iter()
            .find(|(spelling, _)| spelling == value);
        found.map_or("", |(_, name)| name)
    }
}

/// What people typed while the server ran, newest first, and all that must not be shown since. Clones learn together.
#[derive(Clone, Default)]
struct Learned(Arc<RwLock<(Vec<Spelling>, Option<Hidden>)>>);

/// What was typed since does not make settings different.
impl PartialEq for Learned {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Learned {}

/// How many spellings of what was typed are remembered; the oldest are forgotten first.
const REMEMBERED: usize = 160;

/// Shorter texts are not hidden: they stand everywhere.
const SHORTEST: usize = 4;

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = self.values.iter().map(|(name, _)| name);
        f.debug_set().entries(names).finish()
    }
}

impl Secrets {
    /// Secrets of these names and values.
    pub fn new(pairs: impl IntoIterator<Item = (String, String)>) -> Secrets {
        let values: Vec<_> = pairs
            .into_iter()
            .filter(|(_, value)| !value.is_empty())
            .collect();
        let mut spellings: Vec<Spelling> = Vec::new();
        for (name, value) in &values {
            for spelling in spelled(value) {
                if !spellings.iter().any(|(known, _)| *known == spelling) {
                    spellings.push((spelling, name.clone()));
                }
            }
        }
        Secrets {
            values,
            hidden: Hidden::new(spellings),
            learned: Learned::default(),
        }
    }

    /// The same, which learns by itself.
    pub(crate) fn apart(&self) -> Secrets {
        Secrets {
            learned: Learned::default(),
            ..self.clone()
        }
    }

    /// Hides from now on what a person typed.
    pub(crate) fn learn(&self, value: &str) {
        if value.chars().count() < SHORTEST {
            return;
        }
        let mut learned = self
            .learned
            .0
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        let fresh = spelled(value).into_iter();
        let fresh = fresh.map(|spelling| (spelling, "TYPED_BY_USER".to_owned()));
        let typed: Vec<_> = fresh
            .chain(learned.0.iter().cloned())
            .take(REMEMBERED)
            .collect();
        // The name of a secret says more.
        let all = self.hidden.spellings.iter().chain(&typed).cloned();
        *learned = (typed.clone(), Some(Hidden::new(all.collect())));
    }

    /// There are none, though one may be learned.
    pub(crate) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// What answers show instead of the value for which this holds.
    pub(crate) fn placeholder_where(&self, is: &dyn Fn(&str) -> bool) -> Option<String> {
        let hidden = self.hidden();
        let found = hidden.spellings.iter().find(|(spelling, _)| is(spelling));
        found.map(|(_, name)| placeholder(name))
    }

    /// What must not be shown as of now.
    fn hidden(&self) -> Hidden {
        let learned = self.learned.0.read();
        let learned = learned.unwrap_or_else(PoisonError::into_inner);
        learned.1.clone().unwrap_or_else(|| self.hidden.clone())
    }

    /// The names that stand for values.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.values.iter().map(|(name, _)| name.as_str())
    }

    /// What is typed for a text, and how code shows it: the name of a secret stands for its value.
    pub fn typed(&self, text: &str) -> (String, Typed) {
        match self.values.iter().find(|(name, _)| name == text) {
            Some((name, value)) => (value.clone(), Typed::Variable(name.clone())),
            None => (text.to_owned(), Typed::Text(text.to_owned())),
        }
    }

    /// The text with `<secret>NAME</secret>` wherever it shows a value.
    pub fn redacted(&self, text: String) -> String {
        let hidden = self.hidden();
        let Some(any) = &hidden.any else {
            return text;
        };
        let named = |found: &Captures<'_>| placeholder(hidden.name_of(&found[0]));
        match any.replace_all(&text, named) {
            Cow::Borrowed(_) => text,
            Cow::Owned(shown) => shown,
        }
    }

    /// The same for each text and each key of a JSON value.
    pub fn redacted_json(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.redacted(text)),
            Value::Array(items) => items.into_iter().map(|i| self.redacted_json(i)).collect(),
            Value::Object(map) => map
                .into_iter()
                .map(|(key, value)| (self.redacted(key), self.redacted_json(value)))
                .collect(),
            other => other,
        }
    }
}

/// What stands for the secret of that name.
fn placeholder(name: &str) -> String {
    format!("<secret>{name}</secret>")
}

/// A value and how it looks in strings of code, in JSON, and in addresses.
fn spelled(value: &str) -> Vec<String> {
    let quoted = |quoted: String| quoted[1..quoted.len() - 1].to_owned();
    let form: String = url::form_urlencoded::byte_serialize(value.as_bytes()).collect();
    let mut spellings = vec![
        value.to_owned(),
        quoted(json!(value).to_string()),
        quoted(engine::codegen::javascript::string(value)),
        form.replace('+', "%20"),
        form,
    ];
    spellings.dedup();
    spellings
}

/// Where secrets come from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum SecretsSource {
    /// A file of lines `NAME=value`.
    File(PathBuf),
    /// The configuration file itself.
    Inline(Vec<(String, String)>),
}

impl SecretsSource {
    /// The names and values; reads the file. Relative paths are relative to `cwd`.
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
        let expected = || Problem::expected("an object of strings, or the path of a dotenv file");
        match value {
            Value::String(path) => Self::parse(path),
            Value::Object(map) => map
                .iter()
                .map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
                .collect::<Option<_>>()
                .map(SecretsSource::Inline)
                .ok_or_else(expected),
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
            "additionalProperties": { "type": "string" }
        })
    }

    fn extend(&mut self, later: Self) {
        match (self, later) {
            (SecretsSource::Inline(mine), SecretsSource::Inline(later)) => mine.extend(later),
            (mine, later) => *mine = later,
        }
    }
}

/// The names and values of a dotenv file: `NAME=value`, `export NAME=value`, values bare (up to a `#`)
/// or in any of the three quotes, where they may go over lines. In double quotes `\n` is a line's end.
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
        // From the value on, as it may go over lines.
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

/// Where the quote ends; one behind a backslash does not end it.
fn closing(text: &str, quote: char) -> Option<usize> {
    text.match_indices(quote)
        .map(|(at, _)| at)
        .find(|at| !text[..*at].ends_with('\\'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets(pairs: &[(&str, &str)]) -> Secrets {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Secrets::new(pairs.iter().map(owned))
    }

    #[test]
    fn the_longest_value_is_the_one_that_is_named() {
        let secrets = secrets(&[("A", "one"), ("B", "onetwo"), ("C", "secret"), ("D", "")]);
        let redacted = |text: &str| secrets.redacted(text.to_owned());
        assert_eq!(
            redacted("onetwo one"),
            "<secret>B</secret> <secret>A</secret>"
        );
        assert_eq!(redacted("a secret"), "a <secret>C</secret>");
        assert_eq!(redacted("on two"), "on two");
        assert_eq!(redacted("äone"), "ä<secret>A</secret>");
    }

    #[test]
    fn a_value_is_found_however_it_is_escaped() {
        let secrets = secrets(&[("P", "a \"b'\n&")]);
        for text in [
            "a \"b'\n&",
            r#"a \"b'\n&"#,
            r#"a "b\'\n&"#,
            "a%20%22b%27%0A%26",
            "a+%22b%27%0A%26",
        ] {
            assert_eq!(
                secrets.redacted(text.to_owned()),
                "<secret>P</secret>",
                "{text}"
            );
        }
        let json = json!({ "x": ["a \"b'\n&", 1], "a \"b'\n&": { "a \"b'\n&": 2 } });
        assert_eq!(
            secrets.redacted_json(json),
            json!({ "x": ["<secret>P</secret>", 1], "<secret>P</secret>": { "<secret>P</secret>": 2 } })
        );
    }

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

    #[test]
    fn a_name_stands_for_its_value() {
        let secrets = secrets(&[("PASSWORD", "x"), ("EMPTY", "")]);
        assert_eq!(
            secrets.typed("PASSWORD"),
            ("x".to_owned(), Typed::Variable("PASSWORD".to_owned()))
        );
        assert_eq!(
            secrets.typed("EMPTY"),
            ("EMPTY".to_owned(), Typed::Text("EMPTY".to_owned()))
        );
    }
}
