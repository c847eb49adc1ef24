//! File choosers that a user opens while they control the browser.

use super::Dashboard;
use crate::key_server::KeyServer;
use crate::launch;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use testkit::{Engine, Site, WebSocketClient, eventually};

/// A page with an input, which shows the names, sizes and beginnings of its files.
fn page(attributes: &str) -> String {
    format!(
        "<style>input {{ position: fixed; inset: 0; width: 100vw; height: 100vh }}</style><input type=file {attributes}>\
        <output></output><script>onchange = async ({{ target }}) => {{
            for (const file of target.files) {{
                const text = await file.text();
                document.querySelector('output').append(`${{file.name}} ${{text.length}} ${{text.slice(0, 5)}}; `);
            }}
        }}</script>"
    )
}

/// Returns a file in memory, for a tool.
fn file(name: &str, text: &str) -> Value {
    json!({ "name": name, "base64": BASE64_STANDARD.encode(text) })
}

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit))]
async fn a_user_uploads_files_or_cancels_the_file_chooser(engine: Engine) {
    let site = Site::start().await;
    let url = site.add_page("/form", &page("multiple"));
    let dashboard = Dashboard::start(engine).await;
    dashboard.open_and_take_over(&url).await;
    let text = "The page opened a file chooser.";
    let is_hidden = "() => document.querySelector('#file-chooser').hidden";
    dashboard.click("#screen").await;
    dashboard.shows("#file-chooser-text", text).await;
    dashboard.click("#cancel-upload").await;
    dashboard.holds(is_hidden).await;
    dashboard.click("#screen").await;
    dashboard.shows("#file-chooser-text", text).await;
    // The second file needs several messages, the third has the name of the first.
    let files = [
        file("letter.txt", "Dear user"),
        file("large.txt", &"x".repeat(200_000)),
        file("letter.txt", ""),
    ];
    let choose = json!({ "selector": "#files", "files": files });
    dashboard.user.success("upload_file", choose).await;
    dashboard.click("#upload").await;
    let shown = json!({ "sessionId": "shopping", "selector": "output" });
    eventually(async || {
        let shown = dashboard.success("get_text", shown.clone()).await;
        match shown["structuredContent"]["text"].as_str() {
            Some("letter.txt 9 Dear ; large.txt 200000 xxxxx; letter.txt 0 ;") => Ok(()),
            _ => Err(shown.to_string()),
        }
    })
    .await;
    dashboard.holds(is_hidden).await;
}

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit))]
async fn a_dialog_that_an_upload_opens_can_be_answered(engine: Engine) {
    let site = Site::start().await;
    let html = "<style>input { position: fixed; inset: 0; width: 100vw; height: 100vh }</style>\
        <input type=file onchange=\"alert('Received'); document.title = 'Answered'\">";
    let dashboard = Dashboard::start(engine).await;
    dashboard
        .open_and_take_over(&site.add_page("/form", html))
        .await;
    dashboard.click("#screen").await;
    dashboard
        .shows("#file-chooser-text", "The page opened a file chooser.")
        .await;
    let choose = json!({ "selector": "#files", "files": [file("letter.txt", "Dear user")] });
    dashboard.user.success("upload_file", choose).await;
    dashboard.click("#upload").await;
    dashboard
        .holds("() => document.querySelector('#dialog').innerText.includes('Received')")
        .await;
    dashboard.click("#dialog-accept").await;
    dashboard
        .holds("() => document.querySelector('#dialog').hidden")
        .await;
    let title = json!({ "sessionId": "shopping" });
    eventually(async || {
        let shown = dashboard.success("get_page_metadata", title.clone()).await;
        match shown["structuredContent"]["title"].as_str() {
            Some("Answered") => Ok(()),
            _ => Err(shown.to_string()),
        }
    })
    .await;
}

/// The connection of a dashboard, whose user has taken over the page of the only session.
struct Socket(WebSocketClient);

impl Socket {
    async fn open(server: &KeyServer, url: &str) -> Self {
        server
            .success("ada", "navigate", json!({ "url": url }))
            .await;
        let (host, origin) = (server.http.authority(), server.http.url());
        let headers = [("host", host), ("origin", origin)];
        let login = super::send(host, "POST", "/dashboard/login", &headers, "key=adakey").await;
        let cookie = super::cookie(&login);
        let url = super::socket_of(origin, &login);
        let headers = [("cookie", &*cookie), ("origin", origin)];
        let mut socket = Self(WebSocketClient::connect(&url, "", &headers).await);
        let sessions = socket
            .receive(|message| message["sessions"][0].is_object())
            .await;
        let id = &sessions["sessions"][0]["id"];
        socket.send(json!({ "do": "show", "session": id })).await;
        socket.send(json!({ "do": "takeOver" })).await;
        socket
            .receive(|message| message["sessions"][0]["holder"] == "user")
            .await;
        socket
    }

