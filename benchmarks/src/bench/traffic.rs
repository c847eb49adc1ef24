//! The cost of requests over HTTP without a browser: `ping` and `tools/list`, and idle clients. Compared with `@playwright/mcp`.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::{Value, json};
use testkit::process_stats::{Depth, ProcessStats, fresh_mark};
use testkit::{Client, Connection, HttpAnswer};

use super::servers::Server;
use crate::markdown::{figure, head, row, verdict};
use crate::samples::Samples;
use crate::{megabytes, milliseconds};

/// How long each measurement takes, and the warm-up before it.
const DURATION: Duration = Duration::from_secs(2);
const WARM: Duration = Duration::from_millis(500);
/// The number of idle clients, and the largest memory of all of them, in megabytes.
const IDLE: usize = 500;
const MAX_IDLE: f64 = 50.0;
const REST: Duration = Duration::from_secs(1);
/// The target ratio to the throughput of `@playwright/mcp` over HTTP.
const HTTP_RATIO: f64 = 10.0;
/// The rows, the methods, and the numbers of concurrent clients.
const METRICS: [(&str, &str, usize); 4] = [
    ("ping, HTTP, 1 client", "ping", 1),
    ("tools/list, HTTP, 1 client", "tools/list", 1),
    ("ping, HTTP, 16 clients", "ping", 16),
    ("tools/list, HTTP, 16 clients", "tools/list", 16),
];
const MEDIA_TYPES: &str =
    "content-type: application/json\r\naccept: application/json, text/event-stream\r\n";
const INTRODUCTION: &str = "## Requests\n\nOver HTTP, without a browser, over persistent connections; each client sends the next request when it has the answer. p50 and p99 are times of single requests.\n\n";

/// Returns the tables.
pub(super) async fn measure(rounds: usize, servers: &[Server]) -> String {
    let mut samples = [(); 3].map(|()| Samples::default());
    let mut titles = Vec::new();
    for server in servers {
        titles.push(format!("{}: requests/s", server.title));
        titles.extend(["p50", "p99"].map(str::to_owned));
    }
    titles.push("ours / theirs".to_owned());
    let mut text = INTRODUCTION.to_owned() + &head(titles.into_iter());
    for (title, method, clients) in METRICS {
        eprintln!("{title}");
        for round in 0..rounds {
            for turn in 0..servers.len() {
                let server = &servers[(turn + round) % servers.len()];
                let listening = Listening::start(server).await;
                let values = listening.measure(method, clients).await;
                for (samples, value) in samples.iter_mut().zip(values) {
                    samples.add((title, server.key), round, value);
                }
            }
        }
        let mut cells = vec![title.to_owned()];
        for server in servers {
            let figures = samples.iter().zip(["", "ms", "ms"]);
            let medians = figures.map(|(it, unit)| (it.median(title, server.key), unit));
            cells.extend(medians.map(|(median, unit)| figure(median, unit)));
        }
        let ratio = samples[0].ratio(title, "ours", "pw");
        cells.push(ratio.map_or("–".to_owned(), |ratio| format!("{ratio:.1}")));
        let is_reached = ratio.map(|ratio| ratio >= HTTP_RATIO);
        cells.extend([format!("≥ {HTTP_RATIO}"), verdict(is_reached)]);
        text += &row(&cells);
    }
    text + "\n" + &measure_idle(servers).await
}

/// Returns the table of the memory of idle clients that are connected and read their streams.
async fn measure_idle(servers: &[Server]) -> String {
    let title = format!("memory of {IDLE} idle clients, each with a session and a stream");
    let (mut cells, mut is_reached) = (vec![title], None);
    for server in servers {
        eprintln!("idle clients of {}", server.key);
        let listening = Listening::start(server).await;
        // The first client initializes state that later ones share.
        let mut clients = vec![listening.connect().await];
        let before = listening.memory().await;
        for _ in 0..IDLE {
            let mut client = listening.connect().await;
            client.send("GET", "\r\n").await;
            let stream = client.connection.head().await.expect("a stream");
            assert_eq!(stream.status, 200, "{stream:?}");
            clients.push(client);
        }
        let size = listening.memory().await - before;
        cells.push(format!("{size:.1} MB"));
        if server.key == "ours" {
            is_reached = Some(size <= MAX_IDLE);
        }
    }
    cells.extend([format!("≤ {MAX_IDLE} MB"), verdict(is_reached)]);
    head(servers.iter().map(|server| server.title.to_owned())) + &row(&cells)
}

