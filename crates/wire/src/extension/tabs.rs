//! The tabs of a connection: translates commands and events of the Chrome DevTools Protocol to those of the extension, and back.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::cdp::target::{AttachedToTarget, DetachedFromTarget};
use crate::message::Event as _;

/// The version of the Chrome DevTools Protocol that `chrome.debugger` requires.
const DEBUGGER_VERSION: &str = "1.3";
/// The identifiers of calls begin here that are not commands of the client, which counts from 1.
const FIRST_OWN_ID: u64 = 1 << 40;
/// Chromium's error code for an unknown session.
const SESSION_NOT_FOUND: i64 = -32001;
/// The error code of a command that failed.
const SERVER_ERROR: i64 = -32000;

/// Messages to be sent, in order.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Messages {
    pub(super) to_extension: Vec<String>,
    pub(super) to_client: Vec<String>,
}

/// The tabs that the extension has given to the server.
pub(super) struct Tabs {
    user_agent: String,
    /// Whether no tab is activated.
    background: bool,
    /// Whether the extension has given all tabs that the user chose.
    ready: bool,
    /// Whether the client gets an event for each new tab.
    auto_attach: bool,
    /// The tabs that the debugger is attached to.
    attached: BTreeMap<i64, Tab>,
    /// The tabs that the debugger is being attached to.
    attaching: BTreeSet<i64>,
    /// The sessions of frames and workers, with their tabs.
    children: HashMap<String, i64>,
    /// The continuations of calls that are no commands of the client.
    waiting: HashMap<u64, Step>,
    last_own_id: u64,
    /// Requests for the list of targets, which are answered once no tab is being attached to.
    lists: Vec<u64>,
}

struct Tab {
    session: String,
    /// The target, as CDP describes it.
    info: Value,
}

/// The continuation of a call.
enum Step {
    /// The debugger was attached to a tab; the target's description is requested next.
    Attached(Attaching),
    /// The description of the target has arrived.
    Described(Attaching),
    /// A tab was created for a command of the client.
    Created(u64),
    /// A tab was closed for a command of the client.
    Closed(u64),
}

/// A tab that the debugger is being attached to.
struct Attaching {
    tab: i64,
    /// The command that has created the tab.
    command: Option<u64>,
}

/// A command of the client.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Command<'a> {
    id: u64,
    method: &'a str,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    session_id: Option<&'a str>,
}

/// A message of the extension: a response has an `id`, an event a `method`.
#[derive(Deserialize)]
struct Message<'a> {
    id: Option<u64>,
    method: Option<&'a str>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    error: Option<Value>,
}

/// The source of an event: a tab, and a session in it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Source {
    tab_id: Option<i64>,
    session_id: Option<String>,
}

#[derive(Deserialize)]
struct TabId {
    id: i64,
}

/// A response or an event for the client.
#[derive(Serialize, Default)]
#[serde(rename_all = "camelCase")]
struct Frame<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Value>,
}

impl Tabs {
    /// Creates the state of a connection of a browser with this `User-Agent` header. In the background, no tab is activated.
    pub(super) fn new(user_agent: String, background: bool) -> Self {
        Self {
            user_agent,
            background,
            ready: false,
            auto_attach: false,
            attached: BTreeMap::new(),
            attaching: BTreeSet::new(),
            children: HashMap::new(),
            waiting: HashMap::new(),
            last_own_id: FIRST_OWN_ID,
            lists: Vec::new(),
        }
    }

    /// Returns whether the extension has given all tabs that the user chose.
    pub(super) fn is_ready(&self) -> bool {
        self.ready
    }

