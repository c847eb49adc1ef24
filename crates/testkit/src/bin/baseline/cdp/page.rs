//! A page that is controlled with bare CDP commands.

use tokio::sync::watch;
use tokio::task::JoinSet;
use wire::cdp::input::{
    DispatchKeyEvent, DispatchMouseEvent, KeyEventType, MouseButton, MouseEventType,
};
use wire::cdp::{page, runtime, target};
use wire::{Connection, EventStream, Session};

use crate::tools::{self, element};

/// A page in its own context, or in the default one.
pub(super) struct Page {
    session: Session,
    pub(super) context: Option<String>,
    /// The number of `load` events.
    loads: watch::Receiver<u64>,
    _tasks: JoinSet<()>,
}

/// The script that returns the position of an element.
const CENTRE: &str = "(e => { const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })";

impl Page {
    pub(super) async fn open(
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
            .expect("its events have one receiver");
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
}

impl tools::Page for Page {
    async fn navigate(&self, url: &str) -> wire::Result<()> {
        let mut loads = self.loads.clone();
        loads.mark_unchanged();
        self.session
            .call(&page::Navigate {
                url: url.to_owned(),
                ..Default::default()
            })
            .await?;
        // The page ends with the browser, after the measurements.
        drop(loads.changed().await);
        Ok(())
    }

    async fn text(&self, expression: String) -> wire::Result<String> {
        self.value(expression).await
    }

    /// Three events in one write.
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

    async fn screenshot(&self) -> wire::Result<Vec<u8>> {
        let shot = page::CaptureScreenshot::default();
        Ok(self.session.call(&shot).await?.data.0)
    }
}

async fn count_loads(mut events: EventStream, count: watch::Sender<u64>) {
    while let Some(event) = events.next().await {
        if event.is::<page::LoadEventFired>() {
            count.send_modify(|count| *count += 1);
        }
    }
}
