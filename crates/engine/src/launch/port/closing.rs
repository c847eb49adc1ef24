//! Closing a port on which another program listens.

use super::ReservedPort;
use crate::launch::process::Process;
use crate::peer::in_table;
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};
use socket2::SockRef;
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::num::NonZeroU32;
use std::os::fd::RawFd;

/// The number of an interface that does not exist.
const NO_INTERFACE: u32 = i32::MAX.cast_unsigned();
/// The kernel's table of sockets.
const TABLE: &str = "/proc/net/tcp";
/// `TCP_ESTABLISHED`, `TCP_SYN_RECV` and `TCP_CLOSE_WAIT`: the states of connections that another program has opened.
const CONNECTED: &[&str] = &["01", "03", "08"];
/// `TCP_LISTEN`
const LISTENS: &str = "0A";

impl ReservedPort {
    /// Makes the kernel refuse further connections to the program that listens; those that it has stay open. Returns whether it has none but
    /// those with `client` and with itself.
    ///
    /// This process takes a copy of the listening socket ([`pidfd_getfd(2)`]) and binds it to an interface that does not exist
    /// (`SO_BINDTOIFINDEX`). The program does not notice: a socket that is closed would wake it up for ever.
    ///
    /// [`pidfd_getfd(2)`]: https://man7.org/linux/man-pages/man2/pidfd_getfd.2.html
    ///
    /// # Errors
    /// If the socket is not found, or the system does not permit it.
    pub(in crate::launch) fn close(
        &self,
        process: &Process,
        client: SocketAddr,
    ) -> io::Result<bool> {
        let own = sockets(process);
        let port = hex(self.address);
        let table = std::fs::read_to_string(TABLE)?;
        let listener = rows(&table).find(|row| row.local == port && row.state == LISTENS);
        let listener = listener.and_then(|row| own.iter().find(|socket| socket.inode == row.inode));
        let listener = listener.ok_or_else(|| io::Error::other("its socket is not found"))?;
        let member = pidfd_open(listener.process, PidfdFlags::empty())?;
        let copy = pidfd_getfd(member, listener.number, PidfdGetfdFlags::empty())?;
        SockRef::from(&copy).bind_device_by_index_v4(NonZeroU32::new(NO_INTERFACE))?;
        if TcpStream::connect(self.address).is_ok() {
            return Err(io::Error::other("it still accepts connections"));
        }

        let client = hex(client);
        let own = sockets(process);
        let table = std::fs::read_to_string(TABLE)?;
        let is_own = |address: &str| {
            let mut ends = rows(&table).filter(|row| row.local == address && row.remote == port);
            ends.any(|end| own.iter().any(|socket| socket.inode == end.inode))
        };
        let mut connected =
            rows(&table).filter(|row| row.local == port && CONNECTED.contains(&row.state));
        Ok(connected.all(|row| row.remote == client || is_own(row.remote)))
    }
}

/// A row of the kernel's table of sockets. <https://docs.kernel.org/networking/proc_net_tcp.html>
struct Row<'a> {
    local: &'a str,
    remote: &'a str,
    state: &'a str,
    inode: &'a str,
}

fn rows(table: &str) -> impl Iterator<Item = Row<'_>> {
    table.lines().filter_map(|line| {
        let mut columns = line.split_ascii_whitespace().skip(1);
        Some(Row {
            local: columns.next()?,
            remote: columns.next()?,
            state: columns.next()?,
            inode: columns.nth(5)?,
        })
    })
}

/// Returns an address as the kernel's table has it.
fn hex(address: SocketAddr) -> String {
    match address {
        SocketAddr::V4(address) => in_table(address),
        SocketAddr::V6(_) => String::new(),
    }
}

/// A file descriptor of a process that refers to a socket.
struct Socket {
    process: Pid,
    number: RawFd,
    inode: String,
}

/// Returns the sockets of a browser.
fn sockets(process: &Process) -> Vec<Socket> {
    let sockets_of = |process: Pid| {
        let open = std::fs::read_dir(format!("/proc/{}/fd", process.as_raw_nonzero()));
        let open = open.into_iter().flatten().flatten();
        open.filter_map(move |entry| {
            let target = std::fs::read_link(entry.path()).ok()?;
            let inode = target
                .to_str()?
                .strip_prefix("socket:[")?
                .strip_suffix(']')?;
            Some(Socket {
                process,
                number: entry.file_name().to_str()?.parse().ok()?,
                inode: inode.to_owned(),
            })
        })
    };
    process.members().into_iter().flat_map(sockets_of).collect()
}
