//! Much work in one server, as fast as possible: calls of mixed work, or sessions. Fails if the server's memory is larger at the end than
//! early on, or the server has more processes, open files or temporary files then, or if anything is left after its end.

use std::path::Path;
use std::time::{Duration, Instant};

use futures_util::{StreamExt as _, stream};
use testkit::process_stats::{Depth, MARK, ProcessStats, entries, fresh_mark};
use testkit::{Client, Site};

use crate::markdown::row;
use crate::script::{State, parse, run as run_script};
use crate::sessions::{self, Session};
use crate::{USAGE, megabytes};

/// How long the server is idle before it is measured.
const REST: Duration = Duration::from_secs(3);
/// The number of concurrent sessions.
const AT_ONCE: usize = 16;
const INTRODUCTION: &str = "# Soak test\n\nWritten by `make soak`, which repeats mixed work in one server: pages, actions, tabs, dialogs, downloads, screenshots, errors. Memory is proportional set size, read at rest on the same small page. The test fails if the server needs more than a tenth more memory at the end than in the first row, or has more processes, open files or temporary files. Output files are screenshots and downloads, which belong to the client.\n\n";
const COLUMNS: &str = "| seconds | server MB | open files | processes | browser MB | browser processes | temporary files | output files |\n|--:|--:|--:|--:|--:|--:|--:|--:|--:|";
const INNER: &str = "<!doctype html><title>Inner</title><p>Inside</p><button>Inner button</button>";
/// What the server does before it is measured.
const CALLS_END: &str = "browser_navigate {\"url\": \"$SITE/inner\"}";
const SESSIONS_END: &str = "list_sessions {}\n  \"sessions\":[]";

/// The columns of a measurement.
type Figures = [f64; 9];
/// The columns that must not grow. A browser may keep a spare renderer.
const COUNTS: [(usize, &str, f64); 4] = [
    (3, "open files", 0.0),
    (4, "processes", 0.0),
    (6, "browser processes", 1.0),
    (7, "temporary files", 0.0),
];

/// `[CALLS | --sessions SESSIONS] [--output FILE]`
pub(crate) async fn run(args: &[&str]) -> Result<(), String> {
    let (args, output) = match args {
        [args @ .., "--output", file] => (args, Some(file)),
        args => (args, None),
    };
    let (is_sessions, count) = match *args {
        [] => (false, "10000"),
        ["--sessions", count] => (true, count),
        [count] => (false, count),
        _ => return Err(USAGE.to_owned()),
    };
    let count: usize = count.parse().map_err(|_| USAGE.to_owned())?;
    let (title, interval, max_growth) = match is_sessions {
        true => ("sessions", 200, 1.20),
        false => ("calls", 1000, 1.10),
    };
    let site = Site::start().await;
    site.add_page("/work", include_str!("soak.html"));
    site.add_page("/inner", INNER);
    let (mark, temporary) = fresh_mark();
    let server = match is_sessions {
        true => sessions::server(AT_ONCE),
        false => crate::server(&[]),
    };
    let folder = temporary.path().display().to_string();
    let client = server.env(MARK, &mark).env("TMPDIR", &folder).start().await;
    let head = format!("| {title} {COLUMNS}");
    println!("{head}");
    let (start, mut rows, mut done) = (Instant::now(), Vec::new(), 0);
    let mut text = format!("{INTRODUCTION}{head}\n");
    let mut state = State::new(&[("$SITE", &site.base_url())]);
    let turn = include_str!("soak.txt");
    while done < count {
        let next = count.min((rows.len() + 1) * interval);
        let end = if is_sessions {
            let sessions = (done + 1..=next).map(async |nth| {
                let session = Session::create(&client, &site, nth).await?;
                session.work(&client).await.map(drop)
            });
            let mut sessions = stream::iter(sessions).buffer_unordered(AT_ONCE);
            while let Some(session) = sessions.next().await {
                session?;
            }
            done = next;
            SESSIONS_END
        } else {
            while done < next {
                let calls = run_script(&client, turn, &mut state).await;
                calls.map_err(|why| format!("after {done} calls: {why}\n{}", client.stderr()))?;
                done += parse(turn).len();
            }
            CALLS_END
        };
        run_script(&client, end, &mut state).await?;
        tokio::time::sleep(REST).await;
        let figures = measure(&client, &mark, temporary.path(), start, done);
        let mut cells = figures.map(|figure| format!("{figure:.0}"));
        cells[2] = format!("{:.1}", figures[2]);
        print!("{}", row(&cells));
        text += &row(&cells);
        rows.push(figures);
    }
    let (first, last) = (rows[0], rows[rows.len() - 1]);
    let growth = last[2] / first[2];
    let summary = format!("\nMemory at the end is {growth:.2} of that in the first row.\n");
    println!("{summary}");
    if let Some(output) = output {
        let written = std::fs::write(output, text + &summary);
        written.map_err(|error| format!("{output}: {error}"))?;
    }
    sessions::end(client).await?;
    let mut faults = Vec::new();
    if growth > max_growth {
        faults.push(format!("Memory has grown by more than {max_growth}."));
    }
    if rows.len() < 2 && !is_sessions {
        faults.push(format!("More than {interval} {title} can be compared."));
    }
    for (nth, what, spare) in COUNTS {
        let (before, after) = (first[nth], last[nth]);
        if after > before + spare {
            faults.push(format!("There are {after} {what}, {before} before."));
        }
    }
    let processes = ProcessStats::take(&mark, Depth::Quick).pids().count();
    let files = entries(temporary.path());
    if processes + files > 0 {
        faults.push(format!("{processes} processes, {files} files are left."));
    }
    match faults[..] {
        [] => Ok(()),
        _ => Err(faults.join("\n")),
    }
}

fn measure(client: &Client, mark: &str, temporary: &Path, start: Instant, done: usize) -> Figures {
    let ProcessStats { servers, browsers } = ProcessStats::take(mark, Depth::Memory);
    let temporary = std::fs::read_dir(temporary).map_or(0, Iterator::count);
    [
        done as f64,
        start.elapsed().as_secs_f64(),
        megabytes(servers.memory),
        servers.files as f64,
        servers.pids.len() as f64,
        megabytes(browsers.memory),
        browsers.pids.len() as f64,
        temporary as f64,
        entries(client.workspace()) as f64,
    ]
}
