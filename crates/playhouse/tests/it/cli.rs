//! Commands, exit codes, and messages of failed starts.

use std::process::{Command, Output, Stdio};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::Value;

/// Runs the built program to its end, without the environment variables of the developer.
pub(crate) fn run(args: &[&str]) -> Output {
    command(args).output().expect("it runs")
}

#[expect(
    clippy::disallowed_methods,
    reason = "a test runs the program that it tests"
)]
fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_playhouse"));
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        if name.starts_with("PLAYHOUSE_") || name.starts_with("PLAYWRIGHT_MCP_") {
            command.env_remove(name);
        }
    }
    command.args(args).stdin(Stdio::null());
    command
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("UTF-8")
}

#[testkit::test]
fn a_wrong_command_line_ends_with_one_and_a_sentence_on_stderr() {
    for (args, message) in [
        (
            &["--heedless"][..],
            "error: unknown option '--heedless'\nDid you mean '--headless'?\n",
        ),
        (
            &["dcotor"],
            "error: unknown command 'dcotor'\nDid you mean 'doctor'?\n",
        ),
        (
            &["--tools", "+browser_pdf_sav"],
            "unknown tool 'browser_pdf_sav' in --tools\nDid you mean 'browser_pdf_save'?\n",
        ),
        (
            &["--viewport-size", "big"],
            "Invalid resolution format: use --viewport-size=\"800x600\"\n",
        ),
        (
            &["--isolated", "--user-data-dir", "x"],
            "Browser userDataDir is not supported in isolated mode.\n",
        ),
        (
            &["--browser", "webkit", "--mobile"],
            "--mobile is not supported with the WebKit browser.\n",
        ),
        (
            &["install", "chrom"],
            "unknown browser 'chrom'\nDid you mean 'chrome'?\n",
        ),
    ] {
        let output = run(args);
        assert_eq!(text(&output.stderr), message);
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        assert!(output.stdout.is_empty(), "{args:?}");
    }
}

#[testkit::test]
fn help_is_a_command_too() {
    let help = run(&["help"]);
    assert_eq!(help.status.code(), Some(0));
    assert!(text(&help.stdout).contains("--headless"));
    let doctor = run(&["help", "doctor"]);
    assert_eq!(
        text(&doctor.stdout),
        text(&run(&["doctor", "--help"]).stdout)
    );
}

#[testkit::test]
fn the_version_goes_to_stdout() {
    let output = run(&["-V"]);
    assert_eq!(
        text(&output.stdout),
        concat!("Version ", env!("CARGO_PKG_VERSION"), "\n")
    );
    assert!(output.status.success());
}

