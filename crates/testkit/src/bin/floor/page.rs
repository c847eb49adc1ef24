//! One page, driven by bare commands.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinSet;
use wire::cdp::input::{
    DispatchKeyEvent, DispatchMouseEvent, KeyEventType, MouseButton, MouseEventType,
};
use wire::cdp::{page, runtime, target};
use wire::{Connection, EventStream, Session};

/// A page in a context of its own, or in the browser's.
pub(crate) struct Page {
    session: Session,
    pub(crate) context: Option<String>,
    /// How many times it has fired `load`.
    loads: watch::Receiver<u64>,
    _tasks: JoinSet<()>,
}

/// What the page is asked in one go: where an element is.
const CENTRE: &str = "(e => { const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })";
/// Sets a value as typing would, with its events.
const SET: &str = "((e, v) => { e.focus(); e.value = v; e.dispatchEvent(new Event('input', { bubbles: true })); e.dispatchEvent(new Event('change', { bubbles: true })); })";
const WALKER: &str = include_str!("walker.js");

impl Page {
    pub(crate) async fn open(
        connection: &Connection,
        context: Option<String>,
    ) -> wire::Result<Self> {
        let root = connection.root();
        let target = root
            .call(&target::CreateTarget {
                url: "about:blank".to_owned(),
                browser_context_id: context.clone(),
                ..Default::default()
            })
            .await?;
        let attached = root
            .call(&target::AttachToTarget {
                target_id: target.target_id,
                flatten: Some(true),
            })
            .await?;
        let session = connection.session(attached.session_id);
        let events = connection
            .take_events(session.id().expect("a session has an id"))
            .expect("its events are nobody else's");
        let (count, loads) = watch::channel(0);
        let mut tasks = JoinSet::new();
        tasks.spawn(count_loads(events, count));
        session.call(&page::Enable::default()).await?;
        Ok(Self {
            session,
            context,
            loads,
            _tasks: tasks,
        })
    }

    /// Does what a tool of this name would do; returns one content item.
    pub(crate) async fn call(&self, tool: &str, arguments: &Value) -> wire::Result<Value> {
        let given = |name: &str| arguments[name].as_str().unwrap_or_default();
        let done = || json!({ "type": "text", "text": "ok" });
        match tool {
            "navigate" => {
                let mut loads = self.loads.clone();
                loads.mark_unchanged();
                let url = given("url").to_owned();
                self.session
                    .call(&page::Navigate {
                        url,
                        ..Default::default()
                    })
                    .await?;
                // The page goes with the browser, and then nobody measures any more.
                drop(loads.changed().await);
                Ok(done())
            }
            "snapshot" => self.text(WALKER.to_owned()).await,
            "evaluate" => self.text(format!("String({})", given("expression"))).await,
            "click" => self.click(given("selector")).await.map(|()| done()),
            "fill" => {
                let fields = arguments["fields"]
                    .as_array()
                    .map(Vec::as_slice)
                    .unwrap_or_default();
                let script: String = fields
                    .iter()
                    .map(|field| {
                        format!(
                            "{SET}({}, {});",
                            element(field["selector"].as_str().unwrap_or_default()),
                            field["value"]
                        )
                    })
                    .collect();
                self.text(script + "'ok'").await
            }
            "key" => self.key(given("key")).await.map(|()| done()),
            "screenshot" => {
                let shot = self
                    .session
                    .call(&page::CaptureScreenshot::default())
                    .await?;
                let data = STANDARD.encode(shot.data.0);
                Ok(json!({ "type": "image", "mimeType": "image/png", "data": data }))
            }
            "wait" => {
                let text = json!(given("text"));
                self.text(format!(
                    "new Promise(done => {{ const look = () => document.body.innerText.includes({text}) && (watch.disconnect(), done('ok'));
                     const watch = new MutationObserver(look); watch.observe(document, {{ subtree: true, childList: true, characterData: true }}); look(); }})"
                ))
                .await
            }
            _ => Ok(json!({ "type": "text", "text": format!("no tool {tool}") })),
        }
    }

    async fn value<T: serde::de::DeserializeOwned>(&self, expression: String) -> wire::Result<T> {
        let answer = self
            .session
            .call(&runtime::Evaluate {
                expression,
                return_by_value: Some(true),
                await_promise: Some(true),
                ..Default::default()
            })
            .await?;
        answer.result.decode()
    }

    async fn text(&self, expression: String) -> wire::Result<Value> {
        let text: String = self.value(expression).await?;
        Ok(json!({ "type": "text", "text": text }))
    }

    /// Three events in one write, and one turn of the page.
    async fn click(&self, selector: &str) -> wire::Result<()> {
        let (x, y): (f64, f64) = self
            .value(format!("{CENTRE}({})", element(selector)))
            .await?;
        let event = |kind| DispatchMouseEvent {
            kind,
            x,
            y,
            button: Some(MouseButton::Left),
            click_count: Some(1),
            ..Default::default()
        };
        let moved = self.session.send(&DispatchMouseEvent {
            button: None,
            ..event(MouseEventType::MouseMoved)
        });
        let pressed = self.session.send(&event(MouseEventType::MousePressed));
        let released = self.session.send(&event(MouseEventType::MouseReleased));
        moved.await?;
        pressed.await?;
        released.await?;
        self.value("0".to_owned()).await.map(|_: u8| ())
    }

    async fn key(&self, key: &str) -> wire::Result<()> {
        let event = |kind| DispatchKeyEvent {
            kind,
            key: Some(key.to_owned()),
            text: (kind == KeyEventType::KeyDown).then(|| key.to_owned()),
            ..Default::default()
        };
        let down = self.session.send(&event(KeyEventType::KeyDown));
        let up = self.session.send(&event(KeyEventType::KeyUp));
        down.await?;
        up.await.map(|_| ())
    }
}

fn element(selector: &str) -> String {
    format!("document.querySelector({})", json!(selector))
}

async fn count_loads(mut events: EventStream, count: watch::Sender<u64>) {
    while let Some(event) = events.next().await {
        if event.is::<page::LoadEventFired>() {
            count.send_modify(|count| *count += 1);
        }
    }
}
