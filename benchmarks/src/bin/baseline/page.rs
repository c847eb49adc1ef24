//! A page that is controlled with bare CDP commands, and its tools.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinSet;
use wire::cdp::input::{
    DispatchKeyEvent, DispatchMouseEvent, KeyEventType, MouseButton, MouseEventType,
};
use wire::cdp::page::{CaptureScreenshot, Enable, LoadEventFired, Navigate};
use wire::cdp::runtime::Evaluate;
use wire::cdp::target::{AttachToTarget, CreateTarget};
use wire::{Connection, Result, Session};

/// A page in its own context, or in the default one.
pub(crate) struct Page {
    session: Session,
    /// The number of `load` events.
    loads: watch::Receiver<u64>,
    _tasks: JoinSet<()>,
}

/// Returns the position of an element.
const CENTER: &str = "(e => { const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })";
/// Sets a value and dispatches the events of typing.
const SET: &str = "((e, v) => { e.focus(); e.value = v; e.dispatchEvent(new Event('input', { bubbles: true })); e.dispatchEvent(new Event('change', { bubbles: true })); })";
/// Waits until the page contains a text.
const WAIT: &str = "(text => new Promise(done => {
  const check = () => document.body.innerText.includes(text) && (watch.disconnect(), done('ok'));
  const watch = new MutationObserver(check);
  watch.observe(document, { subtree: true, childList: true, characterData: true });
  check();
}))";
const WALKER: &str = include_str!("walker.js");

impl Page {
    pub(crate) async fn open(connection: &Connection, context: Option<String>) -> Result<Self> {
        let root = connection.root();
        let create = CreateTarget {
            url: "about:blank".to_owned(),
            browser_context_id: context,
            ..Default::default()
        };
        let (target_id, flatten) = (root.call(&create).await?.target_id, Some(true));
        let attached = root.call(&AttachToTarget { target_id, flatten }).await?;
        let session = connection.session(attached.session_id);
        let events = connection.take_events(session.id().expect("a session has an id"));
        let mut events = events.expect("its events have one receiver");
        let (count, loads) = watch::channel(0);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            while let Some(event) = events.next().await {
                if event.is::<LoadEventFired>() {
                    count.send_modify(|count| *count += 1);
                }
            }
        });
        session.call(&Enable::default()).await?;
        let _tasks = tasks;
        Ok(Self {
            session,
            loads,
            _tasks,
        })
    }

    /// Runs the operation of a tool; returns one content item.
    pub(crate) async fn call(&self, tool: &str, arguments: &Value) -> Result<Value> {
        let given = |name: &str| arguments[name].as_str().unwrap_or_default().to_owned();
        let find = |selector: &Value| format!("document.querySelector({selector})");
        let evaluate = |expression: String| self.value(expression);
        let text = match tool {
            "navigate" => self.navigate(given("url")).await?,
            "snapshot" => evaluate(WALKER.to_owned()).await?,
            "evaluate" => evaluate(format!("String({})", given("expression"))).await?,
            "wait" => evaluate(format!("{WAIT}({})", arguments["text"])).await?,
            "click" => self.click(&find(&arguments["selector"])).await?,
            "fill" => {
                let fields = arguments["fields"].as_array().into_iter().flatten();
                let fields = fields.map(|field| (find(&field["selector"]), &field["value"]));
                let set = fields.map(|(element, value)| format!("{SET}({element}, {value});"));
                evaluate(set.collect::<String>() + "'ok'").await?
            }
            "key" => self.press(&given("key")).await?,
            "screenshot" => {
                let image = self.session.call(&CaptureScreenshot::default()).await?;
                let data = STANDARD.encode(image.data.0);
                return Ok(json!({ "type": "image", "mimeType": "image/png", "data": data }));
            }
            _ => format!("no tool {tool}"),
        };
        Ok(json!({ "type": "text", "text": text }))
    }

    /// Navigates and waits until the page has loaded.
    async fn navigate(&self, url: String) -> Result<String> {
        let mut loads = self.loads.clone();
        loads.mark_unchanged();
        let navigate = Navigate {
            url,
            ..Default::default()
        };
        self.session.call(&navigate).await?;
        // The page ends with the browser, after the measurements.
        drop(loads.changed().await);
        Ok("ok".to_owned())
    }

    /// Evaluates an expression, and waits for its value.
    async fn value<T: DeserializeOwned>(&self, expression: String) -> Result<T> {
        let evaluate = Evaluate {
            expression,
            return_by_value: Some(true),
            await_promise: Some(true),
            ..Default::default()
        };
        self.session.call(&evaluate).await?.result.decode()
    }

    /// Clicks an element: three events in one write.
    async fn click(&self, element: &str) -> Result<String> {
        let (x, y): (f64, f64) = self.value(format!("{CENTER}({element})")).await?;
        let send = |kind, button| {
            let click_count = Some(1);
            let event = DispatchMouseEvent {
                kind,
                x,
                y,
                button,
                click_count,
                ..Default::default()
            };
            self.session.send(&event)
        };
        let left = Some(MouseButton::Left);
        let moved = send(MouseEventType::MouseMoved, None);
        let pressed = send(MouseEventType::MousePressed, left);
        let released = send(MouseEventType::MouseReleased, left);
        moved.await?;
        pressed.await?;
        released.await?;
        self.value("'ok'".to_owned()).await
    }

    /// Presses and releases a key.
    async fn press(&self, key: &str) -> Result<String> {
        let send = |kind| {
            let text = (kind == KeyEventType::KeyDown).then(|| key.to_owned());
            let key = Some(key.to_owned());
            let event = DispatchKeyEvent {
                kind,
                key,
                text,
                ..Default::default()
            };
            self.session.send(&event)
        };
        let (down, up) = (send(KeyEventType::KeyDown), send(KeyEventType::KeyUp));
        down.await?;
        up.await?;
        Ok("ok".to_owned())
    }
}
