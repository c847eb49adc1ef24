//! The client's side of SOCKS 4 (<https://www.openssh.com/txt/socks4.protocol>), 4a (<https://www.openssh.com/txt/socks4a.protocol>) and 5
//! (<https://www.rfc-editor.org/rfc/rfc1928>).

use super::rules::Destination;
use std::io;
use std::net::IpAddr;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

/// The command that opens a connection, in each version.
const CONNECT: u8 = 1;
/// The methods of authentication: none, and <https://www.rfc-editor.org/rfc/rfc1929>.
const NO_AUTHENTICATION: u8 = 0;
const PASSWORD: u8 = 2;

/// Why a SOCKS proxy made no connection.
#[derive(Debug, thiserror::Error)]
pub(super) enum SocksError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("user names and passwords for SOCKS have 1 to 255 bytes")]
    InvalidCredentials,
    #[error("SOCKS 4 does not support IPv6")]
    NoIpv6,
    #[error("the reply is not SOCKS")]
    InvalidReply,
    #[error("it requires another method of authentication")]
    NoMethod,
    #[error("it does not accept the user name and password")]
    WrongCredentials,
    #[error("{0}")]
    Refused(&'static str),
}

/// Opens a connection with SOCKS 4, or with SOCKS 4a if the destination is a name.
pub(super) async fn connect_v4<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut S,
    destination: &Destination,
    user: &str,
) -> Result<(), SocksError> {
    if user.len() > 255 || user.contains('\0') {
        return Err(SocksError::InvalidCredentials);
    }
    let mut request = vec![4, CONNECT];
    request.extend(destination.port.to_be_bytes());
    let name = match destination.ip() {
        Some(IpAddr::V4(address)) => {
            request.extend(address.octets());
            None
        }
        Some(IpAddr::V6(_)) => return Err(SocksError::NoIpv6),
        None => {
            request.extend([0, 0, 0, 1]);
            Some(destination.host.to_string())
        }
    };
    request.extend(user.bytes().chain([0]));
    if let Some(name) = name {
        request.extend(name.bytes().chain([0]));
    }
    send(stream, &request).await?;
    match receive::<8, _>(stream).await? {
        [0, 90, ..] => Ok(()),
        [0, 91, ..] => Err(SocksError::Refused("request rejected or failed")),
        [0, 92 | 93, ..] => Err(SocksError::Refused("identd did not confirm the user")),
        _ => Err(SocksError::InvalidReply),
    }
}

/// Opens a connection with SOCKS 5.
pub(super) async fn connect_v5<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut S,
    destination: &Destination,
    credentials: Option<(&str, &str)>,
) -> Result<(), SocksError> {
    authenticate(stream, credentials).await?;
    let mut request = vec![5, CONNECT, 0];
    match destination.ip() {
        Some(IpAddr::V4(address)) => {
            request.push(1);
            request.extend(address.octets());
        }
        Some(IpAddr::V6(address)) => {
            request.push(4);
            request.extend(address.octets());
        }
        None => {
            request.push(3);
            extend_counted(&mut request, &destination.host.to_string())
                .ok_or(SocksError::Refused("the name of the host is too long"))?;
        }
    }
    request.extend(destination.port.to_be_bytes());
    send(stream, &request).await?;
    let [5, reply, 0, kind] = receive::<4, _>(stream).await? else {
        return Err(SocksError::InvalidReply);
    };
    let refused = match reply {
        0 => None,
        1 => Some("general SOCKS server failure"),
        2 => Some("connection not allowed by ruleset"),
        3 => Some("network unreachable"),
        4 => Some("host unreachable"),
        5 => Some("connection refused"),
        6 => Some("TTL expired"),
        7 => Some("command not supported"),
        8 => Some("address type not supported"),
        _ => return Err(SocksError::InvalidReply),
    };
    if let Some(reason) = refused {
        return Err(SocksError::Refused(reason));
    }
    // The address from which the proxy connects is of no use.
    let length = match kind {
        1 => 4,
        3 => receive::<1, _>(stream).await?[0].into(),
        4 => 16,
        _ => return Err(SocksError::InvalidReply),
    };
    stream.read_exact(&mut vec![0; length + 2]).await?;
    Ok(())
}

async fn authenticate<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut S,
    credentials: Option<(&str, &str)>,
) -> Result<(), SocksError> {
    let mut message = vec![1];
    let methods: &[u8] = match credentials {
        Some((user, password)) => {
            for text in [user, password] {
                extend_counted(&mut message, text).ok_or(SocksError::InvalidCredentials)?;
            }
            &[5, 2, NO_AUTHENTICATION, PASSWORD]
        }
        None => &[5, 1, NO_AUTHENTICATION],
    };
    send(stream, methods).await?;
    match receive::<2, _>(stream).await? {
        [5, NO_AUTHENTICATION] => return Ok(()),
        [5, PASSWORD] if credentials.is_some() => {}
        [5, _] => return Err(SocksError::NoMethod),
        _ => return Err(SocksError::InvalidReply),
    }
    send(stream, &message).await?;
    match receive::<2, _>(stream).await? {
        [1, 0] => Ok(()),
        [1, _] => Err(SocksError::WrongCredentials),
        _ => Err(SocksError::InvalidReply),
    }
}

