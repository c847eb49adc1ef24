//! Tests of configuration files: both formats, and errors in them.

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

/// The key, its lines in INI, and its value in JSON.
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

/// Every key of `config.d.ts` of the server of Playwright 1.65.1, and of the types of Playwright that it refers to, with a value; and keys of
/// older files. Functions (`logger`) cannot be written in a file.
const KEYS_OF_THE_PACKAGE: &[(&str, &str)] = &[
    ("browser.browserName", r#""chromium""#),
    ("browser.isolated", "true"),
    ("browser.userDataDir", r#""/profile""#),
    ("browser.launchOptions.args", r#"["--a"]"#),
    ("browser.launchOptions.artifactsDir", r#""/a""#),
    ("browser.launchOptions.channel", r#""chrome""#),
    ("browser.launchOptions.chromiumSandbox", "true"),
    ("browser.launchOptions.downloadsPath", r#""/d""#),
    ("browser.launchOptions.env", r#"{"A":"b"}"#),
    ("browser.launchOptions.executablePath", r#""/usr/bin/env""#),
    ("browser.launchOptions.firefoxUserPrefs", r#"{"a":1}"#),
    ("browser.launchOptions.handleSIGHUP", "true"),
    ("browser.launchOptions.handleSIGINT", "true"),
    ("browser.launchOptions.handleSIGTERM", "true"),
    ("browser.launchOptions.headless", "true"),
    ("browser.launchOptions.ignoreDefaultArgs", r#"["--a"]"#),
    (
        "browser.launchOptions.proxy",
        r#"{"server":"http://p:1","bypass":"a","username":"u","password":"p"}"#,
    ),
    ("browser.launchOptions.slowMo", "1"),
    ("browser.launchOptions.timeout", "1"),
    ("browser.launchOptions.tracesDir", r#""/t""#),
    ("browser.contextOptions.acceptDownloads", "true"),
    ("browser.contextOptions.baseURL", r#""http://a""#),
    ("browser.contextOptions.bypassCSP", "true"),
    ("browser.contextOptions.clientCertificates", "[]"),
    ("browser.contextOptions.colorScheme", r#""dark""#),
    ("browser.contextOptions.contrast", r#""more""#),
    ("browser.contextOptions.deviceScaleFactor", "2"),
    ("browser.contextOptions.extraHTTPHeaders", r#"{"a":"b"}"#),
    ("browser.contextOptions.forcedColors", r#""active""#),
    (
        "browser.contextOptions.geolocation",
        r#"{"latitude":1,"longitude":2}"#,
    ),
    ("browser.contextOptions.hasTouch", "true"),
    (
        "browser.contextOptions.httpCredentials",
        r#"{"username":"u","password":"p"}"#,
    ),
    ("browser.contextOptions.ignoreHTTPSErrors", "true"),
    ("browser.contextOptions.isMobile", "true"),
    ("browser.contextOptions.javaScriptEnabled", "true"),
    ("browser.contextOptions.locale", r#""de""#),
    ("browser.contextOptions.offline", "true"),
    ("browser.contextOptions.permissions", r#"["geolocation"]"#),
    ("browser.contextOptions.proxy", r#"{"server":"http://p:1"}"#),
    ("browser.contextOptions.recordHar", r#"{"path":"a"}"#),
    ("browser.contextOptions.recordVideo", r#"{"dir":"a"}"#),
    ("browser.contextOptions.reducedMotion", r#""reduce""#),
    ("browser.contextOptions.screen", r#"{"width":1,"height":1}"#),
    ("browser.contextOptions.serviceWorkers", r#""block""#),
    (
        "browser.contextOptions.storageState",
        r#"{"cookies":[],"origins":[]}"#,
    ),
    ("browser.contextOptions.strictSelectors", "true"),
    ("browser.contextOptions.timezoneId", r#""UTC""#),
    ("browser.contextOptions.userAgent", r#""u""#),
    (
        "browser.contextOptions.viewport",
        r#"{"width":1,"height":1}"#,
    ),
    ("browser.cdpEndpoint", r#""http://h:1""#),
    ("browser.cdpHeaders", r#"{"a":"b"}"#),
    ("browser.cdpTimeout", "1"),
    ("browser.remoteEndpoint", r#"{"endpoint":"ws://h"}"#),
    ("browser.initPage", "[]"),
    ("browser.initScript", "[]"),
    ("extension", "true"),
    ("tabGroup", "false"),
    ("background", "true"),
    ("ignoreRoots", "true"),
    ("redactUrlParams", r#"["code"]"#),
    ("server.port", "1"),
    ("server.host", r#""localhost""#),
    ("server.allowedHosts", r#"["*"]"#),
    (
        "capabilities",
        r#"["config","core","core-navigation","core-tabs","core-input","core-install","network","pdf","storage","testing","vision","devtools"]"#,
    ),
    ("saveSession", "true"),
    ("webmcp", "true"),
    ("sharedBrowserContext", "true"),
    ("secrets", r#"{"A":"b"}"#),
    ("outputDir", r#""/o""#),
    ("outputMaxSize", "1"),
    ("console.level", r#""error""#),
    ("network.allowedOrigins", r#"["http://a"]"#),
    ("network.blockedOrigins", r#"["http://a"]"#),
    ("testIdAttribute", r#""t""#),
    ("timeouts.action", "1"),
    ("timeouts.navigation", "1"),
    ("timeouts.expect", "1"),
    ("timeouts.settle", "1"),
    ("timeouts.idle", "1"),
    ("imageResponses", r#""omit""#),
    ("filePaths", r#""absolute""#),
    ("snapshot.mode", r#""none""#),
    ("snapshot.boxes", "true"),
    ("allowUnrestrictedFileAccess", "true"),
    ("codegen", r#""python""#),
    ("saveTrace", "true"),
    ("saveVideo", r#"{"width":1,"height":1}"#),
];

#[test]
fn every_key_of_the_package_is_taken_or_refused_with_the_reason() {
    let mut refused = Vec::new();
    for (key, value) in KEYS_OF_THE_PACKAGE {
        let json = key.rsplit('.').fold((*value).to_owned(), |inner, name| {
            format!("{{\"{name}\":{inner}}}")
        });
        match load(&[], &[], Some(&json)) {
            Ok(_) => {}
            Err(ConfigError::NotYet { why, .. }) if !why.is_empty() => refused.push(*key),
            Err(error) => panic!("{key}: {error}"),
        }
    }
    assert_eq!(
        refused,
        [
            "browser.launchOptions.artifactsDir",
            "browser.launchOptions.handleSIGHUP",
            "browser.launchOptions.handleSIGINT",
            "browser.launchOptions.handleSIGTERM",
            "browser.contextOptions.baseURL",
            "browser.remoteEndpoint",
        ]
    );
    let idle = load(&[], &[], Some(r#"{"timeouts":{"idle":1500}}"#)).expect("valid");
    assert_eq!(
        idle.settings.browser.idle_timeout,
        Some(std::time::Duration::from_millis(1500))
    );
}

#[test]
fn json_may_have_comments_and_must_be_an_object() {
    let file = "// Ours\n{ /* why */ \"codegen\": \"java\", // a comma at the end\n}";
    let settings = load(&[], &[], Some(file)).expect("valid").settings;
    assert_eq!(settings.answers.codegen, Language::Java);
    for text in ["[]", "null", "1", r#""codegen""#] {
        let message = refusal(&[], Some(text));
        assert!(message.contains("Expected an object"), "{message}");
    }
}

#[test]
fn packages_for_other_languages_choose_the_language_of_code() {
    let codegen = |flags: &[&str], language: &'static str| {
        let loaded = load(flags, &[("PW_LANG_NAME", language)], None).expect("valid");
        loaded.settings.answers.codegen
    };
    const PLAYWRIGHT: &str = "--answers=playwright";
    assert_eq!(codegen(&[PLAYWRIGHT], "python"), Language::Python);
    assert_eq!(codegen(&[PLAYWRIGHT], "csharp"), Language::Csharp);
    assert_eq!(codegen(&[PLAYWRIGHT], "javascript"), Language::Typescript);
    assert_eq!(
        codegen(&[PLAYWRIGHT, "--codegen=none"], "java"),
        Language::None
    );
}

#[test]
fn answers_are_compact_unless_the_toolset_is_that_of_playwright() {
    let answers = |flags: &[&str]| {
        let answers = Settings::of_flags(flags).answers;
        (answers.style, answers.codegen)
    };
    assert_eq!(answers(&[]), (AnswerStyle::Compact, Language::None));
    assert_eq!(
        answers(&["--toolsets=browser"]),
        (AnswerStyle::Playwright, Language::Typescript)
    );
    assert_eq!(
        answers(&[
            "--toolsets=browser",
            "--answers=compact",
            "--codegen=python"
        ]),
        (AnswerStyle::Compact, Language::Python)
    );
    assert_eq!(
        answers(&["--toolsets=all", "--answers=playwright"]),
        (AnswerStyle::Playwright, Language::Typescript)
    );
}

#[test]
fn a_file_may_begin_with_a_byte_order_mark() {
    let settings = load(&[], &[], Some("\u{feff}{\"codegen\": \"java\"}"))
        .expect("valid")
        .settings;
    assert_eq!(settings.answers.codegen, Language::Java);
    let settings = load(&[], &[], Some("\u{feff}[console]\nlevel = debug\n"))
        .expect("valid")
        .settings;
    assert_eq!(settings.answers.console_level, ConsoleLevel::Debug);
}

#[test]
fn an_unreadable_file_is_reported_with_the_reason() {
    assert!(
        refusal(&["--config=nowhere.json"], None)
            .starts_with("cannot read the configuration file ")
    );
    let message = refusal(&[], Some("{\"browser\": "));
    assert!(message.contains("cannot parse"), "{message}");
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
