use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::sync::{Semaphore, mpsc};

use super::RemoteEnd;
use super::file::Upload;
use super::session::GetTimeouts;
use crate::{ConnectFailure, Error};

/// The parts of a request that the tests check.
#[derive(Debug, Clone)]
struct ReceivedRequest {
    line: String,
    content_type: String,
    authorization: String,
    body: String,
}

type Answers = Arc<dyn Fn(ReceivedRequest) -> BoxFuture<'static, (u16, String)> + Send + Sync>;

/// A driver whose responses are set by a test.
struct Driver {
    url: String,
    connections: Arc<AtomicUsize>,
    requests: Arc<Mutex<Vec<ReceivedRequest>>>,
}

impl Driver {
    async fn start(
        answers: impl Fn(ReceivedRequest) -> BoxFuture<'static, (u16, String)> + Send + Sync + 'static,
    ) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        let requests: Arc<Mutex<Vec<ReceivedRequest>>> = Arc::default();
        let answers: Answers = Arc::new(answers);
        let (count, log) = (connections.clone(), requests.clone());
        super::remote::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                let (answers, log) = (answers.clone(), log.clone());
                let service = service_fn(move |request| {
                    answer(request, answers.clone(), log.clone()).map(Ok::<_, hyper::Error>)
                });
                super::remote::spawn(async move {
                    let _ = hyper::server::conn::http1::Builder::new()
                        .serve_connection(TokioIo::new(socket), service)
                        .await;
                });
            }
        });
        Self {
            url: format!("http://{address}"),
            connections,
            requests,
        }
    }

    /// Starts a driver that has the same response to each request.
    async fn responding_with(status: u16, body: &'static str) -> Self {
        Self::start(move |_| async move { (status, body.to_owned()) }.boxed()).await
    }

    fn lines(&self) -> Vec<String> {
        let requests = self.requests.lock().unwrap();
        requests
            .iter()
            .map(|request| request.line.clone())
            .collect()
    }
}

async fn answer(
    request: Request<Incoming>,
    answers: Answers,
    log: Arc<Mutex<Vec<ReceivedRequest>>>,
) -> Response<Full<Bytes>> {
    let header = |name: &str| {
        let value = request.headers().get(name);
        value.map_or("", |value| value.to_str().unwrap()).to_owned()
    };
    let received = ReceivedRequest {
        line: format!("{} {}", request.method(), request.uri()),
        content_type: header("content-type"),
        authorization: header("authorization"),
        body: String::from_utf8(
            request
                .into_body()
                .collect()
                .await
                .unwrap()
                .to_bytes()
                .to_vec(),
        )
        .unwrap(),
    };
    log.lock().unwrap().push(received.clone());
    let (status, body) = answers(received).await;
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status.try_into().unwrap();
    response
}

fn value(value: Value) -> (u16, String) {
    (200, json!({ "value": value }).to_string())
}

