//! The envelope of a message: its id, method and session. Its contents are parsed on demand.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::RawEvent;
use crate::error::Error;
use crate::json;

/// A command to the browser.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Request<'a> {
    pub(super) id: u64,
    pub(super) method: &'a str,
    pub(super) params: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) session_id: Option<&'a str>,
}

/// A message from the browser: a response has an `id`, an event a `method`.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Envelope<'a> {
    pub(super) id: Option<u64>,
    #[serde(borrow)]
    method: Option<&'a str>,
    #[serde(borrow)]
    session_id: Option<&'a str>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    /// An object, or the name of the error in WebDriver BiDi, whose message is a separate field.
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
}

impl Envelope<'_> {
    pub(super) fn answer(self) -> Result<Box<RawValue>, Failure> {
        match self.error {
            Some(error) => Err(Failure::read(error, self.message)),
            None => Ok(own(self.result)),
        }
    }

    pub(super) fn event(self) -> Option<RawEvent> {
        let method = self.method?;
        let params = match self.params {
            Some(params) => json::bounded(method, params),
            None => own(None),
        };
        Some(RawEvent {
            method: method.into(),
            session: self.session_id.map(Arc::from),
            params,
        })
    }
}

fn own(value: Option<&RawValue>) -> Box<RawValue> {
    match value {
        Some(value) => value.to_owned(),
        None => RawValue::from_string("{}".into()).expect("an empty object is JSON"),
    }
}

/// The error of a command.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Failure {
    code: i64,
    message: String,
    data: Option<serde_json::Value>,
    /// The error code of WebDriver BiDi.
    #[serde(skip)]
    name: Option<Box<str>>,
}

impl Failure {
    /// Chromium's error code for an unknown or ended session.
    const SESSION_NOT_FOUND: i64 = -32001;

    fn read(error: &RawValue, message: Option<&RawValue>) -> Self {
        let text = |json: &RawValue| serde_json::from_str::<String>(json.get()).ok();
        match text(error) {
            Some(name) => Self {
                message: message.and_then(text).unwrap_or_default(),
                name: Some(name.into()),
                ..Self::default()
            },
            None => serde_json::from_str(error.get()).unwrap_or_default(),
        }
    }

    pub(super) fn into_error(self, method: &'static str, session: Option<&Arc<str>>) -> Error {
        if let (Self::SESSION_NOT_FOUND, Some(session)) = (self.code, session) {
            return Error::SessionClosed {
                session: session.to_string(),
                reason: self.message,
            };
        }
        if let Some(error) = self.name {
            return Error::Refused {
                method,
                error: error.into(),
                message: self.message,
                stacktrace: String::new(),
            };
        }
        let message = match self.data {
            Some(serde_json::Value::String(data)) => format!("{}: {data}", self.message),
            Some(data) if !data.is_null() => format!("{}: {data}", self.message),
            _ => self.message,
        };
        Error::Protocol {
            method,
            code: self.code,
            message,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_session_is_a_closed_session() {
        let failure = |code| Failure {
            code,
            message: "Session with given id not found.".into(),
            data: None,
            name: None,
        };
        let session: Arc<str> = "S".into();
        let closed = failure(-32001).into_error("Page.enable", Some(&session));
        assert!(closed.is_closed(), "{closed:?}");
        let refused = failure(-32000).into_error("Page.enable", Some(&session));
        assert!(!refused.is_closed(), "{refused:?}");
    }

    #[test]
    fn an_error_of_webdriver_has_a_name() {
        let answer = r#"{"type":"error","id":3,"error":"no such frame","message":"gone \ud83d"}"#;
        let envelope: Envelope<'_> = serde_json::from_str(answer).unwrap();
        assert_eq!(envelope.id, Some(3));
        let failure = envelope.answer().unwrap_err();
        let Error::Refused { error, .. } = failure.into_error("script.evaluate", None) else {
            panic!("another error");
        };
        assert_eq!(error, "no such frame");
    }

    #[test]
    fn error_details_are_reported() {
        let failure: Failure = serde_json::from_str(
            r#"{"code":-32602,"message":"Invalid parameters","data":"url: string value expected"}"#,
        )
        .unwrap();
        let error = failure.into_error("Page.navigate", None);
        assert_eq!(
            error.to_string(),
            "Page.navigate: Invalid parameters: url: string value expected"
        );
    }
}
