//! Tunnels: `CONNECT` and connections that switched protocols, whose bytes are forwarded unchanged.

use super::Shared;
use super::dial::{Failure, Stream};
use super::rules::Destination;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use std::io;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional_with_sizes};
use tokio::time::timeout;

/// The size of a read, in bytes.
const BUFFER: usize = 16 * 1024;

/// How long a browser may take to use a tunnel, because it may open one in advance.
const FIRST_BYTES_TIMEOUT: Duration = Duration::from_mins(5);

/// The first byte of TLS: <https://www.rfc-editor.org/rfc/rfc8446#section-5.1>.
const TLS_HANDSHAKE: u8 = 0x16;

/// The tunnel that follows a response.
pub(super) struct Tunnel {
    pub(super) browser: OnUpgrade,
    pub(super) server: Server,
}

pub(super) enum Server {
    Connected(Stream, Destination),
    /// The applicable rules depend on the protocol that the browser uses.
    Undecided(Destination, SchemeRules),
    /// The server switches protocols too.
    Switching(OnUpgrade),
}

/// The rules that block a destination with TLS, and without.
#[derive(Debug)]
pub(super) struct SchemeRules {
    tls: Option<String>,
    plain: Option<String>,
}

impl SchemeRules {
    /// Returns the applicable rules. TLS is `https` or `wss`, which cannot be distinguished: the rules of `wss` decide for both, because a
    /// rule about `https` also applies to `wss`. Without TLS it is `ws`, because browsers request `http` in absolute form.
    pub(super) fn of(shared: &Shared, destination: &Destination) -> Self {
        let rule = |scheme| shared.rules.refusal(scheme, destination);
        Self {
            tls: rule("wss"),
            plain: rule("ws"),
        }
    }

    /// Returns `Ok(true)` if both protocols are allowed, `Ok(false)` if one of them is blocked.
    ///
    /// # Errors
    /// The rule that blocks both.
    pub(super) fn verdict(&self) -> Result<bool, Failure> {
        match (&self.tls, &self.plain) {
            (Some(rule), Some(_)) => Err(Failure::Refused(rule.clone())),
            (None, None) => Ok(true),
            _ => Ok(false),
        }
    }
}

impl Tunnel {
    /// Forwards bytes until either side has closed the connection.
    pub(super) async fn run(self, shared: &Shared) -> io::Result<()> {
        let browser = self.browser.await.map_err(io::Error::other)?;
        let mut browser = TokioIo::new(browser);
        let mut server = match self.server {
            Server::Connected(stream, destination) => match &shared.tls {
                Some(tls) => {
                    return tls
                        .relay(shared, browser, Vec::new(), stream, &destination)
                        .await;
                }
                None => stream,
            },
            Server::Switching(server) => {
                let server = server.await.map_err(io::Error::other)?;
                Box::new(TokioIo::new(server))
            }
            Server::Undecided(destination, rules) => {
                let mut first = vec![0; BUFFER];
                let read = timeout(FIRST_BYTES_TIMEOUT, browser.read(&mut first)).await??;
                let rule = match first[..read].first() {
                    None => return Ok(()),
                    Some(&TLS_HANDSHAKE) => rules.tls,
                    Some(_) => rules.plain,
                };
                if let Some(rule) = rule {
                    tracing::debug!(%destination, rule, "refused");
                    return Ok(());
                }
                let stream = shared.open(&destination).await;
                let mut stream = stream.map_err(io::Error::other)?;
                if let Some(tls) = &shared.tls {
                    first.truncate(read);
                    return tls
                        .relay(shared, browser, first, stream, &destination)
                        .await;
                }
                stream.write_all(&first[..read]).await?;
                stream
            }
        };
        copy_bidirectional_with_sizes(&mut browser, &mut server, BUFFER, BUFFER).await?;
        Ok(())
    }
}
