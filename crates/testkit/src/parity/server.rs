//! One of the two servers in a scenario: its own site, its own workspace, and everything that a client sees of it as text.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

use regress::Regex;
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use super::normal::Normal;
use super::scenario::{Request, Scenario};
use crate::client::{CallResult, Client, Launch, NoAnswer};
use crate::site::Site;

/// A server, which may not be started.
pub(super) struct Server {
    /// Dropped before the site and the workspace.
    client: Option<Client>,
    launch: Launch,
    normal: Normal,
    workspace: TempDir,
    _site: Site,
}

/// The timeout of requests, longer than any timeout of a call.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A script that starts a server over HTTP, and is itself a server over stdio.
const OVER_HTTP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/clients/over_http.mjs");
/// The package that the script imports.
const SDK: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/clients/node_modules/@modelcontextprotocol/sdk"
);

impl Server {
    /// Creates the site and the workspace of a scenario, without starting the server.
    pub(super) async fn prepare(command: &[String], scenario: &Scenario) -> Self {
        let site = Site::start().await;
        let workspace = tempfile::Builder::new()
            .prefix("parity-")
            .tempdir()
            .expect("a temporary folder");
        let normal = Normal::new(&site, workspace.path());
        for (path, resource) in &scenario.resources {
            let mut resource = resource.clone();
            resource.body = normal
                .fill(&String::from_utf8_lossy(&resource.body))
                .into_bytes();
            site.add(path, resource);
        }
        for (name, content) in &scenario.files {
            let path = workspace.path().join(name);
            fs::create_dir_all(path.parent().expect("below the workspace"))
                .expect("the workspace can be written");
            fs::write(path, normal.fill(content)).expect("the workspace can be written");
        }
        let (program, base) = command.split_first().expect("a command names a program");
        let base = base
            .iter()
            .filter(|arg| !scenario.flags.without.contains(arg));
        let args = scenario.flags.args.iter().map(|arg| normal.fill(arg));
        let launch = if scenario.flags.over_http {
            // Both servers would fail alike, without a difference.
            assert!(
                Path::new(SDK).exists(),
                "the MCP SDK for scenarios over HTTP is missing; run `make clients`"
            );
            let is_path = program.contains(std::path::MAIN_SEPARATOR);
            let path = is_path.then(|| std::path::absolute(program).expect("a path"));
            let program = path.unwrap_or_else(|| program.into());
            Launch::new("node").args([OVER_HTTP.into(), program])
        } else {
            Launch::new(program)
        };
        let mut launch = launch
            .args(base)
            .args(args)
            .with_default_answers()
            .workspace(workspace.path())
            .limit(TIMEOUT);
        for (name, value) in &scenario.flags.env {
            launch = launch.env(name, &normal.fill(value));
        }
        if !scenario.flags.roots.is_empty() {
            let roots: Vec<_> = scenario
                .flags
                .roots
                .iter()
                .map(|root| normal.fill(root))
                .collect();
            launch = launch.roots(&roots.iter().map(String::as_str).collect::<Vec<_>>());
        }
        Self {
            client: None,
            launch,
            normal,
            workspace,
            _site: site,
        }
    }

    /// Executes a step, and returns what a client sees, with masks for values that differ between runs.
    pub(super) async fn perform(&mut self, request: &Request) -> String {
        let seen = match request {
            Request::Start => self.start().await,
            Request::Call { tool, arguments } => self.call(tool, arguments).await,
            Request::List => self.list().await,
            Request::Files => self.file_names().join("\n"),
            Request::Read(pattern) => self.read(pattern),
            Request::End => self.end().await,
            Request::Restart => format!("{}\n{}", self.end().await, self.start().await),
            Request::Reconnect => self.reconnect().await,
        };
        self.normal.mask(&seen)
    }

    async fn start(&mut self) -> String {
        let (mut client, answer) = self.launch.clone().try_start().await;
        let seen = match answer {
            Ok(hello) => capabilities(&hello),
            Err(NoAnswer::Ended) => {
                let status = client.exit_status().await;
                format!("{}\n{}", exit(status), client.whole_stderr().await)
            }
            Err(why) => why.to_string(),
        };
        self.client = Some(client);
        seen
    }

    async fn call(&mut self, tool: &str, arguments: &str) -> String {
        let Some(client) = &self.client else {
            return "(the server was ended)".to_owned();
        };
        let arguments = serde_json::from_str(&self.normal.fill(arguments))
            .expect("was parsed when it was read");
        match client.try_call(tool, arguments).await {
            // The headers have the random order of a hash table.
            Ok(result) if tool == "browser_network_request" => sorted_headers(&seen(&result)),
            Ok(result) => seen(&result),
            Err(NoAnswer::Silent { .. }) => "(no answer)".to_owned(),
            Err(why) => format!("({why})"),
        }
    }

    async fn list(&mut self) -> String {
        let Some(client) = &self.client else {
            return "(the server was ended)".to_owned();
        };
        let tools = client.list_tools().await;
        tools.iter().map(tool_lines).collect::<Vec<_>>().join("\n")
    }

