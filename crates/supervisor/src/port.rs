//! Ports of this machine: which are free.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, TcpListener};

/// How many ports that only one of IPv4 and IPv6 has free are passed over.
const MAX_PORT_ATTEMPTS: usize = 50;

/// A port that nobody listens on: the one that is preferred, if it is free. It may be taken by somebody else at any time.
pub(crate) fn free(preferred: Option<u16>) -> io::Result<u16> {
    if let Some(port) = preferred.filter(|&port| is_free(port)) {
        return Ok(port);
    }
    let mut port = 0;
    for _ in 0..MAX_PORT_ATTEMPTS {
        port = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0))?
            .local_addr()?
            .port();
        if is_free(port) {
            break;
        }
    }
    Ok(port)
}

/// Whether nobody listens on it, at any address of this machine.
pub(crate) fn is_free(port: u16) -> bool {
    let in_use = |bound: io::Result<TcpListener>| {
        bound.is_err_and(|error| error.kind() == io::ErrorKind::AddrInUse)
    };
    !in_use(TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)))
        && !in_use(TcpListener::bind((Ipv6Addr::UNSPECIFIED, port)))
}
