//! A screen that nobody sees, for browsers that have no mode without windows: one X server for the whole of this process.

use super::process::Process;
use super::profile::Profile;
use crate::error::{Error, Result};
use futures_util::FutureExt as _;
use std::path::Path;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::io::AsyncReadExt as _;

/// Larger than any window that somebody wants.
const SCREEN: &str = "5120x4096x24";

/// How long a server may take before it is ended, and another one started; it takes a tenth of a second.
const START_TIMEOUT: Duration = Duration::from_secs(5);

/// A screen; the server behind it ends with the last one who has it.
#[derive(Debug)]
pub(super) struct Display {
    /// Such as `:99`.
    pub(super) name: String,
    server: Process,
}

static SHARED: tokio::sync::Mutex<Weak<Display>> = tokio::sync::Mutex::const_new(Weak::new());

impl Display {
    /// The screen of this process; it is made if there is none.
    pub(super) async fn shared() -> Result<Arc<Self>> {
        let mut shared = SHARED.lock().await;
        // Somebody may have ended it meanwhile.
        let known = shared.upgrade();
        let runs = |display: &Arc<Self>| display.server.exit().now_or_never().is_none();
        if let Some(display) = known.filter(runs) {
            return Ok(display);
        }
        let display = match tokio::time::timeout(START_TIMEOUT, Self::start()).await {
            Ok(display) => display?,
            Err(_) => {
                tracing::warn!("Xvfb does not get ready and is restarted");
                Self::start().await?
            }
        };
        let display = Arc::new(display);
        *shared = Arc::downgrade(&display);
        Ok(display)
    }

    /// Ends it, unless others have it too; nothing of it is left then.
    pub(super) async fn leave(self: Arc<Self>) {
        if let Some(display) = Arc::into_inner(self) {
            display.server.end(Duration::ZERO).await;
        }
    }

    async fn start() -> Result<Self> {
        let failed = |reason: String| Error::LaunchFailed {
            reason,
            log: String::new(),
        };
        let profile = Profile::temporary().map_err(|error| failed(error.to_string()))?;
        // It takes the first number that is free, and writes it where it is told.
        let args = [
            "-displayfd",
            "4",
            "-screen",
            "0",
            SCREEN,
            "-nolisten",
            "tcp",
            "-noreset",
        ];
        let args = args.map(str::to_owned);
        let (server, pipe) = Process::start(Path::new("Xvfb"), &args, &[], profile)
            .await
            .map_err(|error| {
                failed(format!(
                    "{error}\nWebKit needs a display, or Xvfb: run `playhouse install webkit`."
                ))
            })?;
        let mut reader = tokio::fs::File::from_std(pipe.reader.into());
        let mut number = String::new();
        let mut byte = [0];
        while reader.read(&mut byte).await.unwrap_or(0) == 1 && byte[0] != b'\n' {
            number.push(char::from(byte[0]));
        }
        if number.is_empty() {
            return Err(Error::LaunchFailed {
                reason: format!("Xvfb does not start ({})", server.exit().await),
                log: server.recent_output().await,
            });
        }
        Ok(Self {
            name: format!(":{number}"),
            server,
        })
    }
}
