//! Policy files: JSON with optional comments, like configuration files.

use super::{Action, DASHBOARD, Policy, READ_RESOURCE, Rule, Subject, ToolPattern};
use crate::config::JSON_WITH_COMMENTS;
use crate::error::nearest::nearest;
use engine::{OriginRules, is_like};
use jsonc_parser::CollectOptions;
use jsonc_parser::ast::{Array, Object, Value};
use jsonc_parser::common::Ranged;
use std::path::{Path, PathBuf};
use std::str::FromStr as _;
use strum::VariantNames as _;
use url::Url;

/// Why the policy cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LoadError {
    /// The file cannot be read.
    #[error("cannot read the policy {}: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// The file is not a valid policy.
    #[error("the policy {}, line {line}: {reason}", path.display())]
    Wrong {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The error.
        reason: String,
    },
}

/// An error, and its position in the file, in bytes.
struct Mistake {
    at: usize,
    reason: String,
}

type Result<T> = std::result::Result<T, Mistake>;

impl Policy {
    /// Loads a policy about these tools.
    pub(crate) fn load(path: &Path, tools: &[Subject]) -> std::result::Result<Self, LoadError> {
        let text = std::fs::read_to_string(path).map_err(|error| LoadError::Unreadable {
            path: path.to_owned(),
            error,
        })?;
        Self::parse(&text, tools).map_err(|(line, reason)| LoadError::Wrong {
            path: path.to_owned(),
            line,
            reason,
        })
    }

    /// Parses a policy; returns the line and reason of an error.
    pub(super) fn parse(
        text: &str,
        tools: &[Subject],
    ) -> std::result::Result<Self, (usize, String)> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let parsed =
            jsonc_parser::parse_to_ast(text, &CollectOptions::default(), &JSON_WITH_COMMENTS)
                .map_err(|error| (error.line_display(), error.kind().to_string()))?;
        let reader = Reader { text, tools };
        let policy = match &parsed.value {
            Some(Value::Object(object)) => reader.policy(object),
            Some(other) => Err(wrong(other, "expected an object")),
            None => Err(Mistake {
                at: 0,
                reason: "expected an object".to_owned(),
            }),
        };
        policy.map_err(|mistake| (reader.line(mistake.at), mistake.reason))
    }
}

struct Reader<'a> {
    text: &'a str,
    tools: &'a [Subject],
}

impl Reader<'_> {
    /// Returns the line of a position, from 1.
    fn line(&self, at: usize) -> usize {
        let before = self.text.as_bytes().get(..at).unwrap_or_default();
        before.iter().filter(|&&byte| byte == b'\n').count() + 1
    }

    fn policy(&self, object: &Object<'_>) -> Result<Policy> {
        let mut policy = Policy {
            rules: Vec::new(),
            default: Action::Deny,
        };
        for (name, value) in members(object, &["default", "rules"])? {
            match name {
                "default" => policy.default = action(value)?,
                _ => policy.rules = self.rules(array(value)?)?,
            }
        }
        Ok(policy)
    }

    fn rules(&self, rules: &Array<'_>) -> Result<Vec<Rule>> {
        let rules = rules.elements.iter().enumerate();
        let rules = rules.map(|(index, rule)| match rule {
            Value::Object(rule) => self.rule(index + 1, rule),
            other => Err(wrong(other, "expected a rule: an object")),
        });
        rules.collect()
    }

    fn rule(&self, number: usize, object: &Object<'_>) -> Result<Rule> {
        let mut rule = Rule {
            number,
            id: None,
            line: self.line(object.range.start),
            tools: None,
            origins: None,
            action: Action::Deny,
            reason: None,
        };
        let mut has_action = false;
        for (name, value) in members(object, &["id", "tools", "origins", "action", "reason"])? {
            match name {
                "id" => rule.id = Some(text(value)?.to_owned()),
                "reason" => rule.reason = Some(text(value)?.to_owned()),
                "tools" => {
                    let tools = texts(value)?.into_iter();
                    let tools = tools.map(|(at, text)| self.tool(at, text));
                    rule.tools = Some(tools.collect::<Result<_>>()?);
                }
                "origins" => {
                    let origins = texts(value)?.into_iter();
                    let origins = origins.map(|(at, text)| origin(at, text));
                    let origins = origins.collect::<Result<Vec<_>>>()?;
                    rule.origins = Some(OriginRules::new(Some(&origins), &[]));
                }
                _ => {
                    rule.action = action(value)?;
                    has_action = true;
                }
            }
        }
        match has_action {
            true => Ok(rule),
            false => Err(Mistake {
                at: object.range.start,
                reason: format!(
                    "a rule needs an \"action\": {}",
                    Action::VARIANTS.join(", ")
                ),
            }),
        }
    }

    /// Parses a pattern of tools, which must match at least one.
    fn tool(&self, at: usize, text: &str) -> Result<ToolPattern> {
        match text {
            "read-only" => return Ok(ToolPattern::ReadOnly),
            "destructive" => return Ok(ToolPattern::Destructive),
            _ => {}
        }
        let names = self.tools.iter().map(|tool| tool.name);
        let names = names.chain([READ_RESOURCE, DASHBOARD]);
        if names.clone().any(|name| is_like(text, name)) {
            return Ok(ToolPattern::Name(text.to_owned()));
        }
        let reason = match (text.contains('*'), nearest(text, names)) {
            (true, _) => format!("no tool has a name like \"{text}\""),
            (false, Some(name)) => {
                format!("unknown tool \"{text}\". Did you mean \"{name}\"?")
            }
            (false, None) => format!("unknown tool \"{text}\""),
        };
        Err(Mistake { at, reason })
    }
}

