//! A page cannot send data in the names that a browser resolves: with rules about the network or a proxy, no engine resolves a name itself.

use crate::launch_on;
use serde_json::json;
use testkit::{Engine, Network, Site};

/// Makes the browser resolve names in every way that a page has, and then shows "done".
const PAGE: &str = r#"<!doctype html><title>Names</title>
<link rel=dns-prefetch href="//dns-prefetch.names.example">
<link rel=preconnect href="https://preconnect.names.example">
<link rel=prefetch href="http://prefetch.names.example/">
<link rel=stylesheet href="http://style.names.example/">
<script type=speculationrules>{"prefetch": [{"urls": ["http://speculation.names.example/"], "eagerness": "immediate"}]}</script>
<img src="http://image.names.example/"><iframe src="http://frame.names.example/"></iframe>
<a ping="http://ping.names.example/" href="about:blank" target=frame>Ping</a><iframe name=frame></iframe>
<p>waiting</p>
<script>
const wait = ms => new Promise(done => setTimeout(done, ms));
const attempt = run => Promise.race([wait(2000), new Promise(done => done(run())).catch(() => {})]);
const servers = ['turn:turn.names.example', 'stun:stun.names.example', 'turns:turns.names.example?transport=tcp',
  'turn:turn-tcp.names.example?transport=tcp', 'turn:turn.local', 'stun:stun.local'];
const offer = async urls => {
  const one = new RTCPeerConnection({ iceServers: [{ urls, username: 'a', credential: 'b' }] });
  const other = new RTCPeerConnection();
  one.createDataChannel('data');
  await one.setLocalDescription(await one.createOffer());
  await other.setRemoteDescription(one.localDescription);
  await other.setLocalDescription(await other.createAnswer());
  await one.setRemoteDescription(other.localDescription);
  for (const [index, name] of ['candidate.names.example', 'data.local'].entries()) {
    const candidate = `candidate:${index + 1} 1 udp 2113937151 ${name} 5000 typ host`;
    await one.addIceCandidate({ candidate, sdpMid: '0', sdpMLineIndex: 0 });
  }
  await wait(1000);
};
Promise.all([
  ...servers.map(urls => attempt(() => offer(urls))),
  attempt(() => fetch('https://fetch.names.example/', { mode: 'no-cors' })),
  attempt(() => navigator.sendBeacon('http://beacon.names.example/', 'x')),
  attempt(() => new WebSocket('wss://socket.names.example/')),
  attempt(() => new EventSource('http://events.names.example/')),
  attempt(() => new WebTransport('https://transport.names.example/').ready),
  attempt(() => new Worker(URL.createObjectURL(new Blob(["fetch('http://worker.names.example/')"])))),
  attempt(() => open('http://popup.names.example/')),
  attempt(() => document.querySelector('a').click()),
]).then(() => document.querySelector('p').textContent = 'done');
</script>"#;

/// Returns the number of datagrams that are sent while a browser with these flags shows the page.
async fn datagrams(network: &Network, engine: Engine, flags: &[&str]) -> u64 {
    let before = network.datagrams();
    let site = Site::start().await;
    let client = launch_on(engine, flags).start().await;
    let url = site.add_page("/", PAGE);
    let answer = client.navigate(&url).await;
    assert!(!answer.is_error, "{}", answer.text);
    let done = json!({ "text": "done" });
    let answer = client.call("browser_wait_for", done).await;
    assert!(!answer.is_error, "{}", answer.text);
    client.end().await;
    network.datagrams() - before
}

// Firefox loads the page too slowly with names that are never resolved.
#[testkit::test(chromium, webkit, network, nightly(webkit))]
async fn with_rules_or_a_proxy_no_name_is_resolved(engine: Engine) {
    let test = "names::with_rules_or_a_proxy_no_name_is_resolved";
    let Some(network) = Network::enter(test, engine) else {
        return;
    };
    let rules = ["--allowed-domains=127.0.0.1"];
    let safe = ["--safe", "--allowed-domains=127.0.0.1"];
    // Nobody listens at the port of the proxy.
    let proxy = [
        "--proxy-server=http://127.0.0.1:9",
        "--proxy-bypass=127.0.0.1",
    ];
    for flags in [&rules[..], &safe, &proxy] {
        let sent = datagrams(&network, engine, flags).await;
        assert_eq!((sent, network.names()), (0, [].into()), "{flags:?}");
    }
    datagrams(&network, engine, &[]).await;
    let names = network.names();
    let page = names.iter().filter(|name| name.ends_with(".names.example"));
    assert!(page.count() > 0, "the name server is used: {names:?}");
}
