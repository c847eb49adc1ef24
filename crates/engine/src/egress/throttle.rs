//! Throttling: a rate in bytes per second that all connections share, and latency.

use crate::backend::Throttling;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

/// The part of a second that is sent at once: small enough for connections to alternate.
const QUANTUM: f64 = 0.02;

/// The part of a second that may be sent at once after a pause: larger than the inaccuracy of timers.
const BURST: f64 = 0.1;

/// The longest wait before the rate is read again, because it may change.
const MAX_WAIT: Duration = Duration::from_millis(100);

/// The largest size of received data that waits for the latency, in bytes.
const MAX_BUFFERED: usize = 16 * 1024;

/// The throttling of one browser context.
#[derive(Debug)]
pub(super) struct Throttle {
    latency: Mutex<Duration>,
    download: Bucket,
    upload: Bucket,
}

/// A token bucket whose tokens are bytes.
#[derive(Debug)]
struct Bucket(Mutex<Tokens>);

#[derive(Debug)]
struct Tokens {
    /// The bytes per second.
    rate: Option<f64>,
    available: f64,
    at: Instant,
}

impl Throttle {
    pub(super) fn new(throttling: Throttling) -> Self {
        let bucket = || {
            Bucket(Mutex::new(Tokens {
                rate: None,
                available: 0.0,
                at: Instant::now(),
            }))
        };
        let throttle = Self {
            latency: Mutex::default(),
            download: bucket(),
            upload: bucket(),
        };
        throttle.set(throttling);
        throttle
    }

    pub(super) fn set(&self, throttling: Throttling) {
        let latency = Duration::try_from_secs_f64(throttling.latency / 1000.0);
        *self.latency.lock().expect("not poisoned") = latency.unwrap_or_default();
        self.download.set(throttling.download);
        self.upload.set(throttling.upload);
    }

    fn latency(&self) -> Duration {
        *self.latency.lock().expect("not poisoned")
    }
}

impl Bucket {
    fn set(&self, rate: Option<f64>) {
        let mut tokens = self.0.lock().expect("not poisoned");
        tokens.rate = rate.filter(|rate| *rate > 0.0);
        tokens.available = 0.0;
        tokens.at = Instant::now();
    }

    /// Returns how many bytes may pass now, or how long to wait.
    fn available(&self) -> Result<usize, Duration> {
        let mut tokens = self.0.lock().expect("not poisoned");
        let Some(rate) = tokens.rate else {
            return Ok(usize::MAX);
        };
        let quantum = (rate * QUANTUM).max(1.0);
        let now = Instant::now();
        let earned = rate * (now - tokens.at).as_secs_f64();
        tokens.at = now;
        tokens.available = (tokens.available + earned).min((rate * BURST).max(1.0));
        let missing = quantum - tokens.available;
        // Tolerates rounding errors.
        if missing > 1e-6 * quantum {
            let wait = Duration::try_from_secs_f64(missing / rate).unwrap_or(MAX_WAIT);
            return Err(wait.clamp(Duration::from_millis(1), MAX_WAIT));
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "positive, and as many as fit"
        )]
        Ok(tokens.available.round() as usize)
    }

    /// Takes the bytes that have passed. Several connections may have got the same bytes: the tokens then become negative.
    fn take(&self, bytes: usize) {
        let mut tokens = self.0.lock().expect("not poisoned");
        if tokens.rate.is_some() {
            #[expect(clippy::cast_precision_loss, reason = "a part of a second's bytes")]
            let bytes = bytes as f64;
            tokens.available -= bytes;
        }
    }
}

/// A connection of a browser; data read from it is upload. When the browser sends after it received something, as with each request, that
/// data is delayed by the latency.
#[derive(Debug)]
pub(super) struct Throttled<S> {
    inner: S,
    throttle: Arc<Throttle>,
    reading: Option<Pin<Box<Sleep>>>,
    writing: Option<Pin<Box<Sleep>>>,
    /// Received data that waits for the latency.
    held: Vec<u8>,
    /// Whether the next bytes of the browser follow received data.
    is_turn: bool,
}

impl<S> Throttled<S> {
    pub(super) fn new(inner: S, throttle: Arc<Throttle>) -> Self {
        Self {
            inner,
            throttle,
            reading: None,
            writing: None,
            held: Vec::new(),
            is_turn: true,
        }
    }
}

fn poll_wait(waiting: &mut Option<Pin<Box<Sleep>>>, cx: &mut Context<'_>) -> Poll<()> {
    if let Some(wait) = waiting {
        ready!(wait.as_mut().poll(cx));
        *waiting = None;
    }
    Poll::Ready(())
}

