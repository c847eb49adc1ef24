//! Init page modules, which run for each new page before any call uses it, and while it is open.

use serde_json::json;
use std::fs;
use testkit::{Client, Site};

use crate::{evaluated, server};

/// Starts a server with this init page.
async fn with(name: &str, source: &str) -> (tempfile::TempDir, Client) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    fs::write(&path, source).expect("writable");
    let client = server(&["--init-page", &path.display().to_string()]).await;
    (folder, client)
}

#[testkit::test(chromium)]
async fn each_tab_is_initialized_by_the_module() {
    let site = Site::start().await;
    let url = site.add_page("/", "<title>Home</title><h1>Home</h1>");
    let source = format!(
        "import type {{ Page }} from '@playwright/test';
        export default async ({{ page }}: {{ page: Page }}): Promise<void> => {{
          page.on('dialog', (dialog) => dialog.accept('Ada'));
          await page.addInitScript((name) => {{ window.name = name; }}, 'init');
          await page.setViewportSize({{ width: 500, height: 400 }});
          await page.goto('{url}');
        }};"
    );
    let (_folder, client) = with("init.ts", &source).await;
    let seen = "() => [document.title, innerWidth, window.name, prompt('Who?')].join()";
    assert_eq!(evaluated(&client, seen).await, "\"Home,500,init,Ada\"");
    let answer = client
        .call("browser_tabs", json!({ "action": "new" }))
        .await;
    assert!(
        answer.text.contains("- 1: (current) [Home]"),
        "{}",
        answer.text
    );
    assert_eq!(evaluated(&client, seen).await, "\"Home,500,init,Ada\"");
    // A popup is a tab like any other.
    client
        .call(
            "browser_evaluate",
            json!({ "function": "() => { open('about:blank') }" }),
        )
        .await;
    client
        .call("browser_tabs", json!({ "action": "select", "index": 2 }))
        .await;
    assert_eq!(evaluated(&client, seen).await, "\"Home,500,init,Ada\"");
}

#[testkit::test(chromium)]
async fn a_module_of_the_older_kind_runs_too() {
    let source =
        "exports.default = async ({ page }) => page.setViewportSize({ width: 444, height: 333 });";
    let (_folder, client) = with("init.js", source).await;
    assert_eq!(evaluated(&client, "() => innerWidth").await, "444");
}

#[testkit::test(chromium)]
async fn a_module_that_fails_is_named_and_the_tab_can_be_left() {
    for (source, reason) in [
        ("export default () => { throw new Error('boom') }", "boom"),
        ("export default 1", "the module must have a function"),
        ("export default (", "SyntaxError"),
        (
            "import fs from 'fs'; export default () => {}",
            "could not load module 'fs'",
        ),
    ] {
        let (folder, client) = with("init.js", source).await;
        let path = folder.path().join("init.js");
        for _ in 0..2 {
            let answer = client.call("browser_snapshot", json!({})).await;
            let reply = format!("Error: Failed to load init page \"{}\": ", path.display());
            let error = answer.error();
            let rest = error.strip_prefix(&reply).expect("the path");
            assert!(rest.contains(reason), "{error}");
        }
        // After a correction, it is used for the next tab.
        fs::write(&path, "export default () => {}").expect("writable");
        client.call("browser_close", json!({})).await;
        let answer = client.call("browser_snapshot", json!({})).await;
        assert!(!answer.is_error, "{}", answer.text);
    }
}
