//! Over HTTP: many clients, until a signal comes. Calls that are under way then are finished.

use super::{refuse, signal};
use crate::auth::Gate;
use crate::config::{HttpSettings, Settings};
use crate::server::Server;
use crate::transport::{self, listener::Listening};
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

/// How long calls that are under way may take to finish.
const FINISHING: Duration = Duration::from_secs(10);
/// How long closing may take before we leave anyway.
const CLOSING: Duration = Duration::from_secs(15);

/// Serves until SIGINT or SIGTERM, then finishes what is under way and closes all.
pub(super) async fn serve(settings: Settings, http: HttpSettings) -> ExitCode {
    let (listener, address, tls) = match open(&http).await {
        Ok(open) => open,
        Err(error) => return refuse(&*error),
    };
    let urls = urls(&http, address);
    let (gate, made) = match Gate::new(&http.auth, &urls) {
        Ok(gate) => gate,
        Err(error) => return refuse(&error),
    };
    // Nobody waits for it.
    drop(tokio::task::spawn_blocking(engine::remove_stale_profiles));
    let server = match Server::new(settings) {
        Ok(server) => Arc::new(server),
        Err(error) => return refuse(&error),
    };
    server.begin();
    let (stop, end) = (CancellationToken::new(), CancellationToken::new());
    let router = transport::http::router(
        server.clone(),
        &http,
        address,
        gate,
        stop.clone(),
        end.clone(),
    );
    let _ = io::stderr().write_all(welcome(&urls[0], made.as_deref()).as_bytes());
    let listening = Listening {
        listener,
        tls,
        most: http.max_connections,
        stop: stop.clone(),
        end: end.clone(),
    };
    let served = engine::spawn("listener", listening.serve(router));
    signal::end().await;
    stop.cancel();
    if tokio::time::timeout(FINISHING, server.finished())
        .await
        .is_err()
    {
        tracing::warn!("some calls did not finish in time");
    }
    let closed = async {
        server.close().await;
        end.cancel();
        served.ended().await;
    };
    if tokio::time::timeout(CLOSING, closed).await.is_err() {
        tracing::warn!("closing took too long");
    }
    ExitCode::SUCCESS
}

type Unable = Box<dyn std::error::Error + Send + Sync>;

async fn open(
    http: &HttpSettings,
) -> Result<(TcpListener, SocketAddr, Option<TlsAcceptor>), Unable> {
    let tls = match &http.tls {
        Some((certificate, key)) => Some(transport::tls::acceptor(certificate, key)?),
        None => None,
    };
    let listening = async {
        let listener = TcpListener::bind((&*http.host, http.port)).await?;
        let address = listener.local_addr()?;
        Ok((listener, address))
    };
    let (listener, address) = listening.await.map_err(|error: io::Error| {
        format!("cannot listen on {}:{}: {error}", http.host, http.port)
    })?;
    Ok((listener, address, tls))
}

/// Where clients find us; the first one is told.
fn urls(http: &HttpSettings, address: SocketAddr) -> Vec<String> {
    let scheme = if http.tls.is_some() { "https" } else { "http" };
    let ip = address.ip();
    let hosts = match ip.is_loopback() || ip.is_unspecified() {
        true => vec!["localhost", "127.0.0.1", "[::1]"],
        false => vec![&*http.host],
    };
    let url = |host| format!("{scheme}://{host}:{}", address.port());
    hosts.into_iter().map(url).collect()
}

/// What a person needs to connect a client: `key` is shown here and nowhere else.
fn welcome(url: &str, key: Option<&str>) -> String {
    let mut entry = serde_json::json!({ "url": format!("{url}/mcp") });
    if let Some(key) = key {
        entry["headers"] = serde_json::json!({ "Authorization": format!("Bearer {key}") });
    }
    let config = serde_json::json!({ "mcpServers": { "playwright": entry } });
    let made = key.map_or(String::new(), |key| {
        format!(
            "API key: {key}\nIt is good until the server ends; --api-key gives one that lasts.\n"
        )
    });
    format!(
        "Listening on {url}\nPut this in your client config:\n{config:#}\n{made}Clients of the older SSE transport connect to {url}/sse, those of WebSockets to /ws.\n"
    )
}
