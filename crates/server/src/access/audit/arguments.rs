//! The arguments in a record: without secrets, and limited in size.

use crate::config::Secrets;
use serde_json::{Map, Value};
use url::Url;

/// The longest text of a record, in characters.
const MAX_TEXT: usize = 1_000;
/// The approximate largest size of a record's arguments, in bytes of JSON.
const MAX_ARGUMENTS: usize = 16 * 1024;

/// Members with passwords and other credentials, in lower case.
const CREDENTIALS: [&str; 4] = ["password", "authorization", "proxy-authorization", "cookie"];
/// Members with URLs, which may contain a password.
const URLS: [&str; 2] = ["url", "server"];
/// Members with typed text; `fields` if it is not a list.
const TYPED: [&str; 3] = ["text", "value", "fields"];

/// Returns arguments without secrets and passwords. If the call did not type them, it is unknown whether their fields were password fields:
/// those texts are omitted, unless they are names of secrets.
pub(crate) fn shown(arguments: Value, secrets: &Secrets, is_typed: bool) -> Value {
    secrets.redacted_arguments(concealed(arguments, "", secrets, is_typed))
}

/// Returns the value of a member, without a password that its name or its format reveals.
fn concealed(value: Value, name: &str, secrets: &Secrets, is_typed: bool) -> Value {
    let is_untyped = |text: &str| {
        !is_typed && TYPED.contains(&name) && secrets.names().all(|secret| secret != text)
    };
    match value {
        Value::String(text) if is_credential(name) || is_untyped(&text) => {
            format!("… ({} characters)", text.chars().count()).into()
        }
        Value::String(text) if URLS.contains(&name) => without_password(text).into(),
        Value::Array(items) => {
            let items = items.into_iter();
            items
                .map(|item| concealed(item, name, secrets, is_typed))
                .collect()
        }
        Value::Object(members) => {
            let members = members.into_iter().map(|(name, value)| {
                let value = concealed(value, &name, secrets, is_typed);
                (name, value)
            });
            members.collect()
        }
        other => other,
    }
}

fn is_credential(name: &str) -> bool {
    let is_name = |known: &&str| known.eq_ignore_ascii_case(name);
    CREDENTIALS.iter().any(is_name)
}

/// Returns a URL without its password; the scheme is optional.
fn without_password(text: String) -> String {
    let parsed = match text.contains("://") {
        true => Url::parse(&text),
        false => Url::parse(&format!("http://{text}")),
    };
    match parsed {
        Ok(mut url) if url.password().is_some() => {
            // It fails only for URLs without a host, which have no password.
            let _ = url.set_password(Some("***"));
            url.into()
        }
        _ => text,
    }
}

/// Truncates a text of a record.
pub(super) fn cut(text: String) -> String {
    match text.char_indices().nth(MAX_TEXT) {
        Some((at, _)) => format!("{}… ({} characters)", &text[..at], text.chars().count()),
        None => text,
    }
}

/// Truncates the arguments of a record: long texts are truncated, and the rest is omitted at the limit.
pub(super) fn bounded(arguments: Value) -> Value {
    let mut room = MAX_ARGUMENTS;
    within(arguments, &mut room)
}

fn within(value: Value, room: &mut usize) -> Value {
    let mut take = |bytes: usize| {
        *room = room.saturating_sub(bytes);
        *room > 0
    };
    match value {
        Value::String(text) => {
            let text = cut(text);
            match take(text.len() + 2) {
                true => Value::String(text),
                false => "…".into(),
            }
        }
        Value::Array(items) => {
            let count = items.len();
            let mut kept = Vec::new();
            for item in items {
                if *room == 0 {
                    kept.push(format!("… ({} more)", count - kept.len()).into());
                    break;
                }
                *room = room.saturating_sub(1);
                kept.push(within(item, room));
            }
            Value::Array(kept)
        }
        Value::Object(members) => {
            let count = members.len();
            let mut kept = Map::new();
            for (name, value) in members {
                if *room == 0 {
                    let rest = format!("… ({} more)", count - kept.len());
                    kept.insert("…".to_owned(), rest.into());
                    break;
                }
                let name = cut(name);
                *room = room.saturating_sub(name.len() + 4);
                kept.insert(name, within(value, room));
            }
            Value::Object(kept)
        }
        scalar => {
            take(8);
            scalar
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn passwords_are_found_by_parameter_name_and_in_urls() {
        let secrets = Secrets::default();
        let shown = |arguments| shown(arguments, &secrets, true);
        assert_eq!(
            shown(
                json!({ "proxy": { "server": "socks5://me:hidden@host:1080", "password": "hidden" } })
            ),
            json!({ "proxy": { "server": "socks5://me:***@host:1080", "password": "… (6 characters)" } })
        );
        for (given, expected) in [
            ("https://me:hidden@host/a?b=c", "https://me:***@host/a?b=c"),
            ("me:hidden@host:8080/", "http://me:***@host:8080/"),
            ("https://me@host/", "https://me@host/"),
            ("host:8080/a@b", "host:8080/a@b"),
            ("about:blank", "about:blank"),
            ("data:text/html,a:b@c", "data:text/html,a:b@c"),
        ] {
            assert_eq!(shown(json!({ "url": given })), json!({ "url": expected }));
        }
    }

    #[test]
    fn credentials_in_headers_are_omitted() {
        let given = json!({ "extraHeaders": { "Authorization": "Bearer x", "X-Test": "1" } });
        let expected =
            json!({ "extraHeaders": { "Authorization": "… (8 characters)", "X-Test": "1" } });
        assert_eq!(shown(given, &Secrets::default(), true), expected);
    }

    #[test]
    fn texts_that_were_not_typed_are_omitted() {
        let secrets = Secrets::new([("KEY".to_owned(), "value-of-the-key".to_owned())]);
        let arguments =
            json!({ "element": "Password", "fields": [{ "value": "hidden" }, { "value": "KEY" }] });
        assert_eq!(shown(arguments.clone(), &secrets, true), arguments);
        assert_eq!(
            shown(arguments, &secrets, false),
            json!({ "element": "Password", "fields": [{ "value": "… (6 characters)" }, { "value": "KEY" }] })
        );
    }

    #[test]
    fn short_and_common_passwords_are_omitted_as_whole_values() {
        let secrets = Secrets::default();
        secrets.mask_passwords(&["73".to_owned(), "admin".to_owned()]);
        assert_eq!(
            shown(
                json!({ "text": "73", "fields": ["admin", "an admin"], "slowly": true }),
                &secrets,
                true
            ),
            json!({ "text": "••", "fields": ["•••••", "an admin"], "slowly": true })
        );
    }
}
