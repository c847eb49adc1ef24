//! The owner of the process at the other end of a local connection.

#[cfg(any(target_os = "linux", test))]
use std::net::IpAddr;
use std::net::SocketAddr;

/// Returns whether a process of the current user owns the socket `peer`, which is connected to `local`.
#[cfg(target_os = "linux")]
pub(super) fn is_same_user(peer: SocketAddr, local: SocketAddr) -> bool {
    // https://docs.kernel.org/networking/proc_net_tcp.html
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap_or_default();
    owner(&table, peer, local) == Some(rustix::process::geteuid().as_raw())
}

/// The system does not provide the owner.
#[cfg(not(target_os = "linux"))]
pub(super) fn is_same_user(_: SocketAddr, _: SocketAddr) -> bool {
    true
}

/// Returns the user id of the socket that is bound to `from` and connected to `to`.
#[cfg(any(target_os = "linux", test))]
fn owner(table: &str, from: SocketAddr, to: SocketAddr) -> Option<u32> {
    let hex = |address: SocketAddr| match address.ip() {
        IpAddr::V4(ip) => {
            let ip = u32::from_ne_bytes(ip.octets());
            Some(format!("{ip:08X}:{:04X}", address.port()))
        }
        IpAddr::V6(_) => None,
    };
    let (from, to) = (hex(from)?, hex(to)?);
    let mut rows = table.lines().map(|line| line.split_ascii_whitespace());
    rows.find_map(|mut columns| {
        let is_it = columns.nth(1)? == from && columns.next()? == to;
        is_it.then(|| columns.nth(4)?.parse().ok()).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_endian = "little")]
    #[test]
    fn the_owner_of_a_socket_is_in_the_table_of_the_kernel() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   \
             0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1 1\n   \
             1: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 2 1\n   \
             2: 0100007F:C350 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1001        0 3 1\n";
        let at = |port| SocketAddr::from(([127, 0, 0, 1], port));
        assert_eq!(owner(table, at(50000), at(8080)), Some(1001));
        assert_eq!(owner(table, at(50001), at(8080)), None);
    }

    #[tokio::test]
    async fn a_connection_of_this_process_is_of_the_same_user() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
            .await
            .expect("a port");
        let local = listener.local_addr().expect("an address");
        let _client = tokio::net::TcpStream::connect(local)
            .await
            .expect("it listens");
        let (_server, peer) = listener.accept().await.expect("a connection");
        assert!(is_same_user(peer, local));
    }
}
