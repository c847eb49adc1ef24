//! Prompts: offered if clients of `@playwright/mcp` are not affected, filled in, and rejected with a suggestion.

use serde_json::{Value, json};
use testkit::{Client, NoAnswer};

use crate::cli::run;
use crate::{launch, server};

async fn prompt(client: &Client, name: &str, arguments: Value) -> Result<String, NoAnswer> {
    let parameters = json!({ "name": name, "arguments": arguments });
    let answer = client.request("prompts/get", parameters).await?;
    let message = &answer["messages"][0];
    assert_eq!(message["role"], "user", "{answer}");
    let text = message["content"]["text"].as_str().unwrap_or_default();
    Ok(text.to_owned())
}

#[testkit::test]
async fn prompts_are_listed_filled_in_and_completed() {
    let client = launch(&[]).spawn();
    let hello = client.initialize(json!({})).await;
    let capabilities = &hello["capabilities"];
    assert_eq!(capabilities["prompts"], json!({}), "{capabilities}");
    assert_eq!(capabilities["completions"], json!({}), "{capabilities}");
    let list = client.request("prompts/list", json!({})).await;
    let list = list.expect("a list");
    let names = list["prompts"].as_array().expect("a list").iter();
    let names: Vec<_> = names.map(|prompt| prompt["name"].as_str()).collect();
    assert_eq!(
        names,
        [
            Some("scrape_website"),
            Some("fill_form"),
            Some("visual_regression"),
            Some("authenticate"),
            Some("e2e_test")
        ]
    );
    assert_eq!(
        list["prompts"][1]["arguments"][2],
        json!({ "name": "submit_button", "description": "Selector of the submit button", "required": false })
    );
    let arguments = json!({ "url": "https://shop.example/", "baseline_screenshot": "base.png" });
    let text = prompt(&client, "visual_regression", arguments).await;
    let text = text.expect("a text");
    assert!(
        text.contains("`compare_screenshot`") && text.contains("`base.png`"),
        "{text}"
    );
    let completed = client
        .request(
            "completion/complete",
            json!({
                "ref": { "type": "ref/prompt", "name": "fill_form" },
                "argument": { "name": "submit_button", "value": "bu" },
            }),
        )
        .await
        .expect("values");
    assert_eq!(
        completed["completion"],
        json!({ "values": ["button[type='submit']"], "total": 1, "hasMore": false })
    );
}

#[testkit::test]
async fn a_prompt_that_cannot_be_filled_in_is_refused_with_the_way_out() {
    let client = server(&[]).await;
    for (name, arguments, answer) in [
        (
            "scrape_websit",
            json!({}),
            "Did you mean \"scrape_website\"?",
        ),
        (
            "e2e_test",
            json!({ "start_url": "localhost" }),
            "\"test_scenario\" is missing",
        ),
        (
            "fill_form",
            json!({ "url": "localhost", "form_data": "Ada" }),
            "must be a JSON object",
        ),
    ] {
        match prompt(&client, name, arguments).await {
            Err(NoAnswer::Refused {
                code: -32602,
                message,
                ..
            }) => {
                assert!(message.contains(answer), "{message}");
            }
            other => panic!("{name}: {other:?}"),
        }
    }
    let unnamed = client
        .request("prompts/get", json!({ "arguments": {} }))
        .await;
    assert!(
        matches!(unnamed, Err(NoAnswer::Refused { code: -32602, .. })),
        "{unnamed:?}"
    );
}

#[testkit::test]
async fn a_password_is_given_by_the_name_of_a_secret_or_not_at_all() {
    let folder = tempfile::tempdir().expect("a folder");
    let secrets = folder.path().join("secrets.env");
    std::fs::write(&secrets, "SHOP_PASSWORD=hunter2\n").expect("a file");
    let client = server(&["--secrets", &secrets.to_string_lossy()]).await;
    let given = |password| json!({ "url": "https://shop.example/login", "username": "ada", "password": password });
    let named = prompt(&client, "authenticate", given("SHOP_PASSWORD")).await;
    let named = named.expect("a text");
    assert!(
        named.contains("`SHOP_PASSWORD`") && !named.contains("[REDACTED]"),
        "{named}"
    );
    let kept = prompt(&client, "authenticate", given("correct horse")).await;
    let kept = kept.expect("a text");
    assert!(
        kept.contains("[REDACTED]") && !kept.contains("correct horse"),
        "{kept}"
    );
}

#[testkit::test]
async fn a_drop_in_configuration_has_no_prompts() {
    let client = launch(&["--toolsets", "browser"]).spawn();
    let hello = client.initialize(json!({})).await;
    assert_eq!(
        hello["capabilities"],
        json!({ "tools": { "listChanged": true } })
    );
    for method in ["prompts/list", "prompts/get", "completion/complete"] {
        let answer = client.request(method, json!({ "name": "fill_form" })).await;
        assert!(
            matches!(answer, Err(NoAnswer::Refused { code: -32601, .. })),
            "{method}: {answer:?}"
        );
    }
}

#[testkit::test]
async fn prompts_of_a_folder_are_listed_or_their_mistake_is_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("greet.md");
    let flag = folder.path().to_string_lossy().into_owned();
    std::fs::write(&path, "---\ndescription: Greets\narguments:\n  - name: who\n    required: true\n---\nHello {{ who }}!\n").expect("a file");
    let client = server(&["--toolsets", "browser", "--prompts-dir", &flag]).await;
    let text = prompt(&client, "greet", json!({ "who": "Ada" })).await;
    assert_eq!(text.expect("a text"), "Hello Ada!");
    std::fs::write(&path, "---\ndescription: Greets\n---\nHello\n{{ who }}!\n").expect("a file");
    let output = run(&["--prompts-dir", &flag]);
    assert!(!output.status.success());
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        stderr.contains("greet.md:5: the text uses \"who\", which is none of the arguments"),
        "{stderr}"
    );
}
