//! Exported tests: what `browser_export_test` writes, replays, and what Playwright's own test runner makes of it.

use crate::shared;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;
use testkit::harness::is_nightly;
use testkit::{Client, Engine, PooledClient, Site, node};

const RUNNER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../testkit/playwright");

const SECRET: &str = "key-of-the-shop";
const PASSWORD: &str = "correct-horse";

const SHOP: &str = "<title>Shop</title><h1>Order</h1><form onsubmit='order(event)'>\
    <label>Customer <input id=customer></label><label>Key <input id=key></label>\
    <label>Password <input type=password id=password></label>\
    <label>Color <select id=color><option>Red<option>Green</select></label>\
    <label><input type=checkbox id=gift onchange=\"wrap.checked = checked\"> Gift</label>\
    <label><input type=checkbox id=wrap disabled> Wrapped</label>\
    <button>Buy</button></form><button type=button onclick=\"if (confirm('Sure?')) document.title = 'Empty'\">Empty</button>\
    <main id=out></main><p><a href=/terms>Terms</a></p><script>\
    function order(event) { event.preventDefault();\
    const ok = key.value === 'key-of-the-shop' && password.value === 'correct-horse' && color.value === 'Green' && gift.checked;\
    setTimeout(() => out.innerHTML = ok ? '<h2>Thank you</h2><p>Order 4711 of ' + new Date().toISOString() + '</p>' : '<h2>Refused</h2>', 100) }\
    </script>";

async fn call(client: &Client, tool: &str, arguments: Value) -> String {
    let answer = client.call(tool, arguments).await;
    assert!(!answer.is_error, "{tool}: {}", answer.text);
    answer.text
}

/// Orders something, and exports a test of it; returns the answer and the test.
async fn exported(client: &Client, url: &str) -> (String, String) {
    let button = "getByRole('button', { name: 'Buy' })";
    for (tool, arguments) in [
        ("browser_navigate", json!({ "url": url })),
        (
            "browser_type",
            json!({ "target": "getByLabel('Customer')", "text": "Ada" }),
        ),
        (
            "browser_type",
            json!({ "target": "getByLabel('Key')", "text": "SHOP_KEY" }),
        ),
        (
            "browser_type",
            json!({ "target": "getByLabel('Password')", "text": PASSWORD }),
        ),
        (
            "browser_select_option",
            json!({ "target": "select", "values": ["Green"] }),
        ),
        (
            "browser_click",
            json!({ "target": "getByRole('checkbox', { name: 'Gift' })" }),
        ),
        ("browser_click", json!({ "target": button })),
        ("browser_wait_for", json!({ "text": "Thank you" })),
        (
            "browser_verify_value",
            json!({ "type": "textbox", "element": "Customer", "target": "#customer", "value": "Ada" }),
        ),
        (
            "browser_click",
            json!({ "target": "getByRole('button', { name: 'Empty' })" }),
        ),
        ("browser_handle_dialog", json!({ "accept": true })),
        (
            "browser_click",
            json!({ "target": "getByRole('link', { name: 'Terms' })" }),
        ),
    ] {
        call(client, tool, arguments).await;
    }
    let arguments = json!({ "filename": "shop.spec.ts", "name": "orders" });
    let answer = call(client, "browser_export_test", arguments).await;
    let test = fs::read_to_string(client.workspace().join("shop.spec.ts"));
    (answer, test.expect("a test"))
}

async fn site() -> Site {
    let site = Site::start().await;
    site.add_page("/", SHOP);
    site.add_page("/terms", "<title>Terms</title><h1>Terms</h1>");
    site
}

async fn start(engine: Engine, style: &str) -> PooledClient {
    // One file for all tests, so that they share servers.
    let secrets = concat!(env!("CARGO_TARGET_TMPDIR"), "/shop.env");
    fs::write(secrets, format!("SHOP_KEY={SECRET}\n")).expect("writable");
    let args = ["--changes=on", "--answers", style, "--secrets", secrets];
    shared(engine, &args).await
}

