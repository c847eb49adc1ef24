//! `playhouse try URL`: one page, by the same path as any client's calls.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use clap::{Arg, ArgMatches, Command};
use serde_json::{Map, Value, json};

use super::print;
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
    let server = match Server::new(settings) {
        Ok(server) => server,
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: {error}");
            return ExitCode::FAILURE;
        }
    };
    let code = match look(&server, &url).await {
        Ok(text) => print(&text),
        Err(text) => {
            let _ = writeln!(io::stderr(), "{text}");
            ExitCode::FAILURE
        }
    };
    server.close().await;
    code
}

/// The snapshot, and where the screenshot lies; or the answer of the call that failed.
async fn look(server: &Server, url: &str) -> Result<String, String> {
    call(server, "browser_navigate", json!({ "url": url })).await?;
    let snapshot = call(server, "browser_snapshot", json!({})).await?;
    let screenshot = call(server, "browser_take_screenshot", json!({})).await?;
    // What code would take it is of no use here.
    let screenshot = screenshot.split("\n### ").next().unwrap_or_default();
    Ok(format!(
        "{}\n{}\n",
        snapshot.trim_end(),
        screenshot.trim_end()
    ))
}

async fn call(server: &Server, name: &str, arguments: Value) -> Result<String, String> {
    let arguments: Map<String, Value> = arguments.as_object().cloned().unwrap_or_default();
    match server.call_here(name, arguments).await {
        Ok(content) if content.is_error => Err(content.text()),
        Ok(content) => Ok(content.text()),
        Err(unknown) => Err(unknown.to_string()),
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
