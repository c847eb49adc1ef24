//! A server over HTTP with API keys, in a folder of its own.

use serde_json::{Value, json};
use std::path::PathBuf;
use testkit::{HttpServer, Launch};

/// A server and the folder with its file of keys.
pub(crate) struct KeyServer {
    pub(crate) http: HttpServer,
    folder: tempfile::TempDir,
}

impl KeyServer {
    /// Starts a server with the content of a file of keys. The key of the principal `NAME` must be `NAMEkey`.
    pub(crate) async fn start(launch: Launch, keys: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("keys.txt"), keys).expect("writable");
        let launch = launch.args(["--api-keys", "keys.txt"]);
        let http = HttpServer::start_guarded(launch.workspace(folder.path())).await;
        Self { http, folder }
    }

    /// Returns the path of a file in the folder.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// Sends a request with the key of a principal, and returns the result.
    pub(crate) async fn request(&self, principal: &str, method: &str, params: Value) -> Value {
        let key = format!("{principal}key");
        let header = [("x-api-key", key.as_str())];
        let answer = self.http.rpc("/message", &header, method, params).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()["result"].clone()
    }

    /// Calls a tool with the key of a principal, and returns the result, also of an error.
    pub(crate) async fn call(&self, principal: &str, tool: &str, arguments: Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        self.request(principal, "tools/call", params).await
    }

    /// Calls a tool with the key of a principal. Panics if it returns an error.
    pub(crate) async fn success(&self, principal: &str, tool: &str, arguments: Value) -> Value {
        let result = self.call(principal, tool, arguments.clone()).await;
        assert_ne!(
            result["isError"], true,
            "{principal} {tool} {arguments}: {result}"
        );
        result
    }
}
