//! Tests of the errors that prevent a start.

use super::*;

#[test]
fn an_invalid_variable_is_refused_by_its_name() {
    let error = load(&[], &[("PLAYWRIGHT_MCP_CODEGEN", "ruby")], None).expect_err("invalid");
    let message = "Invalid PLAYWRIGHT_MCP_CODEGEN: ruby. Valid values are: none, typescript, python, java, csharp";
    assert_eq!(error.to_string(), message);
    for (name, nearest) in [
        ("PLAYHOUSE_HEADLES", "PLAYHOUSE_HEADLESS"),
        ("PLAYWRIGHT_MCP_HEADLES", "PLAYWRIGHT_MCP_HEADLESS"),
    ] {
        let error = load(&[], &[(name, "1")], None).expect_err("unknown");
        let message = format!("unknown environment variable {name}\nDid you mean '{nearest}'?");
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn a_variable_of_the_package_can_have_the_opposite_meaning() {
    for (value, is_on) in [("true", false), ("1", false), ("false", true), ("", true)] {
        let variables = [("PLAYWRIGHT_MCP_NO_TAB_GROUP", value)];
        let config = load(&["--extension"], &variables, None).expect("valid");
        let extension = config.settings.browser.extension.expect("it is used");
        assert_eq!(extension.tab_group, is_on, "{value:?}");
    }
}

#[test]
fn a_failed_start_has_the_error_text_of_the_contract() {
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
            &["--extension", "--isolated"],
            "Cannot use --isolated together with --extension, pick one.",
        ),
        (
            &["--extension", "--allowed-domains=example.com"],
            "Cannot use --allowed-domains together with --extension, pick one.",
        ),
        (
            &["--extension", "--browser=firefox"],
            "--extension is not supported with the Firefox browser.",
        ),
        (
            &["--webdriver-endpoint=http://grid", "--browser=webkit"],
            "--webdriver-endpoint is not supported with the WebKit browser, which is driven over a connection of its own that no WebDriver server forwards: use chromium or firefox there, or leave --webdriver-endpoint out.",
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
            &["--min-browsers=5", "--max-browsers=2"],
            "--min-browsers 5 is more than --max-browsers 2: raise one, or lower the other",
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
    load(
        &[],
        &[],
        Some(r#"{"browser": {"launchOptions": {"devtools": false}}}"#),
    )
    .expect("valid");
    let message = refusal(
        &[],
        Some(r#"{"browser": {"launchOptions": {"devtools": true}}}"#),
    );
    assert_eq!(
        message,
        "option 'browser.launchOptions.devtools' is not supported yet: it comes with a later release"
    );
}
