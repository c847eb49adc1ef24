//! Secrets: texts that a client may type by their names, and that nothing it reads may show.

mod hidden;
mod source;

use std::sync::{Arc, PoisonError, RwLock};

use engine::OriginRules;
use engine::codegen::Typed;

pub(crate) use hidden::FORBIDDEN;
use hidden::{Hidden, Mask, Value};
pub(crate) use source::SecretsSource;

/// Names and values, in the order given. Those without a value are left out.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secrets {
    secrets: Vec<Secret>,
    hidden: Hidden,
    learned: RuntimeSecrets,
}

#[derive(Clone, PartialEq, Eq)]
struct Secret {
    name: String,
    value: String,
    /// The documents that it may be typed into; any without.
    origins: Option<Vec<String>>,
}

/// A secret that a client wants to type into a document that it is not for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WrongOrigin {
    pub(crate) name: String,
    pub(crate) origins: Vec<String>,
}

/// What became known while the server ran, and all that must not be shown since. Clones share them.
#[derive(Clone, Default)]
struct RuntimeSecrets(Arc<RwLock<Known>>);

#[derive(Default)]
struct Known {
    /// What people typed, newest first.
    typed: Vec<Value>,
    /// What password fields held, newest first.
    passwords: Vec<Value>,
    /// What password fields held that is too short or too common to be hidden within texts, newest first.
    common_passwords: Vec<String>,
    all: Option<Hidden>,
}

/// What was learned since does not make settings different.
impl PartialEq for RuntimeSecrets {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for RuntimeSecrets {}

/// What the names of entries end with that have origins as their values.
const ORIGINS: &str = "__ORIGINS";

/// How many values of each kind are remembered; the oldest are forgotten first.
const MAX_RUNTIME_SECRETS: usize = 100;

/// What is learned and shorter is not hidden: it stands everywhere.
const MIN_LENGTH: usize = 4;

/// Passwords that are words of answers, or so common that a page shows them as words of its own.
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
    /// Secrets of these names and values, which may be typed anywhere.
    pub fn new(pairs: impl IntoIterator<Item = (String, String)>) -> Secrets {
        let secrets = pairs.into_iter().map(|(name, value)| Secret {
            name,
            value,
            origins: None,
        });
        Self::of(secrets.collect())
    }

