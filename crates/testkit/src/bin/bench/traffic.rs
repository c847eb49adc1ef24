//! The cost of requests without a browser: `ping` and `tools/list` over each transport, and idle clients. Compared with `@playwright/mcp`,
//! which supports stdio and HTTP.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::json;
use testkit::process_stats::{Depth, MARK, ProcessStats, fresh_mark};
use testkit::{Client, Launch};
use tokio::time::Instant;

use crate::plan::Plan;
use crate::servers::Server;
use crate::wires::{Http, Wire};

/// How long each measurement takes, and the warm-up before it.
const ASKED: Duration = Duration::from_secs(2);
const WARM: Duration = Duration::from_millis(500);
/// The number of idle clients.
const IDLE: usize = 500;
const REST: Duration = Duration::from_secs(1);
/// The largest memory of the idle clients, in megabytes.
const MOST: f64 = 50.0;
/// The target ratio to the throughput of `@playwright/mcp` over HTTP.
const TIMES: f64 = 10.0;
const MEGABYTE: f64 = 1024.0 * 1024.0;

/// The transports, and the number of concurrent clients.
const WAYS: [(&str, &str, usize); 4] = [
    ("stdio", "stdio", 1),
    ("http", "HTTP, 1 client", 1),
    ("http", "HTTP, 16 clients", 16),
    ("ws", "WebSocket, 1 client", 1),
];

/// The result of a second of requests.
#[derive(Clone, Copy)]
struct Speed {
    per_second: f64,
    half: f64,
    most: f64,
}

/// Returns the table, and whether a target was missed.
pub(crate) async fn measure(plan: &Plan, servers: &[Server]) -> String {
    let servers: Vec<&Server> = servers
        .iter()
        .filter(|server| matches!(server.key, "pw" | "ours"))
        .collect();
    let mut text = "## Requests\n\nWithout a browser, over persistent connections; each client sends the next request when it has the answer. p50 and p99 are times of single requests.\n\n| |".to_owned();
    for server in &servers {
        let title = server.title;
        let _ = write!(text, " {title}: requests/s | p50 | p99 |");
    }
    text += " ours / theirs | target | |\n|---|";
    text += &"---:|".repeat(servers.len() * 3 + 2);
    text += "---|\n";
    for (way, title, clients) in WAYS {
        for method in ["ping", "tools/list"] {
            eprintln!("{method} over {title}");
            let mut rounds: Vec<Vec<Option<Speed>>> = vec![Vec::new(); servers.len()];
            for round in 0..plan.rounds {
                for turn in 0..servers.len() {
                    let nth = (turn + round) % servers.len();
                    let speed = match way == "ws" && servers[nth].key == "pw" {
                        true => None,
                        false => Some(measure_method(servers[nth], way, clients, method).await),
                    };
                    rounds[nth].push(speed);
                }
            }
            text += &line(&format!("{method}, {title}"), way, &servers, &rounds);
        }
    }
    let mut costs = Vec::new();
    for server in &servers {
        eprintln!("idle clients of {}", server.key);
        costs.push(idle(server).await);
    }
    let _ = write!(text, "\n| | ");
    for server in &servers {
        let _ = write!(text, "{} | ", server.title);
    }
    text += "target | |\n|---|";
    text += &"---:|".repeat(servers.len() + 1);
    let _ = write!(
        text,
        "---|\n| memory of {IDLE} idle clients over HTTP, each with a session and an open stream |"
    );
    for cost in &costs {
        let _ = write!(text, " {cost:.1} MB |");
    }
    let ours = servers.iter().position(|server| server.key == "ours");
    let reached = ours.map_or("–", |ours| verdict(costs[ours] <= MOST));
    let _ = writeln!(text, " ≤ {MOST} MB | {reached} |");
    text
}

fn verdict(reached: bool) -> &'static str {
    match reached {
        true => "reached",
        false => "**missed**",
    }
}

