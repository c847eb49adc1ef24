//! No request bypasses the network rules: `corpus/ways-out.md` with one kind of rule, and in nightly runs with each.

use serde_json::json;
use testkit::harness::input_step;
use testkit::{Attack, Engine, Hit, Opening, outdated_entries};

use super::scene::{
    ALLOWED, Boundary, FORBIDDEN, FORBIDDEN_PORT, Scene, blocked_hosts, sample, server,
};

async fn assert_no_request_passes(engine: Engine, scene: Scene, flags: &[&str]) {
    let aims = [scene.aim, ALLOWED];
    scene
        .assert_holds(Boundary::Rules, engine, (flags, json!({})), &aims)
        .await;
}

#[testkit::test(chromium, firefox, webkit, slow)]
async fn no_request_leaves_the_allowed_domains(engine: Engine) {
    let scene = Scene::new(sample(engine, "ways-out.md"), FORBIDDEN).await;
    let domains = [ALLOWED.host, ALLOWED.name, "*.allowed.localhost"].join(",");
    assert_no_request_passes(engine, scene, &["--allowed-domains", &domains]).await;
}

/// Returns the attacks in frames. Firefox and WebKit run every fifth one, because all engines use the same egress proxy.
pub(super) fn in_frames(engine: Engine) -> Vec<Attack> {
    let mut attacks = Attack::read("ways-out.md");
    attacks.retain(|attack| attack.opening == Opening::Frame);
    match engine {
        Engine::Chromium => attacks,
        Engine::Firefox | Engine::Webkit => attacks.into_iter().step_by(5).collect(),
    }
}

#[testkit::test(chromium, firefox, webkit, nightly, slow)]
async fn no_request_reaches_a_blocked_domain(engine: Engine) {
    let scene = Scene::new(in_frames(engine), FORBIDDEN).await;
    let domains = blocked_hosts().join(",");
    assert_no_request_passes(engine, scene, &["--blocked-domains", &domains]).await;
}

#[testkit::test(chromium, firefox, webkit, nightly, slow)]
async fn no_request_leaves_the_allowed_origins(engine: Engine) {
    let scene = Scene::new(in_frames(engine), FORBIDDEN_PORT).await;
    let origins = scene.allowed_origins();
    assert_no_request_passes(engine, scene, &["--allowed-origins", &origins]).await;
}

#[testkit::test(chromium, firefox, webkit, nightly, slow)]
async fn no_request_reaches_a_blocked_origin(engine: Engine) {
    let scene = Scene::new(in_frames(engine), FORBIDDEN).await;
    let origins = blocked_hosts().map(|host| format!("{host}:*")).join(";");
    assert_no_request_passes(engine, scene, &["--blocked-origins", &origins]).await;
}

/// The mechanisms that rules may switch off must exist without rules: otherwise their tests would prove nothing.
#[testkit::test(chromium, firefox, webkit, nightly, slow)]
async fn what_rules_switch_off_works_without_them(engine: Engine) {
    let mut attacks = Attack::read("ways-out.md");
    attacks.retain(|attack| attack.exception(&["rules"], "optional").is_some());
    let scene = Scene::new(attacks, FORBIDDEN).await;
    let conditions = ["all", engine.name()];
    let client = server(engine, &[], json!({})).await;
    let unreached = scene.play(&client, &[ALLOWED], &conditions).await;
    client.end().await;
    let entries = unreached
        .iter()
        .map(|target| format!("{}: reaches no address", target.attack.name));
    let complaints = outdated_entries(engine, entries.collect());
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// URLs that `navigate` rejects. `{each}` of the corpus' placeholders.
const NAVIGATIONS: [&str; 18] = [
    "{to}",
    "{tls}",
    "{site}/redirect?code=301&to={to}",
    "{site}/redirect?code=302&to={to}",
    "{site}/redirect?code=303&to={to}",
    "{site}/redirect?code=307&to={to}",
    "{site}/redirect?code=308&to={to}",
    "{site}/redirect?to=/redirect%3Fto%3D{to}",
    "http://127.0.0.1@{address}/",
    "http://127.0.0.1:80@{address}/",
    "http://{decimal}:{port}/",
    "http://{octal}:{port}/",
    "http://{hex}:{port}/",
    "http://[::ffff:{host}]:{port}/",
    "http://[::1]:{port}/",
    "http://{name}:{port}/",
    "HTTP://{upper-name}.:{port}/",
    "http://{wide-name}:{port}/",
];

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit))]
async fn navigations_out_of_the_allowed_domains_are_refused(engine: Engine) {
    let scene = Scene::new(Vec::new(), FORBIDDEN).await;
    let port = scene.forbidden.listen(&FORBIDDEN.addresses()).await;
    let client = server(engine, &["--allowed-domains", ALLOWED.host], json!({})).await;
    let mut complaints = Vec::new();
    for (number, address) in NAVIGATIONS.into_iter().enumerate() {
        let url = scene.filled(address, port);
        // Outside of `make nightly`, the tools take turns.
        let step = input_step(2);
        let tools = ["navigate", "browser_navigate"];
        for tool in tools.into_iter().skip(number % step).step_by(step) {
            let answer = client.object(tool, json!({ "url": url })).await;
            let rule = answer["details"]["rule"].as_str();
            if answer["errorCode"] != "URL_BLOCKED" || rule != Some("only 127.0.0.1 is allowed") {
                complaints.push(format!("{tool} {url}: {answer}"));
            }
        }
    }
    // Documents without a host may open, but connect to nothing.
    for address in [
        "view-source:{to}",
        "data:text/html,<img src={to}>",
        "javascript:location='{to}'",
        "ftp://{address}/",
    ] {
        let url = scene.filled(address, port);
        client.object("navigate", json!({ "url": url })).await;
    }
    client.end().await;
    complaints.extend(scene.forbidden.hits().iter().map(Hit::to_string));
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}
