//! Prompt files: front matter between two lines of dashes, then the template. The front matter is a small subset of YAML.

use super::{Argument, Kind};

/// A parsed prompt file.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) title: Option<String>,
    pub(super) description: String,
    pub(super) arguments: Vec<Argument>,
    /// The template.
    pub(super) body: String,
    /// The number of the template's first line in the file.
    pub(super) body_line: usize,
}

/// An error in a file, with its position.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mistake {
    /// The line number, from 1.
    pub(super) line: usize,
    pub(super) reason: String,
}

const FENCE: &str = "---";
const KEYS: &str = "title, description, arguments";
const ARGUMENT_KEYS: &str = "name, description, required, default, type, values";
const TYPES: &str = "text, url, page, object, session, secret";

/// Parses the file of the prompt of that name.
pub(super) fn parse(name: &str, text: &str) -> Result<Source, Mistake> {
    if !is_name(name) {
        return wrong(
            1,
            format!(
                "the name of the file is the prompt's: letters, digits, - and _, 64 at most; not \"{name}\""
            ),
        );
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines: Vec<&str> = text.lines().collect();
    if lines.first().is_none_or(|line| line.trim_end() != FENCE) {
        return wrong(1, "a prompt begins with a line ---, its description below");
    }
    let Some(end) = lines[1..].iter().position(|line| line.trim_end() == FENCE) else {
        return wrong(1, "the front matter has no end: a second line ---");
    };
    let end = end + 1;
    let (title, description, arguments) = front_matter(&lines[1..end])?;
    let body = lines[end + 1..].join("\n");
    if body.trim().is_empty() {
        return wrong(end + 1, "no text below the front matter");
    }
    Ok(Source {
        title,
        description,
        arguments,
        body,
        body_line: end + 2,
    })
}

type FrontMatter = (Option<String>, String, Vec<Argument>);

fn front_matter(lines: &[&str]) -> Result<FrontMatter, Mistake> {
    let mut title = None;
    let mut description = None;
    let mut arguments: Vec<Draft> = Vec::new();
    let mut among_arguments = false;
    // The first line of the file is the fence.
    for (number, line) in (2..).zip(lines) {
        let line = line.trim_end();
        let words = line.trim_start();
        if words.is_empty() || words.starts_with('#') {
            continue;
        }
        if line.starts_with('\t') {
            return wrong(number, "indent with spaces");
        }
        let item = words.strip_prefix("- ").map(str::trim_start);
        let indented = words.len() < line.len();
        if among_arguments && (indented || item.is_some()) {
            if item.is_some() {
                arguments.push(Draft::new(number));
            }
            let Some(draft) = arguments.last_mut() else {
                return wrong(number, "an argument begins with - name:");
            };
            let (key, value) = entry(number, item.unwrap_or(words))?;
            draft.set(number, key, value)?;
            continue;
        }
        if indented || item.is_some() {
            return wrong(number, "only arguments have lines of their own");
        }
        let (key, value) = entry(number, words)?;
        among_arguments = false;
        match key {
            "title" => title = Some(text(number, key, value)?),
            "description" => description = Some(text(number, key, value)?),
            "arguments" if value.is_empty() => among_arguments = true,
            "arguments" if value == "[]" => {}
            "arguments" => return wrong(number, "arguments stand in the lines below: - name: …"),
            _ => return wrong(number, format!("unknown key \"{key}\"; there are: {KEYS}")),
        }
    }
    let Some(description) = description else {
        return wrong(1, "the description is missing");
    };
    let mut done: Vec<Argument> = Vec::new();
    for draft in arguments {
        let line = draft.line;
        let argument = draft.done()?;
        if done.iter().any(|known| known.name == argument.name) {
            return wrong(
                line,
                format!("there are two arguments \"{}\"", argument.name),
            );
        }
        done.push(argument);
    }
    Ok((title, description, done))
}

/// An argument that is not complete yet.
struct Draft {
    line: usize,
    name: Option<String>,
    description: Option<String>,
    required: bool,
    default: Option<String>,
    kind: Kind,
}

impl Draft {
    fn new(line: usize) -> Self {
        Self {
            line,
            name: None,
            description: None,
            required: false,
            default: None,
            kind: Kind::Text,
        }
    }

    fn set(&mut self, line: usize, key: &str, value: &str) -> Result<(), Mistake> {
        match key {
            "name" => {
                let name = text(line, key, value)?;
                let is_variable = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
                    && !name.starts_with(|c: char| c.is_ascii_digit());
                if !is_variable {
                    return wrong(line, "names of arguments are letters, digits and _");
                }
                self.name = Some(name);
            }
            "description" => self.description = Some(text(line, key, value)?),
            "default" => self.default = Some(text(line, key, value)?),
            "required" => {
                self.required = match value {
                    "true" => true,
                    "false" => false,
                    _ => return wrong(line, "required is true or false"),
                }
            }
            "type" => {
                self.kind = match text(line, key, value)?.as_str() {
                    "text" => Kind::Text,
                    "url" => Kind::Url,
                    "page" => Kind::Page,
                    "object" => Kind::Object,
                    "session" => Kind::Session,
                    "secret" => Kind::Secret,
                    other => {
                        let reason = format!("unknown type \"{other}\"; there are: {TYPES}");
                        return wrong(line, reason);
                    }
                }
            }
            "values" => self.kind = Kind::OneOf(values(line, value)?),
            _ => {
                let reason =
                    format!("unknown key \"{key}\" of an argument; there are: {ARGUMENT_KEYS}");
                return wrong(line, reason);
            }
        }
        Ok(())
    }

    fn done(self) -> Result<Argument, Mistake> {
        let Some(name) = self.name else {
            return wrong(self.line, "the argument has no name");
        };
        if let (Kind::OneOf(values), Some(default)) = (&self.kind, &self.default)
            && !values.contains(default)
        {
            return wrong(self.line, "the default is none of the values");
        }
        if self.kind == Kind::Secret && self.default.is_some() {
            return wrong(self.line, "a secret has no default");
        }
        Ok(Argument {
            name,
            description: self.description,
            required: self.required,
            default: self.default,
            kind: self.kind,
        })
    }
}

/// Parses `key: value`.
fn entry(line: usize, words: &str) -> Result<(&str, &str), Mistake> {
    match words.split_once(':') {
        Some((key, value)) if value.is_empty() || value.starts_with(' ') => {
            Ok((key.trim_end(), value.trim()))
        }
        _ => wrong(line, "a line says: key: value"),
    }
}

/// Parses a text, bare or in quotes, which must not be empty.
fn text(line: usize, key: &str, value: &str) -> Result<String, Mistake> {
    let text = match value.chars().next() {
        Some('"') => match serde_json::from_str::<String>(value) {
            Ok(text) => text,
            Err(_) => return wrong(line, format!("the quotes of {key} do not match")),
        },
        Some('\'') => match value[1..].strip_suffix('\'') {
            Some(inner) => inner.replace("''", "'"),
            None => return wrong(line, format!("the quotes of {key} do not match")),
        },
        Some('|' | '>' | '&' | '*' | '!' | '{' | '[' | '%' | '@' | '`') => {
            let reason = format!("{key} is one line of text; put it in quotes: \"…\"");
            return wrong(line, reason);
        }
        _ => value
            .split_once(" #")
            .map_or(value, |(value, _)| value.trim_end())
            .to_owned(),
    };
    match text.is_empty() {
        true => wrong(line, format!("{key} is empty")),
        false => Ok(text),
    }
}

/// Parses `[a, b]`.
fn values(line: usize, value: &str) -> Result<Vec<String>, Mistake> {
    let inner = value.strip_prefix('[').and_then(|v| v.strip_suffix(']'));
    let Some(inner) = inner.filter(|inner| !inner.trim().is_empty()) else {
        return wrong(line, "values are a list: [one, two]");
    };
    let values = split_at_commas(inner).into_iter();
    values
        .map(|value| text(line, "a value", value.trim()))
        .collect()
}

/// Splits a list at the commas that are not in quotes. Only an item that begins with a quote is quoted.
fn split_at_commas(list: &str) -> Vec<&str> {
    let mut items = Vec::new();
    let (mut start, mut quote, mut escaped) = (0, None, false);
    let mut chars = list.char_indices().peekable();
    while let Some((at, char)) = chars.next() {
        match quote {
            Some(_) if escaped => escaped = false,
            Some('"') if char == '\\' => escaped = true,
            Some('\'') if char == '\'' && chars.peek().is_some_and(|next| next.1 == '\'') => {
                escaped = true;
            }
            Some(open) if char == open => quote = None,
            None if char == ',' => {
                items.push(&list[start..at]);
                start = at + 1;
            }
            None if matches!(char, '"' | '\'') && list[start..at].trim().is_empty() => {
                quote = Some(char);
            }
            Some(_) | None => {}
        }
    }
    items.push(&list[start..]);
    items
}

fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
}

