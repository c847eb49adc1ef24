//! Safe mode: its guarantees on each engine, and the settings that it rejects.

use serde_json::{Value, json};
use std::fs;
use testkit::{Engine, PooledClient, Site, eventually};

use crate::cli::run;
use crate::{launch, launch_on, server};

const SAFE: [&str; 3] = ["--safe", "--allowed-domains", "127.0.0.1"];

async fn safe(engine: Engine) -> PooledClient {
    launch_on(engine, &SAFE).pooled().await
}

/// Returns the error of a server that does not start.
async fn refusal(args: &[&str]) -> String {
    let client = launch(args).spawn();
    client.whole_stderr().await
}

#[testkit::test(chromium)]
async fn safe_mode_needs_domains_and_refuses_what_contradicts_it() {
    let answer = refusal(&["--safe"]).await;
    assert!(
        answer.starts_with("--safe needs --allowed-domains")
            && answer.contains("playhouse --safe --allowed-domains "),
        "{answer}"
    );
    for pattern in ["*", "*.*"] {
        let answer = refusal(&["--safe", "--allowed-domains", pattern]).await;
        assert!(answer.contains(&format!("\"{pattern}\"")), "{answer}");
    }
    for other in [
        "--enable-script-evaluation",
        "--client-paths",
        "--allow-unrestricted-file-access",
        "--no-block-private-addresses",
        "--no-quarantine-downloads",
        "--no-deny-permissions",
        "--allowed-schemes=file",
        "--readable-roots=/tmp",
        "--grant-permissions=geolocation",
        "--cdp-endpoint=http://localhost:9222",
        "--webdriver-endpoint=http://localhost:4444",
        "--extension",
    ] {
        let answer = refusal(&[&SAFE[..], &[other]].concat()).await;
        let name = other
            .split('=')
            .next()
            .unwrap_or(other)
            .replace("--no-", "--");
        assert!(
            answer.contains("--safe") && answer.contains(&name) && answer.contains("contradict"),
            "{other}: {answer}"
        );
    }
    let folder = tempfile::tempdir().expect("a folder");
    let secrets = folder.path().join("secrets.env");
    fs::write(&secrets, "FREE=other-secret\n").expect("writable");
    let secrets = format!("--secrets={}", secrets.display());
    let answer = refusal(&[&SAFE[..], &[&secrets]].concat()).await;
    assert!(answer.contains("missing for FREE"), "{answer}");
    assert!(!answer.contains("other-secret"), "{answer}");
}

#[testkit::test(chromium)]
async fn secrets_are_typed_into_documents_of_their_origins_only() {
    let site = Site::start().await;
    let page = "<input id=field oninput='out.textContent = value.length'><p id=out></p>";
    let url = site.add_page("/", page);
    let elsewhere = site.cross_origin_url();
    let folder = tempfile::tempdir().expect("a folder");
    let secrets = folder.path().join("secrets.env");
    let origin = url.trim_end_matches('/');
    let bound = format!("KEY=hunter22hunter\nKEY__ORIGINS={origin}\n");
    fs::write(&secrets, &bound).expect("writable");
    let secrets = secrets.display().to_string();
    let flag = format!("--secrets={secrets}");
    let client = server(&[&SAFE[..], &["--allowed-domains=localhost", &flag]].concat()).await;
    let fields =
        json!([{ "target": "#field", "name": "Field", "type": "textbox", "value": "KEY" }]);
    for (tool, arguments) in [
        ("fill", json!({ "selector": "#field", "value": "KEY" })),
        ("type", json!({ "selector": "#field", "text": "KEY" })),
        ("browser_type", json!({ "target": "#field", "text": "KEY" })),
        ("browser_fill_form", json!({ "fields": fields })),
    ] {
        client.success("navigate", json!({ "url": url })).await;
        let typed = client.call(tool, arguments.clone()).await;
        assert!(!typed.is_error, "{tool}: {}", typed.text);
        let length = json!({ "selector": "#out:text('14')", "timeout": 10_000 });
        client.success("wait_for_selector", length).await;
        let value = json!({ "selector": "#field" });
        let value = client.success("get_value", value).await;
        assert_eq!(value["value"], "<secret>KEY</secret>", "{tool}: {value}");

        client
            .success("navigate", json!({ "url": elsewhere }))
            .await;
        let refused = client.object(tool, arguments).await;
        assert_eq!(
            refused["errorCode"], "SECRET_NOT_ALLOWED_HERE",
            "{tool}: {refused}"
        );
        let value = json!({ "selector": "#field" });
        let value = client.success("get_value", value).await;
        assert_eq!(value["value"], "", "{tool}: {value}");
    }
    // An unbound secret is rejected at startup, also beside a bound one.
    fs::write(&secrets, bound + "FREE=other-secret\n").expect("writable");
    let answer = refusal(&[&SAFE[..], &[&flag]].concat()).await;
    assert!(
        answer.contains("missing for FREE") && !answer.contains("KEY"),
        "{answer}"
    );
}

