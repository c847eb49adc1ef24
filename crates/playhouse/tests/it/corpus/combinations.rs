//! Each rule about destinations holds in each kind of session, with and without a proxy: a few requests per combination. The attacks of
//! `corpus/ways-out.md` are played with one rule, because all rules are judged by one function, whose table of rules and spellings is in
//! `engine::egress`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde_json::{Value, json};
use testkit::harness::is_nightly;
use testkit::{Canary, Client, Engine, Launch, Proxy, ProxyKind, Site};

use crate::launch_on;

/// A site, and destinations of its pages.
struct Scene {
    site: Site,
    allowed: Canary,
    forbidden: Canary,
    /// A port of the allowed destinations.
    port: u16,
    /// A port on which nothing is allowed.
    other: u16,
    http: Proxy,
    socks: Proxy,
}

impl Scene {
    async fn new() -> Self {
        let (allowed, forbidden) = (Canary::new(), Canary::new());
        let loopback = [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
        Self {
            site: Site::start().await,
            port: allowed.listen(&loopback).await,
            other: forbidden.listen(&loopback).await,
            allowed,
            forbidden,
            http: Proxy::start(ProxyKind::Http, None).await,
            socks: Proxy::start(ProxyKind::Socks5, None).await,
        }
    }

    /// Returns one rule of each kind. A host that is allowed literally may be private; an address, under any name that leads to it.
    fn rules(&self) -> [String; 5] {
        let Self { port, other, .. } = self;
        [
            "--allowed-domains=domain.localhost,blocked.localhost,*.private.localhost".to_owned(),
            format!(
                "--allowed-origins={};http://origin.localhost:{port}",
                self.site.base_url()
            ),
            "--blocked-domains=blocked.localhost".to_owned(),
            format!("--blocked-origins=http://domain.localhost:{other}"),
            "--block-private-addresses".to_owned(),
        ]
    }

    /// Returns destinations, each with a part of the rule that forbids it.
    fn destinations(&self) -> [(String, Option<&'static str>); 7] {
        let Self { port, other, .. } = self;
        [
            (format!("domain.localhost:{port}"), None),
            (format!("origin.localhost:{port}"), None),
            (
                format!("elsewhere.localhost:{other}"),
                Some("*.private.localhost is allowed"),
            ),
            (
                format!("origin.localhost:{other}"),
                Some("*.private.localhost is allowed"),
            ),
            (
                format!("blocked.localhost:{other}"),
                Some("blocked.localhost is blocked"),
            ),
            (format!("domain.localhost:{other}"), Some(" is blocked")),
            (
                format!("a.private.localhost:{other}"),
                Some(", a private address"),
            ),
        ]
    }

    fn proxy(&self, kind: ProxyKind) -> String {
        match kind {
            ProxyKind::Http => self.http.address(),
            _ => self.socks.address(),
        }
    }

    /// Sends requests to all destinations from a page, and opens the forbidden ones.
    async fn play(&self, client: &Client, name: &str, session: &str, proxy: Option<ProxyKind>) {
        let with = |mut arguments: Value| {
            arguments["sessionId"] = session.into();
            arguments
        };
        let home = json!({ "url": self.site.url("/status/200") });
        client.success("navigate", with(home)).await;
        let destinations = self.destinations();
        let urls: Vec<_> = destinations
            .iter()
            .map(|(host, _)| format!("http://{host}/{name}"))
            .collect();
        let script = format!(
            "await Promise.all({}.map(url => fetch(url, {{ mode: 'no-cors' }}).then(() => null, () => url)))",
            json!(urls)
        );
        let answer = client
            .success("evaluate", with(json!({ "script": script })))
            .await;
        let log = with(json!({ "filter": format!("**/{name}") }));
        let log = client.success("get_request_log", log).await;
        let requests = log["requests"].as_array().expect("a list");
        let refused = requests.iter().filter(|request| {
            let error = request["error"].as_str().unwrap_or_default();
            error.contains("ERR_BLOCKED_BY_CLIENT")
        });
        assert_eq!(refused.count(), 5, "{name}: {log}");
        let results = answer["result"].as_array().expect("a list");
        for ((url, result), (_, rule)) in urls.iter().zip(results).zip(destinations) {
            assert_eq!(!result.is_null(), rule.is_some(), "{name}: {url}: {answer}");
            let Some(rule) = rule else { continue };
            let answer = client.object("navigate", with(json!({ "url": url }))).await;
            assert_eq!(answer["errorCode"], "URL_BLOCKED", "{name}: {answer}");
            let named = answer["details"]["rule"].as_str().unwrap_or_default();
            assert!(named.contains(rule), "{name}: {url}: {answer}");
        }
        let path = format!("GET /{name} ");
        let hits = self.allowed.hits();
        let hits = hits
            .iter()
            .filter(|hit| String::from_utf8_lossy(&hit.bytes).starts_with(&path));
        let ways: Vec<_> = hits
            .map(|hit| hit.peer.ip() != IpAddr::from(Proxy::SOURCE))
            .collect();
        assert_eq!(ways, [proxy.is_none(); 2], "{name}: direct connections");
        let hits: Vec<_> = self
            .forbidden
            .hits()
            .iter()
            .map(ToString::to_string)
            .collect();
        assert!(hits.is_empty(), "{name}: {hits:?}");
    }

    /// Returns the flags of the rules, and of a proxy for all sessions.
    fn flags(&self, proxy: Option<ProxyKind>) -> Vec<String> {
        let proxy = proxy.map(|kind| format!("--proxy-server={}", self.proxy(kind)));
        self.rules().into_iter().chain(proxy).collect()
    }
}

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit))]
async fn each_rule_holds_in_each_kind_of_session_with_and_without_a_proxy(engine: Engine) {
    let scene = Scene::new().await;
    for (name, proxy) in [
        ("direct", None),
        ("http", Some(ProxyKind::Http)),
        ("socks", Some(ProxyKind::Socks5)),
    ] {
        // All engines use the same egress proxy.
        if !is_nightly() && engine != Engine::Chromium && name != "http" {
            continue;
        }
        let flags = scene.flags(proxy);
        let flags: Vec<_> = flags.iter().map(String::as_str).collect();
        let client = launch_on(engine, &flags).start().await;
        let name = |suffix| format!("{name}-{suffix}");
        scene
            .play(&client, &name("default"), "default", proxy)
            .await;
        client
            .success("browser_context_create", json!({ "name": "other" }))
            .await;
        scene
            .play(&client, &name("context"), "default", proxy)
            .await;
        let session = client.create_session(json!({})).await;
        scene.play(&client, &name("created"), &session, proxy).await;
        client.end().await;

        let profile = tempfile::tempdir().expect("a folder");
        let launch = Launch::new(env!("CARGO_BIN_EXE_playhouse"))
            .args(["--headless", "--content-boundaries=off", "--toolsets=all"])
            .args(["--user-data-dir".as_ref(), profile.path().as_os_str()])
            .args(engine.args())
            .args(&flags);
        let client = launch.start().await;
        scene
            .play(&client, &name("persistent"), "default", proxy)
            .await;
        client.end().await;
    }
}
