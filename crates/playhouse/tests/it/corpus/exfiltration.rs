//! No request bypasses the network rules: `corpus/ways-out.md` with each kind of rule.

use std::net::{IpAddr, Ipv4Addr, UdpSocket};
use std::time::Duration;

use serde_json::{Value, json};
use testkit::{Attack, Canary, Client, Engine, Hit, Opening, Protocol, Proxy, Site};

use crate::launch_on;

/// The number of attacks that share a page.
const FRAMES: usize = 24;
/// The number of attacks with tabs at a time.
const TABS: usize = 8;
/// How often attacks are opened that do not reach their allowed address.
const ATTEMPTS: usize = 2;
/// How long the open attacks may take to reach the allowed address.
const CONTROL_TIMEOUT: Duration = Duration::from_secs(15);

/// The target of an attack.
#[derive(Debug, Clone, Copy)]
pub(super) struct Aim {
    /// The name in paths.
    label: &'static str,
    host: &'static str,
    name: &'static str,
    under: &'static str,
}

pub(super) const ALLOWED: Aim = Aim {
    label: "allowed",
    host: "127.0.0.1",
    name: "allowed.localhost",
    under: "below.allowed.localhost",
};

pub(super) const FORBIDDEN: Aim = Aim {
    label: "forbidden",
    host: "127.0.0.2",
    name: "localhost",
    under: "evil.localhost",
};

/// A target whose port is not allowed.
const FORBIDDEN_PORT: Aim = Aim {
    host: "127.0.0.1",
    ..FORBIDDEN
};

/// A site with attacks, the allowed addresses, and a canary on the blocked ones.
pub(super) struct Scene {
    pub(super) site: Site,
    allowed: Canary,
    pub(super) forbidden: Canary,
    targets: Vec<Target>,
    /// An allowed port that serves requested resources.
    helper: u16,
    aim: Aim,
}

/// An attack and the ports that only this attack knows.
struct Target {
    attack: Attack,
    allowed: u16,
    forbidden: u16,
}

impl Aim {
    fn placeholders(self, port: u16, site: &Site, helper: u16) -> Vec<(&'static str, String)> {
        let host = self.host;
        let [a, b, c, d] = host.parse::<Ipv4Addr>().expect("an address").octets();
        let number = u32::from_be_bytes([a, b, c, d]);
        let at = |scheme: &str| format!("{scheme}://{host}:{port}");
        let wide = |text: &str| -> String {
            let wide = |c: char| char::from_u32(u32::from(c) + 0xfee0).filter(|_| c != '.');
            text.chars().map(|c| wide(c).unwrap_or(c)).collect()
        };
        vec![
            ("to", at("http")),
            ("tls", at("https")),
            ("ws", at("ws")),
            ("wss", at("wss")),
            ("address", format!("{host}:{port}")),
            ("host", host.to_owned()),
            ("port", port.to_string()),
            ("name", self.name.to_owned()),
            ("upper-name", self.name.to_ascii_uppercase()),
            ("wide-name", wide(self.name)),
            ("under", self.under.to_owned()),
            ("decimal", number.to_string()),
            ("octal", format!("{a:#o}.{b}.{c}.{d}").replace("0o", "0")),
            ("hex", format!("{number:#x}")),
            ("short", format!("{a}.{d}")),
            ("wide-address", wide(host)),
            ("outside", outside().to_string()),
            ("site", site.base_url()),
            ("secure", format!("https://{}:{helper}", ALLOWED.host)),
        ]
    }

    /// Returns the addresses of the canary.
    pub(super) fn addresses(self) -> Vec<IpAddr> {
        let mut addresses = vec!["127.0.0.1", "::1"];
        if !addresses.contains(&self.host) {
            addresses.push(self.host);
        }
        let addresses = addresses.into_iter().map(|text| text.parse());
        let addresses = addresses.map(|address| address.expect("an address"));
        let mut addresses: Vec<IpAddr> = addresses.collect();
        if !addresses.contains(&outside()) {
            addresses.push(outside());
        }
        addresses
    }
}

