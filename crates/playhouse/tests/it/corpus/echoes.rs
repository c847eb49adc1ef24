//! Values that the agent may type but not read are in no answer, resource, file or log, even if the page echoes them: `corpus/echoes.md`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use testkit::{Attack, Client, Engine, Opening, Resource, Site, outdated_entries};

use super::reads;
use super::scene::sample;
use crate::launch_on;

/// A password that the agent types.
const PASSWORD: &str = "pa55word-of-the-agent&<1>";
/// A secret of one line, with characters that are escaped in URLs, JSON and HTML.
const LINE: &str = "c0rrect horse&<\"battery\">+/=ü";
/// A secret of several lines, with a tab and two spaces.
const LINES: &str = "first line of the key\nsecond\tline  of the key\nthird line of the key\n";

/// The text around the scripts of the attacks.
const BEGIN: &str = "<!doctype html><title>Echoes</title><meta charset=utf-8>
<form onsubmit='return false'><input id=line aria-label=Line><textarea id=lines aria-label=Lines></textarea>
<input id=password type=password aria-label=Password></form>
<script>
const echoes = [];
const echo = listener => echoes.push(listener);
const add = html => {
  const template = document.createElement('template');
  template.innerHTML = html;
  return document.body.appendChild(template.content.firstElementChild);
};
const show = text => add('<p></p>').textContent = text;
</script>";
const END: &str = "<script>
for (const field of document.querySelectorAll('input, textarea')) {
  field.addEventListener('input', () => {
    if (field.form) for (const listener of echoes) try { listener(field.value) } catch (error) { console.error(String(error)) }
  });
}
</script>";

/// Calls that read, one per line. `{n}` is replaced by each number up to that of the last request.
const READS: &str = r##"
browser_snapshot {}
browser_snapshot {"target": "body", "boxes": true}
browser_snapshot {"filename": "snapshot.yml"}
browser_find {"regex": "."}
browser_find {"text": "e", "filename": "found.txt"}
browser_console_messages {"all": true, "level": "debug"}
browser_console_messages {"all": true, "level": "debug", "filename": "console.txt"}
browser_network_requests {"static": true}
browser_network_requests {"static": true, "filename": "requests.txt"}
browser_network_request {"index": {n}}
browser_network_request {"index": {n}, "part": "request-headers"}
browser_network_request {"index": {n}, "part": "request-body"}
browser_network_request {"index": {n}, "part": "response-headers"}
browser_network_request {"index": {n}, "part": "response-body"}
browser_network_request {"index": {n}, "filename": "request.txt"}
browser_cookie_list {}
browser_cookie_get {"name": "echo"}
browser_localstorage_list {}
browser_localstorage_get {"key": "key"}
browser_sessionstorage_list {}
browser_sessionstorage_get {"key": "key"}
browser_storage_state {"filename": "state.json"}
browser_context_save_storage {"path": "context.json"}
browser_context_list {}
browser_get_config {}
browser_route_list {}
browser_tabs {"action": "list"}
browser_generate_locator {"target": "#password"}
browser_generate_locator {"target": "body > *:last-child"}
browser_verify_element_visible {"role": "button", "accessibleName": "none"}
browser_verify_text_visible {"text": "no such text"}
browser_verify_list_visible {"element": "list", "target": "body", "items": ["none"]}
browser_verify_value {"type": "textbox", "element": "field", "target": "#password", "value": "none"}
browser_verify_value {"type": "textbox", "element": "field", "target": "#line", "value": "none"}
browser_verify_value {"type": "textbox", "element": "field", "target": "#lines", "value": "none"}
browser_wait_for {"time": 0}
browser_click {"target": "body *"}
browser_hover {"target": "#password"}
browser_press_key {"key": "Shift"}
browser_evaluate {"function": "() => [...document.querySelectorAll('input, textarea')].map(field => field.value)"}
browser_evaluate {"function": "() => [document.body.innerText, document.title, location.href, document.cookie]"}
browser_evaluate {"function": "() => { throw new Error(document.querySelector('#password').value) }"}
browser_evaluate {"function": "() => document.querySelector('#password').value", "filename": "value.json"}
browser_run_code_unsafe {"code": "async page => [await page.content(), page.url(), await page.title(), await page.inputValue('#password')]"}
get_text {"selector": "body"}
get_all_text {"selector": "p, span, b, td, h2, option, button, a, pre"}
get_attribute {"selector": "#password", "attribute": "value"}
get_attribute {"selector": "a[title]", "attribute": "title"}
get_attribute {"selector": "a[data-value]", "attribute": "data-value"}
get_attribute {"selector": "a[aria-label]", "attribute": "aria-label"}
get_attribute {"selector": "body > a[href]", "attribute": "href"}
get_value {"selector": "#password"}
get_value {"selector": "#line"}
get_value {"selector": "#lines"}
get_value {"selector": "[aria-label=Copy]"}
get_content {"format": "html"}
get_content {"format": "text"}
get_content {"format": "markdown"}
get_page_metadata {}
extract_table {"selector": "body"}
extract_links {}
evaluate {"script": "[...document.querySelectorAll('input, textarea')].map(field => field.value)"}
evaluate {"script": "document.documentElement.outerHTML"}
get_cookies {}
save_state {}
save_state {"path": "saved.json"}
get_request_log {}
get_request {"number": {n}}
find_element {"selector": "#password"}
find_element {"selector": "#line"}
find_elements {"selector": "body *", "limit": 500}
element_exists {"selector": "#password"}
is_visible {"selector": "#password"}
is_enabled {"selector": "#password"}
wait_for_selector {"selector": "#none", "timeout": 10}
wait_for_load {"state": "load"}
wait_for_url {"url": "/nowhere", "timeout": 10}
wait_for_response {"url": "/nowhere", "timeout": 10}
list_pages {}
list_sessions {}
click {"selector": "body *", "timeout": 10}
"##;

