//! What a page asks of its user: dialogs, and files to choose.

use super::WebDriverPage;
use super::evaluation::OWN;
use crate::backend::webdriver::driver::{FrameTarget, page_error};
use crate::backend::{DialogKind, Dialogs, FrameId, Handle, PageEvent};
use crate::error::{Error, Result};
use async_trait::async_trait;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Duration;
use wire::webdriver::element::{Element, ElementSendKeys};
use wire::webdriver::prompt::{AcceptAlert, DismissAlert, GetAlertText, SendAlertText};
use wire::webdriver::{WebDriverCommand, error};

/// How often a dialog that the page has told of is looked for: it opens a moment later.
const POLL_ATTEMPTS: u32 = 40;
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// The field whose files are asked for. The driver knows only what is in the document, so one that is not is put there meanwhile.
const CHOOSER: &str = "
  const own = globalThis[Symbol.for('playhouse')];
  const field = own?.chooser;
  if (!field) return 'none';
  own.lodged = !field.isConnected;
  if (own.lodged) document.documentElement.append(field);
  return field";
const CHOSEN: &str = "
  const own = globalThis[Symbol.for('playhouse')];
  const field = own?.chooser;
  if (own) own.chooser = null;
  if (own?.lodged) field?.remove();
  if (arguments[0] === 'cancel') field?.dispatchEvent(new Event('cancel', { bubbles: true }));
  return 1";
/// Takes all files from a field.
const EMPTY: &str = "
  const field = arguments[0];
  field.value = '';
  for (const type of ['input', 'change']) field.dispatchEvent(new Event(type, { bubbles: true, composed: type === 'input' }));
  return 1";

#[derive(Debug, Deserialize)]
struct Showing {
    result: bool,
}

#[derive(Debug, Default, Deserialize)]
struct PendingDialog {
    message: String,
}

/// What each document tells unasked: its dialogs, its file fields, where it goes without leaving. It runs before the document's own
/// scripts, and keeps what it uses of the page; once, however often it comes. A page has the focus, whichever window of the screen that
/// nobody sees has it.
pub(super) fn hooks(token: &str) -> String {
    format!(
        "(() => {{
  {OWN}
  if (own.tells) return;
  own.tells = true;
  const say = console.debug.bind(console);
  const report = (...parts) => say({token} + JSON.stringify(parts));
  for (const kind of ['alert', 'confirm', 'prompt']) {{
    const real = window[kind];
    if (typeof real !== 'function') continue;
    window[kind] = new Proxy(real, {{
      apply(target, self, args) {{
        report('dialog', kind, args.length ? String(args[0]).slice(0, 10000) : '', kind === 'prompt' && args.length > 1 ? String(args[1]).slice(0, 2000) : '');
        try {{ return Reflect.apply(target, self, args); }} finally {{ report('answered'); }}
      }},
    }});
  }}
  // Nobody can be asked where the user is: that is denied at once, as by Chromium.
  const place = window.Geolocation?.prototype;
  let watches = 0;
  for (const name of ['getCurrentPosition', 'watchPosition']) {{
    const real = place?.[name];
    if (!real) continue;
    place[name] = new Proxy(real, {{
      apply(target, self, args) {{
        const [found, failed] = args;
        if (!(self instanceof Geolocation) || typeof found !== 'function') return Reflect.apply(target, self, args);
        const error = Object.create(GeolocationPositionError.prototype, {{
          code: {{ value: 1 }},
          message: {{ value: 'User denied Geolocation' }},
        }});
        if (typeof failed === 'function') setTimeout(failed, 0, error);
        if (name === 'watchPosition') return ++watches;
      }},
    }});
  }}
  const asks = (e) => e instanceof HTMLInputElement && e.type === 'file' && !e.disabled;
  const choose = (e) => {{ own.chooser = e; report('chooser', own.id, e.multiple); }};
  addEventListener('click', (event) => {{
    const e = event.composedPath()[0];
    if (!asks(e) || event.defaultPrevented) return;
    event.preventDefault();
    choose(e);
  }});
  // A menu of the browser would take the mouse away from the page.
  addEventListener('contextmenu', (event) => event.preventDefault());
  const click = HTMLElement.prototype.click;
  HTMLElement.prototype.click = new Proxy(click, {{
    apply(target, self, args) {{
      if (asks(self) && !self.isConnected) return choose(self);
      return Reflect.apply(target, self, args);
    }},
  }});
  const focused = Document.prototype.hasFocus;
  Document.prototype.hasFocus = new Proxy(focused, {{
    apply(target, self, args) {{
      if (self !== document || window.top === window) return true;
      // A document that must not be reached into would tell so in the console.
      if (location.ancestorOrigins?.[0] !== window.origin) return Reflect.apply(target, self, args);
      try {{ return parent.document.activeElement === frameElement; }} catch {{ return Reflect.apply(target, self, args); }}
    }},
  }});
  if (window.top === window) {{
    const moved = () => report('moved', location.href);
    for (const name of ['pushState', 'replaceState']) {{
      const real = History.prototype[name];
      History.prototype[name] = new Proxy(real, {{
        apply(target, self, args) {{ const result = Reflect.apply(target, self, args); moved(); return result; }},
      }});
    }}
    addEventListener('hashchange', moved, true);
    addEventListener('popstate', moved, true);
  }}
}})();"
    )
}

