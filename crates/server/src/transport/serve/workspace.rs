//! Serving the commands of one workspace on its socket, in the background, until no command uses it any more.

use super::stdio::serve_users;
use super::{refuse, signal};
use crate::access::principal::Principal;
use crate::config::Settings;
use crate::server::Server;
use crate::tools::tool::SessionNaming;
use crate::transport::workspace_socket::{GREETING, ServerInfo, WorkspaceSocket};
use crate::transport::{mcp, stdio};
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::UnixStream as BlockingStream;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How long a server that ends may hold the lock before another one gives up waiting for it.
const LOCK_TIMEOUT: Duration = Duration::from_secs(30);
/// The interval between attempts to take the lock.
const LOCK_INTERVAL: Duration = Duration::from_millis(20);
/// How long sending the last answers may take.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(5);
/// How long closing may take before the process exits anyway.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(15);
/// The longest interval between checks whether the server is still used, and whether its socket still exists.
const MAX_CHECK_INTERVAL: Duration = Duration::from_secs(5);

/// Serves commands until a signal arrives or the server is unused for its timeout, then closes everything. Returns at once if another
/// server listens on the socket.
pub(crate) async fn serve(
    settings: Settings,
    socket: WorkspaceSocket,
    info: ServerInfo,
) -> ExitCode {
    let timeout = settings.background_timeout;
    // Held until the process exits, so that its next owner finds no process of this server.
    let _lock = match lock(&socket).await {
        Ok(Some(lock)) => lock,
        Ok(None) => return ExitCode::SUCCESS,
        Err(error) => return refuse(&error),
    };
    drop(tokio::task::spawn_blocking(engine::remove_stale_profiles));
    let server = match Server::new(settings) {
        Ok(server) => Arc::new(server),
        Err(error) => return refuse(&error),
    };
    let (listener, inode) = match listen(&socket) {
        Ok(listening) => listening,
        Err(error) => return refuse(&error),
    };
    server.begin();
    let shared = Arc::new(Shared {
        server: server.clone(),
        info,
        usage: Mutex::new(Usage {
            open: 0,
            is_ending: false,
            last: Instant::now(),
        }),
        end: CancellationToken::new(),
        connections: TaskTracker::new(),
    });
    let users = task::spawn("hand-overs", serve_users(server.clone()));
    tokio::select! {
        () = accept(&listener, &shared) => {}
        () = signal::end() => {}
        () = unused(&shared, || inode_of(&socket).ok() == Some(inode), timeout) => {}
    }
    shared.usage().is_ending = true;
    // It may be that of another server if someone has removed this one's files.
    if inode_of(&socket).ok() == Some(inode) {
        let _ = fs::remove_file(socket.path());
    }
    drop(listener);
    drop(users);
    server.stop();
    shared.end.cancel();
    shared.connections.close();
    let closed = async {
        let answered = tokio::time::timeout(FLUSH_TIMEOUT, shared.connections.wait());
        tokio::join!(server.close(), answered).1.ok();
    };
    if tokio::time::timeout(CLOSE_TIMEOUT + server.closing(), closed)
        .await
        .is_err()
    {
        tracing::warn!("closing took too long");
    }
    ExitCode::SUCCESS
}

/// Takes the lock of the workspace; `None` if another server listens.
async fn lock(socket: &WorkspaceSocket) -> io::Result<Option<fs::File>> {
    let until = Instant::now() + LOCK_TIMEOUT;
    loop {
        if let Some(lock) = socket.lock()? {
            return Ok(Some(lock));
        }
        if BlockingStream::connect(socket.path()).is_ok() {
            return Ok(None);
        }
        // The other server begins, or ends.
        if Instant::now() > until {
            let message = "another server of this workspace holds its lock and does not listen";
            return Err(io::Error::new(io::ErrorKind::TimedOut, message));
        }
        tokio::time::sleep(LOCK_INTERVAL).await;
    }
}

/// Replaces the socket of a server that has crashed, and returns the listener and the inode of the socket.
fn listen(socket: &WorkspaceSocket) -> io::Result<(UnixListener, u64)> {
    let path = socket.path();
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = UnixListener::bind(&path)?;
    // The folder is closed to other users meanwhile.
    fs::set_permissions(&path, Permissions::from_mode(0o600))?;
    Ok((listener, inode_of(socket)?))
}

fn inode_of(socket: &WorkspaceSocket) -> io::Result<u64> {
    Ok(fs::symlink_metadata(socket.path())?.ino())
}