fn wrong<T>(line: usize, reason: impl Into<String>) -> Result<T, Mistake> {
    Err(Mistake {
        line,
        reason: reason.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_in_quotes_do_not_end_a_value() {
        let listed = |list: &str| values(1, list).expect("a list");
        assert_eq!(listed("[a, b]"), ["a", "b"]);
        assert_eq!(
            listed(r#"["a, \"b\", c" , 'it''s, so', it's, "d"]"#),
            ["a, \"b\", c", "it's, so", "it's", "d"]
        );
    }

    #[test]
    fn front_matter_describes_a_prompt() {
        let text = "---\n# a comment\ntitle: 'It''s: a title'\ndescription: \"Says \\\"hi\\\"\" \narguments:\n  - name: who\n    description: Who # not this\n    required: true\n  - name: how\n    values: [loud, \"low\"]\n    default: low\n---\n\nHello {{ who }}\n";
        let source = parse("hello", text).expect("a prompt");
        assert_eq!(source.title.as_deref(), Some("It's: a title"));
        assert_eq!(source.description, "Says \"hi\"");
        let [who, how] = &source.arguments[..] else {
            panic!("{source:?}")
        };
        assert!(who.required && who.kind == Kind::Text);
        assert_eq!(who.description.as_deref(), Some("Who"));
        assert_eq!(
            how.kind,
            Kind::OneOf(vec!["loud".to_owned(), "low".to_owned()])
        );
        assert_eq!(
            (source.body.as_str(), source.body_line),
            ("\nHello {{ who }}", 13)
        );
    }

    #[test]
    fn a_mistake_has_a_line_and_a_suggestion() {
        let of = |text: &str| {
            let Mistake { line, reason } = parse("p", text).expect_err(text);
            format!("{line}: {reason}")
        };
        expect_test::expect![[r#"
            1: a prompt begins with a line ---, its description below
            1: the front matter has no end: a second line ---
            1: the description is missing
            3: no text below the front matter
            2: unknown key "descripton"; there are: title, description, arguments
            3: only arguments have lines of their own
            3: arguments stand in the lines below: - name: …
            4: unknown key "naem" of an argument; there are: name, description, required, default, type, values
            5: required is true or false
            5: unknown type "number"; there are: text, url, page, object, session, secret
            5: values are a list: [one, two]
            4: the default is none of the values
            4: names of arguments are letters, digits and _
            5: there are two arguments "a"
            4: the argument has no name
            2: description is one line of text; put it in quotes: "…"
            2: the quotes of description do not match
            2: a line says: key: value"#]]
        .assert_eq(
            &[
                "Hello",
                "---\ndescription: x\nHello",
                "---\n---\nx",
                "---\ndescription: x\n---\n\n",
                "---\ndescripton: x\n---\nx",
                "---\ndescription: x\n  y\n---\nx",
                "---\ndescription: x\narguments: a\n---\nx",
                "---\ndescription: x\narguments:\n- naem: a\n---\nx",
                "---\ndescription: x\narguments:\n- name: a\n  required: yes\n---\nx",
                "---\ndescription: x\narguments:\n- name: a\n  type: number\n---\nx",
                "---\ndescription: x\narguments:\n- name: a\n  values: b\n---\nx",
                "---\ndescription: x\narguments:\n- name: a\n  values: [b]\n  default: c\n---\nx",
                "---\ndescription: x\narguments:\n- name: a b\n---\nx",
                "---\ndescription: x\narguments:\n- name: a\n- name: a\n---\nx",
                "---\ndescription: x\narguments:\n- required: true\n---\nx",
                "---\ndescription: |\n---\nx",
                "---\ndescription: \"x\n---\nx",
                "---\ndescription\n---\nx",
            ]
            .map(of)
            .join("\n"),
        );
        assert_eq!(parse("a b", "").expect_err("a bad name").line, 1);
    }
}
