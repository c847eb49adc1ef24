//! Secrets: values that a client can type by name, and that are masked in answers, files and logs.

mod hidden;
mod parameters;
mod source;
mod variables;

use std::sync::{Arc, PoisonError, RwLock};

use engine::OriginRules;
use engine::codegen::Typed;

pub(crate) use hidden::FORBIDDEN;
use hidden::{Hidden, Mask, Value};
use parameters::Parameters;
pub(crate) use source::SecretsSource;
pub(crate) use variables::Variables;

/// The secrets by name, in the given order. Secrets without a value are left out.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secrets {
    secrets: Vec<Secret>,
    hidden: Hidden,
    parameters: Parameters,
    runtime: RuntimeSecrets,
}

#[derive(Clone, PartialEq, Eq)]
struct Secret {
    name: String,
    value: String,
    /// The origins of documents that the secret may be typed into; `None`: any.
    origins: Option<Vec<String>>,
}

/// A secret may not be typed into documents of this origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WrongOrigin {
    pub(crate) name: String,
    pub(crate) origins: Vec<String>,
}

/// Values that are masked since they were read or typed while the server ran. Clones share them.
#[derive(Clone, Default)]
struct RuntimeSecrets(Arc<RwLock<RuntimeValues>>);

#[derive(Default)]
struct RuntimeValues {
    /// Values that were typed, newest first. None is removed for values that a page shows.
    typed: Vec<Value>,
    /// Values of password fields, newest first.
    passwords: Vec<Value>,
    /// Values of password fields that are too short or too common to be masked within texts, newest first.
    common_passwords: Vec<String>,
    all: Option<Hidden>,
}

impl RuntimeValues {
    fn add_typed(&mut self, value: Value) {
        self.typed.retain(|other| other.text != value.text);
        self.typed.insert(0, value);
        if self.has_too_many() {
            // Typing key by key registers each beginning of a value, too.
            let mut texts: Vec<_> = self.typed.iter().map(|it| it.text.clone()).collect();
            texts.sort_unstable();
            let is_beginning = |text: &String| {
                let next = texts.partition_point(|other| other <= text);
                texts.get(next).is_some_and(|other| other.starts_with(text))
            };
            self.typed.retain(|value| !is_beginning(&value.text));
        }
    }

    fn add_common(&mut self, value: &str) {
        self.common_passwords.retain(|other| other != value);
        self.common_passwords.insert(0, value.to_owned());
        self.common_passwords.truncate(MAX_RUNTIME_SECRETS);
    }

    fn has_too_many(&self) -> bool {
        let size = self
            .typed
            .iter()
            .map(|value| value.text.len())
            .sum::<usize>();
        self.typed.len() > MAX_TYPED || size > MAX_TYPED_SIZE
    }
}

/// Runtime secrets do not make settings different.
impl PartialEq for RuntimeSecrets {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for RuntimeSecrets {}

/// The suffix of the names of entries whose values are origins.
const ORIGINS: &str = "__ORIGINS";

/// The largest number of values that are masked because pages show them in password fields. The oldest are removed first.
const MAX_RUNTIME_SECRETS: usize = 100;
/// A longer value is only masked in its field, in bytes.
const MAX_SHOWN_LENGTH: usize = 4_000;
/// The largest number of typed values, and their size in bytes. If there are more, nothing is shown any more.
const MAX_TYPED: usize = 1_000;
const MAX_TYPED_SIZE: usize = 1 << 20;

/// A shorter runtime secret is not masked, because it occurs in many texts.
const MIN_LENGTH: usize = 4;

/// Passwords that are words of answers, or so common that pages show them as ordinary words.
const COMMON: &[&str] = &[
    "active",
    "admin",
    "button",
    "checked",
    "code",
    "cursor",
    "default",
    "demo",
    "disabled",
    "email",
    "error",
    "example",
    "expanded",
    "false",
    "form",
    "generic",
    "guest",
    "hidden",
    "input",
    "invalid",
    "link",
    "login",
    "message",
    "name",
    "none",
    "null",
    "number",
    "object",
    "page",
    "password",
    "pointer",
    "pressed",
    "result",
    "root",
    "secret",
    "selected",
    "snapshot",
    "string",
    "test",
    "text",
    "textbox",
    "title",
    "true",
    "type",
    "undefined",
    "user",
    "username",
    "value",
    "welcome",
];

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}

impl Secrets {
    /// Returns secrets with these names and values that may be typed anywhere.
    pub fn new(pairs: impl IntoIterator<Item = (String, String)>) -> Secrets {
        let secrets = pairs.into_iter().map(|(name, value)| Secret {
            name,
            value,
            origins: None,
        });
        Self::of(secrets.collect())
    }

