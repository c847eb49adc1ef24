//! Secrets: typed by name, and masked everywhere.

use serde_json::json;
use std::fs;
use testkit::{Client, Engine, Site};

use crate::launch;

const PAGE: &str = "<title>my hunter22</title><input aria-label=Name oninput='out.textContent = value'>\
    <p id=out>hunter22</p><script>console.log('saw hunter22')</script>";

async fn client(args: &[&str], secrets: &str) -> (Client, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("secrets.env");
    fs::write(&path, secrets).expect("writable");
    let client = launch(args)
        .args(["--secrets".into(), path.into_os_string()])
        .start()
        .await;
    let site = Site::start().await;
    let url = site.add_page("/", PAGE);
    let answer = client.call("browser_navigate", json!({ "url": url })).await;
    assert!(!answer.is_error, "{}", answer.text);
    (client, answer.text)
}

#[testkit::test(chromium)]
async fn a_secret_is_typed_by_its_name_and_shown_by_it() {
    let (client, first) = client(&[], "PASSWORD=hunter22\nQUOTED='it\"s'\nEMPTY=\n").await;
    assert!(
        first.contains("- Page Title: my <secret>PASSWORD</secret>"),
        "{first}"
    );
    let typed = client
        .call(
            "browser_type",
            json!({ "target": "input", "text": "PASSWORD" }),
        )
        .await;
    let line = "await page.locator('input').fill(process.env['PASSWORD']);";
    assert_eq!(typed.code(), Some(line));
    let length = json!({ "function": "document.querySelector('input').value.length" });
    assert_eq!(client.call("browser_evaluate", length).await.result(), "8");
    let seen = client.call("browser_snapshot", json!({})).await;
    assert!(
        seen.text
            .contains("paragraph [ref=e3]: <secret>PASSWORD</secret>"),
        "{}",
        seen.text
    );

    let fields =
        json!([{ "target": "input", "name": "Name", "type": "textbox", "value": "QUOTED" }]);
    let filled = client
        .call("browser_fill_form", json!({ "fields": fields }))
        .await;
    let line = "await page.locator('input').fill(process.env['QUOTED']);";
    assert_eq!(filled.code(), Some(line));
    // Also if the answer contains another spelling of it.
    let value = json!({ "function": "[document.querySelector('input').value, 'hunter22']" });
    let value = client.call("browser_evaluate", value).await;
    assert!(
        value.result().contains("\"<secret>QUOTED</secret>\""),
        "{}",
        value.text
    );
    assert!(!value.text.contains("hunter22"), "{}", value.text);

    // A secret without a value is an ordinary word.
    let typed = client
        .call(
            "browser_type",
            json!({ "target": "input", "text": "EMPTY", "slowly": true }),
        )
        .await;
    assert!(
        typed.text.contains(".pressSequentially('EMPTY');"),
        "{}",
        typed.text
    );
    let error = client
        .call("browser_click", json!({ "target": "#hunter22" }))
        .await;
    assert!(
        error.is_error && !error.raw.to_string().contains("hunter22"),
        "{}",
        error.raw
    );
}

#[testkit::test(chromium)]
async fn no_file_shows_a_secret() {
    let (client, _) = client(&["--caps", "storage"], "PASSWORD=hunter22\n").await;
    let set = json!({ "key": "k", "value": "hunter22" });
    client.call("browser_localstorage_set", set).await;
    for (tool, filename) in [
        ("browser_storage_state", "state.json"),
        ("browser_snapshot", "page.yml"),
        ("browser_console_messages", "console.txt"),
        ("browser_network_requests", "requests.txt"),
    ] {
        let arguments = json!({ "filename": filename, "static": true });
        let answer = client.call(tool, arguments).await;
        assert!(!answer.is_error, "{}", answer.text);
    }
    let output = client.workspace().join(".playwright-mcp");
    let mut names = Vec::new();
    for folder in [client.workspace(), &output] {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            if entry.path().is_file() && entry.file_name() != ".gitignore" {
                let text = fs::read_to_string(entry.path()).expect("text");
                assert!(
                    !text.contains("hunter22"),
                    "{}: {text}",
                    entry.path().display()
                );
                names.push(entry.file_name());
                if !text.contains("[GET]") {
                    assert!(text.contains("<secret>PASSWORD</secret>"), "{text}");
                }
            }
        }
    }
    // Those four, the snapshot of the navigation, and the console log.
    assert_eq!(names.len(), 6, "{names:?}");
}

#[testkit::test(chromium)]
async fn code_names_a_secret_as_its_language_does() {
    for (language, value) in [
        ("python", "os.environ[\"P\"]"),
        ("java", "System.getenv(\"P\")"),
        ("csharp", "Environment.GetEnvironmentVariable(\"P\")"),
    ] {
        let (client, _) = client(&["--codegen", language], "P=hunter22").await;
        let typed = client
            .call("browser_type", json!({ "target": "input", "text": "P" }))
            .await;
        assert!(typed.text.contains(&format!("({value})")), "{}", typed.text);
    }
}

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit))]
async fn a_password_that_is_a_secret_shows_its_name_and_others_stay_masked(engine: Engine) {
    let (client, _) = client(engine.args(), "PASSWORD=hunter22\nOTHER=pässwörd\n").await;
    let site = Site::start().await;
    site.add_page(
        "/in",
        "<input type=password aria-label=Inner value=hunter22>",
    );
    let url = site.add_page(
        "/",
        "<input type=password id=one aria-label=One><input type=password id=two aria-label=Two>\
         <input type=password aria-label=Three value=hunter23>\
         <input type=password aria-label=Four value=xhunter22><iframe src=/in></iframe>",
    );
    client.navigate(&url).await;
    for (target, text) in [("#one", "PASSWORD"), ("#two", "OTHER")] {
        let typed = client
            .call("browser_type", json!({ "target": target, "text": text }))
            .await;
        assert!(!typed.is_error, "{}", typed.text);
    }
    let seen = client.call("browser_snapshot", json!({})).await.text;
    for (field, value) in [
        ("One", "<secret>PASSWORD</secret>"),
        ("Two", "<secret>OTHER</secret>"),
        ("Three", "••••••••"),
        ("Four", "•••••••••"),
        ("Inner", "<secret>PASSWORD</secret>"),
    ] {
        let line = seen
            .lines()
            .find(|line| line.contains(&format!("textbox \"{field}\"")))
            .unwrap_or_else(|| panic!("no {field} in {seen}"));
        assert!(line.ends_with(&format!(": {value}")), "{line}");
    }
}

