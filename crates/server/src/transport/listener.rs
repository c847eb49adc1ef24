//! TCP connections with or without TLS: their number, their timeouts, and their end.

use axum::Router;
use axum::body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use task::Task;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;
use tower_service::Service as _;

/// How long a client may take to send the head of a request; also the idle timeout of a connection.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a new connection may take to send its first request.
const FIRST_REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// How long unacknowledged data may wait for a client, at most.
pub(crate) const UNSENT_TIMEOUT: Duration = Duration::from_secs(60);

/// How long sending the remaining data may take at shutdown.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// The largest number of concurrent 503 responses.
const MAX_REFUSALS: usize = 64;

/// The response to a connection above the limit.
const SERVICE_UNAVAILABLE: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\nretry-after: 1\r\ncontent-length: 0\r\n\r\n";

/// The settings of all connections.
pub(crate) struct Listening {
    /// The socket.
    pub(crate) listener: TcpListener,
    /// The TLS certificate, if there is one.
    pub(crate) tls: Option<TlsAcceptor>,
    /// The largest number of connections.
    pub(crate) most: usize,
    /// The largest number of those of them that have not authenticated; of more, the oldest is closed.
    pub(crate) most_unknown: usize,
    /// How long unacknowledged data may wait for a client that does not read or has disconnected silently.
    pub(crate) unsent: Duration,
    /// Cancelled when no more connections are accepted, and idle ones end.
    pub(crate) stop: CancellationToken,
    /// Cancelled when all connections end.
    pub(crate) end: CancellationToken,
}

/// The slot of a connection; an upgraded connection keeps it.
#[derive(Clone)]
pub(crate) struct ConnectionSlot {
    _one_of_most: Arc<OwnedSemaphorePermit>,
    _open: TaskTrackerToken,
    lingers: Arc<AtomicBool>,
    unknown: Arc<UnknownPeer>,
}

impl ConnectionSlot {
    /// Records that the client has authenticated: the connection no longer ends for those of others.
    pub(crate) fn on_authenticated(&self) {
        self.unknown.remove();
    }

    /// Makes the connection read for a moment when it ends: unread data would reset the connection before the client has read the last
    /// response.
    pub(crate) fn linger(&self) {
        self.lingers.store(true, Ordering::Relaxed);
    }
}

impl Listening {
    /// Serves `router` until `stop`, refuses new connections until `end`; returns when the last connection has ended.
    pub(crate) async fn serve(self, router: Router) {
        let places = Arc::new(Semaphore::new(self.most));
        let refusals = Arc::new(Semaphore::new(MAX_REFUSALS));
        let open = TaskTracker::new();
        let unknown = UnknownPeers::new(self.most_unknown);
        loop {
            let accepted = tokio::select! {
                accepted = self.listener.accept() => accepted,
                () = self.end.cancelled() => break,
            };
            let stream = match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    // Usually the limit of open files is reached; some will be closed.
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    continue;
                }
            };
            let place = match self.stop.is_cancelled() {
                true => None,
                false => places.clone().try_acquire_owned().ok(),
            };
            let Some(place) = place else {
                // The next connection gets its place.
                unknown.end_oldest();
                // TLS clients could not read the response; and there may be more clients than responses are sent.
                if self.tls.is_none()
                    && let Ok(turn) = refusals.clone().try_acquire_owned()
                {
                    refuse(stream, turn).detach();
                }
                continue;
            };
            let connection = Connection {
                router: router.clone(),
                place: ConnectionSlot {
                    _one_of_most: Arc::new(place),
                    _open: open.token(),
                    lingers: Arc::default(),
                    unknown: Arc::new(unknown.add()),
                },
                unsent: self.unsent,
                stop: self.stop.clone(),
                end: self.end.clone(),
            };
            let tls = self.tls.clone();
            let ended = connection.place.unknown.ended.clone();
            let served = async move {
                tokio::select! {
                    served = connection.begin(stream, tls) => if let Err(error) = served {
                        tracing::debug!(%error, "a connection ended");
                    },
                    () = ended.cancelled() => tracing::debug!("an unknown client made room"),
                }
            };
            task::spawn("connection", served).detach();
        }
        open.close();
        open.wait().await;
    }
}

