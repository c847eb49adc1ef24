use super::*;
use crate::config::{Settings, ToolSettings};
use crate::toolbox::Toolbox;
use expect_test::expect;
use proptest::prelude::*;
use serde_json::json;

fn prompts(args: &[&str], dir: Option<&Path>) -> Result<Prompts, LoadError> {
    let tools: ToolSettings = Settings::of_flags(args).tools;
    let toolbox = Toolbox::new(&tools);
    let settings = PromptSettings {
        dir: dir.map(Path::to_owned),
    };
    let secrets = Secrets::new([("SHOP_PASSWORD".to_owned(), "hunter2".to_owned())]);
    let names = toolbox.iter().map(|tool| tool.name);
    Prompts::load(&settings, &tools.toolsets, names, &secrets)
}

fn house() -> Prompts {
    prompts(&["--toolsets=all"], None).expect("the prompts of the house are in order")
}

fn arguments(arguments: Value) -> Map<String, Value> {
    serde_json::from_value(arguments).expect("an object")
}

fn text(prompts: &Prompts, name: &str, given: Value) -> String {
    let (_, text) = prompts.get(name, &arguments(given)).expect(name);
    text
}

fn refused(prompts: &Prompts, name: &str, given: Value) -> String {
    let refusal = prompts.get(name, &arguments(given)).expect_err(name);
    refusal.to_string()
}

