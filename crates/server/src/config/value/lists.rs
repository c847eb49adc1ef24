//! Options that hold several values. Values of the same layer are appended.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{OptionValue, Problem, ToolsetName};

/// Declares list types: the placeholder in help, the separator (if any), how a text is parsed into items, how an item is
/// written, its schema, and overridden methods of the trait.
macro_rules! lists {
    ($(
        $(#[doc = $doc:literal])*
        $name:ident($item:ty): $word:literal, $separator:expr, $read:expr, $write:expr, $schema:expr
        $(, { $($more:tt)* })?;
    )*) => { $(
        $(#[doc = $doc])*
        #[derive(Debug, Clone, Default, PartialEq, Eq)]
        pub(crate) struct $name(pub Vec<$item>);

        impl OptionValue for $name {
            const WORD: &'static str = $word;

            fn parse(text: &str) -> Result<Self, Problem> {
                items(split(text, $separator), $read).map(Self)
            }

            fn from_json(value: &Value) -> Result<Self, Problem> {
                items(strings(value)?, $read).map(Self)
            }

            fn to_json(&self) -> Value {
                self.0.iter().map($write).collect()
            }

            fn schema() -> Value {
                json!({ "type": "array", "items": $schema })
            }

            fn extend(&mut self, later: Self) {
                self.0.extend(later.0);
            }

            $($($more)*)?
        }
    )* };
}

lists! {
    /// Words, separated by commas.
    CommaList(String): "A,B", Some(','), one, text_json, text_schema();
    /// Names of capabilities, separated by commas. Unknown names are allowed.
    CapabilityNames(String): "A,B", Some(','), one, text_json, text_schema();
    /// Origins or hosts, separated by semicolons.
    OriginList(String): "A;B", Some(';'), one, text_json, text_schema();
    /// Arguments of a command, one for each text.
    Arguments(String): "TEXT", None, one, text_json, text_schema();
    /// Toolsets, separated by commas.
    ToolsetNames(ToolsetName): "A,B", Some(','), toolsets, ToolsetName::to_json, toolset_schema();
    /// Rules about single tools: `+name,-name`.
    ToolRules(ToolRule): "+A,-B", Some(','), tool_rule, rule_json, json!({ "type": "string", "pattern": "^[+-]." });
    /// Paths of scripts. In a configuration file they are relative to the file.
    Scripts(PathBuf): "PATH", None, script, PathBuf::to_json, text_schema(), {
        fn rebase(&mut self, folder: &Path) {
            for path in &mut self.0 {
                *path = folder.join(&*path);
            }
        }
    };
}

fn split(text: &str, separator: Option<char>) -> Vec<String> {
    match separator {
        Some(separator) => text
            .split(separator)
            .map(str::trim)
            .filter(|s| !s.is_empty())
            .map(str::to_owned)
            .collect(),
        None => vec![text.to_owned()],
    }
}

fn strings(value: &Value) -> Result<Vec<String>, Problem> {
    let string = |item: &Value| item.as_str().map(str::to_owned);
    let items = value
        .as_array()
        .and_then(|items| items.iter().map(string).collect());
    items.ok_or_else(|| Problem::expected("a list of strings"))
}

fn items<T: Clone>(
    texts: Vec<String>,
    read: impl Fn(String) -> Result<Vec<T>, Problem>,
) -> Result<Vec<T>, Problem> {
    let items: Result<Vec<_>, _> = texts.into_iter().map(read).collect();
    Ok(items?.concat())
}

fn one(text: String) -> Result<Vec<String>, Problem> {
    Ok(vec![text])
}

fn script(text: String) -> Result<Vec<PathBuf>, Problem> {
    Ok(vec![PathBuf::parse(&text)?])
}

fn text_json(text: &String) -> Value {
    json!(text)
}

fn text_schema() -> Value {
    json!({ "type": "string" })
}

/// The word that stands for all toolsets.
const ALL: &str = "all";

fn toolsets(name: String) -> Result<Vec<ToolsetName>, Problem> {
    match name.as_str() {
        ALL => Ok(vec![
            ToolsetName::Browser,
            ToolsetName::Session,
            ToolsetName::E2e,
        ]),
        name => Ok(vec![ToolsetName::parse(name)?]),
    }
}

fn toolset_schema() -> Value {
    let mut item = ToolsetName::schema();
    if let Some(Value::Array(names)) = item.get_mut("enum") {
        names.push(ALL.into());
    }
    item
}

/// A rule of `--tools` about one tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolRule {
    /// `true` for `+`: the tool is listed even if its capability is off. `false` for `-`: the tool is never listed.
    pub allow: bool,
    /// The name of the tool.
    pub name: String,
}

fn tool_rule(text: String) -> Result<Vec<ToolRule>, Problem> {
    let (allow, name) = match (text.strip_prefix('+'), text.strip_prefix('-')) {
        (Some(name), _) => (true, name),
        (None, Some(name)) => (false, name),
        (None, None) => (false, ""),
    };
    if name.is_empty() {
        return Err(Problem::expected(
            "tools with a sign, such as \"+browser_pdf_save,-browser_evaluate\"",
        ));
    }
    let name = name.to_owned();
    Ok(vec![ToolRule { allow, name }])
}

fn rule_json(rule: &ToolRule) -> Value {
    let sign = if rule.allow { '+' } else { '-' };
    format!("{sign}{}", rule.name).into()
}

/// Port numbers, separated by commas.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Ports(pub Vec<u16>);

impl OptionValue for Ports {
    const WORD: &'static str = "A,B";

    fn parse(text: &str) -> Result<Self, Problem> {
        let ports = split(text, Some(',')).into_iter().map(|port| {
            let port = port.parse::<u16>().ok().filter(|port| *port != 0);
            port.ok_or_else(not_ports)
        });
        ports.collect::<Result<_, _>>().map(Self)
    }

    fn from_json(value: &Value) -> Result<Self, Problem> {
        let items = value.as_array().ok_or_else(not_ports)?.iter();
        Self::parse(&items.map(Value::to_string).collect::<Vec<_>>().join(","))
    }

    fn to_json(&self) -> Value {
        json!(self.0)
    }

    fn schema() -> Value {
        json!({ "type": "array", "items": { "type": "integer", "minimum": 1, "maximum": 65535 } })
    }

    fn extend(&mut self, later: Self) {
        self.0.extend(later.0);
    }
}

fn not_ports() -> Problem {
    Problem::expected("ports between 1 and 65535")
}

/// The default arguments that the browser is started without. `false` in JSON means none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct IgnoredArguments(pub(crate) Vec<String>);

impl OptionValue for IgnoredArguments {
    const WORD: &'static str = Arguments::WORD;

    fn parse(text: &str) -> Result<Self, Problem> {
        Ok(Self(vec![text.to_owned()]))
    }

    fn from_json(value: &Value) -> Result<Self, Problem> {
        match value {
            Value::Bool(false) => Ok(Self::default()),
            // Without --remote-debugging-pipe, Playhouse cannot control the browser.
            Value::Bool(true) => Err(Problem::expected(
                "a list: without the default arguments the browser cannot be driven",
            )),
            _ => strings(value).map(Self),
        }
    }

    fn to_json(&self) -> Value {
        json!(self.0)
    }

    fn schema() -> Value {
        json!({ "anyOf": [Arguments::schema(), { "const": false }] })
    }

    fn extend(&mut self, later: Self) {
        self.0.extend(later.0);
    }
}

/// Declares types of names with values, which JSON writes as an object of strings: the placeholder in help, how a pair is
/// parsed, whether two names are equal, and overridden methods of the trait.
macro_rules! pairs {
    ($(
        $(#[doc = $doc:literal])*
        $name:ident: $word:literal, $read:expr, $is_same:expr $(, { $($more:tt)* })?;
    )*) => { $(
        $(#[doc = $doc])*
        #[derive(Debug, Clone, Default, PartialEq, Eq)]
        pub(crate) struct $name(pub Vec<(String, String)>);

        impl OptionValue for $name {
            const WORD: &'static str = $word;

            fn parse(text: &str) -> Result<Self, Problem> {
                let (name, value) = $read(text)?;
                Ok(Self(vec![(name.trim().to_owned(), value.trim().to_owned())]))
            }

            fn from_json(value: &Value) -> Result<Self, Problem> {
                let pair = |(name, value): (&String, &Value)| {
                    Some((name.clone(), value.as_str()?.to_owned()))
                };
                let pairs = value.as_object();
                let pairs = pairs.and_then(|map| map.iter().map(pair).collect());
                pairs.map(Self).ok_or_else(|| Problem::expected("an object of strings"))
            }

            fn to_json(&self) -> Value {
                let pairs = self.0.iter();
                pairs.map(|(name, value)| (name.clone(), json!(value))).collect()
            }

            fn schema() -> Value {
                json!({ "type": "object", "additionalProperties": { "type": "string" } })
            }

            fn extend(&mut self, later: Self) {
                for (name, value) in later.0 {
                    self.0.retain(|(known, _)| !$is_same(known, &name));
                    self.0.push((name, value));
                }
            }

            $($($more)*)?
        }
    )* };
}

pairs! {
    /// Header fields in the given order, written `Name: value`. A name without a colon has an empty value.
    Headers: "HEADER", header, str::eq_ignore_ascii_case, {
        /// Parses one header from each line of the variable.
        fn parse_environment(text: &str) -> Result<Option<Self>, Problem> {
            let mut headers = Headers::default();
            for line in text.lines().filter(|line| !line.trim().is_empty()) {
                headers.extend(Self::parse(line)?);
            }
            Ok(Some(headers))
        }
    };
    /// Names with values, written `NAME=value`.
    Map: "NAME=VALUE", variable, |known: &str, name: &str| known == name;
}

fn header(text: &str) -> Result<(&str, &str), Problem> {
    let (name, value) = text.split_once(':').unwrap_or((text, ""));
    match name.trim() {
        "" => Err(Problem::expected("a header such as \"Name: value\"")),
        name => Ok((name, value)),
    }
}

fn variable(text: &str) -> Result<(&str, &str), Problem> {
    text.split_once('=')
        .ok_or_else(|| Problem::expected("NAME=value"))
}
