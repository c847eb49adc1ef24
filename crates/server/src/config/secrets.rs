//! Secrets: values that a client can type by name, and that are masked in answers, files and logs.

mod hidden;
mod source;
mod variables;

use std::sync::{Arc, PoisonError, RwLock};

use engine::OriginRules;
use engine::codegen::Typed;

pub(crate) use hidden::FORBIDDEN;
use hidden::{Hidden, Mask, Value};
pub(crate) use source::SecretsSource;
pub(crate) use variables::Variables;

/// The secrets by name, in the given order. Secrets without a value are left out.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secrets {
    secrets: Vec<Secret>,
    hidden: Hidden,
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
            runtime: RuntimeSecrets::default(),
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

    /// Replaces each value of a secret by `<secret>NAME</secret>` and each password by marks.
    pub fn redacted(&self, text: String) -> String {
        self.hidden().redacted(text)
    }

    /// Masks secrets in each string and each key of a JSON value.
    pub fn redacted_json(&self, value: serde_json::Value) -> serde_json::Value {
        redacted_json(&self.hidden(), value)
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
        // A name with too few letters and digits is not masked.
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
    fn a_value_is_found_in_each_form_of_its_characters() {
        let secrets = secrets(&[("P", "hunter22")]);
        for text in [
            r"\u0068\u0075\u006e\u0074\u0065\u0072\u0032\u0032",
            r"\x68\x75\x6e\x74\x65\x72\x32\x32",
            "&#104;&#117;&#x6e;&#116;&#101;&#114;&#50;&#50;",
            "%68%75%6e%74%65%72%32%32",
            "%2568unter22",
            "&amp;#104;unter22",
            "h\u{200b}u\u{200b}nter22",
            "hun\u{ad}ter\u{fe0f}22",
            r"h\u200bunter22",
        ] {
            let shown = secrets.redacted(format!("<{text}>"));
            assert_eq!(shown, "<<secret>P</secret>>", "{text}");
        }
        assert_eq!(secrets.redacted("hunter 22".to_owned()), "hunter 22");
    }

    #[test]
    fn a_typed_value_outlives_those_that_a_page_shows() {
        let secrets = Secrets::default();
        secrets.mask_typed(&["correct horse".to_owned()]);
        let shown: Vec<_> = (0..500)
            .map(|number| format!("field {number} of the page"))
            .collect();
        for values in shown.chunks(32) {
            secrets.mask_passwords(values);
        }
        assert_eq!(
            secrets.redacted("a correct horse".to_owned()),
            "a •••••••••••••"
        );
    }

    #[test]
    fn keys_that_are_typed_one_by_one_do_not_fill_the_list() {
        let secrets = Secrets::default();
        let long = "0123456789".repeat(300);
        for end in 1..long.len() {
            secrets.lock_runtime().add_typed(Value {
                text: long[..end].to_owned(),
                mask: Mask::Dots,
            });
        }
        assert!(!secrets.lock_runtime().has_too_many());
    }

    #[test]
    fn nothing_is_shown_if_there_are_too_many_values() {
        let secrets = Secrets::default();
        let typed: Vec<_> = (0..=MAX_TYPED)
            .map(|number| format!("value {number} of many"))
            .collect();
        secrets.mask_typed(&typed);
        let shown = secrets.redacted("value 1 of many, and a text".to_owned());
        assert!(shown.starts_with("[withheld"), "{shown}");
    }

    #[test]
    fn values_of_any_size_cost_little() {
        let secrets = Secrets::default();
        let long = |number: usize| format!("{number}{}", "a page can show this & that".repeat(800));
        let values: Vec<_> = (0..20).map(long).collect();
        for mask in secrets.mask_passwords(&values) {
            assert!(mask.chars().count() <= 100);
        }
        assert_eq!(secrets.hidden().values.len(), 0);
        secrets.mask_typed(&values[..2]);
        let shown = secrets.redacted(format!("<{}>", values[1]));
        assert_eq!(shown, format!("<{}>", "•".repeat(100)));
    }

    #[test]
    fn a_value_is_found_at_each_position_of_a_long_text() {
        let secrets = secrets(&[("P", "hunter22 and more")]);
        for shift in 0..20 {
            let before = "a".repeat((1 << 20) - 10 + shift);
            let text =
                before + "%68unter22%20and+more" + &"b".repeat(1 << 20) + "hunter22 and more";
            let shown = secrets.redacted(text);
            assert_eq!(shown.matches("<secret>P</secret>").count(), 2, "{shift}");
            assert!(!shown.contains("nter22"), "{shift}");
        }
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
