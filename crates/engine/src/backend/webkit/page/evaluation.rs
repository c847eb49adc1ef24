//! Running JavaScript in a frame: the injected code and the caller's, both in the page's world.

use super::WebKitPage;
use crate::backend::expression::function_around;
use crate::backend::webkit::driver::page_error;
use crate::backend::{Evaluation, FrameId, Handle};
use crate::error::{Error, Result};
use crate::injected::{causes_event, core_script, json_of};
use async_trait::async_trait;
use serde_json::{Value, json};
use std::sync::OnceLock;
use task::read_json;
use wire::webdriver::element::Element;

/// Defines `own`, the record of a document: its identifier, and the numbers of its frame elements.
pub(super) const OWN: &str = "
  const symbol = Symbol.for('playhouse');
  let own = globalThis[symbol];
  if (!own || own.document !== document) {
    const id = Array.from(crypto.getRandomValues(new Uint8Array(8)), (n) => n.toString(16).padStart(2, '0')).join('');
    own = { id, document, owners: new WeakMap(), held: new Map(), last: 0, answers: new Map() };
    Object.defineProperty(globalThis, symbol, { value: own, configurable: true });
  }";

/// Calls a function of the injected code, if the document is the expected one and has the code. The answer begins with a letter: `V` for a
/// value, below the document and its URL; `E` for an error, `N` without the code, `D` in another document.
const CALL: &str = "
  const [expected, name, argument] = arguments;
  const own = globalThis[Symbol.for('playhouse')];
  if (!own || own.document !== document) return 'N';
  if (expected && own.id !== expected) return 'D';
  const core = globalThis.__playhouseCore;
  if (core?.self?.document !== document) return 'N';
  const failed = (e) => 'E' + (e instanceof Error ? e.name + ': ' + e.message : String(e));
  const value = (answer) => 'V' + own.id + '\\n' + location.href + '\\n' + answer;
  try {
    const answer = core.call(name, JSON.parse(argument));
    return answer instanceof Promise ? answer.then(value, failed) : value(answer);
  } catch (e) { return failed(e); }";

/// Runs a script in a frame of this one, without switching to it, which would focus it. Works only in frames of the same origin, unless
/// the policy of their document forbids it.
const INSIDE: &str = "
  const [path, source, args] = arguments;
  let inner = window;
  for (const [document, number] of path) {
    const own = inner[Symbol.for('playhouse')];
    if (!own || own.id !== document) return ['gone'];
    const owner = own.held.get(number)?.deref();
    if (!owner?.isConnected || !owner.contentWindow) return ['gone'];
    // Accessing the document of the window would log an error in the page's console.
    if (!owner.contentDocument) return ['away'];
    inner = owner.contentWindow;
  }
  let run;
  try { run = new inner.Function(source); } catch { return ['away']; }
  const answer = run(...args);
  const result = (value) => ['value', value];
  return answer instanceof inner.Promise ? answer.then(result) : result(answer);";

/// Returns the element of a handle.
const HELD: &str = "
  const own = globalThis[Symbol.for('playhouse')];
  if (!own || own.id !== arguments[0]) return 'D';
  return globalThis.__playhouseCore.element(arguments[1]) ?? 'D';";

/// Runs the caller's function. Its errors and their stacks have the form of Chromium's.
fn around(function: &str) -> String {
    format!(
        "
  const [expected, number, ...handles] = arguments;
  const own = globalThis[Symbol.for('playhouse')];
  if (!own || own.id !== expected) return 'D';
  const given = handles.map((handle) => globalThis.__playhouseCore.element(handle));
  const stack = (e) => String(e.stack || '').split('\\n').filter((line) => /:\\d+:\\d+$/.test(line)).map((line) => {{
    const at = line.indexOf('@');
    const name = at > 0 ? line.slice(0, at) : '';
    return '\\n    at ' + (name ? name + ' (' + line.slice(at + 1) + ')' : line.slice(at + 1));
  }}).join('');
  const failed = (e) => {{
    if (e instanceof Error) return 'E' + e.name + ': ' + e.message + stack(e);
    try {{ return 'E' + (typeof e === 'object' && e !== null ? JSON.stringify(e) : String(e)); }} catch {{ return 'E' + String(e); }}
  }};
  const value = (json) => json === null ? 'U' : typeof json === 'string' ? 'V' + json : 'V' + JSON.stringify(json[0] ?? null);
  const answer = ({function})(...given).then(value, failed);
  own.answers.set(number, answer);
  if (own.answers.size > 16) own.answers.delete(own.answers.keys().next().value);
  return answer;"
    )
}

