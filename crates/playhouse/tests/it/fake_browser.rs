//! The fake browser of other tests gives the answers of Chromium, for the calls that these tests make.

use serde_json::{Value, json};
use testkit::{Client, Site};

use crate::{fake_server, server};

const PAGE: &str = "<!doctype html><title>Shop</title><h1>Tea &amp; cakes</h1><nav><a href=/next>Next</a></nav>
<ul><li>One</li><li>Two <b>and a half</b></li></ul>
<label>Name <input id=name placeholder='Your name'></label><input type=checkbox aria-label=Agree><input type=password>
<select aria-label=Size><option>Small<option>Large</select><textarea aria-label=Note>Old</textarea>
<button onclick=\"this.textContent = 'Sold'\">Buy</button><button disabled>Sell</button>
<button onclick=\"out.textContent = confirm('Sure?') ? 'yes' : 'no'\">Ask</button>
<button onclick=\"document.title = prompt('Who?', 'nobody')\">Prompt</button>
<p id=out></p><p hidden>Unseen</p><script>console.log('loaded', 1); document.cookie = 'seen=1'; localStorage.kept = 'here'</script>";

/// Returns the calls. `closed` is a URL that nothing listens at.
fn calls(url: &str, closed: &str) -> Vec<(&'static str, Value)> {
    let evaluate = |function: &str| ("browser_evaluate", json!({ "function": function }));
    vec![
        ("browser_navigate", json!({ "url": url })),
        ("browser_snapshot", json!({})),
        ("browser_click", json!({ "target": "role=link" })),
        ("browser_navigate_back", json!({})),
        (
            "browser_click",
            json!({ "target": "role=button[name=\"Buy\"]" }),
        ),
        ("browser_click", json!({ "target": "#none" })),
        ("browser_click", json!({ "target": "button" })),
        ("browser_click", json!({ "target": "e999" })),
        ("browser_type", json!({ "target": "#name", "text": "Ada" })),
        (
            "browser_type",
            json!({ "target": "#name", "text": "x", "slowly": true }),
        ),
        ("browser_press_key", json!({ "key": "Backspace" })),
        (
            "browser_select_option",
            json!({ "target": "select", "values": ["Large"] }),
        ),
        ("browser_click", json!({ "target": "[type=checkbox]" })),
        evaluate("() => document.querySelector('#name').value"),
        evaluate("document.title"),
        evaluate("() => location.href.length > 10 && { a: [1, 'b', null], c: undefined }"),
        evaluate("() => { throw new Error('failed') }"),
        evaluate("() => fetch('/data').then((response) => response.text())"),
        evaluate("() => [document.cookie, localStorage.kept, Object.keys(localStorage).length]"),
        evaluate("void 0"),
        ("browser_click", json!({ "target": "text=Ask" })),
        ("browser_snapshot", json!({})),
        ("browser_handle_dialog", json!({ "accept": true })),
        ("browser_click", json!({ "target": "text=Prompt" })),
        (
            "browser_handle_dialog",
            json!({ "accept": true, "promptText": "Ada" }),
        ),
        ("browser_handle_dialog", json!({ "accept": true })),
        ("browser_console_messages", json!({ "level": "info" })),
        ("browser_tabs", json!({ "action": "new" })),
        ("browser_tabs", json!({ "action": "select", "index": 0 })),
        ("browser_wait_for", json!({ "text": "cakes" })),
        ("browser_network_requests", json!({ "static": true })),
        ("browser_tabs", json!({ "action": "close", "index": 1 })),
        ("browser_navigate", json!({ "url": closed })),
        ("browser_navigate", json!({ "url": format!("{url}empty") })),
        ("get_text", json!({ "selector": "h1" })),
        ("get_page_metadata", json!({})),
        ("list_pages", json!({})),
        ("browser_close", json!({})),
    ]
}

/// Returns the answer to each call with its snapshot, and without names of files and positions in scripts.
async fn answers(client: &Client, calls: &[(&str, Value)]) -> Vec<String> {
    let mut answers = Vec::new();
    for (tool, arguments) in calls {
        let answer = client.call(tool, arguments.clone()).await;
        let lines = answer.text.lines();
        let lines = lines.filter(|line| !line.starts_with("    at "));
        let lines = lines.map(|line| line.split(".playwright-mcp").next().unwrap_or_default());
        let lines = lines.map(|line| line.split(" @ ").next().unwrap_or_default());
        let text: Vec<_> = lines.collect();
        let snapshot = answer.snapshot().unwrap_or_default();
        answers.push(format!(
            "{tool} {arguments}\n{}\n{snapshot}\n",
            text.join("\n")
        ));
    }
    answers
}

#[testkit::test(chromium)]
async fn the_fake_browser_answers_like_chromium() {
    let site = Site::start().await;
    let url = site.add_page("/", PAGE);
    site.add_page("/next", "<title>Next</title>");
    site.add_page("/data", "some data");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let closed = format!("http://{}/", listener.local_addr().expect("bound"));
    drop(listener);
    let calls = calls(&url, &closed);
    let (fake, real) = (fake_server(&[]).await, server(&[]).await);
    let (fake, real) = (answers(&fake, &calls).await, answers(&real, &calls).await);
    let pairs = fake.iter().zip(&real).filter(|(fake, real)| fake != real);
    let different: Vec<_> = pairs
        .map(|(fake, real)| format!("fake: {fake}\nChromium: {real}"))
        .collect();
    assert!(different.is_empty(), "{}", different.join("\n"));
}
