//! Running JavaScript in a frame: the injected code and the caller's, both in the page's world.

use super::WebKitPage;
use crate::backend::expression::{TO_JSON, plain_function_around};
use crate::backend::{Evaluation, FrameId, Handle};
use crate::error::{Error, Result};
use crate::injected::{causes_event, core_script, json_of};
use async_trait::async_trait;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use std::sync::OnceLock;
use std::time::Duration;
use task::read_json;

/// How long a new document may take to have an execution context. Those that run no scripts have none.
const CONTEXT_TIMEOUT: Duration = Duration::from_millis(100);
/// How long a function runs before the browser is asked for a dialog that was not reported.
const DIALOG_CHECK_INTERVAL: Duration = Duration::from_millis(300);

/// The functions of the injected code that set the focus.
const FOCUSING: [&str; 3] = ["focus", "fill", "insertText"];

/// The beginning of the browser's message about an exception.
const SCRIPT_ERROR: &str = "JavaScriptError";

/// Defines `own`, the record of a document.
pub(super) const OWN: &str = "
  let own = globalThis.__playhouse;
  if (!own || own.document !== document) {
    const id = Array.from(crypto.getRandomValues(new Uint8Array(8)), (n) => n.toString(16).padStart(2, '0')).join('');
    own = { id, document, builtins: own?.builtins };
    Object.defineProperty(globalThis, '__playhouse', { value: own, configurable: true });
  }";

/// The global built-ins that are recorded, with their properties and prototypes.
macro_rules! globals {
    () => {
        "Object, Function, Array, String, Number, Boolean, Symbol, BigInt, Math, JSON, Reflect, Promise, Proxy, Map, Set, WeakMap, \
         WeakSet, WeakRef, Date, RegExp, Error, TypeError, RangeError, URL, Node, Element, HTMLElement, Document, ShadowRoot, \
         Performance, EventTarget, Event, CSSStyleDeclaration, DOMRect, Range, NodeFilter, MutationObserver, IntersectionObserver, \
         parseInt, parseFloat, isNaN, isFinite, encodeURIComponent, getComputedStyle, setTimeout, clearTimeout, \
         requestAnimationFrame, cancelAnimationFrame, queueMicrotask"
    };
}

/// Records the built-ins in `own`, with the hooks that have replaced some.
pub(super) const RECORD_BUILTINS: &str = concat!(
    "\n  own.builtins ??= (",
    include_str!("builtins.js"),
    ")('",
    globals!(),
    "'.split(', '));"
);

/// Defines `during`, `then` and `apply`, which [`RECORD_BUILTINS`] has recorded; before that, they are plain.
const BUILTINS: &str = "
  const { during, then, apply } = globalThis.__playhouse?.builtins ??
    { during: (run) => run(), then: (promise, done, failed) => promise.then(done, failed), apply: Reflect.apply };";

/// Returns a function that calls one of the injected code. It returns the URL of the document and the answer, or an empty text without the
/// code.
fn call_core() -> &'static str {
    static SCRIPT: OnceLock<String> = OnceLock::new();
    SCRIPT.get_or_init(|| {
        format!(
            "function(name, argument) {{
  const core = globalThis.__playhouseCore;
  if (core?.self?.document !== document) return '';
  {BUILTINS}
  const value = (answer) => location.href + '\\n' + answer;
  const answer = during(() => core.call(name, argument));
  return typeof answer === 'string' ? value(answer) : then(answer, value);
}}"
        )
    })
}

/// Runs the caller's function with elements, and with the page's own built-ins. Errors and their stacks have the form of Chromium's.
fn around(function: &str) -> String {
    format!(
        "function(...handles) {{ return ((run, handles) => {{
  const core = globalThis.__playhouseCore;
  if (handles.length && core?.self?.document !== document) return 'D';
  {BUILTINS}
  const given = during(() => handles.map((handle) => core.element(handle)));
  const stack = (e) => String(e.stack || '').split('\\n').filter((line) => /:\\d+:\\d+$/.test(line)).map((line) => {{
    const at = line.indexOf('@');
    const name = at > 0 ? line.slice(0, at) : '';
    return '\\n    at ' + (name ? name + ' (' + line.slice(at + 1) + ')' : line.slice(at + 1));
  }}).join('');
  const failed = (e) => {{
    if (e instanceof Error) return 'E' + e.name + ': ' + e.message + stack(e);
    try {{ return 'E' + (typeof e === 'object' && e !== null ? JSON.stringify(e) : String(e)); }} catch {{ return 'E' + String(e); }}
  }};
  const value = (value) => {{
    const json = ({TO_JSON})(value);
    return json === null ? 'U' : typeof json === 'string' ? 'V' + json : 'V' + JSON.stringify(json[0] ?? null);
  }};
  return then(then(apply(run, undefined, given), value), (answer) => answer, failed);
}})({function}, handles); }}"
    )
}

