//! Serving many clients over HTTP until a signal arrives, with a graceful shutdown.

use super::{refuse, signal};
use crate::config::{AuthMode, AuthSettings, HttpSettings, Settings};
use crate::server::Server;
use crate::transport::auth::Authenticator;
use crate::transport::{
    self,
    http::Ending,
    listener::{Listening, UNSENT_TIMEOUT},
};
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// How long calls in progress may take to finish.
const FINISH_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the last responses may take to be sent.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);
/// How long closing may take before the process exits anyway.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(15);

/// The number of open files besides the clients' connections: those of browsers, pages and logs.
#[cfg(unix)]
const RESERVED_FILES: u64 = 4096;

/// Serves until SIGINT or SIGTERM, then finishes the calls in progress and closes all connections.
pub(super) async fn serve(settings: Settings, http: HttpSettings) -> ExitCode {
    let (listener, address, tls) = match open(&http).await {
        Ok(open) => open,
        Err(error) => return refuse(&*error),
    };
    let urls = urls(&http, address);
    let (authenticator, made) = match Authenticator::new(&http.auth, &urls) {
        Ok(authenticator) => authenticator,
        Err(error) => return refuse(&error),
    };
    #[cfg(unix)]
    make_room(http.max_connections);
    // Runs in the background.
    drop(tokio::task::spawn_blocking(engine::remove_stale_profiles));
    let server = match Server::new(settings) {
        Ok(server) => Arc::new(server),
        Err(error) => return refuse(&error),
    };
    server.begin();
    server.handovers().set_addresses(urls.clone());
    let ending = Ending::default();
    let router = transport::http::router(
        server.clone(),
        &http,
        address,
        authenticator,
        ending.clone(),
    );
    let welcome = welcome(&urls[0], &http.auth, made.as_deref());
    let _ = io::stderr().write_all(welcome.as_bytes());
    let listening = Listening {
        listener,
        tls,
        most: http.max_connections,
        most_unknown: http.max_connections / 4,
        unsent: UNSENT_TIMEOUT.min(http.client_timeout),
        stop: ending.stop.clone(),
        end: ending.end.clone(),
    };
    let served = task::spawn("listener", listening.serve(router));
    signal::end().await;
    ending.stop.cancel();
    tokio::select! {
        finished = tokio::time::timeout(FINISH_TIMEOUT, server.finished()) => if finished.is_err() {
            tracing::warn!("some calls did not finish in time");
        },
        // A second signal skips the wait.
        () = signal::end() => {}
    }
    let closed = async {
        server.close().await;
        ending.answers.close();
        // Some streams are endless.
        let _ = tokio::time::timeout(ANSWER_TIMEOUT, ending.answers.wait()).await;
        ending.end.cancel();
        served.ended().await;
    };
    if tokio::time::timeout(CLOSE_TIMEOUT + server.closing(), closed)
        .await
        .is_err()
    {
        tracing::warn!("closing took too long");
    }
    ExitCode::SUCCESS
}

/// Raises the soft limit of open files to one for each connection, up to the hard limit: many systems have a soft limit of 1024.
#[cfg(unix)]
fn make_room(connections: usize) {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    let wanted = u64::try_from(connections)
        .unwrap_or(u64::MAX)
        .saturating_add(RESERVED_FILES);
    let most = limit.maximum.map_or(wanted, |maximum| wanted.min(maximum));
    // `None` is no limit.
    if limit.current.is_some_and(|current| current < most) {
        limit.current = Some(most);
        if let Err(error) = setrlimit(Resource::Nofile, limit) {
            tracing::warn!(%error, "there may be fewer connections than were allowed");
        }
    }
}

type StartError = Box<dyn std::error::Error + Send + Sync>;

async fn open(
    http: &HttpSettings,
) -> Result<(TcpListener, SocketAddr, Option<TlsAcceptor>), StartError> {
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

/// Returns the URLs of the server, the preferred one first.
fn urls(http: &HttpSettings, address: SocketAddr) -> Vec<String> {
    let scheme = if http.tls.is_some() { "https" } else { "http" };
    let ip = address.ip();
    let hosts = match ip.is_loopback() || ip.is_unspecified() {
        true => vec!["localhost", "127.0.0.1", "[::1]"],
        false => vec![&*http.host],
    };
    let url = |host| match (scheme, address.port()) {
        // Spelled as clients do, because audiences of tokens are compared exactly.
        ("http", 80) | ("https", 443) => format!("{scheme}://{host}"),
        (_, port) => format!("{scheme}://{host}:{port}"),
    };
    hosts.into_iter().map(url).collect()
}

/// Returns what a user needs to connect a client. A generated key is shown here only.
fn welcome(url: &str, auth: &AuthSettings, made: Option<&str>) -> String {
    let mut entry = serde_json::json!({ "type": "http", "url": format!("{url}/mcp") });
    let bearer =
        |credential| serde_json::json!({ "Authorization": format!("Bearer {credential}") });
    let note = match auth.mode {
        AuthMode::None => String::new(),
        AuthMode::ApiKey => {
            entry["headers"] = bearer(made.unwrap_or("YOUR_API_KEY"));
            made.map_or_else(
                || "Replace YOUR_API_KEY by a key of --api-key or --api-keys.\n".to_owned(),
                |key| {
                    format!(
                        "API key: {key}\nIt is valid until the server terminates; --api-key gives one that lasts.\n"
                    )
                },
            )
        }
        // A configured header would prevent a client from requesting a token.
        AuthMode::Oauth => format!(
            "Clients get an access token from {} by OAuth. One that cannot needs this beside \"url\":\n\"headers\": {}\n",
            auth.issuers.join(" or "),
            bearer("YOUR_ACCESS_TOKEN"),
        ),
    };
    let config = serde_json::json!({ "mcpServers": { "playhouse": entry } });
    format!(
        "Listening on {url}\nPut this in your client config:\n{config:#}\n{note}Clients of the older SSE transport connect to {url}/sse, those of WebSockets to /ws.\n"
    )
}