    /// Handles a command of the client.
    pub(super) fn on_command(&mut self, frame: &str, out: &mut Messages) {
        let command: Command<'_> = match serde_json::from_str(frame) {
            Ok(command) => command,
            Err(error) => return tracing::warn!(%error, "a command has another form"),
        };
        let Some(session) = command.session_id else {
            return self.on_browser_command(&command, out);
        };
        match self.tab_of(session) {
            Some(_) if self.background && command.method == "Page.bringToFront" => {
                succeed(command.id, &json!({}), out);
            }
            Some((tab, child)) => send_command(tab, child, &command, out),
            None => fail(
                command.id,
                SESSION_NOT_FOUND,
                "Session with given id not found.",
                out,
            ),
        }
    }

    /// Handles a command of the browser level: those about targets here, others in any tab, because they apply to the whole browser.
    fn on_browser_command(&mut self, command: &Command<'_>, out: &mut Messages) {
        let params: Value = command
            .params
            .and_then(|params| serde_json::from_str(params.get()).ok())
            .unwrap_or_default();
        match command.method {
            "Browser.getVersion" => succeed(command.id, &self.version(), out),
            "Target.setAutoAttach" => {
                self.auto_attach = params["autoAttach"] == true;
                succeed(command.id, &json!({}), out);
            }
            "Target.getBrowserContexts" => {
                succeed(command.id, &json!({ "browserContextIds": [] }), out);
            }
            "Target.getTargets" => {
                self.lists.push(command.id);
                self.answer_lists(out);
            }
            "Target.attachToTarget" => match self.tab_of_target(&params) {
                Some(tab) => {
                    self.announce(tab, out);
                    let session = &self.attached[&tab].session;
                    succeed(command.id, &json!({ "sessionId": session }), out);
                }
                None => fail_without_target(command.id, out),
            },
            "Target.createTarget" => {
                let mut properties = json!([{ "url": params["url"] }]);
                if self.background {
                    properties[0]["active"] = false.into();
                }
                self.call(
                    Step::Created(command.id),
                    "chrome.tabs.create",
                    &properties,
                    out,
                );
            }
            "Target.closeTarget" => match self.tab_of_target(&params) {
                Some(tab) => self.call(
                    Step::Closed(command.id),
                    "chrome.tabs.remove",
                    &json!([tab]),
                    out,
                ),
                None => fail_without_target(command.id, out),
            },
            _ => match self.attached.keys().next() {
                Some(tab) => send_command(*tab, None, command, out),
                None => fail(command.id, SERVER_ERROR, "No tab is connected", out),
            },
        }
    }

    /// Handles a message of the extension.
    pub(super) fn on_message(&mut self, frame: &str, out: &mut Messages) {
        let message: Message<'_> = match serde_json::from_str(frame) {
            Ok(message) => message,
            Err(error) => {
                return tracing::warn!(%error, "a message of the extension has another form");
            }
        };
        if let Some(id) = message.id {
            return self.on_response(id, &message, out);
        }
        let (Some(method), Some(params)) = (message.method, message.params) else {
            return;
        };
        if self.on_event(method, params, out).is_none() {
            tracing::warn!(method, "an event of the extension has another form");
        }
    }

    fn on_event(&mut self, method: &str, params: &RawValue, out: &mut Messages) -> Option<()> {
        let params = params.get();
        match method {
            "extension.initialized" => {
                self.ready = true;
                for tab in self.attaching.clone() {
                    self.attach(tab, None, out);
                }
            }
            "chrome.debugger.onEvent" => {
                let (source, method, params): (Source, String, Option<&RawValue>) =
                    serde_json::from_str(params).ok()?;
                self.on_debugger_event(&source, &method, params, out);
            }
            "chrome.debugger.onDetach" => {
                let (source, _reason): (Source, Option<String>) =
                    serde_json::from_str(params).ok()?;
                self.detach(source.tab_id?, out);
            }
            "chrome.tabs.onCreated" => {
                let (tab,): (TabId,) = serde_json::from_str(params).ok()?;
                let is_new = !self.attached.contains_key(&tab.id) && self.attaching.insert(tab.id);
                // The tabs that the user chose are attached to together, once the client can handle them.
                if is_new && self.ready {
                    self.attach(tab.id, None, out);
                }
            }
            "chrome.tabs.onRemoved" => {
                let tabs: Vec<Value> = serde_json::from_str(params).ok()?;
                self.detach(tabs.first()?.as_i64()?, out);
            }
            _ => tracing::debug!(method, "an event of the extension is not used"),
        }
        Some(())
    }

    /// Forwards an event of a tab, or of a frame or worker in it.
    fn on_debugger_event(
        &mut self,
        source: &Source,
        method: &str,
        params: Option<&RawValue>,
        out: &mut Messages,
    ) {
        let Some((id, tab)) = source
            .tab_id
            .and_then(|id| Some((id, self.attached.get(&id)?)))
        else {
            return;
        };
        let session = source.session_id.as_deref().unwrap_or(&tab.session);
        let event = Frame {
            session_id: Some(session),
            method: Some(method),
            params,
            ..Frame::default()
        };
        out.client(&event);
        let child = || {
            let params: Value = serde_json::from_str(params?.get()).ok()?;
            Some(params["sessionId"].as_str()?.to_owned())
        };
        if method == AttachedToTarget::METHOD {
            self.children.extend(child().map(|child| (child, id)));
        } else if method == DetachedFromTarget::METHOD
            && let Some(child) = child()
        {
            self.children.remove(&child);
        }
    }

    fn on_response(&mut self, id: u64, message: &Message<'_>, out: &mut Messages) {
        let failure = message.error.as_ref().map(failure);
        let Some(step) = self.waiting.remove(&id) else {
            // It is a command of the client.
            let response = Frame {
                id: Some(id),
                result: message.result.filter(|_| failure.is_none()),
                error: failure,
                ..Frame::default()
            };
            return out.client(&response);
        };
        let result: Value = message
            .result
            .and_then(|result| serde_json::from_str(result.get()).ok())
            .unwrap_or_default();
        match (step, failure) {
            (Step::Attached(attaching), None) => {
                let debuggee = json!([{ "tabId": attaching.tab }, "Target.getTargetInfo"]);
                self.call(
                    Step::Described(attaching),
                    "chrome.debugger.sendCommand",
                    &debuggee,
                    out,
                );
            }
            (Step::Described(attaching), None) => {
                self.on_attached(&attaching, result["targetInfo"].clone(), out);
            }
            (Step::Attached(attaching) | Step::Described(attaching), Some(error)) => {
                self.attaching.remove(&attaching.tab);
                self.answer_lists(out);
                match attaching.command {
                    Some(command) => fail_with(command, error, out),
                    None => tracing::warn!(%error, "the extension cannot attach to a tab"),
                }
            }
            (Step::Created(command), None) => match result["id"].as_i64() {
                Some(tab) => {
                    self.attaching.insert(tab);
                    self.attach(tab, Some(command), out);
                }
                None => fail(command, SERVER_ERROR, "The browser opened no tab", out),
            },
            (Step::Closed(command), None) => succeed(command, &json!({ "success": true }), out),
            (Step::Created(command) | Step::Closed(command), Some(error)) => {
                fail_with(command, error, out);
            }
        }
    }

    /// Attaches the debugger to a tab, and requests the description of its target.
    fn attach(&mut self, tab: i64, command: Option<u64>, out: &mut Messages) {
        let debuggee = json!([{ "tabId": tab }, DEBUGGER_VERSION]);
        let step = Step::Attached(Attaching { tab, command });
        self.call(step, "chrome.debugger.attach", &debuggee, out);
    }

    fn on_attached(&mut self, attaching: &Attaching, mut info: Value, out: &mut Messages) {
        // The tab was closed meanwhile.
        let is_open = self.attaching.remove(&attaching.tab);
        if is_open {
            info["attached"] = true.into();
            let target = info["targetId"].clone();
            let session = format!("tab-{}", attaching.tab);
            self.attached.insert(attaching.tab, Tab { session, info });
            if self.auto_attach {
                self.announce(attaching.tab, out);
            }
            if let Some(command) = attaching.command {
                succeed(command, &json!({ "targetId": target }), out);
            }
        } else if let Some(command) = attaching.command {
            fail_without_target(command, out);
        }
        self.answer_lists(out);
    }

    /// Reports the session of a tab. A session that is reported again replaces the earlier one.
    fn announce(&self, tab: i64, out: &mut Messages) {
        let Tab { session, info } = &self.attached[&tab];
        let params = json!({
            "sessionId": session,
            "targetInfo": info,
            "waitingForDebugger": false,
        });
        out.event(AttachedToTarget::METHOD, &params);
    }

    fn detach(&mut self, tab: i64, out: &mut Messages) {
        self.attaching.remove(&tab);
        self.children.retain(|_, owner| *owner != tab);
        if let Some(Tab { session, info }) = self.attached.remove(&tab) {
            let params = json!({ "sessionId": session, "targetId": info["targetId"] });
            out.event(DetachedFromTarget::METHOD, &params);
        }
        self.answer_lists(out);
    }

    fn answer_lists(&mut self, out: &mut Messages) {
        if !self.attaching.is_empty() {
            return;
        }
        for command in std::mem::take(&mut self.lists) {
            let infos: Vec<_> = self.attached.values().map(|tab| &tab.info).collect();
            succeed(command, &json!({ "targetInfos": infos }), out);
        }
    }

    /// Returns name, version and user agent of the browser, which the extension does not report otherwise.
    fn version(&self) -> Value {
        let mut products = self.user_agent.split_ascii_whitespace();
        let product = products.find(|product| product.starts_with("Chrome/"));
        json!({
            "protocolVersion": DEBUGGER_VERSION,
            "product": product.unwrap_or("Chrome"),
            "revision": "",
            "userAgent": self.user_agent,
            "jsVersion": "",
        })
    }

    /// Returns the tab of a session, and the session in the tab unless it is that of the tab.
    fn tab_of<'a>(&self, session: &'a str) -> Option<(i64, Option<&'a str>)> {
        if let Some(tab) = self.children.get(session) {
            return Some((*tab, Some(session)));
        }
        let mut attached = self.attached.iter();
        let (tab, _) = attached.find(|(_, tab)| tab.session == session)?;
        Some((*tab, None))
    }

    fn tab_of_target(&self, params: &Value) -> Option<i64> {
        let mut attached = self.attached.iter();
        let found = attached.find(|(_, tab)| tab.info["targetId"] == params["targetId"]);
        found.map(|(tab, _)| *tab)
    }

    /// Calls a function of the extension, whose result is not for the client.
    fn call(&mut self, step: Step, method: &str, params: &Value, out: &mut Messages) {
        self.last_own_id += 1;
        self.waiting.insert(self.last_own_id, step);
        let call = json!({ "id": self.last_own_id, "method": method, "params": params });
        out.to_extension.push(call.to_string());
    }
}