fn wrong(value: &Value<'_>, reason: impl Into<String>) -> Mistake {
    Mistake {
        at: value.start(),
        reason: reason.into(),
    }
}

/// Returns the members of an object, which must be known and unique.
fn members<'a>(
    object: &'a Object<'a>,
    known: &[&'static str],
) -> Result<Vec<(&'static str, &'a Value<'a>)>> {
    let mut members: Vec<(&'static str, &Value<'_>)> = Vec::new();
    for member in &object.properties {
        let (name, at) = (member.name.as_str(), member.range.start);
        let Some(&name) = known.iter().find(|known| **known == name) else {
            let nearest = nearest(name, known.iter().copied());
            let nearest = nearest.map(|nearest| format!(" Did you mean \"{nearest}\"?"));
            let known = known.join(", ");
            let reason = format!(
                "unknown key \"{name}\".{} Known are: {known}",
                nearest.unwrap_or_default()
            );
            return Err(Mistake { at, reason });
        };
        if members.iter().any(|(other, _)| *other == name) {
            let reason = format!("\"{name}\" stands here a second time");
            return Err(Mistake { at, reason });
        }
        members.push((name, &member.value));
    }
    Ok(members)
}

fn text<'a>(value: &'a Value<'a>) -> Result<&'a str> {
    let text = value.as_string_lit();
    text.map(|text| &*text.value)
        .ok_or_else(|| wrong(value, "expected a string"))
}

fn array<'a>(value: &'a Value<'a>) -> Result<&'a Array<'a>> {
    value
        .as_array()
        .ok_or_else(|| wrong(value, "expected a list"))
}

/// Returns the texts of a list, which must not be empty, with their positions.
fn texts<'a>(value: &'a Value<'a>) -> Result<Vec<(usize, &'a str)>> {
    let items = &array(value)?.elements;
    if items.is_empty() {
        let reason = "the list is empty: leave it out for all, or name some";
        return Err(wrong(value, reason));
    }
    let items = items.iter();
    items.map(|item| Ok((item.start(), text(item)?))).collect()
}

fn action(value: &Value<'_>) -> Result<Action> {
    let given = text(value)?;
    Action::from_str(given).map_err(|_| {
        let known = Action::VARIANTS.join(", ");
        wrong(
            value,
            format!("unknown action \"{given}\". Known are: {known}"),
        )
    })
}

/// Parses an origin or host in the format of `--allowed-origins`.
fn origin(at: usize, text: &str) -> Result<String> {
    let expected = |what: &str| Mistake {
        at,
        reason: format!(
            "\"{text}\" is not a valid origin: {what}. Expected something like https://example.com, example.com, *.example.com:8443, http://localhost:*"
        ),
    };
    let (scheme, host) = match text.split_once("://") {
        Some((scheme, host)) => (Some(scheme), host),
        None => (None, text),
    };
    if let Some(scheme) = scheme
        && !matches!(&*scheme.to_ascii_lowercase(), "http" | "https" | "*")
    {
        return Err(expected("pages come by http or https"));
    }
    if !text.is_ascii() {
        return Err(expected("write the host in ASCII, as xn--…"));
    }
    // The smallest replacement of `*` that is valid in a host and a port.
    let example = match host.rsplit_once(":*") {
        Some((host, "")) => format!("{}:1", host.replace('*', "x")),
        _ => host.replace('*', "x"),
    };
    let parsed = Url::parse(&format!("http://{example}"));
    let is_host = parsed.is_ok_and(|url| {
        let rest = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
        rest && url.username().is_empty() && url.password().is_none()
    });
    match is_host && !host.ends_with('/') && !host.contains(char::is_whitespace) {
        true => Ok(text.to_owned()),
        false => Err(expected(
            "it is not a host with or without a scheme and a port",
        )),
    }
}
