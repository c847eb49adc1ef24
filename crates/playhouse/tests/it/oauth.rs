//! OAuth 2.1 with a real authorization server, npm's `oidc-provider`: discovery by clients, and rejection of every kind of invalid token.

use crate::auth::{ENDPOINTS, send_request};
use crate::clients::output_of;
use crate::fake_launch;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};
use testkit::{HttpAnswer, HttpServer, Site, clients, eventually, node};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/oauth");

/// The authorization server, which ends with its stdin when this is dropped.
struct Issuer {
    process: Child,
    url: String,
}

impl Drop for Issuer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Issuer {
    #[expect(
        clippy::disallowed_methods,
        reason = "a test runs the authorization server that it tests with"
    )]
    fn start() -> Self {
        let mut process = Command::new(node(FOLDER))
            .arg(format!("{FOLDER}/server.mjs"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("Node starts");
        let mut url = String::new();
        let stdout = process.stdout.take().expect("stdout is piped");
        BufReader::new(stdout).read_line(&mut url).expect("a line");
        let url = url.trim().to_owned();
        Self { process, url }
    }

    /// Starts a server that trusts only this issuer.
    async fn guards(&self) -> HttpServer {
        HttpServer::start_guarded(fake_launch(&["--oauth-issuer", &self.url])).await
    }

    /// Requests a token as clients do.
    async fn token(&self, client: &str, resource: &str, scope: &str) -> String {
        let form = url::form_urlencoded::Serializer::new(String::new())
            .extend_pairs([
                ("grant_type", "client_credentials"),
                ("client_id", client),
                ("client_secret", "secret"),
                ("resource", resource),
                ("scope", scope),
            ])
            .finish();
        let answer = fetch(&format!("{}/token", self.url), Some(form)).await;
        let token = answer["access_token"].as_str();
        token.unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    async fn control(&self, what: &str, body: Value) -> Value {
        fetch(
            &format!("{}/control/{what}", self.url),
            Some(body.to_string()),
        )
        .await
    }

    /// Signs a token with this header and these claims.
    async fn sign(&self, header: Value, claims: Value, by: &str) -> String {
        let body = json!({ "header": header, "claims": claims, "by": by });
        let answer = self.control("sign", body).await;
        answer["token"].as_str().expect("a token").to_owned()
    }

    fn claims(&self, server: &HttpServer) -> Value {
        json!({
            "iss": self.url, "aud": resource(server), "sub": "ada", "client_id": "ada",
            "exp": now() + 300, "iat": now(), "scope": "browser:read browser:act",
        })
    }
}

fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.expect("after 1970").as_secs()
}

fn resource(server: &HttpServer) -> String {
    format!("{}/mcp", server.url())
}

fn with(mut claims: Value, name: &str, value: Value) -> Value {
    claims[name] = value;
    claims
}

async fn fetch(url: &str, body: Option<String>) -> Value {
    let url = url.to_owned();
    let fetched = tokio::task::spawn_blocking(move || {
        let answer = match body {
            Some(body) => ureq::post(&url)
                .header("content-type", "application/x-www-form-urlencoded")
                .send(body),
            None => ureq::get(&url).call(),
        };
        let text = answer.expect(&url).body_mut().read_to_string();
        serde_json::from_str(&text.expect("a body")).expect("JSON")
    });
    fetched.await.expect("fetching does not panic")
}

async fn ping(server: &HttpServer, token: &str) -> HttpAnswer {
    let bearer = format!("Bearer {token}");
    let headers = [("authorization", &*bearer)];
    server.rpc("/message", &headers, "ping", json!({})).await
}

async fn call(server: &HttpServer, token: &str, tool: &str, arguments: Value) -> HttpAnswer {
    let bearer = format!("Bearer {token}");
    let params = json!({ "name": tool, "arguments": arguments });
    let headers = [("authorization", &*bearer)];
    server.rpc("/message", &headers, "tools/call", params).await
}

/// Returns a parameter of the challenge.
fn challenged<'a>(answer: &'a HttpAnswer, name: &str) -> &'a str {
    let challenge = answer.header("www-authenticate");
    let value = challenge.split_once(&format!("{name}=\""));
    value
        .and_then(|(_, rest)| rest.split_once('"'))
        .map_or("", |(value, _)| value)
}

