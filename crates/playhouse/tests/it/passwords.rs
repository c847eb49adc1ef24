//! Values of password fields are in no answer and no file, on any engine.

use serde_json::{Value, json};
use std::fs;
use testkit::harness::input_step;
use testkit::{Client, Engine, Site};

use crate::{launch, shared};

/// The value that the page sets, and the one that is typed.
const FILLED: &str = "page-filled-pass";
const TYPED: &str = "typed-pass&word";

const PAGE: &str = "<title>Sign in</title><form action=/in method=post>\
    <label>Name <input id=name></label>\
    <label>Password <input type=password id=password name=password value='page-filled-pass'></label>\
    <label>PIN <input type=password id=pin value=73></label></form>\
    <button id=show onclick=\"password.type='text'\">Show</button><p id=echo></p>\
    <script>password.oninput = () => { console.log('typed ' + password.value); echo.textContent = password.value; \
    localStorage.last = password.value }</script>";

async fn call(client: &Client, tool: &str, arguments: Value) -> String {
    let answer = client.call(tool, arguments).await;
    assert!(!answer.is_error, "{tool}: {}", answer.text);
    let all = answer.raw.to_string();
    for value in [FILLED, "typed-pass", "pass&word", "pass\\u0026word"] {
        assert!(!all.contains(value), "{tool} shows {value}: {all}");
    }
    answer.text
}

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit))]
async fn no_answer_and_no_file_shows_a_password(engine: Engine) {
    let args = [
        "--toolsets",
        "browser,session",
        "--caps",
        "storage,network,testing,devtools",
        "--save-session",
    ];
    let client = launch(engine.args()).args(args).start().await;
    let site = Site::start().await;
    let url = site.add_page("/", PAGE);
    call(&client, "browser_start_tracing", json!({})).await;
    call(&client, "browser_navigate", json!({ "url": url })).await;
    call(
        &client,
        "browser_har_start",
        json!({ "filename": "all.har" }),
    )
    .await;
    // The first tool that reads it runs the agent's code.
    let read = call(
        &client,
        "browser_evaluate",
        json!({ "function": "() => ({ a: [password.value] })" }),
    )
    .await;
    assert!(read.contains("••••••••••••••••"), "{read}");
    call(
        &client,
        "browser_type",
        json!({ "target": "#password", "text": TYPED }),
    )
    .await;
    for kind in ["hidden", "shown"] {
        if kind == "shown" {
            call(&client, "browser_click", json!({ "target": "#show" })).await;
        }
        for (tool, arguments) in [
            ("browser_snapshot", json!({})),
            (
                "browser_snapshot",
                json!({ "filename": format!("{kind}.yml") }),
            ),
            ("browser_find", json!({ "text": "Password" })),
            (
                "browser_evaluate",
                json!({ "function": "() => password.value + '!'" }),
            ),
            ("browser_console_messages", json!({})),
            (
                "browser_console_messages",
                json!({ "filename": format!("{kind}.txt") }),
            ),
            ("browser_localstorage_list", json!({})),
            (
                "browser_storage_state",
                json!({ "filename": format!("{kind}.json") }),
            ),
            ("get_value", json!({ "selector": "#password" })),
            ("get_value", json!({ "selector": "label:has(#password)" })),
            ("find_element", json!({ "selector": "#password" })),
            ("find_elements", json!({ "selector": "input" })),
            (
                "get_attribute",
                json!({ "selector": "#password", "attribute": "value" }),
            ),
            ("get_text", json!({ "selector": "body" })),
            ("get_all_text", json!({ "selector": "p" })),
            ("get_content", json!({ "format": "html" })),
            (
                "get_content",
                json!({ "format": "html", "selector": "#password" }),
            ),
            ("get_content", json!({ "format": "text" })),
            ("get_content", json!({ "format": "markdown" })),
            (
                "evaluate",
                json!({ "script": "return [password.value, btoa('u:' + password.value)]" }),
            ),
        ] {
            call(&client, tool, arguments).await;
        }
        // Regardless of its length, within the field itself.
        let pin = call(&client, "get_value", json!({ "selector": "#pin" })).await;
        assert!(pin.contains("\"••\""), "{pin}");
        let html = call(
            &client,
            "get_content",
            json!({ "format": "html", "selector": "#pin" }),
        )
        .await;
        assert!(html.contains("value=\\\"••\\\""), "{html}");
    }
    // A client that knows it can verify it.
    let arguments =
        json!({ "type": "textbox", "element": "Password", "target": "#password", "value": TYPED });
    let checked = call(&client, "browser_verify_value", arguments).await;
    assert!(checked.contains("Done"), "{checked}");
    let send = "async () => (await fetch('/in', { method: 'POST', \
        body: new URLSearchParams({ name: 'sent', password: password.value }) })).status";
    call(&client, "browser_evaluate", json!({ "function": send })).await;
    call(&client, "browser_har_stop", json!({})).await;
    let har = fs::read_to_string(client.workspace().join("all.har")).expect("a HAR");
    assert!(har.contains("name=sent&password="), "{har}");
    // Other values remain readable.
    let name = call(
        &client,
        "browser_type",
        json!({ "target": "#name", "text": "Ada Lovelace" }),
    )
    .await;
    assert!(name.contains("fill('Ada Lovelace')"), "{name}");

    // The form is sent, so that the password is in the body of a request.
    let send = json!({ "function": "() => fetch('/in', { method: 'POST', body: password.value }).then(() => 1)" });
    call(&client, "browser_evaluate", send).await;
    call(&client, "browser_stop_tracing", json!({})).await;

    let mut files = 0;
    let mut folders = vec![client.workspace().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            files += 1;
            let text = String::from_utf8_lossy(&fs::read(&path).expect("readable")).into_owned();
            for value in [FILLED, "typed-pass"] {
                assert!(!text.contains(value), "{}: {text}", path.display());
            }
        }
    }
    // Requested snapshots, the HAR, messages and storage states, the console log, the journal, and the trace with its resources.
    assert!(files >= 13, "{files} files");
}

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit))]
async fn a_secret_is_typed_into_documents_of_its_origins_only(engine: Engine) {
    let site = Site::start().await;
    let field = "<input id=field oninput='document.title = value.length'>";
    let url = site.add_page("/field", field);
    let other = url.replace("127.0.0.1", "localhost");
    let page = format!(
        "<input id=own value=own>{field}<iframe id=other src='{other}'></iframe><iframe id=inline srcdoc=\"<input id=field>\"></iframe>\
         <iframe id=opaque sandbox='allow-scripts' srcdoc=\"<input id=field>\"></iframe>"
    );
    let url = site.add_page("/", &page);
    let folder = tempfile::tempdir().expect("a folder");
    let secrets = folder.path().join("secrets.env");
    let origin = url.trim_end_matches('/');
    fs::write(&secrets, format!("KEY=hunter22\nKEY__ORIGINS={origin}\n")).expect("writable");
    let client = launch(engine.args())
        .args(["--toolsets", "browser,session", "--secrets"])
        .args([secrets.into_os_string()])
        .start()
        .await;
    call(&client, "browser_navigate", json!({ "url": url })).await;
    let within = |frame: &str| format!("locator('#{frame}').contentFrame().locator('#field')");
    for (target, is_allowed) in [
        (within("other"), false),
        (within("opaque"), false),
        ("#field".to_owned(), true),
        (within("inline"), true),
    ] {
        let fields = json!([
            { "target": "#own", "name": "Own", "type": "textbox", "value": "nothing" },
            { "target": target, "name": "Field", "type": "textbox", "value": "KEY" },
        ]);
        let calls = [
            ("browser_type", json!({ "target": target, "text": "KEY" })),
            (
                "browser_type",
                json!({ "target": target, "text": "KEY", "slowly": true }),
            ),
            ("browser_fill_form", json!({ "fields": fields })),
            ("fill", json!({ "selector": target, "value": "KEY" })),
            ("type", json!({ "selector": target, "text": "KEY" })),
        ];
        // What the engines differ in is the origin of a frame.
        let step = match engine {
            Engine::Chromium => 1,
            Engine::Firefox | Engine::Webkit => input_step(calls.len()),
        };
        for (tool, arguments) in calls.into_iter().step_by(step) {
            call(&client, "fill", json!({ "selector": target, "value": "" })).await;
            let answer = client.call(tool, arguments).await;
            let value = json!({ "selector": target });
            let value = client.call("get_value", value).await.text;
            if is_allowed {
                assert!(!answer.is_error, "{tool} {target}: {}", answer.text);
                assert!(
                    value.contains("<secret>KEY</secret>"),
                    "{tool} {target}: {value}"
                );
                continue;
            }
            let error = answer.raw["structuredContent"].clone();
            assert_eq!(
                error["errorCode"], "SECRET_NOT_ALLOWED_HERE",
                "{tool} {target}: {}",
                answer.text
            );
            assert_eq!(error["details"]["name"], "KEY");
            assert_eq!(error["details"]["allowedOrigins"], json!([origin]));
            assert!(value.contains("\"value\":\"\""), "{value}");
            // The other field is empty too.
            let own = json!({ "selector": "#own" });
            let own = client.call("get_value", own).await.text;
            assert!(own.contains("\"value\":\"own\""), "{own}");
        }
    }
}

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit))]
async fn a_secret_is_masked_with_any_white_space(engine: Engine) {
    let folder = tempfile::tempdir().expect("a folder");
    let secrets = folder.path().join("secrets.env");
    fs::write(&secrets, "KEY=\"first line of it\nsecond  line\tof it\"\n").expect("writable");
    let client = launch(engine.args())
        .args(["--toolsets", "browser,session", "--secrets"])
        .args([secrets.into_os_string()])
        .start()
        .await;
    let site = Site::start().await;
    let url = site.add_page(
        "/",
        "<textarea id=key aria-label=Key oninput=\"document.title = value; out.textContent = value; \
         out.title = value; console.log(value)\"></textarea><p id=out></p><pre id=pre></pre>",
    );
    client.navigate(&url).await;
    client
        .call("browser_type", json!({ "target": "#key", "text": "KEY" }))
        .await;
    for (tool, arguments) in [
        ("browser_snapshot", json!({})),
        ("browser_tabs", json!({ "action": "list" })),
        ("browser_console_messages", json!({})),
        (
            "browser_evaluate",
            json!({ "function": "() => [key.value, encodeURIComponent(key.value), out.outerHTML, JSON.stringify(key.value)]" }),
        ),
        ("get_text", json!({ "selector": "body" })),
        ("get_content", json!({ "format": "html" })),
        ("get_content", json!({ "format": "markdown" })),
        ("get_value", json!({ "selector": "#key" })),
        ("find_elements", json!({ "selector": "p, textarea" })),
    ] {
        let answer = client.call(tool, arguments).await;
        let text = answer.raw.to_string();
        assert!(text.contains("<secret>KEY</secret>"), "{tool}: {text}");
        for part in ["first", "second", "of it", "of%20it"] {
            assert!(!text.contains(part), "{tool}: {text}");
        }
    }
}

