use futures_util::FutureExt;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};

use super::*;
use crate::cdp::{browser, page, runtime, target};

mod websocket;

/// The browser's end of a pipe, which a test controls.
struct Browser {
    reader: BufReader<ReadHalf<DuplexStream>>,
    writer: WriteHalf<DuplexStream>,
}

impl Browser {
    fn start() -> (Self, Connection, EventStream) {
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let (reader, writer) = tokio::io::split(theirs);
        let (connection, events) = Connection::streams(reader, writer);
        let (reader, writer) = tokio::io::split(ours);
        let reader = BufReader::new(reader);
        (Self { reader, writer }, connection, events)
    }

    /// Reads the next command; `None` at the end of the pipe.
    async fn receive(&mut self) -> Option<Value> {
        let mut frame = Vec::new();
        self.reader.read_until(0, &mut frame).await.unwrap();
        assert_eq!(frame.pop()?, 0);
        Some(serde_json::from_slice(&frame).unwrap())
    }

    async fn send(&mut self, message: Value) {
        self.send_raw(&message.to_string()).await;
    }

    async fn send_raw(&mut self, message: &str) {
        self.writer.write_all(message.as_bytes()).await.unwrap();
        self.writer.write_all(&[0]).await.unwrap();
    }

    async fn send_event(&mut self, session: Option<&str>, method: &str, params: Value) {
        let mut message = json!({ "method": method, "params": params });
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        self.send(message).await;
    }

    async fn attach(&mut self, parent: Option<&str>, session: &str) {
        let target = json!({ "targetId": format!("target of {session}"), "type": "page" });
        let params = json!({ "sessionId": session, "targetInfo": target });
        self.send_event(parent, "Target.attachedToTarget", params)
            .await;
    }

    async fn detach(&mut self, parent: Option<&str>, session: &str) {
        let params = json!({ "sessionId": session });
        self.send_event(parent, "Target.detachedFromTarget", params)
            .await;
    }

    async fn load(&mut self, session: &str, number: u32) {
        let params = json!({ "timestamp": number });
        self.send_event(Some(session), "Page.loadEventFired", params)
            .await;
    }

    /// Returns when all previous messages were dispatched.
    async fn settle(&mut self, connection: &Connection) {
        let reply = connection.root().send(&browser::GetVersion {});
        loop {
            let command = self.receive().await.unwrap();
            if command["method"] == "Browser.getVersion" {
                let version = json!({ "id": command["id"], "result": { "product": "Test/1" } });
                self.send(version).await;
                break;
            }
        }
        assert_eq!(reply.await.unwrap().product, "Test/1");
    }
}

/// Returns the `number`s of the load events in the queue, with their sessions.
fn loads(events: &mut EventStream) -> Vec<(String, f64)> {
    let mut loads = Vec::new();
    while let Some(Some(event)) = events.next().now_or_never() {
        if let Some(load) = event.parse::<page::LoadEventFired>() {
            let session = event.session.as_deref().unwrap_or_default().to_owned();
            loads.push((session, load.unwrap().timestamp));
        }
    }
    loads
}

fn evaluate(expression: &str) -> runtime::Evaluate {
    runtime::Evaluate {
        expression: expression.into(),
        ..Default::default()
    }
}

#[tokio::test]
async fn responses_are_matched_in_any_order() {
    let (mut browser, connection, _events) = Browser::start();
    let session = connection.session("S");
    let first = session.send(&evaluate("1"));
    let second = session.send(&evaluate("2"));
    let first_command = browser.receive().await.unwrap();
    let second_command = browser.receive().await.unwrap();
    assert_eq!(
        first_command,
        json!({ "id": 1, "method": "Runtime.evaluate", "params": { "expression": "1" }, "sessionId": "S" })
    );
    for command in [second_command, first_command] {
        let value: Value = command["params"]["expression"].clone();
        let result = json!({ "result": { "type": "string", "value": value } });
        browser
            .send(json!({ "id": command["id"], "sessionId": "S", "result": result }))
            .await;
    }
    let text = |response: runtime::EvaluateResponse| response.result.decode::<String>().unwrap();
    assert_eq!(text(first.await.unwrap()), "1");
    assert_eq!(text(second.await.unwrap()), "2");
}