/// Adds the length of a text as one byte, and the text; `None` if it is empty or too long.
fn extend_counted(message: &mut Vec<u8>, text: &str) -> Option<()> {
    let length = u8::try_from(text.len()).ok().filter(|length| *length > 0)?;
    message.push(length);
    message.extend(text.bytes());
    Some(())
}

async fn send<S: AsyncWrite + Unpin>(stream: &mut S, message: &[u8]) -> io::Result<()> {
    stream.write_all(message).await?;
    stream.flush().await
}

async fn receive<const N: usize, S: AsyncRead + Unpin>(stream: &mut S) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    stream.read_exact(&mut bytes).await?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::duplex;
    use url::Host;

    fn destination(host: &str) -> Destination {
        Destination {
            host: Host::parse(host).expect("a host"),
            port: 443,
        }
    }

    /// Returns the result with a proxy that sends these bytes, and what it received.
    async fn v4(host: &str, user: &str, reply: &[u8]) -> (Result<(), String>, Vec<u8>) {
        let (mut near, mut far) = duplex(1024);
        far.write_all(reply).await.expect("room");
        far.shutdown().await.expect("open");
        let connected = connect_v4(&mut near, &destination(host), user).await;
        drop(near);
        let mut sent = Vec::new();
        far.read_to_end(&mut sent).await.expect("all of it");
        (connected.map_err(|error| error.to_string()), sent)
    }

    /// The same for SOCKS 5.
    async fn v5(
        host: &str,
        credentials: Option<(&str, &str)>,
        reply: &[u8],
    ) -> (Result<(), String>, Vec<u8>) {
        let (mut near, mut far) = duplex(1024);
        far.write_all(reply).await.expect("room");
        far.shutdown().await.expect("open");
        let connected = connect_v5(&mut near, &destination(host), credentials).await;
        drop(near);
        let mut sent = Vec::new();
        far.read_to_end(&mut sent).await.expect("all of it");
        (connected.map_err(|error| error.to_string()), sent)
    }

    #[tokio::test]
    async fn socks_4_sends_addresses_and_socks_4a_names() {
        let granted = [0, 90, 0, 0, 0, 0, 0, 0];
        let (connected, sent) = v4("10.0.0.1", "me", &granted).await;
        assert_eq!(
            (connected, &*sent),
            (Ok(()), &b"\x04\x01\x01\xbb\x0a\x00\x00\x01me\0"[..])
        );
        let (connected, sent) = v4("site.test", "", &granted).await;
        assert_eq!(
            (connected, &*sent),
            (Ok(()), &b"\x04\x01\x01\xbb\0\0\0\x01\0site.test\0"[..])
        );
    }

    #[tokio::test]
    async fn socks_4_reports_why_there_is_no_connection() {
        for (host, user, reply, reason) in [
            (
                "a",
                "",
                &[0, 91, 0, 0, 0, 0, 0, 0][..],
                "request rejected or failed",
            ),
            (
                "a",
                "",
                &[0, 93, 0, 0, 0, 0, 0, 0],
                "identd did not confirm the user",
            ),
            ("a", "", b"HTTP/1.1", "the reply is not SOCKS"),
            ("[::1]", "", &[], "SOCKS 4 does not support IPv6"),
            (
                "a",
                "a\0b",
                &[],
                "user names and passwords for SOCKS have 1 to 255 bytes",
            ),
        ] {
            assert_eq!(v4(host, user, reply).await.0, Err(reason.to_owned()));
        }
    }

    #[tokio::test]
    async fn socks_5_sends_names_and_addresses_and_reads_the_whole_reply() {
        let to_name = b"\x05\x01\0\x05\x01\0\x03\x09site.test\x01\xbb";
        let to_address = b"\x05\x01\0\x05\x01\0\x04\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\x01\xbb";
        for (host, sent, reply) in [
            (
                "site.test",
                &to_name[..],
                &b"\x05\0\x05\0\0\x01\0\0\0\0\0\0"[..],
            ),
            ("[::1]", to_address, b"\x05\0\x05\0\0\x03\x01x\0\0"),
            (
                "[::1]",
                to_address,
                b"\x05\0\x05\0\0\x04\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
            ),
        ] {
            assert_eq!(v5(host, None, reply).await, (Ok(()), sent.to_vec()));
            let (cut, _) = v5(host, None, &reply[..reply.len() - 1]).await;
            assert!(cut.is_err());
        }
    }

    #[tokio::test]
    async fn socks_5_reports_why_there_is_no_connection() {
        let me = Some(("me", "secret"));
        let long = "x".repeat(256);
        for (credentials, reply, reason) in [
            (
                None,
                &b"\x05\x02"[..],
                "it requires another method of authentication",
            ),
            (
                me,
                b"\x05\xff",
                "it requires another method of authentication",
            ),
            (
                me,
                b"\x05\x02\x01\x01",
                "it does not accept the user name and password",
            ),
            (
                None,
                b"\x05\0\x05\x02\0\x01",
                "connection not allowed by ruleset",
            ),
            (None, b"\x05\0\x05\0\0\x02", "the reply is not SOCKS"),
            (None, b"HT", "the reply is not SOCKS"),
            (
                Some(("me", "")),
                b"",
                "user names and passwords for SOCKS have 1 to 255 bytes",
            ),
            (
                Some((&*long, "x")),
                b"",
                "user names and passwords for SOCKS have 1 to 255 bytes",
            ),
        ] {
            assert_eq!(v5("a", credentials, reply).await.0, Err(reason.to_owned()));
        }
    }
}