impl Scene {
    pub(super) async fn new(attacks: Vec<Attack>, aim: Aim) -> Self {
        let (site, allowed, forbidden) = (Site::start().await, Canary::new(), Canary::new());
        let helper = allowed.listen(&ALLOWED.addresses()).await;
        let mut targets = Vec::new();
        for attack in attacks {
            let target = Target {
                allowed: allowed.listen(&ALLOWED.addresses()).await,
                forbidden: forbidden.listen(&aim.addresses()).await,
                attack,
            };
            for (aim, port) in [(ALLOWED, target.allowed), (aim, target.forbidden)] {
                let placeholders = aim.placeholders(port, &site, helper);
                let base = target.path(aim);
                for (path, resource) in target.attack.resources(&base, &placeholders) {
                    site.add(&path, resource);
                }
            }
            targets.push(target);
        }
        Self {
            site,
            allowed,
            forbidden,
            targets,
            helper,
            aim,
        }
    }

    /// Runs all attacks on these targets.
    pub(super) async fn play(&self, client: &Client, aims: &[Aim], conditions: &[&str]) {
        let start = self.site.add_page("/start", "<title>Start</title>");
        let answer = client
            .call("browser_navigate", json!({ "url": start }))
            .await;
        assert!(!answer.is_error, "{}", answer.text);
        let is_frame = |target: &&Target| target.attack.opening == Opening::Frame;
        let (frames, tabs): (Vec<_>, Vec<_>) = self.targets.iter().partition(is_frame);
        let groups = frames
            .chunks(FRAMES)
            .map(|frames| (true, frames))
            .chain(tabs.chunks(TABS).map(|tabs| (false, tabs)));
        for (number, (in_frames, targets)) in groups.enumerate() {
            // A busy Chromium sometimes fails to load the script of a worker, or drops a hint.
            let mut targets = targets.to_vec();
            for attempt in 0..ATTEMPTS {
                for aim in aims {
                    match in_frames {
                        true => {
                            let path = format!("/frames/{number}/{attempt}/{}", aim.label);
                            self.open_frames(client, &targets, *aim, &path).await;
                        }
                        false => self.open_tabs(client, &targets, *aim).await,
                    }
                }
                targets = self.controls(&targets, conditions).await;
                client.call("browser_close", json!({})).await;
                if targets.is_empty() {
                    break;
                }
            }
        }
    }

    /// Opens a page with the attacks in frames.
    async fn open_frames(&self, client: &Client, targets: &[&Target], aim: Aim, path: &str) {
        let frame = |target: &&Target| format!("<iframe src='{}'></iframe>", target.path(aim));
        let page: String = targets.iter().map(frame).collect();
        open(client, &self.site.add_page(path, &page)).await;
    }

    /// Opens each attack in a tab.
    async fn open_tabs(&self, client: &Client, targets: &[&Target], aim: Aim) {
        for target in targets {
            open(client, &self.site.url(&target.path(aim))).await;
            if target.attack.opening == Opening::Click {
                let go = json!({ "target": "#go" });
                client.call("browser_click", go).await;
            }
        }
    }

