//! Tests of the sources and the masking of secrets.

use super::*;

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
