//! An MCP client for tests: starts a server and sends requests over stdio, one JSON-RPC message per line. Every wait has a timeout, so that
//! a test fails with a sentence instead of hanging.

mod image;
mod launch;
mod pool;
mod result;

use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::timeout;

pub use image::Image;
pub use launch::Launch;
pub use pool::PooledClient;
pub(crate) use pool::end_idle_servers;
pub use result::CallResult;

/// A server process and the connection to it. Dropping this ends the process.
pub struct Client {
    child: Child,
    input: Input,
    shared: Arc<Shared>,
    unmatched: tokio::sync::Mutex<mpsc::Receiver<Value>>,
    next_id: AtomicU64,
    limit: Duration,
    workspace: launch::Workspace,
    /// The tasks, which end when this is dropped.
    readers: JoinSet<()>,
}

/// Why a request has no result.
#[derive(Clone, Debug, PartialEq)]
pub enum NoAnswer {
    /// The server returned a JSON-RPC error.
    Refused {
        /// JSON-RPC error code, such as −32601.
        code: i64,
        /// The message.
        message: String,
        /// The error's `data`, `null` when there is none.
        data: Value,
    },
    /// The timeout expired.
    Silent {
        /// The timeout.
        waited: Duration,
    },
    /// The server closed its output.
    Ended,
}

/// A request that was sent.
pub struct Pending {
    id: u64,
    answer: oneshot::Receiver<Value>,
    limit: Duration,
}

type Input = Arc<tokio::sync::Mutex<Option<ChildStdin>>>;

#[derive(Default)]
struct Shared {
    /// `None` after the server has closed its output.
    waiting: Mutex<Waiting>,
    stderr: tokio::sync::watch::Sender<String>,
    stderr_ended: tokio::sync::Notify,
    stray: Mutex<Vec<String>>,
    /// The elicitations so far.
    asked: Mutex<Vec<Value>>,
}

#[derive(Default)]
struct Waiting {
    answers: HashMap<u64, oneshot::Sender<Value>>,
    ended: bool,
}

/// The largest number of stored messages that are not responses.
const UNMATCHED: usize = 4096;

impl Client {
    /// Starts `program` with `args` in a new workspace and initializes the connection.
    pub async fn start(program: impl AsRef<Path>, args: &[&str]) -> Self {
        Launch::new(program).args(args).start().await
    }

    fn adopt(mut child: Child, launch: Launch, workspace: launch::Workspace) -> Self {
        let input: Input = Arc::new(tokio::sync::Mutex::new(child.stdin.take()));
        let output = child.stdout.take().expect("stdout is piped");
        let errors = child.stderr.take().expect("stderr is piped");
        let shared = Arc::new(Shared::default());
        let (unmatched_in, unmatched) = mpsc::channel(UNMATCHED);
        let (roots, says) = (launch.roots.clone(), launch.says.clone());
        let mut readers = JoinSet::new();
        readers.spawn(read_messages(
            output,
            shared.clone(),
            input.clone(),
            unmatched_in,
            roots,
            says,
        ));
        readers.spawn(read_errors(errors, shared.clone()));
        Self {
            child,
            input,
            shared,
            unmatched: tokio::sync::Mutex::new(unmatched),
            next_id: AtomicU64::new(1),
            limit: launch.limit,
            workspace,
            readers,
        }
    }

    /// Sends `initialize` and `notifications/initialized`; returns the result of `initialize`.
    pub async fn initialize(&self, capabilities: Value) -> Value {
        let answer = self.try_initialize(capabilities).await;
        answer.unwrap_or_else(|why| panic!("initialize: {why}\n{}", self.last_words()))
    }

    /// Sends `initialize`, and after a result `notifications/initialized`.
    pub async fn try_initialize(&self, capabilities: Value) -> Result<Value, NoAnswer> {
        let hello = json!({
            "protocolVersion": "2025-06-18",
            "capabilities": capabilities,
            "clientInfo": { "name": "testkit", "version": env!("CARGO_PKG_VERSION") },
        });
        let answer = self.request("initialize", hello).await?;
        self.notify("notifications/initialized", json!({})).await;
        Ok(answer)
    }

