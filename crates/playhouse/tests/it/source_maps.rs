//! Source maps of bundles that esbuild has built: errors name the sources, and the maps are loaded by rules.

use crate::{launch_on, shared};
use serde_json::json;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use testkit::{Client, Engine, Resource, Site};

/// The sources of an app.
const MAIN: &str = "import { Cart } from './cart';
import './style.css';

const cart = new Cart();
document.querySelector('#throw')!.addEventListener('click', () => {
  cart.add('');
});
function report(): void {
  console.error('the cart is', 'broken');
}
document.querySelector('#log')!.addEventListener('click', report);
document.querySelector('#warn')!.addEventListener('click', () => {
  console.warn('careful');
});
";
const CART: &str = "interface Item { name: string }

function checkName(name: string): void {
  if (!name) throw new NameError('no name');
}

export class Cart {
  private items: Item[] = [];
  add(name: string): void {
    checkName(name);
    this.items.push({ name });
  }
}

class NameError extends Error {}
";
const STYLE: &str = "h1 {\n  color: teal;\n}\n";
const PAGE: &str = "<!doctype html><title>Bundled</title><link rel=stylesheet href=/dist/main.css><h1>Bundled</h1>\
    <button id=throw>Throw</button><button id=log>Log</button><button id=warn>Warn</button><script type=module src=/dist/main.js></script>";

/// Builds the app and returns the folder with the bundle.
#[expect(clippy::disallowed_methods, reason = "a test runs the bundler")]
fn build(folder: &Path, flags: &[&str]) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    testkit::node(&root);
    fs::create_dir_all(folder.join("src")).unwrap();
    fs::write(folder.join("src/main.ts"), MAIN).unwrap();
    fs::write(folder.join("src/cart.ts"), CART).unwrap();
    fs::write(folder.join("src/style.css"), STYLE).unwrap();
    let output = Command::new(root.join("node_modules/.bin/esbuild"))
        .current_dir(folder)
        .args([
            "src/main.ts",
            "--bundle",
            "--minify",
            "--log-level=error",
            "--outfile=dist/main.js",
        ])
        .args(flags)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Returns a site with the app, its URL, and the folder of the app.
async fn site_with(flags: &[&str]) -> (Site, String, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    build(folder.path(), flags);
    let site = Site::start().await;
    for entry in fs::read_dir(folder.path().join("dist")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let kind = match path.extension().unwrap().to_str().unwrap() {
            "js" => "text/javascript",
            "css" => "text/css",
            _ => "application/json",
        };
        let body = fs::read(&path).unwrap();
        site.add(&format!("/dist/{name}"), Resource::new(kind, body));
    }
    let url = site.add_page("/", PAGE);
    (site, url, folder)
}

async fn click(client: &Client, target: &str) -> String {
    let answer = client
        .call("browser_click", json!({ "target": target }))
        .await;
    assert!(!answer.is_error, "{}", answer.text);
    answer.text
}

async fn messages(client: &Client, level: &str) -> String {
    let answer = client
        .call("browser_console_messages", json!({ "level": level }))
        .await;
    assert!(!answer.is_error, "{}", answer.text);
    answer.text
}

/// Returns the paths of the maps that the site was asked for.
fn requested_maps(site: &Site) -> Vec<String> {
    let requests = site.requests().into_iter().map(|request| request.target);
    requests.filter(|target| target.contains(".map")).collect()
}

#[testkit::test(chromium, firefox, webkit, node)]
async fn errors_name_the_sources_of_a_bundle(engine: Engine) {
    for flags in [
        &["--sourcemap=linked"][..],
        &["--sourcemap=inline", "--charset=utf8"],
    ] {
        let (site, url, _built) = site_with(flags).await;
        let client = shared(engine, &["--answers=compact"]).await;
        client.navigate(&url).await;
        click(&client, "#warn").await;
        assert!(messages(&client, "info").await.contains("/dist/main.js:"));
        assert!(
            requested_maps(&site).is_empty(),
            "{:?}",
            requested_maps(&site)
        );
        let clicked = click(&client, "#throw").await;
        click(&client, "#log").await;
        let text = messages(&client, "error").await;
        let thrown = text.split("[ERROR]").next().unwrap();
        // WebKit reports the position after the expression.
        let line = if engine == Engine::Webkit { 5 } else { 4 };
        let position = format!("at checkName (src/cart.ts:{line}:");
        assert!(thrown.contains(": no name\n"), "{text}");
        assert!(thrown.contains(&position), "{text}");
        assert!(thrown.contains("(src/cart.ts:10:"), "{text}");
        assert!(thrown.contains("src/main.ts:6:"), "{text}");
        assert!(
            text.contains("[ERROR] the cart is broken @ report (src/main.ts:9:"),
            "{text}"
        );
        assert!(!text.contains("/dist/main.js"), "{text}");
        // The log of the answer to the click.
        let (_, link) = clicked.split_once("console-").expect("a link to the log");
        let name = format!("console-{}", link.split_once(".log").unwrap().0);
        let folder = client.workspace().join(".playwright-mcp");
        let log = fs::read_to_string(folder.join(format!("{name}.log"))).unwrap();
        assert!(log.contains(&position), "{log}");
        assert!(log.contains("[WARNING] careful @ http"), "{log}");
        // The map is loaded once, and is no request of the page.
        let expected = usize::from(flags.contains(&"--sourcemap=linked"));
        assert_eq!(requested_maps(&site).len(), expected);
        let requests = client
            .call("browser_network_requests", json!({ "static": true }))
            .await;
        assert!(!requests.text.contains(".map"), "{}", requests.text);
    }
}

