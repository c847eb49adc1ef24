//! No connection bypasses a proxy: `corpus/ways-out.md` with upstream proxies.

use serde_json::json;
use testkit::{Attack, Engine, Proxy, ProxyKind};

use super::exfiltration::in_frames;
use super::scene::{ALLOWED, Boundary, FORBIDDEN, Scene};

const CREDENTIALS: (&str, &str) = ("me", "open sesame");

#[testkit::test(chromium, firefox, webkit, nightly, slow)]
async fn no_request_bypasses_an_http_proxy(engine: Engine) {
    assert_no_bypass(engine, ProxyKind::Http).await;
}

#[testkit::test(chromium, firefox, webkit, nightly, slow)]
async fn no_request_bypasses_a_socks_proxy(engine: Engine) {
    assert_no_bypass(engine, ProxyKind::Socks5).await;
}

async fn assert_no_bypass(engine: Engine, kind: ProxyKind) {
    let attacks = match engine {
        Engine::Chromium => Attack::read("ways-out.md"),
        // They have the same options as with rules, with which all attacks are run. The egress proxy connects to the other proxy.
        Engine::Firefox | Engine::Webkit => in_frames(engine),
    };
    let scene = Scene::new(attacks, FORBIDDEN).await;
    let proxy = Proxy::start(kind, Some(CREDENTIALS)).await;
    let (username, password) = CREDENTIALS;
    let proxied = json!({ "server": proxy.address(), "username": username, "password": password });
    let options = json!({ "proxy": proxied });
    scene
        .assert_holds(Boundary::Proxy, engine, (&[], options), &[ALLOWED])
        .await;
    assert!(!proxy.seen().is_empty());
}