    async fn send(&mut self, request: Value) {
        self.0.text(&request.to_string()).await;
    }

    async fn receive(&mut self, is_expected: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self.0.next().await.expect("a message");
            if is_expected(&message) {
                return message;
            }
        }
    }

    /// Requests an upload of files with these names and sizes, and returns the error.
    async fn refused(&mut self, files: &[(&str, u64)]) -> String {
        self.upload(files).await;
        let refused = self.receive(|message| message["error"].is_string()).await;
        refused["error"].as_str().unwrap_or_default().to_owned()
    }

    async fn upload(&mut self, files: &[(&str, u64)]) {
        let files = files
            .iter()
            .map(|(name, size)| json!({ "name": name, "size": size }));
        let files: Vec<_> = files.collect();
        self.send(json!({ "do": "upload", "files": files })).await;
    }

    async fn open_file_chooser(&mut self) -> Value {
        for action in ["down", "up"] {
            let click = json!({ "do": action, "x": 200, "y": 200, "button": "left", "count": 1 });
            self.send(click).await;
        }
        self.receive(|message| message["page"]["fileChooser"].is_object())
            .await
    }
}

#[testkit::test(chromium)]
async fn uploads_are_limited() {
    let site = Site::start().await;
    let url = site.add_page("/form", &page(""));
    let server = KeyServer::start(launch(&[]), "ada adakey\n").await;
    let mut socket = Socket::open(&server, &url).await;
    let letter = ("../../letter.txt", 4);
    let refused = socket.refused(&[letter]).await;
    assert!(refused.starts_with("No file chooser"), "{refused}");
    socket.open_file_chooser().await;
    let refused = socket.refused(&[letter, letter]).await;
    assert!(refused.contains("another number of files"), "{refused}");
    let refused = socket.refused(&[("film", 100 * 1024 * 1024 + 1)]).await;
    assert!(refused.contains("more than 100 MB"), "{refused}");
    // A file stays in the folder of the upload, and has the announced size.
    socket.upload(&[letter]).await;
    socket.0.binary(b"De").await;
    socket.0.binary(b"ar user").await;
    eventually(async || {
        let shown = json!({ "selector": "output" });
        let shown = server.success("ada", "get_text", shown).await;
        match shown["structuredContent"]["text"].as_str() {
            Some("-..-letter.txt 4 Dear;") => Ok(()),
            _ => Err(shown.to_string()),
        }
    })
    .await;
    // Only the user who has control uploads.
    socket.open_file_chooser().await;
    socket.send(json!({ "do": "handBack" })).await;
    let refused = socket.refused(&[letter]).await;
    assert!(refused.contains("choose \"Take over\""), "{refused}");
}

#[testkit::test(chromium)]
async fn what_forbids_the_upload_tool_forbids_uploads_of_the_user() {
    let site = Site::start().await;
    let url = site.add_page("/form", &page(""));
    let folder = tempfile::tempdir().expect("a folder");
    let policy = folder.path().join("policy.json");
    let rule = json!({ "tools": ["browser_file_upload"], "action": "deny" });
    let rules = json!({ "default": "allow", "rules": [rule] }).to_string();
    std::fs::write(&policy, rules).expect("writable");
    let by_policy = launch(&[]).args(["--policy".into(), policy.into_os_string()]);
    for (launch, can_upload, reason) in [
        (
            launch(&["--no-enable-file-upload"]),
            false,
            "is switched off",
        ),
        (by_policy, true, "is denied by rule 1"),
    ] {
        let server = KeyServer::start(launch, "ada adakey\n").await;
        let mut socket = Socket::open(&server, &url).await;
        let opened = socket.open_file_chooser().await;
        assert_eq!(
            opened["page"]["fileChooser"]["canUpload"], can_upload,
            "{opened}"
        );
        let refused = socket.refused(&[("letter.txt", 0)]).await;
        assert!(refused.contains(reason), "{refused}");
        // The user can cancel the file chooser.
        socket.send(json!({ "do": "cancelFileChooser" })).await;
        let page = |message: &Value| {
            message["page"]["id"].is_string() && message["page"]["fileChooser"].is_null()
        };
        socket.receive(page).await;
    }
}