/// The connections whose clients have not authenticated, oldest first.
#[derive(Clone)]
struct UnknownPeers {
    most: usize,
    queue: Arc<Mutex<VecDeque<(u64, CancellationToken)>>>,
}

/// A connection whose client has not authenticated yet.
struct UnknownPeer {
    peers: UnknownPeers,
    number: u64,
    /// Cancelled when the connection ends to make room for another.
    ended: CancellationToken,
}

impl UnknownPeers {
    fn new(most: usize) -> Self {
        Self {
            most: most.max(1),
            queue: Arc::default(),
        }
    }

    fn queue(&self) -> MutexGuard<'_, VecDeque<(u64, CancellationToken)>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a connection; ends the oldest one if there are too many.
    fn add(&self) -> UnknownPeer {
        if self.queue().len() >= self.most {
            self.end_oldest();
        }
        let ended = CancellationToken::new();
        let mut queue = self.queue();
        let number = queue.back().map_or(0, |(number, _)| number + 1);
        queue.push_back((number, ended.clone()));
        drop(queue);
        UnknownPeer {
            peers: self.clone(),
            number,
            ended,
        }
    }

    /// Ends the oldest connection.
    fn end_oldest(&self) {
        if let Some((_, ended)) = self.queue().pop_front() {
            ended.cancel();
        }
    }
}

impl UnknownPeer {
    fn remove(&self) {
        let mut queue = self.peers.queue();
        queue.retain(|(number, _)| *number != self.number);
    }
}

impl Drop for UnknownPeer {
    fn drop(&mut self) {
        self.remove();
    }
}

/// Sends a 503 response to a client, if it reads it.
fn refuse(mut stream: TcpStream, turn: OwnedSemaphorePermit) -> Task {
    task::spawn("refusal", async move {
        let sent = async {
            stream.write_all(SERVICE_UNAVAILABLE).await?;
            stream.shutdown().await?;
            // Unread data would reset the connection before the client has read the response.
            let mut ignored = [0; 4096];
            while stream.read(&mut ignored).await? > 0 {}
            Ok::<_, io::Error>(())
        };
        let _ = tokio::time::timeout(Duration::from_secs(1), sent).await;
        drop(turn);
    })
}

struct Connection {
    router: Router,
    place: ConnectionSlot,
    unsent: Duration,
    stop: CancellationToken,
    end: CancellationToken,
}

impl Connection {
    async fn begin(
        self,
        stream: TcpStream,
        tls: Option<TlsAcceptor>,
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        configure_socket(&stream, self.unsent)?;
        match tls {
            None => self.serve(stream).await,
            Some(tls) => {
                let handshake = tokio::time::timeout(FIRST_REQUEST_TIMEOUT, tls.accept(stream));
                let stream = tokio::select! {
                    stream = handshake => stream??,
                    () = self.stop.cancelled() => return Ok(()),
                };
                self.serve(stream).await
            }
        }
    }

