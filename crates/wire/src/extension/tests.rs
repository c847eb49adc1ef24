//! The translation between CDP and the extension, without a browser.

use serde_json::{Value, json};

use super::tabs::{Messages, Tabs};

const USER_AGENT: &str = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36";

/// A connection, and the messages that are not checked yet.
struct Fixture {
    tabs: Tabs,
    out: Messages,
}

impl Fixture {
    fn new() -> Self {
        Self {
            tabs: Tabs::new(USER_AGENT.to_owned(), false),
            out: Messages::default(),
        }
    }

    fn command(&mut self, command: Value) {
        self.tabs.on_command(&command.to_string(), &mut self.out);
    }

    fn event(&mut self, method: &str, params: Value) {
        let event = json!({ "method": method, "params": params });
        self.tabs.on_message(&event.to_string(), &mut self.out);
    }

    /// Takes the only message to the extension.
    fn called(&mut self) -> Value {
        assert_eq!(self.out.to_extension.len(), 1, "{:?}", self.out);
        serde_json::from_str(&self.out.to_extension.remove(0)).unwrap()
    }

    /// Takes the only message to the client.
    fn answered(&mut self) -> Value {
        assert_eq!(self.out.to_client.len(), 1, "{:?}", self.out);
        serde_json::from_str(&self.out.to_client.remove(0)).unwrap()
    }

    /// Answers a call of the extension.
    fn respond(&mut self, call: &Value, result: Value) {
        let response = json!({ "id": call["id"], "result": result });
        self.tabs.on_message(&response.to_string(), &mut self.out);
    }

    fn refuse(&mut self, call: &Value, error: &str) {
        let response = json!({ "id": call["id"], "error": error });
        self.tabs.on_message(&response.to_string(), &mut self.out);
    }

    /// Answers the calls that attach to a tab.
    fn attach(&mut self, tab: i64) {
        let call = self.called();
        assert_eq!(call["method"], "chrome.debugger.attach");
        assert_eq!(call["params"], json!([{ "tabId": tab }, "1.3"]));
        self.respond(&call, json!({}));
        let call = self.called();
        assert_eq!(call["method"], "chrome.debugger.sendCommand");
        assert_eq!(
            call["params"],
            json!([{ "tabId": tab }, "Target.getTargetInfo"])
        );
        let info =
            json!({ "targetId": format!("T{tab}"), "type": "page", "url": "u", "title": "t" });
        self.respond(&call, json!({ "targetInfo": info }));
    }

    /// A connection with the tab 7, to which the client has attached.
    fn with_a_tab() -> Self {
        let mut fixture = Self::new();
        fixture.event("chrome.tabs.onCreated", json!([{ "id": 7 }]));
        fixture.event("extension.initialized", json!([]));
        fixture.attach(7);
        fixture.command(
            json!({ "id": 1, "method": "Target.setAutoAttach", "params": { "autoAttach": true } }),
        );
        assert_eq!(fixture.answered(), json!({ "id": 1, "result": {} }));
        fixture
    }
}

