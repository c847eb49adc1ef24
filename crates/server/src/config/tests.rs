//! Tests of layers and of the table of options.

mod files;
mod made;
mod refusals;
mod safe;
mod secrets;
mod sessions;
mod shape;

use std::{collections::BTreeSet, fs, path::Path};

use ::engine::codegen::Language;
use proptest::prelude::*;
use serde_json::json;

use super::{layered::Layered, options::OPTIONS, value::*, *};

/// Loads options from a command line, an environment, and the text of a file (JSON, or INI if it is not JSON).
fn load(
    args: &[&str],
    environment: &[(&str, &str)],
    file: Option<&str>,
) -> Result<Config, ConfigError> {
    let folder = tempfile::tempdir().expect("a folder");
    let mut words = vec!["playhouse".to_owned()];
    words.extend(args.iter().map(|word| flags::spell_out((*word).to_owned())));
    if let Some(text) = file {
        let path = folder.path().join("config");
        fs::write(&path, text).expect("writable");
        words.push(format!("--config={}", path.display()));
    }
    let command = clap::Command::new("playhouse").args(flags::arguments());
    let matches = command.try_get_matches_from(words).expect("known flags");
    Config::load(
        &matches,
        &environment.iter().copied().collect(),
        folder.path(),
    )
}

pub(super) fn settings(args: &[&str]) -> Settings {
    load(args, &[], None).expect("valid").settings
}

/// Returns the message of the error.
fn refusal(args: &[&str], file: Option<&str>) -> String {
    load(args, &[], file).expect_err("invalid").to_string()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_highest_layer_with_a_value_wins(
        flag in proptest::option::of(0u64..100_000),
        playhouse in proptest::option::of(0u64..100_000),
        playwright in proptest::option::of(0u64..100_000),
        file in proptest::option::of(0u64..100_000),
    ) {
        let flag_text = flag.map(|ms| format!("--timeout-action={ms}"));
        let args: Vec<_> = flag_text.iter().map(String::as_str).collect();
        let (playhouse_text, playwright_text) = (playhouse.map(|ms| ms.to_string()), playwright.map(|ms| ms.to_string()));
        let mut environment = Vec::new();
        environment.extend(playhouse_text.as_deref().map(|text| ("PLAYHOUSE_TIMEOUT_ACTION", text)));
        environment.extend(playwright_text.as_deref().map(|text| ("PLAYWRIGHT_MCP_TIMEOUT_ACTION", text)));
        let file_text = file.map(|ms| json!({ "timeouts": { "action": ms } }).to_string());
        let config = load(&args, &environment, file_text.as_deref()).expect("valid");
        let expected = flag.or(playhouse).or(playwright).or(file).unwrap_or(5_000);
        prop_assert_eq!(config.settings.timeouts.action.as_millis(), u128::from(expected));
        let source = config.options.timeout_action.source().expect("it has a value").to_string();
        let expected = match (flag, playhouse, playwright, file) {
            (Some(_), ..) => "flag --timeout-action",
            (_, Some(_), ..) => "environment variable PLAYHOUSE_TIMEOUT_ACTION",
            (_, _, Some(_), _) => "environment variable PLAYWRIGHT_MCP_TIMEOUT_ACTION",
            (_, _, _, Some(_)) => "file ",
            _ => "default",
        };
        prop_assert!(source.starts_with(expected), "{source}");
    }

    #[test]
    fn layers_may_be_offered_in_any_order(
        values in proptest::collection::vec((0usize..4, 0u64..10), 0..8).prop_shuffle(),
    ) {
        let source = |rank: usize| match rank {
            0 => layered::Source::Default,
            1 => layered::Source::File("f".into()),
            2 => layered::Source::Environment("E".into()),
            _ => layered::Source::Flag("--f".into()),
        };
        let mut scalar = Layered::default();
        let mut list = Layered::default();
        for (rank, number) in &values {
            scalar.apply(source(*rank), Milliseconds(*number));
            list.apply(source(*rank), CommaList(vec![number.to_string()]));
        }
        let highest = values.iter().map(|(rank, _)| *rank).max();
        let winners: Vec<_> = values.iter().filter(|(rank, _)| Some(*rank) == highest).map(|(_, n)| *n).collect();
        prop_assert_eq!(scalar.value().map(|Milliseconds(ms)| ms), winners.last().copied());
        let winners: Vec<_> = winners.iter().map(u64::to_string).collect();
        prop_assert_eq!(list.or_empty().0, winners);
    }
}

