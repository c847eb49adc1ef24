//! The tools of the baseline, the same for each protocol.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use wire::actions::{Action, Source};

/// The page operations of a protocol.
pub(crate) trait Page {
    /// Navigates and waits until the page has loaded.
    async fn navigate(&self, url: &str) -> wire::Result<()>;
    /// Evaluates an expression, and waits for its text.
    async fn text(&self, expression: String) -> wire::Result<String>;
    /// Clicks an element, selected by CSS.
    async fn click(&self, selector: &str) -> wire::Result<()>;
    /// Presses and releases a key.
    async fn key(&self, key: &str) -> wire::Result<()>;
    /// Takes a screenshot of the viewport as PNG.
    async fn screenshot(&self) -> wire::Result<Vec<u8>>;
}

/// Sets a value and dispatches the events of typing.
const SET: &str = "((e, v) => { e.focus(); e.value = v; e.dispatchEvent(new Event('input', { bubbles: true })); e.dispatchEvent(new Event('change', { bubbles: true })); })";
/// Returns the center of an element that can be clicked, after scrolling it into view, or an error with the failed check.
pub(crate) const READY: &str = "(e => {
  e.scrollIntoView({ block: 'nearest', behavior: 'instant' });
  if (!e.checkVisibility() || e.disabled) throw new Error('it is not ready');
  const box = e.getBoundingClientRect(), at = [box.x + box.width / 2, box.y + box.height / 2];
  if (!e.contains(document.elementFromPoint(...at))) throw new Error('it is covered');
  return at;
})";
/// Starts to observe changes of the document.
const WATCH: &str = "(() => {
  const watch = { changed: 0 };
  watch.observer = new MutationObserver(() => watch.changed = performance.now());
  watch.observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  window.floor = watch;
  return 'ok';
})()";
/// Waits for two frames, and until nothing has changed for 16 ms.
const SETTLED: &str = "(async () => {
  const watch = window.floor;
  for (const _ of [1, 2]) await new Promise(requestAnimationFrame);
  for (let left; (left = watch.changed + 16 - performance.now()) > 0;) await new Promise(done => setTimeout(done, left));
  watch.observer.disconnect();
  return 'ok';
})()";
const WALKER: &str = include_str!("walker.js");

/// Runs the operation of a tool; returns one content item.
pub(crate) async fn call(page: &impl Page, tool: &str, arguments: &Value) -> wire::Result<Value> {
    let given = |name: &str| arguments[name].as_str().unwrap_or_default();
    let done = || text("ok");
    match tool {
        "navigate" => page.navigate(given("url")).await.map(|()| done()),
        "snapshot" => page
            .text(WALKER.to_owned())
            .await
            .map(|answer| text(&answer)),
        "evaluate" => {
            let expression = format!("String({})", given("expression"));
            page.text(expression).await.map(|answer| text(&answer))
        }
        "click" => page.click(given("selector")).await.map(|()| done()),
        "click-settled" => {
            page.text(WATCH.to_owned()).await?;
            page.click(given("selector")).await?;
            page.text(SETTLED.to_owned())
                .await
                .map(|answer| text(&answer))
        }
        "fill" => {
            let fields = arguments["fields"].as_array();
            let script: String = fields.into_iter().flatten().map(filled).collect();
            let answer = page.text(script + "'ok'").await;
            answer.map(|answer| text(&answer))
        }
        "key" => page.key(given("key")).await.map(|()| done()),
        "screenshot" => {
            let data = STANDARD.encode(page.screenshot().await?);
            Ok(json!({ "type": "image", "mimeType": "image/png", "data": data }))
        }
        "wait" => {
            let wanted = json!(given("text"));
            let answer = page
                .text(format!(
                    "new Promise(done => {{ const look = () => document.body.innerText.includes({wanted}) && (watch.disconnect(), done('ok'));
                     const watch = new MutationObserver(look); watch.observe(document, {{ subtree: true, childList: true, characterData: true }}); look(); }})"
                ))
                .await;
            answer.map(|answer| text(&answer))
        }
        _ => Ok(text(&format!("no tool {tool}"))),
    }
}

fn filled(field: &Value) -> String {
    let element = element(field["selector"].as_str().unwrap_or_default());
    format!("{SET}({element}, {});", field["value"])
}

/// Returns the script that selects an element by CSS.
pub(crate) fn element(selector: &str) -> String {
    format!("document.querySelector({})", json!(selector))
}

/// Returns a content item.
pub(crate) fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

/// Returns the actions that press and release a key, for both WebDriver protocols.
pub(crate) fn pressed(key: &str) -> Source {
    let value = key.to_owned();
    let down = Action::KeyDown {
        value: value.clone(),
    };
    Source::Key {
        id: "keyboard",
        actions: vec![down, Action::KeyUp { value }],
    }
}
