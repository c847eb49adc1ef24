//! Every tool of the session toolset that names an element, with a missing, an ambiguous and an unsuitable element: in the default session
//! and in a created one, both of which remain usable.

use serde_json::{Value, json};
use server::ToolDef;
use testkit::{Client, Site};

use crate::bad_input::{
    assert_error, is_usable, least, refused, schema_of, structured_content, tools,
};
use crate::server;

/// The kinds of elements of the page, in every state.
const KINDS: [(&str, &str); 7] = [
    ("button", "<button ID>Go</button>"),
    ("field", "<input ID>"),
    ("list", "<select ID><option>a</option></select>"),
    ("box", "<input type=checkbox ID>"),
    ("ticked", "<input type=checkbox checked ID>"),
    ("file", "<input type=file ID>"),
    ("table", "<table ID><tr><td>1</td></tr></table>"),
];

const CLICKABLE: &str = "ELEMENT_NOT_CLICKABLE";
const EDITABLE: &str = "ELEMENT_NOT_EDITABLE";
const INTERACTIVE: &str = "ELEMENT_NOT_INTERACTIVE";

/// Error codes, each with the tools that return it.
type Codes = &'static [(&'static str, &'static [&'static str])];

/// The tools that reject an element in a state, with the error code; the other tools accept it.
const REFUSALS: [(&str, &str, Codes); 4] = [
    (
        "hidden",
        "notVisible",
        &[
            (CLICKABLE, &["click", "check", "uncheck"]),
            (EDITABLE, &["type", "fill", "hand_over"]),
            (
                INTERACTIVE,
                &[
                    "hover",
                    "drag_and_drop",
                    "scroll",
                    "select",
                    "screenshot_element",
                ],
            ),
        ],
    ),
    (
        "disabled",
        "notEnabled",
        &[
            (CLICKABLE, &["click", "check", "uncheck"]),
            (EDITABLE, &["type", "fill", "hand_over"]),
            (INTERACTIVE, &["select"]),
        ],
    ),
    (
        "fixed",
        "notEditable",
        &[(EDITABLE, &["type", "fill", "hand_over"])],
    ),
    (
        "covered",
        "covered",
        &[
            (CLICKABLE, &["click", "check", "uncheck"]),
            (INTERACTIVE, &["hover", "drag_and_drop"]),
        ],
    ),
];

/// The tools for which a link is an element of the wrong kind.
const PARTICULAR: Codes = &[
    (EDITABLE, &["type", "fill", "hand_over"]),
    (
        INTERACTIVE,
        &["select", "check", "uncheck", "upload_file", "extract_table"],
    ),
];

/// Tools that report elements in any number.
const OF_ANY_NUMBER: [&str; 4] = [
    "get_all_text",
    "find_elements",
    "element_exists",
    "is_visible",
];

/// The timeout of a call that is expected to fail, in milliseconds; increased if it was too short.
const SHORT: u64 = 40;
const LONGEST: u64 = 60_000;

fn page() -> String {
    let mut html =
        "<!doctype html><title>Here</title><a href=#>Link</a><ul><li>One</li><li>Two</li></ul>"
            .to_owned();
    for (kind, element) in KINDS {
        for (state, attributes) in [
            ("hidden", "style='display: none'"),
            ("disabled", "disabled"),
            ("fixed", "readonly"),
            ("covered", ""),
        ] {
            let element = element.replace("ID", &format!("id={kind}-{state} {attributes}"));
            html += &match state {
                "covered" => format!(
                    "<div style='position: relative; display: inline-block'>{element}<p style='position: absolute; inset: 0; margin: 0'></p></div>"
                ),
                _ => element,
            };
        }
    }
    html
}

/// Returns the kind of element that a tool requires.
fn kind(tool: &str) -> &'static str {
    match tool {
        "type" | "fill" | "hand_over" | "press" | "get_value" => "field",
        "select" => "list",
        "check" => "box",
        "uncheck" => "ticked",
        "upload_file" => "file",
        "extract_table" => "table",
        _ => "button",
    }
}

/// Returns the error code of a tool in a table.
fn code(tool: &str, table: Codes) -> Option<&'static str> {
    let mut found = table.iter().filter(|(_, tools)| tools.contains(&tool));
    found.next().map(|(code, _)| *code)
}

/// A tool with an element, in a session.
struct Subject<'a> {
    client: &'a Client,
    session: &'a str,
    tool: &'static ToolDef,
    parameter: &'static str,
    is_required: bool,
    waits: bool,
}

impl<'a> Subject<'a> {
    /// `None` for a tool without an element.
    fn of(client: &'a Client, session: &'a str, tool: &'static ToolDef) -> Option<Self> {
        let (properties, required) = schema_of(tool);
        let mut parameters = ["selector", "source"].into_iter();
        let parameter = parameters.find(|name| properties.contains_key(*name))?;
        let is_required = required.iter().any(|name| name == parameter);
        Some(Self {
            client,
            session,
            tool,
            parameter,
            is_required,
            waits: properties.contains_key("timeout"),
        })
    }