#[testkit::test(chromium)]
fn the_help_of_safe_mode_is_its_table() {
    for args in [
        &["--safe", "--help"][..],
        &["--help", "--safe"],
        &["-h", "--safe"],
    ] {
        let output = run(args);
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        assert!(text.starts_with("--safe is for agents"), "{text}");
        for flag in [
            "--block-private-addresses",
            "--no-enable-script-evaluation",
            "--no-client-paths",
            "--quarantine-downloads",
            "--deny-permissions",
        ] {
            assert!(text.contains(&format!("\n  {flag}\n")), "{flag}: {text}");
        }
    }
}

#[testkit::test(chromium)]
async fn clients_run_no_code_and_name_no_files() {
    let site = Site::start().await;
    let url = site.add_page("/", "<title>safe</title><input type=file><p id=out></p><script>document.querySelector('input').onchange = async (event) => { const [file] = event.target.files; out.textContent = file.name + ': ' + await file.text(); };</script>");
    let client = safe(Engine::Chromium).await;
    client.success("navigate", json!({ "url": url })).await;
    for (tool, arguments) in [
        ("browser_evaluate", json!({ "function": "1" })),
        ("browser_run_code_unsafe", json!({ "code": "1" })),
        ("evaluate", json!({ "script": "1" })),
    ] {
        let answer = client.object(tool, arguments).await;
        assert_eq!(answer["errorCode"], "TOOL_DISABLED", "{answer}");
    }
    let script = json!({ "url": "javascript:document.title='x'" });
    assert!(client.call("browser_navigate", script).await.is_error);
    let file = client.workspace().join("file.txt");
    fs::write(&file, "of the workspace").expect("writable");
    for (tool, arguments) in [
        (
            "upload_file",
            json!({ "selector": "input", "files": ["file.txt"] }),
        ),
        ("browser_drop", json!({ "target": "p", "paths": [file] })),
        ("browser_take_screenshot", json!({ "filename": "shot.png" })),
        ("browser_snapshot", json!({ "filename": "snapshot.md" })),
        ("screenshot", json!({ "path": "shot.png" })),
        (
            "compare_screenshot",
            json!({ "baseline": "shot.png", "update": true }),
        ),
        (
            "browser_console_messages",
            json!({ "filename": "console.txt" }),
        ),
        ("create_session", json!({ "storageState": "file.txt" })),
        ("save_state", json!({ "path": "state.json" })),
        ("restore_state", json!({ "path": "file.txt" })),
    ] {
        let answer = client.object(tool, arguments).await;
        assert_eq!(
            answer["errorCode"], "FILE_ACCESS_DENIED",
            "{tool}: {answer}"
        );
    }
    for name in ["shot.png", "snapshot.md", "console.txt", "state.json"] {
        assert!(!client.workspace().join(name).exists(), "{name}");
    }
    // Files that the client sends, and those that the server names.
    let inline = json!([{ "name": "inline.txt", "base64": "aW5saW5l" }]);
    let upload = json!({ "selector": "input", "files": inline });
    client.success("upload_file", upload).await;
    let wait = json!({ "selector": "text=inline.txt: inline" });
    client.success("wait_for_selector", wait).await;
    let shot = client.call("browser_take_screenshot", json!({})).await;
    assert!(!shot.is_error, "{}", shot.text);
}

