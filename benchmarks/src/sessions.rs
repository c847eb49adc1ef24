//! Many concurrent sessions: each is created, enters a name of its own, sees no data of the others, and is closed.

use std::time::Instant;

use futures_util::future::try_join_all;
use testkit::process_stats::{Depth, MARK, ProcessStats, fresh_mark};
use testkit::{Client, Launch, Site};

use crate::milliseconds;
use crate::script::{State, run};

const PAGE: &str = "<!doctype html><title>Work</title><h1 id=output>empty</h1><label>Name <input id=name></label>
<button onclick=\"localStorage.name = document.cookie = document.getElementById('name').value;
document.getElementById('output').textContent = [document.cookie, ...Object.values(localStorage)].join()\">Enter</button>";
const WORK: &str = include_str!("sessions.txt");

/// A session that was created, and the time that this took, in milliseconds.
pub(crate) struct Session(State, f64);

/// Returns a server for so many sessions.
pub(crate) fn server(count: usize) -> Launch {
    let server = crate::server(&["--toolsets=session", "--content-boundaries=off"]);
    server.args([format!("--max-sessions={count}")])
}

impl Session {
    /// Creates the session with this number.
    pub(crate) async fn create(client: &Client, site: &Site, nth: usize) -> Result<Self, String> {
        site.add_page("/session", PAGE);
        let name = format!("agent{nth}");
        let mut state = State::new(&[("$SITE", &site.base_url()), ("$NAME", &name)]);
        let start = Instant::now();
        run(client, "create_session {}", &mut state).await?;
        Ok(Self(state, milliseconds(start)))
    }

    /// Uses the session and closes it. Returns its row of the table, and the time of all its calls.
    pub(crate) async fn work(mut self, client: &Client) -> Result<(String, f64), String> {
        let start = Instant::now();
        run(client, WORK, &mut self.0).await?;
        let (id, created, worked) = (self.0.insert("$SESSION"), self.1, milliseconds(start));
        let row = format!("| {id} | {created:>7.1} ms | {worked:>7.1} ms |");
        Ok((row, created + worked))
    }
}

/// Runs so many sessions side by side, and prints a table with a line for each.
pub(crate) async fn run_demo(count: usize) -> Result<(), String> {
    let site = Site::start().await;
    let (mark, _folder) = fresh_mark();
    let client = server(count.max(1)).env(MARK, &mark).start().await;
    let memory = || ProcessStats::take(&mark, Depth::Memory).servers.memory as f64;
    let start = Instant::now();
    // The first one launches the browser that the others share.
    let mut sessions = vec![Session::create(&client, &site, 1).await?];
    let before = memory();
    let others = (2..=count).map(|number| Session::create(&client, &site, number));
    sessions.extend(try_join_all(others).await?);
    let created = milliseconds(start);
    let idle = (memory() - before) / 1024.0 / (count - 1).max(1) as f64;
    let rows = try_join_all(sessions.into_iter().map(|session| session.work(&client))).await?;
    let all = milliseconds(start);
    println!("| session                              |    created |     worked |\n|---|--:|--:|");
    rows.iter().for_each(|(row, _)| println!("{row}"));
    let sum: f64 = rows.iter().map(|(_, spent)| spent).sum();
    println!("\n{count} sessions, 8 calls each, in {all:.1} ms; one by one about {sum:.1} ms");
    println!("All existed after {created:.1} ms; each idle one needed {idle:.0} kB of memory.");
    end(client).await
}

/// Ends the server.
pub(crate) async fn end(client: Client) -> Result<(), String> {
    let stray = client.stray_lines();
    match client.end().await {
        _ if !stray.is_empty() => Err(format!("stdout contains more than messages: {stray:?}")),
        status if status.success() => Ok(()),
        status => Err(format!("the server: {status}")),
    }
}