    async fn serve(
        self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let (mut router, place) = (self.router, self.place);
        let lingers = place.lingers.clone();
        let has_request = CancellationToken::new();
        let first = has_request.clone();
        let service = TowerToHyperService::new(tower::service_fn(
            move |mut request: http::Request<Incoming>| {
                first.cancel();
                request.extensions_mut().insert(place.clone());
                router.call(request.map(Body::new))
            },
        ));
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_TIMEOUT)
            .serve_connection(
                TokioIo::new(LingeringStream {
                    stream: Some(stream),
                    lingers,
                }),
                service,
            )
            .with_upgrades();
        let mut connection = std::pin::pin!(connection);
        // hyper closes a connection without a request silently: the first request may be in transit.
        let stopped = async {
            self.stop.cancelled().await;
            has_request.cancelled().await;
        };
        let silent = async {
            let first = has_request.cancelled();
            if tokio::time::timeout(FIRST_REQUEST_TIMEOUT, first)
                .await
                .is_ok()
            {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            served = connection.as_mut() => return Ok(served?),
            () = silent => return Ok(()),
            () = stopped => connection.as_mut().graceful_shutdown(),
            () = self.end.cancelled() => connection.as_mut().graceful_shutdown(),
        }
        tokio::select! {
            served = connection.as_mut() => return Ok(served?),
            () = self.end.cancelled() => {}
        }
        match tokio::time::timeout(CLOSE_TIMEOUT, connection).await {
            Ok(served) => Ok(served?),
            Err(_) => Ok(()),
        }
    }
}

/// A connection that reads for a moment when it is dropped, if requested.
struct LingeringStream<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> {
    stream: Option<S>,
    lingers: Arc<AtomicBool>,
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> LingeringStream<S> {
    fn open(&mut self) -> io::Result<Pin<&mut S>> {
        let gone = || io::Error::from(io::ErrorKind::NotConnected);
        self.stream.as_mut().map(Pin::new).ok_or_else(gone)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> Drop for LingeringStream<S> {
    fn drop(&mut self) {
        if let Some(stream) = self.stream.take()
            && self.lingers.load(Ordering::Relaxed)
        {
            drain(stream).detach();
        }
    }
}

/// Closes the write side, and reads the other side to its end.
fn drain(mut stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) -> Task {
    task::spawn("last word", async move {
        let drained = async {
            stream.shutdown().await?;
            let mut ignored = [0; 16 * 1024];
            while stream.read(&mut ignored).await? > 0 {}
            Ok::<_, io::Error>(())
        };
        let _ = tokio::time::timeout(CLOSE_TIMEOUT, drained).await;
    })
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> AsyncRead for LingeringStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.open()?.poll_read(context, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> AsyncWrite for LingeringStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.open()?.poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.open()?.poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream
            .as_ref()
            .is_some_and(AsyncWrite::is_write_vectored)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.open()?.poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.open()?.poll_shutdown(context)
    }
}

/// Sets socket options for small packets, and for clients that disconnected silently.
fn configure_socket(stream: &TcpStream, unsent: Duration) -> io::Result<()> {
    // A response consists of several small packets: otherwise the second would wait for the acknowledgement of the first.
    stream.set_nodelay(true)?;
    #[cfg(not(target_os = "linux"))]
    let _ = unsent;
    #[cfg(target_os = "linux")]
    {
        use rustix::net::sockopt;
        sockopt::set_socket_keepalive(stream, true)?;
        sockopt::set_tcp_keepidle(stream, unsent.max(Duration::from_secs(1)))?;
        // Also for a connected client that does not read. https://man7.org/linux/man-pages/man7/tcp.7.html
        let unsent = u32::try_from(unsent.as_millis()).unwrap_or(u32::MAX);
        sockopt::set_tcp_user_timeout(stream, unsent)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With paused time, the clock advances when no task can run.
    #[tokio::test(start_paused = true)]
    async fn an_incomplete_request_head_is_disconnected() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let end = CancellationToken::new();
        let listening = Listening {
            listener,
            tls: None,
            most: 10,
            most_unknown: 10,
            unsent: UNSENT_TIMEOUT,
            stop: end.clone(),
            end: end.clone(),
        };
        let served = task::spawn("listener", listening.serve(Router::new()));
        for beginning in ["", "GET / HTTP/1.1\r\nhost: local"] {
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.write_all(beginning.as_bytes()).await.unwrap();
            let mut heard = Vec::new();
            stream.read_to_end(&mut heard).await.unwrap();
            assert!(!heard.starts_with(b"HTTP/1.1 2"));
        }
        end.cancel();
        served.ended().await;
    }
}
