//! Options that hold several values. Within one layer they append.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{OptionValue, Problem, ToolsetName};

/// Declares a list of strings that is written with a separator, or one by one.
macro_rules! string_lists {
    ($($(#[doc = $doc:literal])* $name:ident ($word:literal, $separator:expr);)*) => { $(
        $(#[doc = $doc])*
        #[derive(Debug, Clone, Default, PartialEq, Eq)]
        pub(crate) struct $name(pub Vec<String>);

        impl OptionValue for $name {
            const WORD: &'static str = $word;

            fn parse(text: &str) -> Result<Self, Problem> {
                Ok($name(split(text, $separator)))
            }

            fn from_json(value: &Value) -> Result<Self, Problem> {
                strings(value).map($name)
            }

            fn to_json(&self) -> Value {
                json!(self.0)
            }

            fn schema() -> Value {
                json!({ "type": "array", "items": { "type": "string" } })
            }

            fn extend(&mut self, later: Self) {
                self.0.extend(later.0);
            }
        }
    )* };
}

string_lists! {
    /// Words separated by commas.
    CommaList("A,B", Some(','));
    /// Capabilities by name, separated by commas; unknown ones are allowed.
    CapabilityNames("A,B", Some(','));
    /// Origins or hosts, separated by semicolons.
    OriginList("A;B", Some(';'));
    /// Arguments of a command, one by one.
    Arguments("TEXT", None);
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

/// Numbers of ports, separated by commas.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Ports(pub Vec<u16>);

impl Ports {
    fn problem() -> Problem {
        Problem::expected("ports between 1 and 65535")
    }
}

impl OptionValue for Ports {
    const WORD: &'static str = "A,B";

    fn parse(text: &str) -> Result<Self, Problem> {
        let ports = split(text, Some(','))
            .into_iter()
            .map(|port| match port.parse::<u16>() {
                Ok(0) | Err(_) => Err(Self::problem()),
                Ok(port) => Ok(port),
            });
        ports.collect::<Result<_, _>>().map(Ports)
    }

    fn from_json(value: &Value) -> Result<Self, Problem> {
        let port = |item: &Value| {
            let port = u16::try_from(item.as_u64()?).ok()?;
            (port != 0).then_some(port)
        };
        let items = value.as_array().ok_or_else(Self::problem)?;
        let ports: Option<_> = items.iter().map(port).collect();
        ports.map(Ports).ok_or_else(Self::problem)
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

/// Script files; in a configuration file they are relative to it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Scripts(pub Vec<PathBuf>);

impl OptionValue for Scripts {
    const WORD: &'static str = "PATH";

    fn parse(text: &str) -> Result<Self, Problem> {
        Ok(Scripts(vec![PathBuf::parse(text)?]))
    }

    fn from_json(value: &Value) -> Result<Self, Problem> {
        Ok(Scripts(
            strings(value)?.into_iter().map(PathBuf::from).collect(),
        ))
    }

    fn to_json(&self) -> Value {
        self.0.iter().map(|path| path.to_json()).collect()
    }

    fn schema() -> Value {
        json!({ "type": "array", "items": { "type": "string" } })
    }

    fn extend(&mut self, later: Self) {
        self.0.extend(later.0);
    }

    fn rebase(&mut self, folder: &Path) {
        for path in &mut self.0 {
            *path = folder.join(&*path);
        }
    }
}

/// Header fields in the order given, written `Name: value`. A name alone has an empty value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Headers(pub Vec<(String, String)>);

impl OptionValue for Headers {
    const WORD: &'static str = "HEADER";

    fn parse(text: &str) -> Result<Self, Problem> {
        let (name, value) = text.split_once(':').unwrap_or((text, ""));
        match name.trim() {
            "" => Err(Problem::expected("a header such as \"Name: value\"")),
            name => Ok(Headers(vec![(name.to_owned(), value.trim().to_owned())])),
        }
    }

    /// A variable holds one header a line.
    fn parse_environment(text: &str) -> Result<Option<Self>, Problem> {
        let mut headers = Headers::default();
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            headers.extend(Self::parse(line)?);
        }
        Ok(Some(headers))
    }

    fn from_json(value: &Value) -> Result<Self, Problem> {
        pairs(value).map(Headers)
    }

    fn to_json(&self) -> Value {
        self.0
            .iter()
            .map(|(name, value)| (name.clone(), json!(value)))
            .collect()
    }

    fn schema() -> Value {
        json!({ "type": "object", "additionalProperties": { "type": "string" } })
    }

    fn extend(&mut self, later: Self) {
        for (name, value) in later.0 {
            self.0
                .retain(|(known, _)| !known.eq_ignore_ascii_case(&name));
            self.0.push((name, value));
        }
    }
}

fn pairs(value: &Value) -> Result<Vec<(String, String)>, Problem> {
    let pair = |(name, value): (&String, &Value)| Some((name.clone(), value.as_str()?.to_owned()));
    let pairs = value
        .as_object()
        .and_then(|map| map.iter().map(pair).collect());
    pairs.ok_or_else(|| Problem::expected("an object of strings"))
}

/// Names with values, written `NAME=value`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Map(pub Vec<(String, String)>);

impl OptionValue for Map {
    const WORD: &'static str = "NAME=VALUE";

    fn parse(text: &str) -> Result<Self, Problem> {
        let (name, value) = text
            .split_once('=')
            .ok_or_else(|| Problem::expected("NAME=value"))?;
        Ok(Map(vec![(name.trim().to_owned(), value.trim().to_owned())]))
    }

    fn from_json(value: &Value) -> Result<Self, Problem> {
        pairs(value).map(Map)
    }

    fn to_json(&self) -> Value {
        self.0
            .iter()
            .map(|(name, value)| (name.clone(), json!(value)))
            .collect()
    }

    fn schema() -> Value {
        json!({ "type": "object", "additionalProperties": { "type": "string" } })
    }

    fn extend(&mut self, later: Self) {
        for (name, value) in later.0 {
            self.0.retain(|(known, _)| *known != name);
            self.0.push((name, value));
        }
    }
}

/// Our own arguments that the browser does not get; `false` in JSON is none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct IgnoredArguments(pub(crate) Vec<String>);

impl OptionValue for IgnoredArguments {
    const WORD: &'static str = "TEXT";

    fn parse(text: &str) -> Result<Self, Problem> {
        Ok(IgnoredArguments(vec![text.to_owned()]))
    }

    fn from_json(value: &Value) -> Result<Self, Problem> {
        match value {
            Value::Bool(false) => Ok(IgnoredArguments::default()),
            // Without --remote-debugging-pipe nothing could drive it.
            Value::Bool(true) => Err(Problem::expected(
                "a list: without the default arguments the browser cannot be driven",
            )),
            _ => strings(value).map(IgnoredArguments),
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

/// The word for all toolsets.
const ALL: &str = "all";

fn toolsets(names: &[String]) -> Result<ToolsetNames, Problem> {
    let mut toolsets = Vec::new();
    for name in names {
        match name.as_str() {
            ALL => toolsets.extend([ToolsetName::Browser, ToolsetName::Session, ToolsetName::E2e]),
            name => toolsets.push(ToolsetName::parse(name)?),
        }
    }
    Ok(ToolsetNames(toolsets))
}

/// Toolsets, separated by commas.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ToolsetNames(pub Vec<ToolsetName>);

impl OptionValue for ToolsetNames {
    const WORD: &'static str = "A,B";

    fn parse(text: &str) -> Result<Self, Problem> {
        toolsets(&split(text, Some(',')))
    }

    fn from_json(value: &Value) -> Result<Self, Problem> {
        toolsets(&strings(value)?)
    }

    fn to_json(&self) -> Value {
        self.0.iter().map(|name| name.to_json()).collect()
    }

    fn schema() -> Value {
        let mut item = ToolsetName::schema();
        if let Some(Value::Array(names)) = item.get_mut("enum") {
            names.push(ALL.into());
        }
        json!({ "type": "array", "items": item })
    }

    fn extend(&mut self, later: Self) {
        self.0.extend(later.0);
    }
}

/// One word of `--tools`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolRule {
    /// `+`: listed even if its capability is off; `-`: never listed.
    pub allow: bool,
    /// The tool's name.
    pub name: String,
}

/// Rules about single tools, `+name,-name`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ToolRules(pub Vec<ToolRule>);

fn tool_rule(text: &str) -> Result<ToolRule, Problem> {
    let signed = text.strip_prefix('+').map(|name| (true, name));
    match signed.or_else(|| text.strip_prefix('-').map(|name| (false, name))) {
        Some((allow, name)) if !name.is_empty() => Ok(ToolRule {
            allow,
            name: name.to_owned(),
        }),
        _ => Err(Problem::expected(
            "tools with a sign, such as \"+browser_pdf_save,-browser_evaluate\"",
        )),
    }
}

impl OptionValue for ToolRules {
    const WORD: &'static str = "+A,-B";

    fn parse(text: &str) -> Result<Self, Problem> {
        let rules = split(text, Some(','));
        rules
            .iter()
            .map(|rule| tool_rule(rule))
            .collect::<Result<_, _>>()
            .map(ToolRules)
    }

    fn from_json(value: &Value) -> Result<Self, Problem> {
        let rules = strings(value)?;
        rules
            .iter()
            .map(|rule| tool_rule(rule))
            .collect::<Result<_, _>>()
            .map(ToolRules)
    }

    fn to_json(&self) -> Value {
        let text = |rule: &ToolRule| format!("{}{}", if rule.allow { '+' } else { '-' }, rule.name);
        json!(self.0.iter().map(text).collect::<Vec<_>>())
    }

    fn schema() -> Value {
        json!({ "type": "array", "items": { "type": "string", "pattern": "^[+-]." } })
    }

    fn extend(&mut self, later: Self) {
        self.0.extend(later.0);
    }
}