    /// Parses secrets of the configuration. The value of `NAME__ORIGINS` is a list of the origins that the secret `NAME` may be typed into,
    /// separated by commas or white space. On failure, returns the name of the invalid entry and the reason.
    pub(crate) fn parse(pairs: Vec<(String, String)>) -> Result<Secrets, (String, String)> {
        let (origins, secrets): (Vec<_>, Vec<_>) = pairs
            .into_iter()
            .partition(|(name, _)| name.ends_with(ORIGINS));
        let mut secrets: Vec<_> = secrets
            .into_iter()
            .map(|(name, value)| Secret {
                name,
                value,
                origins: None,
            })
            .collect();
        for (entry, list) in origins {
            let name = entry.trim_end_matches(ORIGINS);
            let Some(secret) = secrets.iter_mut().find(|secret| secret.name == name) else {
                return Err((entry.clone(), format!("unknown secret {name}")));
            };
            let listed = list.split(|c: char| c == ',' || c.is_whitespace());
            let listed: Vec<_> = listed.filter(|origin| !origin.is_empty()).collect();
            if listed.is_empty() {
                return Err((entry, "it names no origin".to_owned()));
            }
            for origin in &listed {
                if let Err(reason) = check_origin(origin) {
                    return Err((entry, format!("{origin}: {reason}")));
                }
            }
            secret.origins = Some(listed.into_iter().map(str::to_owned).collect());
        }
        Ok(Self::of(secrets))
    }

    fn of(mut secrets: Vec<Secret>) -> Self {
        secrets.retain(|secret| !secret.value.is_empty());
        let values = secrets.iter().map(|secret| Value {
            text: secret.value.clone(),
            mask: Mask::Name(secret.name.clone()),
        });
        Secrets {
            hidden: Hidden::new(values.collect()),
            secrets,
            parameters: Parameters::default(),
            runtime: RuntimeSecrets::default(),
        }
    }

    /// Masks the values of these URL parameters, too.
    #[must_use]
    pub(crate) fn with_url_parameters(self, names: Vec<String>) -> Secrets {
        Secrets {
            parameters: Parameters::new(names),
            ..self
        }
    }

    /// Returns a copy with runtime secrets of its own.
    pub(crate) fn apart(&self) -> Secrets {
        Secrets {
            runtime: RuntimeSecrets::default(),
            ..self.clone()
        }
    }

    /// Adds a value that the user typed to the values that are masked.
    pub(crate) fn mask_value(&self, value: &str) {
        if value.chars().count() < MIN_LENGTH {
            return;
        }
        let mut runtime = self.lock_runtime();
        let typed = Value {
            text: value.to_owned(),
            mask: Mask::Name("TYPED_BY_USER".to_owned()),
        };
        runtime.add_typed(typed);
        self.compile(&mut runtime);
    }

    /// Adds values that were typed into password fields to the values that are masked.
    pub(crate) fn mask_typed(&self, values: &[String]) {
        let mut runtime = self.lock_runtime();
        let mut has_new = false;
        for value in values {
            if !is_distinctive(value) {
                runtime.add_common(value);
                continue;
            }
            let mut known = self.hidden.values.iter().chain(&runtime.typed);
            if known.all(|other| !other.equals(value)) {
                has_new = true;
                runtime.add_typed(Value {
                    text: value.clone(),
                    mask: Mask::Dots,
                });
            }
        }
        if has_new {
            self.compile(&mut runtime);
        }
    }

    /// Adds the values of password fields to the values that are masked. Returns the mask of each value.
    pub(crate) fn mask_passwords(&self, values: &[String]) -> Vec<String> {
        let mut runtime = self.lock_runtime();
        let mut masks = Vec::with_capacity(values.len());
        let mut fresh: Vec<Value> = Vec::new();
        for value in values {
            let all = runtime.all.as_ref().unwrap_or(&self.hidden).values.iter();
            if let Some(named) = all.chain(&fresh).find(|other| other.equals(value)) {
                masks.push(named.replacement());
                continue;
            }
            let password = Value {
                text: value.clone(),
                mask: Mask::Dots,
            };
            masks.push(password.replacement());
            if value.len() > MAX_SHOWN_LENGTH {
                continue;
            }
            if !is_distinctive(value) {
                runtime.add_common(value);
            } else if fresh.len() < MAX_RUNTIME_SECRETS {
                fresh.push(password);
            }
        }
        if !fresh.is_empty() {
            runtime.passwords.splice(..0, fresh);
            runtime.passwords.truncate(MAX_RUNTIME_SECRETS);
            self.compile(&mut runtime);
        }
        masks
    }

