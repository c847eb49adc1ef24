//! Properties 7 to 10 of sessions: what is configured, in whatever way, is what holds.

use super::*;
use ::engine::{BrowserChoice, Channel};
use std::time::Duration;

/// Loads the value from a flag in either spelling, a variable, or a file of either kind.
fn load_as(flag: &str, key: &str, value: &str, way: usize) -> Result<Config, ConfigError> {
    let kebab = format!("--{flag}={value}");
    let mut words = flag.split('-');
    let first = words.next().unwrap_or_default().to_owned();
    let camel = words.fold(first, |name, word| {
        let (initial, rest) = word.split_at(1);
        format!("{name}{}{rest}", initial.to_uppercase())
    });
    let camel = format!("--{camel}={value}");
    let variable = format!("PLAYHOUSE_{}", flag.replace('-', "_").to_uppercase());
    let ini = format!("{key} = {value}\n");
    match way {
        0 => load(&[&kebab], &[], None),
        1 => load(&[&camel], &[], None),
        2 => load(&[], &[(&variable, value)], None),
        _ => load(&[], &[], Some(&ini)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn the_browser_is_the_one_that_was_named(
        name in proptest::sample::select(vec!["chromium", "chrome", "msedge", "firefox", "webkit"]),
        way in 0usize..3,
    ) {
        let loaded = load_as("browser", "browser.type", name, way);
        let channel: Channel = name.parse().expect("a channel");
        prop_assert_eq!(loaded.expect("valid").settings.browser.choice, BrowserChoice::Channel(channel));
    }

    #[test]
    fn headless_mode_is_as_configured(headless: bool, way in 0usize..4) {
        let config = load_as("headless", "browser.headless", &headless.to_string(), way).expect("valid");
        prop_assert_eq!(config.settings.browser.headless, headless);
    }

    #[test]
    fn session_expiry_is_as_configured(timeout in 1u64..1_000_000_000, way in 0usize..4) {
        let config = load_as("session-timeout", "session.timeout", &timeout.to_string(), way).expect("valid");
        prop_assert_eq!(config.settings.sessions.timeout, Duration::from_millis(timeout));
    }

    #[test]
    fn the_session_limit_is_as_configured(most in 1usize..1_000_000, way in 0usize..4) {
        let config = load_as("max-sessions", "session.maxSessions", &most.to_string(), way).expect("valid");
        prop_assert_eq!(config.settings.sessions.max, most);
    }
}