#[testkit::test(node)]
async fn oauth_discovery_starts_from_the_address() {
    let issuer = Issuer::start();
    let server = issuer.guards().await;
    let refused = server.rpc("/mcp", &[], "ping", json!({})).await;
    assert_eq!(refused.status, 401);
    assert_eq!(
        challenged(&refused, "error"),
        "",
        "nothing was wrong: {refused:?}"
    );
    assert_eq!(challenged(&refused, "scope"), "browser:read browser:act");
    let metadata = fetch(challenged(&refused, "resource_metadata"), None).await;
    assert_eq!(metadata["resource"], resource(&server), "{metadata}");
    assert_eq!(
        metadata["authorization_servers"],
        json!([issuer.url]),
        "{metadata}"
    );
    // A client that uses another name of this machine gets that one.
    let number = server.authority().replace("localhost", "127.0.0.1");
    let path = "/.well-known/oauth-protected-resource/sse";
    let other = server.ask("GET", path, &[("host", &*number)], "").await;
    assert_eq!(other.json()["resource"], format!("http://{number}/sse"));
    let root = format!("{}/.well-known/oauth-protected-resource", server.url());
    assert_eq!(fetch(&root, None).await, metadata);
    let found = metadata["authorization_servers"][0]
        .as_str()
        .expect("an issuer");
    let about = fetch(
        &format!("{found}/.well-known/oauth-authorization-server"),
        None,
    )
    .await;
    assert_eq!(about["token_endpoint"], format!("{}/token", issuer.url));
    let scope = challenged(&refused, "scope");
    let token = issuer.token("ada", &resource(&server), scope).await;
    assert_eq!(ping(&server, &token).await.status, 200);
    let bearer = format!("Bearer {token}");
    let server = server.with_header("authorization", &bearer);
    server.begin_session().await;
}

#[testkit::test(clients, node)]
async fn the_typescript_sdk_gets_itself_a_token_and_more_when_it_needs_more() {
    let issuer = Issuer::start();
    let clients = clients();
    let server = issuer.guards().await;
    let script = clients.folder.join("oauth.mjs").display().to_string();
    let url = resource(&server);
    let output = output_of(&clients.node, &[&script, &url]).await;
    assert_eq!(
        output["asked"],
        json!(["browser:read browser:act"]),
        "{output}"
    );
    assert!(output["sessionId"].is_string(), "{output}");
    let output = output_of(&clients.node, &[&*script, &url, "app"]).await;
    let all = "browser:read browser:act browser:admin";
    assert_eq!(
        output["asked"],
        json!(["browser:read browser:act", all]),
        "{output}"
    );
    assert_eq!(output["cookies"], json!([]), "{output}");
}

#[testkit::test(node)]
async fn concurrent_requests_share_one_fetch_of_keys() {
    let issuer = Issuer::start();
    let server = issuer.guards().await;
    let token = issuer
        .token("ada", &resource(&server), "browser:read")
        .await;
    let many = futures_util::future::join_all((0..20).map(|_| ping(&server, &token)));
    assert!(many.await.iter().all(|answer| answer.status == 200));
    let count = issuer.control("count", json!({})).await;
    assert_eq!(count["keyRequests"], 1);
}

#[testkit::test(node)]
async fn every_endpoint_requires_a_token() {
    let issuer = Issuer::start();
    let server = issuer.guards().await;
    let elsewhere = issuer
        .token("ada", "https://elsewhere.example/mcp", "browser:admin")
        .await;
    let bearer = format!("Bearer {elsewhere}");
    let claims = with(issuer.claims(&server), "exp", json!(now() - 600));
    let expired = issuer.sign(json!({}), claims, "issuer").await;
    let late = format!("Bearer {expired}");
    for endpoint in ENDPOINTS {
        let expired = [("authorization", &*late)];
        assert_eq!(
            send_request(&server, endpoint, &expired).await.0,
            401,
            "{endpoint:?}"
        );
        assert_eq!(
            send_request(&server, endpoint, &[]).await.0,
            401,
            "{endpoint:?}"
        );
        let wrong = [("authorization", &*bearer)];
        assert_eq!(
            send_request(&server, endpoint, &wrong).await.0,
            401,
            "{endpoint:?}"
        );
        let malformed = [("authorization", "Bearer")];
        assert_eq!(
            send_request(&server, endpoint, &malformed).await.0,
            400,
            "{endpoint:?}"
        );
    }
    let token = issuer
        .token("ada", &resource(&server), "browser:admin")
        .await;
    let in_the_address = format!("/message?access_token={token}");
    assert_eq!(
        send_request(&server, ("POST", &in_the_address), &[])
            .await
            .0,
        401
    );
    assert_eq!(server.ask("GET", "/health", &[], "").await.status, 200);
}

