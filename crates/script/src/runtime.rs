//! The JavaScript engine: QuickJS on its own thread, with the API of `crates/script/api` and without knowledge of browsers.
//!
//! The thread waits for messages and runs the code that they trigger. Requests of the code and their results are JSON messages.

use super::module;
use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_STANDARD_NO_PAD};
use rquickjs::context::EvalOptions;
use rquickjs::{
    ArrayBuffer, CatchResultExt as _, CaughtError, Coerced, Context, Ctx, Exception, Function,
    Module, Object, Persistent, Runtime, Value,
};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// The API: an expression whose value is a function of the functions of [`native`], the page, and the timeouts.
const API: &str = include_str!("../api/dist/api.js");

/// The largest size of the code and its data, in bytes.
const MAX_MEMORY: usize = 64 * 1024 * 1024;
/// The size of the JavaScript stack, and of the thread's own stack around it, in bytes.
const MAX_STACK: usize = 1024 * 1024;
const THREAD_STACK: usize = 4 * MAX_STACK;

/// The client code.
#[derive(Debug, Clone)]
pub(super) enum Program {
    /// An expression whose value is a function of the page.
    Function { name: String, code: String },
    /// A module whose default export is a function of `{ page }`.
    Module { name: String, source: String },
}

/// The initial state of the code.
#[derive(Debug, Clone)]
pub(super) struct Start {
    /// The client code.
    pub(super) program: Program,
    /// The id of the page that the function receives.
    pub(super) page: String,
    /// The default timeout of actions.
    pub(super) action: Duration,
    /// The default timeout of navigations.
    pub(super) navigation: Duration,
    /// How long the code may compute without waiting.
    pub(super) burst: Duration,
}

/// A message to the thread.
#[derive(Debug)]
pub(super) enum Message {
    /// The result of a call, as JSON.
    Settled { call: u32, outcome: String },
    /// An event of a page, as JSON.
    Happened(String),
    /// An event about an intercepted request, which does not count against the limit of events.
    Routed(String),
}

/// A message of the thread.
#[derive(Debug)]
pub(super) enum Report {
    /// A request of the code, as JSON.
    Call { call: u32, request: String },
    /// A console line.
    Printed { level: String, text: String },
    /// An unhandled error.
    Unhandled(String),
    /// The function has ended.
    Ended(Ended),
    /// The code was stopped.
    Stopped(Stopped),
}

/// The result of a function.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Ended {
    /// A value as JSON; `None` for a value that JSON cannot represent.
    Value(Option<String>),
    /// With an error.
    Error { message: String },
}

/// Why code was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stopped {
    /// The code computed for so long without waiting.
    Computed(Duration),
    /// The code was cancelled.
    Unwanted,
}

/// The longest part of a printed line that is kept, in bytes: queued lines do not count against the engine's memory limit.
const MAX_LINE_BYTES: usize = 64 * 1024;

fn bounded(mut text: String) -> String {
    if text.len() > MAX_LINE_BYTES {
        let left_out = text.len() - MAX_LINE_BYTES;
        text.truncate(text.floor_char_boundary(MAX_LINE_BYTES));
        text += &format!("… ({left_out} more bytes)");
        text.shrink_to_fit();
    }
    text
}

/// Executes synchronous requests, JSON to JSON.
pub(super) type SyncQuery = Arc<dyn Fn(&str) -> String + Send + Sync>;

/// Starts the thread. It ends when the code has ended and waits for nothing, or when `stop` is set and the sender of `inbox` is dropped.
pub(super) fn start(
    start: Start,
    query: SyncQuery,
    reports: mpsc::Sender<Report>,
    inbox: Receiver<Message>,
    behind: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
) -> std::io::Result<()> {
    let inbox = Inbox {
        messages: inbox,
        behind,
    };
    std::thread::Builder::new()
        .name("script".to_owned())
        .stack_size(THREAD_STACK)
        .spawn(move || {
            let interrupt = Rc::new(InterruptHandler {
                stop,
                until: Cell::new(Instant::now()),
                burst: start.burst,
                pulled: Cell::new(None),
            });
            if let Err(error) = run(&start, &query, &reports, &inbox, &interrupt) {
                let message = error.to_string();
                let _ = reports.blocking_send(Report::Ended(Ended::Error { message }));
            }
        })
        .map(drop)
}

