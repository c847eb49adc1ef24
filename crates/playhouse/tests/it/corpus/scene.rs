//! A site with attacks, and the addresses that they must and must not reach.

use std::net::{IpAddr, Ipv4Addr, UdpSocket};
use std::time::Duration;

use serde_json::{Value, json};
use testkit::harness::input_step;
use testkit::{
    Attack, Canary, Client, Engine, Hit, Opening, Protocol, Proxy, Site, outdated_entries,
};

use crate::launch_on;

/// The number of attacks that share a page.
const FRAMES: usize = 24;
/// The number of attacks with tabs at a time.
const TABS: usize = 8;
/// The number of attacks that a version of a browser may lack; more would prove nothing.
const MAX_LACKING: usize = 5;
/// How long the open attacks may take to reach the allowed address.
const CONTROL_TIMEOUT: Duration = Duration::from_secs(15);

/// The target of an attack.
#[derive(Debug, Clone, Copy)]
pub(super) struct Aim {
    /// The name in paths.
    label: &'static str,
    pub(super) host: &'static str,
    pub(super) name: &'static str,
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
pub(super) const FORBIDDEN_PORT: Aim = Aim {
    host: "127.0.0.1",
    ..FORBIDDEN
};

/// What an attack must not pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Boundary {
    /// Rules about destinations, which forbid the canary.
    Rules,
    /// A proxy, through which all requests go.
    Proxy,
}

impl Boundary {
    /// Returns the condition of exceptions.
    fn condition(self) -> &'static str {
        match self {
            Self::Rules => "rules",
            Self::Proxy => "proxy",
        }
    }

    /// Returns the kind of exceptions for an attack that passes.
    fn kind(self) -> &'static str {
        match self {
            Self::Rules => "reaches",
            Self::Proxy => "direct",
        }
    }
}

/// A site with attacks, the allowed addresses, and a canary on the blocked ones.
pub(super) struct Scene {
    pub(super) site: Site,
    allowed: Canary,
    pub(super) forbidden: Canary,
    targets: Vec<Target>,
    /// An allowed port that serves requested resources.
    helper: u16,
    pub(super) aim: Aim,
}

/// An attack and the ports that only this attack knows.
pub(super) struct Target {
    pub(super) attack: Attack,
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

    /// Plays the attacks on a server, and panics if one of them passes the boundary, or does not reach its allowed address although it does
    /// without the boundary.
    pub(super) async fn assert_holds(
        &self,
        boundary: Boundary,
        engine: Engine,
        (flags, launch_options): (&[&str], Value),
        aims: &[Aim],
    ) {
        let conditions = ["all", engine.name(), boundary.condition()];
        let client = server(engine, flags, launch_options).await;
        let unreached = self.play(&client, aims, &conditions).await;
        client.end().await;
        let (mut complaints, mut outdated) = self.escapes(boundary, &conditions);
        if !unreached.is_empty() {
            let client = server(engine, &[], json!({})).await;
            let lacking = self
                .play_again(&client, &unreached, &[ALLOWED], &conditions)
                .await;
            client.end().await;
            let is_lacking =
                |target: &&&Target| lacking.iter().any(|it| it.allowed == target.allowed);
            for target in unreached.iter().filter(|target| !is_lacking(target)) {
                let name = &target.attack.name;
                complaints.push(format!(
                    "{name}: reaches the allowed address only without {}",
                    boundary.condition()
                ));
            }
            let names = lacking.iter().map(|target| &*target.attack.name);
            match lacking.len() {
                0..=MAX_LACKING => {
                    outdated.extend(names.map(|name| format!("{name}: reaches no address")))
                }
                _ => complaints.push(format!(
                    "reach no address: {}",
                    names.collect::<Vec<_>>().join(", ")
                )),
            }
        }
        complaints.extend(outdated_entries(engine, outdated));
        assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    }

    /// Runs all attacks on these targets. Returns those that do not reach their allowed address.
    pub(super) async fn play(
        &self,
        client: &Client,
        aims: &[Aim],
        conditions: &[&str],
    ) -> Vec<&Target> {
        let start = self.site.add_page("/start", "<title>Start</title>");
        let answer = client
            .call("browser_navigate", json!({ "url": start }))
            .await;
        assert!(!answer.is_error, "{}", answer.text);
        let targets: Vec<_> = self.targets.iter().collect();
        let unreached = self.play_together(client, &targets, aims, conditions).await;
        self.play_again(client, &unreached, aims, conditions).await
    }