fn assert_test(answer: &str, test: &str) {
    assert!(answer.contains("steps passed in"), "{answer}");
    assert!(!answer.contains("failed"), "{answer}\n{test}");
    assert!(answer.contains("SHOP_KEY, PASSWORD"), "{answer}");
    for line in [
        "// - SHOP_KEY\n// - PASSWORD\n",
        "test('orders', async ({ page }) => {\n  await page.goto('http://",
        ".fill(process.env['SHOP_KEY']!);",
        ".fill(process.env['PASSWORD']!);",
        "toHaveValue('Ada');",
        "await expect(page.getByRole('checkbox', { name: 'Wrapped', exact: true })).toBeChecked();",
        "await expect(page.getByRole('heading', { name: 'Thank you', exact: true })).toBeVisible();",
        "page.once('dialog', (dialog) => dialog.accept());\n  await page.getByRole('button', { name: 'Empty' }).click();",
        "/terms');\n",
    ] {
        assert!(test.contains(line), "{line} is not in {test}");
    }
    for text in [SECRET, PASSWORD, "4711", "Refused"] {
        assert!(!test.contains(text) && !answer.contains(text), "{test}");
    }
}

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit))]
async fn a_session_becomes_a_test_that_is_replayed(engine: Engine) {
    let (client, site) = (start(engine, "compact").await, site().await);
    let (answer, test) = exported(&client, &site.url("/")).await;
    assert_test(&answer, &test);
    // The replay had a context of its own.
    let tabs = call(&client, "browser_tabs", json!({ "action": "list" })).await;
    assert!(tabs.contains("/terms") && !tabs.contains("- 1:"), "{tabs}");
}

#[testkit::test(chromium)]
async fn answers_in_another_style_lead_to_the_same_test() {
    let (client, site) = (start(Engine::Chromium, "playwright").await, site().await);
    let (answer, test) = exported(&client, &site.url("/")).await;
    assert_test(&answer, &test);
}

#[testkit::test(chromium)]
async fn a_failed_replay_names_the_step_and_the_file_is_written() {
    let (client, site) = (
        start(Engine::Chromium, "compact").await,
        Site::start().await,
    );
    // Only the first visitor sees the button, as in an application with state on its server.
    let once = "<h1>Welcome</h1><script>fetch('/once').then(async (it) => { if (await it.text() === 'y') \
        document.body.append(Object.assign(document.createElement('button'), { textContent: 'Claim' })) })</script>";
    let url = site.add_page("/", once);
    site.add("/once", testkit::Resource::new("text/plain", "y"));
    call(&client, "browser_navigate", json!({ "url": url })).await;
    let claim = json!({ "target": "getByRole('button', { name: 'Claim' })" });
    call(&client, "browser_click", claim).await;
    site.add("/once", testkit::Resource::new("text/plain", "n"));
    let name = json!({ "filename": "claim.spec.ts" });
    let answer = call(&client, "browser_export_test", name).await;
    assert!(
        answer.contains("failed at step 3 of 3 (line 6)"),
        "{answer}"
    );
    assert!(answer.contains("locator.click: Timeout"), "{answer}");
    let test = fs::read_to_string(client.workspace().join("claim.spec.ts")).expect("a test");
    assert_eq!(
        test.lines().nth(5),
        Some("  await page.getByRole('button', { name: 'Claim' }).click();"),
        "{test}"
    );
}

/// Runs a test with Playwright's runner; returns its output.
#[expect(
    clippy::disallowed_methods,
    reason = "the test runner is a program for Node"
)]
fn run_by_playwright(folder: &Path, variables: &[(&str, &str)]) -> (bool, String) {
    let config = format!(
        "module.exports = {{ testDir: {:?}, reporter: 'line', retries: 0, \
         use: {{ headless: true, launchOptions: {{ executablePath: {:?}, args: ['--no-sandbox'] }} }} }};",
        folder,
        Engine::Chromium.executable(),
    );
    let path = folder.join("playwright.config.cjs");
    fs::write(&path, config).expect("writable");
    // Tests import the package from their own folder.
    let modules = folder.join("node_modules");
    if !modules.exists() {
        std::os::unix::fs::symlink(format!("{RUNNER}/node_modules"), modules).expect("a link");
    }
    let run = Command::new(node(RUNNER))
        .arg(format!("{RUNNER}/node_modules/@playwright/test/cli.js"))
        .arg("test")
        .arg("--config")
        .arg(&path)
        .current_dir(folder)
        .envs(variables.iter().copied())
        .output()
        .expect("Node starts");
    let text = [run.stdout, run.stderr].concat();
    (
        run.status.success(),
        String::from_utf8_lossy(&text).into_owned(),
    )
}

#[testkit::test(chromium, node, slow)]
async fn playwright_runs_an_exported_test() {
    let (client, site) = (start(Engine::Chromium, "compact").await, site().await);
    let (_, test) = exported(&client, &site.url("/")).await;
    let variables = [("SHOP_KEY", SECRET), ("PASSWORD", PASSWORD)];
    let (passed, output) = run_by_playwright(client.workspace(), &variables);
    assert!(passed && output.contains("1 passed"), "{output}\n{test}");
    if !is_nightly() {
        return;
    }
    // The test fails if the application does.
    let variables = [("SHOP_KEY", "wrong"), ("PASSWORD", PASSWORD)];
    let (passed, output) = run_by_playwright(client.workspace(), &variables);
    assert!(!passed && output.contains("Thank you"), "{output}\n{test}");
}