impl Messages {
    fn client(&mut self, frame: &Frame<'_>) {
        // Its fields are JSON already.
        self.to_client.extend(serde_json::to_string(frame).ok());
    }

    fn event(&mut self, method: &str, params: &Value) {
        let event = json!({ "method": method, "params": params });
        self.to_client.push(event.to_string());
    }
}

/// Sends a command of the client to a tab, or to a session in it.
fn send_command(tab: i64, session: Option<&str>, command: &Command<'_>, out: &mut Messages) {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Debuggee<'a> {
        tab_id: i64,
        #[serde(skip_serializing_if = "Option::is_none")]
        session_id: Option<&'a str>,
    }
    #[derive(Serialize)]
    struct Call<'a> {
        id: u64,
        method: &'static str,
        params: (Debuggee<'a>, &'a str, Option<&'a RawValue>),
    }
    let debuggee = Debuggee {
        tab_id: tab,
        session_id: session,
    };
    let call = Call {
        id: command.id,
        method: "chrome.debugger.sendCommand",
        params: (debuggee, command.method, command.params),
    };
    // Its fields are JSON already.
    out.to_extension.extend(serde_json::to_string(&call).ok());
}

fn succeed(command: u64, result: &Value, out: &mut Messages) {
    let response = json!({ "id": command, "result": result });
    out.to_client.push(response.to_string());
}

fn fail(command: u64, code: i64, message: &str, out: &mut Messages) {
    fail_with(command, json!({ "code": code, "message": message }), out);
}

fn fail_with(command: u64, error: Value, out: &mut Messages) {
    let response = json!({ "id": command, "error": error });
    out.to_client.push(response.to_string());
}

fn fail_without_target(command: u64, out: &mut Messages) {
    fail(command, SERVER_ERROR, "No target with given id found", out);
}

/// Returns the error of a call as CDP has it. The text of `chrome.debugger` for an error of the browser is such an error as JSON.
fn failure(error: &Value) -> Value {
    let text = error.as_str().unwrap_or_default();
    match serde_json::from_str::<Value>(text) {
        Ok(error) if error["message"].is_string() => error,
        _ if error.is_object() => error.clone(),
        _ => json!({ "code": SERVER_ERROR, "message": text }),
    }
}
