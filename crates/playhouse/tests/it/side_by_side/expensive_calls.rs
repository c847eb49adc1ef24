//! Calls and pages that could block the server.

use serde_json::{Value, json};
use testkit::harness::{input_size, input_step, is_nightly};

const LARGE_PAGE: &str = r#"<title>Large</title>
<p id=line></p><p id=words>A short paragraph of a few words that ends with a full stop and no colon.</p>
<input id=field><textarea id=text></textarea><select id=many></select><button id=named>b</button>
<table><tbody></tbody></table><ul></ul>
<script>
  const x = 'x'.repeat(LARGE), list = (count, one) => Array.from({ length: count }, (_, i) => one(i)).join('');
  line.textContent = 'a'.repeat(64) + '!';
  named.title = x;
  text.value = x;
  localStorage.large = x.slice(0, LARGE * 0.8);
  many.innerHTML = list(LARGE / 1000, (i) => `<option>${i}`);
  document.querySelector('tbody').innerHTML = list(LARGE / 1000, (i) => `<tr><td>${i}<td>two`);
  document.querySelector('ul').innerHTML = list(LARGE / 1000, (i) => `<li><a href="/x${i}">one</a> two`);
  document.head.insertAdjacentHTML('beforeend', `<script type="application/ld+json">[${list(LARGE / 50, (i) => `{"i":${i}},`)}0]</scr` + 'ipt>');
</script>"#;

/// Returns a page on which everything is large that a tool reads.
pub(super) fn large_page() -> String {
    sized(LARGE_PAGE)
}

/// Returns the URL of a page whose screenshot is large: the smaller one takes a second to encode, too.
fn tall_page() -> String {
    let height = if is_nightly() { 6000 } else { 2000 };
    format!(
        "data:text/html,<body style='margin:0;height:{height}px;background:repeating-linear-gradient(45deg,red,blue 7px,white 13px)'>"
    )
}

/// Returns the worst known calls of each tool whose input or output has a size that a client or a page controls. Outside of
/// `make nightly`, every third one of those that do not build on each other.
pub(super) fn calls() -> Vec<(&'static str, Value)> {
    let sample = |calls: Vec<_>| -> Vec<_> { calls.into_iter().step_by(input_step(3)).collect() };
    [
        hostile(),
        sample(page()),
        kept(),
        sample(sent()),
        sample(scripts()),
        written(),
        screenshots(),
    ]
    .concat()
}

/// Returns expressions with exponential backtracking, and rules about URLs of the page.
fn hostile() -> Vec<(&'static str, Value)> {
    let fetch = "fetch('/' + 'a'.repeat(40000) + '!').then(() => 'came', () => 'refused')";
    let answer = "fetch('/mocked').then((answer) => answer.text())";
    vec![
        ("browser_find", json!({ "regex": "(a+)+$" })),
        ("browser_find", json!({ "regex": r"(\w+\s?)+:$" })),
        ("browser_find", json!({ "text": "a".repeat(200_000) })),
        (
            "browser_network_requests",
            json!({ "static": true, "filter": "(.*)*(.*)*(.*)*!" }),
        ),
        ("get_request_log", json!({ "filter": "/(.*)*(.*)*(.*)*!/" })),
        ("wait_for_url", json!({ "url": "/(.*)*(.*)*(.*)*!/" })),
        (
            "wait_for_response",
            json!({ "url": "/(.*)*(.*)*(.*)*!/", "timeout": 1000 }),
        ),
        ("block_resource", json!({ "url": "*ads*" })),
        ("evaluate", json!({ "script": fetch })),
        (
            "mock_response",
            json!({ "url": "/(a+)+$/", "response": { "body": "mocked" } }),
        ),
        ("evaluate", json!({ "script": fetch })),
        ("browser_unroute", json!({})),
        (
            "mock_response",
            json!({ "url": "**/mocked", "response": { "body": large() } }),
        ),
        ("evaluate", json!({ "script": answer })),
        (
            "browser_route",
            json!({ "pattern": "**/mocked", "body": large() }),
        ),
        (
            "browser_evaluate",
            json!({ "function": format!("() => {answer}") }),
        ),
        ("browser_unroute", json!({})),
        ("browser_network_requests", json!({ "static": true })),
        ("get_request_log", json!({})),
    ]
}

/// Returns calls that read the page.
fn page() -> Vec<(&'static str, Value)> {
    vec![
        ("browser_snapshot", json!({})),
        ("browser_find", json!({ "text": "one" })),
        ("get_content", json!({ "format": "html" })),
        ("get_content", json!({ "format": "markdown" })),
        ("get_text", json!({ "selector": "body" })),
        ("get_all_text", json!({ "selector": "td" })),
        (
            "get_attribute",
            json!({ "selector": "#named", "attribute": "title" }),
        ),
        ("get_value", json!({ "selector": "#text" })),
        ("get_page_metadata", json!({})),
        ("find_element", json!({ "selector": "#named" })),
        (
            "find_elements",
            json!({ "selector": "td", "limit": input_size(100_000) }),
        ),
        ("extract_table", json!({ "selector": "table" })),
        ("extract_links", json!({})),
        ("browser_generate_locator", json!({ "target": "#named" })),
        ("browser_tabs", json!({ "action": "list" })),
        ("browser_click", json!({ "target": "#named" })),
    ]
}