#[async_trait]
impl Dialogs for WebDriverPage {
    async fn answer_dialog(&self, accept: bool, prompt_text: Option<&str>) -> Result<()> {
        let mut looks = 0;
        while self.shown_dialog().await?.is_none() {
            if looks == POLL_ATTEMPTS || self.state().dialog.is_none() {
                self.dialog_closed();
                return Err(Error::protocol("Accept Alert", "No dialog is showing"));
            }
            looks += 1;
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        let text = match self.state().dialog {
            Some(DialogKind::Prompt) if accept => Some(prompt_text.unwrap_or_default()),
            _ => None,
        };
        self.send_dialog_answer(accept, text).await?;
        self.dialog_closed();
        Ok(())
    }

    async fn answer_file_chooser(&self, files: Option<&[PathBuf]>) -> Result<()> {
        let none = || Error::protocol("Element Send Keys", "No file chooser is open");
        let document = self.state().chooser.clone().ok_or_else(none)?;
        let frame = match self.frame_showing(&document) {
            Some(frame) => frame,
            None => {
                self.poll_frames().await?;
                self.frame_showing(&document).ok_or_else(none)?
            }
        };
        let mut how = "cancel";
        if let Some(files) = files {
            self.find_owners(&frame).await?;
            let field = self
                .run_in_frame(&frame, CHOOSER.to_owned(), vec![])
                .await?;
            let field: Element = serde_json::from_value(field).map_err(|_| none())?;
            let before = self.state().navigation.begun;
            match self.set_field_files(&frame, field, files).await {
                // The page goes on with them at once.
                Err(Error::DocumentGone {}) if self.has_navigated(before).await => {}
                put => put?,
            }
            how = "chosen";
        }
        self.state().chooser = None;
        match self
            .run_raw(&frame, CHOSEN.to_owned(), vec![Value::from(how)])
            .await
        {
            // There is nothing left to be cleared.
            Err(Error::DocumentGone {} | Error::DialogOpen {}) => Ok(()),
            cleared => cleared.map(drop),
        }
    }

    async fn set_input_files(
        &self,
        frame: &FrameId,
        element: Handle,
        files: &[PathBuf],
    ) -> Result<()> {
        self.find_owners(frame).await?;
        let element = self.element(frame, element).await?;
        self.set_field_files(frame, element, files).await
    }
}

impl WebDriverPage {
    /// The page says that it opens a dialog.
    pub(super) fn on_dialog_opening(&self, kind: &str, message: &str, default_value: &str) {
        let kind = match kind {
            "confirm" => DialogKind::Confirm,
            "prompt" => DialogKind::Prompt,
            _ => DialogKind::Alert,
        };
        self.dialog_is_open(kind, message.to_owned(), default_value.to_owned());
    }

    fn dialog_is_open(&self, kind: DialogKind, message: String, default_value: String) {
        {
            let mut state = self.state();
            if state.dialog.is_some() {
                return;
            }
            state.dialog = Some(kind);
        }
        self.report(PageEvent::DialogOpened {
            kind,
            message,
            default_value,
        });
        self.notify_changed();
    }

    /// The dialog was answered.
    pub(super) fn dialog_closed(&self) {
        if self.state().dialog.take().is_some() {
            self.report(PageEvent::DialogClosed);
            self.notify_changed();
        }
    }

    /// The driver says that a dialog is open: tells of it, if nobody has.
    pub(super) async fn on_dialog_noticed(&self) -> Error {
        // What the page has said of it is on its way.
        let _ = self.flush_events().await;
        if self.state().dialog.is_some() {
            return Error::DialogOpen {};
        }
        match self.shown_dialog().await {
            Ok(Some(text)) => {
                // The page would have said so of any other.
                let kind = if self.has_inspector() {
                    DialogKind::Beforeunload
                } else {
                    DialogKind::Alert
                };
                self.dialog_is_open(kind, text, String::new());
                Error::DialogOpen {}
            }
            // It was answered meanwhile, so the document may be asked again.
            Ok(None) => Error::DocumentGone {},
            Err(error) => error,
        }
    }