#[test]
fn chosen_tabs_are_listed_once_all_of_them_are_attached() {
    let mut fixture = Fixture::new();
    fixture.event("chrome.tabs.onCreated", json!([{ "id": 7 }]));
    assert_eq!(fixture.out, Messages::default());
    assert!(!fixture.tabs.is_ready());
    fixture.event("extension.initialized", json!([]));
    assert!(fixture.tabs.is_ready());
    fixture.command(json!({ "id": 1, "method": "Target.getTargets", "params": {} }));
    assert_eq!(fixture.out.to_client.len(), 0);
    fixture.attach(7);
    let targets = fixture.answered();
    assert_eq!(targets["id"], 1);
    assert_eq!(targets["result"]["targetInfos"][0]["targetId"], "T7");
    fixture.command(
        json!({ "id": 2, "method": "Target.attachToTarget", "params": { "targetId": "T7" } }),
    );
    let response = fixture.out.to_client.pop().unwrap();
    assert_eq!(response, r#"{"id":2,"result":{"sessionId":"tab-7"}}"#);
    let event = fixture.answered();
    assert_eq!(event["method"], "Target.attachedToTarget");
    assert_eq!(event["params"]["sessionId"], "tab-7");
    assert_eq!(event["params"]["waitingForDebugger"], false);
}

#[test]
fn commands_and_events_keep_their_session() {
    let mut fixture = Fixture::with_a_tab();
    fixture.command(json!({ "id": 3, "method": "Page.navigate", "params": { "url": "x" }, "sessionId": "tab-7" }));
    let call = fixture.called();
    assert_eq!(call["id"], 3);
    assert_eq!(call["method"], "chrome.debugger.sendCommand");
    assert_eq!(
        call["params"],
        json!([{ "tabId": 7 }, "Page.navigate", { "url": "x" }])
    );
    fixture.respond(&call, json!({ "frameId": "F" }));
    assert_eq!(
        fixture.answered(),
        json!({ "id": 3, "result": { "frameId": "F" } })
    );
    // A frame in a process of its own.
    let attached = json!({ "sessionId": "S", "targetInfo": {} });
    fixture.event(
        "chrome.debugger.onEvent",
        json!([{ "tabId": 7 }, "Target.attachedToTarget", attached]),
    );
    assert_eq!(fixture.answered()["sessionId"], "tab-7");
    fixture.event(
        "chrome.debugger.onEvent",
        json!([{ "tabId": 7, "sessionId": "S" }, "Page.x", { "a": 1 }]),
    );
    assert_eq!(
        fixture.answered(),
        json!({ "sessionId": "S", "method": "Page.x", "params": { "a": 1 } })
    );
    fixture.command(json!({ "id": 4, "method": "Page.enable", "params": {}, "sessionId": "S" }));
    assert_eq!(
        fixture.called()["params"],
        json!([{ "tabId": 7, "sessionId": "S" }, "Page.enable", {}])
    );
    // After its end, the session is unknown.
    fixture.event(
        "chrome.debugger.onEvent",
        json!([{ "tabId": 7 }, "Target.detachedFromTarget", { "sessionId": "S" }]),
    );
    fixture.answered();
    fixture.command(json!({ "id": 5, "method": "Page.enable", "params": {}, "sessionId": "S" }));
    assert_eq!(fixture.answered()["error"]["code"], -32001);
    // A tab that does not belong to the connection.
    fixture.event(
        "chrome.debugger.onEvent",
        json!([{ "tabId": 8 }, "Page.x", {}]),
    );
    assert_eq!(fixture.out, Messages::default());
}

#[test]
fn an_error_of_the_browser_keeps_its_code() {
    let mut fixture = Fixture::with_a_tab();
    let mut error = |text: &str| {
        fixture.command(json!({ "id": 9, "method": "Page.x", "params": {}, "sessionId": "tab-7" }));
        let call = fixture.called();
        fixture.refuse(&call, text);
        fixture.answered()["error"].clone()
    };
    assert_eq!(
        error(r#"{"code":-32601,"message":"'Page.x' wasn't found"}"#),
        json!({ "code": -32601, "message": "'Page.x' wasn't found" })
    );
    assert_eq!(
        error("Debugger is not attached"),
        json!({ "code": -32000, "message": "Debugger is not attached" })
    );
}

#[test]
fn no_tab_is_activated_in_the_background() {
    let mut fixture = Fixture {
        tabs: Tabs::new(USER_AGENT.to_owned(), true),
        out: Messages::default(),
    };
    fixture.event("chrome.tabs.onCreated", json!([{ "id": 7 }]));
    fixture.event("extension.initialized", json!([]));
    fixture.attach(7);
    fixture.command(
        json!({ "id": 1, "method": "Target.createTarget", "params": { "url": "about:blank" } }),
    );
    let call = fixture.called();
    let properties = json!([{ "url": "about:blank", "active": false }]);
    assert_eq!(call["params"], properties);
    let attach =
        json!({ "id": 2, "method": "Target.attachToTarget", "params": { "targetId": "T7" } });
    fixture.command(attach);
    let answered = |text: &String| serde_json::from_str::<Value>(text).unwrap();
    let attached: Vec<_> = fixture
        .out
        .to_client
        .drain(..)
        .map(|it| answered(&it))
        .collect();
    let session = attached
        .iter()
        .find_map(|message| message["result"]["sessionId"].as_str())
        .unwrap();
    fixture.command(
        json!({ "id": 3, "method": "Page.bringToFront", "params": {}, "sessionId": session }),
    );
    assert_eq!(fixture.answered(), json!({ "id": 3, "result": {} }));
    assert!(fixture.out.to_extension.is_empty());
}

#[test]
fn tabs_are_opened_and_closed() {
    let mut fixture = Fixture::with_a_tab();
    fixture.command(
        json!({ "id": 3, "method": "Target.createTarget", "params": { "url": "about:blank" } }),
    );
    let call = fixture.called();
    assert_eq!(call["method"], "chrome.tabs.create");
    assert_eq!(call["params"], json!([{ "url": "about:blank" }]));
    fixture.respond(&call, json!({ "id": 8 }));
    fixture.attach(8);
    let response = fixture.out.to_client.pop().unwrap();
    assert_eq!(response, r#"{"id":3,"result":{"targetId":"T8"}}"#);
    assert_eq!(fixture.answered()["params"]["targetInfo"]["targetId"], "T8");
    fixture.command(
        json!({ "id": 4, "method": "Target.closeTarget", "params": { "targetId": "T8" } }),
    );
    let call = fixture.called();
    assert_eq!(
        (&call["method"], &call["params"]),
        (&"chrome.tabs.remove".into(), &json!([8]))
    );
    fixture.event(
        "chrome.debugger.onDetach",
        json!([{ "tabId": 8 }, "target_closed"]),
    );
    assert_eq!(
        fixture.answered(),
        json!({ "method": "Target.detachedFromTarget", "params": { "sessionId": "tab-8", "targetId": "T8" } })
    );
    fixture.respond(&call, json!({}));
    assert_eq!(
        fixture.answered(),
        json!({ "id": 4, "result": { "success": true } })
    );
    fixture.event("chrome.tabs.onRemoved", json!([8, {}]));
    fixture.command(
        json!({ "id": 5, "method": "Target.closeTarget", "params": { "targetId": "T8" } }),
    );
    assert_eq!(
        fixture.answered()["error"]["message"],
        "No target with given id found"
    );
}

#[test]
fn a_popup_is_attached_and_a_tab_that_refuses_is_left_out() {
    let mut fixture = Fixture::with_a_tab();
    fixture.event(
        "chrome.tabs.onCreated",
        json!([{ "id": 8, "openerTabId": 7 }]),
    );
    fixture.attach(8);
    assert_eq!(fixture.answered()["params"]["sessionId"], "tab-8");
    fixture.event("chrome.tabs.onCreated", json!([{ "id": 9 }]));
    let call = fixture.called();
    fixture.command(json!({ "id": 3, "method": "Target.getTargets" }));
    fixture.refuse(&call, "Cannot access a chrome:// URL");
    let targets = fixture.answered();
    assert_eq!(
        targets["result"]["targetInfos"].as_array().unwrap().len(),
        2
    );
    // One that the client has requested is reported to it.
    fixture.command(
        json!({ "id": 4, "method": "Target.createTarget", "params": { "url": "chrome://x" } }),
    );
    let call = fixture.called();
    fixture.respond(&call, json!({ "id": 10 }));
    let call = fixture.called();
    fixture.refuse(&call, "Cannot access a chrome:// URL");
    assert_eq!(
        fixture.answered(),
        json!({ "id": 4, "error": { "code": -32000, "message": "Cannot access a chrome:// URL" } })
    );
}

#[test]
fn commands_of_the_browser_level_are_answered_or_sent_to_a_tab() {
    let mut fixture = Fixture::with_a_tab();
    fixture.command(json!({ "id": 2, "method": "Browser.getVersion" }));
    let version = fixture.answered();
    assert_eq!(version["result"]["product"], "Chrome/156.0.0.0");
    assert_eq!(version["result"]["userAgent"], USER_AGENT);
    fixture.command(json!({ "id": 3, "method": "Storage.getCookies", "params": {} }));
    assert_eq!(
        fixture.called()["params"],
        json!([{ "tabId": 7 }, "Storage.getCookies", {}])
    );
    fixture.event("chrome.tabs.onRemoved", json!([7, {}]));
    fixture.answered();
    fixture.command(json!({ "id": 4, "method": "Storage.getCookies", "params": {} }));
    assert_eq!(
        fixture.answered()["error"]["message"],
        "No tab is connected"
    );
}

#[test]
fn messages_of_another_form_are_ignored() {
    let mut fixture = Fixture::with_a_tab();
    for message in [
        "",
        "[]",
        "{}",
        r#"{"method":"chrome.debugger.onEvent","params":[]}"#,
        r#"{"method":"chrome.debugger.onEvent","params":{}}"#,
        r#"{"method":"chrome.debugger.onDetach","params":[{}]}"#,
        r#"{"method":"chrome.tabs.onCreated","params":[{"id":"x"}]}"#,
        r#"{"method":"chrome.tabs.onRemoved","params":[]}"#,
        r#"{"method":"chrome.windows.onCreated","params":[]}"#,
    ] {
        fixture.tabs.on_message(message, &mut fixture.out);
        assert_eq!(fixture.out, Messages::default(), "{message}");
    }
}
