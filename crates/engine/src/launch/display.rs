//! A virtual display for browsers without a headless mode: one X server for this process.

use super::process::Process;
use super::profile::Profile;
use crate::error::{Error, Result};
use futures_util::FutureExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::io::AsyncReadExt as _;
use uuid::Uuid;

/// Larger than any requested window.
const SCREEN: &str = "5120x4096x24";

/// How long a server may take to start before it is replaced; it usually takes a tenth of a second.
const START_TIMEOUT: Duration = Duration::from_secs(5);

/// A virtual display, whose server ends with the last reference.
#[derive(Debug)]
pub(super) struct Display {
    /// The name, such as `:99`.
    name: String,
    /// The file with the cookie that clients must present.
    authority: PathBuf,
    server: Process,
}

static SHARED: tokio::sync::Mutex<Weak<Display>> = tokio::sync::Mutex::const_new(Weak::new());

impl Display {
    /// Returns the display of this process; creates it if necessary.
    pub(super) async fn shared() -> Result<Arc<Self>> {
        let mut shared = SHARED.lock().await;
        // The server may have ended.
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

    /// Returns the variables of programs that use the display.
    pub(super) fn environment(&self) -> [(&'static str, String); 2] {
        let authority = self.authority.display().to_string();
        [("DISPLAY", self.name.clone()), ("XAUTHORITY", authority)]
    }

    /// Releases the display; with the last reference, waits until its server has ended.
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
        // Without a cookie, all users of the machine can see the windows and type into them.
        let authority = profile.dir().join("Xauthority");
        write_cookie(&authority).map_err(|error| Error::File {
            path: authority.display().to_string(),
            reason: error.to_string(),
        })?;
        let file = authority.display().to_string();
        // It uses the first free number, and writes it to the given descriptor.
        let args = [
            "-auth",
            &file,
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
        let (server, pipe) = Process::start("Xvfb", Path::new("Xvfb"), &args, &[], profile)
            .await
            .map_err(|error| {
                failed(format!(
                    "{error}\nWebKit needs a display, or Xvfb: run `playhouse install webkit`."
                ))
            })?;
        let mut reader = pipe.into_reader();
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
            authority,
            server,
        })
    }
}

/// Writes a file with a new cookie into the folder of a profile, which is for this user only. It has the address family, the address, the number
/// of the display, the protocol, and the cookie, each but the first with its length before it (`Xau.h`).
fn write_cookie(path: &Path) -> std::io::Result<()> {
    const ANY: u16 = 0xffff;
    let mut entry = ANY.to_be_bytes().to_vec();
    let cookie = Uuid::new_v4().into_bytes();
    let fields: [&[u8]; 4] = [b"", b"", b"MIT-MAGIC-COOKIE-1", &cookie];
    for field in fields {
        let length = u16::try_from(field.len()).unwrap_or_default();
        entry.extend(length.to_be_bytes());
        entry.extend(field);
    }
    std::fs::write(path, entry)
}