#[test]
fn the_table_is_sound() {
    let mut flags = BTreeSet::new();
    let mut keys = BTreeSet::new();
    for def in OPTIONS {
        assert!(def.doc().ends_with('.'), "{}: {:?}", def.name, def.doc());
        assert!(
            def.spec.flag || def.spec.key.is_some(),
            "{} cannot be given",
            def.name
        );
        assert!(flags.insert(def.long()), "{}", def.name);
        for key in def.keys() {
            assert!(keys.insert(key), "{key}");
        }
    }
    for key in &keys {
        let inner = keys
            .iter()
            .find(|other| other.starts_with(&format!("{key}.")));
        assert_eq!(inner, None, "{key} is both a value and an object");
    }
}

#[test]
fn what_json_shows_json_reads_back() {
    let args = [
        "--viewport-size=640,480",
        "--cdp-header=A: b:c",
        "--cdp-header=Alone",
        "--browser=msedge-beta",
        "--tools=+browser_pdf_save,-browser_close",
        "--block-service-workers",
        "--no-sandbox",
    ];
    let config = load(&args, &[], None).expect("valid");
    let mut again = Options::default();
    for def in OPTIONS {
        if let Some((value, source)) = (def.get)(&config.options) {
            (def.apply_json)(&mut again, source.clone(), &value, Path::new("/")).expect(def.name);
        }
    }
    assert_eq!(again, config.options);
}

#[test]
fn lists_append_and_the_last_scalar_wins() {
    let args = [
        "--cdp-endpoint=x",
        "--cdp-header",
        "A: 1",
        "--cdp-header",
        "b:2:3",
        "a: 4",
    ];
    let cdp = settings(&args).browser.cdp.expect("an endpoint");
    let headers: Vec<_> = cdp
        .headers
        .iter()
        .map(|(n, v)| (n.as_str(), v.as_str()))
        .collect();
    assert_eq!(headers, [("b", "2:3"), ("a", "4")]);
    let settings = settings(&[
        "--codegen=java",
        "--codegen",
        "python",
        "--toolsets=browser",
        "--caps=pdf",
        "--caps=vision,tracing",
    ]);
    assert_eq!(settings.answers.codegen, Language::Python);
    assert_eq!(
        settings.tools.capabilities,
        [Capability::Pdf, Capability::Vision, Capability::Devtools]
    );
}

#[test]
fn switches_have_four_forms() {
    for (args, headless) in [
        (vec!["--headless"], true),
        (vec!["--headless=false"], false),
        (vec!["--no-headless"], false),
        (vec!["--no-headless", "--headless"], true),
    ] {
        assert_eq!(settings(&args).browser.headless, headless, "{args:?}");
    }
    assert_eq!(settings(&["--no-sandbox"]).browser.sandbox, Some(false));
    assert_eq!(settings(&["--sandbox"]).browser.sandbox, Some(true));
    assert!(
        settings(&["--ignoreHttpsErrors"])
            .context
            .options
            .ignore_https_errors
    );
}

#[test]
fn a_switch_of_the_environment_that_is_no_word_is_unset() {
    let display = ("DISPLAY", ":0");
    for (text, headless) in [
        ("true", true),
        ("1", true),
        ("false", false),
        ("0", false),
        ("yes", false),
        ("", false),
    ] {
        let config = load(&[], &[display, ("PLAYWRIGHT_MCP_HEADLESS", text)], None).expect("valid");
        assert_eq!(config.settings.browser.headless, headless, "{text}");
    }
}