impl<S: AsyncRead + Unpin> AsyncRead for Throttled<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        loop {
            ready!(poll_wait(&mut this.reading, cx));
            if !this.held.is_empty() {
                let count = this.held.len().min(buf.remaining());
                buf.put_slice(&this.held[..count]);
                this.held.drain(..count);
                return Poll::Ready(Ok(()));
            }
            let available = match this.throttle.upload.available() {
                Ok(available) => available,
                Err(wait) => {
                    this.reading = Some(Box::pin(sleep(wait)));
                    continue;
                }
            };
            let latency = match this.is_turn {
                true => this.throttle.latency(),
                false => Duration::ZERO,
            };
            if latency.is_zero() {
                let count = available.min(buf.remaining());
                let mut part = ReadBuf::new(buf.initialize_unfilled_to(count));
                ready!(Pin::new(&mut this.inner).poll_read(cx, &mut part))?;
                let count = part.filled().len();
                buf.advance(count);
                this.throttle.upload.take(count);
                this.is_turn &= count == 0;
                return Poll::Ready(Ok(()));
            }
            let mut bytes = vec![0; available.min(MAX_BUFFERED)];
            let mut part = ReadBuf::new(&mut bytes);
            ready!(Pin::new(&mut this.inner).poll_read(cx, &mut part))?;
            let count = part.filled().len();
            if count == 0 {
                return Poll::Ready(Ok(()));
            }
            bytes.truncate(count);
            this.held = bytes;
            this.throttle.upload.take(count);
            this.is_turn = false;
            this.reading = Some(Box::pin(sleep(latency)));
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Throttled<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        loop {
            ready!(poll_wait(&mut this.writing, cx));
            match this.throttle.download.available() {
                Err(wait) => this.writing = Some(Box::pin(sleep(wait))),
                Ok(available) => {
                    let bytes = &bytes[..available.min(bytes.len())];
                    let count = ready!(Pin::new(&mut this.inner).poll_write(cx, bytes))?;
                    this.throttle.download.take(count);
                    this.is_turn = true;
                    return Poll::Ready(Ok(count));
                }
            }
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

    fn throttling(download: Option<f64>, upload: Option<f64>, latency: f64) -> Throttling {
        Throttling {
            download,
            upload,
            latency,
        }
    }

    /// Transfers that many bytes in that direction. With paused time, the clock advances only when no task can run.
    async fn transfer(throttle: &Arc<Throttle>, bytes: usize, download: bool) -> Duration {
        let (mut far, near) = duplex(1 << 20);
        let mut near = Throttled::new(near, throttle.clone());
        let (text, mut read) = (vec![b'x'; bytes], vec![0; bytes]);
        let start = Instant::now();
        if download {
            near.write_all(&text).await.expect("room");
            far.read_exact(&mut read).await.expect("all of it");
        } else {
            far.write_all(&text).await.expect("room");
            near.read_exact(&mut read).await.expect("all of it");
        }
        assert_eq!(read, text);
        start.elapsed()
    }

    fn is_about(time: Duration, seconds: f64) -> bool {
        (time.as_secs_f64() - seconds).abs() < 0.05 * seconds + 0.05
    }

    #[tokio::test(start_paused = true)]
    async fn each_direction_has_its_own_rate() {
        let throttle = Arc::new(Throttle::new(throttling(
            Some(10_000.0),
            Some(1_000.0),
            0.0,
        )));
        let (down, up) = (
            transfer(&throttle, 20_000, true).await,
            transfer(&throttle, 5_000, false).await,
        );
        assert!(is_about(down, 2.0) && is_about(up, 5.0), "{down:?} {up:?}");
        throttle.set(Throttling::default());
        assert_eq!(transfer(&throttle, 500_000, true).await, Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn connections_share_the_rate() {
        let throttle = Arc::new(Throttle::new(throttling(Some(10_000.0), None, 0.0)));
        let start = Instant::now();
        let passes = (0..4).map(|_| transfer(&throttle, 10_000, true));
        futures_util::future::join_all(passes).await;
        assert!(is_about(start.elapsed(), 4.0), "{:?}", start.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn latency_is_added_once_for_each_exchange() {
        let throttle = Arc::new(Throttle::new(throttling(None, None, 300.0)));
        let (mut far, near) = duplex(1 << 20);
        let mut near = Throttled::new(near, throttle);
        let start = Instant::now();
        for round in 1..=3_u32 {
            for _ in 0..2 {
                far.write_all(b"request").await.expect("room");
                near.read_exact(&mut [0; 7]).await.expect("all of it");
            }
            let late = start.elapsed().as_secs_f64();
            let expected = 0.3 * f64::from(round);
            assert!((late - expected).abs() < 0.01, "{late} {expected}");
            near.write_all(b"answer").await.expect("room");
            far.read_exact(&mut [0; 6]).await.expect("all of it");
        }
    }
}