#[testkit::test]
fn config_show_lists_the_source_of_each_value() {
    let output = run(&["--timeout-action", "77", "config", "show"]);
    let row = |name: &str| {
        let line = text(&output.stdout)
            .lines()
            .find(|line| line.starts_with(name));
        line.unwrap_or_default()
            .split_whitespace()
            .skip(1)
            .map(str::to_owned)
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(row("timeouts.action"), "77 flag --timeout-action");
    assert_eq!(row("timeouts.navigation"), "60000 default");
}

#[testkit::test]
fn tools_follow_the_flags() {
    let names = |args: &[&str]| {
        let output = run(&[args, &["tools", "--json"]].concat());
        let tools: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let tools = tools.as_array().expect("a list").clone();
        tools
            .iter()
            .map(|tool| tool["name"].as_str().expect("a name").to_owned())
            .collect::<Vec<_>>()
    };
    let usual = names(&[]);
    assert!(usual.contains(&"browser_click".to_owned()), "{usual:?}");
    let without = names(&["--tools", "-browser_click"]);
    assert_eq!(without.len(), usual.len() - 1);
    assert!(!without.contains(&"browser_click".to_owned()));
    let session = names(&["--toolsets", "session"]);
    assert!(
        !session.contains(&"browser_click".to_owned()),
        "{session:?}"
    );
    assert!(session.contains(&"click".to_owned()), "{session:?}");
}

#[testkit::test]
fn a_dry_run_of_install_prints_commands_and_runs_none() {
    let output = run(&["install", "--dry-run", "chromium"]);
    let all = format!("{}{}", text(&output.stdout), text(&output.stderr));
    assert!(
        all.contains("chromium") || all.contains("Chrome for Testing"),
        "{all}"
    );
}

#[testkit::test]
fn doctor_fails_when_no_browser_works() {
    let output = run(&["doctor", "--executable-path", "/nowhere/browser"]);
    assert_eq!(output.status.code(), Some(1));
    let report = text(&output.stdout);
    assert!(report.contains("FAIL  browser"), "{report}");
    assert!(
        report.contains("executable doesn't exist at /nowhere/browser"),
        "{report}"
    );
    assert!(report.contains("-> playhouse install"), "{report}");
}

#[testkit::test(chromium)]
fn doctor_starts_the_browser_that_is_there() {
    let output = run(&["doctor", "--browser", "chromium"]);
    let report = text(&output.stdout);
    assert!(output.status.success(), "{report}");
    assert!(report.contains("starts and opens a page"), "{report}");
}

#[testkit::test(chromium)]
fn doctor_prints_json_and_shows_logs_only_on_request() {
    let output = run(&["doctor", "--json", "--browser", "chromium"]);
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(report["works"], true, "{report:#}");
    assert_eq!(report["findings"][0]["topic"], "playhouse", "{report:#}");
    let broken = ["doctor", "--executable-path", "/bin/false"];
    let short = run(&broken);
    assert!(!text(&short.stdout).contains("<launching>"));
    let verbose = run(&[&broken[..], &["--verbose"]].concat());
    assert!(text(&verbose.stdout).contains("<launching>"));
}

#[testkit::test(firefox, webkit)]
fn doctor_starts_the_other_browsers_as_what_they_are() {
    let output = run(&["doctor"]);
    let report = text(&output.stdout);
    for browser in ["firefox", "webkit"] {
        let works = |line: &&str| {
            let mut words = line.split_whitespace();
            words.next() == Some("ok") && words.next() == Some(browser)
        };
        assert!(report.lines().any(|line| works(&line)), "{report}");
    }
}

#[testkit::test(webkit)]
fn doctor_names_what_webkit_lacks() {
    let browser = testkit::Engine::Webkit.executable();
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = command(&["doctor", "--browser", "webkit", "--executable-path"]);
    command.arg(&browser).env("PATH", folder.path());
    let output = command.output().expect("it runs");
    let report = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{report}");
    let line = "Xvfb is in no folder of PATH; WebKit has no mode without a display";
    assert!(report.contains(line), "{report}");
    assert!(report.contains("-> playhouse install webkit"), "{report}");
    assert!(!report.contains("ok    browser"), "{report}");
    let report = run(&["doctor", "--browser", "webkit"]);
    let printed = text(&report.stdout);
    assert!(report.status.success(), "{printed}");
    assert!(printed.contains("Xvfb at /"), "{printed}");
    assert!(printed.contains("starts and opens a page"), "{printed}");
}

#[testkit::test]
fn help_is_short_or_full_and_names_only_what_applies() {
    let help = |args: &[&str]| text(&run(args).stdout).to_owned();
    let (short, full) = (help(&["-h"]), help(&["--help"]));
    assert!(short.lines().count() <= 86, "{short}");
    assert!(full.contains("--grant-permissions") && !short.contains("--grant-permissions"));
    assert!(full.contains("firefox, webkit"), "{full}");
    let (short, full) = (help(&["doctor", "-h"]), help(&["doctor", "--help"]));
    assert!(short.contains("--verbose") && !short.contains("--headless"));
    assert!(full.contains("--headless"));
    for command in ["app", "setup", "install", "completions", "man"] {
        let full = help(&[command, "--help"]);
        assert!(
            !full.contains("--headless ") && !full.contains("--viewport-size"),
            "{full}"
        );
    }
}

#[testkit::test]
fn completions_and_the_manual_come_from_the_grammar() {
    let bash = run(&["completions", "bash"]);
    let script = text(&bash.stdout);
    assert!(script.contains("--viewport-size"));
    assert!(script.contains("compgen -W \"playwright compact\""));
    let refused = run(&["completions", "cmd"]);
    assert!(
        text(&refused.stderr).contains("[possible values: bash,"),
        "{refused:?}"
    );
    let manual = run(&["man"]);
    assert!(text(&manual.stdout).contains(".SH SYNOPSIS"));
}

#[testkit::test]
fn setup_adds_the_server_to_a_client_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let set_up = |args: &[&str]| {
        let mut command = command(&[&["setup"], args].concat());
        command
            .current_dir(folder.path())
            .env("HOME", folder.path());
        command.output().expect("it runs")
    };
    let planned = set_up(&["claude", "--dry-run"]);
    assert!(text(&planned.stdout).contains(".mcp.json would get:"));
    let file = folder.path().join(".mcp.json");
    assert!(!file.exists());
    let added = set_up(&["claude", "--", "--isolated"]);
    assert!(text(&added.stdout).starts_with("Added to "), "{added:?}");
    let config = std::fs::read_to_string(&file).expect("it is there");
    let config: Value = serde_json::from_str(&config).expect("JSON");
    assert_eq!(
        config["mcpServers"]["playhouse"]["args"],
        serde_json::json!(["--isolated"])
    );
    let program = config["mcpServers"]["playhouse"]["command"].as_str();
    assert!(program.is_some_and(|program| std::path::Path::new(program).is_file()));
    let again = set_up(&["claude", "--", "--isolated"]);
    assert!(text(&again.stdout).contains("has this already"));
    set_up(&["codex", "--http", "http://localhost:8931/mcp"]);
    let codex = std::fs::read_to_string(folder.path().join(".codex/config.toml"));
    assert!(codex.expect("it is there").contains("bearer_token_env_var"));
    std::fs::write(&file, "{ oops").expect("writable");
    let refused = set_up(&["claude"]);
    assert!(
        text(&refused.stderr).contains("cannot be changed"),
        "{refused:?}"
    );
    assert_eq!(
        std::fs::read_to_string(&file).expect("it is there"),
        "{ oops"
    );
}