/// Returns the injected code as a function that has no effect the second time, with the numbers of frame elements. The code gets the frame
/// as an argument. It observes no other
/// document: an element that WebKit first exposes to an observer or a tree walker gets the classes of the observer's window, and
/// `instanceof` fails in the element's own window.
fn core_script_once() -> &'static str {
    static SCRIPT: OnceLock<String> = OnceLock::new();
    SCRIPT.get_or_init(|| {
        format!(
            "function(frame) {{
  if (globalThis.__playhouseCore?.self?.document === document) return;
  {OWN}
  {RECORD_BUILTINS}
  own.builtins.during(() => {{
    delete globalThis.__playhouseCore;
    // What runs later, such as listeners, has these built-ins, too.
    own.builtins.apply(({}) => {{ {} }}, undefined, own.builtins.globals);
    const core = globalThis.__playhouseCore;
    core.introduce({{ frame, separate: true, causes: '{}' }});
    Object.defineProperty(globalThis, '__playhouseCore', {{ value: core, configurable: true, enumerable: false }});
    const numbers = new WeakMap();
    own.owners = [];
    own.numberOf = (owner) => {{
      if (!numbers.has(owner)) numbers.set(owner, own.owners.push(new WeakRef(owner)));
      return numbers.get(owner);
    }};
  }});
}}",
            globals!(),
            core_script(),
            causes_event()
        )
    })
}

#[async_trait]
impl Evaluation for WebKitPage {
    async fn call(&self, frame: &FrameId, function: &str, argument: &Value) -> Result<String> {
        let arguments = [json!(function), argument.clone()];
        // A frame of another origin gets the focus only from a user.
        let ask = argument.get("ask").and_then(Value::as_str);
        let by_user = FOCUSING.contains(&ask.unwrap_or(function));
        let call = || self.run_as(by_user, frame, call_core(), &arguments);
        let mut answer = call().await?;
        if answer == "" {
            self.with_core(frame).await?;
            answer = call().await?;
        }
        // The document has been replaced meanwhile.
        let (url, answer) = answer
            .as_str()
            .and_then(|answer| answer.split_once('\n'))
            .ok_or(Error::DocumentGone {})?;
        self.on_url_changed(frame, url);
        Ok(json_of(answer.to_owned()))
    }

    async fn inject_script(&self, frame: &FrameId, script: &str) -> Result<()> {
        let function = format!("function() {{ {script}\n}}");
        self.run(frame, &function, &[]).await.map(drop)
    }

    async fn evaluate(
        &self,
        frame: &FrameId,
        expression: &str,
        element: Option<Handle>,
    ) -> Result<Option<Value>> {
        self.mark_last_used();
        let function = plain_function_around("element", expression);
        self.call_in_page(frame, &function, element.as_slice())
            .await
    }

    async fn evaluate_all(
        &self,
        frame: &FrameId,
        function: &str,
        elements: &[Handle],
    ) -> Result<Option<Value>> {
        let function = plain_function_around("...elements", &format!("({function})(elements)"));
        self.call_in_page(frame, &function, elements).await
    }

