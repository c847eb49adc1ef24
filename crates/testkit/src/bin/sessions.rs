//! Many concurrent sessions: each is created, shops in the example shop with a name of its own, sees no data of the others, and is closed.
//! Prints a table with a line for each session; fails if an answer is not as expected.
//!
//! `sessions [COUNT]`: that many concurrent ones, by default 8. `sessions --soak [COUNT]`: by default 2,000, 16 at a time; fails if the
//! server's memory is over a fifth larger at the end than after the first 200, or resources are left.
#![expect(clippy::print_stdout, reason = "it is a show")]

use std::process::ExitCode;
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use serde_json::{Value, json};
use testkit::process_stats::{Depth, MARK, ProcessStats, fresh_mark};
use testkit::{Client, Launch, Site};

/// The number of concurrent sessions in a soak.
const AT_ONCE: usize = 16;
/// The number of sessions after which the memory is the reference.
const GROWN: usize = 200;
/// The largest ratio of the final memory to the reference.
const GROWTH: f64 = 1.20;
/// How long the server is idle before it is measured.
const REST: Duration = Duration::from_secs(3);

#[tokio::main]
async fn main() -> ExitCode {
    let mut args = std::env::args().skip(1).peekable();
    let soaks = args.next_if(|arg| arg == "--soak").is_some();
    let usual = if soaks { 2_000 } else { 8 };
    let count = args.next().and_then(|count| count.parse().ok());
    let count = count.unwrap_or(usual).max(1);
    let site = Site::start().await;
    site.add_page(
        "/work",
        "<!doctype html><title>Work</title><h1 id=output>empty</h1><label>Name <input id=name></label>
<button onclick=\"localStorage.name = document.cookie = document.getElementById('name').value;
document.getElementById('output').textContent = [document.cookie, ...Object.values(localStorage)].join()\">Tell</button>",
    );
    let outcome = match soaks {
        true => soak(&site, count).await,
        false => side_by_side(&site, count).await,
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            println!("✗ {why}");
            ExitCode::FAILURE
        }
    }
}

fn server(most: usize) -> Launch {
    let beside = std::env::current_exe().expect("a program knows where it is");
    Launch::new(beside.with_file_name("playhouse"))
        .args(["--headless", "--isolated", "--toolsets", "session"])
        .args(["--max-sessions".to_owned(), most.to_string()])
        .limit(Duration::from_secs(60))
}

/// The result of one session.
struct Done {
    id: String,
    browser: String,
    said: String,
    created: Duration,
    worked: Duration,
}

async fn side_by_side(site: &Site, count: usize) -> Result<(), String> {
    let (mark, _folder) = fresh_mark();
    let client = server(count).env(MARK, &mark).start().await;
    let start = Instant::now();
    // The first one launches the browser that the others share.
    let mut begun = vec![begin(&client, 1).await?];
    let before = ProcessStats::take(&mark, Depth::Memory).servers.memory;
    let more = (2..=count).map(|number| begin(&client, number));
    for more in futures_util::future::join_all(more).await {
        begun.push(more?);
    }
    let all = start.elapsed();
    let idle = ProcessStats::take(&mark, Depth::Memory).servers.memory;
    let start = Instant::now();
    let work = begun.into_iter().map(|begun| work(&client, site, begun));
    let done = futures_util::future::join_all(work).await;
    let took = all + start.elapsed();
    println!(
        "| session                              | browser | created    | worked     | saw itself as |"
    );
    println!(
        "|--------------------------------------|--------:|-----------:|-----------:|---------------|"
    );
    let mut alone = Duration::ZERO;
    for done in done {
        let done = done?;
        alone += done.created + done.worked;
        println!(
            "| {} | {:>7} | {:>10} | {:>10} | {:<13} |",
            done.id,
            done.browser,
            milliseconds(done.created),
            milliseconds(done.worked),
            done.said
        );
    }
    println!(
        "\n{count} sessions, 8 calls each, in {}; one after the other it would have been about {}",
        milliseconds(took),
        milliseconds(alone)
    );
    if count > 1 {
        println!(
            "all of them were there after {}; each needed {:.0} kB of the server while it was idle",
            milliseconds(all),
            idle.saturating_sub(before) as f64 / 1024.0 / (count - 1) as f64
        );
    }
    ended(client).await
}

