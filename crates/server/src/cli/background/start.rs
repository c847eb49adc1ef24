//! Starting the background server of a workspace.

use super::{BackgroundError, Connection, SERVE};
use crate::transport::workspace_socket::WorkspaceSocket;
use std::ffi::OsString;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How long a server may take to start, and another one before it to end.
const START_TIMEOUT: Duration = Duration::from_secs(40);
/// The interval between attempts to connect.
const CONNECT_INTERVAL: Duration = Duration::from_millis(3);
/// The largest log of earlier servers that is kept, in bytes.
const MAX_OLD_LOG_BYTES: u64 = 1_000_000;
/// The longest part of the log that an error contains, in bytes.
const MAX_LOG_BYTES: u64 = 4000;

/// Starts a server with these options, and connects to it. If two commands start one at the same time, both connect to the one that gets
/// the lock.
pub(super) fn start(
    socket: &WorkspaceSocket,
    workspace: &Path,
    arguments: &[OsString],
) -> Result<Connection, BackgroundError> {
    let failed = |error: std::io::Error| BackgroundError::Start(error.to_string());
    let log = socket.open_log().map_err(failed)?;
    let mut before = log.metadata().map_err(failed)?.len();
    if before > MAX_OLD_LOG_BYTES {
        log.set_len(0).map_err(failed)?;
        before = 0;
    }
    #[expect(
        clippy::disallowed_methods,
        reason = "a background server outlives the command that starts it"
    )]
    let mut command = Command::new(supervisor::processes::own_program());
    let mut child = command
        .arg(SERVE)
        .args(arguments)
        .current_dir(workspace)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .map_err(failed)?;
    let until = Instant::now() + START_TIMEOUT;
    let mut has_ended = false;
    loop {
        if let Some(connection) = Connection::open(socket).map_err(failed)? {
            return Ok(connection);
        }
        if !has_ended && let Some(status) = child.try_wait().map_err(failed)? {
            if !status.success() {
                return Err(BackgroundError::Start(reason(socket, before)));
            }
            // Another server got the lock.
            has_ended = true;
        }
        if Instant::now() > until {
            let log = socket.log();
            let reason = format!("it does not listen; its log is {}", log.display());
            return Err(BackgroundError::Start(reason));
        }
        thread::sleep(CONNECT_INTERVAL);
    }
}

/// Returns what a server that ended has written to its log.
fn reason(socket: &WorkspaceSocket, before: u64) -> String {
    let read = || {
        let mut file = std::fs::File::open(socket.log())?;
        file.seek(SeekFrom::Start(before))?;
        let mut text = Vec::new();
        file.take(MAX_LOG_BYTES).read_to_end(&mut text)?;
        std::io::Result::Ok(String::from_utf8_lossy(&text).into_owned())
    };
    let text = read().unwrap_or_default();
    text.trim().trim_start_matches("error: ").to_owned()
}
