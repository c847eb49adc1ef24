//! The document of a fake page: the model of `document.js` in QuickJS, on a thread of its own.

use rquickjs::context::EvalOptions;
use rquickjs::{
    CatchResultExt as _, CaughtError, Coerced, Context, Ctx, Function, Object, Runtime,
};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Weak};
use tokio::sync::oneshot;
use url::{Position, Url};

/// An expression whose value is a function of the native functions and the facts about the document.
const DOCUMENT: &str = include_str!("document.js");
/// An expression whose value is a function of the model, which [`DOCUMENT`] calls.
const DOCUMENT_FUNCTIONS: &str = include_str!("functions.js");
/// The global variable with the functions that [`DOCUMENT`] returns.
const FUNCTIONS: &str = "__fakeDocument";
/// The size of the stack of JavaScript, and of the thread around it, in bytes.
const MAX_STACK: usize = 1024 * 1024;
const THREAD_STACK: usize = 4 * MAX_STACK;

/// The result of a function of the document: a text, or the text of an exception.
type Outcome = Result<String, String>;

/// The page of a document. Its functions are called on the thread of the document.
pub(super) trait Host: Send + Sync {
    /// Receives that the document was parsed.
    fn on_parsed(&self, facts: &Value);
    /// Receives that the document has handled `load`.
    fn on_loaded(&self, facts: &Value);
    /// Receives a console message as JSON.
    fn on_console(&self, message: &str);
    /// Opens a dialog and waits. Returns the answer as JSON: null, or the text of the dialog.
    fn on_dialog(&self, kind: &str, message: String, default_value: String) -> String;
    /// Opens a file chooser.
    fn on_file_chooser(&self, multiple: bool);
    /// Begins a navigation.
    fn on_navigation(&self, url: String);
    /// Receives that the URL changed within the document.
    fn on_move(&self, url: String);
    /// Opens another page.
    fn on_popup(&self, url: String);
    /// Sets a cookie of the document, if it is not empty. Returns all cookies.
    fn on_cookie(&self, cookie: &str) -> String;
    /// Receives the entries of a storage area as JSON.
    fn on_store(&self, area: &str, entries: &str);
    /// Settles a promise after some time.
    fn on_sleep(&self, call: u32, ms: f64, inbox: Sender<Message>);
    /// Settles a promise with the response to a request, which is JSON.
    fn on_fetch(&self, call: u32, request: &str, inbox: Sender<Message>);
}

/// A message to the thread.
pub(super) enum Message {
    /// Replaces the document by one with these facts and this source.
    Load { facts: Value, html: String },
    /// Calls a function.
    Call {
        function: &'static str,
        arguments: Vec<String>,
        outcome: oneshot::Sender<Outcome>,
    },
    /// Settles a promise for something outside of the document.
    Settle { call: u32, outcome: Outcome },
    /// Ends the thread.
    End,
}

/// The document that a page shows. The thread ends when this is dropped.
pub(super) struct Document {
    inbox: Sender<Message>,
    is_terminated: Arc<AtomicBool>,
}

impl Document {
    /// Starts the thread of a page.
    pub(super) fn start(page: Weak<dyn Host>) -> std::io::Result<Self> {
        let (inbox, messages) = channel();
        let is_terminated = Arc::<AtomicBool>::default();
        let thread = Thread {
            page,
            inbox: inbox.clone(),
            is_terminated: is_terminated.clone(),
        };
        std::thread::Builder::new()
            .name("fake page".to_owned())
            .stack_size(THREAD_STACK)
            .spawn(move || {
                if let Err(error) = thread.run(&messages) {
                    tracing::error!(%error, "a fake page ends");
                }
            })?;
        Ok(Self {
            inbox,
            is_terminated,
        })
    }

    pub(super) fn send(&self, message: Message) {
        let _ = self.inbox.send(message);
    }

    /// Calls a function of the document; `None` if the document was replaced before it returned.
    pub(super) async fn call(
        &self,
        function: &'static str,
        arguments: Vec<String>,
    ) -> Option<Outcome> {
        let (outcome, result) = oneshot::channel();
        self.send(Message::Call {
            function,
            arguments,
            outcome,
        });
        result.await.ok()
    }

