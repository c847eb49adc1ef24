//! The output format of the `session` and `e2e` toolsets: one JSON object, as text and as structured content.

use super::sections::Boundary;
use super::{Content, ContentItem, name_session};
use crate::answers::StepFacts;
use crate::answers::evidence::Evidence;
use crate::answers::reply::{Answer, Event, Image, Modal, OpenedPage, Part};
use crate::calls::tool_spec::ToolSpec;
use crate::config::{AnswerSettings, ImageResponses};
use crate::error::{Error, ErrorCode, Result};
use serde_json::{Map, Value, json};

/// Formats the result of a tool call for a session; the default session has no id.
pub(crate) fn content(
    tool: &ToolSpec,
    outcome: Result<Answer>,
    evidence: Option<&Evidence>,
    session_id: Option<&str>,
    settings: &AnswerSettings,
) -> Content {
    match outcome {
        Ok(Answer {
            reply,
            modals,
            events,
            opened,
            ..
        }) => match reply.error {
            None => answered(reply.parts, &modals, (&events, &opened), settings),
            Some(error) => failed(tool, &error, evidence, session_id, &modals),
        },
        Err(error) => failed(tool, &error, evidence, session_id, &[]),
    }
}

fn answered(
    parts: Vec<Part>,
    modals: &[Modal],
    (events, opened): (&[Event], &[OpenedPage]),
    settings: &AnswerSettings,
) -> Content {
    let mut object = Map::from_iter([("success".to_owned(), Value::Bool(true))]);
    let mut images = Vec::new();
    for part in parts {
        match part {
            Part::Object(Value::Object(members)) => object.extend(members),
            Part::Image(Image { bytes, mime_type }) => {
                images.push(ContentItem::Image { bytes, mime_type });
            }
            Part::Object(_)
            | Part::Text(_)
            | Part::Page(_)
            | Part::Code { .. }
            | Part::File { .. }
            | Part::Tabs(_) => {}
        }
    }
    let mut object = Value::Object(object);
    add_modals(modals, &mut object);
    add_events(events, &mut object);
    if !opened.is_empty() {
        object["openedPages"] = opened.iter().map(opened_page).collect();
    }
    let mut content = of(object, false);
    if settings.image_responses != ImageResponses::Omit {
        content.items.extend(images);
    }
    content
}

/// Adds the events since the last answer that programs need.
fn add_events(events: &[Event], object: &mut Value) {
    let mut downloads: Vec<Value> = Vec::new();
    let mut unopened: Vec<Value> = Vec::new();
    for event in events {
        match event {
            Event::NotOpened { url } => unopened.push(url.as_str().into()),
            Event::AppFailed { first, count } => {
                object["appErrors"] = json!({ "first": first, "count": count });
            }
            Event::NavigationFailed { reason } => {
                object["navigationFailed"] = reason.as_str().into();
            }
            Event::UserActed {} => object["userActed"] = true.into(),
            Event::UserAnnotated { notes, image } => {
                object["userAnnotations"] = json!({ "notes": notes, "image": image });
            }
            Event::TabsRefused { count } => object["refusedPages"] = (*count).into(),
            Event::TabClosed { url } => object["closedPage"] = url.as_str().into(),
            Event::DialogElsewhere { dialog, .. } => {
                object["dialogOfOtherPage"] =
                    json!({ "type": dialog.kind.to_string(), "message": dialog.message });
            }
            Event::Downloading { name } => {
                downloads.push(json!({ "file": name, "status": "started" }));
            }
            Event::Downloaded {
                name,
                link,
                quarantined,
            } => {
                let mut ended = json!({ "file": name, "status": "finished", "path": link });
                if *quarantined {
                    ended["quarantined"] = true.into();
                }
                end(&mut downloads, ended);
            }
            Event::DownloadFailed { name, reason } => {
                let ended = json!({ "file": name, "status": "failed", "error": reason });
                end(&mut downloads, ended);
            }
            Event::Console { .. }
            | Event::BrowserReplaced { .. }
            | Event::EmptyPage {}
            | Event::BusyPage {}
            | Event::ProfileInUse { .. } => {}
        }
    }
    if !unopened.is_empty() {
        object["notOpened"] = unopened.into();
    }
    if !downloads.is_empty() {
        object["downloads"] = downloads.into();
    }
}

/// Adds a download that has ended, and removes the event of its start, which directly precedes it if both are new.
fn end(downloads: &mut Vec<Value>, ended: Value) {
    let began = |last: &&Value| last["status"] == "started" && last["file"] == ended["file"];
    if downloads.last().filter(began).is_some() {
        downloads.pop();
    }
    downloads.push(ended);
}

fn opened_page(page: &OpenedPage) -> Value {
    let mut object = json!({ "index": page.index, "url": page.url });
    if let Some(failure) = &page.failure {
        object["error"] = failure.as_str().into();
    }
    object
}

/// Adds the dialogs and file choosers that block the page.
fn add_modals(modals: &[Modal], object: &mut Value) {
    for modal in modals {
        match modal {
            Modal::Dialog(dialog) => {
                object["dialog"] =
                    json!({ "type": dialog.kind.to_string(), "message": dialog.message });
            }
            Modal::FileChooser(chooser) => {
                object["fileChooser"] = json!({ "multiple": chooser.multiple });
            }
        }
    }
}

