//! Over stdin and stdout: one client, until it leaves or a signal comes.

use super::{parent, refuse, signal};
use crate::config::Settings;
use crate::principal::Principal;
use crate::server::Server;
use crate::{mcp, transport};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, BufReader};

/// How long closing may take before we leave anyway.
const CLOSING: Duration = Duration::from_secs(15);
/// How long the answers may take to be written after the client closed its end; only one that does not read takes it.
const FLUSHING: Duration = Duration::from_secs(5);

/// Serves one client over stdin and stdout; returns when it has left, when the process that started us has ended, or at SIGINT or
/// SIGTERM, with all closed.
///
/// A thread may still wait on stdin then: end the process, do not wait for it.
pub(crate) async fn serve(settings: Settings) -> ExitCode {
    // Nobody waits for it.
    drop(tokio::task::spawn_blocking(engine::remove_stale_profiles));
    let server = match Server::new(settings) {
        Ok(server) => Arc::new(server),
        Err(error) => return refuse(&error),
    };
    server.begin();
    let (feed, outbox, connection) =
        mcp::connection(server.clone(), server.caller(Principal::anybody()));
    let (writing, nobody_reads) = tokio::sync::oneshot::channel::<()>();
    let written = engine::spawn("stdout", async {
        transport::stdio::write(tokio::io::stdout(), outbox).await;
        drop(writing);
    });
    let served = engine::spawn("connection", connection);
    let mut input = BufReader::new(tokio::io::stdin());
    let read = async {
        // Who starts us and leaves at once, on purpose, has done so by the first message. Whatever is wrong with the input shows again
        // when it is read.
        let _ = input.fill_buf().await;
        tokio::select! {
            () = transport::stdio::read(input, feed) => {}
            () = parent::gone() => {}
        }
    };
    tokio::select! {
        () = read => {}
        () = signal::end() => {}
        // As long as we read, it ends only when its other end is closed.
        _ = nobody_reads => {}
    }
    server.stop();
    let closed = async {
        let answered = async {
            served.ended().await;
            written.ended().await;
        };
        tokio::join!(server.close(), tokio::time::timeout(FLUSHING, answered))
            .1
            .ok();
    };
    if tokio::time::timeout(CLOSING + server.closing(), closed)
        .await
        .is_err()
    {
        tracing::warn!("closing took too long");
    }
    ExitCode::SUCCESS
}
