//! Storage states of origins that pages may not request.

use serde_json::json;
use testkit::{Engine, Site};

use crate::server_on;

#[testkit::test(chromium, firefox, webkit, nightly(firefox))]
async fn a_storage_state_is_restored_without_requests(engine: Engine) {
    let site = Site::start().await;
    let url = site.add_page("/", "<title>here</title>");
    let client = server_on(
        engine,
        &["--allowed-origins", &site.base_url(), "--caps", "storage"],
    )
    .await;
    let item = json!([{ "name": "k", "value": "v" }]);
    let origins = json!([
        { "origin": "http://elsewhere.test", "localStorage": item },
        { "origin": site.base_url(), "localStorage": item },
    ]);
    let state = json!({ "cookies": [], "origins": origins });
    std::fs::write(client.workspace().join("s.json"), state.to_string()).expect("writable");
    let restored = client
        .call("browser_set_storage_state", json!({ "filename": "s.json" }))
        .await;
    assert!(!restored.is_error, "{}", restored.text);
    client.navigate(&url).await;
    let stored = client
        .call("browser_localstorage_get", json!({ "key": "k" }))
        .await;
    assert_eq!(stored.result(), "k=v");
}
