//! Tests of the other shape of a configuration file: `pool`, `session`, `security`, `logging`, with the example of its
//! specification.

use super::*;
use crate::config::settings::Timeouts;
use std::time::Duration;

const EXAMPLE: &str = include_str!("shape.json");

#[test]
fn the_example_of_the_specification_works_as_it_stands() {
    let settings = load(&[], &[], Some(EXAMPLE)).expect("valid").settings;
    assert_eq!(
        settings.server,
        ("playwright-mcp-server".to_owned(), "1.0.0".to_owned())
    );
    assert!(settings.browser.headless && settings.browser.isolated);
    let args = ["--no-sandbox", "--disable-dev-shm-usage"];
    assert_eq!(settings.browser.args, args);
    let pool = PoolSettings {
        min: 2,
        max: 10,
        idle_timeout: Some(Duration::from_secs(300)),
    };
    assert_eq!(settings.pool, pool);
    assert_eq!(settings.timeouts.action, Duration::from_secs(30));
    assert_eq!(settings.timeouts.navigation, Duration::from_secs(30));
    assert_eq!(settings.sessions.timeout, Duration::from_secs(300));
    assert_eq!(settings.sessions.max, 50);
    let origins = &settings.context.options.origins;
    assert!(origins.allow("https://www.example.com:8443/"));
    assert!(!origins.allow("https://example.org/"));
    assert_eq!(settings.security.max_screenshot, Some(10_485_760));
    assert_eq!(settings.tools.forbidden, [Risk::Evaluation]);
    let log = LogSettings {
        level: LogLevel::Info,
        format: LogFormat::Json,
        file: None,
    };
    assert_eq!(settings.log, log);
    assert_eq!(settings.notices, [""; 0]);
}

#[test]
fn tools_of_the_session_toolset_have_30_seconds_to_navigate_unless_a_timeout_is_set() {
    let timeouts = |args: &[&str], file| load(args, &[], file).expect("valid").settings.timeouts;
    let both = |timeouts: Timeouts| {
        let Timeouts {
            navigation,
            navigation_of_sessions,
            ..
        } = timeouts;
        (navigation.as_secs(), navigation_of_sessions.as_secs())
    };
    assert_eq!(both(timeouts(&[], None)), (60, 30));
    assert_eq!(
        both(timeouts(&["--timeout-navigation", "60000"], None)),
        (60, 60)
    );
    let file = r#"{ "timeouts": { "navigation": 45000 } }"#;
    assert_eq!(both(timeouts(&[], Some(file))), (45, 45));
}

#[test]
fn both_shapes_may_stand_in_one_file_and_the_exact_word_counts() {
    let file = r#"{
        "session": { "defaultTimeout": 1000, "persistentSessions": true },
        "timeouts": { "action": 2000 },
        "browser": { "launchOptions": { "headless": true } },
        "network": { "blockedOrigins": ["http://a.org"] },
        "security": { "blockedDomains": ["b.org"], "allowedSchemes": ["chrome://", "FILE:"] }
    }"#;
    let settings = load(&["--isolated"], &[], Some(file))
        .expect("valid")
        .settings;
    assert!(settings.browser.isolated);
    assert_eq!(settings.timeouts.action, Duration::from_secs(2));
    assert_eq!(settings.timeouts.navigation, Duration::from_secs(1));
    assert_eq!(
        settings.timeouts.navigation_of_sessions,
        Duration::from_secs(1)
    );
    let origins = &settings.browser.origins;
    assert!(!origins.allow("http://a.org/") && !origins.allow("http://b.org:8080/"));
    assert!(origins.allow("http://a.org:8080/"));
    assert_eq!(settings.security.schemes, ["chrome", "file"]);
}

