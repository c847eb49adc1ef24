//! Files that clients name: permissions, locations, and additional files.

use serde_json::json;
use std::path::Path;
use testkit::{Engine, Resource, Site};

use crate::{launch, launch_on, server, shared};

fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}

#[testkit::test(chromium)]
async fn the_first_root_that_is_a_folder_is_the_workspace() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = uri(folder.path());
    let client = launch(&[])
        .roots(&["https://example.com/", "nonsense", &root])
        .start()
        .await;
    let answer = client
        .call("browser_take_screenshot", json!({ "filename": "shot.png" }))
        .await;
    assert_eq!(answer.result(), "- [Screenshot of viewport](./shot.png)");
    assert!(folder.path().join("shot.png").is_file());
    let answer = client.call("browser_take_screenshot", json!({})).await;
    assert!(answer.result().contains("(.playwright-mcp/page-"));
    assert!(folder.path().join(".playwright-mcp").is_dir());
}

#[testkit::test(chromium)]
async fn without_roots_the_workspace_is_where_the_server_was_started() {
    let client = shared(Engine::Chromium, &[]).await;
    client
        .call("browser_snapshot", json!({ "filename": "page.yml" }))
        .await;
    assert!(client.workspace().join("page.yml").is_file());
}

#[testkit::test(chromium)]
async fn files_outside_of_the_workspace_are_refused_unless_all_are_allowed() {
    let folder = tempfile::tempdir().expect("a folder");
    let outside = folder.path().join("x.png");
    let shot = json!({ "filename": outside });
    let answer = shared(Engine::Chromium, &[])
        .await
        .call("browser_take_screenshot", shot.clone())
        .await;
    let workspace = answer.workspace().display();
    assert_eq!(
        answer.error(),
        format!(
            "Error: File access denied: {} is outside allowed roots. Allowed roots: {workspace}/.playwright-mcp, {workspace}",
            outside.display()
        )
    );
    assert_eq!(
        answer.raw["structuredContent"]["errorCode"],
        "FILE_ACCESS_DENIED"
    );
    let client = server(&["--allow-unrestricted-file-access"]).await;
    let answer = client.call("browser_take_screenshot", shot).await;
    assert!(!answer.is_error, "{}", answer.text);
    assert!(outside.is_file());
}

#[testkit::test(chromium)]
async fn output_is_written_to_the_chosen_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = folder.path().join("deep/out");
    let client = server(&["--output-dir", &output.display().to_string()]).await;
    client.call("browser_take_screenshot", json!({})).await;
    assert_eq!(std::fs::read_dir(output).expect("it was made").count(), 1);
}

#[testkit::test(chromium)]
async fn local_files_are_no_pages() {
    let client = shared(Engine::Chromium, &[]).await;
    let answer = client
        .call("browser_navigate", json!({ "url": "file:///etc/passwd" }))
        .await;
    assert_eq!(
        answer.error(),
        "Error: Access to \"file:\" protocol is blocked. Attempted URL: \"file:///etc/passwd\""
    );
}

#[testkit::test(chromium)]
async fn an_upload_from_outside_is_refused_and_the_chooser_stays_open() {
    let (site, client) = (Site::start().await, shared(Engine::Chromium, &[]).await);
    let url = site.add_page(
        "/",
        "<input type=file onchange='document.title = this.files[0].name'>",
    );
    client.navigate(&url).await;
    client
        .call("browser_click", json!({ "target": "input" }))
        .await;
    let refused = client
        .call("browser_file_upload", json!({ "paths": ["/etc/passwd"] }))
        .await;
    assert!(refused.error().contains("File access denied"));
    let path = client.workspace().join("mine.txt");
    std::fs::write(&path, "hello").expect("the workspace is ours");
    let answer = client
        .call("browser_file_upload", json!({ "paths": [path] }))
        .await;
    assert!(
        answer.text.contains("- Page Title: mine.txt"),
        "{}",
        answer.text
    );
}

