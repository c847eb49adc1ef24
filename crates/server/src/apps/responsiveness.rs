//! Whether a server that accepts connections still responds.

use super::DevServer;
use std::time::Duration;
use supervisor::processes::processor_time;
use tokio::time::Instant;

/// The time before the first request. Most pages are open by then.
const DELAY: Duration = Duration::from_secs(4);

/// The time in which a request must get a response.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(4);

/// The number of requests in a row without a response.
const REQUESTS: u32 = 3;

/// A server that uses more than this part of a processor is at work: a first request may have it compile for minutes.
const MAX_IDLE_LOAD: f64 = 0.2;

impl DevServer {
    /// Waits until the server is known not to respond: several requests in a row got no response, and its processes were idle meanwhile.
    /// Waits forever where the processor time of processes is not read, for an app that Playhouse has not started, and for a server that
    /// refuses connections, which fails the navigation at once. Returns the reason of the failure.
    pub(crate) async fn becomes_unresponsive(&self) -> String {
        loop {
            tokio::time::sleep(DELAY).await;
            if let Some(reason) = self.check().await {
                return reason;
            }
        }
    }

    async fn check(&self) -> Option<String> {
        let known = self.known()?;
        let (pid, url) = (known.pid?, known.url?);
        let (before, begin) = (processor_time(pid)?, Instant::now());
        for _ in 0..REQUESTS {
            if responds(&url).await || self.refuses_connections().await {
                return None;
            }
        }
        let elapsed = begin.elapsed().as_secs_f64();
        let used = processor_time(pid)?.saturating_sub(before);
        let is_idle = used.as_secs_f64() < MAX_IDLE_LOAD * elapsed;
        is_idle.then(|| {
            format!(
                "it accepts connections at {url} and does not respond: {REQUESTS} requests got no response in {elapsed:.0} s, and its processes are idle"
            )
        })
    }
}

#[cfg(unix)]
async fn responds(url: &str) -> bool {
    supervisor::responds(url, RESPONSE_TIMEOUT).await
}

#[cfg(not(unix))]
async fn responds(_: &str) -> bool {
    true
}
