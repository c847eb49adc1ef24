//! Blocked destinations, and the errors for them.

use super::*;
use tokio::time::Duration;

fn origins(allowed: Option<&[&str]>, blocked: &[&str]) -> OriginRules {
    let owned = |texts: &[&str]| {
        texts
            .iter()
            .map(|&text| text.to_owned())
            .collect::<Vec<_>>()
    };
    OriginRules::new(allowed.map(owned).as_deref(), &owned(blocked))
}

fn domains(allowed: &[&str]) -> OriginRules {
    let owned: Vec<_> = allowed.iter().map(|&text| text.to_owned()).collect();
    OriginRules::default().with_domains(Some(&owned), &[])
}

fn private() -> AddressRules {
    AddressRules {
        block_private: true,
        allowed_ports: None,
    }
}

async fn with(origins: OriginRules, addresses: AddressRules) -> Egress {
    start(EgressOptions {
        origins,
        addresses,
        ..EgressOptions::default()
    })
    .await
}

#[tokio::test]
async fn a_blocked_request_is_closed_without_response_and_never_sent() {
    let server = Server::start().await;
    let port = server.address.port();
    let egress = with(
        origins(None, &[&format!("127.0.0.1:{port}")]),
        AddressRules::default(),
    )
    .await;
    for host in [
        "127.0.0.1",
        "2130706433",
        "0x7f.1",
        "0177.1",
        "127.0.0.1.",
        "[::ffff:7f00:1]",
    ] {
        for scheme in ["http", "ws"] {
            assert_eq!(
                get(&egress, &format!("{scheme}://{host}:{port}/")).await,
                None,
                "{host}"
            );
        }
        let target = format!("{host}:{port}");
        let head = Client::connect(&egress)
            .await
            .send("CONNECT", &target, "")
            .await;
        assert_eq!(head, None, "{host}");
        for scheme in ["http", "https", "ws", "wss"] {
            let rule = egress.refusal(&format!("{scheme}://{host}:{port}/x"));
            assert_eq!(rule, Some(format!("127.0.0.1:{port} is blocked")), "{host}");
        }
    }
    // Another name of a blocked address.
    let url = format!("http://localhost:{port}/");
    assert_eq!(get(&egress, &url).await, None);
    assert_eq!(
        egress.refusal(&url),
        Some(format!("127.0.0.1:{port} is blocked"))
    );
    assert_eq!(server.connections(), 0);
    assert_eq!(egress.refusal("data:text/html,x"), None);
}

#[tokio::test]
async fn names_that_resolve_to_private_addresses_are_refused() {
    let server = Server::start().await;
    let port = server.address.port();
    let egress = with(domains(&["*"]), private()).await;
    for (host, rule) in [
        ("127.0.0.1", "127.0.0.1 is a private address"),
        ("[::1]", "[::1] is a private address"),
        (
            "169.254.169.254",
            "169.254.169.254 is the address of a cloud metadata service",
        ),
        ("10.0.0.5", "10.0.0.5 is a private address"),
    ] {
        let url = format!("http://{host}:{port}/");
        assert_eq!(egress.refusal(&url).as_deref(), Some(rule), "known before");
        assert_eq!(get(&egress, &url).await, None);
    }
    let url = format!("http://app.localhost:{port}/");
    assert_eq!(egress.refusal(&url), None, "the name was not resolved yet");
    assert_eq!(get(&egress, &url).await, None);
    let rule = egress.refusal(&url).expect("a rule");
    assert!(rule.starts_with("app.localhost resolves to "), "{rule}");
    assert!(rule.ends_with(", a private address"), "{rule}");
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn literally_allowed_hosts_may_be_private() {
    let server = Server::start().await;
    let port = server.address.port();
    for (allowed, host, served) in [
        ("127.0.0.1", "127.0.0.1", true),
        ("localhost", "localhost", true),
        ("app.localhost", "app.localhost", true),
        ("127.*", "127.0.0.1", false),
        ("*.localhost", "app.localhost", false),
    ] {
        let egress = with(domains(&[allowed]), private()).await;
        let answer = get(&egress, &format!("http://{host}:{port}/")).await;
        assert_eq!(answer.is_some(), served, "{allowed} and {host}");
    }
}

#[tokio::test]
async fn ports_that_are_not_listed_are_refused() {
    let (listed, other) = (Server::start().await, Server::start().await);
    let addresses = AddressRules {
        block_private: false,
        allowed_ports: Some(vec![listed.address.port()]),
    };
    let egress = with(OriginRules::default(), addresses).await;
    assert!(
        get(&egress, &format!("http://{}/", listed.address))
            .await
            .is_some()
    );
    let url = format!("http://{}/", other.address);
    assert_eq!(get(&egress, &url).await, None);
    let head = Client::connect(&egress)
        .await
        .send("CONNECT", &other.address.to_string(), "")
        .await;
    assert_eq!(head, None);
    assert!(
        egress
            .refusal(&url)
            .expect("a rule")
            .contains("none of the allowed ports")
    );
    assert_eq!(other.connections(), 0);
}

#[tokio::test]
async fn a_tunnel_is_checked_by_the_protocol_inside_it() {
    let server = Server::start().await;
    let target = server.address.to_string();
    for (allowed, first, served) in [
        (format!("https://{target}"), b"\x16\x03\x01", true),
        (format!("https://{target}"), b"GET", false),
        (format!("http://{target}"), b"GET", true),
        (format!("http://{target}"), b"\x16\x03\x01", false),
    ] {
        let egress = with(origins(Some(&[&allowed]), &[]), AddressRules::default()).await;
        let before = server.connections();
        let mut client = Client::connect(&egress).await;
        let head = client
            .send("CONNECT", &target, "")
            .await
            .expect("an answer");
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        client.stream.write_all(first).await.expect("open");
        if served {
            client
                .stream
                .write_all(b" / HTTP/1.1\r\n\r\n")
                .await
                .expect("open");
            assert!(read_head(&mut client.stream).await.is_some(), "{allowed}");
        } else {
            assert!(client.is_closed().await, "{allowed}");
        }
        assert_eq!(
            server.connections() - before,
            usize::from(served),
            "{allowed}"
        );
    }
}

#[tokio::test]
async fn throttling_applies_to_existing_connections() {
    let server = Server::start().await;
    let egress = start(EgressOptions {
        throttling: Throttling {
            download: Some(1.0),
            ..Throttling::default()
        },
        ..EgressOptions::default()
    })
    .await;
    let mut client = Client::connect(&egress).await;
    let url = format!("http://{}/big", server.address);
    let answer = client.send("GET", &url, "");
    let slow = tokio::time::timeout(Duration::from_secs(1), answer).await;
    assert!(
        slow.is_err(),
        "a head of an answer is more than a few bytes"
    );
    egress.set_throttling(Throttling::default());
    read_head(&mut client.stream).await.expect("the rest of it");
    client.body(1 << 20).await;
}
