//! Over stdin and stdout: one client, until it leaves or a signal comes.

use super::{parent, refuse, signal};
use crate::access::principal::Principal;
use crate::config::Settings;
use crate::server::Server;
use crate::transport::listener::{Listening, UNSENT_TIMEOUT};
use crate::transport::{self, mcp};
use std::net::Ipv4Addr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// How long closing may take before we leave anyway.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(15);
/// How long the answers may take to be written after the client closed its end; only one that does not read takes it.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(5);

/// How many connections there may be from people's browsers.
const MAX_USER_CONNECTIONS: usize = 16;

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
    let caller = server.caller(Principal::anonymous());
    let (feed, outbox, connection) = mcp::connection(server.clone(), caller, None);
    let people = task::spawn("hand-overs", serve_users(server.clone()));
    let (writing, nobody_reads) = tokio::sync::oneshot::channel::<()>();
    let written = task::spawn("stdout", async {
        transport::stdio::write(tokio::io::stdout(), outbox).await;
        drop(writing);
    });
    let served = task::spawn("connection", connection);
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
    drop(people);
    let closed = async {
        let answered = async {
            served.ended().await;
            written.ended().await;
        };
        tokio::join!(
            server.close(),
            tokio::time::timeout(FLUSH_TIMEOUT, answered)
        )
        .1
        .ok();
    };
    if tokio::time::timeout(CLOSE_TIMEOUT + server.closing(), closed)
        .await
        .is_err()
    {
        tracing::warn!("closing took too long");
    }
    ExitCode::SUCCESS
}

/// Serves the pages on which people type what an agent is not to see, on this machine only, from the moment that there is one.
async fn serve_users(server: Arc<Server>) {
    let handovers = server.handovers();
    handovers.needed().await;
    let listening = async {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        Ok::<_, std::io::Error>((listener, address))
    };
    let (listener, address) = match listening.await {
        Ok(open) => open,
        Err(error) => return tracing::warn!(%error, "the page for user input cannot be served"),
    };
    handovers.set_addresses(vec![format!("http://{address}")]);
    let listening = Listening {
        listener,
        tls: None,
        most: MAX_USER_CONNECTIONS,
        unsent: UNSENT_TIMEOUT,
        stop: CancellationToken::new(),
        end: CancellationToken::new(),
    };
    let pages = transport::handover::pages(handovers.clone());
    listening.serve(pages).await;
}
