//! Parsing recorded messages of Firefox 153 (`firefox-153.jsonl`), and serializing commands.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::browsing_context::{
    ContextCreated, ContextDestroyed, Create, CreateType, DomContentLoaded, DownloadEnd,
    DownloadWillBegin, GetTree, HistoryUpdated, Load, Navigate, NavigationCommitted,
    NavigationFailed, NavigationStarted, ReadinessState, UserPromptClosed, UserPromptOpened,
};
use super::input::{FileDialogOpened, PerformActions};
use super::log::EntryAdded;
use super::network::{
    AuthRequired, BeforeRequestSent, BytesValue, ResponseCompleted, ResponseStarted, SameSite,
};
use super::script::{CallFunction, Evaluate, LocalValue, RemoteValue, SharedReference, Target};
use super::storage::GetCookies;
use super::{Command, Event, browser, session};
use crate::actions::{Action, Source};

#[derive(Deserialize)]
struct EventMessage {
    method: String,
    params: Option<Box<RawValue>>,
    result: Option<Box<RawValue>>,
}

fn event_messages() -> Vec<EventMessage> {
    let lines = include_str!("firefox-153.jsonl").lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Returns all events of a type.
fn events<E: Event>() -> Vec<E> {
    let all = event_messages()
        .into_iter()
        .filter(|said| said.method == E::METHOD);
    let read = |said: EventMessage| serde_json::from_str(said.params?.get()).ok();
    let events: Vec<_> = all.map(read).collect();
    assert!(!events.is_empty(), "{} was not recorded", E::METHOD);
    let read: Option<Vec<E>> = events.into_iter().collect();
    read.unwrap_or_else(|| panic!("{} is not understood", E::METHOD))
}

/// Returns all results of a command.
fn answers<C: Command>() -> Vec<C::Response> {
    let all = event_messages()
        .into_iter()
        .filter(|said| said.method == C::METHOD);
    all.filter_map(|said| Some(serde_json::from_str(said.result?.get()).unwrap()))
        .collect()
}

fn parameters(command: &impl Command) -> Value {
    serde_json::to_value(command).unwrap()
}

#[test]
fn every_event_is_read() {
    assert!(events::<ContextCreated>()[0].0.parent.is_none());
    let navigation = events::<NavigationStarted>().remove(0).0;
    assert_eq!(navigation.url, "http://site.test/");
    let committed = events::<NavigationCommitted>().remove(0).0;
    assert_eq!(committed.navigation, navigation.navigation);
    assert!(events::<NavigationFailed>()[0].0.navigation.is_some());
    // The initial empty document of a frame has no navigation.
    assert!(events::<DomContentLoaded>()[0].0.navigation.is_none());
    assert!(events::<Load>()[0].0.navigation.is_none());
    assert_eq!(
        events::<HistoryUpdated>()[0].0.url,
        "http://site.test/pushed"
    );
    assert_eq!(events::<DownloadWillBegin>()[0].suggested_filename, "a.txt");
    let ended = events::<DownloadEnd>().remove(0);
    assert_eq!(ended.filepath.as_deref(), Some("/downloads/a.txt"));
    let prompt = events::<UserPromptOpened>().remove(0);
    assert_eq!(
        (prompt.kind.as_str(), prompt.message.as_str()),
        ("alert", "hey")
    );
    events::<UserPromptClosed>();
    let chooser = events::<FileDialogOpened>().remove(0);
    assert!(!chooser.multiple && chooser.element.unwrap().shared_id.is_some());
}

#[test]
fn a_page_removed_with_its_user_context_has_none() {
    let gone = events::<ContextDestroyed>();
    let owners: Vec<_> = gone
        .iter()
        .map(|gone| gone.0.user_context.is_some())
        .collect();
    assert_eq!(owners, [true, false]);
}

#[test]
fn requests_and_answers_are_read() {
    let sent = events::<BeforeRequestSent>().remove(0);
    assert_eq!(
        (sent.request.method.as_str(), sent.is_blocked),
        ("GET", false)
    );
    assert_eq!(sent.request.destination, "document");
    let host = &sent.request.headers[0];
    assert!(matches!(&host.value, BytesValue::String(value) if value == "site.test"));
    assert_eq!(events::<ResponseStarted>()[0].response.status, 200);
    assert_eq!(
        events::<ResponseCompleted>()[0].request.request,
        sent.request.request
    );
    let asked = events::<AuthRequired>().remove(0);
    assert!(asked.is_blocked);
    let challenges = asked.response.auth_challenges.unwrap();
    assert_eq!(
        (challenges[0].scheme.as_str(), challenges[0].realm.as_str()),
        ("Basic", "r")
    );
}

#[test]
fn the_console_is_read() {
    let entries = events::<EntryAdded>();
    let kinds: Vec<_> = entries.iter().map(|entry| entry.kind.as_str()).collect();
    assert_eq!(kinds, ["console", "console", "javascript"]);
    assert_eq!(entries[0].args[0].decode::<String>().unwrap(), "hi");
    assert_eq!(entries[2].text.as_deref(), Some("Error: late"));
    let stack = entries[2].stack_trace.as_ref().unwrap();
    assert_eq!(stack.call_frames[0].column_number, 76);
}

#[test]
fn answers_are_read() {
    assert_eq!(
        answers::<session::New>()[0].capabilities.browser_version,
        "153.7.0"
    );
    assert!(
        !answers::<browser::CreateUserContext>()[0]
            .user_context
            .is_empty()
    );
    assert!(!answers::<Create>()[0].context.is_empty());
    assert_eq!(answers::<Navigate>()[0].url, "http://site.test/");
    let tree = answers::<GetTree>().remove(0).contexts;
    assert!(
        tree.iter()
            .any(|page| page.children.iter().flatten().count() == 1)
    );
    let cookies = answers::<GetCookies>().remove(0).cookies;
    assert_eq!(
        (cookies[1].http_only, cookies[1].same_site),
        (true, SameSite::Strict)
    );
    assert_eq!(cookies[1].expiry, Some(1_829_890_649.0));
}

#[test]
fn values_and_errors_of_scripts_are_read() {
    let mut results = answers::<Evaluate>();
    let thrown = results.remove(1).exception_details.unwrap();
    assert_eq!(thrown.text, "TypeError: oops");
    let fields: Vec<(String, RemoteValue)> = results.remove(0).result.decode().unwrap();
    let kinds: Vec<_> = fields
        .iter()
        .map(|(name, value)| (name.as_str(), value.kind.as_str()))
        .collect();
    let expected = [
        ("a", "array"),
        ("m", "map"),
        ("n", "node"),
        ("big", "bigint"),
        ("d", "date"),
        ("u", "number"),
    ];
    assert_eq!(kinds, expected);
    // Numbers that JSON cannot represent are strings.
    assert_eq!(fields[5].1.decode::<String>().unwrap(), "-0");
    assert!(fields[2].1.shared_id.is_some());
    let held: Vec<RemoteValue> = answers::<CallFunction>()[0].result.decode().unwrap();
    assert_eq!(held[0].kind, "node");
}

#[test]
fn optional_fields_are_omitted() {
    let create = Create {
        kind: CreateType::Window,
        user_context: None,
        reference_context: None,
        background: None,
    };
    assert_eq!(parameters(&create), json!({ "type": "window" }));
    let navigate = Navigate {
        context: "1".to_owned(),
        url: "about:blank".to_owned(),
        wait: ReadinessState::None,
    };
    assert_eq!(
        parameters(&navigate),
        json!({ "context": "1", "url": "about:blank", "wait": "none" })
    );
    let call = CallFunction {
        function_declaration: "f".to_owned(),
        await_promise: true,
        target: Target {
            context: "1".to_owned(),
            sandbox: Some("s"),
        },
        arguments: vec![
            LocalValue::string("a"),
            LocalValue::number(1),
            LocalValue::Reference(SharedReference {
                shared_id: "e".to_owned(),
            }),
        ],
        user_activation: None,
        serialization_options: None,
    };
    assert_eq!(
        parameters(&call),
        json!({
            "functionDeclaration": "f",
            "awaitPromise": true,
            "target": { "context": "1", "sandbox": "s" },
            "arguments": [
                { "type": "string", "value": "a" },
                { "type": "number", "value": 1 },
                { "sharedId": "e" },
            ],
        })
    );
    let actions = PerformActions {
        context: "1".to_owned(),
        actions: vec![Source::Pointer {
            id: "mouse",
            actions: vec![
                Action::PointerMove { x: 1.5, y: 2.0 },
                Action::Pause { duration: None },
                Action::PointerDown { button: 0 },
            ],
        }],
    };
    assert_eq!(
        parameters(&actions)["actions"][0],
        json!({
            "type": "pointer",
            "id": "mouse",
            "actions": [
                { "type": "pointerMove", "x": 1.5, "y": 2.0 },
                { "type": "pause" },
                { "type": "pointerDown", "button": 0 },
            ],
        })
    );
}
