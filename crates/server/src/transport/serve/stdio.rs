//! Serving one client over stdin and stdout until it disconnects or a signal arrives.

use super::{parent, refuse, signal};
use crate::access::principal::Principal;
use crate::config::Settings;
use crate::server::Server;
use crate::transport::listener::{Listening, UNSENT_TIMEOUT};
use crate::transport::{self, mcp};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use task::Task;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// How long closing may take before the process exits anyway.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(15);
/// How long writing the answers may take after the client closed its end.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(5);

/// The largest number of connections from browsers of users.
const MAX_USER_CONNECTIONS: usize = 16;

/// Serves one client over stdin and stdout; returns when the client has disconnected, the parent process has ended, or at SIGINT or
/// SIGTERM, with everything closed.
///
/// A thread may still wait for stdin then: exit the process without joining it.
pub(crate) async fn serve(settings: Settings) -> ExitCode {
    // Runs in the background.
    drop(tokio::task::spawn_blocking(engine::remove_stale_profiles));
    let server = match Server::new(settings) {
        Ok(server) => Arc::new(server),
        Err(error) => return refuse(&error),
    };
    let dashboard = match server.dashboard_port() {
        Some(port) => match serve_dashboard(server.clone(), port).await {
            Ok(dashboard) => Some(dashboard),
            Err(error) => return refuse(&error),
        },
        None => None,
    };
    server.begin();
    let caller = server.caller(Principal::anonymous());
    let (feed, outbox, connection) = mcp::connection(server.clone(), caller, None);
    let people = task::spawn("hand-overs", serve_users(server.clone()));
    let (writing, closed) = tokio::sync::oneshot::channel::<()>();
    let written = task::spawn("stdout", async {
        transport::stdio::write(tokio::io::stdout(), outbox).await;
        drop(writing);
    });
    let served = task::spawn("connection", connection);
    let mut input = BufReader::new(tokio::io::stdin());
    let read = async {
        // A client that starts the server and closes stdin at once has done so before the first message. Errors of the input occur again
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
        // While the input is open, this resolves only when the other end of the output is closed.
        _ = closed => {}
    }
    server.stop();
    drop(people);
    drop(dashboard);
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

/// The dashboard cannot be served.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on port {port} for the dashboard: {error}")]
struct DashboardError {
    port: u16,
    error: io::Error,
}

/// Serves the dashboard on the loopback interface only, until the task is dropped.
async fn serve_dashboard(server: Arc<Server>, port: u16) -> Result<Task, DashboardError> {
    let listening = listen(port).await;
    let (listening, address) = listening.map_err(|error| DashboardError { port, error })?;
    let end = listening.end.clone();
    let pages = transport::dashboard::local_pages(server, address, end.clone());
    Ok(task::spawn("dashboard", async move {
        let _end = end.drop_guard();
        listening.serve(pages).await;
    }))
}

/// Serves the pages on which users type values that the agent must not see, on the loopback interface only, from the first handover on.
pub(super) async fn serve_users(server: Arc<Server>) {
    let handovers = server.handovers();
    handovers.needed().await;
    let (listening, address) = match listen(0).await {
        Ok(listening) => listening,
        Err(error) => return tracing::warn!(%error, "the page for user input cannot be served"),
    };
    handovers.set_addresses(vec![format!("http://{address}")]);
    let pages = transport::handover::pages(handovers.clone());
    let pages = transport::request_policy::local(pages, address);
    listening.serve(pages).await;
}

/// Listens for browsers of users on a port of the loopback interface; 0 is any free port.
async fn listen(port: u16) -> io::Result<(Listening, SocketAddr)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    let address = listener.local_addr()?;
    let listening = Listening {
        listener,
        tls: None,
        most: MAX_USER_CONNECTIONS,
        // Users who type a value need not authenticate.
        most_unknown: MAX_USER_CONNECTIONS,
        unsent: UNSENT_TIMEOUT,
        stop: CancellationToken::new(),
        end: CancellationToken::new(),
    };
    Ok((listening, address))
}
