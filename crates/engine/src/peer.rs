//! The owner of the process at the other end of a local connection.

#[cfg(target_os = "linux")]
pub(crate) use linux::in_table;
use std::net::SocketAddr;

/// Returns whether a process of the current user owns the socket `peer`, which is connected to `local`. Systems other than Linux do not
/// provide the owner.
pub(crate) fn is_same_user(peer: SocketAddr, local: SocketAddr) -> bool {
    #[cfg(target_os = "linux")]
    return linux::owner(peer, local) == Some(rustix::process::geteuid().as_raw());
    #[cfg(not(target_os = "linux"))]
    return {
        let _ = (peer, local);
        true
    };
}

#[cfg(target_os = "linux")]
mod linux {
    use rustix::io::{Errno, Result};
    use rustix::net::netlink::{SOCK_DIAG, SocketAddrNetlink};
    use rustix::net::{
        AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, sendto, socket_with,
    };
    use std::net::{SocketAddr, SocketAddrV4};

    /// `SOCK_DIAG_BY_FAMILY`
    const BY_FAMILY: u16 = 20;
    /// `NLM_F_REQUEST`
    const IS_REQUEST: u16 = 1;
    /// `AF_INET` and `IPPROTO_TCP`
    const TCP_OVER_IPV4: [u8; 2] = [2, 6];
    /// `TCP_LISTEN`
    const LISTENS: u8 = 10;
    /// The bytes before the body of a message.
    const HEADER: usize = 16;
    /// The bytes of the addresses in a message, without the interface and the cookie.
    const ADDRESSES: usize = 36;

    /// Returns the user id of the socket that is bound to `from` and connected to `to`.
    pub(super) fn owner(from: SocketAddr, to: SocketAddr) -> Option<u32> {
        let (SocketAddr::V4(from), SocketAddr::V4(to)) = (from, to) else {
            return None;
        };
        // Containers may lack this interface of the kernel.
        request_owner(from, to).unwrap_or_else(|_| {
            let table = std::fs::read_to_string("/proc/net/tcp").unwrap_or_default();
            owner_in(&table, from, to)
        })
    }

    /// Requests the owner of a socket from the kernel. The time does not depend on the number of sockets.
    /// <https://man7.org/linux/man-pages/man7/sock_diag.7.html>
    pub(super) fn request_owner(from: SocketAddrV4, to: SocketAddrV4) -> Result<Option<u32>> {
        let mut addresses = Vec::with_capacity(ADDRESSES);
        addresses.extend(from.port().to_be_bytes());
        addresses.extend(to.port().to_be_bytes());
        for address in [from, to] {
            addresses.extend(address.ip().octets());
            addresses.resize(addresses.len() + 12, 0);
        }
        let mut body = TCP_OVER_IPV4.to_vec();
        // No extensions, and sockets in any state.
        body.extend([0, 0, 0xff, 0xff, 0xff, 0xff]);
        body.extend(&addresses);
        // Any interface, and no cookie.
        body.extend([0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
        let length = u32::try_from(HEADER + body.len()).unwrap_or_default();
        let mut request = length.to_ne_bytes().to_vec();
        request.extend(BY_FAMILY.to_ne_bytes());
        request.extend(IS_REQUEST.to_ne_bytes());
        request.extend([0; 8]);
        request.extend(body);

        let socket = socket_with(
            AddressFamily::NETLINK,
            SocketType::DGRAM,
            SocketFlags::CLOEXEC,
            Some(SOCK_DIAG),
        )?;
        let kernel = SocketAddrNetlink::new(0, 0);
        sendto(&socket, &request, SendFlags::empty(), &kernel)?;
        let mut response = [0; 512];
        let (length, _) = recv(&socket, &mut response, RecvFlags::DONTWAIT)?;
        parse(&response[..length], &addresses)
    }

    /// Returns the user id in a response about the socket with these addresses. `None`: there is no such socket.
    fn parse(response: &[u8], addresses: &[u8]) -> Result<Option<u32>> {
        let number = |at: usize| {
            let bytes = response.get(at..at + 4)?;
            Some(u32::from_ne_bytes(bytes.try_into().ok()?))
        };
        let kind = response.get(4..6).ok_or(Errno::PROTO)?;
        if kind != BY_FAMILY.to_ne_bytes() {
            // The other kind is an error with the negative number of it.
            let error = number(HEADER).ok_or(Errno::PROTO)?.wrapping_neg();
            let error = Errno::from_raw_os_error(error.cast_signed());
            return if error == Errno::NOENT {
                Ok(None)
            } else {
                Err(error)
            };
        }
        let body = &response[HEADER..];
        // A socket that listens on the same port is the answer if there is no connected one.
        let is_it = body.get(1).is_some_and(|state| *state != LISTENS)
            && body.get(4..4 + ADDRESSES) == Some(addresses);
        // Before it are the interface, the cookie, a timer and the lengths of two queues.
        let owner = number(HEADER + 4 + ADDRESSES + 12 + 12);
        Ok(owner.filter(|_| is_it))
    }

    /// Returns the owner of a socket according to `/proc/net/tcp`. <https://docs.kernel.org/networking/proc_net_tcp.html>
    pub(super) fn owner_in(table: &str, from: SocketAddrV4, to: SocketAddrV4) -> Option<u32> {
        let (from, to) = (in_table(from), in_table(to));
        let mut rows = table.lines().map(|line| line.split_ascii_whitespace());
        rows.find_map(|mut columns| {
            let is_it = columns.nth(1)? == from && columns.next()? == to;
            is_it.then(|| columns.nth(4)?.parse().ok()).flatten()
        })
    }

    /// Returns an address as `/proc/net/tcp` has it.
    pub(crate) fn in_table(address: SocketAddrV4) -> String {
        let ip = u32::from_ne_bytes(address.ip().octets());
        format!("{ip:08X}:{:04X}", address.port())
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::linux::{owner, owner_in, request_owner};
    use super::*;
    use std::net::{Ipv4Addr, SocketAddrV4};

    #[cfg(target_endian = "little")]
    #[test]
    fn the_owner_of_a_socket_is_in_the_table_of_the_kernel() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   \
             0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1 1\n   \
             1: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 2 1\n   \
             2: 0100007F:C350 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1001        0 3 1\n";
        let at = |port| SocketAddrV4::new(Ipv4Addr::LOCALHOST, port);
        assert_eq!(owner_in(table, at(50000), at(8080)), Some(1001));
        assert_eq!(owner_in(table, at(50001), at(8080)), None);
    }

    #[tokio::test]
    async fn a_connection_of_this_process_is_of_the_same_user() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
            .await
            .expect("a port");
        let local = listener.local_addr().expect("an address");
        let client = tokio::net::TcpStream::connect(local)
            .await
            .expect("it listens");
        let (_server, peer) = listener.accept().await.expect("a connection");
        assert!(is_same_user(peer, local));
        // Each of the two interfaces of the kernel has it, and neither confuses it with the socket that listens.
        let (SocketAddr::V4(from), SocketAddr::V4(to)) = (peer, local) else {
            panic!("{peer} is no IPv4 address");
        };
        let user = rustix::process::geteuid().as_raw();
        assert_eq!(request_owner(from, to), Ok(Some(user)));
        let table = std::fs::read_to_string("/proc/net/tcp").expect("it is there");
        assert_eq!(owner_in(&table, from, to), Some(user));
        drop(client);
        let unused = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 1);
        assert_eq!(request_owner(to, unused), Ok(None));
        assert_eq!(owner(local, unused.into()), None);
    }
}
