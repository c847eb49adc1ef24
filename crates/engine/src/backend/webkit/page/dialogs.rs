//! Dialogs, file choosers and file inputs.

use super::WebKitPage;
use super::evaluation::{OWN, RECORD_BUILTINS};
use crate::backend::webkit::CAPABILITIES;
use crate::backend::{DialogKind, Dialogs, FrameId, Frames as _, Handle, PageEvent};
use crate::error::{Error, Result};
use async_trait::async_trait;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

/// The number of polls for a dialog that a hook has reported: the dialog opens a moment later.
const POLL_ATTEMPTS: u32 = 40;
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// The largest number of dialogs of one task: fewer than the engine dismisses before it ends a page that is to be left.
const MAX_DIALOGS: u32 = 16;

/// The interval between downloads of a page that begin at once, in ms.
const DOWNLOAD_INTERVAL: u32 = 200;

/// Returns the element of a handle; without one, the field whose file chooser is open.
const ELEMENT: &str = "(handle) => handle === null ? globalThis.__playhouse?.chooser : globalThis.__playhouseCore.element(handle)";
/// Removes all files from a field.
const EMPTY: &str = "
  field.value = '';
  for (const type of ['input', 'change']) field.dispatchEvent(new Event(type, { bubbles: true, composed: type === 'input' }));";
/// Removes all files from a field without an event: the browser adds files to those that it has.
const PREPARE: &str = "
  field.value = '';";
/// Prepares the field whose file chooser is open; returns whether there is one. The browser accepts only elements of the document, so a
/// field outside of it is added until the answer.
const LODGE: &str = "() => {
  const own = globalThis.__playhouse;
  const field = own?.chooser;
  if (!field) return false;
  own.lodged = !field.isConnected;
  if (own.lodged) document.documentElement.append(field);
  return true;
}";
const CHOSEN: &str = "(how) => {
  const own = globalThis.__playhouse;
  const field = own?.chooser;
  if (own) own.chooser = null;
  if (own?.lodged) field?.remove();
  if (how === 'cancel') field?.dispatchEvent(new Event('cancel', { bubbles: true }));
}";