    /// Calls a tool. Panics without a result; an error result is a result.
    pub async fn call(&self, tool: &str, arguments: Value) -> CallResult {
        let answer = self.try_call(tool, arguments).await;
        answer.unwrap_or_else(|why| panic!("{tool}: {why}\n{}", self.last_words()))
    }

    /// Opens a URL with `browser_navigate`. Panics with the whole answer if it is an error.
    pub async fn navigate(&self, url: &str) -> CallResult {
        let answer = self.call("browser_navigate", json!({ "url": url })).await;
        assert!(!answer.is_error, "browser_navigate {url}: {}", answer.text);
        answer
    }

    /// Calls a tool with JSON answers, and returns the object, also of an error.
    pub async fn object(&self, tool: &str, arguments: Value) -> Value {
        let answer = self.call(tool, arguments).await;
        answer.raw["structuredContent"].clone()
    }

    /// Calls a tool with JSON answers. Panics if it returns an error.
    pub async fn success(&self, tool: &str, arguments: Value) -> Value {
        let answer = self.call(tool, arguments).await;
        assert!(!answer.is_error, "{tool}: {}", answer.text);
        answer.raw["structuredContent"].clone()
    }

    /// Creates a session with these options, and returns its id.
    pub async fn create_session(&self, options: Value) -> String {
        let session = self.success("create_session", options).await;
        let id = session["sessionId"].as_str();
        id.expect("a session has an id").to_owned()
    }

    /// Calls a tool.
    pub async fn try_call(&self, tool: &str, arguments: Value) -> Result<CallResult, NoAnswer> {
        let result = self
            .request(
                "tools/call",
                json!({ "name": tool, "arguments": arguments }),
            )
            .await?;
        Ok(CallResult::new(result, self.workspace()))
    }

    /// Returns the tools of `tools/list`, in order.
    pub async fn list_tools(&self) -> Vec<Value> {
        let answer = self.request("tools/list", json!({})).await;
        let answer =
            answer.unwrap_or_else(|why| panic!("tools/list: {why}\n{}", self.last_words()));
        answer["tools"]
            .as_array()
            .expect("tools/list answers with a list")
            .clone()
    }

    /// Sends a request and waits for its result.
    pub async fn request(&self, method: &str, params: Value) -> Result<Value, NoAnswer> {
        self.begin(method, params).await.answer().await
    }

    /// Sends a request; [`Pending::answer`] waits for its result.
    pub async fn begin(&self, method: &str, params: Value) -> Pending {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let (sender, answer) = oneshot::channel();
        {
            let mut waiting = self.shared.waiting.lock().expect("not poisoned");
            if !waiting.ended {
                waiting.answers.insert(id, sender);
            }
        }
        self.send_line(
            &json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string(),
        )
        .await;
        Pending {
            id,
            answer,
            limit: self.limit,
        }
    }

    /// Sends a notification.
    pub async fn notify(&self, method: &str, params: Value) {
        self.send_line(
            &json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string(),
        )
        .await;
    }

    /// Sends one line without changes; the server may have exited.
    pub async fn send_line(&self, line: &str) {
        send(&self.input, line).await;
    }

    /// Sends bytes without changes, which may be less or more than a line.
    pub async fn send_bytes(&self, bytes: &[u8]) {
        if let Some(input) = self.input.lock().await.as_mut() {
            // The server may have exited.
            drop(input.write_all(bytes).await);
            drop(input.flush().await);
        }
    }

    /// Returns the next message that is not a response: a notification, or an error without an id.
    pub async fn next_unmatched(&self) -> Value {
        let next = timeout(self.limit, async {
            self.unmatched.lock().await.recv().await
        })
        .await;
        match next {
            Ok(Some(message)) => message,
            Ok(None) => panic!("the server ended\n{}", self.last_words()),
            Err(_) => panic!(
                "no further message within {:?}\n{}",
                self.limit,
                self.last_words()
            ),
        }
    }

