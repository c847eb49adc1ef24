//! Ten thousand calls of mixed work in one server, as fast as possible. Fails if the server's memory is over a tenth larger at the end than
//! after the first thousand, or the server has more processes, open files or temporary files then.
//!
//! `soak [CALLS] [--output FILE] [COMMAND…]`: by default 10,000 calls to the `playhouse` beside this program. The table is also written to
//! the file.
#![expect(clippy::print_stdout, reason = "it reports")]

mod work;

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use serde_json::json;
use testkit::process_stats::{Depth, MARK, ProcessStats, entries, fresh_mark};
use testkit::{Client, Launch, Site};

/// The number of calls after which the memory is the reference.
const GROWN: usize = 1000;
/// The largest ratio of the final memory to the reference.
const GROWTH: f64 = 1.10;
/// How long the server is idle before it is measured.
const REST: Duration = Duration::from_secs(3);

#[tokio::main]
async fn main() -> ExitCode {
    let mut args = std::env::args().skip(1).peekable();
    let calls = args.next_if(|arg| arg.parse::<usize>().is_ok());
    let calls = calls.and_then(|calls| calls.parse().ok()).unwrap_or(10_000);
    let output = args.next_if(|arg| arg == "--output").and(args.next());
    let command: Vec<String> = args.collect();
    let site = Site::start().await;
    work::add_pages(&site);
    let (mark, temporary) = fresh_mark();
    let client = launch(&command)
        .env(MARK, &mark)
        .env("TMPDIR", &temporary.path().display().to_string())
        .start()
        .await;
    println!("{HEAD}");
    let soak = Soak {
        site: &site,
        mark: &mark,
        temporary: temporary.path(),
        start: Instant::now(),
    };
    let rows = match soak.run(&client, calls).await {
        Ok(rows) => rows,
        Err(why) => {
            println!("\n{why}\n{}", client.stderr());
            return ExitCode::FAILURE;
        }
    };
    if let Some(output) = output {
        std::fs::write(output, document(&rows)).expect("the document can be written");
    }
    let complaints = judge(&rows);
    for complaint in &complaints {
        println!("\n{complaint}");
    }
    client.end().await;
    let left = ProcessStats::take(&mark, Depth::Quick).pids().count();
    if left > 0 {
        println!("\n{left} processes are left over");
    }
    ExitCode::from(u8::from(!complaints.is_empty() || left > 0))
}

fn launch(command: &[String]) -> Launch {
    let limit = Duration::from_secs(60);
    if let Some((program, args)) = command.split_first() {
        return Launch::new(program).args(args).limit(limit);
    }
    let beside = std::env::current_exe().expect("a program knows where it is");
    Launch::new(beside.with_file_name("playhouse"))
        .args(["--headless", "--isolated"])
        .limit(limit)
}

const HEAD: &str = "|   calls | seconds | server MB | open files | processes | browser MB | browser processes | temporary files | output files |
|--------:|--------:|----------:|-----------:|----------:|-----------:|------------------:|----------------:|-------------:|";

/// A measurement.
struct Row {
    calls: usize,
    text: String,
    stats: ProcessStats,
    temporary: usize,
}

struct Soak<'a> {
    site: &'a Site,
    mark: &'a str,
    temporary: &'a Path,
    start: Instant,
}

impl Soak<'_> {
    async fn run(&self, client: &Client, calls: usize) -> Result<Vec<Row>, String> {
        let turn = work::turn(self.site);
        let (mut rows, mut done) = (Vec::new(), 0);
        while done < calls {
            for work in &turn {
                let answer = client.try_call(work.tool, work.arguments.clone()).await;
                let answer = answer.map_err(|why| format!("call {done}, {}: {why}", work.tool))?;
                if answer.is_error != work.is_error || !answer.text.contains(work.says) {
                    return Err(format!(
                        "call {done}, {} {} was answered:\n{}",
                        work.tool, work.arguments, answer.text
                    ));
                }
                done += 1;
            }
            if rows.len() < done / GROWN || done >= calls {
                rows.push(self.row(client, done).await?);
            }
        }
        Ok(rows)
    }

    /// Measures the idle server, on the same page each time.
    async fn row(&self, client: &Client, calls: usize) -> Result<Row, String> {
        let url = self.site.url("/inner");
        let rest = client
            .try_call("browser_navigate", json!({ "url": url }))
            .await;
        rest.map_err(|why| why.to_string())?;
        tokio::time::sleep(REST).await;
        let stats = ProcessStats::take(self.mark, Depth::Memory);
        let temporary = std::fs::read_dir(self.temporary).map_or(0, Iterator::count);
        let (servers, browsers) = (&stats.servers, &stats.browsers);
        let text = format!(
            "| {calls:>7} | {:>7.0} | {:>9.1} | {:>10} | {:>9} | {:>10.0} | {:>17} | {temporary:>15} | {:>12} |",
            self.start.elapsed().as_secs_f64(),
            megabytes(servers.memory),
            servers.files,
            servers.pids.len(),
            megabytes(browsers.memory),
            browsers.pids.len(),
            entries(client.workspace()),
        );
        println!("{text}");
        Ok(Row {
            calls,
            text,
            stats,
            temporary,
        })
    }
}

fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / (1024.0 * 1024.0)
}

fn document(rows: &[Row]) -> String {
    let mut text = format!(
        "# Soak test\n\nWritten by `make soak`, which repeats mixed work in one server: pages, actions, tabs, dialogs, downloads, \
screenshots, errors. Memory is proportional set size, read at rest on the same small page. The test fails if the server needs more than a tenth more \
memory at the end than in the first row, or has more processes, open files or temporary files. Output files are screenshots and downloads, which belong to \
the client.\n\n{HEAD}\n"
    );
    for row in rows {
        text += &row.text;
        text.push('\n');
    }
    if let [first, .., last] = rows {
        let growth = growth(first, last);
        text += &format!("\nMemory at the end is {growth:.2} of that in the first row.\n");
    }
    text
}

fn growth(first: &Row, last: &Row) -> f64 {
    last.stats.servers.memory as f64 / first.stats.servers.memory as f64
}

/// Returns what has grown between the first row and the last.
fn judge(rows: &[Row]) -> Vec<String> {
    let [first, .., last] = rows else {
        return vec![format!(
            "too few calls to compare: more than {GROWN} are needed"
        )];
    };
    let mut complaints = Vec::new();
    let growth = growth(first, last);
    println!(
        "\nMemory after {} calls is {growth:.2} of that after {}.",
        last.calls, first.calls
    );
    if growth > GROWTH {
        complaints.push(format!(
            "The server's memory has grown by more than {GROWTH}."
        ));
    }
    let mut compare = |what: &str, first: usize, last: usize| {
        if last > first {
            complaints.push(format!("There are {last} {what}, {first} before."));
        }
    };
    compare(
        "open files",
        first.stats.servers.files,
        last.stats.servers.files,
    );
    compare(
        "processes",
        first.stats.servers.pids.len(),
        last.stats.servers.pids.len(),
    );
    // A browser may keep a spare renderer.
    compare(
        "browser processes",
        first.stats.browsers.pids.len() + 1,
        last.stats.browsers.pids.len(),
    );
    compare("temporary files", first.temporary, last.temporary);
    complaints
}