#[testkit::test(node)]
async fn an_invalid_token_is_refused_with_the_reason() {
    let issuer = Issuer::start();
    let server = issuer.guards().await;
    let claims = issuer.claims(&server);
    let issued = async |name: &str, value: Value| {
        let claims = with(claims.clone(), name, value);
        issuer.sign(json!({}), claims, "issuer").await
    };
    let good = issued("jti", json!("1")).await;
    assert_eq!(ping(&server, &good).await.status, 200);
    #[expect(clippy::cast_precision_loss, reason = "a time is exact")]
    let fractional = issued("exp", json!(now() as f64 + 300.5)).await;
    assert_eq!(ping(&server, &fractional).await.status, 200);
    let (message, signature) = good.rsplit_once('.').expect("a JWT");
    let (_, payload) = message.split_once('.').expect("a JWT");
    // {"alg":"none"}
    let unsigned = format!("eyJhbGciOiJub25lIn0.{payload}.");
    let other = issuer
        .token("ada", "https://elsewhere.example/mcp", "browser:admin")
        .await;
    let unknown = json!({ "kid": "key-9" });
    for (what, token, answer) in [
        (
            "expired",
            issued("exp", json!(now() - 600)).await,
            "has expired",
        ),
        (
            "early",
            issued("nbf", json!(now() + 600)).await,
            "not valid yet",
        ),
        (
            "for ever",
            issued("exp", Value::Null).await,
            "lacks a claim",
        ),
        ("for another server", other, "not for this server"),
        (
            "for a part of it",
            issued("aud", json!(server.url())).await,
            "not for this server",
        ),
        (
            "without an audience",
            issued("aud", Value::Null).await,
            "lacks a claim",
        ),
        (
            "of a stranger",
            issued("iss", json!("https://id.example")).await,
            "not from an issuer",
        ),
        (
            "without an issuer",
            issued("iss", Value::Null).await,
            "lacks a claim",
        ),
        (
            "without a subject",
            token_without_subject(&issuer, &claims).await,
            "lacks a claim",
        ),
        (
            "an ID token",
            issued("nonce", json!("1")).await,
            "not an access token",
        ),
        (
            "an ID token by its type",
            issued("typ", json!("ID")).await,
            "not an access token",
        ),
        (
            "another kind of token",
            issuer
                .sign(json!({ "typ": "logout+jwt" }), claims.clone(), "issuer")
                .await,
            "not an access token",
        ),
        ("unsigned", unsigned, "not a signed JWT"),
        (
            "without a signature",
            format!("{message}."),
            "signature of the access token is wrong",
        ),
        (
            "changed",
            format!("{}.{signature}", changed(message)),
            "signature of the access token is wrong",
        ),
        (
            "signed by a stranger",
            issuer.sign(json!({}), claims.clone(), "stranger").await,
            "signature of the access token is wrong",
        ),
        (
            "of an unknown key",
            issuer.sign(unknown, claims.clone(), "issuer").await,
            "key that its issuer does not have",
        ),
        ("no token", "mysecretkey".to_owned(), "not a signed JWT"),
    ] {
        let refused = ping(&server, &token).await;
        assert_eq!(refused.status, 401, "{what}: {refused:?}");
        assert!(refused.body.contains(answer), "{what}: {}", refused.body);
        assert_eq!(challenged(&refused, "error"), "invalid_token", "{what}");
        assert!(
            !format!("{refused:?}").contains(&token),
            "{what}: {refused:?}"
        );
    }
    // All those needed the keys once or, for the unknown one, possibly twice.
    let count = issuer.control("count", json!({})).await;
    assert!(
        count["keyRequests"].as_u64().is_some_and(|n| n <= 2),
        "{count}"
    );
}

async fn token_without_subject(issuer: &Issuer, claims: &Value) -> String {
    let claims = with(
        with(claims.clone(), "sub", Value::Null),
        "client_id",
        Value::Null,
    );
    issuer.sign(json!({}), claims, "issuer").await
}