    /// Secrets as they are configured: `NAME__ORIGINS` is a list of the origins that the secret `NAME` may be typed into, separated by
    /// commas or white space. Fails with the entry that is wrong and why.
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
            learned: RuntimeSecrets::default(),
        }
    }

    /// The same, which learns by itself.
    pub(crate) fn apart(&self) -> Secrets {
        Secrets {
            learned: RuntimeSecrets::default(),
            ..self.clone()
        }
    }

    /// Hides from now on what a person typed.
    pub(crate) fn mask_value(&self, value: &str) {
        if value.chars().count() < MIN_LENGTH {
            return;
        }
        let mut known = self.known();
        known.typed.insert(
            0,
            Value {
                text: value.to_owned(),
                mask: Mask::Name("TYPED_BY_USER".to_owned()),
            },
        );
        known.typed.truncate(MAX_RUNTIME_SECRETS);
        self.hide(&mut known);
    }

    /// Hides from now on what password fields hold; answers for each value what is shown instead of it.
    pub(crate) fn mask_passwords(&self, values: &[String]) -> Vec<String> {
        let mut known = self.known();
        let mut masks = Vec::with_capacity(values.len());
        let mut fresh: Vec<Value> = Vec::new();
        for value in values {
            let all = known.all.as_ref().unwrap_or(&self.hidden).values.iter();
            if let Some(named) = all.chain(&fresh).find(|known| known.is(value)) {
                masks.push(named.shown());
                continue;
            }
            let password = Value {
                text: value.clone(),
                mask: Mask::Dots,
            };
            masks.push(password.shown());
            if !is_distinctive(value) {
                let common = &mut known.common_passwords;
                common.retain(|known| known != value);
                common.insert(0, value.clone());
                common.truncate(MAX_RUNTIME_SECRETS);
            } else if fresh.len() < MAX_RUNTIME_SECRETS {
                fresh.push(password);
            }
        }
        if !fresh.is_empty() {
            known.passwords.splice(..0, fresh);
            known.passwords.truncate(MAX_RUNTIME_SECRETS);
            self.hide(&mut known);
        }
        masks
    }

    fn known(&self) -> std::sync::RwLockWriteGuard<'_, Known> {
        let known = self.learned.0.write();
        known.unwrap_or_else(PoisonError::into_inner)
    }

    fn hide(&self, known: &mut Known) {
        // Of equal values the name of a secret says more.
        let all = self.hidden.values.iter().chain(&known.typed);
        let all = all.chain(&known.passwords).cloned();
        known.all = Some(Hidden::new(all.collect()));
    }

    /// What must not be shown as of now.
    fn hidden(&self) -> Hidden {
        let known = self.learned.0.read();
        let known = known.unwrap_or_else(PoisonError::into_inner);
        known.all.clone().unwrap_or_else(|| self.hidden.clone())
    }

    /// The names that stand for values.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.secrets.iter().map(|secret| secret.name.as_str())
    }

    /// The secrets that may be typed anywhere.
    pub fn without_origins(&self) -> impl Iterator<Item = &str> {
        let secrets = self.secrets.iter();
        let anywhere = secrets.filter(|secret| secret.origins.is_none());
        anywhere.map(|secret| secret.name.as_str())
    }

    /// What is typed for a text, and how code shows it: the name of a secret stands for its value.
    pub fn typed(&self, text: &str) -> (String, Typed) {
        match self.secrets.iter().find(|secret| secret.name == text) {
            Some(Secret { name, value, .. }) => (value.clone(), Typed::Variable(name.clone())),
            None => (text.to_owned(), Typed::Text(text.to_owned())),
        }
    }

    /// Whether a text is the name of a secret that may be typed into documents of some origins only.
    pub(crate) fn is_bound(&self, text: &str) -> bool {
        let named = self.secrets.iter().find(|secret| secret.name == text);
        named.is_some_and(|secret| secret.origins.is_some())
    }

    /// Refuses the name of a secret that may not be typed into documents of this origin.
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

    /// The text with `<secret>NAME</secret>` wherever it shows a value, and marks wherever it shows a password.
    pub fn redacted(&self, text: String) -> String {
        self.hidden().redacted(text)
    }

    /// The same for each text and each key of a JSON value.
    pub fn redacted_json(&self, value: serde_json::Value) -> serde_json::Value {
        redacted_json(&self.hidden(), value)
    }

    /// The same for the arguments of a call, in which a text that is a password by itself is hidden also where it is short or common.
    pub(crate) fn redacted_arguments(&self, arguments: serde_json::Value) -> serde_json::Value {
        let known = self.learned.0.read();
        let common = known
            .unwrap_or_else(PoisonError::into_inner)
            .common_passwords
            .clone();
        self.redacted_json(without(&common, arguments))
    }
}

/// A JSON value with marks in the place of each text that is one of these passwords.
fn without(passwords: &[String], value: serde_json::Value) -> serde_json::Value {
    use serde_json::Value;
    match value {
        Value::String(text) if passwords.contains(&text) => engine::password_dots(&text).into(),
        Value::Array(items) => {
            let items = items.into_iter();
            items.map(|item| without(passwords, item)).collect()
        }
        Value::Object(members) => {
            let members = members.into_iter();
            members
                .map(|(name, value)| (name, without(passwords, value)))
                .collect()
        }
        other => other,
    }
}

fn redacted_json(hidden: &Hidden, value: serde_json::Value) -> serde_json::Value {
    use serde_json::Value;
    match value {
        Value::String(text) => Value::String(hidden.redacted(text)),
        Value::Array(items) => items
            .into_iter()
            .map(|item| redacted_json(hidden, item))
            .collect(),
        Value::Object(map) => map
            .into_iter()
            .map(|(key, value)| (hidden.redacted(key), redacted_json(hidden, value)))
            .collect(),
        other => other,
    }
}

/// Whether a password is nothing that pages and answers show anyhow.
fn is_distinctive(value: &str) -> bool {
    let value = value.trim();
    value.chars().count() >= MIN_LENGTH && !COMMON.contains(&value.to_ascii_lowercase().as_str())
}

