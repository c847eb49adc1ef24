//! JSON, TOML and other data: parsed by the server where the server reads such files.

use jsonc_parser::ParseOptions;
use serde_json::{Value, json};
use testkit::Launch;

use crate::assert_none;
use crate::blocks::{Use, blocks};
use crate::document::Block;
use crate::shell::Shell;

#[testkit::test]
fn json_is_valid() {
    let is_json = |block_use| block_use == Use::Json;
    let found = blocks(is_json);
    let wrong = found.iter().filter_map(|block| {
        let error = serde_json::from_str::<Value>(&block.text).err()?;
        Some(format!("{}: {error}", block.place))
    });
    assert_none(wrong.collect());
}

/// Each entry for this server in the configuration of a client has arguments and variables that the server accepts, or a URL that it serves.
#[testkit::test]
fn configurations_of_clients_are_accepted() {
    let shell = Shell::new();
    let found = blocks(|block_use| block_use == Use::Client);
    let wrong = found.iter().filter_map(|block| {
        let error = check_client(block, &shell).err()?;
        Some(format!("{}: {error}", block.place))
    });
    assert_none(wrong.collect());
}

fn check_client(block: &Block, shell: &Shell) -> Result<(), String> {
    let file: Value = match block.info.starts_with("toml") {
        true => toml(&block.text).map_err(|error| error.to_string())?,
        false => serde_json::from_str(&block.text).map_err(|error| error.to_string())?,
    };
    let servers = ["mcpServers", "servers", "mcp_servers"];
    let entry = servers.iter().find_map(|key| file[key].get("playhouse"));
    let entry = entry.ok_or("there is no entry for playhouse")?;
    if let Some(url) = entry["url"].as_str() {
        return match entry["type"] == "http" && url.ends_with("/mcp") {
            true => Ok(()),
            false => Err(format!("{url} is not the endpoint of a server")),
        };
    }
    if entry["command"] != "playhouse" {
        return Err(format!("the command is {}", entry["command"]));
    }
    let args = entry["args"].as_array().ok_or("there are no arguments")?;
    let mut words = vec!["config", "show"];
    words.extend(args.iter().filter_map(Value::as_str));
    let variables = entry["env"].as_object().into_iter().flatten();
    let variables = variables.map(|(name, value)| {
        let value = value.as_str().unwrap_or_default();
        (name.clone(), value.to_owned())
    });
    let variables: Vec<_> = variables.collect();
    shell.playhouse(&words, &variables).map(drop)
}

/// Parses the configuration of Codex.
fn toml(text: &str) -> Result<Value, toml_edit::TomlError> {
    let document = text.parse::<toml_edit::DocumentMut>()?;
    let entry = &document["mcp_servers"]["playhouse"];
    let args = entry["args"].as_array().into_iter().flatten();
    let args: Vec<_> = args.filter_map(toml_edit::Value::as_str).collect();
    let entry = json!({ "command": entry["command"].as_str(), "args": args });
    Ok(json!({ "mcp_servers": { "playhouse": entry } }))
}

#[testkit::test]
fn files_of_the_server_are_accepted() {
    let mut wrong = Vec::new();
    for block in blocks(|block_use| matches!(block_use, Use::File(_))) {
        let Some(Use::File(option)) = crate::blocks::use_of(&block) else {
            continue;
        };
        let shell = Shell::new();
        shell.file("file", &block.text);
        // `tools` also compares the file with the list of tools.
        let words = ["tools", "--toolsets", "all", "--port", "0", option, "file"];
        let outcome = shell.playhouse(&words, &[]);
        wrong.extend(
            outcome
                .err()
                .map(|error| format!("{}: {error}", block.place)),
        );
    }
    assert_none(wrong);
}

#[testkit::test]
fn variables_of_images_are_accepted() {
    let shell = Shell::new();
    for block in blocks(|block_use| block_use == Use::Variables) {
        let text = block.text.replace("\\\n", " ");
        let lines = text.lines().filter_map(|line| line.strip_prefix("ENV "));
        let pairs = lines.flat_map(str::split_whitespace);
        let variables: Vec<_> = pairs
            .map(|pair| {
                let (name, value) = pair.split_once('=').expect("NAME=VALUE");
                (name.to_owned(), value.to_owned())
            })
            .collect();
        assert!(!variables.is_empty(), "{}", block.place);
        let shown = shell.playhouse(&["config", "show", "--json"], &variables);
        let shown = shown.unwrap_or_else(|error| panic!("{}: {error}", block.place));
        let settings: Vec<Value> = serde_json::from_str(&shown).expect("settings");
        for (name, value) in &variables {
            let source = format!("environment variable {name}");
            let setting = settings.iter().find(|setting| setting["source"] == source);
            let shown = setting.map(|setting| match &setting["value"] {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            });
            assert_eq!(shown.as_ref(), Some(value), "{}: {name}", block.place);
        }
    }
}

#[testkit::test]
fn arguments_of_services_are_accepted() {
    let shell = Shell::new();
    for block in blocks(|block_use| block_use == Use::Service) {
        let mut lines = block.text.lines();
        let line = lines.find_map(|line| line.strip_prefix("ExecStart="));
        let words = shlex::split(line.expect("a command")).expect("words");
        let words = words.iter().skip(1).map(String::as_str);
        let words: Vec<_> = ["config", "show"].into_iter().chain(words).collect();
        let outcome = shell.playhouse(&words, &[]);
        outcome.unwrap_or_else(|error| panic!("{}: {error}", block.place));
    }
}

#[testkit::test]
async fn prompts_are_accepted() {
    for block in blocks(|block_use| block_use == Use::Prompt) {
        let folder = tempfile::tempdir().expect("a folder");
        let prompts = folder.path().join("prompts");
        std::fs::create_dir(&prompts).expect("writable");
        std::fs::write(prompts.join("documented.md"), &block.text).expect("writable");
        let server = Launch::new(env!("CARGO_BIN_EXE_playhouse"));
        let server = server.args(["--headless", "--isolated", "--prompts-dir"]);
        let server = server.args([&prompts]).start().await;
        for depth in ["short", "long"] {
            let arguments = json!({ "url": "https://example.com", "depth": depth });
            let params = json!({ "name": "documented", "arguments": arguments });
            let answer = server.request("prompts/get", params).await;
            let text = format!("{answer:?}");
            let is_long = text.contains("ten largest");
            assert!(
                text.contains("Open https://example.com"),
                "{}: {text}",
                block.place
            );
            assert_eq!(is_long, depth == "long", "{}: {text}", block.place);
        }
    }
}

#[testkit::test]
fn jsonc_is_valid() {
    for block in blocks(|block_use| block_use == Use::File("--policy")) {
        let parsed =
            jsonc_parser::parse_to_serde_value::<Value>(&block.text, &ParseOptions::default());
        assert!(parsed.is_ok(), "{}: {parsed:?}", block.place);
    }
}