/// Replaces the claims of a signed token.
fn changed(message: &str) -> String {
    use base64::Engine as _;
    let base64 = base64::engine::general_purpose::URL_SAFE_NO_PAD;
    let (header, payload) = message.split_once('.').expect("a JWT");
    let claims = base64.decode(payload).expect("base64");
    let claims: Value = serde_json::from_slice(&claims).expect("JSON");
    let claims = with(claims, "scope", json!("browser:admin"));
    format!("{header}.{}", base64.encode(claims.to_string()))
}

#[testkit::test(node)]
async fn a_key_that_was_replaced_is_good_no_more_and_its_successor_is() {
    let issuer = Issuer::start();
    let server = issuer.guards().await;
    let old = issuer
        .token("ada", &resource(&server), "browser:read")
        .await;
    assert_eq!(ping(&server, &old).await.status, 200);
    issuer.control("rotate", json!({})).await;
    let new = issuer
        .token("ada", &resource(&server), "browser:read")
        .await;
    // Keys are not fetched again at once.
    eventually(async || ping(&server, &new).await.status == 200).await;
    assert_eq!(ping(&server, &old).await.status, 401);
}

#[testkit::test(node)]
async fn an_issuer_that_is_silent_is_not_the_clients_fault() {
    let issuer = Issuer::start();
    let server = issuer.guards().await;
    let known = issuer
        .token("ada", &resource(&server), "browser:read")
        .await;
    let late = issuer.guards().await;
    let for_late = issuer.token("ada", &resource(&late), "browser:read").await;
    assert_eq!(ping(&server, &known).await.status, 200);
    issuer.control("silence", json!({})).await;
    assert_eq!(ping(&server, &known).await.status, 200);
    let unknown = ping(&late, &for_late).await;
    assert_eq!(unknown.status, 503, "{unknown:?}");
    assert_eq!(unknown.header("retry-after"), "5");
}

#[testkit::test(node)]
async fn an_insufficient_scope_is_challenged_with_all_scopes() {
    let issuer = Issuer::start();
    let server = issuer.guards().await;
    let token = async |scope: &str| issuer.token("ada", &resource(&server), scope).await;
    let read = token("browser:read").await;
    let listed = call(&server, &read, "list_sessions", json!({})).await;
    assert_eq!(listed.status, 200, "{listed:?}");
    for (tool, arguments, needed) in [
        (
            "navigate",
            json!({ "url": "about:blank" }),
            "browser:read browser:act",
        ),
        ("get_cookies", json!({}), "browser:read browser:admin"),
    ] {
        let refused = call(&server, &read, tool, arguments).await;
        assert_eq!(refused.status, 403, "{refused:?}");
        assert_eq!(challenged(&refused, "error"), "insufficient_scope");
        assert_eq!(challenged(&refused, "scope"), needed);
        assert!(
            challenged(&refused, "resource_metadata").ends_with("/message"),
            "{refused:?}"
        );
    }
    let created = call(
        &server,
        &token("browser:act").await,
        "create_session",
        json!({}),
    )
    .await;
    let id = created.json()["result"]["structuredContent"]["sessionId"].clone();
    assert!(id.is_string(), "{created:?}");
    // A token with more scopes has the same principal, with the same sessions.
    let admin = token("browser:admin browser:read").await;
    let closed = call(&server, &admin, "close_session", json!({ "sessionId": id })).await;
    assert_eq!(
        closed.json()["result"]["structuredContent"]["success"],
        true,
        "{closed:?}"
    );
    let useless = issuer.claims(&server);
    let useless = issuer
        .sign(json!({}), with(useless, "scope", json!("openid")), "issuer")
        .await;
    let refused = ping(&server, &useless).await;
    assert_eq!(refused.status, 403, "{refused:?}");
    assert_eq!(challenged(&refused, "scope"), "openid browser:read");
}

#[testkit::test(node)]
async fn sessions_belong_to_the_subject_of_the_token() {
    let issuer = Issuer::start();
    let server = issuer.guards().await;
    let ada = issuer.token("ada", &resource(&server), "browser:act").await;
    let bob = issuer
        .token("bob", &resource(&server), "browser:admin")
        .await;
    let created = call(&server, &ada, "create_session", json!({}))
        .await
        .json();
    let named = json!({ "sessionId": created["result"]["structuredContent"]["sessionId"] });
    let refused = call(&server, &bob, "close_session", named.clone())
        .await
        .json();
    let code = &refused["result"]["structuredContent"]["errorCode"];
    assert_eq!(code, "SESSION_NOT_FOUND", "{refused}");
    let closed = call(&server, &ada, "close_session", named).await.json();
    assert_eq!(
        closed["result"]["structuredContent"]["success"], true,
        "{closed}"
    );
}

