//! Ports for programs that do not choose one themselves.

#[cfg(target_os = "linux")]
mod closing;

use super::process::Process;
use crate::error::{Error, Result};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;
use tokio::net::{TcpSocket, TcpStream};

/// The interval between checks of a starting program.
const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// How long a program may take to listen.
const LISTEN_TIMEOUT: Duration = Duration::from_secs(60);

/// A port of the loopback address for a program that gets it as an argument.
///
/// On Linux, the port is bound until this is dropped, and never listens. The kernel then assigns it to no other process at that address,
/// and a program that names it and sets `SO_REUSEADDR`, as servers do, can bind it too (`ip(7)`, `socket(7)`). Elsewhere, another process
/// may get the port before the program does.
pub(super) struct ReservedPort {
    address: SocketAddr,
    _bound: Option<TcpSocket>,
}

impl ReservedPort {
    /// Reserves a port without a listener.
    ///
    /// # Errors
    /// If no port is free.
    pub(super) fn new() -> Result<Self> {
        let reserve = || {
            let socket = TcpSocket::new_v4()?;
            socket.set_reuseaddr(true)?;
            socket.bind((Ipv4Addr::LOCALHOST, 0).into())?;
            let address = socket.local_addr()?;
            Ok(Self {
                address,
                _bound: cfg!(target_os = "linux").then_some(socket),
            })
        };
        reserve().map_err(|error: std::io::Error| Error::LaunchFailed {
            reason: format!("cannot reserve a port: {error}"),
            log: String::new(),
        })
    }

    /// Makes the kernel refuse further connections to the program that listens.
    ///
    /// # Errors
    /// Always: only Linux has a way.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn close(&self, _: &Process, _: SocketAddr) -> std::io::Result<bool> {
        Err(std::io::ErrorKind::Unsupported.into())
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Waits until a process listens, and returns a connection to it.
    ///
    /// # Errors
    /// If the process exits, or does not listen within a minute.
    pub(super) async fn connect(&self, process: &Process, name: &str) -> Result<TcpStream> {
        let listening = async {
            loop {
                match TcpStream::connect(self.address).await {
                    Ok(connection) => break connection,
                    Err(_) => tokio::time::sleep(POLL_INTERVAL).await,
                }
            }
        };
        let failed = |reason: String, log: String| Error::LaunchFailed {
            reason: format!("{name} does not start ({reason})"),
            log,
        };
        tokio::select! {
            biased;
            listening = tokio::time::timeout(LISTEN_TIMEOUT, listening) => match listening {
                Ok(connection) => Ok(connection),
                Err(_) => Err(failed("it does not listen".to_owned(), process.recent_output().await)),
            },
            reason = process.exit() => Err(failed(reason, process.recent_output().await)),
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::net::TcpListener;

    /// Enough that the kernel assigns a port that is not reserved in nearly every run.
    const PORTS: usize = 30_000;

    #[tokio::test]
    async fn a_reserved_port_is_assigned_to_no_other_process() {
        let reserved = ReservedPort::new().expect("a port");
        for _ in 0..PORTS {
            let assigned = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
            let assigned = assigned.local_addr().expect("an address");
            assert_ne!(assigned, reserved.address());
        }
    }

    #[tokio::test]
    async fn the_program_binds_its_reserved_port() {
        let reserved = ReservedPort::new().expect("a port");
        assert!(TcpStream::connect(reserved.address()).await.is_err());
        // The standard library sets `SO_REUSEADDR`.
        let program = TcpListener::bind(reserved.address()).expect("it can be bound");
        TcpStream::connect(reserved.address())
            .await
            .expect("the program listens");
        drop(reserved);
        program.accept().expect("it still listens");
    }
}