#[tokio::test]
async fn commands_go_out_in_the_order_of_sending_without_being_awaited() {
    let (mut browser, connection, _events) = Browser::start();
    for number in 0..1000 {
        connection.root().post(&evaluate(&number.to_string()));
    }
    assert!(connection.owner.shared.state().waiting.is_empty());
    for number in 0..1000 {
        let command = browser.receive().await.unwrap();
        assert_eq!(command["params"]["expression"], number.to_string());
    }
}

#[tokio::test]
async fn a_refusal_is_an_error_with_its_code() {
    let (mut browser, connection, _events) = Browser::start();
    let reply = connection.root().send(&page::Enable::default());
    browser.receive().await.unwrap();
    let error = json!({ "code": -32601, "message": "'Page.enable' wasn't found" });
    browser.send(json!({ "id": 1, "error": error })).await;
    match reply.await {
        Err(Error::Protocol {
            method: "Page.enable",
            code: -32601,
            message,
        }) => assert_eq!(message, "'Page.enable' wasn't found"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_malformed_response_is_an_error_with_its_position() {
    let (mut browser, connection, _events) = Browser::start();
    let reply = connection.root().send(&browser::GetVersion {});
    browser.receive().await.unwrap();
    browser
        .send(json!({ "id": 1, "result": { "product": 7 } }))
        .await;
    match reply.await {
        Err(Error::Shape { method, message }) => {
            assert_eq!(method, "Browser.getVersion");
            assert!(message.contains("expected a string"), "{message}");
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn the_response_to_a_dropped_call_is_ignored() {
    let (mut browser, connection, _events) = Browser::start();
    let waiting = || connection.owner.shared.state().waiting.len();
    let reply = connection.root().send(&evaluate("1"));
    let mut call = Box::pin(async { connection.root().call(&evaluate("2")).await });
    assert!((&mut call).now_or_never().is_none());
    assert_eq!(waiting(), 2);
    drop(reply);
    assert_eq!(waiting(), 1);
    drop(call);
    assert_eq!(waiting(), 0);
    browser.send(json!({ "id": 1, "result": {} })).await;
    browser.settle(&connection).await;
    assert_eq!(waiting(), 0);
}

#[tokio::test]
async fn a_new_session_has_its_queue_before_it_is_reported() {
    let (mut browser, connection, mut events) = Browser::start();
    browser.attach(None, "S").await;
    browser.load("S", 1).await;
    browser.settle(&connection).await;
    let attached = events.next().await.unwrap();
    let attached = attached.parse::<target::AttachedToTarget>().unwrap();
    assert_eq!(attached.unwrap().session_id, "S");
    let mut own = connection.take_events("S").unwrap();
    assert_eq!(loads(&mut own), [("S".to_owned(), 1.0)]);
    assert!(connection.take_events("S").is_none(), "taken before");
    assert!(connection.take_events("T").is_none(), "never attached");
}

#[tokio::test]
async fn child_sessions_share_the_queue_of_their_page() {
    let (mut browser, connection, mut root) = Browser::start();
    browser.attach(None, "page").await;
    browser.attach(Some("page"), "frame").await;
    browser.attach(Some("frame"), "worker").await;
    browser.attach(None, "other").await;
    for (number, session) in ["worker", "other", "page", "frame", "page", "worker"]
        .into_iter()
        .enumerate()
    {
        browser.load(session, number as u32).await;
    }
    browser.settle(&connection).await;
    assert!(connection.take_events("frame").is_none());
    let mut page = connection.take_events("page").unwrap();
    let reported = |event: &RawEvent| event.is::<target::AttachedToTarget>();
    assert!(reported(&page.next().await.unwrap()));
    assert!(reported(&page.next().await.unwrap()));
    let expected = [
        ("worker", 0.0),
        ("page", 2.0),
        ("frame", 3.0),
        ("page", 4.0),
        ("worker", 5.0),
    ];
    assert_eq!(
        loads(&mut page),
        expected.map(|(session, number)| (session.to_owned(), number))
    );
    assert_eq!(
        loads(&mut connection.take_events("other").unwrap()),
        [("other".to_owned(), 1.0)]
    );
    assert_eq!(loads(&mut root), []);
}

#[tokio::test]
async fn a_barrier_opens_once_the_events_before_it_are_handled() {
    let (mut browser, connection, _events) = Browser::start();
    browser.attach(None, "page").await;
    browser.attach(Some("page"), "frame").await;
    browser.load("page", 1).await;
    browser.load("frame", 2).await;
    browser.settle(&connection).await;
    let mut events = connection.take_events("page").unwrap();
    let frame = connection.session("frame");
    let mut flush = Box::pin(frame.flush());
    assert!((&mut flush).now_or_never().is_none());
    browser.load("page", 3).await;
    for _ in 0..3 {
        events.next().await.unwrap();
        assert!((&mut flush).now_or_never().is_none(), "still being handled");
    }
    let mut later = Box::pin(frame.flush());
    events.next().await.unwrap();
    assert!((&mut flush).now_or_never().unwrap().is_ok());
    assert!((&mut later).now_or_never().is_none());
    assert!(events.next().now_or_never().is_none());
    assert!(later.await.is_ok());
}

#[tokio::test]
async fn a_barrier_in_a_dropped_queue_is_an_error() {
    let (mut browser, connection, _events) = Browser::start();
    browser.attach(None, "S").await;
    browser.settle(&connection).await;
    let session = connection.session("S");
    let events = connection.take_events("S").unwrap();
    let mut flush = Box::pin(session.flush());
    assert!((&mut flush).now_or_never().is_none());
    drop(events);
    assert!(flush.await.unwrap_err().is_closed());
    assert!(session.flush().await.unwrap_err().is_closed());
    let unknown = connection.session("T").flush().await.unwrap_err();
    assert!(unknown.is_closed());
}

#[tokio::test]
async fn a_detached_session_fails_its_calls_and_those_of_its_descendants() {
    let (mut browser, connection, mut root) = Browser::start();
    browser.attach(None, "page").await;
    browser.attach(Some("page"), "frame").await;
    browser.attach(Some("frame"), "worker").await;
    browser.attach(None, "other").await;
    browser.settle(&connection).await;
    let mut page = connection.take_events("page").unwrap();
    let send = |session: &str| connection.session(session).send(&evaluate("1"));
    let worker = send("worker");
    let in_page = send("page");
    let in_other = send("other");

    browser.detach(Some("page"), "frame").await;
    browser.settle(&connection).await;
    match worker.await {
        Err(Error::SessionClosed { session, reason }) => {
            assert_eq!(session, "worker");
            assert!(reason.contains("detached"), "{reason}");
        }
        other => panic!("{other:?}"),
    }
    let mut in_page = Box::pin(in_page);
    assert!((&mut in_page).now_or_never().is_none());
    assert_eq!(page.end_reason(), None, "the page goes on");

    browser.load("page", 1).await;
    browser.detach(None, "page").await;
    browser.load("page", 2).await;
    browser.settle(&connection).await;
    assert!(in_page.await.unwrap_err().is_closed());
    let mut methods = Vec::new();
    while let Some(event) = page.next().await {
        methods.push(event.method.into_string());
    }
    assert_eq!(
        methods,
        [
            "Target.attachedToTarget",
            "Target.attachedToTarget",
            "Target.detachedFromTarget",
            "Page.loadEventFired"
        ]
    );
    assert!(page.end_reason().unwrap().contains("detached"));

    assert!(Box::pin(in_other).now_or_never().is_none());
    for method in ["attachedToTarget", "attachedToTarget", "detachedFromTarget"] {
        let event = root.next().await.unwrap();
        assert_eq!(&*event.method, format!("Target.{method}"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_full_queue_ends_with_a_reason_and_without_a_gap() {
    let (mut browser, connection, _events) = Browser::start();
    browser.attach(None, "slow").await;
    browser.attach(None, "other").await;
    for number in 0..QUEUE_CAPACITY + 2 {
        browser.load("slow", number as u32).await;
    }
    browser.load("other", 1).await;
    browser.settle(&connection).await;
    let mut slow = connection.take_events("slow").unwrap();
    let mut got = 0;
    while let Some(event) = slow.next().await {
        let load = event.parse::<page::LoadEventFired>().unwrap().unwrap();
        assert_eq!(load.timestamp, f64::from(got));
        got += 1;
    }
    assert_eq!(got as usize, QUEUE_CAPACITY);
    let reason = slow.end_reason().unwrap();
    assert!(reason.contains("16384 events were waiting"), "{reason}");
    match connection.session("slow").flush().await {
        Err(Error::SessionClosed {
            reason: reported, ..
        }) => assert_eq!(reported, reason),
        other => panic!("{other:?}"),
    }
    let mut other = connection.take_events("other").unwrap();
    assert_eq!(loads(&mut other), [("other".to_owned(), 1.0)]);
}

#[tokio::test]
async fn a_closed_connection_fails_all_calls_with_the_reason() {
    let (mut browser, connection, mut root) = Browser::start();
    browser.attach(None, "S").await;
    browser.settle(&connection).await;
    let mut events = connection.take_events("S").unwrap();
    let session = connection.session("S");
    let reply = session.send(&evaluate("1"));
    let mut closed = connection.closed();
    assert_eq!(*closed.borrow(), None);
    drop(browser);
    let reason = "the browser closed the pipe";
    let is_closed = |error: Error| match error {
        Error::Closed { reason: reported } => assert_eq!(reported, reason),
        other => panic!("{other:?}"),
    };
    is_closed(reply.await.unwrap_err());
    let reported = closed.wait_for(Option::is_some).await.unwrap().clone();
    assert_eq!(reported.as_deref(), Some(reason));
    root.next().await.unwrap();
    assert!(root.next().await.is_none());
    assert_eq!(root.end_reason(), Some(reason));
    assert!(events.next().await.is_none());
    assert_eq!(events.end_reason(), Some(reason));
    is_closed(session.call(&evaluate("2")).await.unwrap_err());
    is_closed(session.flush().await.unwrap_err());
}

#[tokio::test]
async fn closing_sends_queued_commands_first() {
    let (mut browser, connection, _events) = Browser::start();
    let reply = connection.root().send(&browser::Close {});
    connection.close();
    match reply.await {
        Err(Error::Closed { reason }) => assert_eq!(reason, "closed by this side"),
        other => panic!("{other:?}"),
    }
    let command = browser.receive().await.unwrap();
    assert_eq!(command["method"], "Browser.close");
    assert_eq!(browser.receive().await, None);
}

#[tokio::test]
async fn the_last_handle_closes_the_connection() {
    let (mut browser, connection, mut events) = Browser::start();
    let session = connection.session("S");
    drop(connection);
    let reply = session.send(&evaluate("1"));
    browser.receive().await.unwrap();
    drop(session);
    assert!(reply.await.unwrap_err().is_closed());
    assert!(events.next().await.is_none());
    assert_eq!(events.end_reason(), Some("the connection was dropped"));
    assert_eq!(browser.receive().await, None);
}

#[tokio::test]
async fn a_browser_that_reads_nothing_is_disconnected() {
    let (_browser, connection, _events) = Browser::start();
    let session = connection.root();
    // The writer never runs, because this test does not yield.
    let mut replies: Vec<_> = (0..=OUTGOING_CAPACITY)
        .map(|_| session.send(&browser::GetVersion {}))
        .collect();
    let error = replies.remove(0).await.unwrap_err();
    assert!(error.to_string().contains("has stopped reading"), "{error}");
}

#[tokio::test]
async fn unknown_messages_are_skipped() {
    let (mut browser, connection, mut events) = Browser::start();
    for frame in ["", "{", "[]", "null", r#"{"id":"x"}"#, "{}", "\u{1}"] {
        browser.send_raw(frame).await;
    }
    let future =
        json!({ "method": "Page.loadEventFired", "params": { "timestamp": 1, "new": {} } });
    browser.send(future).await;
    browser.settle(&connection).await;
    assert_eq!(loads(&mut events), [(String::new(), 1.0)]);
}