#[testkit::test(clients, node)]
async fn a_web_socket_obeys_scopes_and_expiry_of_its_token() {
    let issuer = Issuer::start();
    let clients = clients();
    let server = issuer.guards().await;
    let script = clients.folder.join("socket.mjs").display().to_string();
    let url = format!("{}/ws", server.url().replace("http", "ws"));
    let token = issuer
        .token("ada", &resource(&server), "browser:read")
        .await;
    let output = output_of(&clients.node, &[&script, &url, &token]).await;
    let code = &output["answer"]["structuredContent"]["errorCode"];
    assert_eq!(code, "INSUFFICIENT_SCOPE", "{output}");
    let claims = with(issuer.claims(&server), "exp", json!(now() - 5));
    let token = issuer.sign(json!({}), claims, "issuer").await;
    let output = output_of(&clients.node, &[&script, &url, &token]).await;
    assert_eq!(
        (&output["code"], &output["reason"]),
        (&json!(1008), &json!("the access token has expired"))
    );
}

#[testkit::test(node)]
async fn a_saved_login_is_readable_only_with_permission_to_save_it() {
    let issuer = Issuer::start();
    let server = issuer.guards().await;
    let admin = issuer
        .token("ada", &resource(&server), "browser:admin")
        .await;
    let read = issuer
        .token("ada", &resource(&server), "browser:read")
        .await;
    let saved = call(&server, &admin, "save_state", json!({ "path": "ada.json" })).await;
    let saved = saved.json()["result"]["structuredContent"].clone();
    assert_eq!(saved["success"], true, "{saved}");
    let ask = async |token: &str, method: &str, params: Value| {
        let bearer = format!("Bearer {token}");
        let headers = [("authorization", &*bearer)];
        server
            .rpc("/message", &headers, method, params)
            .await
            .json()
    };
    // Headers contain credentials too.
    let site = Site::start().await;
    let page = json!({ "url": site.url("/title.html") });
    call(&server, &admin, "browser_navigate", page).await;
    let asked = json!({ "index": 1, "filename": "headers.json" });
    let shown = call(&server, &admin, "browser_network_request", asked).await;
    assert_eq!(shown.json()["result"].get("isError"), None, "{shown:?}");
    let listed = ask(&read, "resources/list", json!({})).await;
    let resources = listed["result"]["resources"].as_array().expect("a list");
    for (file, content) in [("/ada.json", "cookies"), ("/headers.json", "General")] {
        let mut uris = resources.iter().filter_map(|one| one["uri"].as_str());
        let uri = uris.find(|uri| uri.ends_with(file));
        let named = json!({ "uri": uri.expect("the file is listed") });
        let refused = ask(&read, "resources/read", named.clone()).await;
        let message = refused["error"]["message"].as_str().unwrap_or_default();
        assert!(message.contains("browser:admin"), "{refused}");
        let had = ask(&admin, "resources/read", named).await;
        let text = had["result"]["contents"][0]["text"].as_str();
        assert!(text.is_some_and(|text| text.contains(content)), "{had}");
    }
}

#[testkit::test(node)]
async fn a_stream_ends_with_its_token() {
    let issuer = Issuer::start();
    let server = issuer.guards().await;
    // Expired, but within the allowed clock difference.
    let claims = with(issuer.claims(&server), "exp", json!(now() - 5));
    let token = issuer.sign(json!({}), claims, "issuer").await;
    let bearer = format!("Bearer {token}");
    let stream = server
        .ask("GET", "/sse", &[("authorization", &bearer)], "")
        .await;
    assert_eq!(stream.status, 200, "{stream:?}");
    let server = server.with_header("authorization", &bearer);
    let session = server.begin_session().await;
    let headers = [
        ("accept", "text/event-stream"),
        ("mcp-session-id", &*session),
    ];
    let stream = server.ask("GET", "/mcp", &headers, "").await;
    assert_eq!(stream.status, 200, "{stream:?}");
}
