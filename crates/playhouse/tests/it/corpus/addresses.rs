//! No request reaches a private address under any name or spelling: `corpus/ways-out.md` with `--block-private-addresses`.

use std::fs;
use std::net::IpAddr;

use serde_json::json;
use testkit::{Attack, Client, Engine, Hit, Opening};

use super::scene::{ALLOWED, Boundary, FORBIDDEN, Scene, server};

/// Parts of the names of the attacks that are run on Firefox and WebKit: the spelling of an address makes no difference there, and the
/// other attacks behave as with the other rules.
const FEW: [&str; 9] = [
    "A frame is redirected",
    "A worker fetches",
    "A WebSocket",
    "Events",
    "An image",
    "A name",
    "An IP address",
    "IPv",
    "letters that look alike",
];

/// Returns the rules: the allowed addresses of the scene are exempt with their ports, and no rule about names or origins blocks others.
fn flags(scene: &Scene) -> [String; 2] {
    let exempt = scene.allowed_origins();
    [
        "--block-private-addresses".to_owned(),
        format!("--allowed-origins={exempt};*"),
    ]
}

async fn start(engine: Engine, scene: &Scene) -> Client {
    let flags = flags(scene);
    let flags = flags.each_ref().map(String::as_str);
    server(engine, &flags, json!({})).await
}

#[testkit::test(chromium, firefox, webkit, nightly, slow)]
async fn no_request_reaches_a_private_address(engine: Engine) {
    let mut attacks = Attack::read("ways-out.md");
    attacks.retain(|attack| {
        let is_played = engine == Engine::Chromium || FEW.iter().any(|it| attack.name.contains(it));
        attack.opening == Opening::Frame && is_played
    });
    let scene = Scene::new(attacks, FORBIDDEN).await;
    let flags = flags(&scene);
    let flags = flags.each_ref().map(String::as_str);
    let aims = [FORBIDDEN, ALLOWED];
    scene
        .assert_holds(Boundary::Rules, engine, (&flags, json!({})), &aims)
        .await;
}

/// The addresses of the canary, with the placeholders of the corpus.
const CANARY: [&str; 15] = [
    "http://{host}:{port}/",
    "https://{host}:{port}/",
    "http://{decimal}:{port}/",
    "http://{octal}:{port}/",
    "http://{hex}:{port}/",
    "http://127.2:{port}/",
    "http://{wide-address}:{port}/",
    "http://{host}.:{port}/",
    "http://[::ffff:{host}]:{port}/",
    "http://[::ffff:7f00:2]:{port}/",
    "http://[::1]:{port}/",
    "http://{name}:{port}/",
    "http://{under}.:{port}/",
    "http://{wide-name}:{port}/",
    "http://me:secret@{host}:{port}/",
];

/// Addresses without a listener in this test: metadata services, private networks, and equivalents.
const ELSEWHERE: [&str; 19] = [
    "http://169.254.169.254/latest/meta-data/",
    "http://2852039166/latest/meta-data/",
    "http://0xa9.0xfe.0xa9.0xfe/",
    "http://0251.0376.0251.0376/",
    "http://169.254.43518/",
    "http://[::ffff:169.254.169.254]/",
    "http://[::ffff:a9fe:a9fe]/",
    "http://[fd00:ec2::254]/",
    "http://[64:ff9b::a9fe:a9fe]/",
    "http://[2002:a9fe:a9fe::1]/",
    "http://169.254.170.2/v2/credentials/",
    "http://168.63.129.16/",
    "http://100.100.100.200/",
    "http://10.0.0.1/",
    "http://172.16.0.1/",
    "http://192.168.1.1/",
    "http://100.64.0.1/",
    "http://[fe80::1]/",
    "http://[fc00::1]/",
];

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit))]
async fn navigations_to_private_addresses_are_refused(engine: Engine) {
    let scene = Scene::new(Vec::new(), FORBIDDEN).await;
    let port = scene.forbidden.listen(&FORBIDDEN.addresses()).await;
    let client = start(engine, &scene).await;
    let allowed = json!({ "url": scene.site.url("/") });
    client.success("navigate", allowed).await;

    let mut urls: Vec<_> = CANARY.iter().map(|url| scene.filled(url, port)).collect();
    urls.extend([
        format!("http://0.0.0.0:{port}/"),
        format!("http://[::]:{port}/"),
    ]);
    if let Some(name) = own_name().await {
        urls.push(format!("http://{name}:{port}/"));
    }
    let elsewhere = ELSEWHERE.iter().map(|&url| url.to_owned());
    urls.extend(elsewhere);
    let redirects = [&urls[0], &urls[9], &urls[11], &ELSEWHERE[0].to_owned()];
    let redirects = redirects.map(|url| scene.site.url(&format!("/redirect?to={url}")));
    let twice = format!("/redirect?to=/redirect%3Fto%3D{}", urls[0]);
    urls.extend(redirects);
    urls.push(scene.site.url(&twice));
    let mut complaints = Vec::new();
    for url in urls {
        let answer = client.object("navigate", json!({ "url": url })).await;
        let rule = answer["details"]["rule"].as_str().unwrap_or_default();
        let is_named =
            rule.ends_with("a private address") || rule.ends_with("a cloud metadata service");
        if answer["errorCode"] != "URL_BLOCKED" || !is_named {
            complaints.push(format!("{url}: {answer}"));
        }
    }
    client.end().await;
    complaints.extend(scene.forbidden.hits().iter().map(Hit::to_string));
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// Returns the name of this machine, if it resolves to a private address, for example by `/etc/hosts`.
async fn own_name() -> Option<String> {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").ok()?;
    let name = name.trim();
    let mut found = tokio::net::lookup_host((name, 80)).await.ok()?;
    let is_private = |address: IpAddr| match address {
        IpAddr::V4(address) => address.is_loopback() || address.is_private(),
        IpAddr::V6(address) => address.is_loopback(),
    };
    found
        .all(|address| is_private(address.ip()))
        .then(|| name.to_owned())
}
