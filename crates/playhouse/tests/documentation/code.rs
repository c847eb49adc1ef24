//! JavaScript, TypeScript, specs, and the transcript.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use testkit::{Client, Engine, Launch, Runner, Site};

use crate::blocks::{Use, blocks};
use crate::commands::add_page;
use crate::{assert_none, root};

/// A page for code: a button `Buy` and a list.
const SHOP: &str = "<title>Shop</title><button>Buy</button><ul><li>Boots<li>Socks</ul>";

fn launch() -> Launch {
    Launch::new(env!("CARGO_BIN_EXE_playhouse")).args(["--headless", "--isolated"])
}

#[testkit::test(node)]
fn code_is_valid() {
    let is_code = |block_use| matches!(block_use, Use::Compile | Use::RunCode | Use::InitPage);
    let mut wrong = Vec::new();
    for block in blocks(is_code) {
        let language = block.info.split(' ').next().expect("a language");
        let error = compile_error(language, &block.text);
        wrong.extend(error.map(|error| format!("{}: {error}", block.place)));
    }
    assert_none(wrong);
}

/// Returns why esbuild does not compile a text.
#[expect(
    clippy::disallowed_methods,
    reason = "a compiler that ends with the test"
)]
fn compile_error(language: &str, text: &str) -> Option<String> {
    let mut compiler = Command::new(root().join("node_modules/.bin/esbuild"));
    let compiler = compiler
        .args([
            &format!("--loader={language}"),
            "--format=esm",
            "--log-level=warning",
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut compiler = compiler.spawn().expect("`make test` installs esbuild");
    let mut stdin = compiler.stdin.take().expect("it is piped");
    stdin.write_all(text.as_bytes()).expect("it reads");
    drop(stdin);
    let output = compiler.wait_with_output().expect("it ends");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    (!output.status.success()).then_some(errors)
}

#[testkit::test(chromium)]
async fn code_runs() {
    let site = Site::start().await;
    let url = site.add_page("/shop", SHOP);
    let server = launch().start().await;
    for block in blocks(|block_use| block_use == Use::RunCode) {
        opened(&server, &url).await;
        let code = json!({ "code": block.text });
        let answer = server.call("browser_run_code_unsafe", code).await;
        assert!(!answer.is_error, "{}: {}", block.place, answer.text);
        assert_eq!(answer.result(), "[\"Boots\",\"Socks\"]", "{}", block.place);
    }
}

#[testkit::test(chromium)]
async fn init_pages_run() {
    let site = Site::start().await;
    let url = site.add_page("/shop", SHOP);
    for block in blocks(|block_use| block_use == Use::InitPage) {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("init.js");
        std::fs::write(&file, &block.text).expect("writable");
        let server = launch().args(["--init-page"]).args([&file]).start().await;
        opened(&server, &url).await;
        let size = json!({ "function": "() => innerWidth + ' x ' + innerHeight" });
        let answer = server.call("browser_evaluate", size).await;
        assert_eq!(answer.result(), "\"640 x 480\"", "{}", block.place);
    }
}

async fn opened(server: &Client, url: &str) {
    let answer = server.call("browser_navigate", json!({ "url": url })).await;
    assert!(!answer.is_error, "{}", answer.text);
}

#[testkit::test(chromium)]
async fn specs_pass() {
    let folder = tempfile::tempdir().expect("a folder");
    let specs = blocks(|block_use| block_use == Use::Spec);
    for (number, block) in specs.iter().enumerate() {
        let path = folder.path().join(format!("{number}.md"));
        std::fs::write(path, &block.text).expect("writable");
    }
    let Some(runner) = Runner::new(env!("CARGO_BIN_EXE_playhouse"), Engine::Chromium) else {
        return;
    };
    let report = runner.folder(folder.path()).run().await;
    assert_none(report.failures);
}

/// The calls of a transcript have the answers that are indented below them: each line occurs in the answer, in this order.
#[testkit::test(chromium)]
async fn the_transcript_is_as_shown() {
    let site = Site::start().await;
    add_page(&site);
    for block in blocks(|block_use| block_use == Use::Transcript) {
        let server = Launch::new(env!("CARGO_BIN_EXE_playhouse"))
            .args(["--headless", "--isolated", "--content-boundaries", "off"])
            .env("PLAYHOUSE_ANSWERS", "compact")
            .env("PLAYHOUSE_CHANGES", "on");
        let server = server.start().await;
        let text = block
            .text
            .replace("http://localhost:8080", &site.base_url());
        let mut answer: Vec<String> = Vec::new();
        for line in text.lines() {
            if let Some(shown) = line.strip_prefix("  ") {
                let at = answer.iter().position(|line| line == shown);
                let at = at
                    .unwrap_or_else(|| panic!("{}: {shown:?} is not in {answer:#?}", block.place));
                answer.drain(..=at);
            } else {
                let (tool, arguments) = line.split_once(' ').expect("a call");
                let arguments: Value = serde_json::from_str(arguments).expect("JSON");
                let result = server.call(tool, arguments).await;
                assert!(!result.is_error, "{}: {line}: {}", block.place, result.text);
                answer = result.text.lines().map(str::to_owned).collect();
            }
        }
    }
}