async fn soak(site: &Site, count: usize) -> Result<(), String> {
    let (mark, temporary) = fresh_mark();
    let client = server(AT_ONCE)
        .env(MARK, &mark)
        .env("TMPDIR", &temporary.path().display().to_string())
        .start()
        .await;
    println!("| sessions | seconds | server MB | open files | processes | browser processes |");
    println!("|---------:|--------:|----------:|-----------:|----------:|------------------:|");
    let start = Instant::now();
    let (mut done, mut grown) = (0, None);
    let mut last = 0;
    while done < count {
        let more = GROWN.min(count - done);
        let work = (done + 1..=done + more).map(|number| session(&client, site, number));
        let mut working = futures_util::stream::iter(work).buffer_unordered(AT_ONCE);
        while let Some(session) = working.next().await {
            session?;
        }
        done += more;
        tokio::time::sleep(REST).await;
        let stats = ProcessStats::take(&mark, Depth::Memory);
        last = stats.servers.memory;
        println!(
            "| {done:>8} | {:>7.0} | {:>9.1} | {:>10} | {:>9} | {:>17} |",
            start.elapsed().as_secs_f64(),
            last as f64 / (1024.0 * 1024.0),
            stats.servers.files,
            stats.servers.pids.len(),
            stats.browsers.pids.len()
        );
        grown.get_or_insert(last);
    }
    let left = call(&client, "list_sessions", json!({})).await?;
    if left["sessions"] != json!([]) {
        return Err(format!("sessions are left over: {left}"));
    }
    ended(client).await?;
    let processes = ProcessStats::take(&mark, Depth::Quick).pids().count();
    let files = std::fs::read_dir(temporary.path()).map_or(0, Iterator::count);
    let growth = last as f64 / grown.unwrap_or(last) as f64;
    println!(
        "\nMemory at the end is {growth:.2} of that in the first row; {processes} processes and {files} temporary files are left."
    );
    match growth <= GROWTH && processes == 0 && files == 0 {
        true => Ok(()),
        false => Err(format!("that is more than {GROWTH}, or not nothing")),
    }
}

/// A session that was created and not used.
struct Begun {
    id: String,
    name: String,
    took: Duration,
}

/// Runs one session from its creation to its end.
async fn session(client: &Client, site: &Site, number: usize) -> Result<Done, String> {
    let begun = begin(client, number).await?;
    work(client, site, begun).await
}

async fn begin(client: &Client, number: usize) -> Result<Begun, String> {
    let start = Instant::now();
    let session = call(client, "create_session", json!({})).await?;
    Ok(Begun {
        took: start.elapsed(),
        id: session["sessionId"].as_str().unwrap_or_default().to_owned(),
        name: format!("agent{number}"),
    })
}

async fn work(client: &Client, site: &Site, begun: Begun) -> Result<Done, String> {
    let start = Instant::now();
    let Begun { id, name, took } = begun;
    let list = call(client, "list_sessions", json!({})).await?;
    let listed = list["sessions"].as_array().into_iter().flatten();
    let home = listed
        .into_iter()
        .find(|listed| listed["id"] == id.as_str());
    let browser = home.map_or_else(String::new, |home| home["browserId"].to_string());
    for (tool, mut arguments) in [
        ("navigate", json!({ "url": site.url("/work") })),
        ("fill", json!({ "selector": "#name", "value": name })),
        ("click", json!({ "selector": "button" })),
        (
            "wait_for_selector",
            json!({ "selector": format!("text={name}") }),
        ),
    ] {
        arguments["sessionId"] = id.as_str().into();
        call(client, tool, arguments).await?;
    }
    let output = json!({ "sessionId": id, "selector": "#output" });
    let output = call(client, "get_text", output).await?;
    let said = output["text"].as_str().unwrap_or_default();
    if said != format!("{name},{name}") {
        return Err(format!("{name} sees {said:?}"));
    }
    call(client, "close_session", json!({ "sessionId": id })).await?;
    Ok(Done {
        id,
        browser,
        said: name,
        created: took,
        worked: start.elapsed(),
    })
}

async fn call(client: &Client, tool: &str, arguments: Value) -> Result<Value, String> {
    let answer = client.try_call(tool, arguments.clone()).await;
    let answer = answer.map_err(|why| format!("{tool}: {why}"))?;
    match answer.is_error {
        false => Ok(answer.raw["structuredContent"].clone()),
        true => Err(format!("{tool} {arguments}: {}", answer.text)),
    }
}

async fn ended(client: Client) -> Result<(), String> {
    let stray = client.stray_lines();
    if !stray.is_empty() {
        return Err(format!("stdout carries more than messages: {stray:?}"));
    }
    match client.end().await.success() {
        true => Ok(()),
        false => Err("the server did not exit well".to_owned()),
    }
}

fn milliseconds(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1000.0)
}