    fn name(&self) -> &'static str {
        self.tool.name
    }

    fn with(&self, element: &str, timeout: u64) -> Value {
        let mut arguments = least(self.tool);
        arguments["sessionId"] = self.session.into();
        arguments[self.parameter] = element.into();
        if self.waits {
            arguments["timeout"] = timeout.into();
        }
        arguments
    }

    async fn accepts(&self, element: &str) {
        let arguments = self.with(element, LONGEST);
        let answer = structured_content(self.client, self.name(), &arguments).await;
        assert_eq!(
            answer["success"],
            true,
            "{} {element}: {answer}",
            self.name()
        );
    }

    /// Asserts that the tool rejects the element with this code and a suggestion.
    async fn refuses(&self, element: &str, code: &str) -> Value {
        let mut timeout = SHORT;
        let error = loop {
            let arguments = self.with(element, timeout);
            let error = structured_content(self.client, self.name(), &arguments).await;
            if error["errorCode"] != "TIMEOUT" || code == "TIMEOUT" || timeout > LONGEST {
                assert_error(self.name(), &arguments, &error, code);
                break error;
            }
            timeout *= 4;
        };
        assert!(error["suggestion"].is_string(), "{error}");
        assert_eq!(error["sessionId"], self.session, "{error}");
        error
    }

    async fn one_that_is_not_fit(&self) {
        let kind = kind(self.name());
        for (state, obstacle, table) in REFUSALS {
            let element = format!("#{kind}-{state}");
            let Some(code) = code(self.name(), table) else {
                if self.name() == "wait_for_selector" && state == "hidden" {
                    self.refuses(&element, "TIMEOUT").await;
                } else {
                    self.accepts(&element).await;
                }
                continue;
            };
            let error = self.refuses(&element, code).await;
            let structured_content = &error["details"]["obstacle"]["obstacle"];
            assert!(
                *structured_content == obstacle || structured_content[obstacle].is_string(),
                "{error}"
            );
        }
        match code(self.name(), PARTICULAR) {
            None => self.accepts("a").await,
            Some(code) => {
                let error = self.refuses("a", code).await;
                assert!(error["details"]["reason"].is_string(), "{error}");
            }
        }
    }

    async fn one_that_is_not_there(&self) {
        for malformed in ["#[", "xpath=//[", "getByRole('button'", "role="] {
            self.refuses(malformed, "INVALID_SELECTOR").await;
        }
        if self.is_required {
            self.refuses("", "INVALID_SELECTOR").await;
        } else if self.name() != "hand_over" {
            // An empty one counts as missing. The page is then handed over, which has a separate test.
            self.accepts("").await;
        }
        let waits = self.name() == "wait_for_selector";
        if OF_ANY_NUMBER.contains(&self.name()) {
            self.accepts("#none").await;
        } else if waits {
            self.refuses("#none", "TIMEOUT").await;
        } else {
            let error = self.refuses("#none", "ELEMENT_NOT_FOUND").await;
            assert!(error["details"].is_object(), "{error}");
        }
        if waits || OF_ANY_NUMBER.contains(&self.name()) && self.name() != "is_visible" {
            self.accepts("ul").await;
        } else {
            let error = self.refuses("li", "ELEMENT_AMBIGUOUS").await;
            let candidates = error["details"]["candidates"].as_array();
            assert_eq!(candidates.map(Vec::len), Some(2), "{error}");
        }
        // A ref of a removed element, and one that never existed.
        let gone = self.detached().await;
        for reference in [gone.as_str(), "e999"] {
            if waits {
                self.refuses(reference, "TIMEOUT").await;
            } else {
                let error = self.refuses(reference, "STALE_REF").await;
                assert_eq!(error["details"]["reference"], reference, "{error}");
            }
        }
    }

    /// Returns the ref of an element that was removed from the page.
    async fn detached(&self) -> String {
        let script = |script| json!({ "sessionId": self.session, "script": script });
        let added =
            "document.body.append(Object.assign(document.createElement('p'), { id: 'gone' }))";
        structured_content(self.client, "evaluate", &script(added)).await;
        let found = json!({ "sessionId": self.session, "selector": "#gone" });
        let found = structured_content(self.client, "find_element", &found).await;
        let removed = "document.getElementById('gone').remove()";
        structured_content(self.client, "evaluate", &script(removed)).await;
        let reference = found["ref"].as_str();
        reference.unwrap_or_else(|| panic!("{found}")).to_owned()
    }
}

async fn every_tool_in(client: &Client, session: &str, url: &str) {
    let go = json!({ "sessionId": session, "url": url });
    assert_eq!(
        structured_content(client, "navigate", &go).await["success"],
        true
    );
    let mut subjects = 0;
    for tool in tools() {
        let Some(subject) = Subject::of(client, session, tool) else {
            continue;
        };
        subjects += 1;
        subject.one_that_is_not_there().await;
        subject.one_that_is_not_fit().await;
        is_usable(client, session, tool.name).await;
    }
    assert!(subjects > 20);
}

#[testkit::test(chromium)]
async fn an_unsuitable_element_is_reported_by_every_tool() {
    let site = Site::start().await;
    let url = site.add_page("/", &page());
    let options = ["--timeout-settle", "0", "--timeout-action", "100"];
    let client = server(&[&["--toolsets", "session"][..], &options].concat()).await;
    let created = structured_content(&client, "create_session", &json!({})).await;
    let created = created["sessionId"].as_str().expect("an id");
    tokio::join!(
        every_tool_in(&client, "default", &url),
        every_tool_in(&client, created, &url)
    );
}

#[testkit::test(chromium)]
async fn the_drop_target_is_checked_too() {
    let site = Site::start().await;
    let url = site.add_page("/", &page());
    let client = server(&["--toolsets", "session"]).await;
    structured_content(&client, "navigate", &json!({ "url": url })).await;
    for (target, code) in [
        ("#button-hidden", INTERACTIVE),
        ("#button-covered", INTERACTIVE),
        ("#none", "ELEMENT_NOT_FOUND"),
        ("li", "ELEMENT_AMBIGUOUS"),
        ("#[", "INVALID_SELECTOR"),
        ("e999", "STALE_REF"),
    ] {
        let drag = json!({ "source": "a", "target": target, "timeout": 2_000 });
        refused(&client, "drag_and_drop", &drag, code).await;
        is_usable(&client, "default", target).await;
    }
}
