//! Free TCP ports.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, TcpListener};

/// The largest number of ports that are skipped because they are free for only one of IPv4 and IPv6.
const MAX_PORT_ATTEMPTS: usize = 50;

/// Returns a port without a listener: the preferred one, if it is free. Another process may bind it at any time.
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

/// Returns whether the port has no listener, at any address of this machine.
pub(crate) fn is_free(port: u16) -> bool {
    let in_use = |bound: io::Result<TcpListener>| {
        bound.is_err_and(|error| error.kind() == io::ErrorKind::AddrInUse)
    };
    !in_use(TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)))
        && !in_use(TcpListener::bind((Ipv6Addr::UNSPECIFIED, port)))
}
