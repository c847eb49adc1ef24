//! Layering, the two kinds of file, and the messages of a start that fails.

use std::{collections::BTreeSet, fs, path::Path};

use proptest::prelude::*;
use serde_json::json;

use super::{layered::Layered, options::OPTIONS, value::*, *};

/// Loads from a command line, an environment, and the text of a file (JSON, or INI if it is that).
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

fn settings(args: &[&str]) -> Settings {
    load(args, &[], None).expect("valid").settings
}

/// The first line of the message, the file's folder cut out.
fn refusal(args: &[&str], file: Option<&str>) -> String {
    load(args, &[], file).expect_err("invalid").to_string()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_highest_layer_that_speaks_wins(
        flag in proptest::option::of(0u64..100_000),
        ours in proptest::option::of(0u64..100_000),
        theirs in proptest::option::of(0u64..100_000),
        file in proptest::option::of(0u64..100_000),
    ) {
        let flag_text = flag.map(|ms| format!("--timeout-action={ms}"));
        let args: Vec<_> = flag_text.iter().map(String::as_str).collect();
        let (ours_text, theirs_text) = (ours.map(|ms| ms.to_string()), theirs.map(|ms| ms.to_string()));
        let mut environment = Vec::new();
        environment.extend(ours_text.as_deref().map(|text| ("PLAYHOUSE_TIMEOUT_ACTION", text)));
        environment.extend(theirs_text.as_deref().map(|text| ("PLAYWRIGHT_MCP_TIMEOUT_ACTION", text)));
        let file_text = file.map(|ms| json!({ "timeouts": { "action": ms } }).to_string());
        let config = load(&args, &environment, file_text.as_deref()).expect("valid");
        let expected = flag.or(ours).or(theirs).or(file).unwrap_or(5_000);
        prop_assert_eq!(config.settings.timeouts.action.as_millis(), u128::from(expected));
        let source = config.options.timeout_action.source().expect("it has a value").to_string();
        let expected = match (flag, ours, theirs, file) {
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
        offers in proptest::collection::vec((0usize..4, 0u64..10), 0..8).prop_shuffle(),
    ) {
        let source = |rank: usize| match rank {
            0 => layered::Source::Default,
            1 => layered::Source::File("f".into()),
            2 => layered::Source::Environment("E".into()),
            _ => layered::Source::Flag("--f".into()),
        };
        let mut scalar = Layered::default();
        let mut list = Layered::default();
        for (rank, number) in &offers {
            scalar.offer(source(*rank), Milliseconds(*number));
            list.offer(source(*rank), CommaList(vec![number.to_string()]));
        }
        let highest = offers.iter().map(|(rank, _)| *rank).max();
        let said: Vec<_> = offers.iter().filter(|(rank, _)| Some(*rank) == highest).map(|(_, n)| *n).collect();
        prop_assert_eq!(scalar.value().map(|Milliseconds(ms)| ms), said.last().copied());
        let said: Vec<_> = said.iter().map(u64::to_string).collect();
        prop_assert_eq!(list.or_empty().0, said);
    }

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
            (def.offer_json)(&mut again, source.clone(), &value, Path::new("/")).expect(def.name);
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
        "--caps=pdf",
        "--caps=vision,tracing",
    ]);
    assert_eq!(settings.answers.codegen, CodegenLanguage::Python);
    assert_eq!(
        settings.tools.capabilities,
        [Capability::Pdf, Capability::Vision, Capability::Devtools]
    );
}

