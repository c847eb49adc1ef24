//! `playhouse try URL`: one page, by the same path as any client's calls.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use clap::{Arg, ArgMatches, Command};
use serde_json::{Map, Value, json};

use crate::{config::Settings, server::Server};

pub(super) fn command() -> Command {
    Command::new("try")
        .about("Open a page, print its snapshot, and save a screenshot")
        .arg(Arg::new("url").value_name("URL").required(true))
}

pub(super) async fn run(matches: &ArgMatches, settings: &Settings) -> ExitCode {
    let url = matches
        .get_one::<String>("url")
        .map(|url| whole(url))
        .unwrap_or_default();
    let mut settings = settings.clone();
    // A look at a page must not meddle with a profile that somebody uses.
    settings.browser.isolated |= settings.browser.user_data_dir.is_none();
    let server = Server::new(settings);
    let calls = [
        ("browser_navigate", json!({ "url": url })),
        ("browser_snapshot", json!({})),
        ("browser_take_screenshot", json!({})),
    ];
    let mut code = ExitCode::SUCCESS;
    for (name, arguments) in calls {
        if !call(&server, name, arguments).await {
            code = ExitCode::FAILURE;
            break;
        }
    }
    server.close().await;
    code
}

/// Prints what the tool answers; whether it succeeded.
async fn call(server: &Server, name: &str, arguments: Value) -> bool {
    let arguments: Map<String, Value> = arguments.as_object().cloned().unwrap_or_default();
    match server.call_here(name, arguments).await {
        Ok(content) if content.is_error => {
            let _ = writeln!(io::stderr(), "{}", content.text());
            false
        }
        Ok(content) => {
            let _ = writeln!(io::stdout(), "{}\n", content.text());
            true
        }
        Err(unknown) => {
            let _ = writeln!(io::stderr(), "{unknown}");
            false
        }
    }
}

/// A URL as people write it, made whole: `localhost:3000`, `example.com`.
fn whole(url: &str) -> String {
    let has_scheme = url.contains("://") || ["about:", "data:"].iter().any(|s| url.starts_with(s));
    let local = ["localhost", "127.", "[::1]"]
        .iter()
        .any(|host| url.starts_with(host));
    match (has_scheme, local) {
        (true, _) => url.to_owned(),
        (false, true) => format!("http://{url}"),
        (false, false) => format!("https://{url}"),
    }
}

#[cfg(test)]
mod tests {
    use super::whole;

    #[test]
    fn a_url_may_be_written_short() {
        assert_eq!(whole("localhost:3000/x"), "http://localhost:3000/x");
        assert_eq!(whole("example.com"), "https://example.com");
        assert_eq!(whole("about:blank"), "about:blank");
        assert_eq!(whole("http://a"), "http://a");
    }
}