/// Returns the values of a query parameter of a link.
fn parameters(link: &str, name: &str) -> Vec<String> {
    let link = url::Url::parse(link.trim()).expect("a URL");
    let pairs = link.query_pairs().filter(|(key, _)| key == name);
    pairs.map(|(_, value)| value.into_owned()).collect()
}

/// Returns the name of the server and its entry in a link for VS Code, Cursor or Goose.
fn decode_link(client: &str, link: &str) -> (String, Value) {
    let one = |name: &str| parameters(link, name).remove(0);
    match client {
        "vscode" => {
            let own = one("url");
            let query = own.strip_prefix("vscode:mcp/install?").expect("VS Code");
            let text = url::form_urlencoded::parse(format!("x={query}").as_bytes())
                .next()
                .expect("a value")
                .1
                .into_owned();
            let mut entry: Value = serde_json::from_str(&text).expect("JSON");
            let name = entry.as_object_mut().and_then(|entry| entry.remove("name"));
            (name.expect("a name").as_str().unwrap().to_owned(), entry)
        }
        "cursor" => {
            let config = BASE64_STANDARD.decode(one("config")).expect("Base64");
            (one("name"), serde_json::from_slice(&config).expect("JSON"))
        }
        _ => {
            let entry =
                serde_json::json!({ "command": one("cmd"), "args": parameters(link, "arg") });
            (one("name"), entry)
        }
    }
}