    /// Ends the script that runs.
    pub(super) fn terminate(&self) {
        self.is_terminated.store(true, Ordering::Relaxed);
    }
}

impl Drop for Document {
    fn drop(&mut self) {
        self.terminate();
        self.send(Message::End);
    }
}

struct Thread {
    page: Weak<dyn Host>,
    inbox: Sender<Message>,
    is_terminated: Arc<AtomicBool>,
}

type Callers = HashMap<u32, oneshot::Sender<Outcome>>;

impl Thread {
    fn run(&self, messages: &Receiver<Message>) -> rquickjs::Result<()> {
        let runtime = Runtime::new()?;
        runtime.set_max_stack_size(MAX_STACK);
        let is_terminated = self.is_terminated.clone();
        runtime.set_interrupt_handler(Some(Box::new(move || {
            is_terminated.load(Ordering::Relaxed)
        })));
        let callers = Arc::<std::sync::Mutex<Callers>>::default();
        let mut context = Context::full(&runtime)?;
        let mut calls = 0;
        for message in messages {
            match message {
                Message::End => break,
                Message::Load { facts, html } => {
                    callers.lock().expect("not poisoned").clear();
                    context = Context::full(&runtime)?;
                    context.with(|ctx| self.load(&ctx, &callers, &facts, html))?;
                }
                Message::Call {
                    function,
                    arguments,
                    outcome,
                } => {
                    calls += 1;
                    callers.lock().expect("not poisoned").insert(calls, outcome);
                    let arguments = Value::from(arguments).to_string();
                    context.with(|ctx| call(&ctx, "invoke", (calls, function, arguments)));
                }
                Message::Settle { call: id, outcome } => context.with(|ctx| {
                    let is_resolved = outcome.is_ok();
                    let value = outcome.unwrap_or_else(|error| error);
                    call(&ctx, "settle", (id, is_resolved, value));
                }),
            }
            while runtime.execute_pending_job().is_ok_and(|ran| ran) {}
            // A termination ends the script that runs, not the next one.
            if self.is_terminated.swap(false, Ordering::Relaxed) {
                callers.lock().expect("not poisoned").clear();
            }
        }
        Ok(())
    }

    fn load(
        &self,
        ctx: &Ctx<'_>,
        callers: &Arc<std::sync::Mutex<Callers>>,
        facts: &Value,
        html: String,
    ) -> rquickjs::Result<()> {
        let native = self.native(ctx, callers)?;
        let create: Function<'_> = ctx.eval(DOCUMENT)?;
        let functions_of: Function<'_> = ctx.eval(DOCUMENT_FUNCTIONS)?;
        let facts_object: rquickjs::Value<'_> = ctx.json_parse(facts.to_string())?;
        let functions: Object<'_> = create.call((native, facts_object, functions_of))?;
        ctx.globals().set(FUNCTIONS, functions)?;
        call(ctx, "load", (html,));
        let Some(page) = self.page.upgrade() else {
            return Ok(());
        };
        call(ctx, "fire", ("DOMContentLoaded",));
        page.on_parsed(facts);
        call(ctx, "fire", ("load",));
        page.on_loaded(facts);
        Ok(())
    }