/// A server over HTTP.
struct Listening {
    process: Client,
    authority: String,
    mark: String,
}

impl Listening {
    async fn start(server: &Server) -> Self {
        let mark = fresh_mark().0;
        let server = match server.key {
            "ours" => server.with(&["--port", "0", "--auth", "none"]),
            _ => server.with(&["--port", "0"]),
        };
        let process = server.launch(&mark).spawn();
        let stderr = process.stderr_with("/mcp").await;
        let mut lines = stderr.lines();
        let url = lines.find_map(|line| line.strip_prefix("Listening on http://"));
        let authority = url.expect("an address").to_owned();
        Self {
            process,
            authority,
            mark,
        }
    }

    /// Returns requests per second, p50 and p99.
    async fn measure(&self, method: &str, clients: usize) -> [f64; 3] {
        let clients = join_all((0..clients).map(|_| self.connect())).await;
        let begin = Instant::now() + WARM;
        let requests = clients.into_iter().map(async |mut client| {
            let mut times = Vec::new();
            loop {
                let start = Instant::now();
                if start >= begin + DURATION {
                    return (client, times);
                }
                client.request(method, json!({})).await;
                if start >= begin {
                    times.push(milliseconds(start));
                }
            }
        });
        // The clients are dropped after all have finished, which is not measured.
        let done = join_all(requests).await;
        let mut times: Vec<f64> = done.into_iter().flat_map(|(_, times)| times).collect();
        times.sort_by(f64::total_cmp);
        let at = |part: usize| times.get(times.len() * part / 100).copied();
        let [half, most] = [50, 99].map(|part| at(part).unwrap_or(f64::NAN));
        [times.len() as f64 / DURATION.as_secs_f64(), half, most]
    }

    /// Connects and initializes a session.
    async fn connect(&self) -> Http {
        let mut http = Http {
            connection: Connection::open(&self.authority).await,
            headers: format!("host: {}\r\n", self.authority),
            id: 0,
        };
        let hello = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": { "name": "bench", "version": "1" },
        });
        let answer = http.request("initialize", hello).await;
        let session = answer.header("mcp-session-id");
        http.headers += &format!("mcp-session-id: {session}\r\n");
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        http.post(&ready).await;
        http
    }

    async fn memory(&self) -> f64 {
        tokio::time::sleep(REST).await;
        megabytes(ProcessStats::take(&self.mark, Depth::Memory).servers.memory)
    }
}

/// Over HTTP, a server does not end with its stdin.
impl Drop for Listening {
    fn drop(&mut self) {
        self.process.terminate();
    }
}

/// An MCP session at `/mcp` on its own persistent connection.
struct Http {
    connection: Connection,
    headers: String,
    /// The id of the last request.
    id: u64,
}

impl Http {
    async fn request(&mut self, method: &str, params: Value) -> HttpAnswer {
        self.id += 1;
        let id = self.id;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let answer = self.post(&request).await;
        assert!(answer.body.contains("\"result\""), "{method}: {answer:?}");
        answer
    }

    async fn post(&mut self, message: &Value) -> HttpAnswer {
        let body = message.to_string();
        let length = format!("content-length: {}", body.len());
        self.send("POST", &format!("{length}\r\n\r\n{body}")).await;
        self.connection.answer().await.expect("an answer")
    }

    /// Sends a request with the given rest of its head and body.
    async fn send(&mut self, method: &str, rest: &str) {
        let headers = &self.headers;
        let request = format!("{method} /mcp HTTP/1.1\r\n{headers}{MEDIA_TYPES}{rest}");
        self.connection.send(request).await;
    }
}