    async fn parses(&self, frame: &FrameId, script: &str) -> Result<bool> {
        // The script is never reached.
        let function = format!("function() {{ if (false) {{\n{script}\n}} }}");
        match self.run(frame, &function, &[]).await {
            Ok(_) => Ok(true),
            Err(Error::Script { .. } | Error::Protocol { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

impl WebKitPage {
    /// Injects the code into a frame's document, unless it is there.
    pub(super) async fn with_core(&self, frame: &FrameId) -> Result<()> {
        let arguments = [json!(frame.as_str())];
        self.run_to_end(frame, core_script_once(), &arguments)
            .await
            .map(drop)
    }

    async fn call_in_page(
        &self,
        frame: &FrameId,
        function: &str,
        elements: &[Handle],
    ) -> Result<Option<Value>> {
        let arguments: Vec<_> = elements.iter().map(|handle| json!(handle)).collect();
        let function = around(function);
        let answer = self.run_to_end(frame, &function, &arguments).await?;
        let answer = answer.as_str().unwrap_or_default();
        match answer.split_at_checked(1) {
            Some(("V", json)) => {
                let value = read_json(json.to_owned()).await;
                value
                    .map(Some)
                    .map_err(|error| Error::protocol("Runtime.callFunctionOn", error))
            }
            Some(("U", _)) => Ok(None),
            Some(("E", message)) => Err(Error::Script {
                message: message.to_owned(),
            }),
            _ => Err(Error::DocumentGone {}),
        }
    }

    /// Calls a function in a frame. Fails with [`Error::DialogOpen`] if a dialog is open or opens meanwhile.
    pub(super) async fn run(
        &self,
        frame: &FrameId,
        function: &str,
        arguments: &[Value],
    ) -> Result<Value> {
        if self.state().dialog.is_some() {
            return Err(Error::DialogOpen {});
        }
        tokio::select! {
            biased;
            answer = self.run_to_end(frame, function, arguments) => answer,
            () = self.wait_for_dialog() => Err(Error::DialogOpen {}),
        }
    }

    /// Calls a function in a frame, and waits while a dialog is open.
    pub(super) async fn run_to_end(
        &self,
        frame: &FrameId,
        function: &str,
        arguments: &[Value],
    ) -> Result<Value> {
        self.run_as(false, frame, function, arguments).await
    }

    /// Calls a function in a frame, also as if a user had caused it, and waits while a dialog is open.
    async fn run_as(
        &self,
        by_user: bool,
        frame: &FrameId,
        function: &str,
        arguments: &[Value],
    ) -> Result<Value> {
        let context = self.context_of(frame).await?;
        let running = async {
            if context.is_none() && *frame != self.main {
                let handle = self.frame_handle(frame).await?;
                return self.run_over_automation(&handle, function, arguments).await;
            }
            let global = self.global_of(frame, context).await?;
            let targets = &self.parts.targets;
            targets
                .call_function(&self.window, &global, function, arguments, by_user)
                .await
        };
        // Boxed, because it calls itself for the frames around one without a context.
        let running: BoxFuture<'_, Result<Value>> = Box::pin(running);
        tokio::select! {
            biased;
            answer = running => answer,
            error = self.wait_for_document_end(frame, context) => Err(error),
            error = self.notice_dialogs() => Err(error),
        }
    }

    /// Calls a function in a frame with a handle of the `Automation` domain. Elements are returned as objects with their handle.
    pub(super) async fn run_over_automation(
        &self,
        frame: &str,
        function: &str,
        arguments: &[Value],
    ) -> Result<Value> {
        let arguments: Vec<_> = arguments.iter().map(Value::to_string).collect();
        let params = json!({ "frameHandle": frame, "function": function, "arguments": arguments });
        let method = "Automation.evaluateJavaScriptFunction";
        let answer = self.automate::<Value>(method, "browsingContextHandle", params);
        match answer.await {
            Ok(answer) => {
                let json = answer["result"].as_str().unwrap_or_default();
                Ok(serde_json::from_str(json).unwrap_or_default())
            }
            Err(Error::Protocol { message, .. }) if message.starts_with(SCRIPT_ERROR) => {
                let message = message.trim_start_matches(SCRIPT_ERROR);
                Err(Error::Script {
                    message: message.trim_start_matches(';').to_owned(),
                })
            }
            Err(error) => Err(error),
        }
    }

    /// Runs a function in the main frame without waiting for its result, also if a dialog is open until then.
    pub(super) fn run_in_background(&self, function: String) {
        if let Some(page) = self.itself() {
            task::spawn("script", async move {
                let main = page.main.clone();
                let answer = page.run_to_end(&main, &function, &[]).await;
                tracing::trace!(?answer, "ran a script");
            })
            .detach();
        }
    }

    /// Returns the execution context of a frame's document; `None` if it runs no scripts.
    async fn context_of(&self, frame: &FrameId) -> Result<Option<u64>> {
        let find = || {
            let state = self.state();
            if state.closed {
                return Some(Err(Error::PageClosed {}));
            }
            match state.frames.get(frame) {
                Some(known) => known.context.map(Some).map(Ok),
                None => Some(Err(Error::DocumentGone {})),
            }
        };
        let found = self.changes.wait(find);
        let found = tokio::time::timeout(CONTEXT_TIMEOUT, found).await;
        found.unwrap_or(Ok(None))
    }

    async fn global_of(&self, frame: &FrameId, context: Option<u64>) -> Result<String> {
        let known = {
            let state = self.state();
            let known = state.frames.get(frame);
            let known = known.filter(|known| known.context == context);
            known.and_then(|known| known.global.clone())
        };
        if let Some(known) = known {
            return Ok(known);
        }
        let global = self.parts.targets.global(&self.window, context);
        let global = global.await?;
        if let Some(known) = self.state().frames.get_mut(frame)
            && known.context == context
        {
            known.global = Some(global.clone());
        }
        Ok(global)
    }

    /// Returns once a frame has another execution context: calls in the last one get no answer any more.
    async fn wait_for_document_end(&self, frame: &FrameId, context: Option<u64>) -> Error {
        let ended = || {
            let state = self.state();
            if state.closed {
                return Some(Error::PageClosed {});
            }
            let known = state.frames.get(frame);
            let is_shown = known.is_some_and(|known| known.context == context);
            (!is_shown).then_some(Error::DocumentGone {})
        };
        self.changes.wait(ended).await
    }

    /// Reports dialogs that no hook has reported while a function runs. Returns only if the browser is gone.
    async fn notice_dialogs(&self) -> Error {
        loop {
            tokio::time::sleep(DIALOG_CHECK_INTERVAL).await;
            if let Err(error) = self.notice_dialog().await {
                return error;
            }
        }
    }
}