#[testkit::test(chromium)]
async fn a_download_has_a_safe_name_and_is_reported_once() {
    let (site, client) = (Site::start().await, shared(Engine::Chromium, &[]).await);
    site.add("/data", Resource::new("application/octet-stream", "bytes"));
    let url = site.add_page("/", "<a href='/data' download='a:b.txt'>Get</a>");
    client.navigate(&url).await;
    let mut reply = Vec::new();
    for _ in 0..2 {
        let answer = client.call("browser_click", json!({ "target": "a" })).await;
        reply.push(answer.section("Events").unwrap_or_default().to_owned());
    }
    let folder = client.workspace().join(".playwright-mcp");
    // The end of a download may be reported with a later answer than its start.
    while reply.concat().matches("Downloaded").count() < 2 {
        let answer = client.call("browser_snapshot", json!({})).await;
        reply.push(answer.section("Events").unwrap_or_default().to_owned());
    }
    assert_eq!(
        reply.concat().matches("Downloading").count(),
        2,
        "{reply:?}"
    );
    let names: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder is there")
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.ends_with(".txt"))
        .collect();
    assert_eq!(names.len(), 2, "{names:?}");
    assert!(names.iter().all(|name| !name.contains(':')), "{names:?}");
}

#[testkit::test(chromium)]
async fn downloads_count_in_an_output_folder_that_was_chosen() {
    let site = Site::start().await;
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let users = folder.join("users.txt");
    std::fs::write(&users, "of the user").expect("it can be written");
    let chosen = folder.to_str().expect("a plain path");
    let client = server(&["--output-dir", chosen, "--output-max-size", "1"]).await;
    for name in ["first.txt", "second.txt"] {
        let url = site.url(&format!("/download?name={name}"));
        let mut answer = client.call("browser_navigate", json!({ "url": url })).await;
        // The end of a download may be reported with a later answer than its start.
        while !answer.text.contains(&format!("Downloaded file {name}")) {
            answer = client.call("browser_snapshot", json!({})).await;
        }
        assert!(folder.join(name).is_file(), "{}", answer.text);
    }
    client.call("browser_snapshot", json!({})).await;
    assert!(!folder.join("first.txt").exists());
    assert!(users.is_file(), "what is not ours stays");
}

#[testkit::test(chromium)]
async fn console_lines_are_logged_and_reported_by_line_number() {
    let (site, client) = (Site::start().await, shared(Engine::Chromium, &[]).await);
    let url = site.add_page(
        "/",
        "<button onclick=\"console.log('one\\ntwo'); console.debug('quiet'); console.error('three')\">Say</button>",
    );
    client.navigate(&url).await;
    let answer = client
        .call("browser_click", json!({ "target": "button" }))
        .await;
    let event = answer.section("Events").expect("there is news");
    let (link, lines) = event
        .strip_prefix("- New console entries: ")
        .and_then(|rest| rest.split_once('#'))
        .expect("a link with lines");
    let log = std::fs::read_to_string(client.workspace().join(link)).expect("the log is there");
    let last = log.lines().count();
    assert_eq!(lines, format!("L{}-L{last}", last - 2), "{log}");
    assert!(log.contains("ms] [LOG] one\n    two @ "), "{log}");
    assert!(
        log.contains("[ERROR] three") && !log.contains("quiet"),
        "{log}"
    );
    let answer = client
        .call("browser_click", json!({ "target": "button" }))
        .await;
    let more = answer.section("Events").expect("there is news again");
    assert!(
        more.ends_with(&format!("#L{}-L{}", last + 1, last + 3)),
        "{more}"
    );
}

/// A folder with protected files, and the flags that protect them.
#[cfg(unix)]
fn protected_folder() -> (tempfile::TempDir, [&'static str; 10]) {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    for made in [".git/hooks", "sub/.git", "profile"] {
        std::fs::create_dir_all(at(made)).expect("writable");
    }
    std::fs::write(at("config.json"), "{}").expect("writable");
    std::fs::write(at("secrets.env"), "TOKEN=hunter22").expect("writable");
    std::fs::write(at("init.js"), "0").expect("writable");
    std::fs::write(at(".git/config"), "[core]").expect("writable");
    std::fs::write(at("profile/Cookies"), "x").expect("writable");
    std::os::unix::fs::symlink("secrets.env", at("link")).expect("a link");
    std::os::unix::fs::symlink(".git", at("repository")).expect("a link");
    std::fs::hard_link(at("config.json"), at("hard")).expect("a link");
    let args = [
        "--config",
        "config.json",
        "--secrets",
        "secrets.env",
        "--init-script",
        "init.js",
        "--log-file",
        "server.log",
        "--audit-log",
        "audit.jsonl",
    ];
    (folder, args)
}