/// Returns the result of a caller's function whose script was interrupted by a dialog.
const ANSWERED: &str = "
  const [expected, number] = arguments;
  const own = globalThis[Symbol.for('playhouse')];
  return own?.id === expected && own.answers.get(number) || 'D';";

/// Returns the injected code as a script that has no effect the second time. The code gets the frame as an argument. It observes no other
/// document: an element that WebKit first exposes to an observer or a tree walker gets the classes of the observer's window, and
/// `instanceof` fails in the element's own window.
fn core_script_once() -> &'static str {
    static SCRIPT: OnceLock<String> = OnceLock::new();
    SCRIPT.get_or_init(|| {
        format!(
            "{OWN}
  if (globalThis.__playhouseCore?.self?.document !== document) {{
    delete globalThis.__playhouseCore;
    {};
    const core = globalThis.__playhouseCore;
    core.introduce({{ frame: arguments[0], separate: true, causes: '{}' }});
    Object.defineProperty(globalThis, '__playhouseCore', {{ value: core, configurable: true, enumerable: false }});
  }}
  return own.id;",
            core_script(),
            causes_event()
        )
    })
}

#[async_trait]
impl Evaluation for WebKitPage {
    async fn call(&self, frame: &FrameId, function: &str, argument: &Value) -> Result<String> {
        let document = self.document_of(frame)?;
        let mut expected = document.clone();
        loop {
            let args = vec![
                json!(expected.as_deref().unwrap_or_default()),
                json!(function),
                json!(argument.to_string()),
            ];
            let shown = self.state().navigation.loader.clone();
            let answer = self.run_text(frame, CALL.to_owned(), args).await?;
            match (answer.as_str().split_at_checked(1), &expected) {
                (Some(("V", answer)), _) => {
                    let mut parts = answer.splitn(3, '\n');
                    let mut next = || parts.next().unwrap_or_default();
                    let (document, url, answer) = (next(), next(), next());
                    self.record_document(frame, shown.as_ref(), document, url);
                    return Ok(json_of(answer.to_owned()));
                }
                (Some(("E", message)), _) => {
                    return Err(Error::Script {
                        message: message.to_owned(),
                    });
                }
                (Some(("N", _)), _) => {
                    expected = Some(self.inject(frame, document.as_deref()).await?)
                }
                _ => return Err(self.another_document(frame)),
            }
        }
    }

    async fn inject_script(&self, frame: &FrameId, script: &str) -> Result<()> {
        let script = format!("{script}\nreturn 'V';");
        self.run_text(frame, script, vec![]).await.map(drop)
    }

    // The driver runs one command of a session at a time.
    fn waits_for_promises(&self) -> bool {
        true
    }

    async fn evaluate(
        &self,
        frame: &FrameId,
        expression: &str,
        element: Option<Handle>,
    ) -> Result<Option<Value>> {
        self.mark_last_used();
        let function = function_around("element", expression);
        self.call_in_page(frame, &function, element.as_slice())
            .await
    }

    async fn evaluate_all(
        &self,
        frame: &FrameId,
        function: &str,
        elements: &[Handle],
    ) -> Result<Option<Value>> {
        let function = function_around("...elements", &format!("({function})(elements)"));
        self.call_in_page(frame, &function, elements).await
    }