#[testkit::test(chromium)]
async fn pages_reach_allowed_domains_and_no_private_addresses() {
    let site = Site::start().await;
    let client = safe(Engine::Chromium).await;
    // A literally allowed address is exempt.
    client
        .success("navigate", json!({ "url": site.url("/") }))
        .await;
    let answer = client
        .object("navigate", json!({ "url": site.cross_origin_url() }))
        .await;
    assert_eq!(answer["errorCode"], "URL_BLOCKED", "{answer}");
    let file = json!({ "url": "file:///etc/hostname" });
    let answer = client.object("navigate", file).await;
    assert_eq!(answer["errorCode"], "URL_BLOCKED", "{answer}");
}

#[testkit::test(chromium)]
async fn downloads_are_quarantined() {
    let site = Site::start().await;
    let client = safe(Engine::Chromium).await;
    let go = json!({ "url": site.url("/download?name=tool.sh") });
    let answer = client.success("navigate", go).await;
    let path = answer["download"]["path"]
        .as_str()
        .expect("a path")
        .to_owned();
    let place = client.workspace().join(&path);
    assert!(path.ends_with("quarantine/tool.sh.quarantine"), "{answer}");
    assert!(place.is_file(), "{answer}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode =
            |path: &std::path::Path| fs::metadata(path).expect("it").permissions().mode() & 0o777;
        assert_eq!(mode(&place), 0o600);
        assert_eq!(mode(place.parent().expect("a folder")), 0o700);
    }
    let link = site.add_page(
        "/link",
        "<a href='/download?name=more.txt' download>Get</a>",
    );
    client.success("navigate", json!({ "url": link })).await;
    let mut shown = client
        .call("browser_click", json!({ "target": "a" }))
        .await
        .text;
    eventually(async || {
        shown += &client.call("browser_snapshot", json!({})).await.text;
        shown.contains("more.txt.quarantine")
    })
    .await;
    assert!(shown.contains("quarantined"), "{shown}");
    let list = client
        .request("resources/list", json!({}))
        .await
        .expect("a list");
    assert!(!list.to_string().contains("quarantine"), "{list}");
}

#[testkit::test(chromium, firefox, webkit)]
async fn permission_requests_of_pages_are_denied(engine: Engine) {
    let site = Site::start().await;
    let url = site.add_page("/", "<p id=place>…</p><p id=notes>…</p><p id=states></p><script>
        (async () => {
            let states = '';
            for (const name of ['geolocation', 'notifications', 'camera', 'microphone', 'midi', 'clipboard-read'])
                states += ' ' + (await navigator.permissions?.query({ name }).catch(() => ({ state: 'unknown' })))?.state;
            document.getElementById('states').textContent = 'states' + states;
        })();
        navigator.geolocation.getCurrentPosition(() => place.textContent = 'given', (error) => place.textContent = 'refused ' + error.code);
        (async () => { notes.textContent = typeof Notification === 'undefined' ? 'denied' : await Notification.requestPermission(); })();
    </script>");
    let client = safe(engine).await;
    client.success("navigate", json!({ "url": url })).await;
    for text in ["refused 1", "denied"] {
        let wait = json!({ "selector": format!("text={text}"), "timeout": 20_000 });
        client.success("wait_for_selector", wait).await;
    }
    let read = json!({ "selector": "#states:has-text('states ')" });
    let states = client.success("get_text", read).await["text"].clone();
    let states = states.as_str().expect("a text");
    match engine {
        Engine::Chromium => assert_eq!(states, "states".to_owned() + &" denied".repeat(6)),
        // They do not report all permissions, and none is granted.
        Engine::Firefox | Engine::Webkit => assert!(!states.contains("granted"), "{states}"),
    }
}

#[testkit::test(chromium)]
async fn the_settings_of_safe_mode_are_printed() {
    let output = run(&[
        "config",
        "show",
        "--json",
        "--safe",
        "--allowed-domains=example.com",
    ]);
    let shown: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let rows = shown.as_array().expect("rows");
    let by_safe = rows.iter().filter(|row| row["source"] == "flag --safe");
    assert!(by_safe.count() >= 6, "{shown}");
}
