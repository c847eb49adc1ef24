//! The health check of the image.

use std::fs;
use std::process::Command;

use testkit::{HttpServer, Launch};

use crate::root;

const OWN: &str = "PLAYHOUSE_ALLOWED_HOSTS";

/// A server is healthy with any hosts that variables allow. Without the right host, the same command fails.
#[testkit::test]
async fn the_health_check_sends_an_allowed_host() {
    let check = health_check();
    for variables in [
        &[][..],
        &[(OWN, "tools.example.com")],
        &[(OWN, "tools.example.com:443, 10.0.0.1")],
        &[(OWN, "*")],
        &[("PLAYWRIGHT_MCP_ALLOWED_HOSTS", "tools.example.com")],
        &[
            ("PLAYWRIGHT_MCP_ALLOWED_HOSTS", "other.example.com"),
            (OWN, "tools.example.com"),
        ],
    ] {
        let launch = Launch::new(env!("CARGO_BIN_EXE_playhouse"));
        let set = |launch: Launch, (name, value): &(&str, &str)| launch.env(name, value);
        let server = HttpServer::start(variables.iter().fold(launch, set)).await;
        let (_, port) = server.authority().rsplit_once(':').expect("a port");
        assert!(is_healthy(&check, port, variables), "{variables:?}");
        let foreign = [(OWN, "foreign.example.com")];
        let accepts_all = variables.contains(&(OWN, "*"));
        assert_eq!(
            is_healthy(&check, port, &foreign),
            accepts_all,
            "{variables:?}"
        );
    }
}

/// Returns the command of the health check of the image.
fn health_check() -> Vec<String> {
    let image = fs::read_to_string(root().join("deploy/Dockerfile")).expect("the file exists");
    let mut lines = image
        .lines()
        .skip_while(|line| !line.starts_with("HEALTHCHECK "));
    let command = lines.find_map(|line| line.trim_start().strip_prefix("CMD "));
    serde_json::from_str(command.expect("a command")).expect("a list of words")
}

/// Runs the health check with these variables of a container.
#[expect(clippy::disallowed_methods, reason = "it ends with the test")]
fn is_healthy(check: &[String], port: &str, variables: &[(&str, &str)]) -> bool {
    let mut command = Command::new(&check[0]);
    let command = command
        .args(&check[1..])
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("PLAYHOUSE_PORT", port)
        .envs(variables.iter().copied());
    command.status().expect("it runs").success()
}
