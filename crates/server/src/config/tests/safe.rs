//! Safe mode.

use super::*;

const DOMAINS: &str = "--allowed-domains=example.com";

/// Returns the flags that the help of safe mode lists.
fn listed() -> Vec<String> {
    let help = safe_help();
    let flags = help.lines().filter(|line| line.starts_with("  --"));
    flags.map(|line| line.trim().to_owned()).collect()
}

#[test]
fn safe_mode_is_the_flags_that_its_help_lists() {
    let listed = listed();
    assert!(listed.len() >= 6, "{listed:?}");
    let mut flags: Vec<_> = listed.iter().map(String::as_str).collect();
    flags.push(DOMAINS);
    // Each load has a folder of its own, and sources are not compared.
    let comparable = |flags: &[&str]| {
        let mut settings = settings(flags);
        settings.merged = json!(null);
        settings.files.cwd = std::path::PathBuf::new();
        settings
    };
    assert_eq!(comparable(&["--safe", DOMAINS]), comparable(&flags));
    // The flag must change the settings.
    let unlike = |flag: &str| comparable(&[DOMAINS, flag]) != comparable(&[DOMAINS]);
    for flag in &listed {
        let is_default = flag == "--no-allow-unrestricted-file-access";
        assert!(is_default || unlike(flag), "{flag}");
    }
}

#[test]
fn settings_that_contradict_safe_mode_are_refused_in_each_source() {
    for flag in listed() {
        let opposite = match flag.strip_prefix("--no-") {
            Some(name) => format!("--{name}"),
            None => flag.replacen("--", "--no-", 1),
        };
        let message = refusal(&["--safe", DOMAINS, &opposite], None);
        let name = opposite.replace("--no-", "--");
        assert_eq!(
            message,
            format!("--safe and {name} contradict each other: leave one of them out")
        );
    }
    let file = r#"{ "security": { "enableScriptEvaluation": true } }"#;
    let message = refusal(&["--safe", DOMAINS], Some(file));
    assert!(
        message.starts_with("--safe and security.enableScriptEvaluation contradict"),
        "{message}"
    );
    let file = r#"{ "safe": true, "security": { "allowedDomains": ["example.com"] } }"#;
    let message = refusal(&["--allowed-schemes=file"], Some(file));
    assert!(
        message.starts_with("safe and --allowed-schemes contradict"),
        "{message}"
    );
    assert!(load(&[], &[], Some(file)).is_ok());
    let environment = [
        ("PLAYHOUSE_SAFE", "true"),
        ("PLAYHOUSE_CLIENT_PATHS", "true"),
    ];
    let message = load(&[DOMAINS], &environment, None).expect_err("a contradiction");
    assert!(
        message
            .to_string()
            .starts_with("PLAYHOUSE_SAFE and PLAYHOUSE_CLIENT_PATHS contradict"),
        "{message}"
    );
}

#[test]
fn safe_mode_has_domains_and_not_all_of_them() {
    let message = refusal(&["--safe"], None);
    assert!(
        message.starts_with("--safe needs --allowed-domains"),
        "{message}"
    );
    for any in [
        "--allowed-domains=*",
        "--allowed-domains=example.com,*.*",
        "--allowed-origins=*",
        "--allowed-origins=http://*:*",
    ] {
        let message = refusal(&["--safe", DOMAINS, any], None);
        assert!(
            message.contains("which allows any domain"),
            "{any}: {message}"
        );
    }
    for some in [
        "--allowed-domains=*.example.com",
        "--allowed-origins=http://[::1]:*",
    ] {
        assert!(
            load(&["--safe", DOMAINS, some], &[], None).is_ok(),
            "{some}"
        );
    }
}