    /// Waits until each attack has reached its allowed address, if it can. Returns those that did not.
    async fn controls<'a>(&self, targets: &[&'a Target], conditions: &[&str]) -> Vec<&'a Target> {
        let mut expected = targets.to_vec();
        expected.retain(|target| {
            let exception = |kind| target.attack.exception(conditions, kind);
            exception("absent").or(exception("either")).is_none()
        });
        let all = async {
            for target in &expected {
                self.allowed
                    .is_hit(CONTROL_TIMEOUT, |hit| hit.local.port() == target.allowed)
                    .await;
            }
        };
        drop(tokio::time::timeout(CONTROL_TIMEOUT, all).await);
        let hits = self.allowed.hits();
        expected.retain(|target| hits_at(&hits, target.allowed).is_empty());
        expected
    }

    /// Returns the deviations from the expected result, after all attacks have ended: hits of the canary.
    pub(super) fn complaints(&self, conditions: &[&str]) -> Vec<String> {
        let hits = self.forbidden.hits();
        let escaped = |target: &Target| hits_at(&hits, target.forbidden);
        self.complaints_about(conditions, "reaches", escaped)
    }

    /// Returns the deviations, where direct hits of the allowed address that bypass the proxy are failures.
    pub(super) fn direct(&self, conditions: &[&str]) -> Vec<String> {
        let mut hits = self.allowed.hits();
        hits.retain(|hit| hit.peer.ip() != Proxy::SOURCE || hit.protocol == Protocol::Udp);
        self.complaints_about(conditions, "direct", |target| {
            hits_at(&hits, target.allowed)
        })
    }

    fn complaints_about(
        &self,
        conditions: &[&str],
        kind: &str,
        escaped: impl Fn(&Target) -> Vec<String>,
    ) -> Vec<String> {
        let allowed = self.allowed.hits();
        let mut complaints = Vec::new();
        for target in &self.targets {
            let escaped = escaped(target);
            let is_reached = !hits_at(&allowed, target.allowed).is_empty();
            let excepted = |kind| target.attack.exception(conditions, kind).is_some();
            let complaint = match (excepted(kind), escaped.is_empty()) {
                (false, false) => Some(format!("{kind} {escaped:?}")),
                (true, true) => Some(format!("is listed as `{kind}`, and is not")),
                _ => None,
            };
            let control = match (excepted("absent"), is_reached) {
                _ if excepted("either") => None,
                (false, false) => Some("does not reach the allowed address".to_owned()),
                (true, true) => Some("is listed as `absent`, and is not".to_owned()),
                _ => None,
            };
            for complaint in [complaint, control].into_iter().flatten() {
                complaints.push(format!("{}: {complaint}", target.attack.name));
            }
        }
        complaints
    }

    /// Returns `HOST:PORT` of all allowed destinations.
    pub(super) fn allowed_origins(&self) -> String {
        let hosts = [ALLOWED.host, ALLOWED.name, ALLOWED.under];
        let ports = self.targets.iter().map(|target| target.allowed);
        let ports = ports.chain([self.site.port(), self.helper]);
        let origins = ports.flat_map(|port| hosts.map(|host| format!("{host}:{port}")));
        origins.collect::<Vec<_>>().join(";")
    }

    /// Replaces the placeholders of a URL by a blocked destination.
    pub(super) fn filled(&self, url: &str, port: u16) -> String {
        let placeholders = self.aim.placeholders(port, &self.site, self.helper);
        let fill = |url: String, (name, value): &(&str, String)| {
            url.replace(&format!("{{{name}}}"), value)
        };
        placeholders.iter().fold(url.to_owned(), fill)
    }
}

impl Target {
    fn path(&self, aim: Aim) -> String {
        format!("/{}/{}/", self.attack.slug(), aim.label)
    }
}

/// Returns the address of this machine in its network, or the loopback address without a network.
fn outside() -> IpAddr {
    let socket = UdpSocket::bind("0.0.0.0:0").expect("a port");
    // Nothing is sent: the address is that of the interface that would be used.
    let is_connected = socket.connect("192.0.2.1:9").is_ok();
    let address = socket.local_addr().map(|address| address.ip());
    match address {
        Ok(address) if is_connected => address,
        _ => Ipv4Addr::LOCALHOST.into(),
    }
}

/// Returns the first hits of a port, and their number.
fn hits_at(hits: &[Hit], port: u16) -> Vec<String> {
    let hits = hits.iter().filter(|hit| hit.local.port() == port);
    let mut shown: Vec<_> = hits.clone().take(2).map(Hit::to_string).collect();
    match hits.count() {
        0..=2 => {}
        count => shown.push(format!("{count} in all")),
    }
    shown
}

async fn open(client: &Client, url: &str) {
    let arguments = json!({ "action": "new", "url": url });
    client.call("browser_tabs", arguments).await;
}