#[tokio::test]
async fn a_session_begins_below_the_endpoint_with_its_credentials() {
    let driver = Driver::start(|request| {
        async move {
            match request.line.split(' ').next().unwrap() {
                "POST" if request.line.ends_with("/session") => value(json!({
                    "sessionId": "s1",
                    "capabilities": { "browserName": "b", "se:cdp": "ws://x" },
                })),
                "GET" if request.line.ends_with("/timeouts") => value(json!({ "script": 1 })),
                "POST" => value(json!("/tmp/a")),
                "GET" => value(json!({ "ready": true, "message": "go", "nodes": [1] })),
                _ => value(Value::Null),
            }
        }
        .boxed()
    })
    .await;
    let url = driver.url.replace("http://", "http://me:p%40ss@") + "/wd/hub/";
    let remote = RemoteEnd::new(&url, &[]).unwrap();
    assert!(!remote.endpoint().contains("me:"));

    let status = remote.status().await.unwrap();
    assert!(status.ready);
    assert_eq!(status.more["nodes"], json!([1]));

    let wanted = json!({ "alwaysMatch": { "browserName": "b", "vendor:x": 1 } });
    let (session, created) = remote.new_session(&wanted).await.unwrap();
    assert_eq!(session.id(), "s1");
    assert_eq!(created.capabilities["se:cdp"], "ws://x");
    let timeouts = session.call(&GetTimeouts {}).await.unwrap();
    assert_eq!(timeouts["script"], 1);
    let upload = Upload { file: "ü".into() };
    assert_eq!(session.call(&upload).await.unwrap(), "/tmp/a");
    session.delete().await.unwrap();

    assert_eq!(
        driver.lines(),
        [
            "GET /wd/hub/status",
            "POST /wd/hub/session",
            "GET /wd/hub/session/s1/timeouts",
            "POST /wd/hub/session/s1/se/file",
            "DELETE /wd/hub/session/s1",
        ]
    );
    let requests = driver.requests.lock().unwrap().clone();
    assert!(
        requests
            .iter()
            .all(|request| request.authorization == "Basic bWU6cEBzcw==")
    );
    assert_eq!(requests[1].content_type, "application/json; charset=utf-8");
    assert_eq!(
        requests[1].body,
        r#"{"capabilities":{"alwaysMatch":{"browserName":"b","vendor:x":1}}}"#
    );
    assert_eq!(requests[3].body, r#"{"file":"ü"}"#);
    assert_eq!(driver.connections.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn driver_errors_keep_their_message() {
    let driver = Driver::responding_with(
        500,
        r#"{"value":{"error":"invalid session id","message":"m","stacktrace":"at x","data":{"text":"hi"}}}"#,
    )
    .await;
    let session = RemoteEnd::new(&driver.url, &[]).unwrap().session("s");
    let refused = session.call(&GetTimeouts {}).await.unwrap_err();
    let Error::Refused {
        method,
        error,
        message,
        stacktrace,
    } = refused
    else {
        panic!("{refused}");
    };
    assert_eq!(
        (method, &*error, &*message, &*stacktrace),
        ("Get Timeouts", "invalid session id", "m", "at x")
    );
}

#[tokio::test]
async fn a_response_of_another_server_is_distinguished() {
    let proxy = Driver::responding_with(502, "<h1>Bad Gateway</h1>").await;
    let session = RemoteEnd::new(&proxy.url, &[]).unwrap().session("s");
    let error = session.call(&GetTimeouts {}).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "Get Timeouts: HTTP 502: <h1>Bad Gateway</h1>"
    );

    let other = Driver::responding_with(200, r#"{"value":{"no":"string"}}"#).await;
    let session = RemoteEnd::new(&other.url, &[]).unwrap().session("s");
    let upload = Upload::default();
    let error = session.call(&upload).await.unwrap_err();
    assert!(matches!(error, Error::Shape { .. }), "{error}");
}

#[tokio::test]
async fn endpoint_errors_omit_the_password() {
    let Err(Error::Connect { endpoint, cause }) = RemoteEnd::new("ftp://me:pw@host/", &[]) else {
        panic!();
    };
    assert_eq!(endpoint, "ftp://host/");
    assert!(matches!(cause, ConnectFailure::Invalid(_)));

    // Bound, so that no other process gets the port, and without a listener.
    let bound = tokio::net::TcpSocket::new_v4().unwrap();
    bound.bind(([127, 0, 0, 1], 0).into()).unwrap();
    let url = format!("http://me:pw@{}", bound.local_addr().unwrap());
    let remote = RemoteEnd::new(&url, &[]).unwrap();
    let error = remote.status().await.unwrap_err();
    let message = error.to_string();
    assert!(
        message.contains("ECONNREFUSED") && !message.contains("pw"),
        "{message}"
    );
}

#[tokio::test]
async fn a_lone_surrogate_is_no_error() {
    let driver = Driver::responding_with(200, r#"{"value":"a\ud800b"}"#).await;
    let session = RemoteEnd::new(&driver.url, &[]).unwrap().session("s");
    let text = session.call(&Upload::default()).await.unwrap();
    assert_eq!(text, "a\u{fffd}b");
}

#[tokio::test]
async fn a_session_whose_creation_was_cancelled_is_deleted() {
    let (sender, mut arrivals) = mpsc::unbounded_channel();
    let permits = Arc::new(Semaphore::new(0));
    let gate = permits.clone();
    let driver = Driver::start(move |request| {
        let gate = gate.clone();
        sender.send(request.line.clone()).unwrap();
        async move {
            if request.line.starts_with("POST") {
                gate.acquire().await.unwrap().forget();
            }
            value(json!({ "sessionId": "orphan" }))
        }
        .boxed()
    })
    .await;
    let remote = RemoteEnd::new(&driver.url, &[]).unwrap();
    let wanted = json!({});
    let given_up = tokio::select! {
        biased;
        _ = remote.new_session(&wanted) => false,
        _ = arrivals.recv() => true,
    };
    assert!(given_up);
    permits.add_permits(1);
    assert_eq!(arrivals.recv().await.unwrap(), "DELETE /session/orphan");
}
