//! Browsers with a profile of the user's: what of it survives, and who may have it.

use serde_json::json;
use testkit::{Client, Launch, Site, browser_is_there};

async fn with_profile(profile: &std::path::Path, args: &[&str]) -> Client {
    Launch::new(env!("CARGO_BIN_EXE_playhouse"))
        .args(["--headless", "--user-data-dir"])
        .args([profile.to_str().expect("a temporary folder")])
        .args(args.iter().copied())
        .start()
        .await
}

#[tokio::test]
async fn a_browser_that_could_not_be_set_up_gives_its_profile_back() {
    if !browser_is_there() {
        return;
    }
    let profile = tempfile::tempdir().expect("a temporary folder");
    let client = with_profile(profile.path(), &["--grant-permissions", "bogus"]).await;
    for _ in 0..2 {
        let answer = client
            .call("browser_navigate", json!({ "url": "about:blank" }))
            .await;
        assert!(answer.is_error, "{}", answer.text);
        assert!(answer.text.contains("bogus"), "{}", answer.text);
    }
    assert!(client.end().await.success());
}

#[tokio::test]
async fn a_storage_state_joins_what_the_profile_remembers() {
    if !browser_is_there() {
        return;
    }
    let site = Site::start().await;
    let page = site.add_page("/", "<title>Here</title>");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let profile = folder.path().join("profile");
    let client = with_profile(&profile, &[]).await;
    client
        .call("browser_navigate", json!({ "url": page }))
        .await;
    let remember =
        "() => { document.cookie = 'old=1; max-age=10000'; localStorage.setItem('old', '1'); }";
    client
        .call("browser_evaluate", json!({ "function": remember }))
        .await;
    client.call("browser_close", json!({})).await;
    assert!(client.end().await.success());

    let file = folder.path().join("state.json");
    let host = page
        .strip_prefix("http://")
        .and_then(|rest| rest.split([':', '/']).next())
        .expect("the site has an address");
    let state = json!({
        "cookies": [{ "name": "new", "value": "2", "domain": host, "path": "/" }],
        "origins": [{ "origin": page.trim_end_matches('/'), "localStorage": [{ "name": "new", "value": "2" }] }],
    });
    std::fs::write(&file, state.to_string()).expect("the folder can be written");
    let file = file.to_str().expect("a temporary folder");
    let client = with_profile(&profile, &["--storage-state", file]).await;
    client
        .call("browser_navigate", json!({ "url": page }))
        .await;
    let tell = "() => [document.cookie.split('; ').sort().join(), localStorage.old, localStorage.new].join(' ')";
    let answer = client
        .call("browser_evaluate", json!({ "function": tell }))
        .await;
    assert!(answer.text.contains("new=2,old=1 1 2"), "{}", answer.text);
    assert!(client.end().await.success());
}