    /// Returns lines on stdout that are not JSON: there should be none.
    pub fn stray_lines(&self) -> Vec<String> {
        self.shared.stray.lock().expect("not poisoned").clone()
    }

    /// Returns the server's stderr so far.
    pub fn stderr(&self) -> String {
        self.shared.stderr.borrow().clone()
    }

    /// Returns the parameters of each `elicitation/create` so far.
    pub fn elicitations(&self) -> Vec<Value> {
        self.shared.asked.lock().expect("not poisoned").clone()
    }

    /// Waits until the server's stderr contains `text`, and returns it.
    pub async fn stderr_with(&self, text: &str) -> String {
        let mut stderr = self.shared.stderr.subscribe();
        let found = stderr.wait_for(|stderr| stderr.contains(text));
        match timeout(self.limit, found).await {
            Ok(found) => found.expect("we hold the sender").clone(),
            Err(_) => panic!("no {text:?} on stderr; {}", self.last_words()),
        }
    }

    /// Waits until the server closes stderr, and returns it.
    pub async fn whole_stderr(&self) -> String {
        drop(timeout(self.limit, self.shared.stderr_ended.notified()).await);
        // There may be other waiters.
        self.shared.stderr_ended.notify_one();
        self.stderr()
    }

    /// Returns the server's working directory; a new folder unless [`Launch::workspace`] set one.
    pub fn workspace(&self) -> &Path {
        self.workspace.path()
    }

    /// Returns whether the server has closed its output.
    pub fn has_ended(&self) -> bool {
        self.shared.waiting.lock().expect("not poisoned").ended
    }

    /// Returns the server's process id until it was waited for.
    pub fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    /// Closes the server's stdin.
    pub async fn close_input(&self) {
        self.input.lock().await.take();
    }

    /// Closes the server's stdin and waits until it has exited.
    pub async fn end(mut self) -> ExitStatus {
        self.close_input().await;
        let status = self.exit_status().await;
        // The last output may contain responses.
        let read = async { while self.readers.join_next().await.is_some() {} };
        if timeout(self.limit, read).await.is_err() {
            panic!("the server has left its output to a process that lives on");
        }
        status
    }

    /// Waits until the server has exited on its own.
    pub async fn exit_status(&mut self) -> ExitStatus {
        match timeout(self.limit, self.child.wait()).await {
            Ok(status) => status.expect("a child can be waited for"),
            Err(_) => panic!(
                "the server has not exited within {:?}\n{}",
                self.limit,
                self.last_words()
            ),
        }
    }

    /// Sends SIGTERM to the server, as a service manager does.
    #[cfg(unix)]
    pub fn terminate(&self) {
        let id = self.child.id().and_then(|id| i32::try_from(id).ok());
        if let Some(process) = id.and_then(rustix::process::Pid::from_raw) {
            // The server may have exited.
            let _ = rustix::process::kill_process(process, rustix::process::Signal::TERM);
        }
    }

    /// Kills the server.
    pub async fn kill(&mut self) {
        self.child.kill().await.expect("a child can be killed");
    }

    fn last_words(&self) -> String {
        let stderr = self.stderr();
        if stderr.is_empty() {
            "(nothing on its stderr)".to_owned()
        } else {
            format!("its stderr:\n{stderr}")
        }
    }
}

/// How long a dropped client lets its server exit on its own, so that it can remove its files.
const EXIT_TIMEOUT: Duration = Duration::from_secs(5);