#[cfg(unix)]
#[testkit::test(chromium)]
async fn protected_files_cannot_be_accessed() {
    let (folder, args) = protected_folder();
    let site = Site::start().await;
    let url = site.add_page("/", "<input type=file webkitdirectory>");
    for unrestricted in [&[][..], &["--allow-unrestricted-file-access"]] {
        let client = launch(&[&args[..], unrestricted].concat())
            .workspace(folder.path())
            .start()
            .await;
        client.navigate(&url).await;
        let absolute = folder.path().join("sub/../secrets.env");
        for path in [
            "config.json",
            "secrets.env",
            "init.js",
            "server.log",
            "server.log.1",
            "audit.jsonl",
            "link",
            "hard",
            "repository/config",
            ".git/config",
            ".git/hooks/pre-commit",
            "sub/.git/config",
            "./sub/../secrets.env",
            absolute.to_str().expect("a plain path"),
        ] {
            for (tool, arguments) in [
                ("browser_snapshot", json!({ "filename": path })),
                (
                    "browser_evaluate",
                    json!({ "function": "1", "filename": path }),
                ),
                ("save_state", json!({ "path": path })),
                ("restore_state", json!({ "path": path })),
                ("create_session", json!({ "storageState": path })),
                (
                    "compare_screenshot",
                    json!({ "baseline": path, "update": true }),
                ),
                (
                    "upload_file",
                    json!({ "selector": "input", "files": [path] }),
                ),
                (
                    "browser_drop",
                    json!({ "target": "input", "paths": [path] }),
                ),
                ("browser_run_code_unsafe", json!({ "filename": path })),
            ] {
                let answer = client.call(tool, arguments).await;
                let code = &answer.raw["structuredContent"]["errorCode"];
                assert_eq!(code, "FILE_ACCESS_DENIED", "{tool} {path}: {}", answer.text);
            }
            let shown = folder.path().join(path);
            let shown = json!({ "url": format!("file://{}", shown.display()) });
            let answer = client.call("browser_navigate", shown).await;
            let code = &answer.raw["structuredContent"]["errorCode"];
            assert_eq!(code, "URL_BLOCKED", "{path}: {}", answer.text);
        }
        let whole = json!({ "selector": "input", "files": ["."] });
        let answer = client.call("upload_file", whole).await;
        let code = &answer.raw["structuredContent"]["errorCode"];
        assert_eq!(code, "FILE_ACCESS_DENIED", "{}", answer.text);
    }
    for (name, text) in [
        ("config.json", "{}"),
        ("secrets.env", "TOKEN=hunter22"),
        (".git/config", "[core]"),
    ] {
        let now = std::fs::read_to_string(folder.path().join(name)).expect("it is there");
        assert_eq!(now, text, "{name}");
    }
    let hooks = folder.path().join(".git/hooks").read_dir();
    assert_eq!(hooks.expect("it is there").count(), 0);
}

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().expect("it is there").permissions().mode() & 0o777
}

#[cfg(unix)]
#[testkit::test(chromium)]
async fn written_files_are_private() {
    let client = server(&["--save-session", "--caps=storage"]).await;
    client.call("browser_take_screenshot", json!({})).await;
    client.call("browser_storage_state", json!({})).await;
    let named = json!({ "path": "deep/login.json" });
    let answer = client.call("save_state", named).await;
    assert!(!answer.is_error, "{}", answer.text);
    assert_eq!(mode(&client.workspace().join("deep/login.json")), 0o600);
    let output = client.workspace().join(".playwright-mcp");
    assert_eq!(mode(&output), 0o700);
    let ignored = std::fs::read_to_string(output.join(".gitignore"));
    assert_eq!(ignored.expect("it is there"), "*\n");
    let mut files = 0;
    for entry in output.read_dir().expect("readable").flatten() {
        let path = entry.path();
        if path.is_dir() {
            assert_eq!(mode(&path), 0o700, "{path:?}");
            if path.join("session.md").exists() {
                assert_eq!(mode(&path.join("session.md")), 0o600);
                files += 1;
            }
        } else if entry.file_name() != ".gitignore" {
            assert_eq!(mode(&path), 0o600, "{path:?}");
            files += 1;
        }
    }
    assert!(files >= 3, "{files}");
}