    /// Runs attacks again: first together, then each alone, because a busy browser sometimes fails to load the script of a worker, or drops
    /// a hint. Returns those that do not reach their allowed address.
    async fn play_again<'a>(
        &self,
        client: &Client,
        targets: &[&'a Target],
        aims: &[Aim],
        conditions: &[&str],
    ) -> Vec<&'a Target> {
        let targets = self.play_together(client, targets, aims, conditions).await;
        if targets.len() > MAX_LACKING {
            return targets;
        }
        let mut unreached = Vec::new();
        for target in targets {
            unreached.extend(
                self.play_together(client, &[target], aims, conditions)
                    .await,
            );
        }
        unreached
    }

    /// Runs attacks, as many at a time as a page and a window hold. Returns those that do not reach their allowed address.
    async fn play_together<'a>(
        &self,
        client: &Client,
        targets: &[&'a Target],
        aims: &[Aim],
        conditions: &[&str],
    ) -> Vec<&'a Target> {
        let is_frame = |target: &&Target| target.attack.opening == Opening::Frame;
        let (frames, tabs): (Vec<_>, Vec<_>) = targets.iter().copied().partition(is_frame);
        let mut unreached = Vec::new();
        for group in frames.chunks(FRAMES).chain(tabs.chunks(TABS)) {
            for aim in aims {
                match group[0].attack.opening {
                    Opening::Frame => self.open_frames(client, group, *aim).await,
                    _ => self.open_tabs(client, group, *aim).await,
                }
            }
            unreached.extend(self.controls(group, conditions).await);
            client.call("browser_close", json!({})).await;
        }
        unreached
    }

    /// Opens a page with the attacks in frames.
    async fn open_frames(&self, client: &Client, targets: &[&Target], aim: Aim) {
        let frame = |target: &&Target| format!("<iframe src='{}'></iframe>", target.path(aim));
        let page: String = targets.iter().map(frame).collect();
        let path = format!("/frames/{}/{}", targets[0].attack.slug(), aim.label);
        open(client, &self.site.add_page(&path, &page)).await;
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
        expected.retain(|target| target.attack.exception(conditions, "optional").is_none());
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

    /// Returns the attacks that passed the boundary after all have ended, and those that are listed but did not.
    fn escapes(&self, boundary: Boundary, conditions: &[&str]) -> (Vec<String>, Vec<String>) {
        let kind = boundary.kind();
        let mut hits = match boundary {
            Boundary::Rules => self.forbidden.hits(),
            Boundary::Proxy => self.allowed.hits(),
        };
        if boundary == Boundary::Proxy {
            hits.retain(|hit| hit.peer.ip() != Proxy::SOURCE || hit.protocol == Protocol::Udp);
        }
        let (mut escapes, mut outdated) = (Vec::new(), Vec::new());
        for target in &self.targets {
            let escaped = hits_at(
                &hits,
                match boundary {
                    Boundary::Rules => target.forbidden,
                    Boundary::Proxy => target.allowed,
                },
            );
            let name = &target.attack.name;
            let is_listed = target.attack.exception(conditions, kind).is_some();
            match (is_listed, escaped.is_empty()) {
                (false, false) => escapes.push(format!("{name}: {kind} {escaped:?}")),
                (true, true) => outdated.push(format!("{name}: is listed as `{kind}`")),
                _ => {}
            }
        }
        (escapes, outdated)
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
        "--timeout-action=20000",
        "--toolsets=browser,session",
        "--config",
        &file,
    ];
    let launch = launch_on(engine, &[own, engine.keeping(), flags].concat());
    launch.limit(Duration::from_secs(90)).start().await
}

/// Returns the attacks of a corpus. Outside of `make nightly`, Chromium plays every sixth one, Firefox and WebKit every twentieth one, of those
/// that are opened in the same way.
pub(super) fn sample(engine: Engine, corpus: &str) -> Vec<Attack> {
    let step = match engine {
        Engine::Chromium => input_step(6),
        Engine::Firefox | Engine::Webkit => input_step(20),
    };
    let attacks = Attack::read(corpus);
    let opened = |opening| attacks.iter().filter(move |it| it.opening == opening);
    let openings = [Opening::Frame, Opening::Page, Opening::Click].into_iter();
    let sample = openings.flat_map(|opening| opened(opening).step_by(step));
    sample.cloned().collect()
}

pub(super) fn blocked_hosts() -> [String; 5] {
    let hosts = [FORBIDDEN.host, FORBIDDEN.name, FORBIDDEN.under, "[::1]"];
    let [host, name, under, ipv6] = hosts.map(str::to_owned);
    [host, name, under, ipv6, outside().to_string()]
}
