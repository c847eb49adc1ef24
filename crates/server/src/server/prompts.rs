//! Prompts: instructions that users select in their client, filled with arguments and written for the enabled tools. Built-in and user
//! prompts have the same file format.

mod file;
mod template;

use crate::config::{PromptSettings, Secrets, ToolsetName};
use crate::error::nearest::nearest;
use file::Source;
use serde_json::{Map, Value};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use template::{Given, Templates};

/// The built-in prompts, by name.
const BUILTIN: &[(&str, &str)] = &[
    (
        "scrape_website",
        include_str!("prompts/builtin/scrape_website.md"),
    ),
    ("fill_form", include_str!("prompts/builtin/fill_form.md")),
    (
        "visual_regression",
        include_str!("prompts/builtin/visual_regression.md"),
    ),
    (
        "authenticate",
        include_str!("prompts/builtin/authenticate.md"),
    ),
    ("e2e_test", include_str!("prompts/builtin/e2e_test.md")),
];

/// The prompts of a server, in the order of `prompts/list`.
pub(crate) struct Prompts {
    list: Vec<Prompt>,
    templates: Templates,
    /// The names of the server's secrets.
    secrets: Vec<String>,
}

/// A prompt without its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Prompt {
    /// The name in the protocol.
    pub(crate) name: String,
    /// The title for users.
    pub(crate) title: Option<String>,
    /// The description.
    pub(crate) description: String,
    /// The arguments.
    pub(crate) arguments: Vec<Argument>,
}

/// An argument of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Argument {
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    pub(crate) required: bool,
    default: Option<String>,
    kind: Kind,
}

/// The kind of an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Text,
    /// A URL.
    Url,
    /// A URL, or a path of the app under test.
    Page,
    /// JSON: names and their texts.
    Object,
    /// One of these.
    OneOf(Vec<String>),
    /// The id of a session.
    Session,
    /// A password, which prompts do not contain: at most the name of one of the server's secrets.
    Secret,
}

/// Why prompts cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LoadError {
    /// The folder cannot be listed, or one of its files cannot be read.
    #[error("cannot read the prompts of {}: {error}", path.display())]
    Unreadable {
        path: PathBuf,
        error: std::io::Error,
    },
    /// A file is not a valid prompt.
    #[error("{}:{line}: {reason}", path.display())]
    Wrong {
        path: PathBuf,
        line: usize,
        reason: String,
    },
}

/// Why a prompt cannot be returned.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    /// There is no prompt of that name.
    #[error(
        "Prompt \"{name}\" not found.{} See prompts/list.",
        did_you_mean(nearest)
    )]
    Unknown {
        name: String,
        nearest: Option<String>,
    },
    /// The arguments are invalid.
    #[error("Invalid arguments for the prompt \"{name}\":{}", listed(problems))]
    Arguments {
        name: String,
        problems: Vec<Problem>,
    },
    /// A user template fails with these arguments.
    #[error("The prompt \"{name}\" cannot be written: {reason}")]
    Template { name: String, reason: String },
}

/// An invalid argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    /// The name of the argument.
    pub(crate) argument: String,
    /// The reason, and valid values.
    pub(crate) reason: String,
}

impl Prompts {
    /// Loads the built-in prompts and those of the user's folder, for a server with these tools.
    pub(crate) fn load(
        settings: &PromptSettings,
        toolsets: &[ToolsetName],
        tools: impl Iterator<Item = &'static str>,
        secrets: &Secrets,
    ) -> Result<Self, LoadError> {
        let mut prompts = Self {
            list: Vec::new(),
            templates: Templates::new(tools.collect(), toolsets),
            secrets: secrets.names().map(str::to_owned).collect(),
        };
        for (name, text) in BUILTIN {
            // Built-in prompts are valid, because tests load them all.
            prompts.add(name, text, Path::new(name))?;
        }
        for path in settings.dir.iter().map(|dir| files(dir)) {
            for path in path? {
                let text = std::fs::read_to_string(&path).map_err(|error| {
                    let path = path.clone();
                    LoadError::Unreadable { path, error }
                })?;
                let name = path.file_stem().unwrap_or_default().to_string_lossy();
                prompts.add(&name, &text, &path)?;
            }
        }
        Ok(prompts)
    }

