//! Dialogs, file choosers and file inputs.

use super::WebKitPage;
use super::evaluation::OWN;
use crate::backend::webkit::driver::page_error;
use crate::backend::{DialogKind, Dialogs, FrameId, Handle, PageEvent};
use crate::error::{Error, Result};
use async_trait::async_trait;
use serde_json::Value;
use std::path::PathBuf;
use std::time::Duration;
use wire::webdriver::element::{Element, ElementSendKeys};

/// The number of polls for a dialog that a hook has reported: the dialog opens a moment later.
const POLL_ATTEMPTS: u32 = 40;
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Returns the field whose file chooser is open. The driver accepts only elements of the document, so a field outside of it is added until
/// the answer.
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
/// Removes all files from a field.
const EMPTY: &str = "
  const field = arguments[0];
  field.value = '';
  for (const type of ['input', 'change']) field.dispatchEvent(new Event(type, { bubbles: true, composed: type === 'input' }));
  return 1";

/// Returns the script whose hooks report the dialogs, file choosers and same-document navigations of a document. It runs before the
/// document's own scripts, and has no effect the second time. `document.hasFocus()` is true whichever window of the display has the focus.
pub(super) fn hooks(token: &str) -> String {
    format!(
        "(() => {{
  {OWN}
  if (own.reports) return;
  own.reports = true;
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
  // Without a user to answer, a request for the position is denied at once, as by Chromium.
  const geolocation = window.Geolocation?.prototype;
  let watches = 0;
  for (const name of ['getCurrentPosition', 'watchPosition']) {{
    const real = geolocation?.[name];
    if (!real) continue;
    geolocation[name] = new Proxy(real, {{
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
  const isFileInput = (e) => e instanceof HTMLInputElement && e.type === 'file' && !e.disabled;
  const choose = (e) => {{ own.chooser = e; report('chooser', own.id, e.multiple); }};
  addEventListener('click', (event) => {{
    const e = event.composedPath()[0];
    if (!isFileInput(e) || event.defaultPrevented) return;
    event.preventDefault();
    choose(e);
  }});
  // A menu of the browser would take the mouse away from the page.
  addEventListener('contextmenu', (event) => event.preventDefault());
  const click = HTMLElement.prototype.click;
  HTMLElement.prototype.click = new Proxy(click, {{
    apply(target, self, args) {{
      if (isFileInput(self) && !self.isConnected) return choose(self);
      return Reflect.apply(target, self, args);
    }},
  }});
  const focused = Document.prototype.hasFocus;
  Document.prototype.hasFocus = new Proxy(focused, {{
    apply(target, self, args) {{
      if (self !== document || window.top === window) return true;
      // Accessing a document of another origin would log an error in the console.
      if (location.ancestorOrigins?.[0] !== window.origin) return Reflect.apply(target, self, args);
      try {{ return parent.document.activeElement?.contentWindow === window; }} catch {{ return Reflect.apply(target, self, args); }}
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
impl Dialogs for WebKitPage {
    async fn answer_dialog(&self, accept: bool, prompt_text: Option<&str>) -> Result<()> {
        let mut polls = 0;
        while self.shown_dialog().await?.is_none() {
            if polls == POLL_ATTEMPTS || self.state().dialog.is_none() {
                self.dialog_closed();
                return Err(Error::protocol("Accept Alert", "No dialog is showing"));
            }
            polls += 1;
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        let text = match self.state().dialog {
            Some(DialogKind::Prompt) if accept => Some(prompt_text.unwrap_or_default()),
            _ => None,
        };
        self.answer_shown_dialog(accept, text).await?;
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
            let script = CHOOSER.to_owned();
            let field = self.run_in_frame(&frame, script, vec![]).await?;
            let field: Element = serde_json::from_value(field).map_err(|_| none())?;
            let before = self.state().navigation.begun;
            match self.set_field_files(&frame, field, files).await {
                // The page navigates at once.
                Err(Error::DocumentGone {}) if self.has_navigated(before).await => {}
                put => put?,
            }
            how = "chosen";
        }
        self.state().chooser = None;
        let args = vec![Value::from(how)];
        match self.run_raw(&frame, CHOSEN.to_owned(), args).await {
            // The field is gone with its document, or blocked.
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

impl WebKitPage {
    /// Applies that a hook reported a dialog.
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

    /// Reports that the dialog was closed.
    pub(super) fn dialog_closed(&self) {
        if self.state().dialog.take().is_some() {
            self.report(PageEvent::DialogClosed);
            self.notify_changed();
        }
    }

    /// Reports the dialog that the driver found open, unless it was reported, and returns the error for the command.
    pub(super) async fn on_dialog_noticed(&self) -> Error {
        // The event that reports it may not be handled yet.
        let _ = self.flush_events().await;
        if self.state().dialog.is_some() {
            return Error::DialogOpen {};
        }
        match self.shown_dialog().await {
            Ok(Some(text)) => {
                self.dialog_is_open(DialogKind::Beforeunload, text, String::new());
                Error::DialogOpen {}
            }
            // The dialog was answered meanwhile, so the command may be repeated.
            Ok(None) => Error::DocumentGone {},
            Err(error) => error,
        }
    }

    /// Whether a dialog blocks the scripts of the page. The driver does not even switch to its window.
    pub(super) async fn is_blocked_by_dialog(&self) -> Result<bool> {
        Ok(self.state().dialog.is_some() && self.shown_dialog().await?.is_some())
    }

    /// Returns once a dialog is open.
    pub(crate) async fn wait_for_dialog(&self) {
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

    /// Reports that a document opens a file chooser.
    pub(super) fn on_file_chooser_opened(&self, document: &str, multiple: bool) {
        self.state().chooser = Some(document.to_owned());
        self.report(PageEvent::FileChooserOpened { multiple });
    }

    /// Sets the files of a field. The driver adds files to those of a field, so an empty list needs a script.
    async fn set_field_files(
        &self,
        frame: &FrameId,
        element: Element,
        files: &[PathBuf],
    ) -> Result<()> {
        if files.is_empty() {
            let field = serde_json::to_value(&element).unwrap_or_default();
            let script = EMPTY.to_owned();
            return self
                .run_in_frame(frame, script, vec![field])
                .await
                .map(drop);
        }
        let paths = self.parts.files.stage(files).await?;
        let target = self.frame_target(frame)?;
        let text = paths.join("\n");
        let command = ElementSendKeys { element, text };
        let sent = self.parts.driver.at(&target, &command).await;
        sent.map(drop).map_err(page_error)
    }
}