#[testkit::test(chromium)]
async fn the_changes_of_a_page_show_no_secret_and_are_within_the_boundary() {
    let args = ["--changes=on", "--content-boundaries=on"];
    let (client, _) = client(&args, "PASSWORD=hunter22\n").await;
    let typed = json!({ "target": "input", "text": "PASSWORD" });
    let typed = client.call("browser_type", typed).await;
    let changes = typed.section("Changes").expect("changes");
    assert_eq!(
        changes,
        "~ textbox \"Name\" [active] [ref=e2]: <secret>PASSWORD</secret>"
    );
    let show = "() => { const say = document.createElement('div'); say.role = 'alert'; \
        say.textContent = 'It is hunter22'; document.body.append(say); \
        document.querySelector('input').onclick = () => { \
            const say = document.createElement('output'); say.textContent = 'hunter22 was it'; \
            document.body.append(say); \
            say.animate([{}, { transform: 'translateX(9px)' }], 300).finished.then(() => say.remove()); } }";
    client
        .call("browser_evaluate", json!({ "function": show }))
        .await;
    let clicked = client
        .call("browser_click", json!({ "target": "input" }))
        .await;
    let changes = clicked.section("Changes").expect("changes");
    assert_eq!(
        changes,
        "+ status [gone]: \"<secret>PASSWORD</secret> was it\"\n\
         + alert [ref=e4]: It is <secret>PASSWORD</secret>"
    );
    let (_, inside) = clicked.text.split_once("<page").expect("a boundary");
    let (inside, _) = inside.split_once("</page").expect("its end");
    assert!(inside.contains("### Changes\n+ status [gone]"), "{inside}");
}

#[testkit::test(chromium)]
async fn no_performance_file_shows_a_secret() {
    let secret = "PASSWORD=hunter22\n";
    let (client, _) = client(&["--caps", "performance"], secret).await;
    let call = async |tool: &str, arguments: serde_json::Value| {
        let answer = client.call(tool, arguments).await;
        assert!(!answer.is_error, "{tool}: {}", answer.text);
    };
    call("browser_performance_start", json!({})).await;
    let request = "() => fetch('/?key=' + out.textContent, { headers: { key: out.textContent } })
        .catch(() => {}).then(() => { globalThis.kept = [out.textContent + 'x']; })";
    call("browser_evaluate", json!({ "function": request })).await;
    let file = json!({ "filename": "trace.json" });
    call("browser_performance_stop", file).await;
    let file = json!({ "filename": "page.heapsnapshot" });
    call("browser_heap_snapshot", file).await;
    for name in ["trace.json", "page.heapsnapshot"] {
        let text = fs::read_to_string(client.workspace().join(name)).expect("text");
        assert!(!text.contains("hunter22"), "{name}");
        assert!(text.contains("<secret>PASSWORD</secret>"), "{name}");
    }
}

#[testkit::test(chromium)]
async fn a_secret_that_a_cut_divides_is_not_shown_in_part() {
    let secret = "zqhunter22-in-twqz";
    let (client, _) = client(&[], &format!("PASSWORD={secret}\n")).await;
    let site = Site::start().await;
    let page = "<p id=text></p><script>
        const filled = (length) => 'x'.repeat(length - 8) + ' ';
        const secret = location.hash.slice(1);
        document.title = filled(8_000) + secret + filled(9_000);
        text.textContent = filled(100_000) + secret + filled(1_000);
        console.log(filled(20_000) + secret + filled(1_000));
        console.log({ secret: filled(50) + secret + filled(200) });
    </script>";
    let url = format!("{}#{secret}", site.add_page("/", page));
    let mut shown = client
        .call("browser_navigate", json!({ "url": url }))
        .await
        .text;
    let thrown = format!("() => {{ throw new Error('x'.repeat(65_520) + '{secret}') }}");
    for (tool, arguments) in [
        ("browser_snapshot", json!({ "filename": "page.md" })),
        ("browser_snapshot", json!({ "target": "#text" })),
        (
            "browser_console_messages",
            json!({ "filename": "console.txt" }),
        ),
        ("browser_console_messages", json!({})),
        ("browser_evaluate", json!({ "function": thrown })),
        ("get_content", json!({ "format": "text" })),
        ("browser_tabs", json!({ "action": "list" })),
    ] {
        shown += &client.call(tool, arguments).await.raw.to_string();
    }
    for name in ["page.md", "console.txt"] {
        shown += &fs::read_to_string(client.workspace().join(name)).expect("text");
    }
    for end in 3..=secret.len() {
        for part in [&secret[..end], &secret[secret.len() - end..]] {
            let at = shown.find(part);
            let around = at.map(|at| &shown[at.saturating_sub(20)..(at + 40).min(shown.len())]);
            assert_eq!(around, None, "{part}");
        }
    }
}