/// The messages to the thread, and the number of events among them.
struct Inbox {
    messages: Receiver<Message>,
    behind: Arc<AtomicUsize>,
}

impl Inbox {
    /// Waits for the next message; `None` if there are no senders.
    fn next(&self) -> Option<Message> {
        let message = self.messages.recv().ok()?;
        if matches!(message, Message::Happened(_)) {
            self.behind.fetch_sub(1, Ordering::Relaxed);
        }
        Some(message)
    }
}

/// Stops code that computes for too long, or that was cancelled.
struct InterruptHandler {
    stop: Arc<AtomicBool>,
    until: Cell<Instant>,
    burst: Duration,
    pulled: Cell<Option<Stopped>>,
}

impl InterruptHandler {
    /// Restarts the time limit before code runs.
    fn reset(&self) {
        self.until.set(Instant::now() + self.burst);
    }

    /// Returns whether the code must stop.
    fn should_stop(&self) -> bool {
        if self.stop.load(Ordering::Relaxed) {
            self.pulled.set(Some(Stopped::Unwanted));
        } else if Instant::now() > self.until.get() {
            self.pulled.set(Some(Stopped::Computed(self.burst)));
        }
        self.pulled.get().is_some()
    }
}

/// The functions of the API that Rust calls.
struct Api<'js> {
    start: Function<'js>,
    settle: Function<'js>,
    dispatch: Function<'js>,
    is_idle: Function<'js>,
    report_rejections: Function<'js>,
}

/// The tracker of rejected promises, also of those that are handled later.
type Rejected = Rc<RefCell<Option<Persistent<Function<'static>>>>>;

fn run(
    start: &Start,
    query: &SyncQuery,
    reports: &mpsc::Sender<Report>,
    inbox: &Inbox,
    interrupt: &Rc<InterruptHandler>,
) -> rquickjs::Result<()> {
    let runtime = Runtime::new()?;
    runtime.set_memory_limit(MAX_MEMORY);
    runtime.set_max_stack_size(MAX_STACK);
    let handler = interrupt.clone();
    runtime.set_interrupt_handler(Some(Box::new(move || handler.should_stop())));
    let rejected = Rejected::default();
    let heard = rejected.clone();
    runtime.set_host_promise_rejection_tracker(Some(Box::new(
        move |ctx, promise, reason, handled| {
            let Some(rejected) = heard.borrow().clone() else {
                return;
            };
            let recorded = rejected
                .restore(&ctx)
                .and_then(|rejected| rejected.call::<_, ()>((promise, reason, handled)));
            if recorded.is_err() {
                ctx.catch();
            }
        },
    )));
    let context = Context::full(&runtime)?;
    let outcome =
        context.with(|ctx| live(&ctx, start, query, reports, inbox, interrupt, &rejected));
    // Persistent values must be dropped before their runtime.
    rejected.borrow_mut().take();
    outcome
}

fn live(
    ctx: &Ctx<'_>,
    start: &Start,
    query: &SyncQuery,
    reports: &mpsc::Sender<Report>,
    inbox: &Inbox,
    interrupt: &Rc<InterruptHandler>,
    rejected: &Rejected,
) -> rquickjs::Result<()> {
    let ended = Rc::new(Cell::new(false));
    interrupt.reset();
    let api = api(ctx, start, query, reports, &ended, rejected)?;
    match function(ctx, &start.program) {
        Ok(code) => {
            let module = matches!(start.program, Program::Module { .. });
            let started = api.start.call::<_, ()>((code, module)).catch(ctx);
            // An exception of the code is its result; an interruption is detected below.
            if let (Err(error), None) = (started, interrupt.pulled.get()) {
                let message = error_text(&error);
                let _ = reports.blocking_send(Report::Ended(Ended::Error { message }));
                return Ok(());
            }
        }
        Err(error) => {
            let message = error_text(&error);
            let _ = reports.blocking_send(Report::Ended(Ended::Error { message }));
            return Ok(());
        }
    }
    loop {
        turn(ctx, interrupt);
        if let Some(stopped) = interrupt.pulled.get() {
            let _ = reports.blocking_send(Report::Stopped(stopped));
            return Ok(());
        }
        if api.report_rejections.call::<_, ()>(()).is_err() {
            ctx.catch();
        }
        if ended.get() && api.is_idle.call::<_, bool>(()).unwrap_or(true) {
            return Ok(());
        }
        let Some(message) = inbox.next() else {
            return Ok(());
        };
        interrupt.reset();
        let handled = match message {
            Message::Settled { call, outcome } => api.settle.call::<_, ()>((call, outcome)),
            Message::Happened(event) | Message::Routed(event) => {
                api.dispatch.call::<_, ()>((event,))
            }
        };
        if let Err(error) = handled.catch(ctx) {
            let _ = reports.blocking_send(Report::Unhandled(error_text(&error)));
        }
    }
}