/// A page that sends the value of its password field after each key.
const TALKATIVE: &str = "<!doctype html><title>Sends</title><input id=field type=password
    oninput='fetch(`/sent`, { method: `POST`, body: `p=${value}` })'>";

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit))]
async fn a_password_typed_key_by_key_is_masked_in_what_the_page_sends(engine: Engine) {
    let password = "tr0ub4dor&3";
    let site = Site::start().await;
    let client = shared(engine, &[]).await;
    client.navigate(&site.add_page("/", TALKATIVE)).await;
    let field = json!({ "target": "#field", "element": "the field" });
    client.call("browser_click", field).await;
    let key =
        |c: char| json!({ "tool": "browser_press_key", "arguments": { "key": c.to_string() } });
    let (first, rest) = password.split_at(4);
    for c in first.chars() {
        let pressed = json!({ "key": c.to_string() });
        client.call("browser_press_key", pressed).await;
    }
    let steps: Vec<_> = rest.chars().map(key).collect();
    let batch = client
        .call("browser_batch", json!({ "steps": steps }))
        .await;
    assert!(!batch.is_error, "{}", batch.text);
    let request = |index: usize| json!({ "index": index, "part": "request-body" });
    let mut bodies = 0;
    for index in 1..=password.len() + 3 {
        let answer = client.call("browser_network_request", request(index)).await;
        bodies += usize::from(answer.text.contains("p=•"));
        for end in 4..=password.len() {
            let shown = format!("p={}", &password[..end]);
            assert!(!answer.text.contains(&shown), "{shown}: {}", answer.text);
        }
    }
    assert!(bodies > 0, "the page has sent it");
}