/// An origin as rules of origins have it: scheme, host, and a port where it is not the scheme's own; `*` is any text.
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
mod tests {
    use super::*;
    use serde_json::json;

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
            "a &quot;b&#39; &amp;",
            "a\t\"b'   &",
            r#"a \\\"b'\\n\u0026"#,
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
    fn lines_and_base64_of_a_value_are_hidden_too() {
        let secrets = secrets(&[(
            "KEY",
            "-----BEGIN KEY-----\nMIIBOgIBAAJBAKj34\nshort\n-----END KEY-----",
        )]);
        let redacted = |text: &str| secrets.redacted(text.to_owned());
        assert_eq!(
            redacted("-----BEGIN KEY----- MIIBOgIBAAJBAKj34  short\t-----END KEY-----!"),
            "<secret>KEY</secret>!"
        );
        assert_eq!(redacted("> MIIBOgIBAAJBAKj34"), "> <secret>KEY</secret>");
        assert_eq!(redacted("short"), "short");
        let secrets = super::Secrets::new([("P".to_owned(), "correct horse/+~".to_owned())]);
        for before in ["", "u:", "me:", "you:"] {
            let basic = base64::Engine::encode(
                &base64::prelude::BASE64_STANDARD,
                format!("{before}correct horse/+~."),
            );
            let shown = secrets.redacted(format!("Basic {basic}"));
            assert!(shown.contains("<secret>P</secret>"), "{before}: {shown}");
            assert!(
                shown.len() < "Basic <secret>P</secret>".len() + 12,
                "{shown}"
            );
        }
    }

    #[test]
    fn a_value_is_found_in_the_name_of_a_file() {
        let secrets = secrets(&[
            ("KEY", "a horse/<\"1\">:\nand a battery\n"),
            ("ODD", "<:> ?"),
        ]);
        let redacted = |text: &str| secrets.redacted(text.to_owned());
        let shown = "<secret>KEY</secret>.txt";
        for name in [
            "a horse___1____and a battery.txt",
            "a-horse---1----and-a-battery.txt",
        ] {
            assert_eq!(redacted(name), shown);
        }
        // Such a name says nothing of it.
        assert_eq!(redacted("___ _"), "___ _");
        assert_eq!(redacted("a horse"), "a horse");
    }

    #[test]
    fn passwords_are_hidden_where_they_are_no_common_words() {
        let secrets = secrets(&[("KEY", "hunter22")]);
        let values = [
            "hunter22",
            "1234",
            "abc",
            "password",
            "tr0ub4dor&3",
            "a  b c",
        ];
        let values = values.map(str::to_owned);
        let masks = [
            "<secret>KEY</secret>",
            "••••",
            "•••",
            "••••••••",
            "•••••••••••",
            "••••••",
        ];
        assert_eq!(secrets.mask_passwords(&values), masks);
        assert_eq!(secrets.mask_passwords(&values), masks);
        let shown = |text: &str| secrets.clone().redacted(text.to_owned());
        assert_eq!(shown("1234 e1234 x=1234&y"), "•••• e1234 x=••••&y");
        assert_eq!(shown("abc password"), "abc password");
        assert_eq!(shown("xtr0ub4dor&amp;3"), "x•••••••••••");
        assert_eq!(shown("a b c"), "••••••");
        assert_eq!(
            secrets.apart().redacted("tr0ub4dor&3".to_owned()),
            "tr0ub4dor&3"
        );
    }

    #[test]
    fn a_secret_with_origins_is_for_those_only() {
        let parsed = |pairs: &[(&str, &str)]| {
            let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
            Secrets::parse(pairs.iter().map(owned).collect())
        };
        let list = "https://a.org, https://*.b.org http://localhost:*";
        let secrets = parsed(&[("A", "x"), ("A__ORIGINS", list), ("B", "y")]).expect("valid");
        assert_eq!(secrets.names().collect::<Vec<_>>(), ["A", "B"]);
        assert_eq!(secrets.without_origins().collect::<Vec<_>>(), ["B"]);
        assert!(secrets.is_bound("A") && !secrets.is_bound("B") && !secrets.is_bound("x"));
        for origin in ["https://a.org", "https://x.b.org", "http://localhost:8080"] {
            assert_eq!(secrets.check("A", origin), Ok(()), "{origin}");
        }
        for origin in [
            "http://a.org",
            "https://a.org:8443",
            "https://b.org",
            "https://a.org.evil.org",
            "https://evil.org",
            "null",
            "",
        ] {
            assert!(secrets.check("A", origin).is_err(), "{origin}");
            assert_eq!(secrets.check("B", origin), Ok(()), "{origin}");
        }
        for (name, list) in [
            ("A__ORIGINS", ""),
            ("A__ORIGINS", "a.org"),
            ("A__ORIGINS", "https://a.org/x"),
            ("C__ORIGINS", "https://a.org"),
        ] {
            let (entry, _) = parsed(&[("A", "x"), (name, list)]).expect_err(list);
            assert_eq!(entry, name);
        }
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