/// The state that connections share.
struct Shared {
    server: Arc<Server>,
    info: ServerInfo,
    usage: Mutex<Usage>,
    /// Cancelled when connections end.
    end: CancellationToken,
    connections: TaskTracker,
}

/// The use of the server by commands.
struct Usage {
    /// The number of open connections.
    open: usize,
    /// New connections are closed without a greeting.
    is_ending: bool,
    /// When the last command ended.
    last: Instant,
}

/// An open connection, during which the server does not end because it is unused.
struct OpenConnection<'a> {
    shared: &'a Shared,
    /// Whether the client has sent a message.
    is_used: bool,
}

impl Drop for OpenConnection<'_> {
    fn drop(&mut self) {
        let mut usage = self.shared.usage();
        usage.open -= 1;
        if self.is_used {
            usage.last = Instant::now();
        }
    }
}

impl Shared {
    fn usage(&self) -> MutexGuard<'_, Usage> {
        self.usage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a connection; `None` if the server ends.
    fn open(&self) -> Option<OpenConnection<'_>> {
        let mut usage = self.usage();
        if usage.is_ending {
            return None;
        }
        usage.open += 1;
        Some(OpenConnection {
            shared: self,
            is_used: false,
        })
    }

    /// Returns the first message to a client.
    fn greeting(&self) -> String {
        let idle = {
            let usage = self.usage();
            match usage.open {
                0 | 1 => usage.last.elapsed(),
                _ => Duration::ZERO,
            }
        };
        let naming = self.server.toolbox().session_naming();
        let info = ServerInfo {
            idle_ms: u64::try_from(idle.as_millis()).unwrap_or(u64::MAX),
            sessions: self.server.health_stats().sessions,
            has_sessions: naming != SessionNaming::Impossible,
            ..self.info.clone()
        };
        serde_json::json!({ "jsonrpc": "2.0", "method": GREETING, "params": info }).to_string()
            + "\n"
    }
}

/// Accepts connections of this user.
async fn accept(listener: &UnixListener, shared: &Arc<Shared>) {
    let user = rustix::process::geteuid().as_raw();
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Usually the limit of open files is reached.
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        match stream.peer_cred() {
            Ok(peer) if peer.uid() == user => {}
            peer => {
                tracing::warn!(?peer, "a connection of another user was refused");
                continue;
            }
        }
        let (shared, token) = (shared.clone(), shared.connections.token());
        task::spawn("command", async move {
            if let Err(error) = converse(stream, &shared).await {
                tracing::debug!(%error, "a connection ended");
            }
            drop(token);
        })
        .detach();
    }
}

/// Serves one client until it disconnects, which cancels its calls, or the server ends.
async fn converse(stream: UnixStream, shared: &Shared) -> io::Result<()> {
    let Some(mut open) = shared.open() else {
        return Ok(());
    };
    let (input, mut output) = stream.into_split();
    output.write_all(shared.greeting().as_bytes()).await?;
    let mut input = BufReader::new(input);
    let first = tokio::select! {
        first = input.fill_buf() => first?,
        () = shared.end.cancelled() => return Ok(()),
    };
    if first.is_empty() {
        return Ok(());
    }
    open.is_used = true;
    let server = shared.server.clone();
    let caller = server.caller(Principal::anonymous());
    let (feed, outbox, connection) = mcp::connection(server, caller, None);
    let serving = task::spawn("connection", connection);
    let writing = task::spawn("socket", stdio::write(output, outbox));
    tokio::select! {
        // The answers are not read.
        () = stdio::read(input, feed) => drop(writing),
        () = shared.end.cancelled() => {
            serving.ended().await;
            writing.ended().await;
            return Ok(());
        }
    }
    serving.ended().await;
    Ok(())
}

/// Resolves when no command has used the server for its timeout and there is no session that expires by itself, or when the socket is
/// gone, which makes the server unreachable.
async fn unused(shared: &Shared, is_reachable: impl Fn() -> bool, timeout: Option<Duration>) {
    let tenth = timeout.unwrap_or(MAX_CHECK_INTERVAL) / 10;
    let interval = tenth.clamp(Duration::from_millis(10), MAX_CHECK_INTERVAL);
    let caller = shared.server.caller(Principal::anonymous());
    loop {
        tokio::time::sleep(interval).await;
        let is_lost = !is_reachable();
        let has_sessions = shared.server.has_sessions(&caller);
        let mut usage = shared.usage();
        let is_idle = timeout.is_some_and(|timeout| usage.last.elapsed() >= timeout);
        if usage.open == 0 && (is_lost || is_idle && !has_sessions) {
            usage.is_ending = true;
            return;
        }
    }
}