/// Returns calls that read storage.
fn kept() -> Vec<(&'static str, Value)> {
    let cookies: Vec<_> = (0..input_size(20_000))
        .map(|number| {
            json!({ "name": format!("n{number}"), "value": "v", "domain": "localhost", "path": "/" })
        })
        .collect();
    vec![
        ("browser_localstorage_list", json!({})),
        ("save_state", json!({ "path": "large.json" })),
        ("save_state", json!({})),
        ("restore_state", json!({ "path": "large.json" })),
        ("browser_storage_state", json!({ "filename": "state.json" })),
        (
            "browser_set_storage_state",
            json!({ "filename": "state.json" }),
        ),
        (
            "restore_state",
            json!({ "state": { "cookies": cookies, "origins": [] } }),
        ),
        ("set_cookies", json!({ "cookies": cookies })),
        ("get_cookies", json!({})),
        ("browser_cookie_list", json!({})),
    ]
}

/// Returns calls with large arguments.
fn sent() -> Vec<(&'static str, Value)> {
    let (large, long) = (large(), "a".repeat(200_000));
    let field = json!({ "target": "#none", "name": "f", "type": "textbox", "value": "v" });
    let text = |value: &str| json!({ "type": "textbox", "element": "text", "target": "#text", "value": value });
    vec![
        ("fill", json!({ "selector": "#text", "value": large })),
        ("browser_type", json!({ "target": "#text", "text": large })),
        (
            "browser_fill_form",
            json!({ "fields": vec![field; input_size(20_000)] }),
        ),
        (
            "select",
            json!({ "selector": "#many", "value": vec!["99"; input_size(100_000)] }),
        ),
        (
            "browser_drop",
            json!({ "target": "#text", "data": { "text/plain": large } }),
        ),
        (
            "browser_localstorage_set",
            json!({ "key": "k", "value": large }),
        ),
        ("browser_verify_value", text(&large)),
        ("browser_verify_text_visible", json!({ "text": long })),
        ("browser_wait_for", json!({ "textGone": long })),
        ("browser_click", json!({ "target": format!("text={long}") })),
        ("browser_click", json!({ "target": "(".repeat(60_000) })),
        ("get_all_text", json!({ "selector": ":is(".repeat(16_000) })),
        ("press", json!({ "key": large })),
        ("navigate", json!({ "url": large })),
        ("create_session", json!({ "name": large })),
        (large.leak(), json!({})),
    ]
}

/// Returns calls with large scripts and results.
fn scripts() -> Vec<(&'static str, Value)> {
    let large = large();
    let objects = sized("Array.from({ length: LARGE * 0.06 }, (_, i) => ({ i }))");
    let throws = sized("throw new Error('x'.repeat(LARGE))");
    vec![
        ("evaluate", json!({ "script": sized("'x'.repeat(LARGE)") })),
        ("evaluate", json!({ "script": objects })),
        (
            "evaluate",
            json!({ "script": "(list) => list", "args": [vec![json!({ "i": 0 }); input_size(100_000)]] }),
        ),
        ("evaluate", json!({ "script": throws })),
        ("evaluate", json!({ "script": format!("'{large}'.length") })),
        ("evaluate", json!({ "script": format!("f({large}; g({{") })),
        (
            "browser_evaluate",
            json!({ "function": sized("() => 'x'.repeat(LARGE)") }),
        ),
        (
            "browser_evaluate",
            json!({ "function": format!("() => {objects}") }),
        ),
        (
            "browser_evaluate",
            json!({ "function": format!("() => {{ {throws} }}") }),
        ),
        (
            "browser_evaluate",
            json!({ "function": format!("() => '{large}'.length") }),
        ),
        (
            "browser_run_code_unsafe",
            json!({ "code": sized("async page => { for (let i = 0; i < 30; i++) console.log('y'.repeat(LARGE)); }") }),
        ),
        (
            "browser_run_code_unsafe",
            json!({ "code": sized("page => page.evaluate(() => 'x'.repeat(LARGE))") }),
        ),
        (
            "browser_run_code_unsafe",
            json!({ "code": format!("page => '{large}'.length") }),
        ),
        (
            "browser_run_code_unsafe",
            json!({ "code": format!("{large} {large}") }),
        ),
    ]
}

/// Returns calls that read the large texts that a script has written.
fn written() -> Vec<(&'static str, Value)> {
    let large = large();
    vec![
        (
            "evaluate",
            json!({ "script": sized("for (let i = 0; i < 8; i++) console.log('x'.repeat(LARGE))") }),
        ),
        ("browser_console_messages", json!({ "level": "debug" })),
        (
            "evaluate",
            json!({ "script": sized("document.title = 'x'.repeat(LARGE)") }),
        ),
        (
            "evaluate",
            json!({ "script": sized("setTimeout(() => alert('x'.repeat(LARGE)))") }),
        ),
        (
            "browser_handle_dialog",
            json!({ "accept": true, "promptText": large }),
        ),
    ]
}

/// Returns calls with screenshots.
fn screenshots() -> Vec<(&'static str, Value)> {
    vec![
        (
            "navigate",
            json!({ "url": format!("data:text/html,{}", "y".repeat(input_size(1_900_000))) }),
        ),
        ("navigate", json!({ "url": tall_page() })),
        ("screenshot", json!({ "fullPage": true })),
        (
            "browser_take_screenshot",
            json!({ "scale": "css", "fullPage": true }),
        ),
        (
            "compare_screenshot",
            json!({ "baseline": "tall.png", "fullPage": true, "update": true }),
        ),
        (
            "compare_screenshot",
            json!({ "baseline": "tall.png", "fullPage": true }),
        ),
        ("browser_pdf_save", json!({})),
    ]
}

/// Returns the number of characters of a large text.
pub(super) fn size() -> usize {
    input_size(5_000_000)
}

/// Replaces `LARGE` in a script by [`size`].
fn sized(script: &str) -> String {
    script.replace("LARGE", &size().to_string())
}

fn large() -> String {
    "y".repeat(size())
}