/// Runs all pending jobs.
fn turn(ctx: &Ctx<'_>, interrupt: &InterruptHandler) {
    // Jobs that create jobs are equivalent to a loop.
    while interrupt.pulled.get().is_none() && !interrupt.should_stop() && ctx.execute_pending_job()
    {
    }
}

/// Returns the value of an expression, or the default export of a module.
fn function<'js>(ctx: &Ctx<'js>, program: &Program) -> Result<Value<'js>, CaughtError<'js>> {
    match program {
        Program::Function { name, code } => {
            let mut options = EvalOptions::default();
            options.filename = Some(name.clone());
            let code = format!("(\n{code}\n)");
            ctx.eval_with_options::<Value<'_>, _>(code, options)
                .catch(ctx)
        }
        Program::Module { source, .. } if module::is_common(source) => {
            let load = || {
                let text = format!(
                    "((module) => {{ ((module, exports) => {{\n{source}\n}})(module, module.exports); return module.exports?.default ?? module.exports; }})({{ exports: {{}} }})"
                );
                ctx.eval::<Value<'_>, _>(text)
            };
            load().catch(ctx)
        }
        Program::Module { name, source } => {
            let load = || {
                let source = module::untyped(source);
                let module = Module::declare(ctx.clone(), name.as_str(), source)?;
                let (module, loaded) = module.eval()?;
                loaded.finish::<()>()?;
                module.namespace()?.get::<_, Value<'_>>("default")
            };
            load().catch(ctx)
        }
    }
}

/// Formats an error like `String(error)`.
fn error_text(error: &CaughtError<'_>) -> String {
    match error {
        CaughtError::Exception(exception) => {
            let object = exception.as_object();
            let part = |name: &str| object.get::<_, Coerced<String>>(name).map(|text| text.0);
            let name = part("name").unwrap_or_else(|_| "Error".to_owned());
            match part("message").unwrap_or_default() {
                message if message.is_empty() => name,
                message => format!("{name}: {message}"),
            }
        }
        CaughtError::Value(value) => value
            .get::<Coerced<String>>()
            .map_or_else(|_| "an error that has no words".to_owned(), |text| text.0),
        CaughtError::Error(error) => error.to_string(),
    }
}

/// Loads the API into a context, and sets the rejection tracker.
fn api<'js>(
    ctx: &Ctx<'js>,
    start: &Start,
    query: &SyncQuery,
    reports: &mpsc::Sender<Report>,
    ended: &Rc<Cell<bool>>,
    rejected: &Rejected,
) -> rquickjs::Result<Api<'js>> {
    let made = load(ctx, native(ctx, query, reports, ended)?, start)?;
    let heard: Function<'js> = made.get("trackRejection")?;
    *rejected.borrow_mut() = Some(Persistent::save(ctx, heard));
    Ok(Api {
        start: made.get("start")?,
        settle: made.get("settle")?,
        dispatch: made.get("dispatch")?,
        is_idle: made.get("isIdle")?,
        report_rejections: made.get("reportRejections")?,
    })
}

