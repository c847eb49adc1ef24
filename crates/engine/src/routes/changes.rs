//! Changes to requests and to their responses.

use super::request::{Headers, is_about_encoding};
use serde_json::Value;
use std::time::Duration;

/// Changes to a request and to its response.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RequestChanges {
    /// Another URL, which the page cannot see.
    pub url: Option<String>,
    /// Another method.
    pub method: Option<String>,
    /// Another body.
    pub body: Option<Vec<u8>>,
    /// The headers to set.
    pub set: Headers,
    /// The names of headers to remove, after others were set.
    pub remove: Vec<String>,
    /// The time before the request is sent.
    pub delay: Duration,
    /// The changes to the response.
    pub response: Option<ResponseChanges>,
}

/// Changes to a response.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ResponseChanges {
    /// Another HTTP status.
    pub status: Option<u16>,
    /// The headers to set.
    pub set: Headers,
    /// A JSON merge patch of the body, if the body is JSON. <https://www.rfc-editor.org/rfc/rfc7396>
    pub patch: Option<Value>,
}

impl RequestChanges {
    /// Returns the changed headers.
    pub(crate) fn apply(&self, headers: Headers) -> Headers {
        let is_removed = |name: &String| {
            let mut removed = self.remove.iter();
            removed.any(|other| other.eq_ignore_ascii_case(name))
        };
        let mut headers = replace_headers(headers, &self.set);
        headers.retain(|(name, _)| !is_removed(name));
        headers
    }
}

impl ResponseChanges {
    /// Returns the changed status, headers and body. A body that is not JSON is not changed.
    pub(crate) fn apply(
        &self,
        status: u16,
        mut headers: Headers,
        mut body: Vec<u8>,
    ) -> (u16, Headers, Vec<u8>) {
        if let Some(patch) = &self.patch
            && let Ok(mut document) = serde_json::from_slice::<Value>(&body)
        {
            merge(&mut document, patch);
            body = document.to_string().into_bytes();
        }
        // The body is decoded, and may have another length.
        headers.retain(|(name, _)| !is_about_encoding(name));
        (
            self.status.unwrap_or(status),
            replace_headers(headers, &self.set),
            body,
        )
    }
}

/// Returns the headers with others in place of those of the same name.
fn replace_headers(mut headers: Headers, set: &Headers) -> Headers {
    for (name, _) in set {
        headers.retain(|(other, _)| !other.eq_ignore_ascii_case(name));
    }
    headers.extend(set.iter().cloned());
    headers
}

/// Applies a JSON merge patch. <https://www.rfc-editor.org/rfc/rfc7396#section-2>
fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        target.clone_from(patch);
        return;
    };
    if !target.is_object() {
        *target = Value::Object(serde_json::Map::new());
    }
    let Value::Object(fields) = target else {
        return;
    };
    for (name, value) in patch {
        if value.is_null() {
            fields.remove(name);
        } else {
            merge(fields.entry(name).or_insert(Value::Null), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_set_and_removed_whatever_their_case() {
        let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let changes = RequestChanges {
            set: vec![header("X-A", "1"), header("Accept", "2")],
            remove: vec!["COOKIE".to_owned(), "x-a".to_owned()],
            ..RequestChanges::default()
        };
        let sent = vec![
            header("accept", "0"),
            header("cookie", "0"),
            header("te", "0"),
        ];
        assert_eq!(
            changes.apply(sent),
            [header("te", "0"), header("Accept", "2")]
        );
    }

    #[test]
    fn a_merge_patch_sets_and_removes_fields_and_keeps_the_others() {
        use serde_json::json;
        let changes = ResponseChanges {
            status: Some(201),
            set: vec![("X-A".to_owned(), "1".to_owned())],
            patch: Some(json!({ "a": { "b": 2, "c": null }, "list": [1] })),
        };
        let headers = vec![
            ("x-a".to_owned(), "0".to_owned()),
            ("Content-Length".to_owned(), "9".to_owned()),
        ];
        let body = json!({ "a": { "b": 1, "c": 1, "d": 1 }, "list": [2, 3], "e": 1 });
        let (status, headers, body) = changes.apply(200, headers, body.to_string().into_bytes());
        assert_eq!(
            (status, headers),
            (201, vec![("X-A".to_owned(), "1".to_owned())])
        );
        let body: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(
            body,
            json!({ "a": { "b": 2, "d": 1 }, "list": [1], "e": 1 })
        );
        let text = changes.apply(200, Vec::new(), b"text".to_vec()).2;
        assert_eq!(text, b"text");
    }
}
