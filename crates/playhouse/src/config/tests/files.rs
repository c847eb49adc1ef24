//! Configuration files: the two kinds, and what is wrong with them.

use super::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn ini_and_json_say_the_same(chosen in proptest::sample::subsequence(SPELLINGS, 0..=SPELLINGS.len())) {
        let ini: String = chosen.iter().map(|(key, text, _)| text.iter().map(|text| format!("{key} = {text}\n")).collect::<String>()).collect();
        let mut tree = serde_json::Map::new();
        for (key, _, value) in &chosen {
            let mut map = &mut tree;
            let (path, last) = key.trim_end_matches("[]").rsplit_once('.').unwrap_or(("", key.trim_end_matches("[]")));
            for step in path.split('.').filter(|step| !step.is_empty()) {
                map = map.entry(step).or_insert_with(|| json!({})).as_object_mut().expect("an object");
            }
            map.insert(last.to_owned(), serde_json::from_str(value).expect("JSON"));
        }
        let json = Value::Object(tree).to_string();
        let merged = |text: &str| load(&[], &[], Some(text)).expect("valid").settings.merged;
        prop_assert_eq!(merged(&ini), merged(&json));
    }
}

/// A key, its lines in INI, its value in JSON.
const SPELLINGS: &[(&str, &[&str], &str)] = &[
    ("browser.launchOptions.headless", &["false"], "false"),
    ("browser.isolated", &["true"], "true"),
    (
        "browser.contextOptions.viewport",
        &["640x480"],
        r#"{"width":640,"height":480}"#,
    ),
    ("browser.contextOptions.deviceScaleFactor", &["2"], "2"),
    ("browser.contextOptions.locale", &["de-DE"], r#""de-DE""#),
    (
        "browser.contextOptions.geolocation",
        &[r#"{"latitude":1.5,"longitude":2}"#],
        r#"{"latitude":1.5,"longitude":2}"#,
    ),
    (
        "browser.contextOptions.serviceWorkers",
        &["block"],
        r#""block""#,
    ),
    (
        "browser.launchOptions.args[]",
        &["--a=1", "--b"],
        r#"["--a=1","--b"]"#,
    ),
    (
        "browser.launchOptions.proxy.server",
        &["http://proxy:3128"],
        r#""http://proxy:3128""#,
    ),
    (
        "browser.contextOptions.permissions",
        &["geolocation,midi"],
        r#"["geolocation","midi"]"#,
    ),
    ("timeouts.navigation", &["1234"], "1234"),
    ("capabilities", &["pdf,vision"], r#"["pdf","vision"]"#),
    ("toolsets", &["browser"], r#"["browser"]"#),
    ("console.level", &["error"], r#""error""#),
    ("outputDir", &[r"C:\out put"], r#""C:\\out put""#),
];

#[test]
fn a_file_that_names_what_is_not_there_is_refused_with_the_nearest() {
    let nearest = |file: &str| {
        let message = refusal(&[], Some(file));
        let lines: Vec<_> = message.lines().collect();
        assert!(lines[0].starts_with("unknown key '"), "{message}");
        lines.get(1).map(|line| (*line).to_owned())
    };
    let did_you_mean = |key: &str| Some(format!("Did you mean '{key}'?"));
    assert_eq!(
        nearest(r#"{"timeouts": {"acton": 1}}"#),
        did_you_mean("timeouts.action")
    );
    assert_eq!(
        nearest(r#"{"userDataDir": "x"}"#),
        did_you_mean("browser.userDataDir")
    );
    assert_eq!(
        nearest(r#"{"browser": {"lauchOptions": {"headless": true}}}"#),
        did_you_mean("browser.launchOptions")
    );
    assert_eq!(
        nearest("browser.isolatd = true"),
        did_you_mean("browser.isolated")
    );
    assert_eq!(nearest(r#"{"completelyDifferent": 1}"#), None);
}

#[test]
fn a_file_may_begin_with_a_byte_order_mark() {
    let settings = load(&[], &[], Some("\u{feff}{\"codegen\": \"java\"}"))
        .expect("valid")
        .settings;
    assert_eq!(settings.answers.codegen, CodegenLanguage::Java);
    let settings = load(&[], &[], Some("\u{feff}[console]\nlevel = debug\n"))
        .expect("valid")
        .settings;
    assert_eq!(settings.answers.console_level, ConsoleLevel::Debug);
}

#[test]
fn a_file_that_cannot_be_read_says_why() {
    assert!(
        refusal(&["--config=nowhere.json"], None)
            .starts_with("cannot read the configuration file ")
    );
    let message = refusal(&[], Some("{\"browser\": "));
    assert!(message.contains("EOF while parsing"), "{message}");
    let message = refusal(
        &[],
        Some(r#"{"browser": {"launchOptions": {"headless": "yes"}}}"#),
    );
    assert!(
        message.ends_with(": \"yes\". Expected true or false"),
        "{message}"
    );
}

#[test]
fn scripts_of_a_file_are_relative_to_it() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("sub")).expect("writable");
    fs::write(folder.path().join("sub/init.js"), "1").expect("writable");
    fs::write(folder.path().join("own.js"), "1").expect("writable");
    let file = folder.path().join("sub/config.json");
    fs::write(&file, r#"{"browser": {"initScript": ["init.js"]}}"#).expect("writable");
    let from = |words: &[&str]| {
        let command = clap::Command::new("playhouse").args(flags::arguments());
        let words = std::iter::once("playhouse").chain(words.iter().copied());
        let matches = command.try_get_matches_from(words).expect("known flags");
        Config::load(&matches, &Environment::default(), folder.path())
            .map(|config| config.settings.context.init_scripts)
    };
    assert_eq!(
        from(&["--config=sub/config.json"]).expect("valid"),
        [folder.path().join("sub/init.js")]
    );
    assert_eq!(
        from(&["--init-script=own.js"]).expect("valid"),
        [folder.path().join("own.js")]
    );
    let missing = from(&["--init-page=init.js"])
        .expect_err("missing")
        .to_string();
    assert!(missing.starts_with("Init page file does not exist: "));
    let missing = from(&["--init-script=init.js"])
        .expect_err("missing")
        .to_string();
    assert_eq!(
        missing,
        format!(
            "Init script file does not exist: {}",
            folder.path().join("init.js").display()
        )
    );
}