    /// Returns the functions that `document.js` calls.
    fn native<'js>(
        &self,
        ctx: &Ctx<'js>,
        callers: &Arc<std::sync::Mutex<Callers>>,
    ) -> rquickjs::Result<Object<'js>> {
        let native = Object::new(ctx.clone())?;
        let callers = callers.clone();
        let reply = move |call: u32, is_value: bool, text: String| {
            let caller = callers.lock().expect("not poisoned").remove(&call);
            let outcome = if is_value { Ok(text) } else { Err(text) };
            let _ = caller.map(|caller| caller.send(outcome));
        };
        native.set("reply", Function::new(ctx.clone(), reply)?)?;
        let run = |ctx: Ctx<'js>, script: String| -> Option<String> {
            let ran = evaluate(&ctx, script).catch(&ctx);
            ran.err().map(|error| error_text(&error))
        };
        native.set("run", Function::new(ctx.clone(), run)?)?;
        let evaluate = |ctx: Ctx<'js>, script: String| evaluate(&ctx, script);
        native.set("evaluate", Function::new(ctx.clone(), evaluate)?)?;
        let parse = |url: String, base: String| parts(&url, &base).to_string();
        native.set("parse", Function::new(ctx.clone(), parse)?)?;

        macro_rules! on_page {
            ($($name:literal: |$page:ident $(, $argument:ident: $type:ty)*| $work:expr;)*) => {
                $(
                    let page = self.page.clone();
                    let call = move |$($argument: $type),*| {
                        let $page = page.upgrade();
                        $page.map(|$page| $work).unwrap_or_default()
                    };
                    native.set($name, Function::new(ctx.clone(), call)?)?;
                )*
            };
        }
        let (sleeper, fetcher) = (self.inbox.clone(), self.inbox.clone());
        on_page! {
            "report": |page, event: String| page.on_console(&event);
            "dialog": |page, kind: String, message: String, value: String| page.on_dialog(&kind, message, value);
            "choose": |page, multiple: bool| page.on_file_chooser(multiple);
            "navigate": |page, url: String| page.on_navigation(url);
            "move": |page, url: String| page.on_move(url);
            "open": |page, url: String| page.on_popup(url);
            "cookie": |page, cookie: String| page.on_cookie(&cookie);
            "store": |page, area: String, entries: String| page.on_store(&area, &entries);
            "sleep": |page, call: u32, ms: f64| page.on_sleep(call, ms, sleeper.clone());
            "fetch": |page, call: u32, request: String| page.on_fetch(call, &request, fetcher.clone());
        }
        Ok(native)
    }
}

/// Runs a script as those of a document, which are not strict.
fn evaluate<'js>(ctx: &Ctx<'js>, script: String) -> rquickjs::Result<rquickjs::Value<'js>> {
    let mut options = EvalOptions::default();
    options.strict = false;
    ctx.eval_with_options(script, options)
}

/// Calls a function of the document without a result.
fn call<'js, A: rquickjs::function::IntoArgs<'js>>(ctx: &Ctx<'js>, name: &str, arguments: A) {
    let called = || -> rquickjs::Result<()> {
        let functions: Object<'js> = ctx.globals().get(FUNCTIONS)?;
        functions.get::<_, Function<'js>>(name)?.call(arguments)
    };
    if let Err(error) = called().catch(ctx) {
        tracing::error!(
            name,
            error = error_text(&error),
            "a function of a fake page failed"
        );
    }
}

/// Formats an error like `String(error)`.
fn error_text(error: &CaughtError<'_>) -> String {
    match error {
        CaughtError::Exception(exception) => {
            let text = |name: &str| exception.get::<_, Coerced<String>>(name).map(|text| text.0);
            let name = text("name").unwrap_or_default();
            format!("{name}: {}", text("message").unwrap_or_default())
        }
        CaughtError::Value(value) => value
            .get::<Coerced<String>>()
            .map_or_else(|_| String::new(), |text| text.0),
        CaughtError::Error(error) => error.to_string(),
    }
}

/// Returns the parts of a URL by their names in `Location`; null if it is not valid.
fn parts(url: &str, base: &str) -> Value {
    let base = Url::parse(base).ok();
    let Ok(url) = Url::options().base_url(base.as_ref()).parse(url) else {
        return Value::Null;
    };
    json!({
        "href": url.as_str(),
        "origin": url.origin().ascii_serialization(),
        "protocol": format!("{}:", url.scheme()),
        "host": &url[Position::BeforeHost..Position::AfterPort],
        "hostname": url.host_str().unwrap_or_default(),
        "port": &url[Position::BeforePort..Position::AfterPort],
        "pathname": url.path(),
        "search": url.query().filter(|query| !query.is_empty()).map_or_else(String::new, |query| format!("?{query}")),
        "hash": url.fragment().filter(|hash| !hash.is_empty()).map_or_else(String::new, |hash| format!("#{hash}")),
    })
}