    async fn reconnect(&self) -> String {
        let Some(client) = &self.client else {
            return "(the server was ended)".to_owned();
        };
        match client.request("testkit/reconnect", json!({})).await {
            Ok(hello) => capabilities(&hello),
            Err(why) => why.to_string(),
        }
    }

    async fn end(&mut self) -> String {
        let Some(mut client) = self.client.take() else {
            return "(the server was ended)".to_owned();
        };
        client.close_input().await;
        let status = client.exit_status().await;
        format!("{}\n{}", exit(status), client.whole_stderr().await)
    }

    /// Returns the sorted names of all files of the workspace, without browser profiles and the `.gitignore` of the output folder, which
    /// `@playwright/mcp` does not create.
    fn file_names(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut folders = vec![PathBuf::new()];
        while let Some(folder) = folders.pop() {
            let entries = fs::read_dir(self.workspace.path().join(&folder))
                .into_iter()
                .flatten()
                .flatten();
            for entry in entries {
                let name = folder.join(entry.file_name());
                if name.ends_with(".playwright-mcp/.gitignore") {
                    continue;
                }
                if !entry.path().is_dir() {
                    found.push(name.display().to_string());
                } else if !name.starts_with("profile") {
                    folders.push(name);
                }
            }
        }
        found.sort();
        found
    }

    fn read(&self, pattern: &str) -> String {
        let expression = pattern.replace('.', "\\.").replace('*', "[^/]*");
        let expression = Regex::new(&format!("^{expression}$")).expect("a pattern of names");
        let names = self.file_names();
        let mut seen = String::new();
        for name in names.iter().filter(|name| expression.find(name).is_some()) {
            let _ = writeln!(
                seen,
                "--- {name}\n{}",
                content(&self.workspace.path().join(name))
            );
        }
        if seen.is_empty() {
            "(no such file)".to_owned()
        } else {
            seen
        }
    }
}

fn capabilities(hello: &Value) -> String {
    format!(
        "protocol {}, capabilities {}",
        hello["protocolVersion"], hello["capabilities"]
    )
}

fn content(path: &Path) -> String {
    let bytes = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    String::from_utf8(bytes).unwrap_or_else(|_| "(binary)".to_owned())
}

fn exit(status: ExitStatus) -> String {
    status.code().map_or_else(
        || "ended by a signal".to_owned(),
        |code| format!("exit {code}"),
    )
}

/// Returns a result as text: its texts, the linked snapshot, its images, and any member that clients do not expect.
fn seen(result: &CallResult) -> String {
    let mut text = String::new();
    if result.is_error {
        text += "(error)\n";
    }
    text += &result.text;
    if let Some(file) = result
        .section("Snapshot")
        .and_then(|body| result.linked_file(body))
    {
        // A link is relative to the client's first root, which may differ from the server's folder.
        let snapshot = fs::read_to_string(file).unwrap_or_else(|_| "(not here)".to_owned());
        let _ = write!(text, "\n--- the snapshot's text\n{snapshot}");
    }
    for image in &result.images {
        let _ = write!(text, "\n--- {} {:?}", image.media_type, image.size());
    }
    let keys = result.raw.as_object().into_iter().flat_map(Map::keys);
    for key in keys.filter(|key| !["content", "isError"].contains(&key.as_str())) {
        let _ = write!(text, "\n--- with {key}");
    }
    text
}

/// Sorts consecutive lines of the form `name: value` by their names.
fn sorted_headers(text: &str) -> String {
    let header = Regex::new(r"^ *[a-z-]+: ").expect("a valid pattern");
    let mut lines: Vec<_> = text.lines().collect();
    for run in
        lines.chunk_by_mut(|one, other| header.find(one).is_some() && header.find(other).is_some())
    {
        run.sort_unstable();
    }
    lines.join("\n")
}

/// Returns a tool of `tools/list` as a line, and one for each parameter, without descriptions, which may differ.
fn tool_lines(tool: &Value) -> String {
    let name = tool["name"].as_str().unwrap_or_default();
    let mut lines = format!("{name} {}", without_words(&tool["annotations"]));
    let schema = &tool["inputSchema"];
    let mut around = schema.clone();
    if let Some(around) = around.as_object_mut() {
        around.retain(|key, _| !["properties", "required", "description"].contains(&key.as_str()));
    }
    let _ = write!(lines, "\n  {name} takes {}", without_words(&around));
    let required = schema["required"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    for (parameter, schema) in schema["properties"].as_object().into_iter().flatten() {
        let is_required = required.iter().any(|name| name == parameter);
        let _ = write!(
            lines,
            "\n  {name}.{parameter} {}{}",
            without_words(schema),
            if is_required { " required" } else { "" }
        );
    }
    lines
}

/// Returns the schema without descriptions, with its keys in a fixed order.
fn without_words(schema: &Value) -> Value {
    match schema {
        Value::Object(object) => {
            let mut entries: Vec<_> = object
                .iter()
                .filter(|(key, value)| !(*key == "description" && value.is_string()))
                .map(|(key, value)| (key.clone(), without_words(value)))
                .collect();
            entries.sort_by(|(one, _), (other, _)| one.cmp(other));
            Value::Object(entries.into_iter().collect())
        }
        Value::Array(items) => items.iter().map(without_words).collect(),
        other => other.clone(),
    }
}