fn line(title: &str, way: &str, servers: &[&Server], rounds: &[Vec<Option<Speed>>]) -> String {
    let mut text = format!("| {title} |");
    let mut by_server = Vec::new();
    for rounds in rounds {
        let figure = |of: fn(&Speed) -> f64| median(rounds.iter().flatten().map(of).collect());
        let (per_second, half, most) = (
            figure(|speed| speed.per_second),
            figure(|speed| speed.half),
            figure(|speed| speed.most),
        );
        match per_second.zip(half).zip(most) {
            Some(((per_second, half), most)) => {
                let _ = write!(text, " {per_second:.0} | {half:.2} ms | {most:.2} ms |");
            }
            None => text += " – | – | – |",
        }
        by_server.push(rounds);
    }
    let of = |key: &str| servers.iter().position(|server| server.key == key);
    let ratio = of("ours").zip(of("pw")).and_then(|(ours, theirs)| {
        let both = by_server[ours].iter().zip(by_server[theirs]);
        let ratios = both.filter_map(|(ours, theirs)| {
            Some(ours.as_ref()?.per_second / theirs.as_ref()?.per_second)
        });
        median(ratios.collect())
    });
    let shown = ratio.map_or("–".to_owned(), |ratio| format!("{ratio:.1}"));
    let (goal, reached) = match (way, ratio) {
        ("http", Some(ratio)) => (format!("≥ {TIMES}"), verdict(ratio >= TIMES)),
        _ => (String::new(), ""),
    };
    let _ = writeln!(text, " {shown} | {goal} | {reached} |");
    text
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// Measures one server, which is started for it.
async fn measure_method(server: &Server, way: &str, clients: usize, method: &'static str) -> Speed {
    if way == "stdio" {
        let client = Launch::new(server.program()).args(server.args()).spawn();
        client.initialize(json!({})).await;
        let speed = speed_of(vec![client], method).await;
        return speed;
    }
    let listening = Listening::start(server).await;
    let mut wires = Vec::new();
    for _ in 0..clients {
        wires.push(match way {
            "ws" => Wire::WebSocket(Box::new(listening.web_socket().await)),
            _ => Wire::Http(listening.http().await),
        });
    }
    speed_of(wires, method).await
}

/// A client that sends requests one after the other.
trait Caller {
    fn ask(&mut self, method: &str) -> impl Future<Output = ()>;
}

impl Caller for Client {
    async fn ask(&mut self, method: &str) {
        self.request(method, json!({})).await.expect("an answer");
    }
}

impl Caller for Wire {
    async fn ask(&mut self, method: &str) {
        self.request(method, json!({})).await;
    }
}

async fn speed_of<A: Caller>(all: Vec<A>, method: &'static str) -> Speed {
    let begin = Instant::now();
    let (counts, end) = (begin + WARM, begin + WARM + ASKED);
    let asking = all.into_iter().map(|mut one| async move {
        let mut took = Vec::new();
        loop {
            let start = Instant::now();
            if start >= end {
                return (one, took);
            }
            one.ask(method).await;
            if start >= counts {
                took.push(start.elapsed().as_secs_f64() * 1e3);
            }
        }
    });
    // The clients are dropped after all have finished, which is not measured.
    let asked = futures_util::future::join_all(asking).await;
    let mut took: Vec<f64> = asked.into_iter().flat_map(|(_, took)| took).collect();
    took.sort_by(f64::total_cmp);
    let at = |part: f64| {
        let nth = (took.len() as f64 * part) as usize;
        took.get(nth.min(took.len().saturating_sub(1))).copied()
    };
    Speed {
        per_second: took.len() as f64 / ASKED.as_secs_f64(),
        half: at(0.5).unwrap_or(f64::NAN),
        most: at(0.99).unwrap_or(f64::NAN),
    }
}

/// Returns the memory of idle clients that are connected and read their streams, in megabytes.
async fn idle(server: &Server) -> f64 {
    let listening = Listening::start(server).await;
    // The first client initializes state that later ones share.
    let first = listening.http().await;
    tokio::time::sleep(REST).await;
    let before = listening.memory();
    let mut clients = Vec::new();
    for _ in 0..IDLE {
        let mut client = listening.http().await;
        client.listen().await;
        clients.push(client);
    }
    tokio::time::sleep(REST).await;
    let after = listening.memory();
    drop((first, clients));
    (after - before) / MEGABYTE
}

/// A server over HTTP.
struct Listening {
    process: Client,
    authority: String,
    mark: String,
    _folder: tempfile::TempDir,
}

impl Listening {
    async fn start(server: &Server) -> Self {
        let (mark, folder) = fresh_mark();
        let mut launch = Launch::new(server.program())
            .args(server.args())
            .args(["--port", "0"])
            .env(MARK, &mark);
        if server.key == "ours" {
            launch = launch.args(["--auth", "none"]);
        }
        let process = launch.spawn();
        let stderr = process.stderr_with("/mcp").await;
        let url = stderr
            .lines()
            .find_map(|line| line.strip_prefix("Listening on http://"));
        let authority = url.expect("it says where it listens").to_owned();
        Self {
            process,
            authority,
            mark,
            _folder: folder,
        }
    }

    async fn http(&self) -> Http {
        Http::begin(&self.authority).await
    }

    async fn web_socket(&self) -> crate::wires::WebSocket {
        crate::wires::WebSocket::begin(&self.authority).await
    }

    fn memory(&self) -> f64 {
        ProcessStats::take(&self.mark, Depth::Memory).servers.memory as f64
    }
}

/// The server does not end with its stdin.
impl Drop for Listening {
    fn drop(&mut self) {
        self.process.terminate();
    }
}