#[test]
fn a_key_of_that_shape_that_is_not_there_is_refused_with_the_nearest() {
    for (file, nearest) in [
        (r#"{"pool": {"minBrowser": 1}}"#, "pool.minBrowsers"),
        (r#"{"session": {"maxSession": 1}}"#, "session.maxSessions"),
        (
            r#"{"security": {"allowedDomain": []}}"#,
            "security.allowedDomains",
        ),
        (r#"{"loging": {"level": "info"}}"#, "logging"),
        (r#"{"maxBrowsers": 3}"#, "pool.maxBrowsers"),
    ] {
        let message = refusal(&[], Some(file));
        assert!(
            message.ends_with(&format!("Did you mean '{nearest}'?")),
            "{message}"
        );
    }
    let message = refusal(&[], Some(r#"{"pool": {"maxBrowsers": 0}}"#));
    assert!(
        message.ends_with(": 0. Expected a whole number of at least 1"),
        "{message}"
    );
}

#[test]
fn a_port_implies_http_unless_a_stronger_layer_selects_stdio() {
    let port = |args: &[&str], file: &str| {
        let settings = load(args, &[], Some(file)).expect("valid").settings;
        settings.http.map(|http| http.port)
    };
    assert_eq!(port(&[], "{}"), None);
    assert_eq!(port(&["--port=0"], "{}"), Some(0));
    assert_eq!(port(&[], r#"{"port": 3000}"#), Some(3000));
    assert_eq!(
        port(&[], r#"{"transport": "http", "server": {"port": 1}}"#),
        Some(1)
    );
    assert_eq!(port(&[], r#"{"transport": "stdio", "port": 3000}"#), None);
    assert_eq!(port(&["--port=1"], r#"{"transport": "stdio"}"#), Some(1));
    let message = refusal(&[], Some(r#"{"transport": "websocket"}"#));
    assert!(message.contains("needs a port"), "{message}");
    let message = refusal(&["--port=1", "--tls-cert=x"], None);
    assert!(message.contains("belong together"), "{message}");
    let message = refusal(&["--port=65536"], None);
    assert!(message.contains("up to 65535"), "{message}");
}

#[test]
fn reports_go_to_a_file_when_one_is_named() {
    let file = |args: &[&str], text: &str| {
        let settings = load(args, &[], Some(text)).expect("valid").settings;
        settings.log.file.map(|path| {
            path.file_name()
                .map(|name| name.to_string_lossy().into_owned())
        })
    };
    let named = |name: &str| Some(Some(name.to_owned()));
    assert_eq!(file(&["--log-file=a.log"], "{}"), named("a.log"));
    assert_eq!(file(&["--logFile=a.log"], EXAMPLE), named("a.log"));
    let text = r#"{"logging": {"destination": "file", "file": "b.log"}}"#;
    assert_eq!(file(&[], text), named("b.log"));
    let text = r#"{"logging": {"destination": "stderr", "file": "b.log"}}"#;
    assert_eq!(file(&[], text), None);
    let message = refusal(&[], Some(r#"{"logging": {"destination": "file"}}"#));
    assert_eq!(
        message,
        "logging.destination is \"file\", and logging.file names none."
    );
}

#[test]
fn flags_have_an_older_name() {
    let settings = settings(&[
        "--sessionTimeout=1000",
        "--maxSessions",
        "3",
        "--allowedDomains=a.org,*.b.org",
    ]);
    assert_eq!(settings.sessions.timeout, Duration::from_secs(1));
    assert_eq!(settings.sessions.max, 3);
    assert!(settings.context.options.origins.allow("http://x.b.org/"));
    assert!(!settings.context.options.origins.allow("http://c.org/"));
}

#[test]
fn addresses_and_ports_are_rules_of_browser_and_context() {
    let flags = ["--block-private-addresses", "--allowed-ports=80,443"];
    let settings = settings(&flags);
    let rules = &settings.context.options.addresses;
    assert!(rules.block_private && rules.allowed_ports == Some(vec![80, 443]));
    assert_eq!(*rules, settings.browser.addresses);
    for (file, ports) in [("[8080]", Some(vec![8080])), ("[]", Some(vec![]))] {
        let file = format!(r#"{{"security": {{"allowedPorts": {file}}}}}"#);
        let settings = load(&[], &[], Some(&file)).expect("valid").settings;
        assert_eq!(settings.context.options.addresses.allowed_ports, ports);
    }
    for port in ["0", "65536", "http"] {
        let message = refusal(&["--allowed-ports", port], None);
        assert!(message.contains("ports between 1 and 65535"), "{message}");
    }
}

#[test]
fn a_proxy_that_cannot_be_one_is_refused_at_start() {
    for server in ["", "http://", "nonsense://x", "http://proxy:99999"] {
        let message = refusal(&["--proxy-server", server], None);
        let start = format!("The proxy server {server:?} ");
        assert!(message.starts_with(&start), "{message}");
    }
    let file =
        r#"{"browser": {"contextOptions": {"proxy": {"server": "http://p:1", "password": "w"}}}}"#;
    let message = refusal(&[], Some(file));
    assert!(
        message.contains("has a password and no user name"),
        "{message}"
    );
}
