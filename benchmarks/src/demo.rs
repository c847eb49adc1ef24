//! Demonstrations: controls an app through tool calls over stdio. Prints each call, a summary of its answer and its duration; fails if an
//! answer is not as expected.

use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};
use testkit::{Client, HttpServer, Launch, NotesApp, Site, eventually};

use crate::milliseconds;
use crate::script::{State, parse, run};

/// Whether the dashboard shows the calls, the screen and the requests of the session.
const IS_COMPLETE: &str = "() => document.querySelectorAll('#calls li').length > 5 \
    && document.querySelector('#screen').getContext('2d').getImageData(5, 5, 1, 1).data[3] > 0 \
    && document.querySelectorAll('#requests li').length > 1";

/// A customer in the example shop, with the `browser` tools.
pub(crate) async fn run_shop() -> Result<(), String> {
    let site = Site::start().await;
    let folder = std::path::absolute("target/demo").expect("a working directory");
    let receipt = folder.join("receipt.txt");
    let (invoice, screenshot) = (
        folder.join(".playwright-mcp/invoice.csv"),
        folder.join("shop.png"),
    );
    std::fs::create_dir_all(&folder).expect("target/ is writable");
    std::fs::write(&receipt, "one kettle, 24 €\n").expect("target/ is writable");
    let files = [&invoice, &screenshot];
    // A file of an earlier run would count.
    for file in files {
        drop(std::fs::remove_file(file));
    }
    let (site, receipt) = (&site.base_url(), &receipt.display().to_string());
    let state = State::new(&[("$SITE", site), ("$RECEIPT", receipt)]);
    let mut demo = Demo::start(crate::server(&[]).workspace(&folder), state).await;
    demo.run(include_str!("demo/shop.txt")).await;
    for file in files {
        demo.expect(file.is_file(), &format!("{} exists", file.display()));
    }
    println!("\nThe screenshot: {}", screenshot.display());
    demo.end().await
}

/// An agent that tests an app of two servers: it signs up, gets an error of the API with its log, corrects its data, restarts it, and passes.
pub(crate) async fn run_app() -> Result<(), String> {
    let app = NotesApp::copy();
    let server = |name: &str, script: &str, requires: &[&str]| {
        let args = ["app", "--name", name, "--", script];
        json!({ "command": crate::beside("playhouse"), "args": args, "requires": requires })
    };
    let servers = json!({
        "api": server("api", "npm run api", &[]),
        "web": server("web", "API_URL=$PLAYHOUSE_URL_API npm run dev", &["api"]),
    });
    let file = app.folder().join("playhouse.json");
    write(&file, &json!({ "devServers": servers }));
    let launch = crate::server(&["--config", &file.display().to_string()]);
    let mut demo = Demo::start(launch.workspace(app.folder()), State::default()).await;
    let parts = include_str!("demo/app.txt").split_once("---");
    let (before, after) = parts.expect("two parts");
    demo.run(before).await;
    let data = std::fs::read(app.database()).expect("the API has a database");
    let mut data: Value = serde_json::from_slice(&data).expect("the database is JSON");
    data["settings"] = json!({ "printer": "in the hall" });
    write(&app.database(), &data);
    demo.run(after).await;
    demo.end().await
}

fn write(file: &Path, value: &Value) {
    std::fs::write(file, value.to_string()).expect("the folder is writable");
}

/// Writes the screenshot of the dashboard in the documents, in which an agent buys something in the example shop.
pub(crate) async fn take_screenshot(file: &str) -> Result<(), String> {
    let site = Site::start().await;
    let server = crate::server(&["--toolsets=all", "--content-boundaries", "off"]);
    let server = HttpServer::start(server).await;
    let dashboard = format!("{}/dashboard", server.url());
    let mut state = State::new(&[("$SITE", &site.base_url()), ("$DASHBOARD", &dashboard)]);
    let mut parts = include_str!("demo/dashboard.txt").split("---");
    for call in parse(parts.next().expect("three parts")) {
        server.call(None, call.tool, call.arguments(&state)).await;
    }
    let user = crate::server(&["--toolsets=all", "--viewport-size=1360x820"]);
    let user = user.args(["--caps=vision"]).start().await;
    run(&user, parts.next().expect("three parts"), &mut state).await?;
    eventually(async || {
        let arguments = json!({ "function": IS_COMPLETE });
        user.call("browser_evaluate", arguments).await.result() == "true"
    })
    .await;
    run(&user, parts.next().expect("three parts"), &mut state).await?;
    let arguments = json!({ "filename": "dashboard.png", "type": "png" });
    let answer = user.call("browser_take_screenshot", arguments).await;
    let screenshot = answer.linked_file(&answer.text).ok_or(answer.text)?;
    let copied = std::fs::copy(screenshot, file);
    copied.map(drop).map_err(|error| format!("{file}: {error}"))
}

/// A client, and the results of its calls so far.
struct Demo {
    client: Client,
    state: State,
    /// The durations, in milliseconds.
    calls: Vec<f64>,
    faults: u32,
}

impl Demo {
    async fn start(server: Launch, state: State) -> Self {
        let start = Instant::now();
        let client = server.start().await;
        let (tools, spent) = (client.list_tools().await.len(), milliseconds(start));
        println!("{spent:>6.1} ms  initialize, tools/list  →  {tools} tools");
        let (calls, faults) = (Vec::new(), 0);
        Self {
            client,
            state,
            calls,
            faults,
        }
    }

    /// Makes the calls of a script.
    async fn run(&mut self, script: &str) {
        for call in parse(script) {
            if let Some(part) = call.part {
                println!("\n{part}");
            }
            let arguments = call.arguments(&self.state);
            let start = Instant::now();
            let answer = self.client.call(call.tool, arguments.clone()).await;
            let (tool, spent) = (call.tool, milliseconds(start));
            let mut lines = answer.text.lines();
            let line = lines.find(|line| !line.starts_with(['#', '<', '`']));
            let line = cut(line.unwrap_or_default(), 90);
            let arguments = cut(&arguments.to_string(), 60);
            println!("{spent:>6.1} ms  {tool:<25} {arguments}  →  {line}");
            self.calls.push(spent);
            for fault in call.faults(&mut self.state, &answer) {
                self.expect(false, &fault);
            }
        }
    }

    fn expect(&mut self, is_true: bool, what: &str) {
        if !is_true {
            self.faults += 1;
            println!("         ✗ {what}");
        }
    }

    /// Ends the server; fails unless everything was as expected.
    async fn end(self) -> Result<(), String> {
        let start = Instant::now();
        crate::sessions::end(self.client).await?;
        let (count, sum, ended) = (
            self.calls.len(),
            self.calls.iter().sum::<f64>(),
            milliseconds(start),
        );
        println!("{count} calls in {sum:.1} ms; server and browser ended after {ended:.1} ms");
        match self.faults {
            0 => Ok(()),
            faults => Err(format!("{faults} expectations failed")),
        }
    }
}

fn cut(text: &str, length: usize) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(length) {
        None => text,
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