    /// Whether a dialog keeps scripts of the page from running: the driver cannot even go to such a window.
    pub(super) async fn is_held_up(&self) -> Result<bool> {
        Ok(self.state().dialog.is_some() && self.shown_dialog().await?.is_some())
    }

    /// Returns once a dialog is open.
    pub(super) async fn wait_for_dialog(&self) {
        let is_open = || self.state().dialog.is_some().then_some(());
        self.changes.wait(is_open).await;
    }

    /// Returns once no dialog is open.
    pub(super) async fn wait_for_no_dialog(&self) -> Result<()> {
        let ended = || {
            let state = self.state();
            if state.closed {
                return Some(Err(Error::PageClosed {}));
            }
            state.dialog.is_none().then_some(Ok(()))
        };
        self.changes.wait(ended).await
    }

    /// The text of the dialog that is open.
    pub(crate) async fn shown_dialog(&self) -> Result<Option<String>> {
        if self.parts.inspector.is_none() {
            return match self.alert(&GetAlertText {}).await {
                Ok(text) => Ok(Some(text.unwrap_or_default())),
                Err(wire::Error::Refused { error: name, .. }) if name == error::NO_SUCH_ALERT => {
                    Ok(None)
                }
                Err(refused) => Err(page_error(refused)),
            };
        }
        let showing: Showing = self
            .send_to_dialog("Automation.isShowingJavaScriptDialog")
            .await?;
        if !showing.result {
            return Ok(None);
        }
        let told: PendingDialog = self
            .send_to_dialog("Automation.messageOfCurrentJavaScriptDialog")
            .await
            .unwrap_or_default();
        Ok(Some(told.message))
    }

    async fn send_to_dialog<T: DeserializeOwned>(&self, method: &'static str) -> Result<T> {
        let window = json!({ "browsingContextHandle": self.window });
        self.parts.inspector()?.automate(method, &window).await
    }

    async fn alert<C: WebDriverCommand>(&self, command: &C) -> wire::Result<C::Response> {
        self.parts.driver.at(&self.frame_target(), command).await
    }

    pub(crate) async fn send_dialog_answer(&self, accept: bool, text: Option<&str>) -> Result<()> {
        if self.parts.inspector.is_none() {
            return self
                .answer_by_driver(accept, text)
                .await
                .map_err(page_error);
        }
        if let Some(text) = text {
            let input = json!({ "browsingContextHandle": self.window, "userInput": text });
            let _: Value = self
                .parts
                .inspector()?
                .automate("Automation.setUserInputForCurrentJavaScriptPrompt", &input)
                .await?;
        }
        let method = if accept {
            "Automation.acceptCurrentJavaScriptDialog"
        } else {
            "Automation.dismissCurrentJavaScriptDialog"
        };
        self.send_to_dialog::<Value>(method).await.map(drop)
    }

    async fn answer_by_driver(&self, accept: bool, text: Option<&str>) -> wire::Result<()> {
        if !accept {
            return self.alert(&DismissAlert {}).await.map(drop);
        }
        if let Some(text) = text {
            let text = text.to_owned();
            self.alert(&SendAlertText { text }).await?;
        }
        self.alert(&AcceptAlert {}).await.map(drop)
    }

    /// A document says that a file field of it wants files.
    pub(super) fn on_file_chooser_opened(&self, document: &str, multiple: bool) {
        self.state().chooser = Some(document.to_owned());
        self.report(PageEvent::FileChooserOpened { multiple });
    }

    /// Sets the files of a field; the driver would add to those that it has.
    async fn set_field_files(
        &self,
        frame: &FrameId,
        element: Element,
        files: &[PathBuf],
    ) -> Result<()> {
        if files.is_empty() {
            let field = serde_json::to_value(&element).unwrap_or_default();
            self.run_in_frame(frame, EMPTY.to_owned(), vec![field])
                .await?;
            return Ok(());
        }
        let paths = self.parts.files.stage(files).await?;
        let place = FrameTarget {
            window: self.window.to_owned(),
            path: self.path_to(frame)?,
        };
        self.parts
            .driver
            .at(
                &place,
                &ElementSendKeys {
                    element,
                    text: paths.join("\n"),
                },
            )
            .await
            .map(drop)
            .map_err(page_error)
    }
}