pub(super) async fn server(engine: Engine, flags: &[&str], launch_options: Value) -> Client {
    let mut options = launch_options;
    if engine == Engine::Firefox {
        // Otherwise a failed WebSocket delays those to other ports of its host.
        options["firefoxUserPrefs"] = json!({ "network.websocket.delay-failed-reconnects": false });
    }
    let config = json!({ "browser": { "launchOptions": options } });
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("config.json");
    std::fs::write(&file, config.to_string()).expect("it can be written");
    let file = file.display().to_string();
    let own: &[&str] = &[
        "--ignore-https-errors",
        "--snapshot-mode=none",
        "--toolsets=browser,session",
        "--config",
        &file,
    ];
    let launch = launch_on(engine, &[own, engine.keeping(), flags].concat());
    launch.limit(Duration::from_secs(90)).start().await
}

async fn assert_no_request_passes(engine: Engine, scene: Scene, flags: &[&str]) {
    let conditions = ["all", engine.name(), "rules"];
    let client = server(engine, flags, json!({})).await;
    scene
        .play(&client, &[scene.aim, ALLOWED], &conditions)
        .await;
    client.end().await;
    let complaints = scene.complaints(&conditions);
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[testkit::test(chromium, firefox, webkit, slow)]
async fn no_request_leaves_the_allowed_domains(engine: Engine) {
    let scene = Scene::new(Attack::read("ways-out.md"), FORBIDDEN).await;
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

#[testkit::test(chromium, firefox, webkit, slow)]
async fn no_request_reaches_a_blocked_domain(engine: Engine) {
    let scene = Scene::new(in_frames(engine), FORBIDDEN).await;
    let domains = blocked_hosts().join(",");
    assert_no_request_passes(engine, scene, &["--blocked-domains", &domains]).await;
}

#[testkit::test(chromium, firefox, webkit, slow)]
async fn no_request_leaves_the_allowed_origins(engine: Engine) {
    let scene = Scene::new(in_frames(engine), FORBIDDEN_PORT).await;
    let origins = scene.allowed_origins();
    assert_no_request_passes(engine, scene, &["--allowed-origins", &origins]).await;
}

#[testkit::test(chromium, firefox, webkit, slow)]
async fn no_request_reaches_a_blocked_origin(engine: Engine) {
    let scene = Scene::new(in_frames(engine), FORBIDDEN).await;
    let origins = blocked_hosts().map(|host| format!("{host}:*")).join(";");
    assert_no_request_passes(engine, scene, &["--blocked-origins", &origins]).await;
}

fn blocked_hosts() -> [String; 5] {
    let hosts = [FORBIDDEN.host, FORBIDDEN.name, FORBIDDEN.under, "[::1]"];
    let [host, name, under, ipv6] = hosts.map(str::to_owned);
    [host, name, under, ipv6, outside().to_string()]
}

/// The mechanisms that the corpus lists as absent under rules must exist without rules: otherwise their tests would prove nothing.
#[testkit::test(chromium, firefox, webkit, slow)]
async fn what_rules_switch_off_works_without_them(engine: Engine) {
    let mut attacks = Attack::read("ways-out.md");
    let is_off = |attack: &Attack, kind| attack.exception(&["rules"], kind).is_some();
    attacks.retain(|attack| is_off(attack, "absent") || is_off(attack, "either"));
    let scene = Scene::new(attacks, FORBIDDEN).await;
    let conditions = ["all", engine.name()];
    let client = server(engine, &[], json!({})).await;
    scene.play(&client, &[ALLOWED], &conditions).await;
    client.end().await;
    let complaints = scene.complaints(&conditions);
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

#[testkit::test(chromium, firefox, webkit)]
async fn navigations_out_of_the_allowed_domains_are_refused(engine: Engine) {
    let scene = Scene::new(Vec::new(), FORBIDDEN).await;
    let port = scene.forbidden.listen(&FORBIDDEN.addresses()).await;
    let client = server(engine, &["--allowed-domains", ALLOWED.host], json!({})).await;
    let mut complaints = Vec::new();
    for address in NAVIGATIONS {
        let url = scene.filled(address, port);
        for tool in ["navigate", "browser_navigate"] {
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
