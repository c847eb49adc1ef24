//! Which files a client may name, where they go, and what is written beside.

use serde_json::json;
use std::path::Path;
use testkit::{Resource, Site};

use crate::{launch, server};

fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}

#[tokio::test]
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

#[tokio::test]
async fn without_roots_the_workspace_is_where_the_server_was_started() {
    let client = server(&[]).await;
    client
        .call("browser_snapshot", json!({ "filename": "page.yml" }))
        .await;
    assert!(client.workspace().join("page.yml").is_file());
}

#[tokio::test]
async fn files_outside_of_the_workspace_are_refused_unless_all_are_allowed() {
    let folder = tempfile::tempdir().expect("a folder");
    let outside = folder.path().join("x.png");
    let shot = json!({ "filename": outside });
    let answer = server(&[])
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

#[tokio::test]
async fn output_goes_where_it_was_told_to() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = folder.path().join("deep/out");
    let client = server(&["--output-dir", &output.display().to_string()]).await;
    client.call("browser_take_screenshot", json!({})).await;
    assert_eq!(std::fs::read_dir(output).expect("it was made").count(), 1);
}

#[tokio::test]
async fn local_files_are_no_pages() {
    let client = server(&[]).await;
    let answer = client
        .call("browser_navigate", json!({ "url": "file:///etc/passwd" }))
        .await;
    assert_eq!(
        answer.error(),
        "Error: Access to \"file:\" protocol is blocked. Attempted URL: \"file:///etc/passwd\""
    );
}

#[tokio::test]
async fn an_upload_from_outside_is_refused_and_the_chooser_stays_open() {
    let (site, client) = (Site::start().await, server(&[]).await);
    let url = site.add_page(
        "/",
        "<input type=file onchange='document.title = this.files[0].name'>",
    );
    client.call("browser_navigate", json!({ "url": url })).await;
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

#[tokio::test]
async fn a_download_lies_in_the_output_folder_under_a_safe_name_and_is_told_once() {
    let (site, client) = (Site::start().await, server(&[]).await);
    site.add("/data", Resource::new("application/octet-stream", "bytes"));
    let url = site.add_page("/", "<a href='/data' download='a:b.txt'>Get</a>");
    client.call("browser_navigate", json!({ "url": url })).await;
    let mut told = Vec::new();
    for _ in 0..2 {
        let answer = client.call("browser_click", json!({ "target": "a" })).await;
        told.push(answer.section("Events").unwrap_or_default().to_owned());
    }
    let folder = client.workspace().join(".playwright-mcp");
    // The end of a download may be told with a later answer than its beginning.
    while told.concat().matches("Downloaded").count() < 2 {
        let answer = client.call("browser_snapshot", json!({})).await;
        told.push(answer.section("Events").unwrap_or_default().to_owned());
    }
    assert_eq!(told.concat().matches("Downloading").count(), 2, "{told:?}");
    let names: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder is there")
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.ends_with(".txt"))
        .collect();
    assert_eq!(names.len(), 2, "{names:?}");
    assert!(names.iter().all(|name| !name.contains(':')), "{names:?}");
}

#[tokio::test]
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
        // The end of a download may be told with a later answer than its beginning.
        while !answer.text.contains(&format!("Downloaded file {name}")) {
            answer = client.call("browser_snapshot", json!({})).await;
        }
        assert!(folder.join(name).is_file(), "{}", answer.text);
    }
    client.call("browser_snapshot", json!({})).await;
    assert!(!folder.join("first.txt").exists());
    assert!(users.is_file(), "what is not ours stays");
}

#[tokio::test]
async fn console_lines_are_written_as_they_come_and_told_by_their_numbers() {
    let (site, client) = (Site::start().await, server(&[]).await);
    let url = site.add_page(
        "/",
        "<button onclick=\"console.log('one\\ntwo'); console.debug('quiet'); console.error('three')\">Say</button>",
    );
    client.call("browser_navigate", json!({ "url": url })).await;
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
    assert!(log.contains("ms] [LOG] one\ntwo @ "), "{log}");
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