#[cfg(unix)]
#[testkit::test(chromium)]
async fn without_a_writable_workspace_output_is_written_to_a_private_folder() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let (login, temporary) = (
        tempfile::tempdir().expect("a folder"),
        tempfile::tempdir().expect("a folder"),
    );
    std::fs::set_permissions(login.path(), std::fs::Permissions::from_mode(0o700)).expect("ours");
    let shot = async |login: &Path| {
        let client = launch(&["--file-paths=absolute"])
            .workspace("/")
            .env("XDG_RUNTIME_DIR", &login.display().to_string())
            .env("TMPDIR", &temporary.path().display().to_string())
            .start()
            .await;
        let answer = client.call("browser_take_screenshot", json!({})).await;
        assert!(!answer.is_error, "{}", answer.text);
        let file = answer.linked_file(answer.result()).expect("a file");
        let folder = file.parent().expect("it lies in a folder").to_owned();
        assert_eq!((mode(&file), mode(&folder)), (0o600, 0o700));
        folder
    };
    assert_eq!(
        shot(login.path()).await,
        login.path().join("playhouse-output")
    );
    let folder = shot(Path::new("/nowhere")).await;
    assert_eq!(folder.parent(), Some(temporary.path()));
    // Another process was faster.
    std::fs::remove_dir_all(&folder).expect("ours");
    let planted = tempfile::tempdir().expect("a folder");
    symlink(planted.path(), &folder).expect("a link");
    let other = shot(Path::new("/nowhere")).await;
    assert!(other != folder && other.parent() == Some(temporary.path()));
    assert_eq!(planted.path().read_dir().expect("readable").count(), 0);
}

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit))]
async fn a_download_is_not_named_after_a_secret(engine: Engine) {
    let site = Site::start().await;
    site.add("/data", Resource::new("application/octet-stream", "bytes"));
    let url = site.add_page("/", "<a href='/data' download='of-hunter22.txt'>Get</a>");
    let folder = tempfile::tempdir().expect("a folder");
    let secrets = folder.path().join("secrets.env");
    std::fs::write(&secrets, "TOKEN=hunter22").expect("writable");
    let secrets = secrets.display().to_string();
    let client = launch_on(engine, &["--secrets", &secrets]).start().await;
    client.navigate(&url).await;
    let mut answer = client.call("browser_click", json!({ "target": "a" })).await;
    while !answer.text.contains("Downloaded") {
        answer = client.call("browser_snapshot", json!({})).await;
    }
    assert!(!answer.text.contains("hunter22"), "{}", answer.text);
    let output = client.workspace().join(".playwright-mcp");
    assert!(output.join("of-TOKEN.txt").is_file(), "{}", answer.text);
}

#[testkit::test(chromium)]
async fn the_changes_of_a_page_are_written_to_the_file_that_the_client_names() {
    let client = shared(Engine::Chromium, &[]).await;
    let site = Site::start().await;
    let page = "<p>Before</p><button onclick=\"document.querySelector('p').textContent = 'After'\">Go</button>";
    client.navigate(&site.add_page("/", page)).await;
    let change = json!({ "function": "() => document.querySelector('button').click()" });
    client.call("browser_snapshot", json!({})).await;
    client.call("browser_evaluate", change).await;
    let changes = json!({ "since": "last", "filename": "changes.md" });
    let answer = client.call("browser_snapshot", changes).await;
    assert!(answer.text.contains("(./changes.md)"), "{}", answer.text);
    let written = std::fs::read_to_string(client.workspace().join("changes.md")).expect("text");
    assert!(
        written.contains("After") && !written.contains("Go"),
        "{written}"
    );
}
