use super::*;

const TOOLS: [Subject; 4] = [
    tool("browser_click", false),
    tool("browser_snapshot", true),
    tool("browser_navigate", false),
    tool("get_text", true),
];

const fn tool(name: &'static str, is_read_only: bool) -> Subject {
    Subject { name, is_read_only }
}

fn policy(text: &str) -> Policy {
    Policy::parse(text, &TOOLS).unwrap_or_else(|error| panic!("{error:?}"))
}

#[test]
fn the_first_rule_that_fits_decides() {
    let policy = policy(
        r#"// Mine
        {
            "default": "ask",
            "rules": [
                { "id": "bank", "origins": ["https://*.bank.example"], "action": "deny" },
                { "tools": ["read-only"], "action": "allow" },
                { "tools": ["browser_*"], "origins": ["http://localhost:*", "shop.example"], "action": "allow" },
                { "tools": ["browser_click"], "action": "deny", }, // a trailing comma
            ],
        }"#,
    );
    let [click, snapshot, navigate, text] = TOOLS;
    for (tool, url, action, rule) in [
        (
            snapshot,
            Some("https://www.bank.example/a"),
            Action::Deny,
            "rule 1 \"bank\" (line 5)",
        ),
        (
            snapshot,
            Some("http://www.bank.example/a"),
            Action::Allow,
            "rule 2 (line 6)",
        ),
        (text, Some("about:blank"), Action::Allow, "rule 2 (line 6)"),
        (text, None, Action::Allow, "rule 2 (line 6)"),
        (Subject::RESOURCE, None, Action::Allow, "rule 2 (line 6)"),
        (
            click,
            Some("http://localhost:3000/"),
            Action::Allow,
            "rule 3 (line 7)",
        ),
        (
            click,
            Some("https://shop.example/x"),
            Action::Allow,
            "rule 3 (line 7)",
        ),
        (
            click,
            Some("https://shop.example:8443/x"),
            Action::Deny,
            "rule 4 (line 8)",
        ),
        (
            click,
            Some("https://shop.example.evil.org/"),
            Action::Deny,
            "rule 4 (line 8)",
        ),
        (
            click,
            Some("blob:https://shop.example/1-2"),
            Action::Allow,
            "rule 3 (line 7)",
        ),
        (
            click,
            Some("data:text/html,https://shop.example"),
            Action::Deny,
            "rule 4 (line 8)",
        ),
        (
            click,
            Some("view-source:https://www.bank.example/"),
            Action::Deny,
            "rule 1 \"bank\" (line 5)",
        ),
        (
            navigate,
            Some("https://elsewhere.example/"),
            Action::Ask,
            "the default",
        ),
    ] {
        let ruling = policy.judge(tool, url);
        assert_eq!(
            (ruling.action, &*ruling.to_string()),
            (action, rule),
            "{tool:?} {url:?}"
        );
    }
    assert!(policy.may_ask(navigate));
}

#[test]
fn a_tool_that_no_rule_lets_pass_is_denied_everywhere() {
    let [click, snapshot, navigate, text] = TOOLS;
    let policy = policy(
        r#"{ "rules": [
            { "tools": ["browser_click"], "origins": ["a.org"], "action": "deny" },
            { "tools": ["browser_click"], "action": "allow" },
            { "tools": ["browser_snapshot"], "origins": ["a.org"], "action": "deny" },
            { "tools": ["get_text"], "origins": ["a.org"], "action": "ask" },
            { "tools": ["*"], "action": "deny" },
            { "action": "allow" }
        ] }"#,
    );
    let denied = |tool| {
        policy
            .denies_everywhere(tool)
            .map(|ruling| ruling.to_string())
    };
    assert_eq!(denied(click), None);
    assert_eq!(denied(text), None);
    assert_eq!(denied(snapshot).as_deref(), Some("rule 5 (line 6)"));
    assert_eq!(denied(navigate).as_deref(), Some("rule 5 (line 6)"));
    // The default is to deny.
    let nothing = self::policy("{}");
    assert_eq!(
        nothing
            .denies_everywhere(click)
            .map(|ruling| ruling.to_string())
            .as_deref(),
        Some("the default")
    );
    assert!(!nothing.may_ask(click));
}

#[test]
fn a_mistake_is_named_with_its_line() {
    for (text, line, reason) in [
        ("[]", 1, "expected an object"),
        ("", 1, "expected an object"),
        (
            "{\n\"default\": \"maybe\" }",
            2,
            "unknown action \"maybe\". Known are: allow, ask, deny",
        ),
        (
            "{\n\n\"rule\": [] }",
            3,
            "unknown key \"rule\". Did you mean \"rules\"? Known are: default, rules",
        ),
        ("{ \"rules\": {} }", 1, "expected a list"),
        ("{ \"rules\": [\n1] }", 2, "expected a rule: an object"),
        (
            "{ \"rules\": [\n{ \"tools\": [\"get_text\"] }] }",
            2,
            "a rule needs an \"action\": allow, ask, deny",
        ),
        (
            "{ \"default\": \"deny\",\n\"default\": \"allow\" }",
            2,
            "\"default\" stands here a second time",
        ),
        (
            "{ \"rules\": [{ \"tool\": [] }] }",
            1,
            "unknown key \"tool\". Did you mean \"tools\"? Known are: id, tools, origins, action, reason",
        ),
        (
            "{ \"rules\": [{ \"action\": \"deny\", \"tools\":\n[] }] }",
            2,
            "the list is empty: leave it out for all, or name some",
        ),
        (
            "{ \"rules\": [{ \"action\": \"deny\", \"tools\": [\n\"browser_clik\"] }] }",
            2,
            "unknown tool \"browser_clik\". Did you mean \"browser_click\"?",
        ),
        (
            "{ \"rules\": [{ \"action\": \"deny\", \"tools\": [\"puppeteer_*\"] }] }",
            1,
            "no tool has a name like \"puppeteer_*\"",
        ),
        (
            "{ \"rules\": [{ \"action\": \"deny\", \"tools\": [true] }] }",
            1,
            "expected a string",
        ),
    ] {
        let found = Policy::parse(text, &TOOLS);
        assert_eq!(found, Err((line, reason.to_owned())), "{text}");
    }
    let (line, reason) = Policy::parse("{\n\"default\": allow }", &TOOLS).expect_err("no JSON");
    assert_eq!(line, 2, "{reason}");
}

#[test]
fn policy_origins_have_the_syntax_of_network_rules() {
    let with = |origin: &str| {
        let text = format!(r#"{{ "rules": [{{ "action": "deny", "origins": ["{origin}"] }}] }}"#);
        Policy::parse(&text, &TOOLS).map_err(|(_, reason)| reason)
    };
    for origin in [
        "https://example.com",
        "example.com",
        "*.example.com",
        "*.example.com:8443",
        "http://localhost:*",
        "*",
        "*://example.com",
        "[::1]:3000",
        "127.0.0.1:8080",
        "http://*",
    ] {
        assert!(with(origin).is_ok(), "{origin}");
    }
    for origin in [
        "",
        "https://",
        "https://example.com/",
        "https://example.com/path",
        "file:///x",
        "ftp://example.com",
        "a b.org",
        "user@example.com",
        "example.com:port",
        "example.com?x",
        "bücher.example",
    ] {
        let reason = with(origin).expect_err(origin);
        assert!(
            reason.starts_with(&format!("\"{origin}\" is not a valid origin")),
            "{reason}"
        );
    }
}