    fn lock_runtime(&self) -> std::sync::RwLockWriteGuard<'_, RuntimeValues> {
        let runtime = self.runtime.0.write();
        runtime.unwrap_or_else(PoisonError::into_inner)
    }

    fn compile(&self, runtime: &mut RuntimeValues) {
        if runtime.has_too_many() {
            runtime.all = Some(Hidden::overfull());
            return;
        }
        // If a secret has the same value, its name is the more useful mask.
        let all = self.hidden.values.iter().chain(&runtime.typed);
        let all = all.chain(&runtime.passwords).cloned();
        runtime.all = Some(Hidden::new(all.collect()));
    }

    /// Returns the configured secrets and the runtime secrets.
    fn hidden(&self) -> Hidden {
        let runtime = self.runtime.0.read();
        let runtime = runtime.unwrap_or_else(PoisonError::into_inner);
        runtime.all.clone().unwrap_or_else(|| self.hidden.clone())
    }

    /// Returns the names of the secrets.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.secrets.iter().map(|secret| secret.name.as_str())
    }

    /// Returns the names of the secrets that may be typed anywhere.
    pub fn without_origins(&self) -> impl Iterator<Item = &str> {
        let secrets = self.secrets.iter();
        let anywhere = secrets.filter(|secret| secret.origins.is_none());
        anywhere.map(|secret| secret.name.as_str())
    }

    /// Returns the text to type and how generated code writes it. The name of a secret stands for its value.
    pub fn typed(&self, text: &str) -> (String, Typed) {
        match self.secrets.iter().find(|secret| secret.name == text) {
            Some(Secret { name, value, .. }) => (value.clone(), Typed::Variable(name.clone())),
            None => (text.to_owned(), Typed::Text(text.to_owned())),
        }
    }

    /// Whether the text is the name of a secret that has origins.
    pub(crate) fn is_bound(&self, text: &str) -> bool {
        let named = self.secrets.iter().find(|secret| secret.name == text);
        named.is_some_and(|secret| secret.origins.is_some())
    }

    /// Fails if the text is the name of a secret that may not be typed into documents of this origin.
    pub(crate) fn check(&self, text: &str, origin: &str) -> Result<(), WrongOrigin> {
        let named = self.secrets.iter().find(|secret| secret.name == text);
        let Some((secret, origins)) = named.and_then(|it| Some((it, it.origins.as_ref()?))) else {
            return Ok(());
        };
        let is_web = origin.starts_with("https://") || origin.starts_with("http://");
        if is_web && OriginRules::new(Some(origins), &[]).allow(origin) {
            return Ok(());
        }
        Err(WrongOrigin {
            name: secret.name.clone(),
            origins: origins.clone(),
        })
    }

    /// Replaces each value of a secret by `<secret>NAME</secret>`, each password by marks, and values of URL parameters by `<redacted>`.
    pub fn redacted(&self, text: String) -> String {
        self.parameters.redacted(self.hidden().redacted(text))
    }

    /// Masks secrets in each string and each key of a JSON value.
    pub fn redacted_json(&self, value: serde_json::Value) -> serde_json::Value {
        let hidden = self.hidden();
        redacted_json(
            &|text| self.parameters.redacted(hidden.redacted(text)),
            value,
        )
    }

    /// Masks secrets in the arguments of a call. A string that equals a password is masked even if it is short or common.
    pub(crate) fn redacted_arguments(&self, arguments: serde_json::Value) -> serde_json::Value {
        let runtime = self.runtime.0.read();
        let common = runtime
            .unwrap_or_else(PoisonError::into_inner)
            .common_passwords
            .clone();
        self.redacted_json(mask_equal(&common, arguments))
    }
}

/// Replaces each string that equals one of these passwords by marks.
fn mask_equal(passwords: &[String], value: serde_json::Value) -> serde_json::Value {
    use serde_json::Value;
    match value {
        Value::String(text) if passwords.contains(&text) => engine::password_dots(&text).into(),
        Value::Array(items) => {
            let items = items.into_iter();
            items.map(|item| mask_equal(passwords, item)).collect()
        }
        Value::Object(members) => {
            let members = members.into_iter();
            members
                .map(|(name, value)| (name, mask_equal(passwords, value)))
                .collect()
        }
        other => other,
    }
}

fn redacted_json(
    redacted: &impl Fn(String) -> String,
    value: serde_json::Value,
) -> serde_json::Value {
    use serde_json::Value;
    match value {
        Value::String(text) => Value::String(redacted(text)),
        Value::Array(items) => items
            .into_iter()
            .map(|item| redacted_json(redacted, item))
            .collect(),
        Value::Object(map) => map
            .into_iter()
            .map(|(key, value)| (redacted(key), redacted_json(redacted, value)))
            .collect(),
        other => other,
    }
}

/// Whether a password is unlikely to occur in pages and answers as an ordinary word.
fn is_distinctive(value: &str) -> bool {
    let value = value.trim();
    value.chars().count() >= MIN_LENGTH && !COMMON.contains(&value.to_ascii_lowercase().as_str())
}

/// Checks an origin with a scheme, a host, and a port if it is not the default; `*` matches any text.
fn check_origin(origin: &str) -> Result<(), &'static str> {
    let host = origin
        .strip_prefix("https://")
        .or_else(|| origin.strip_prefix("http://"))
        .ok_or("an origin begins with https:// or http://")?;
    let is_host = |c: char| c.is_ascii_alphanumeric() || "-.*:[]_".contains(c);
    match host.is_empty() || !host.chars().all(is_host) {
        true => Err(
            "an origin is a scheme, a host in ASCII and maybe a port, such as https://*.example.com:8443",
        ),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests;
