//! The memory of each further browser context with the browser switches of a server: the same command line is started again and contexts
//! are created with bare commands, because not every server can create a second one.

use std::process::Stdio;
use std::time::Duration;

use testkit::process_stats::{Depth, MARK, ProcessStats, command_line, fresh_mark};
use wire::Connection;
use wire::cdp::target::{AttachToTarget, CreateBrowserContext, CreateTarget};
use wire::cdp::{page, runtime};

use crate::servers::Running;

/// The number of contexts; the cost is measured between the first and the last.
const CONTEXTS: usize = 10;
/// How long the browser is idle before its memory is measured.
const REST: Duration = Duration::from_secs(1);
/// A page of about ten kilobytes.
const PAGE: &str = "document.body.innerHTML = '<p>The kettle boils.</p>'.repeat(400)";

/// Returns the size of each further context, in bytes.
pub(crate) async fn memory(running: &Running) -> Result<f64, String> {
    let mut args = browser_command(running)?;
    let program = args.remove(0);
    let profile = tempfile::tempdir().map_err(|error| error.to_string())?;
    args.retain(|arg| {
        arg.starts_with("--")
            && !arg.starts_with("--user-data-dir")
            && !arg.starts_with("--remote-debugging")
    });
    args.push(format!("--user-data-dir={}", profile.path().display()));
    args.push("--remote-debugging-pipe".to_owned());
    let (mark, _folder) = fresh_mark();
    #[expect(
        clippy::disallowed_methods,
        reason = "it ends with the pipe that we hold"
    )]
    let mut process = tokio::process::Command::new("sh")
        .args([
            "-c",
            "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1",
        ])
        .arg(program)
        .args(args)
        .env(MARK, &mark)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| error.to_string())?;
    let pipes = process
        .stdout
        .take()
        .zip(process.stdin.take())
        .ok_or("no pipes")?;
    let read = pipes.0.into_owned_fd().map_err(|error| error.to_string())?;
    let write = pipes.1.into_owned_fd().map_err(|error| error.to_string())?;
    let (connection, mut events) =
        Connection::pipe(read, write).map_err(|error| error.to_string())?;
    let mut tasks = tokio::task::JoinSet::new();
    tasks.spawn(async move { while events.next().await.is_some() {} });
    let mut first = 0;
    for n in 1..=CONTEXTS {
        open(&connection).await.map_err(|error| error.to_string())?;
        if n == 1 {
            tokio::time::sleep(REST).await;
            first = ProcessStats::take(&mark, Depth::Memory).browsers.memory;
        }
    }
    tokio::time::sleep(REST).await;
    let last = ProcessStats::take(&mark, Depth::Memory).browsers.memory;
    drop(connection);
    // The browser ends with its pipe; then the profile can be removed.
    drop(tokio::time::timeout(Duration::from_secs(10), process.wait()).await);
    Ok((last as f64 - first as f64) / (CONTEXTS - 1) as f64)
}

/// Returns the command line of the browser process whose parent is not a browser process.
fn browser_command(running: &Running) -> Result<Vec<String>, String> {
    let browsers = running.stats(Depth::Quick).browsers.pids;
    let mut commands = browsers.into_iter().map(|pid| words(command_line(pid)));
    commands
        .find(|words| {
            !words.is_empty()
                && !words
                    .iter()
                    .any(|word| word.starts_with("--type=") || word.contains("crashpad"))
        })
        .ok_or_else(|| "its browser was not found".to_owned())
}

/// Splits the command line, which Chromium may show as one word.
fn words(command: Vec<String>) -> Vec<String> {
    match command.as_slice() {
        [one] => one
            .split(" --")
            .enumerate()
            .map(|(n, word)| {
                if n == 0 {
                    word.to_owned()
                } else {
                    format!("--{word}")
                }
            })
            .collect(),
        _ => command,
    }
}

async fn open(connection: &Connection) -> wire::Result<()> {
    let root = connection.root();
    let context = root.call(&CreateBrowserContext::default()).await?;
    let target = root
        .call(&CreateTarget {
            url: "about:blank".to_owned(),
            browser_context_id: Some(context.browser_context_id),
            ..Default::default()
        })
        .await?;
    let attached = root
        .call(&AttachToTarget {
            target_id: target.target_id,
            flatten: Some(true),
        })
        .await?;
    let session = connection.session(attached.session_id);
    session.call(&page::Enable::default()).await?;
    session
        .call(&runtime::Evaluate {
            expression: PAGE.to_owned(),
            ..Default::default()
        })
        .await?;
    Ok(())
}