/// Tools that read, but are not called: they return images, or need an app.
const NOT_READ: [&str; 9] = [
    "browser_pdf_save",
    "browser_take_screenshot",
    "screenshot",
    "screenshot_element",
    "compare_screenshot",
    "e2e_errors",
    "e2e_logs",
    "e2e_status",
    "wait_for_server_log",
];

/// Returns the possible spellings of a value.
fn variants(value: &str) -> BTreeSet<String> {
    let json = json!(value).to_string();
    let entities = |text: &str| -> String {
        let escaped = text.chars().map(|c| match c {
            '&' | '<' | '>' | '"' | '\'' => format!("&#{};", u32::from(c)),
            c => c.to_string(),
        });
        escaped.collect()
    };
    let html = value
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    let squashed = value.split_whitespace().collect::<Vec<_>>().join(" ");
    let form: String = url::form_urlencoded::byte_serialize(value.as_bytes()).collect();
    let in_name = |c: char| {
        if c.is_control() || "<>:\"/\\|?*".contains(c) {
            '_'
        } else {
            c
        }
    };
    let lines = value.lines().map(str::to_owned);
    let mut variants: BTreeSet<_> = lines.collect();
    variants.extend([
        value.to_owned(),
        json[1..json.len() - 1].to_owned(),
        squashed,
        value.trim().chars().map(in_name).collect(),
        html.replace('"', "&quot;"),
        html,
        entities(value),
        form.replace('+', "%20"),
        form,
        STANDARD.encode(value),
        url::Url::parse(&format!("http://a/#{value}"))
            .expect("a URL")
            .fragment()
            .unwrap_or_default()
            .to_owned(),
        url::Url::parse(&format!("http://a/?{value}"))
            .expect("a URL")
            .query()
            .unwrap_or_default()
            .to_owned(),
    ]);
    variants
}

/// Returns transformations of a value by a page that masking cannot detect.
fn changed(value: &str) -> Vec<String> {
    let letters: Vec<char> = value.chars().collect();
    let (first, second) = letters.split_at(letters.len() / 2);
    vec![
        letters.iter().rev().collect(),
        value.to_uppercase(),
        first.iter().collect(),
        second.iter().collect(),
    ]
}

