//! A client of a background server: MCP over its socket, without a handshake, as revision 2026-07-28 has it.

use super::BackgroundError;
use crate::transport::workspace_socket::{GREETING, ServerInfo, WorkspaceSocket};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

/// How long a server may take to greet a client.
const GREETING_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a server that is only listed or stopped may take.
const PROBE_TIMEOUT: Duration = Duration::from_secs(3);

/// A connection to a background server.
pub(crate) struct Connection {
    stream: BufReader<UnixStream>,
    info: ServerInfo,
    requests: u64,
}

/// A message of the server.
#[derive(Deserialize)]
struct Message {
    id: Option<u64>,
    result: Option<Value>,
    error: Option<Value>,
}

/// The first message of the server.
#[derive(Deserialize)]
struct Greeting {
    method: String,
    params: ServerInfo,
}

/// Returns the process that listens on a socket, which the kernel reports.
fn listener(socket: &WorkspaceSocket) -> Option<u32> {
    let stream = UnixStream::connect(socket.path()).ok()?;
    #[cfg(target_os = "linux")]
    {
        let peer = rustix::net::sockopt::socket_peercred(&stream).ok()?;
        u32::try_from(peer.pid.as_raw_nonzero().get()).ok()
    }
    #[cfg(not(target_os = "linux"))]
    {
        drop(stream);
        None
    }
}

impl Connection {
    /// Connects to the server of a workspace; `None` if none listens, or the one that does is ending.
    pub(crate) fn open(socket: &WorkspaceSocket) -> io::Result<Option<Self>> {
        Self::open_within(socket, GREETING_TIMEOUT)
    }

    fn open_within(socket: &WorkspaceSocket, timeout: Duration) -> io::Result<Option<Self>> {
        use io::ErrorKind as Kind;
        let stream = match UnixStream::connect(socket.path()) {
            Ok(stream) => stream,
            Err(error) if matches!(error.kind(), Kind::NotFound | Kind::ConnectionRefused) => {
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        stream.set_read_timeout(Some(timeout))?;
        let mut stream = BufReader::new(stream);
        let mut line = String::new();
        match stream.read_line(&mut line) {
            Ok(0) => return Ok(None),
            Err(error) if error.kind() == Kind::ConnectionReset => return Ok(None),
            read => read?,
        };
        stream.get_ref().set_read_timeout(None)?;
        let greeting: Greeting = serde_json::from_str(&line)?;
        if greeting.method != GREETING {
            return Err(io::Error::new(Kind::InvalidData, "no greeting"));
        }
        Ok(Some(Self {
            stream,
            info: greeting.params,
            requests: 0,
        }))
    }

    /// Returns what the server of a workspace reports about itself; of one that does not respond, its process. `None` if none listens.
    pub(crate) fn probe(socket: &WorkspaceSocket) -> Option<ServerInfo> {
        match Self::open_within(socket, PROBE_TIMEOUT) {
            Ok(server) => server.map(|server| server.info),
            Err(_) => Some(ServerInfo {
                version: String::new(),
                pid: listener(socket)?,
                workspace: PathBuf::new(),
                started_at: 0,
                idle_ms: 0,
                sessions: 0,
                has_sessions: false,
                unresponsive: true,
                arguments: Vec::new(),
                variables: BTreeMap::new(),
            }),
        }
    }

    /// Returns what the server reported about itself.
    pub(crate) fn info(&self) -> &ServerInfo {
        &self.info
    }

    /// Calls a tool and returns the result of the call, or the JSON-RPC error. If this process ends meanwhile, the server cancels the call.
    pub(crate) fn call(
        &mut self,
        tool: &str,
        arguments: &Map<String, Value>,
    ) -> Result<Result<Value, Value>, BackgroundError> {
        self.requests += 1;
        let request = json!({
            "jsonrpc": "2.0",
            "id": self.requests,
            "method": "tools/call",
            "params": {
                "name": tool,
                "arguments": arguments,
                "_meta": {
                    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientCapabilities": {},
                    "io.modelcontextprotocol/clientInfo": {
                        "name": "playhouse do",
                        "version": env!("CARGO_PKG_VERSION"),
                    },
                },
            },
        });
        let answer = self.exchange(request.to_string() + "\n");
        answer.map_err(|error| BackgroundError::Lost(error.to_string()))
    }

    fn exchange(&mut self, request: String) -> io::Result<Result<Value, Value>> {
        self.stream.get_mut().write_all(request.as_bytes())?;
        let mut line = Vec::new();
        loop {
            line.clear();
            if self.stream.read_until(b'\n', &mut line)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let message: Message = serde_json::from_slice(&line)?;
            match (message.result, message.error) {
                (Some(result), _) if message.id == Some(self.requests) => return Ok(Ok(result)),
                // A request that cannot be read has no id.
                (_, Some(error)) if message.id.is_none_or(|id| id == self.requests) => {
                    return Ok(Err(error));
                }
                // Progress, and messages for the log.
                _ => {}
            }
        }
    }
}
