//! `playhouse try URL`: opens one page, with the same calls as a client.

use std::{
    io::{self, Write},
    path::Path,
    process::ExitCode,
    sync::Arc,
};

use clap::{Arg, ArgMatches, Command};
use serde_json::{Map, Value, json};
use url::Url;

use super::{print, terminal};
use crate::{
    config::{Settings, flags},
    server::Server,
};

pub(super) fn command() -> Command {
    Command::new("try")
        .about("Open a page, print its snapshot, and save a screenshot")
        .arg(
            Arg::new("url")
                .value_name("URL")
                .required(true)
                .help("A URL, with or without its scheme, or the path of a file"),
        )
        .args(flags::of_the_server())
}

pub(super) async fn run(matches: &ArgMatches, settings: &Settings) -> ExitCode {
    let mut settings = settings.clone();
    let given = matches.get_one::<String>("url");
    let given = given.map(String::as_str).unwrap_or_default();
    let url = match file(given, &settings.files.cwd) {
        Some(url) => {
            settings.security.schemes.push("file".to_owned());
            url
        }
        None => whole(given),
    };
    // The profile may be in use.
    settings.browser.isolated |= settings.browser.user_data_dir.is_none();
    let server = match Server::new(settings) {
        Ok(server) => Arc::new(server),
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: {error}");
            return ExitCode::FAILURE;
        }
    };
    let progress = terminal::progress("opening the page");
    let shown = show(&server, &url).await;
    drop(progress);
    let code = match shown {
        Ok(text) => print(&text),
        Err(text) => {
            let _ = writeln!(io::stderr(), "{text}");
            ExitCode::FAILURE
        }
    };
    server.close().await;
    code
}

/// Returns the snapshot and the path of the screenshot, or the answer of the failed call.
async fn show(server: &Arc<Server>, url: &str) -> Result<String, String> {
    let opened = call(server, "browser_navigate", json!({ "url": url })).await?;
    let snapshot = call(server, "browser_snapshot", json!({})).await?;
    let screenshot = call(server, "browser_take_screenshot", json!({})).await?;
    // The generated code is of no use here.
    let screenshot = screenshot.split("\n### ").next().unwrap_or_default();
    // A compact answer shows the page only where it changed.
    let page = match snapshot.starts_with("### Page") {
        true => "",
        false => opened.split("### Snapshot").next().unwrap_or_default(),
    };
    Ok(format!(
        "{page}{}\n{}\n",
        snapshot.trim_end(),
        screenshot.trim_end()
    ))
}

async fn call(server: &Arc<Server>, name: &str, arguments: Value) -> Result<String, String> {
    let arguments: Map<String, Value> = arguments.as_object().cloned().unwrap_or_default();
    match server.call_here(name, arguments).await {
        Ok(content) if content.is_error => Err(content.text()),
        Ok(content) => Ok(content.text_without_boundary()),
        Err(unknown) => Err(unknown.to_string()),
    }
}

/// Returns the file URL of an existing file.
fn file(path: &str, cwd: &Path) -> Option<String> {
    let path = cwd.join(path).canonicalize().ok()?;
    Url::from_file_path(path).ok().map(Into::into)
}

/// Completes a URL as users type it: `localhost:3000`, `example.com`.
fn whole(url: &str) -> String {
    let schemes = [
        "about:",
        "data:",
        "file:",
        "blob:",
        "chrome:",
        "view-source:",
    ];
    let has_scheme = url.contains("://") || schemes.iter().any(|scheme| url.starts_with(scheme));
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
    use super::*;

    #[test]
    fn a_file_that_exists_is_opened() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("a b.html"), "").expect("writable");
        let folder = folder.path().canonicalize().expect("it exists");
        let url = file("./a b.html", &folder).expect("a URL");
        assert!(
            url.starts_with("file:///") && url.ends_with("/a%20b.html"),
            "{url}"
        );
        assert_eq!(file("localhost:3000", &folder), None);
    }

    #[test]
    fn a_url_may_be_written_short() {
        assert_eq!(whole("localhost:3000/x"), "http://localhost:3000/x");
        assert_eq!(whole("example.com"), "https://example.com");
        assert_eq!(whole("about:blank"), "about:blank");
        assert_eq!(whole("http://a"), "http://a");
    }
}