impl Drop for Client {
    fn drop(&mut self) {
        if let Ok(mut input) = self.input.try_lock() {
            input.take();
        }
        let start = Instant::now();
        while matches!(self.child.try_wait(), Ok(None)) {
            if start.elapsed() > EXIT_TIMEOUT {
                // `kill_on_drop` handles the rest.
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Pending {
    /// Returns the JSON-RPC id of the request, for `notifications/cancelled`.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Waits for the result.
    pub async fn answer(self) -> Result<Value, NoAnswer> {
        let message = match timeout(self.limit, self.answer).await {
            Ok(Ok(message)) => message,
            Ok(Err(_)) => return Err(NoAnswer::Ended),
            Err(_) => return Err(NoAnswer::Silent { waited: self.limit }),
        };
        match message.get("error") {
            None => Ok(message["result"].clone()),
            Some(error) => Err(NoAnswer::Refused {
                code: error["code"].as_i64().unwrap_or_default(),
                message: error["message"].as_str().unwrap_or_default().to_owned(),
                data: error["data"].clone(),
            }),
        }
    }
}

impl fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { code, message, .. } => write!(f, "refused with {code}: {message}"),
            Self::Silent { waited } => write!(f, "no answer within {waited:?}"),
            Self::Ended => write!(f, "the server ended before it answered"),
        }
    }
}

async fn send(input: &Input, line: &str) {
    if let Some(input) = input.lock().await.as_mut() {
        let sent = input.write_all(format!("{line}\n").as_bytes()).await;
        // If the server has exited, the result is `NoAnswer::Ended`.
        drop(sent);
        drop(input.flush().await);
    }
}

async fn read_messages(
    output: ChildStdout,
    shared: Arc<Shared>,
    input: Input,
    unmatched: mpsc::Sender<Value>,
    roots: Vec<String>,
    says: Option<Value>,
) {
    let mut lines = BufReader::new(output).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let Ok(message) = serde_json::from_str::<Value>(&line) else {
            shared.stray.lock().expect("not poisoned").push(line);
            continue;
        };
        let method = message.get("method").and_then(Value::as_str);
        let id = message.get("id").filter(|id| !id.is_null());
        match (method, id) {
            (Some(method), Some(id)) => {
                if method == "elicitation/create" {
                    let asked = message["params"].clone();
                    shared.asked.lock().expect("not poisoned").push(asked);
                }
                let answer = answer_server(method, id, &roots, says.as_ref());
                send(&input, &answer.to_string()).await;
            }
            (None, Some(id)) => {
                let waiter = id.as_u64().and_then(|id| {
                    shared
                        .waiting
                        .lock()
                        .expect("not poisoned")
                        .answers
                        .remove(&id)
                });
                match waiter {
                    Some(waiter) => drop(waiter.send(message)),
                    None => drop(unmatched.try_send(message)),
                }
            }
            _ => drop(unmatched.try_send(message)),
        }
    }
    let mut waiting = shared.waiting.lock().expect("not poisoned");
    waiting.ended = true;
    waiting.answers.clear();
}

/// Returns the client's response to a request of the server.
fn answer_server(method: &str, id: &Value, roots: &[String], says: Option<&Value>) -> Value {
    match method {
        "elicitation/create" => {
            let result = match says {
                Some(says) => json!({ "action": "accept", "content": says }),
                None => json!({ "action": "cancel" }),
            };
            json!({ "jsonrpc": "2.0", "id": id, "result": result })
        }
        "ping" => json!({ "jsonrpc": "2.0", "id": id, "result": {} }),
        "roots/list" => {
            let roots: Vec<_> = roots
                .iter()
                .map(|uri| json!({ "uri": uri, "name": "workspace" }))
                .collect();
            json!({ "jsonrpc": "2.0", "id": id, "result": { "roots": roots } })
        }
        _ => {
            json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32601, "message": "method not found" } })
        }
    }
}

async fn read_errors(mut errors: ChildStderr, shared: Arc<Shared>) {
    let mut buffer = vec![0; 8192];
    while let Ok(read @ 1..) = errors.read(&mut buffer).await {
        shared.stderr.send_modify(|text| {
            text.push_str(&String::from_utf8_lossy(&buffer[..read]));
        });
    }
    shared.stderr_ended.notify_one();
}