    /// Adds a prompt, which replaces another one of the same name.
    fn add(&mut self, name: &str, text: &str, path: &Path) -> Result<(), LoadError> {
        let wrong = |mistake: file::Mistake| LoadError::Wrong {
            path: path.to_owned(),
            line: mistake.line,
            reason: mistake.reason,
        };
        let Source {
            title,
            description,
            arguments,
            body,
            body_line,
        } = file::parse(name, text).map_err(wrong)?;
        let prompt = Prompt {
            name: name.to_owned(),
            title,
            description,
            arguments,
        };
        self.templates
            .add(&prompt, body, body_line)
            .map_err(wrong)?;
        match self.list.iter_mut().find(|known| known.name == name) {
            Some(known) => *known = prompt,
            None => self.list.push(prompt),
        }
        Ok(())
    }

    /// Returns all prompts.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Prompt> {
        self.list.iter()
    }

    /// Returns the prompt of that name, and its text with these arguments.
    pub(crate) fn get(
        &self,
        name: &str,
        arguments: &Map<String, Value>,
    ) -> Result<(&Prompt, String), Refusal> {
        let prompt = self.find(name)?;
        let given = self.given(prompt, arguments)?;
        let text = self.templates.render(name, given);
        let text = text.map_err(|reason| Refusal::Template {
            name: name.to_owned(),
            reason,
        })?;
        Ok((prompt, text))
    }

    /// Returns completions of an argument. `sessions` are the ids that the client may use.
    pub(crate) fn complete(
        &self,
        name: &str,
        argument: &str,
        begun: &str,
        sessions: impl FnOnce() -> Vec<String>,
    ) -> Result<Vec<String>, Refusal> {
        let prompt = self.find(name)?;
        let Some(argument) = prompt.arguments.iter().find(|a| a.name == argument) else {
            let problems = vec![prompt.unknown(argument)];
            let name = name.to_owned();
            return Err(Refusal::Arguments { name, problems });
        };
        let values = match &argument.kind {
            Kind::OneOf(values) => values.clone(),
            Kind::Session => sessions(),
            Kind::Secret => self.secrets.clone(),
            Kind::Text | Kind::Url | Kind::Page | Kind::Object => {
                argument.default.iter().cloned().collect()
            }
        };
        let begun = begun.to_lowercase();
        let fits = |value: &String| value.to_lowercase().starts_with(&begun);
        Ok(values.into_iter().filter(fits).collect())
    }

    fn find(&self, name: &str) -> Result<&Prompt, Refusal> {
        let found = self.list.iter().find(|prompt| prompt.name == name);
        found.ok_or_else(|| Refusal::Unknown {
            name: name.to_owned(),
            nearest: nearest(name, self.list.iter().map(|prompt| prompt.name.as_str()))
                .map(str::to_owned),
        })
    }

    /// Returns a value for each argument; missing arguments without a default are empty.
    fn given(
        &self,
        prompt: &Prompt,
        arguments: &Map<String, Value>,
    ) -> Result<Vec<(String, Given)>, Refusal> {
        let mut problems: Vec<_> = arguments
            .keys()
            .filter(|name| !prompt.arguments.iter().any(|known| known.name == **name))
            .map(|name| prompt.unknown(name))
            .collect();
        let mut given = Vec::new();
        for argument in &prompt.arguments {
            match self.value(argument, arguments.get(&argument.name)) {
                Ok(value) => given.push((argument.name.clone(), value)),
                Err(reason) => problems.push(Problem {
                    argument: argument.name.clone(),
                    reason,
                }),
            }
        }
        if problems.is_empty() {
            return Ok(given);
        }
        Err(Refusal::Arguments {
            name: prompt.name.clone(),
            problems,
        })
    }

    fn value(&self, argument: &Argument, value: Option<&Value>) -> Result<Given, String> {
        let text = match value {
            None | Some(Value::Null) => None,
            // Forms of clients send empty fields as empty texts.
            Some(Value::String(text)) if text.trim().is_empty() => None,
            Some(Value::String(text)) => Some(text.clone()),
            Some(value) => Some(value.to_string()),
        };
        let Some(text) = text.or_else(|| argument.default.clone()) else {
            return match argument.required {
                true => Err(match &argument.description {
                    Some(description) => format!("is missing. It is needed: {description}"),
                    None => "is missing, and needed".to_owned(),
                }),
                false => Ok(argument.kind.empty()),
            };
        };
        match &argument.kind {
            Kind::Text | Kind::Session => Ok(Given::Text(text)),
            Kind::Url if is_address(&text) => Ok(Given::Text(text.trim().to_owned())),
            Kind::Page if is_address(&text) || is_path(&text) => {
                Ok(Given::Text(text.trim().to_owned()))
            }
            Kind::Page => Err(
                "must be an address, such as https://example.com/, or a path of the app, such as /login"
                    .to_owned(),
            ),
            Kind::Url => Err("must be an address, such as https://example.com/".to_owned()),
            Kind::OneOf(values) if values.contains(&text) => Ok(Given::Text(text)),
            Kind::OneOf(values) => Err(format!("must be one of: {}", values.join(", "))),
            Kind::Object => object(&text).map(Given::Pairs),
            // Only names of the server's secrets are passed on.
            Kind::Secret => Ok(Given::Text(match self.secrets.contains(&text) {
                true => text,
                false => String::new(),
            })),
        }
    }
}