#[testkit::test(chromium, node)]
async fn styles_name_the_sources_of_a_bundle(engine: Engine) {
    let (_site, url, _folder) = site_with(&["--sourcemap=linked"]).await;
    let client = shared(engine, &["--answers=compact"]).await;
    client.navigate(&url).await;
    let asked = json!({ "target": "h1", "properties": ["color"] });
    let styles = client.call("browser_get_styles", asked).await;
    assert!(
        styles.text.contains("1. h1 (0,0,1) src/style.css:1:1"),
        "{}",
        styles.text
    );
    assert!(
        styles.text.contains("rgb(0, 128, 128) of 1, line 2"),
        "{}",
        styles.text
    );
}

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit), node)]
async fn answers_like_those_of_playwright_name_the_bundle(engine: Engine) {
    let (site, url, _folder) = site_with(&["--sourcemap=linked"]).await;
    let client = shared(engine, &["--answers=playwright"]).await;
    client.navigate(&url).await;
    click(&client, "#throw").await;
    click(&client, "#log").await;
    let text = messages(&client, "error").await;
    assert!(
        text.contains("/dist/main.js:1:") && !text.contains("cart.ts"),
        "{text}"
    );
    assert!(requested_maps(&site).is_empty());
}

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit), node)]
async fn a_map_that_cannot_be_loaded_changes_nothing(engine: Engine) {
    let (site, url, folder) = site_with(&["--sourcemap=external"]).await;
    let script = fs::read_to_string(folder.path().join("dist/main.js")).unwrap();
    let other = Site::start().await;
    let map = Resource::new(
        "application/json",
        fs::read(folder.path().join("dist/main.js.map")).unwrap(),
    );
    other.add(
        "/main.js.map",
        map.clone().header("access-control-allow-origin", "*"),
    );
    site.add("/slow.map", map.clone().delay(Duration::from_secs(60)));
    site.add(
        "/moved.map",
        Resource::new("text/plain", "")
            .status(302)
            .header("location", "/dist/main.js.map"),
    );
    site.add("/broken.map", Resource::new("application/json", "{"));
    site.add(
        "/huge.map",
        Resource::new("application/json", " ".repeat(17 << 20)),
    );
    let elsewhere = other.url("/main.js.map");
    let client = shared(engine, &["--answers=compact"]).await;
    let client: &Client = &client;
    for named in [
        "/none.map",
        "/moved.map",
        "/broken.map",
        "/huge.map",
        "/slow.map",
        &elsewhere,
        "data:,{}",
        "data:;base64,!",
        "http://[",
    ] {
        let text = format!("{script}\n//# sourceMappingURL={named}\n");
        site.add("/dist/main.js", Resource::new("text/javascript", text));
        client.navigate(&url).await;
        let before = Instant::now();
        click(client, "#throw").await;
        let text = messages(client, "error").await;
        assert!(before.elapsed() < Duration::from_secs(30), "{named}");
        assert!(
            text.contains("/dist/main.js:1:") && !text.contains("cart.ts"),
            "{named}: {text}"
        );
        assert!(!text.contains(".map"), "{named}: {text}");
        assert!(text.contains("Errors: 1,"), "{named}: {text}");
    }
    assert!(requested_maps(&other).is_empty());
    let redirected = requested_maps(&site);
    assert!(
        redirected.contains(&"/moved.map".to_owned())
            && !redirected.contains(&"/dist/main.js.map".to_owned()),
        "{redirected:?}"
    );
}

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit), node)]
async fn maps_are_loaded_by_the_rules_of_the_page(engine: Engine) {
    let (site, url, _folder) = site_with(&["--sourcemap=linked"]).await;
    let client = shared(engine, &["--answers=compact"]).await;
    let page = Resource::html(PAGE).header("content-security-policy", "connect-src 'none'");
    site.add("/", page);
    client.navigate(&url).await;
    click(&client, "#throw").await;
    let text = messages(&client, "error").await;
    assert!(
        text.contains("/dist/main.js:1:") && text.contains("Errors: 1,"),
        "{text}"
    );
    assert!(requested_maps(&site).is_empty());
    // Cookies of the page are sent.
    site.add("/", Resource::html(PAGE).header("set-cookie", "user=ada"));
    client.navigate(&url).await;
    click(&client, "#throw").await;
    let text = messages(&client, "error").await;
    assert!(text.contains("(src/cart.ts:"), "{text}");
    let request = site
        .requests()
        .into_iter()
        .find(|it| it.target.contains(".map"));
    assert_eq!(request.unwrap().header("cookie"), Some("user=ada"));
}

#[testkit::test(chromium, node)]
async fn a_header_names_the_map(engine: Engine) {
    let (site, url, folder) = site_with(&["--sourcemap=external"]).await;
    let script = fs::read_to_string(folder.path().join("dist/main.js")).unwrap();
    let script = Resource::new("text/javascript", script).header("SourceMap", "main.js.map");
    site.add("/dist/main.js", script);
    let client = launch_on(engine, &["--answers=compact"]).start().await;
    client.navigate(&url).await;
    click(&client, "#throw").await;
    assert!(
        messages(&client, "error")
            .await
            .contains("at checkName (src/cart.ts:4:")
    );
}