/// Returns the script whose hooks report the dialogs, file choosers and same-document navigations of a document. It runs before the
/// document's own scripts, and has no effect the second time. `document.hasFocus()` is true whichever window of the display has the focus, and
/// `navigator.onLine` is false if the context is `offline`, also before [`SET_OFFLINE`].
pub(super) fn hooks(token: &str, offline: bool) -> String {
    format!(
        "(() => {{
  {OWN}
  if (own.reports) return;
  own.reports = true;
  const say = console.debug.bind(console);
  const {{ apply }} = Reflect;
  const report = (...parts) => own.builtins.during(() => say({token} + JSON.stringify(parts)));
  const later = setTimeout;
  const SHOWN = /^(https?|file|data|about|blob|javascript):$/;
  let dialogs = 0;
  for (const kind of ['alert', 'confirm', 'prompt']) {{
    const real = window[kind];
    if (typeof real !== 'function') continue;
    window[kind] = new Proxy(real, {{
      apply(target, self, args) {{
        // No command ends a script that opens dialogs without end.
        if (++dialogs === 1) later(() => {{ dialogs = 0; }});
        if (dialogs > {MAX_DIALOGS}) throw new Error('Too many dialogs');
        report('dialog', kind, args.length ? String(args[0]).slice(0, 10000) : '', kind === 'prompt' && args.length > 1 ? String(args[1]).slice(0, 2000) : '');
        try {{ return apply(target, self, args); }} finally {{ report('answered'); }}
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
        if (!(self instanceof Geolocation) || typeof found !== 'function') return apply(target, self, args);
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
  // The browser cancels a download that has not begun when the next one begins.
  let began = -Infinity;
  const isDelayed = (link) => {{
    if (!link.hasAttribute('download')) return false;
    const now = performance.now();
    const wait = Math.max(0, began + {DOWNLOAD_INTERVAL} - now);
    began = now + wait;
    if (!wait) return false;
    const {{ href, download }} = link;
    later(() => {{
      const copy = document.createElement('a');
      copy.href = href;
      copy.download = download;
      apply(click, copy, []);
    }}, wait);
    return true;
  }};
  // The browser would show an error page in place of the document: no program opens other addresses here.
  addEventListener('click', (event) => {{
    const link = event.composedPath().find((e) => e instanceof HTMLAnchorElement || e instanceof HTMLAreaElement);
    if (event.defaultPrevented || !link?.href) return;
    if (!SHOWN.test(link.protocol) || isDelayed(link)) event.preventDefault();
  }});
  // A menu of the browser would take the mouse away from the page.
  addEventListener('contextmenu', (event) => event.preventDefault());
  const click = HTMLElement.prototype.click;
  HTMLElement.prototype.click = new Proxy(click, {{
    apply(target, self, args) {{
      if (isFileInput(self) && !self.isConnected) return choose(self);
      if (self instanceof HTMLAnchorElement && !self.isConnected && isDelayed(self)) return;
      return apply(target, self, args);
    }},
  }});
  own.offline = {offline};
  const onLine = Object.getOwnPropertyDescriptor(Navigator.prototype, 'onLine');
  onLine.get = new Proxy(onLine.get, {{
    apply(target, self, args) {{ return apply(target, self, args) && !own.offline; }},
  }});
  Object.defineProperty(Navigator.prototype, 'onLine', onLine);
  const focused = Document.prototype.hasFocus;
  Document.prototype.hasFocus = new Proxy(focused, {{
    apply(target, self, args) {{
      if (self !== document || window.top === window) return true;
      // Accessing a document of another origin would log an error in the console.
      if (location.ancestorOrigins?.[0] !== window.origin) return apply(target, self, args);
      try {{ return parent.document.activeElement?.contentWindow === window; }} catch {{ return apply(target, self, args); }}
    }},
  }});
  if (window.top === window) {{
    const moved = () => report('moved', location.href);
    for (const name of ['pushState', 'replaceState']) {{
      const real = History.prototype[name];
      History.prototype[name] = new Proxy(real, {{
        apply(target, self, args) {{ const result = apply(target, self, args); moved(); return result; }},
      }});
    }}
    addEventListener('hashchange', moved, true);
    addEventListener('popstate', moved, true);
  }}
  {RECORD_BUILTINS}
}})();"
    )
}

/// Sets `navigator.onLine` of a document.
pub(super) const SET_OFFLINE: &str = "(offline) => {
  const own = globalThis.__playhouse;
  if (!own || own.offline === offline) return;
  own.offline = offline;
  dispatchEvent(new Event(offline ? 'offline' : 'online'));
}";

#[async_trait]
impl Dialogs for WebKitPage {
    async fn answer_dialog(&self, accept: bool, prompt_text: Option<&str>) -> Result<()> {
        let mut polls = 0;
        while self.shown_dialog().await?.is_none() {
            if polls == POLL_ATTEMPTS || self.state().dialog.is_none() {
                self.dialog_closed();
                return Err(Error::protocol("answer_dialog", "No dialog is showing"));
            }
            polls += 1;
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        if accept && self.state().dialog == Some(DialogKind::Prompt) {
            let text = json!({ "userInput": prompt_text.unwrap_or_default() });
            let method = "Automation.setUserInputForCurrentJavaScriptPrompt";
            self.send_to_dialog(method, text).await?;
        }
        let method = match accept {
            true => "Automation.acceptCurrentJavaScriptDialog",
            false => "Automation.dismissCurrentJavaScriptDialog",
        };
        self.send_to_dialog(method, json!({})).await?;
        self.dialog_closed();
        Ok(())
    }

    async fn answer_file_chooser(&self, files: Option<&[PathBuf]>) -> Result<()> {
        let none = || Error::protocol("answer_file_chooser", "No file chooser is open");
        let document = self.state().chooser.clone().ok_or_else(none)?;
        let frame = self.frame_showing(&document).await.ok_or_else(none)?;
        let mut how = "cancel";
        if let Some(files) = files {
            CAPABILITIES.require_for_files(files)?;
            if self.run(&frame, LODGE, &[]).await? != true {
                return Err(none());
            }
            let before = self.state().navigation.begun;
            match self.set_field_files(&frame, None, files).await {
                // The page navigates at once.
                Err(Error::DocumentGone {}) if self.has_navigated(before).await => {}
                put => put?,
            }
            how = "chosen";
        }
        self.state().chooser = None;
        match self.run(&frame, CHOSEN, &[json!(how)]).await {
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
        CAPABILITIES.require_for_files(files)?;
        self.set_field_files(frame, Some(element), files).await
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
            state.dialogs += 1;
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

    /// Reports a dialog that is open although no hook has reported it.
    pub(super) async fn notice_dialog(&self) -> Result<()> {
        let reported = self.state().dialogs;
        if self.state().dialog.is_some() {
            return Ok(());
        }
        if let Some(text) = self.shown_dialog().await? {
            // A hook may have reported it meanwhile, and it may have been answered since.
            self.parts.targets.handle_received().await;
            if self.state().dialogs == reported {
                self.dialog_is_open(DialogKind::Alert, text, String::new());
            }
        }
        Ok(())
    }

    /// Returns the message of the open dialog.
    async fn shown_dialog(&self) -> Result<Option<String>> {
        let method = "Automation.isShowingJavaScriptDialog";
        let showing = self.send_to_dialog(method, json!({})).await?;
        if showing["result"] != true {
            return Ok(None);
        }
        let method = "Automation.messageOfCurrentJavaScriptDialog";
        let dialog = self.send_to_dialog(method, json!({})).await;
        let dialog = dialog.unwrap_or_default();
        let message = dialog["message"].as_str().unwrap_or_default();
        Ok(Some(message.to_owned()))
    }

    async fn send_to_dialog(&self, method: &'static str, params: Value) -> Result<Value> {
        self.automate(method, "browsingContextHandle", params).await
    }

    /// Whether a dialog blocks the document.
    pub(in crate::backend::webkit) fn has_dialog(&self) -> bool {
        self.state().dialog.is_some()
    }

    /// Returns once a dialog is open.
    pub(crate) async fn wait_for_dialog(&self) {
        let is_open = || self.state().dialog.is_some().then_some(());
        self.changes.wait(is_open).await;
    }

    /// Reports that a document opens a file chooser.
    pub(super) fn on_file_chooser_opened(&self, document: &str, multiple: bool) {
        self.state().chooser = Some(document.to_owned());
        self.report(PageEvent::FileChooserOpened { multiple });
    }

    /// Sets the files of the field with a handle, or of that whose file chooser is open. The browser has no command that removes all.
    async fn set_field_files(
        &self,
        frame: &FrameId,
        field: Option<Handle>,
        files: &[PathBuf],
    ) -> Result<()> {
        let script = if files.is_empty() { EMPTY } else { PREPARE };
        let script = format!("(handle) => {{ const field = ({ELEMENT})(handle); {script} }}");
        self.run(frame, &script, &[json!(field)]).await?;
        if files.is_empty() {
            return Ok(());
        }
        let frame = self.frame_handle(frame).await?;
        let paths: Vec<_> = files
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        let params = json!({
            "frameHandle": frame,
            "nodeHandle": self.node_handle(&frame, field).await?,
            "filenames": paths,
        });
        let method = "Automation.setFilesForInputFileUpload";
        self.automate::<Value>(method, "browsingContextHandle", params)
            .await
            .map(drop)
    }

    /// Returns the handle of a frame in the `Automation` domain; empty for the main frame.
    pub(super) async fn frame_handle(&self, frame: &FrameId) -> Result<String> {
        let mut path = Vec::new();
        let mut current = frame.clone();
        while let Some((parent, owner)) = self.frame_owner(&current).await? {
            path.push(owner);
            current = parent;
        }
        let mut handle = String::new();
        for owner in path.into_iter().rev() {
            let params = json!({
                "frameHandle": handle,
                "nodeHandle": self.node_handle(&handle, Some(owner)).await?,
            });
            let method = "Automation.resolveChildFrameHandle";
            let child: Value = self
                .automate(method, "browsingContextHandle", params)
                .await?;
            handle = child["result"].as_str().unwrap_or_default().to_owned();
        }
        Ok(handle)
    }

    /// Returns the handle of an element in the `Automation` domain.
    async fn node_handle(&self, frame: &str, element: Option<Handle>) -> Result<String> {
        let arguments = [json!(element)];
        let node = self.run_over_automation(frame, ELEMENT, &arguments).await?;
        // An object whose only property has the name of the session.
        let node = serde_json::from_value::<HashMap<String, String>>(node);
        let node = node.ok().and_then(|node| node.into_values().next());
        node.ok_or(Error::DocumentGone {})
    }
}
