//! Where an endpoint is, and who asks there: the parts of a URL, and the first bytes of TCP.

use std::io;

use tokio::net::TcpStream;

use crate::error::ConnectFailure;

/// Tries every address of the host; `localhost` is often two, and a browser listens on one.
pub(crate) async fn tcp(host: &str, port: u16) -> Result<TcpStream, ConnectFailure> {
    let unresolved = |message: String| ConnectFailure::Resolve {
        host: host.into(),
        message,
    };
    let addresses = tokio::net::lookup_host((host, port))
        .await
        .map_err(|error| unresolved(error.to_string()))?;
    let mut failure = unresolved("no address".into());
    for address in addresses {
        match TcpStream::connect(address).await {
            Ok(socket) => {
                // Commands are small and answers are waited for: never collect.
                let _ = socket.set_nodelay(true);
                return Ok(socket);
            }
            Err(error) => {
                let address = format!("{}:{port}", address.ip());
                failure = match error.kind() {
                    io::ErrorKind::ConnectionRefused => ConnectFailure::Refused { address },
                    _ => ConnectFailure::Tcp {
                        address,
                        message: error.to_string(),
                    },
                };
            }
        }
    }
    Err(failure)
}

/// Acknowledges what comes over a connection at once. A browser that collects what is small, as Firefox does, keeps its next answer
/// until then, and Linux takes 40 ms where nothing is sent meanwhile. <https://man7.org/linux/man-pages/man7/tcp.7.html> (`TCP_QUICKACK`)
pub(crate) struct Prompt {
    #[cfg(target_os = "linux")]
    socket: Option<std::os::fd::OwnedFd>,
}

impl Prompt {
    pub(crate) fn of(socket: &TcpStream) -> Self {
        #[cfg(target_os = "linux")]
        {
            use std::os::fd::AsFd as _;
            let socket = socket.as_fd().try_clone_to_owned().ok();
            Self { socket }
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = socket;
            Self {}
        }
    }

    /// To be called whenever something has come: the system forgets it.
    pub(crate) fn acknowledge(&self) {
        #[cfg(target_os = "linux")]
        if let Some(socket) = &self.socket {
            let _ = rustix::net::sockopt::set_tcp_quickack(socket, true);
        }
    }
}

/// Where `user:password` stands in a URL.
fn userinfo(url: &str) -> Option<std::ops::Range<usize>> {
    let start = url.find("://")? + 3;
    let end = url[start..]
        .find(['/', '?', '#'])
        .map_or(url.len(), |end| start + end);
    let at = url[start..end].rfind('@')?;
    Some(start..start + at)
}

pub(crate) fn without_credentials(url: &str) -> String {
    match userinfo(url) {
        Some(range) => format!("{}{}", &url[..range.start], &url[range.end + 1..]),
        None => url.into(),
    }
}

pub(crate) fn credentials(url: &str) -> Option<Vec<u8>> {
    let text = &url[userinfo(url)?];
    let mut decoded = Vec::with_capacity(text.len() + 1);
    let mut rest = text.as_bytes();
    while let [byte, tail @ ..] = rest {
        let escaped = tail
            .get(..2)
            .filter(|_| *byte == b'%')
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        decoded.push(escaped.unwrap_or(*byte));
        rest = if escaped.is_some() { &tail[2..] } else { tail };
    }
    if !text.contains(':') {
        decoded.push(b':');
    }
    Some(decoded)
}

pub(crate) fn excerpt(body: &[u8]) -> String {
    String::from_utf8_lossy(&body[..body.len().min(500)])
        .trim()
        .into()
}