#[test]
fn switches_have_four_spellings() {
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

#[test]
fn other_nonsense_of_the_environment_is_refused_by_its_name() {
    let error = load(&[], &[("PLAYWRIGHT_MCP_CODEGEN", "ruby")], None).expect_err("invalid");
    let message = "Invalid PLAYWRIGHT_MCP_CODEGEN: ruby. Valid values are: none, typescript, python, java, csharp";
    assert_eq!(error.to_string(), message);
    let config = load(&[], &[("PLAYHOUSE_HEADLES", "1")], None).expect("valid");
    let notice = "unknown environment variable PLAYHOUSE_HEADLES. Did you mean PLAYHOUSE_HEADLESS?";
    assert_eq!(config.settings.notices, [notice]);
}

#[test]
fn a_window_needs_a_display() {
    let headless = |environment: &[(&str, &str)]| {
        load(&[], environment, None)
            .expect("valid")
            .settings
            .browser
            .headless
    };
    assert_eq!(headless(&[]), cfg!(target_os = "linux"));
    assert!(!headless(&[("DISPLAY", ":0")]));
    assert!(!headless(&[("WAYLAND_DISPLAY", "wayland-0")]));
    assert_eq!(
        settings(&["--headless"]).context.viewport,
        Viewport::Fixed(Size {
            width: 1280,
            height: 720
        })
    );
    assert_eq!(
        settings(&["--no-headless"]).context.viewport,
        Viewport::Window
    );
}

#[test]
fn a_browser_is_chosen_by_the_stronger_layer_and_then_by_the_channel() {
    use ::engine::{BrowserChoice, Channel};
    let choice = |args: &[&str], file: Option<&str>| {
        load(args, &[], file)
            .expect("valid")
            .settings
            .browser
            .choice
    };
    let file =
        r#"{"browser": {"browserName": "chromium", "launchOptions": {"channel": "msedge"}}}"#;
    assert_eq!(choice(&[], None), BrowserChoice::Any);
    assert_eq!(
        choice(&[], Some(file)),
        BrowserChoice::Channel(Channel::Msedge)
    );
    assert_eq!(
        choice(&["--browser=chrome"], Some(file)),
        BrowserChoice::Channel(Channel::Chrome)
    );
    assert_eq!(
        choice(&["--browser=chromium"], Some(file)),
        BrowserChoice::Channel(Channel::Chromium)
    );
    let family = r#"{"browser": {"browserName": "chromium"}}"#;
    assert_eq!(choice(&[], Some(family)), BrowserChoice::Any);
    assert!(matches!(
        choice(&["--executable-path=x"], Some(file)),
        BrowserChoice::Program(_)
    ));
}

#[test]
fn a_device_says_what_was_left_open() {
    let context = settings(&["--device=iPhone 15"]).context;
    assert_eq!(
        context.viewport,
        Viewport::Fixed(Size {
            width: 393,
            height: 659
        })
    );
    assert_eq!(context.device_scale_factor, Some(3.0));
    assert!(context.is_mobile && context.has_touch);
    let context = settings(&["--device=iPhone 15", "--viewport-size=400x300"]).context;
    assert_eq!(
        context.viewport,
        Viewport::Fixed(Size {
            width: 400,
            height: 300
        })
    );
    let file = r#"{"browser": {"contextOptions": {"viewport": {"width": 9, "height": 9}, "userAgent": "mine"}}}"#;
    let context = load(&["--mobile"], &[], Some(file))
        .expect("valid")
        .settings
        .context;
    assert_eq!(
        context.viewport,
        Viewport::Fixed(Size {
            width: 360,
            height: 732
        })
    );
    assert!(
        context
            .user_agent
            .is_some_and(|agent| agent.contains("Pixel 10"))
    );
    let settings = settings(&["--device=iphone 15"]);
    assert_eq!(
        settings.notices,
        ["unknown device \"iphone 15\" is ignored. Did you mean \"iPhone 15\"?"]
    );
}

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

#[test]
fn a_start_that_fails_says_so_in_the_words_of_the_contract() {
    for (args, message) in [
        (
            &["--viewport-size=800"][..],
            "Invalid resolution format: use --viewport-size=\"800x600\"",
        ),
        (
            &["--viewport-size=0x5"],
            "Invalid resolution format: use --viewport-size=\"800x600\"",
        ),
        (
            &["--codegen=ruby"],
            "Invalid --codegen: ruby. Valid values are: none, typescript, python, java, csharp",
        ),
        (
            &["--console-level=x"],
            "Invalid --console-level: x. Valid values are: error, warning, info, debug",
        ),
        (
            &["--image-responses=x"],
            "Invalid --image-responses: x. Valid values are: allow, omit, only",
        ),
        (
            &["--mobile", "--device=x"],
            "Cannot use --mobile together with --device, pick one.",
        ),
        (
            &["--device=x", "--cdp-endpoint=y"],
            "Device emulation is not supported with cdpEndpoint.",
        ),
        (
            &["--output-dir=/"],
            "--output-dir cannot point to a system directory: /.",
        ),
        (
            &["--user-data-dir=x", "--isolated"],
            "Browser userDataDir is not supported in isolated mode.",
        ),
        (
            &["--mobile", "--browser=firefox"],
            "--mobile is not supported with the Firefox browser.",
        ),
        (
            &["--timeout-action=soon"],
            "Invalid --timeout-action: soon. Expected a whole number of milliseconds",
        ),
        (
            &["--port=0"],
            "option '--port' is not supported yet: this release serves on stdio only",
        ),
        (
            &["--tools=browser_close"],
            "Invalid --tools: browser_close. Expected tools with a sign, such as \"+browser_pdf_save,-browser_evaluate\"",
        ),
    ] {
        assert_eq!(refusal(args, None), message);
    }
}

#[test]
fn an_option_of_a_later_release_may_be_switched_off() {
    settings(&["--no-webmcp"]);
    load(&[], &[], Some(r#"{"extension": false, "webmcp": false}"#)).expect("valid");
    let message = refusal(&[], Some(r#"{"server": {"port": 1}}"#));
    assert_eq!(
        message,
        "option 'server.port' is not supported yet: this release serves on stdio only"
    );
}

#[test]
fn secrets_are_not_shown() {
    let file = r#"{"browser": {"contextOptions": {"httpCredentials": {"username": "u", "password": "hunter2"}}}}"#;
    let args = ["--cdp-endpoint=x", "--cdp-header=Authorization: hunter2"];
    let config = load(&args, &[], Some(file)).expect("valid");
    let shown = format!(
        "{}{}{}",
        config.show(),
        config.show_json(),
        config.settings.merged
    );
    assert!(!shown.contains("hunter2"), "{shown}");
    assert!(shown.contains("Authorization"), "{shown}");
}

#[test]
fn secrets_come_from_a_file_or_from_the_configuration() {
    let typed = |config: Config| config.settings.secrets.typed("KEY").0;
    let json = load(&[], &[], Some(r#"{"secrets": {"KEY": "hunter2"}}"#)).expect("valid");
    let ini = load(&[], &[], Some("secrets.KEY = hunter2\nsecrets.OTHER = x")).expect("valid");
    assert_eq!(json.settings.merged["secrets"], json!({ "KEY": "***" }));
    assert_eq!(typed(json), "hunter2");
    assert_eq!(typed(ini), "hunter2");
    let file = tempfile::NamedTempFile::new().expect("a file");
    fs::write(file.path(), "KEY=hunter2").expect("writable");
    let path = file.path().display().to_string();
    for variable in ["PLAYHOUSE_SECRETS", "PLAYWRIGHT_MCP_SECRETS_FILE"] {
        let config = load(&[], &[(variable, &path)], None).expect("valid");
        assert_eq!(typed(config), "hunter2");
    }
    let message = refusal(&["--secrets=nowhere"], None);
    assert!(
        message.starts_with("cannot read the secrets of nowhere: "),
        "{message}"
    );
}

#[test]
fn a_profile_belongs_to_a_workspace_and_a_channel() {
    let settings = load(
        &["--browser=msedge"],
        &[("PWMCP_PROFILES_DIR_FOR_TEST", "/profiles")],
        None,
    )
    .expect("valid")
    .settings;
    let profile = settings.profile_dir(Path::new("/some/workspace"));
    assert_eq!(profile, Path::new("/profiles/mcp-msedge-4d5418a"));
    assert_ne!(profile, settings.profile_dir(Path::new("/other")));
}

#[test]
fn settings_become_what_the_engine_opens() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = folder.path().join("init.js");
    fs::write(&script, "window.ready = true").expect("writable");
    let script = format!("--init-script={}", script.display());
    let file = r#"{"browser": {"contextOptions": {"colorScheme": "no-preference", "acceptDownloads": false}}}"#;
    let args = ["--device=Pixel 10", &script];
    let settings = load(&args, &[], Some(file)).expect("valid").settings;
    let options = settings
        .context
        .options("Chrome/156.0.1.2", "/downloads".into())
        .expect("readable");
    let viewport = options.viewport.expect("a fixed one");
    assert_eq!((viewport.size.width, viewport.size.height), (360, 732));
    assert!(viewport.is_mobile && viewport.has_touch);
    assert!(
        options
            .user_agent
            .is_some_and(|agent| agent.contains("Chrome/156.0.1.2 Mobile"))
    );
    assert_eq!(options.media.color_scheme.as_deref(), Some("no-preference"));
    assert_eq!(options.downloads, None);
    assert_eq!(options.init_scripts, ["window.ready = true"]);
    drop(folder);
    assert!(
        settings
            .context
            .options("Chrome/1", "/downloads".into())
            .is_err()
    );
}

#[test]
fn a_headless_shell_will_do_without_windows_and_extensions() {
    let will_do = |args: &[&str]| settings(args).browser.search.headless_shell;
    assert!(will_do(&["--headless"]));
    assert!(!will_do(&["--no-headless"]));
    let file = r#"{"browser": {"launchOptions": {"args": ["--load-extension=/a"]}}}"#;
    let settings = load(&["--headless"], &[], Some(file))
        .expect("valid")
        .settings;
    assert!(!settings.browser.search.headless_shell);
}

#[test]
fn settings_become_what_the_engine_starts() {
    let found = ::engine::FoundBrowser {
        path: "/browser".into(),
        channel: None,
        headless_shell: true,
    };
    let file = r#"{"browser": {"launchOptions": {"args": ["--a"], "ignoreDefaultArgs": ["--b"], "env": {"TZ": "UTC"}}}}"#;
    let args = [
        "--proxy-server=http://p:1",
        "--proxy-bypass=.a, b,",
        "--no-sandbox",
        "--headless",
    ];
    let settings = load(&args, &[], Some(file)).expect("valid").settings;
    let options = settings.browser.launch_options(found, None);
    assert!(options.headless && options.headless_shell);
    assert_eq!(options.sandbox, Some(false));
    assert_eq!(options.args, ["--a"]);
    assert_eq!(options.ignore_default_args, ["--b"]);
    assert_eq!(options.env, [("TZ".to_owned(), "UTC".to_owned())]);
    let proxy = options.proxy.expect("one");
    assert_eq!(
        (proxy.server.as_str(), proxy.bypass),
        ("http://p:1", vec![".a".to_owned(), "b".to_owned()])
    );
}