/// Valid arguments of each built-in prompt.
fn good() -> [(&'static str, Value); 5] {
    let url = "https://shop.example/";
    [
        (
            "scrape_website",
            json!({ "url": url, "selectors": "{\"title\": \"h1\", \"price\": \".price > b\"}" }),
        ),
        (
            "fill_form",
            json!({ "url": url, "form_data": { "Name": "Ada `L`", "Age": 36 } }),
        ),
        (
            "visual_regression",
            json!({ "url": url, "baseline_screenshot": "base/home.png" }),
        ),
        (
            "authenticate",
            json!({ "url": url, "username": "ada", "password": "SHOP_PASSWORD" }),
        ),
        (
            "e2e_test",
            json!({ "start_url": url, "test_scenario": "Ada buys a teapot" }),
        ),
    ]
}

#[test]
fn a_test_of_the_app_begins_at_an_address_or_a_path() {
    let given = |start_url: &str| json!({ "start_url": start_url, "test_scenario": "Ada pays" });
    for good in ["/", "/login?next=%2F", "https://shop.example/"] {
        let (prompts, arguments) = (house(), arguments(given(good)));
        assert!(prompts.get("e2e_test", &arguments).is_ok(), "{good}");
    }
    let refusal = refused(&house(), "e2e_test", given("the start page"));
    assert!(refusal.contains("or a path of the app"), "{refusal}");
}

#[test]
fn arguments_are_those_of_the_specification() {
    let listed: Vec<_> = house()
        .iter()
        .map(|prompt| {
            let argument = |a: &Argument| {
                let need = if a.required { "!" } else { "?" };
                let default = a.default.as_ref().map(|d| format!(" = {d}"));
                format!("\n  {}{need}{}", a.name, default.unwrap_or_default())
            };
            let arguments: String = prompt.arguments.iter().map(argument).collect();
            format!("{}: {}{arguments}\n", prompt.name, prompt.description)
        })
        .collect();
    expect![[r#"
        scrape_website: Scrape structured data from a website
          url!
          selectors!
        fill_form: Fill out and submit a web form
          url!
          form_data!
          submit_button? = button[type='submit']
        visual_regression: Compare page screenshots for visual changes
          url!
          baseline_screenshot!
        authenticate: Log into a website
          url!
          username!
          password!
          username_selector? = input[name='username'], input[type='email']
          password_selector? = input[name='password'], input[type='password']
          submit_selector? = button[type='submit']
        e2e_test: Run end-to-end user journey test
          test_scenario!
          start_url!
    "#]]
    .assert_eq(&listed.concat());
}

#[test]
fn texts_name_the_tools_of_the_session_toolset() {
    let prompts = house();
    for (name, given) in good() {
        let expected = format!("src/server/prompts/tests/{name}.session.md");
        expect_test::expect_file![expected_path(&expected)]
            .assert_eq(&(text(&prompts, name, given) + "\n"));
    }
}

#[test]
fn texts_name_the_tools_of_the_browser_toolset() {
    let dir = tempfile::tempdir().expect("a folder");
    let prompts = prompts(&["--toolsets", "browser"], Some(dir.path())).expect("prompts");
    for (name, given) in good() {
        let expected = format!("src/server/prompts/tests/{name}.browser.md");
        expect_test::expect_file![expected_path(&expected)]
            .assert_eq(&(text(&prompts, name, given) + "\n"));
    }
}

fn expected_path(path: &str) -> String {
    format!("{}/{path}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn texts_name_only_tools_that_are_on() {
    let sets: [&[&str]; 6] = [
        &["--toolsets", "session"],
        &["--toolsets", "browser,session", "--caps", "testing,storage"],
        &[],
        &["--toolsets=all", "--no-enable-script-evaluation"],
        &[
            "--toolsets=all",
            "--tools",
            "-browser_fill_form,-get_text,-save_state,-create_session",
        ],
        &[
            "--toolsets=all",
            "--tools",
            "-navigate,-browser_navigate,-compare_screenshot,-screenshot,-click",
        ],
    ];
    for set in sets {
        let toolbox = Toolbox::new(&Settings::of_flags(set).tools);
        let on: Vec<_> = toolbox.iter().map(|tool| tool.name).collect();
        let all: Vec<_> = crate::toolbox::TOOLSETS
            .iter()
            .flat_map(|(_, toolset)| toolset.tools())
            .map(|tool| tool.name)
            .collect();
        let prompts = prompts(set, None).expect("prompts");
        for (name, given) in good() {
            let text = text(&prompts, name, given);
            for word in text.split('`').skip(1).step_by(2) {
                assert!(
                    !all.contains(&word) || on.contains(&word),
                    "{name} with {set:?} names {word}:\n{text}"
                );
            }
        }
    }
}

#[test]
fn invalid_arguments_are_reported_with_a_suggestion() {
    let prompts = house();
    let url = "https://shop.example/";
    expect![[r#"
        Prompt "scrape_websit" not found. Did you mean "scrape_website"? See prompts/list.
        Prompt "nothing of the kind" not found. See prompts/list.
        Invalid arguments for the prompt "scrape_website":
        - "ulr" is none of its arguments. Did you mean "url"? It has: url, selectors
        - "url" is missing. It is needed: The URL to scrape
        - "selectors" must be a JSON object of names and texts, such as {"name": "value"}; it is not valid JSON: expected value at line 1 column 1
        Invalid arguments for the prompt "scrape_website":
        - "url" is missing. It is needed: The URL to scrape
        - "selectors" must be a JSON object of names and texts, such as {"name": "value"}; it is not valid JSON: EOF while parsing a value at line 1 column 6
        Invalid arguments for the prompt "scrape_website":
        - "url" must be an address, such as https://example.com/
        - "selectors" must be a JSON object of names and texts, such as {"name": "value"}
        Invalid arguments for the prompt "fill_form":
        - "form_data" must be a JSON object of names and texts, such as {"name": "value"}; this one is empty
        Invalid arguments for the prompt "authenticate":
        - "password" is missing. It is needed: Name of one of the server's secrets (--secrets); anything else is kept out of the text, and the agent will ask"#]].assert_eq(
        &[
            refused(&prompts, "scrape_websit", json!({})),
            refused(&prompts, "nothing of the kind", json!({})),
            refused(&prompts, "scrape_website", json!({ "ulr": url, "selectors": "h1" })),
            refused(&prompts, "scrape_website", json!({ "url": "  ", "selectors": "{\"a\": " })),
            refused(&prompts, "scrape_website", json!({ "url": "not an address", "selectors": [] })),
            refused(&prompts, "fill_form", json!({ "url": url, "form_data": "{}" })),
            refused(&prompts, "authenticate", json!({ "url": url, "username": "ada" })),
        ]
        .join("\n"),
    );
}

#[test]
fn empty_arguments_have_their_default() {
    let prompts = house();
    let given = json!({ "url": "localhost:3000", "form_data": { "a": "b" }, "submit_button": "" });
    let text = text(&prompts, "fill_form", given);
    assert!(text.contains("`button[type='submit']`"), "{text}");
    assert!(text.contains("localhost:3000"), "{text}");
}

#[test]
fn arguments_are_completed() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = "---\ndescription: x\narguments:\n- name: how\n  values: [loud, low, Long]\n- name: where\n  type: session\n---\n{{ how }} {{ where }}";
    std::fs::write(dir.path().join("mine.md"), file).expect("a file");
    let prompts = prompts(&[], Some(dir.path())).expect("prompts");
    let complete = |prompt: &str, argument: &str, begun: &str| {
        let sessions = || vec!["3f0c".to_owned(), "b81e".to_owned()];
        prompts.complete(prompt, argument, begun, sessions)
    };
    assert_eq!(complete("mine", "how", "lo").expect("values").len(), 3);
    assert_eq!(complete("mine", "how", "low"), Ok(vec!["low".to_owned()]));
    assert_eq!(complete("mine", "where", "b"), Ok(vec!["b81e".to_owned()]));
    let secrets = complete("authenticate", "password", "");
    assert_eq!(secrets, Ok(vec!["SHOP_PASSWORD".to_owned()]));
    let default = complete("fill_form", "submit_button", "");
    assert_eq!(default, Ok(vec!["button[type='submit']".to_owned()]));
    assert!(complete("mine", "what", "").is_err());
    assert!(complete("none", "how", "").is_err());
}

#[test]
fn a_folder_adds_prompts_and_replaces_builtin_ones() {
    let dir = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text);
    write("greet.md", "---\ndescription: Greets\narguments:\n  - name: who\n    required: true\n---\nHello {{ who }}{% if tool(\"navigate\") %}, by {{ tool(\"navigate\") }}{% endif %}!").expect("a file");
    write("e2e_test.md", "---\ndescription: Ours\n---\nRun make test.").expect("a file");
    write("notes.txt", "no prompt").expect("a file");
    let prompts = prompts(&["--toolsets=all"], Some(dir.path())).expect("prompts");
    let names: Vec<_> = prompts.iter().map(|prompt| prompt.name.as_str()).collect();
    assert_eq!(names.len(), 6);
    assert!(names.ends_with(&["e2e_test", "greet"]), "{names:?}");
    // A template in an argument is plain text.
    let given = json!({ "who": "{{ who }}" });
    assert_eq!(
        text(&prompts, "greet", given),
        "Hello {{ who }}, by `navigate`!"
    );
    assert_eq!(text(&prompts, "e2e_test", json!({})), "Run make test.");
}

#[test]
fn a_mistake_in_a_file_is_reported_with_its_line() {
    let dir = tempfile::tempdir().expect("a folder");
    let of = |text: &str| {
        std::fs::write(dir.path().join("p.md"), text).expect("a file");
        let error = prompts(&[], Some(dir.path())).err().expect(text);
        error
            .to_string()
            .replace(&dir.path().display().to_string(), "DIR")
    };
    expect![[r#"
        DIR/p.md:1: a prompt begins with a line ---, its description below
        DIR/p.md:5: the text uses "who", which is none of the arguments
        DIR/p.md:5: syntax error: unexpected end of input, expected end of block
        DIR/p.md:5: unknown filter: filter shout is unknown
        DIR/p.md:4: syntax error: unknown statement include"#]]
    .assert_eq(
        &[
            of("Hello"),
            of("---\ndescription: x\n---\n\nHello {{ who }}"),
            of("---\ndescription: x\n---\nHello\n{% if x %}"),
            of("---\ndescription: x\n---\nHello\n{{ 'a'|shout }}"),
            of("---\ndescription: x\n---\n{% include 'other' %}"),
        ]
        .join("\n"),
    );
    let missing = prompts(&[], Some(&dir.path().join("none")));
    assert!(matches!(missing, Err(LoadError::Unreadable { .. })));
}

proptest! {
    /// The text does not depend on the password.
    #[test]
    fn no_password_is_ever_in_the_text(
        password in "\\PC{1,40}",
        username in "\\PC{1,20}",
    ) {
        prop_assume!(!password.trim().is_empty() && !username.trim().is_empty());
        let prompts = house();
        let with = |password: &str| {
            let given = json!({ "url": "https://a.example/", "username": username, "password": password });
            text(&prompts, "authenticate", given)
        };
        prop_assert_eq!(with(&password), with("another one"));
        let refused = refused(&prompts, "authenticate", json!({ "password": password, "ulr": "" }));
        let other = super::tests::refused(&prompts, "authenticate", json!({ "password": "another one", "ulr": "" }));
        prop_assert_eq!(refused, other);
    }
}