#[testkit::test]
fn links_contain_the_entry_that_setup_writes() {
    let folder = tempfile::tempdir().expect("a folder");
    let arguments = ["--", "--headless", "--secrets=a b+ü&c.env"];
    let set_up = |args: &[&str]| {
        let mut command = command(&[&["setup"], args, &arguments[..]].concat());
        command
            .current_dir(folder.path())
            .env("HOME", folder.path());
        command.output().expect("it runs")
    };
    for (client, file, servers) in [
        ("vscode", ".vscode/mcp.json", "servers"),
        ("cursor", ".cursor/mcp.json", "mcpServers"),
        // Goose has no file of its own, and the format of its links is the command.
        ("goose", ".mcp.json", "mcpServers"),
    ] {
        let link = set_up(&[client, "--link", "--name", "my browser"]);
        assert!(link.status.success(), "{link:?}");
        assert!(!folder.path().join(file).exists());
        let writer = if client == "goose" { "claude" } else { client };
        set_up(&[writer, "--name", "my browser"]);
        let written = std::fs::read_to_string(folder.path().join(file)).expect("it is there");
        let written: Value = serde_json::from_str(&written).expect("JSON");
        let (name, entry) = decode_link(client, text(&link.stdout));
        assert_eq!(name, "my browser");
        assert_eq!(entry, written[servers]["my browser"], "{client}");
    }
    let refused = set_up(&["windsurf", "--link"]);
    assert!(
        text(&refused.stderr).contains("windsurf has no links"),
        "{refused:?}"
    );
    let refused = set_up(&["goose"]);
    assert!(text(&refused.stderr).contains("--link"), "{refused:?}");
}

#[testkit::test]
fn the_links_of_the_readme_start_the_npm_package() {
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
    let readme = std::fs::read_to_string(readme).expect("the README");
    for (client, address) in [
        ("vscode", "https://insiders.vscode.dev/redirect?"),
        ("cursor", "https://cursor.com/en/install-mcp?"),
        ("goose", "https://block.github.io/goose/extension?"),
    ] {
        let start = readme.find(address).expect(client);
        let link = &readme[start..];
        let link = &link[..link.find(')').expect("the end of the link")];
        let (name, entry) = decode_link(client, link);
        assert_eq!(name, "playhouse");
        assert_eq!(entry["command"], "npx", "{client}");
        let args = serde_json::json!(["-y", "playhouse-mcp@latest", "--headless"]);
        assert_eq!(entry["args"], args, "{client}");
    }
}

#[testkit::test(chromium)]
fn try_reports_what_it_needs() {
    let output = run(&["try"]);
    let printed = text(&output.stderr);
    assert!(
        printed.starts_with("error: missing argument <URL>\nUsage: playhouse try"),
        "{printed}"
    );
    let mut headed = command(&["try", "about:blank", "--headless=false"]);
    headed.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
    let output = headed.output().expect("it runs");
    let printed = text(&output.stderr);
    if cfg!(target_os = "linux") {
        assert!(
            printed.contains("there is no display") && printed.contains("--headless"),
            "{printed}"
        );
        assert!(!printed.contains("<launching>"), "{printed}");
    }
}

#[testkit::test(chromium)]
fn try_opens_a_file_by_its_path() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("x.html"), "<title>File</title>").expect("writable");
    let mut command = command(&["try", "./x.html", "--headless", "--output-dir=out"]);
    let output = command
        .current_dir(folder.path())
        .output()
        .expect("it runs");
    let shown = text(&output.stdout);
    assert!(
        shown.contains("- Page Title: File"),
        "{shown}{}",
        text(&output.stderr)
    );
}

#[testkit::test(chromium)]
fn try_prints_a_page_and_saves_its_screenshot() {
    let folder = tempfile::tempdir().expect("a folder");
    let output_dir = format!("--output-dir={}", folder.path().display());
    let page = "data:text/html,<title>Shop</title><button>Buy</button>";
    let output = run(&["try", page, "--headless", &output_dir]);
    let shown = text(&output.stdout);
    assert!(output.status.success(), "{shown}{}", text(&output.stderr));
    assert!(shown.contains("- Page Title: Shop"), "{shown}");
    assert!(shown.contains("button \"Buy\""), "{shown}");
    let names = std::fs::read_dir(folder.path()).expect("there");
    let names: Vec<_> = names
        .map(|entry| entry.expect("readable").file_name())
        .collect();
    assert!(
        names
            .iter()
            .any(|name| name.to_string_lossy().ends_with(".png")),
        "{names:?}"
    );
    let refused = run(&["try", "http://127.0.0.1:1", "--headless", &output_dir]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        text(&refused.stderr).contains("net::ERR_"),
        "{}",
        text(&refused.stderr)
    );
}