impl Prompt {
    fn unknown(&self, argument: &str) -> Problem {
        let names = || self.arguments.iter().map(|known| known.name.as_str());
        let mut reason = "is none of its arguments.".to_owned();
        if let Some(nearest) = nearest(argument, names()) {
            let _ = write!(reason, " Did you mean \"{nearest}\"?");
        }
        match names().collect::<Vec<_>>() {
            names if names.is_empty() => reason.push_str(" It has none"),
            names => {
                let _ = write!(reason, " It has: {}", names.join(", "));
            }
        }
        Problem {
            argument: argument.to_owned(),
            reason,
        }
    }
}

impl Kind {
    fn empty(&self) -> Given {
        match self {
            Self::Object => Given::Pairs(Vec::new()),
            _ => Given::Text(String::new()),
        }
    }
}

/// Returns the prompt files of a folder, sorted by name.
fn files(dir: &Path) -> Result<Vec<PathBuf>, LoadError> {
    let unreadable = |error| LoadError::Unreadable {
        path: dir.to_owned(),
        error,
    };
    let entries = std::fs::read_dir(dir).map_err(unreadable)?;
    let paths: Result<Vec<_>, _> = entries.map(|entry| entry.map(|e| e.path())).collect();
    let mut paths = paths.map_err(unreadable)?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    paths.sort();
    Ok(paths)
}

/// Returns whether the address bar of a browser would accept the text as a URL.
fn is_address(text: &str) -> bool {
    let text = text.trim();
    if text.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return false;
    }
    let whole = url::Url::parse(text);
    whole.is_ok_and(|url| !url.cannot_be_a_base() || url.scheme() == "about")
        || url::Url::parse(&format!("http://{text}")).is_ok()
}

fn is_path(text: &str) -> bool {
    let text = text.trim();
    text.starts_with('/') && !text.chars().any(|c| c.is_whitespace() || c.is_control())
}

/// Parses the names and texts of a JSON object.
fn object(text: &str) -> Result<Vec<(String, String)>, String> {
    let wanted = "must be a JSON object of names and texts, such as {\"name\": \"value\"}";
    match serde_json::from_str(text) {
        Ok(Value::Object(map)) if map.is_empty() => Err(format!("{wanted}; this one is empty")),
        Ok(Value::Object(map)) => Ok(map
            .into_iter()
            .map(|(name, value)| match value {
                Value::String(text) => (name, text),
                value => (name, value.to_string()),
            })
            .collect()),
        Ok(_) => Err(wanted.to_owned()),
        Err(error) => Err(format!("{wanted}; it is not valid JSON: {error}")),
    }
}

fn did_you_mean(nearest: &Option<String>) -> String {
    let question = |name| format!(" Did you mean \"{name}\"?");
    nearest.as_ref().map(question).unwrap_or_default()
}

fn listed(problems: &[Problem]) -> String {
    let line = |problem: &Problem| format!("\n- \"{}\" {}", problem.argument, problem.reason);
    problems.iter().map(line).collect()
}

#[cfg(test)]
mod tests;