    async fn parses(&self, frame: &FrameId, script: &str) -> Result<bool> {
        // The script is never reached.
        let script = format!("if (false) {{\n{script}\n}}\nreturn 'V'");
        match self.run_text(frame, script, vec![]).await {
            Ok(_) => Ok(true),
            Err(Error::Script { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

impl WebKitPage {
    /// Injects the code into a frame's document, and returns the document. Fails if it is not the expected one.
    async fn inject(&self, frame: &FrameId, expected: Option<&str>) -> Result<String> {
        let script = core_script_once().to_owned();
        let args = vec![json!(frame.as_str())];
        let id = self.run_text(frame, script, args).await?;
        if expected.is_some_and(|expected| expected != id) {
            return Err(self.another_document(frame));
        }
        self.set_document(frame, &id);
        Ok(id)
    }

    /// Injects the code into a frame's document if it is missing, and returns the document.
    pub(super) async fn with_core(&self, frame: &FrameId) -> Result<String> {
        let known = self.document_of(frame)?;
        self.inject(frame, known.as_deref()).await
    }

    fn another_document(&self, frame: &FrameId) -> Error {
        self.clear_document(frame);
        Error::DocumentGone {}
    }

    async fn call_in_page(
        &self,
        frame: &FrameId,
        function: &str,
        elements: &[Handle],
    ) -> Result<Option<Value>> {
        let document = match self.document_of(frame)? {
            Some(document) if !elements.is_empty() => document,
            _ => self.with_core(frame).await?,
        };
        let number = {
            let mut state = self.state();
            state.evaluations += 1;
            state.evaluations
        };
        let mut args = vec![json!(document), json!(number)];
        args.extend(elements.iter().map(|handle| json!(handle)));
        let mut answer = self.run_text(frame, around(function), args).await;
        // The driver abandons a script that opens a dialog; the page continues it when the dialog is closed.
        while let Err(Error::DialogOpen {}) = answer {
            self.wait_for_no_dialog().await?;
            let args = vec![json!(document), json!(number)];
            answer = self.run_text(frame, ANSWERED.to_owned(), args).await;
        }
        let answer = answer?;
        match answer.split_at_checked(1) {
            Some(("V", json)) => {
                let value = read_json(json.to_owned()).await;
                value
                    .map(Some)
                    .map_err(|error| Error::protocol("Execute Script", error))
            }
            Some(("U", _)) => Ok(None),
            Some(("E", message)) => Err(Error::Script {
                message: message.to_owned(),
            }),
            _ => Err(self.another_document(frame)),
        }
    }

    /// Returns the driver's reference to the element of a handle.
    pub(super) async fn element(&self, frame: &FrameId, handle: Handle) -> Result<Element> {
        let document = self.document_of(frame)?.ok_or(Error::DocumentGone {})?;
        let args = vec![json!(document), json!(handle)];
        let answer = self.run_in_frame(frame, HELD.to_owned(), args).await?;
        serde_json::from_value(answer).map_err(|_| Error::DocumentGone {})
    }

    /// Runs a script in a frame; its result must be a string.
    pub(super) async fn run_text(
        &self,
        frame: &FrameId,
        script: String,
        args: Vec<Value>,
    ) -> Result<String> {
        match self.run_raw(frame, script, args).await? {
            Value::String(text) => Ok(text),
            other => Err(Error::protocol(
                "Execute Script",
                format!("unexpected answer: {other}"),
            )),
        }
    }

    /// Runs a script in a frame. Its result must not be null, which is the driver's answer when a dialog interrupts a script.
    pub(super) async fn run_raw(
        &self,
        frame: &FrameId,
        script: String,
        args: Vec<Value>,
    ) -> Result<Value> {
        if *frame == self.main {
            return self.run_in_frame(frame, script, args).await;
        }
        let path = self.numbers_to(frame)?;
        let inside = vec![json!(path), json!(script), json!(args)];
        let main = self.main.clone();
        let answer = self.run_in_frame(&main, INSIDE.to_owned(), inside).await?;
        let Value::Array(mut answer) = answer else {
            return Err(Error::DocumentGone {});
        };
        match answer.first().and_then(Value::as_str) {
            Some("value") => match answer.pop() {
                Some(Value::Null) | None => Err(self.on_dialog_noticed().await),
                Some(value) => Ok(value),
            },
            Some("gone") => {
                self.clear_document(frame);
                Err(Error::DocumentGone {})
            }
            _ => {
                self.find_owners(frame).await?;
                self.run_in_frame(frame, script, args).await
            }
        }
    }

    /// Runs a script like [`Self::run_raw`], after switching to the frame. The result may contain elements.
    pub(super) async fn run_in_frame(
        &self,
        frame: &FrameId,
        script: String,
        args: Vec<Value>,
    ) -> Result<Value> {
        let target = self.frame_target(frame)?;
        if self.is_blocked_by_dialog().await? {
            return Err(Error::DialogOpen {});
        }
        let answer = tokio::select! {
            biased;
            answer = self.parts.driver.run(&target, script, args) => answer,
            () = self.wait_for_dialog() => return Err(Error::DialogOpen {}),
        };
        let answer = match answer {
            Err(wire::Error::Refused { error, message, .. })
                if error == wire::webdriver::error::JAVASCRIPT_ERROR =>
            {
                return Err(Error::Script { message });
            }
            Err(refused) => Err(page_error(refused)),
            Ok(answer) => serde_json::from_str(answer.get())
                .map_err(|error| Error::protocol("Execute Script", error)),
        };
        match answer {
            Ok(Value::Null) | Err(Error::DialogOpen {}) => Err(self.on_dialog_noticed().await),
            Err(Error::DocumentGone {}) => {
                self.clear_document(frame);
                Err(Error::DocumentGone {})
            }
            Err(Error::PageClosed {}) => {
                self.on_window_closed();
                Err(Error::PageClosed {})
            }
            Err(Error::BrowserClosed { reason }) => Err(self.browser_closed_error(reason)),
            answer => answer,
        }
    }
}
