//! Certificates of the operator: authorities with which servers are verified, and certificates for clients.

use crate::{launch, launch_on};
use serde_json::json;
use std::fmt::Display;
use std::fs;
use std::path::Path;
use testkit::{
    CallResult, Client, ClientCertificates, Engine, Launch, NO_CERTIFICATE, TlsSite,
    WITH_CERTIFICATE, tls_files,
};

const AUTHORITY_UNKNOWN: &str = "net::ERR_CERT_AUTHORITY_INVALID";

/// A server whose clients get a certificate on an origin.
fn with_client_certificate(launch: Launch, folder: &Path, origin: &str) -> Launch {
    let [authority, certificate, key] = TlsSite::files();
    let config = json!({ "browser": {
        "caCert": authority,
        "contextOptions": { "clientCertificates": [
            { "origin": origin, "certPath": certificate, "keyPath": key },
        ] },
    } });
    let path = folder.join("certificates.json");
    fs::write(&path, config.to_string()).expect("a file");
    launch.args(["--config", &path.display().to_string()])
}

/// Opens the page of a site.
async fn visit(client: &Client, origin: impl Display) -> CallResult {
    let url = json!({ "url": format!("{origin}/") });
    client.call("browser_navigate", url).await
}

#[testkit::test(chromium, firefox, webkit)]
async fn servers_of_an_own_authority_are_trusted_and_others_are_not(engine: Engine) {
    let site = TlsSite::start(ClientCertificates::None).await;
    let [authority, ..] = TlsSite::files();
    let flag = format!("--ca-cert={}", authority.display());
    let client = launch_on(engine, &[&flag]).start().await;
    let page = visit(&client, site.origin()).await;
    assert!(page.text.contains(NO_CERTIFICATE), "{}", page.text);
    let evaluated =
        json!({ "function": "async () => [isSecureContext, (await fetch('/data')).status]" });
    let page = client.call("browser_evaluate", evaluated).await;
    assert!(page.text.contains("true"), "{}", page.text);
    assert!(site.requests().contains(&"GET /data HTTP/1.1".to_owned()));
    let wrong_name = visit(&client, site.other_origin()).await;
    let reason = "net::ERR_CERT_COMMON_NAME_INVALID";
    assert!(
        wrong_name.is_error && wrong_name.text.contains(reason),
        "{}",
        wrong_name.text
    );

    let (certificate, key) = tls_files();
    let other = launch(&[]).args([
        format!("--tls-cert={}", certificate.display()),
        format!("--tls-key={}", key.display()),
        "--allowed-hosts=localhost".to_owned(),
    ]);
    let other = testkit::HttpServer::start(other).await;
    let self_signed = visit(&client, other.url()).await;
    assert!(
        self_signed.is_error && self_signed.text.contains(AUTHORITY_UNKNOWN),
        "{}",
        self_signed.text
    );
    client.end().await;
}

#[testkit::test(chromium)]
async fn an_authority_that_is_not_named_is_not_trusted() {
    let site = TlsSite::start(ClientCertificates::None).await;
    let client = launch(&[]).start().await;
    let page = visit(&client, site.origin()).await;
    assert!(
        page.is_error && page.text.contains(AUTHORITY_UNKNOWN),
        "{}",
        page.text
    );
    assert!(site.requests().is_empty());
    client.end().await;
}

#[testkit::test(chromium)]
async fn the_authorities_of_the_system_are_trusted_also_with_a_profile() {
    let site = TlsSite::start(ClientCertificates::None).await;
    let [authority, ..] = TlsSite::files();
    let profile = tempfile::tempdir().expect("a folder");
    let profile = format!("--user-data-dir={}", profile.path().display());
    let client = Launch::new(env!("CARGO_BIN_EXE_playhouse"))
        .args(["--headless", "--use-system-ca", &profile])
        .env("SSL_CERT_FILE", &authority.display().to_string());
    let client = client.start().await;
    let page = visit(&client, site.origin()).await;
    assert!(page.text.contains(NO_CERTIFICATE), "{}", page.text);
    client.end().await;
}

#[testkit::test(firefox)]
async fn a_profile_of_firefox_refuses_certificates() {
    let [authority, ..] = TlsSite::files();
    let authority = format!("--ca-cert={}", authority.display());
    let profile = tempfile::tempdir().expect("a folder");
    let profile = format!("--user-data-dir={}", profile.path().display());
    let client = Launch::new(env!("CARGO_BIN_EXE_playhouse"))
        .args(["--headless", &authority, &profile])
        .args(Engine::Firefox.args().iter().copied());
    let client = client.start().await;
    let page = visit(&client, "https://localhost:9").await;
    assert!(
        page.is_error && page.text.contains("--isolated"),
        "{}",
        page.text
    );
    client.end().await;
}

#[testkit::test(chromium, firefox, webkit)]
async fn a_client_certificate_is_sent_to_its_origin_only(engine: Engine) {
    let site = TlsSite::start(ClientCertificates::Required).await;
    let other = TlsSite::start(ClientCertificates::Requested).await;
    let folder = tempfile::tempdir().expect("a folder");
    let client = with_client_certificate(launch_on(engine, &[]), folder.path(), &site.origin());
    let client = client.start().await;
    let page = visit(&client, site.origin()).await;
    assert!(page.text.contains(WITH_CERTIFICATE), "{}", page.text);
    let page = visit(&client, other.origin()).await;
    assert!(page.text.contains(NO_CERTIFICATE), "{}", page.text);
    client.end().await;

    let client = with_client_certificate(launch_on(engine, &[]), folder.path(), &other.origin());
    let client = client.start().await;
    let page = visit(&client, site.origin()).await;
    let reason = "net::ERR_BAD_SSL_CLIENT_AUTH_CERT";
    assert!(page.is_error && page.text.contains(reason), "{}", page.text);
    assert!(!site.requests().is_empty());
    client.end().await;
}

#[testkit::test(chromium)]
async fn certificates_that_cannot_be_used_are_reported_at_start() {
    let folder = tempfile::tempdir().expect("a folder");
    let nonsense = folder.path().join("nonsense.pem");
    fs::write(&nonsense, "no certificate").expect("a file");
    let missing = folder.path().join("missing.pem");
    for (path, answer) in [
        (&missing, "--ca-cert: cannot read"),
        (&nonsense, "no certificate in PEM"),
    ] {
        let flag = format!("--ca-cert={}", path.display());
        let mut process = launch(&[&flag]).spawn();
        assert_eq!(process.exit_status().await.code(), Some(1));
        let errors = process.whole_stderr().await;
        assert!(errors.contains(answer), "{errors}");
    }
    let [_, certificate, key] = TlsSite::files();
    for (given, answer) in [
        (json!({ "pfxPath": "both.pfx" }), "openssl pkcs12"),
        (json!({ "passphrase": "x" }), "openssl pkey"),
        (
            json!({ "certPath": certificate }),
            "certPath and keyPath are required",
        ),
        (json!({ "certPath": key, "keyPath": key }), "cannot be used"),
    ] {
        let mut given = given;
        given["origin"] = "https://localhost:8443".into();
        let config = json!({ "browser": { "contextOptions": { "clientCertificates": [given] } } });
        let path = folder.path().join("config.json");
        fs::write(&path, config.to_string()).expect("a file");
        let mut process = launch(&["--config", &path.display().to_string()]).spawn();
        assert_eq!(process.exit_status().await.code(), Some(1));
        let errors = process.whole_stderr().await;
        assert!(errors.contains(answer), "{errors}");
    }
}