fn load<'js>(ctx: &Ctx<'js>, native: Object<'js>, start: &Start) -> rquickjs::Result<Object<'js>> {
    let timeouts = Object::new(ctx.clone())?;
    timeouts.set("action", millis(start.action))?;
    timeouts.set("navigation", millis(start.navigation))?;
    let load: Function<'js> = ctx.eval(API)?;
    let (Program::Function { name, .. } | Program::Module { name, .. }) = &start.program;
    load.call((native, start.page.as_str(), timeouts, name.as_str()))
}

/// Returns the methods and properties of each object of the API, by name.
pub(super) fn surface() -> rquickjs::Result<Vec<(String, Vec<String>)>> {
    let context = Context::full(&Runtime::new()?)?;
    context.with(|ctx| {
        let start = Start {
            program: Program::Function {
                name: String::new(),
                code: String::new(),
            },
            page: String::new(),
            action: Duration::ZERO,
            navigation: Duration::ZERO,
            burst: Duration::ZERO,
        };
        let query: SyncQuery = Arc::new(|_| String::new());
        let (reports, _) = mpsc::channel(1);
        let native = native(&ctx, &query, &reports, &Rc::default())?;
        let surface: Function<'_> = load(&ctx, native, &start)?.get("surface")?;
        let text: String = surface.call(())?;
        Ok(serde_json::from_str(&text).unwrap_or_default())
    })
}

/// Returns the functions that `native.d.ts` of the API declares.
fn native<'js>(
    ctx: &Ctx<'js>,
    query: &SyncQuery,
    reports: &mpsc::Sender<Report>,
    ended: &Rc<Cell<bool>>,
) -> rquickjs::Result<Object<'js>> {
    let native = Object::new(ctx.clone())?;
    let out = reports.clone();
    native.set(
        "call",
        Function::new(ctx.clone(), move |call: u32, request: String| {
            let _ = out.blocking_send(Report::Call { call, request });
        })?,
    )?;
    let query = query.clone();
    native.set(
        "query",
        Function::new(ctx.clone(), move |request: String| query(&request))?,
    )?;
    let out = reports.clone();
    native.set(
        "print",
        Function::new(ctx.clone(), move |level: String, text: String| {
            let text = bounded(text);
            let _ = out.blocking_send(Report::Printed { level, text });
        })?,
    )?;
    let out = reports.clone();
    native.set(
        "unhandled",
        Function::new(ctx.clone(), move |text: String| {
            let _ = out.blocking_send(Report::Unhandled(bounded(text)));
        })?,
    )?;
    let (out, ended) = (reports.clone(), ended.clone());
    native.set(
        "ended",
        Function::new(ctx.clone(), move |outcome: String| {
            ended.set(true);
            if let Ok(outcome) = serde_json::from_str(&outcome) {
                let _ = out.blocking_send(Report::Ended(outcome));
            }
        })?,
    )?;
    native.set("url", Function::new(ctx.clone(), url)?)?;
    native.set("bytes", Function::new(ctx.clone(), bytes)?)?;
    native.set("base64", Function::new(ctx.clone(), base64)?)?;
    native.set("utf8", Function::new(ctx.clone(), utf8)?)?;
    Ok(native)
}

fn url(request: String) -> String {
    super::url::answer(&request)
}

/// Decodes base64 in either of its alphabets.
fn bytes<'js>(ctx: Ctx<'js>, text: String) -> rquickjs::Result<ArrayBuffer<'js>> {
    let plain: String = text
        .chars()
        .filter_map(|char| match char {
            '-' => Some('+'),
            '_' => Some('/'),
            char => (!char.is_whitespace() && char != '=').then_some(char),
        })
        .collect();
    match BASE64_STANDARD_NO_PAD.decode(plain) {
        Ok(bytes) => ArrayBuffer::new(ctx, bytes),
        Err(_) => Err(Exception::throw_message(&ctx, "Invalid base64")),
    }
}

/// Encodes a string with one character per byte.
fn base64(data: String) -> String {
    BASE64_STANDARD.encode(octets(&data))
}

fn utf8(data: String) -> String {
    String::from_utf8_lossy(&octets(&data)).into_owned()
}

fn octets(data: &str) -> Vec<u8> {
    data.chars()
        .filter_map(|char| u8::try_from(char).ok())
        .collect()
}

/// Returns milliseconds.
fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1_000.0
}