fn failed(
    tool: &ToolSpec,
    error: &Error,
    evidence: Option<&Evidence>,
    session_id: Option<&str>,
    modals: &[Modal],
) -> Content {
    let code = tool.code_of(error);
    let mut object = error.to_json(code);
    if code == ErrorCode::DialogOpen {
        add_modals(modals, &mut object["details"]);
    }
    if let Some(suggestion) = suggestion(code) {
        object["suggestion"] = suggestion.into();
    }
    name_session(&mut object, error.session_id().or(session_id));
    if let Some(evidence) = evidence {
        object["evidence"] = json!(evidence);
    }
    of(object, true)
}

/// Returns the suggestion that names tools of these toolsets, if it differs from the general one.
fn suggestion(code: ErrorCode) -> Option<&'static str> {
    Some(match code {
        ErrorCode::DialogOpen => {
            "Press Enter to accept the dialog or Escape to dismiss it, with press or browser_handle_dialog."
        }
        ErrorCode::ElementNotFound => {
            "Check the selector with find_elements, or wait for it with wait_for_selector."
        }
        ErrorCode::StaleRef => {
            "Use the ref of details.bestMatch if it is the intended element; otherwise find the element again with find_element."
        }
        ErrorCode::ElementNotClickable => {
            "Take a screenshot to see what is in the way, remove it, and try again."
        }
        ErrorCode::ElementNotInteractive => "Inspect the element with find_element.",
        _ => return None,
    })
}

fn of(object: Value, is_error: bool) -> Content {
    Content {
        items: vec![ContentItem::Text(object.to_string())],
        structured: Some(object),
        step: StepFacts::default(),
        is_error,
        boundary: None,
    }
}

/// The members of answers that can be long texts of a page.
const PAGE_TEXTS: [&str; 3] = ["content", "text", "result"];

/// Returns an answer as JSON text with boundaries inside its strings of page text, or `None` without such strings. The structured content
/// is unchanged.
pub(crate) fn with_boundary(object: &Value, boundary: &Boundary) -> Option<String> {
    let is_text = |name: &&&str| object[**name].as_str().is_some_and(|text| !text.is_empty());
    let names: Vec<_> = PAGE_TEXTS.iter().filter(is_text).collect();
    if names.is_empty() {
        return None;
    }
    let mut object = object.clone();
    for name in names {
        let text = object[*name].as_str().unwrap_or_default();
        let text = format!("{}\n{text}\n{}", boundary.start(), boundary.end());
        object[*name] = text.into();
    }
    Some(object.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answers::reply::Reply;
    use crate::answers::tests::settings;
    use crate::calls::tool_spec::OutputFormat;
    use engine::{Dialog, DialogKind};

    const TOOL: ToolSpec = ToolSpec::internal("click", OutputFormat::Json);

    #[test]
    fn a_success_is_one_object_as_text_and_for_programs() {
        let reply = Reply::default().and(Part::Object(json!({ "title": "Shop" })));
        let modals = vec![Modal::Dialog(Dialog {
            kind: DialogKind::Confirm,
            message: "Sure?".into(),
            default_value: String::new(),
        })];
        let answer = Answer {
            reply,
            modals,
            ..Answer::default()
        };
        let content = content(&TOOL, Ok(answer), None, None, &settings());
        assert_eq!(
            content.text(),
            r#"{"success":true,"title":"Shop","dialog":{"type":"confirm","message":"Sure?"}}"#
        );
        assert_eq!(
            content.structured.unwrap().to_string(),
            r#"{"success":true,"title":"Shop","dialog":{"type":"confirm","message":"Sure?"}}"#
        );
    }

    #[test]
    fn events_are_reported_and_each_download_once() {
        let name = || "a.txt".to_owned();
        let answer = Answer {
            reply: Reply::default().and(Part::Object(json!({}))),
            events: vec![
                Event::Downloading { name: name() },
                Event::Downloaded {
                    name: name(),
                    link: "out/a.txt".into(),
                    quarantined: false,
                },
                Event::Downloading { name: name() },
                Event::NavigationFailed {
                    reason: "blocked".into(),
                },
            ],
            opened: vec![OpenedPage {
                index: 1,
                url: "http://x/".into(),
                failure: None,
            }],
            ..Answer::default()
        };
        let content = content(&TOOL, Ok(answer), None, None, &settings());
        assert_eq!(
            content.text(),
            r#"{"success":true,"navigationFailed":"blocked","downloads":[{"file":"a.txt","status":"finished","path":"out/a.txt"},{"file":"a.txt","status":"started"}],"openedPages":[{"index":1,"url":"http://x/"}]}"#
        );
    }

    #[test]
    fn an_error_names_its_session() {
        let error = Error::SessionExpired {
            session_id: "x".into(),
        };
        let content = content(&TOOL, Err(error), None, Some("x"), &settings());
        assert!(content.is_error);
        assert_eq!(
            content.text(),
            r#"{"errorCode":"SESSION_EXPIRED","message":"Session \"x\" has expired","sessionId":"x","details":{"sessionId":"x"},"retryable":false,"suggestion":"Create a new session with create_session."}"#
        );
    }
}
