//! HTTPS and WebSockets over TLS with a configured certificate.

use crate::launch;
use std::path::Path;
use testkit::{Connection, HttpServer, tls_files};

const HEALTH: &str = "GET /health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";

fn args(certificate: &Path, key: &Path) -> [String; 3] {
    [
        format!("--tls-cert={}", certificate.display()),
        format!("--tls-key={}", key.display()),
        "--allowed-hosts=localhost".to_owned(),
    ]
}

#[testkit::test(chromium)]
async fn a_server_with_a_certificate_accepts_only_tls() {
    let (certificate, key) = tls_files();
    let mut server = HttpServer::start(launch(&[]).args(args(&certificate, &key))).await;
    assert!(server.url().starts_with("https://localhost:"));
    // A silent client, one that does not use TLS, and one that disconnects during the handshake.
    let mut silent = server.connection().await;
    let mut plain = server.connection().await;
    plain.send(HEALTH).await;
    assert!(!plain.rest().await.starts_with(b"HTTP"));
    let mut half = server.connection().await;
    half.send(b"\x16\x03\x01\x02\x00\x01").await;
    drop(half);
    let mut secure = Connection::open_tls(server.authority()).await.expect("TLS");
    secure.send(HEALTH).await;
    let health = secure.answer().await.expect("an answer");
    assert_eq!(
        (health.status, &health.json()["status"]),
        (200, &"ok".into())
    );
    // A stalled client does not delay the shutdown.
    server.terminate();
    assert_eq!(server.exit_status().await.code(), Some(0));
    assert!(silent.rest().await.is_empty());
}

#[testkit::test(chromium)]
async fn an_invalid_certificate_is_reported_at_start() {
    let (certificate, key) = tls_files();
    let folder = tempfile::tempdir().expect("a folder");
    let nonsense = folder.path().join("nonsense.pem");
    std::fs::write(&nonsense, "no certificate").expect("a file");
    let missing = folder.path().join("missing.pem");
    for (certificate, key, answer) in [
        (&missing, &key, "missing.pem as PEM"),
        (&certificate, &missing, "missing.pem as PEM"),
        (&nonsense, &key, "nonsense.pem as PEM"),
        (&certificate, &nonsense, "nonsense.pem as PEM"),
        // The two files are swapped.
        (&key, &certificate, "as PEM"),
    ] {
        let mut process = launch(&["--port=0"]).args(args(certificate, key)).spawn();
        let status = process.exit_status().await;
        let errors = process.whole_stderr().await;
        assert_eq!(status.code(), Some(1), "{errors}");
        assert!(errors.starts_with("error: "), "{errors}");
        assert!(errors.contains(answer), "{errors}");
    }
}
