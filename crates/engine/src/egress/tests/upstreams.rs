//! All connections use the upstream proxy, or fail.

use super::*;
use testkit::ProxyKind;

async fn through(server: &str, bypass: Option<&str>, credentials: Option<(&str, &str)>) -> Egress {
    let (username, password) = credentials.unzip();
    let owned = |text: Option<&str>| text.map(str::to_owned);
    let proxy = Proxy::new(server, bypass, owned(username), owned(password));
    start(EgressOptions {
        upstream: Some(proxy.expect("a proxy")),
        ignore_https_errors: true,
        ..EgressOptions::default()
    })
    .await
}

#[tokio::test]
async fn every_kind_of_proxy_is_an_upstream() {
    let server = Server::start().await;
    let port = server.address.port();
    let url = format!("http://site.test:{port}/a");
    let me = Some(("me", "open sesame"));
    for (kind, credentials) in [
        (ProxyKind::Http, None),
        (ProxyKind::Http, me),
        (ProxyKind::Https, me),
        (ProxyKind::Socks5, None),
        (ProxyKind::Socks5, me),
    ] {
        let proxy = testkit::Proxy::start(kind, credentials).await;
        let egress = through(&proxy.address(), None, credentials).await;
        assert_eq!(get(&egress, &url).await.as_deref(), Some("/a "), "{kind:?}");
        let mut client = Client::connect(&egress).await;
        let target = format!("site.test:{port}");
        client
            .send("CONNECT", &target, "")
            .await
            .expect("an answer");
        assert_eq!(client.get("/b").await.as_deref(), Some("/b "), "{kind:?}");
        let mut socket = Client::connect(&egress).await;
        let upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\n";
        let head = socket
            .send("GET", &format!("ws://{target}/socket"), upgrade)
            .await;
        assert!(head.expect("an answer").starts_with("HTTP/1.1 101"));
        let connect = match kind {
            ProxyKind::Socks5 => format!("SOCKS {target}"),
            _ => format!("CONNECT {target} HTTP/1.1"),
        };
        let first = match kind {
            ProxyKind::Socks5 => connect.clone(),
            _ => format!("GET {url} HTTP/1.1"),
        };
        assert_eq!(proxy.seen(), [first, connect.clone(), connect], "{kind:?}");
    }
}

#[tokio::test]
async fn bypassed_hosts_are_connected_directly_except_loopback() {
    let server = Server::start().await;
    let port = server.address.port();
    let proxy = testkit::Proxy::http(None).await;
    let egress = through(&proxy.address(), Some("127.0.0.1"), None).await;
    assert!(
        get(&egress, &format!("http://127.0.0.1:{port}/"))
            .await
            .is_some()
    );
    assert!(proxy.seen().is_empty());
    assert!(
        get(&egress, &format!("http://localhost:{port}/"))
            .await
            .is_some()
    );
    assert_eq!(proxy.seen().len(), 1);
}

#[tokio::test]
async fn a_refusing_upstream_proxy_is_never_bypassed() {
    let server = Server::start().await;
    let url = format!("http://{}/", server.address);
    let target = server.address.to_string();
    let (_held, dead) = dead_address();
    let http = testkit::Proxy::http(Some(("me", "open sesame"))).await;
    let socks = testkit::Proxy::start(ProxyKind::Socks5, Some(("me", "open sesame"))).await;
    let wrong = Some(("me", "open"));
    for (address, credentials, error) in [
        (dead, None, NetError::ProxyConnectionFailed),
        (http.address(), None, NetError::ProxyAuthRequested),
        (http.address(), wrong, NetError::ProxyAuthRequested),
        (socks.address(), None, NetError::SocksConnectionFailed),
        (socks.address(), wrong, NetError::SocksConnectionFailed),
    ] {
        let egress = through(&address, None, credentials).await;
        assert_eq!(get(&egress, &url).await, None);
        assert_eq!(egress.failure(&url).as_ref(), Some(&error), "{address}");
        let head = Client::connect(&egress)
            .await
            .send("CONNECT", &target, "")
            .await;
        assert!(head.expect("an answer").starts_with("HTTP/1.1 502"));
        assert_eq!(egress.failure(&url), Some(error), "{address}");
    }
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn the_certificate_of_a_proxy_is_checked() {
    let proxy = testkit::Proxy::start(ProxyKind::Https, None).await;
    let upstream = Proxy::new(&proxy.address(), None, None, None).expect("a proxy");
    let options = EgressOptions {
        upstream: Some(upstream),
        ..EgressOptions::default()
    };
    let (egress, url) = (start(options).await, "http://site.test/");
    assert_eq!(get(&egress, url).await, None);
    assert_eq!(egress.failure(url), Some(NetError::ProxyCertificateInvalid));
}

#[tokio::test]
async fn the_upstream_proxy_gets_the_checked_address() {
    let server = Server::start().await;
    let port = server.address.port();
    for kind in [ProxyKind::Http, ProxyKind::Socks5] {
        let proxy = testkit::Proxy::start(kind, None).await;
        let allowed = ["localhost".to_owned(), "*.localhost".to_owned()];
        let egress = start(EgressOptions {
            origins: OriginRules::default().with_domains(Some(&allowed), &[]),
            addresses: AddressRules {
                block_private: true,
                allowed_ports: None,
            },
            upstream: Some(Proxy::new(&proxy.address(), None, None, None).expect("a proxy")),
            ..EgressOptions::default()
        })
        .await;
        assert_eq!(
            get(&egress, &format!("http://app.localhost:{port}/")).await,
            None
        );
        assert!(proxy.seen().is_empty());
        assert!(
            get(&egress, &format!("http://localhost:{port}/"))
                .await
                .is_some()
        );
        let [seen] = proxy.seen().try_into().expect("one");
        assert!(seen.contains(&format!(" 127.0.0.1:{port}")), "{seen}");
    }
}
