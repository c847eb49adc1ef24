//! Links that add the server to a client with one click.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Map, Value};
use url::form_urlencoded;

use super::{clients::CLIENTS, entry::Entry};

/// The format of a client's links. A page on the web forwards to the client, because GitHub removes links with other schemes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LinkFormat {
    /// The entry of the server, in Base64. <https://cursor.com/docs/context/mcp/install-links>
    Cursor,
    /// The entry of the server with its name. <https://code.visualstudio.com/api/extension-guides/ai/mcp#create-an-mcp-installation-url>
    VsCode,
    /// The command and its arguments. <https://block.github.io/goose/docs/getting-started/using-extensions>
    Goose,
}

/// What clients show about the server.
const DESCRIPTION: &str = "An MCP server that gives AI agents real browsers.";

/// The clients that have links: the name on the command line, the title, the format.
pub(super) const LINKS: [(&str, &str, LinkFormat); 3] = [
    ("vscode", "VS Code", LinkFormat::VsCode),
    ("cursor", "Cursor", LinkFormat::Cursor),
    ("goose", "Goose", LinkFormat::Goose),
];

/// Returns the link that adds the server to a client. Returns `None` if the client has no links.
pub(super) fn link(client: &str, name: &str, entry: &Entry) -> Option<String> {
    let (_, _, format) = LINKS.iter().find(|(known, ..)| *known == client)?;
    let file = CLIENTS.iter().find(|known| known.name == client);
    let server = file.and_then(|client| client.server(entry));
    Some(match format {
        LinkFormat::Cursor => {
            let config = BASE64_STANDARD.encode(Value::from(server?).to_string());
            let pairs = [("name", name), ("config", &config)];
            address("https://cursor.com/en/install-mcp", &pairs)
        }
        LinkFormat::VsCode => {
            let mut all = Map::from_iter([("name".to_owned(), name.into())]);
            all.extend(server?);
            let own = format!(
                "vscode:mcp/install?{}",
                encoded(&Value::from(all).to_string())
            );
            address("https://insiders.vscode.dev/redirect", &[("url", &own)])
        }
        LinkFormat::Goose => {
            let Entry::Stdio { command, args } = entry else {
                return None;
            };
            let mut pairs = vec![("cmd", command.as_str())];
            pairs.extend(args.iter().map(|arg| ("arg", arg.as_str())));
            pairs.extend([("id", name), ("name", name), ("description", DESCRIPTION)]);
            address("https://block.github.io/goose/extension", &pairs)
        }
    })
}

/// Returns the links of the documentation, as Markdown. They start the newest npm package.
pub(crate) fn markdown() -> String {
    let entry = Entry::npx(vec!["--headless".to_owned()]);
    let links = LINKS.iter().filter_map(|(client, title, _)| {
        let link = link(client, "playhouse", &entry)?;
        Some(format!("[Add to {title}]({link})"))
    });
    links.collect::<Vec<_>>().join(" · ")
}

/// Returns a URL with a query in which a space is `%20`, which all decoders read.
fn address(base: &str, pairs: &[(&str, &str)]) -> String {
    let pairs = pairs
        .iter()
        .map(|(key, value)| format!("{key}={}", encoded(value)));
    format!("{base}?{}", pairs.collect::<Vec<_>>().join("&"))
}

fn encoded(text: &str) -> String {
    let encoded: String = form_urlencoded::byte_serialize(text.as_bytes()).collect();
    encoded.replace('+', "%20")
}
