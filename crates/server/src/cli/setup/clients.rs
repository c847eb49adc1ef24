//! The MCP clients: the locations and formats of their configuration files.

use std::path::{Path, PathBuf};

use jsonc_parser::{
    ParseOptions,
    cst::{CstInputValue, CstRootNode},
};
use serde_json::{Map, Value};
use toml_edit::{Array, DocumentMut, Item, Table, value};

use super::entry::{Entry, KEY};

/// An MCP client.
pub(super) struct Client {
    /// The name on the command line.
    pub(super) name: &'static str,
    /// The next step of the user in the client.
    pub(super) next: &'static str,
    place: ConfigLocation,
    format: Format,
}

/// The location of a configuration file.
enum ConfigLocation {
    /// Below the current folder.
    Project(&'static str),
    /// Below the home folder.
    Home(&'static str),
}

/// The format of a configuration file.
enum Format {
    Json(Json),
    /// `[mcp_servers.NAME]`, the format of Codex.
    Toml,
}

struct Json {
    /// The key of all servers.
    servers: &'static str,
    /// Whether the entry of a stdio server has a `type`.
    typed: bool,
    /// Whether the entry of an HTTP server has a `type`.
    typed_http: bool,
    /// The key of the URL of an HTTP server.
    url: &'static str,
    /// The placeholder of the API key.
    key: &'static str,
    /// The client requests the key from the user, under this name.
    asks: Option<&'static str>,
}

/// The supported clients.
///
/// <https://code.claude.com/docs/en/mcp>, <https://cursor.com/docs/context/mcp>,
/// <https://code.visualstudio.com/docs/copilot/reference/mcp-configuration>, <https://docs.windsurf.com/windsurf/cascade/mcp>,
/// <https://developers.openai.com/codex/mcp>
pub(super) const CLIENTS: [Client; 5] = [
    Client {
        name: "claude",
        next: "Start Claude Code in this folder, and approve the server.",
        place: ConfigLocation::Project(".mcp.json"),
        format: Format::Json(Json {
            servers: "mcpServers",
            typed: false,
            typed_http: true,
            url: "url",
            key: "${PLAYHOUSE_API_KEY}",
            asks: None,
        }),
    },
    Client {
        name: "cursor",
        next: "Enable the server in the settings of Cursor (MCP).",
        place: ConfigLocation::Project(".cursor/mcp.json"),
        format: Format::Json(Json {
            servers: "mcpServers",
            typed: false,
            typed_http: false,
            url: "url",
            key: "${env:PLAYHOUSE_API_KEY}",
            asks: None,
        }),
    },
    Client {
        name: "vscode",
        next: "Start the server with the command `MCP: List Servers` of VS Code.",
        place: ConfigLocation::Project(".vscode/mcp.json"),
        format: Format::Json(Json {
            servers: "servers",
            typed: true,
            typed_http: true,
            url: "url",
            key: "${input:playhouse-api-key}",
            asks: Some("playhouse-api-key"),
        }),
    },
    Client {
        name: "windsurf",
        next: "Refresh the MCP servers in Windsurf.",
        place: ConfigLocation::Home(".codeium/windsurf/mcp_config.json"),
        format: Format::Json(Json {
            servers: "mcpServers",
            typed: false,
            typed_http: false,
            url: "serverUrl",
            key: "${env:PLAYHOUSE_API_KEY}",
            asks: None,
        }),
    },
    Client {
        name: "codex",
        next: "Start Codex again.",
        place: ConfigLocation::Home(".codex/config.toml"),
        format: Format::Toml,
    },
];

impl Client {
    /// Returns the path of the client's configuration file.
    pub(super) fn path(&self, cwd: &Path, home: &Path) -> PathBuf {
        match self.place {
            ConfigLocation::Project(path) => cwd.join(path),
            ConfigLocation::Home(path) => home.join(path),
        }
    }

    /// Returns the text of the configuration file with the server, which replaces an entry of the same name; comments and other entries are
    /// preserved. Returns the syntax error of an invalid file.
    pub(super) fn add(&self, text: &str, name: &str, entry: &Entry) -> Result<String, String> {
        match &self.format {
            Format::Json(json) => json.add(text, name, entry),
            Format::Toml => add_to_toml(text, name, entry),
        }
    }

    /// Returns the entry of the server, for clients whose files are JSON.
    pub(super) fn server(&self, entry: &Entry) -> Option<Map<String, Value>> {
        match &self.format {
            Format::Json(json) => Some(json.server(entry)),
            Format::Toml => None,
        }
    }

    /// Returns a configuration file that contains only the server.
    pub(super) fn entry_only(&self, name: &str, entry: &Entry) -> String {
        self.add("", name, entry).unwrap_or_default()
    }
}

impl Json {
    fn add(&self, text: &str, name: &str, entry: &Entry) -> Result<String, String> {
        let text = if text.trim().is_empty() { "{}\n" } else { text };
        let root = CstRootNode::parse(text, &ParseOptions::default());
        let root = root.map_err(|error| error.to_string())?;
        let all = root.object_value_or_create();
        let all = all.ok_or("it is not a JSON object")?;
        let own = Value::from(self.server(entry));
        let is_same = |value: Option<Value>| value.as_ref() == Some(&own);
        let servers = all.object_value_or_create(self.servers);
        let servers = servers.ok_or_else(|| format!("\"{}\" is not an object", self.servers))?;
        match servers.get(name) {
            Some(server) if is_same(server.value().and_then(|value| value.to_serde_value())) => {}
            Some(server) => server.set_value(input(&own)),
            None => {
                servers.append(name, input(&own));
            }
        }
        if let (Some(id), Entry::Http { .. }) = (self.asks, entry) {
            let inputs = all.array_value_or_create("inputs");
            let inputs = inputs.ok_or("\"inputs\" is not an array")?;
            let mut known = inputs.elements().into_iter();
            let asks = known.any(|known| {
                known
                    .to_serde_value()
                    .is_some_and(|known| known["id"] == id)
            });
            if !asks {
                inputs.append(input(&serde_json::json!({
                    "type": "promptString",
                    "id": id,
                    "description": "API key of Playhouse",
                    "password": true,
                })));
            }
        }
        Ok(root.to_string())
    }

    /// Returns the server's entry in the format of the client.
    fn server(&self, entry: &Entry) -> Map<String, Value> {
        let mut server = Map::new();
        match entry {
            Entry::Stdio { command, args } => {
                if self.typed {
                    server.insert("type".to_owned(), "stdio".into());
                }
                server.insert("command".to_owned(), command.as_str().into());
                server.insert("args".to_owned(), args.clone().into());
            }
            Entry::Http { url } => {
                if self.typed_http {
                    server.insert("type".to_owned(), "http".into());
                }
                server.insert(self.url.to_owned(), url.as_str().into());
                let authorization = format!("Bearer {}", self.key);
                let headers = serde_json::json!({ "Authorization": authorization });
                server.insert("headers".to_owned(), headers);
            }
        }
        server
    }
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(values) => CstInputValue::Array(values.iter().map(input).collect()),
        Value::Object(object) => {
            let entries = object
                .iter()
                .map(|(key, value)| (key.clone(), input(value)));
            CstInputValue::Object(entries.collect())
        }
    }
}

fn add_to_toml(text: &str, name: &str, entry: &Entry) -> Result<String, String> {
    let mut document: DocumentMut = text.parse().map_err(|error| format!("{error}"))?;
    let servers = document.entry("mcp_servers").or_insert_with(|| {
        let mut servers = Table::new();
        // An implicit table has no line of its own.
        servers.set_implicit(true);
        Item::Table(servers)
    });
    let servers = servers.as_table_like_mut();
    let servers = servers.ok_or("\"mcp_servers\" is not a table")?;
    let server = servers
        .entry(name)
        .or_insert_with(|| Item::Table(Table::new()));
    let server = server.as_table_like_mut();
    let server = server.ok_or_else(|| format!("\"mcp_servers.{name}\" is not a table"))?;
    let mut set = |key: &str, new: Option<Item>| match new {
        Some(new)
            if server
                .get(key)
                .map(ToString::to_string)
                .map(|old| old.trim().to_owned())
                == Some(new.to_string().trim().to_owned()) => {}
        Some(new) => {
            server.insert(key, new);
        }
        None => {
            server.remove(key);
        }
    };
    let (command, args, url) = match entry {
        Entry::Stdio { command, args } => (Some(command), Some(args), None),
        Entry::Http { url } => (None, None, Some(url)),
    };
    set("command", command.map(value));
    set(
        "args",
        args.map(|args| value(args.iter().collect::<Array>())),
    );
    set("url", url.map(value));
    set("bearer_token_env_var", url.map(|_| value(KEY)));
    Ok(document.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn client(name: &str) -> &'static Client {
        CLIENTS
            .iter()
            .find(|client| client.name == name)
            .expect("a client")
    }

    fn stdio() -> Entry {
        Entry::Stdio {
            command: "playhouse".to_owned(),
            args: vec!["--headless".to_owned()],
        }
    }

    fn http() -> Entry {
        Entry::Http {
            url: "http://localhost:8931/mcp".to_owned(),
        }
    }

    #[test]
    fn each_client_gets_the_form_that_it_reads() {
        let mut all = String::new();
        for client in &CLIENTS {
            for entry in [stdio(), http()] {
                all += &format!(
                    "{}:\n{}\n",
                    client.name,
                    client.entry_only("playhouse", &entry).trim_end()
                );
            }
        }
        expect![[r#"
            claude:
            {
              "mcpServers": {
                "playhouse": {
                  "command": "playhouse",
                  "args": ["--headless"]
                }
              }
            }
            claude:
            {
              "mcpServers": {
                "playhouse": {
                  "type": "http",
                  "url": "http://localhost:8931/mcp",
                  "headers": {
                    "Authorization": "Bearer ${PLAYHOUSE_API_KEY}"
                  }
                }
              }
            }
            cursor:
            {
              "mcpServers": {
                "playhouse": {
                  "command": "playhouse",
                  "args": ["--headless"]
                }
              }
            }
            cursor:
            {
              "mcpServers": {
                "playhouse": {
                  "url": "http://localhost:8931/mcp",
                  "headers": {
                    "Authorization": "Bearer ${env:PLAYHOUSE_API_KEY}"
                  }
                }
              }
            }
            vscode:
            {
              "servers": {
                "playhouse": {
                  "type": "stdio",
                  "command": "playhouse",
                  "args": ["--headless"]
                }
              }
            }
            vscode:
            {
              "servers": {
                "playhouse": {
                  "type": "http",
                  "url": "http://localhost:8931/mcp",
                  "headers": {
                    "Authorization": "Bearer ${input:playhouse-api-key}"
                  }
                }
              },
              "inputs": [
                {
                  "type": "promptString",
                  "id": "playhouse-api-key",
                  "description": "API key of Playhouse",
                  "password": true
                }
              ]
            }
            windsurf:
            {
              "mcpServers": {
                "playhouse": {
                  "command": "playhouse",
                  "args": ["--headless"]
                }
              }
            }
            windsurf:
            {
              "mcpServers": {
                "playhouse": {
                  "serverUrl": "http://localhost:8931/mcp",
                  "headers": {
                    "Authorization": "Bearer ${env:PLAYHOUSE_API_KEY}"
                  }
                }
              }
            }
            codex:
            [mcp_servers.playhouse]
            command = "playhouse"
            args = ["--headless"]
            codex:
            [mcp_servers.playhouse]
            url = "http://localhost:8931/mcp"
            bearer_token_env_var = "PLAYHOUSE_API_KEY"
        "#]]
        .assert_eq(&all);
    }

    #[test]
    fn everything_else_in_the_file_stays() {
        let before = "{\n  // Ours.\n  \"mcpServers\": {\n    \"other\": { \"command\": \"x\" }, // keep\n  },\n  \"more\": 1\n}\n";
        let after = client("claude")
            .add(before, "playhouse", &stdio())
            .expect("JSON");
        for kept in [
            "// Ours.",
            "// keep",
            "\"other\": { \"command\": \"x\" }",
            "\"more\": 1",
        ] {
            assert!(after.contains(kept), "{kept}: {after}");
        }
        let before = "# Mine\nmodel = \"x\"\n\n[mcp_servers.other]\ncommand = \"y\" # keep\n";
        let after = client("codex")
            .add(before, "playhouse", &stdio())
            .expect("TOML");
        assert!(after.starts_with(before), "{after}");
        assert!(after.contains("[mcp_servers.playhouse]"), "{after}");
    }

    #[test]
    fn setup_is_idempotent_and_replaces_another_entry() {
        for client in &CLIENTS {
            let first = client.entry_only("playhouse", &stdio());
            let again = client.add(&first, "playhouse", &stdio());
            assert_eq!(again.as_ref(), Ok(&first), "{}", client.name);
            let other = client.add(&first, "playhouse", &http()).expect("readable");
            assert!(other.contains("http://localhost:8931/mcp"), "{other}");
            assert!(!other.contains("--headless"), "{other}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_not_changed() {
        for (name, text) in [
            ("claude", "{ \"mcpServers\": "),
            ("claude", "[]"),
            ("cursor", "{ \"mcpServers\": [] }"),
            ("codex", "[mcp_servers"),
            ("codex", "mcp_servers = 1"),
        ] {
            assert!(
                client(name).add(text, "playhouse", &stdio()).is_err(),
                "{text}"
            );
        }
    }
}