/// Returns the part of a text that shows a value.
fn shown(text: &str, needles: &BTreeSet<String>) -> Option<String> {
    let found = needles.iter().find_map(|needle| text.find(needle))?;
    let around = text[..found].char_indices().rev().nth(60);
    let start = around.map_or(0, |(at, _)| at);
    Some(text[start..].chars().take(160).collect())
}

/// Collects all texts in an answer.
fn texts(value: &Value, into: &mut Vec<String>) {
    match value {
        Value::String(text) => into.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| texts(item, into)),
        Value::Object(map) => {
            for (key, value) in map {
                into.push(key.clone());
                texts(value, into);
            }
        }
        _ => {}
    }
}

struct Echoes {
    client: Client,
    site: Site,
    needles: BTreeSet<String>,
    leaks: Vec<String>,
}

impl Echoes {
    async fn start(engine: Engine, secrets: &Path) -> Self {
        let secrets = secrets.to_str().expect("a path");
        let flags = [
            "--secrets",
            secrets,
            "--timeout-action=1000",
            "--console-level=debug",
            "--log-level=debug",
            "--log-file=server.log",
            "--save-session",
        ];
        let client = launch_on(engine, &flags).start().await;
        let values = [PASSWORD, LINE, LINES].map(variants);
        Self {
            client,
            site: Site::start().await,
            needles: values.into_iter().flatten().collect(),
            leaks: Vec::new(),
        }
    }

    async fn ask(&mut self, what: &str, tool: &str, arguments: Value) {
        let request = format!("{tool} {arguments}");
        let answer = self.client.call(tool, arguments).await;
        self.check_answer(what, &request, &answer.raw);
    }

    fn check_answer(&mut self, what: &str, request: &str, answer: &Value) {
        let mut all = vec![answer.to_string()];
        texts(answer, &mut all);
        let leak = all.iter().find_map(|text| shown(text, &self.needles));
        if let Some(leak) = leak {
            self.leaks.push(format!("{what}: {request}: …{leak}…"));
        }
    }

    /// Opens a page with these attacks, types, and reads everything; for a known leak, up to the first one.
    async fn play(&mut self, what: &str, attacks: &[&Attack], is_known: bool) {
        let leaks = self.leaks.len();
        let script = |attack: &&Attack| {
            let resources = attack.resources("/", &[]);
            let (_, Resource { body, .. }) = resources.first().expect("a document");
            String::from_utf8_lossy(body).replace("<!doctype html>", "")
        };
        let scripts: String = attacks.iter().map(script).collect();
        let url = self.site.add_page("/", &format!("{BEGIN}{scripts}{END}"));
        let before = self.site.requests().len();
        self.ask(what, "browser_navigate", json!({ "url": url }))
            .await;
        for (tool, arguments) in [
            ("browser_type", json!({ "target": "#line", "text": "LINE" })),
            ("fill", json!({ "selector": "#lines", "value": "LINES" })),
            (
                "browser_type",
                json!({ "target": "#password", "text": PASSWORD }),
            ),
        ] {
            self.ask(what, tool, arguments).await;
            // Attacks may open several dialogs; without a dialog this is an error.
            for _ in 0..4 {
                self.ask(what, "browser_handle_dialog", json!({ "accept": true }))
                    .await;
            }
        }
        for (tool, arguments) in reads(READS, (self.site.requests().len() - before).min(60)) {
            if is_known && self.leaks.len() > leaks {
                break;
            }
            let selector = arguments["selector"].as_str().unwrap_or_default();
            let is_of_all = selector.contains("a[") || selector.contains("[aria-label=Copy]");
            // In a run of one attack, those would time out.
            if attacks.len() == 1 && (tool.starts_with("browser_verify_") || is_of_all) {
                continue;
            }
            self.ask(what, tool, arguments).await;
        }
        let resources = self.client.request("resources/list", json!({})).await;
        let resources = resources.expect("a list");
        self.check_answer(what, "resources/list", &resources);
        let uris = resources["resources"].as_array().expect("a list").iter();
        let uris: Vec<_> = uris
            .map(|it| it["uri"].as_str().expect("a URI").to_owned())
            .collect();
        let pages = uris
            .iter()
            .filter_map(|uri| uri.strip_prefix("playwright:///page/"));
        let elements = pages.flat_map(|page| {
            let fields = ["%23password", "%23line", "%23lines", "body"];
            fields.map(|field| format!("playwright:///element/{page}/{field}"))
        });
        for uri in uris.iter().cloned().chain(elements) {
            if uri.contains("/screenshot/") || uri.ends_with(".log") {
                continue;
            }
            // The subject of a resource may have been removed.
            if let Ok(answer) = self
                .client
                .request("resources/read", json!({ "uri": uri }))
                .await
            {
                self.check_answer(what, &uri, &answer);
            }
        }
        // Their effects stay in the browser, and launching one takes long.
        if attacks
            .iter()
            .any(|attack| attack.opening != Opening::Frame)
        {
            self.ask(what, "browser_close", json!({})).await;
        }
    }

    /// Checks every file in the workspace, by name and content.
    fn check_files(&mut self, what: &str) {
        let mut folders = vec![self.client.workspace().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder").flatten() {
                let path = entry.path();
                let name = path.display().to_string();
                if let Some(leak) = shown(&name, &self.needles) {
                    self.leaks
                        .push(format!("{what}: the name of a file: {leak}"));
                }
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let content = fs::read(&path).expect("readable");
                if let Some(leak) = shown(&String::from_utf8_lossy(&content), &self.needles) {
                    self.leaks.push(format!("{what}: {name}: …{leak}…"));
                }
                fs::remove_file(path).expect("removable");
            }
        }
    }
}

#[testkit::test(chromium, firefox, webkit, slow, nightly(firefox, webkit))]
async fn no_echo_of_a_secret_is_shown(engine: Engine) {
    let folder = tempfile::tempdir().expect("a folder");
    let secrets = folder.path().join("secrets.env");
    let lines = LINES.trim_end();
    fs::write(&secrets, format!("LINE='{LINE}'\nLINES=\"{lines}\n\"\n")).expect("writable");
    let mut echoes = Echoes::start(engine, &secrets).await;
    for tool in echoes.client.list_tools().await {
        let name = tool["name"].as_str().expect("a name");
        let is_read = READS
            .lines()
            .any(|line| line.split(' ').next() == Some(name));
        let reads = tool["annotations"]["readOnlyHint"] == true;
        assert!(
            !reads || is_read || NOT_READ.contains(&name),
            "{name} reads: add a call to READS"
        );
    }
    let conditions = ["all", engine.name()];
    let attacks = sample(engine, "echoes.md");
    let is_excepted = |attack: &&Attack| attack.exception(&conditions, "shows").is_some();
    let (excepted, masked): (Vec<_>, Vec<_>) = attacks.iter().partition(is_excepted);
    let (together, apart): (Vec<_>, Vec<_>) = masked
        .into_iter()
        .partition(|attack| attack.opening == Opening::Frame);
    echoes.play("together", &together, false).await;
    echoes.check_files("together");
    for attack in apart {
        echoes.play(&attack.name, &[attack], false).await;
        echoes.check_files(&attack.name);
    }
    // A known leak that does not occur is outdated.
    let mut outdated = Vec::new();
    let known = echoes.needles.clone();
    echoes
        .needles
        .extend([PASSWORD, LINE].into_iter().flat_map(changed));
    for attack in excepted {
        let before = echoes.leaks.len();
        echoes.play(&attack.name, &[attack], true).await;
        echoes.check_files(&attack.name);
        if echoes.leaks.len() == before {
            outdated.push(format!("{}: is listed as `shows`", attack.name));
        }
        echoes.leaks.truncate(before);
    }
    echoes.leaks.extend(outdated_entries(engine, outdated));
    echoes.needles = known;
    echoes.client.close_input().await;
    let log = fs::read_to_string(echoes.client.workspace().join("server.log")).unwrap_or_default();
    echoes
        .leaks
        .extend(shown(&log, &echoes.needles).map(|leak| format!("log: {leak}")));
    assert!(echoes.leaks.is_empty(), "{}", echoes.leaks.join("\n"));
}
