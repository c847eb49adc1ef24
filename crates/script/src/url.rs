//! The URL class for client code, by the URL Standard: <https://url.spec.whatwg.org/#url-class>.

use serde::Deserialize;
use serde_json::{Value, json};
use url::{Position, Url};

/// A URL to parse, with an optional change.
#[derive(Deserialize)]
struct Request {
    url: String,
    base: Option<String>,
    part: Option<String>,
    #[serde(default)]
    value: String,
}

/// Returns the parts of the URL, or `null` for an invalid one; JSON to JSON.
pub(super) fn answer(request: &str) -> String {
    let parts = serde_json::from_str(request).ok().and_then(read);
    parts.unwrap_or_default().to_string()
}

fn read(request: Request) -> Option<Value> {
    let mut url = match request.base {
        Some(base) => Url::parse(&base).ok()?.join(&request.url).ok()?,
        None => Url::parse(&request.url).ok()?,
    };
    if let Some(part) = &request.part {
        set(&mut url, part, &request.value)?;
    }
    Some(parts(&url))
}

/// Sets a part; an invalid value does not change the URL.
fn set(url: &mut Url, part: &str, value: &str) -> Option<()> {
    let some = Some(value).filter(|value| !value.is_empty());
    match part {
        "href" => *url = Url::parse(value).ok()?,
        "protocol" => _ = url.set_scheme(value.trim_end_matches(':')),
        "username" => _ = url.set_username(value),
        "password" => _ = url.set_password(some),
        "hostname" => _ = url.set_host(some),
        "host" => {
            let (host, port) = value.rsplit_once(':').unwrap_or((value, ""));
            _ = url.set_host(Some(host));
            if let Ok(port) = port.parse() {
                _ = url.set_port(Some(port));
            }
        }
        "port" => _ = url.set_port(value.parse().ok()),
        "pathname" => url.set_path(value),
        "search" => url.set_query(some.map(|query| query.trim_start_matches('?'))),
        "hash" => url.set_fragment(some.map(|fragment| fragment.trim_start_matches('#'))),
        _ => {}
    }
    Some(())
}

fn parts(url: &Url) -> Value {
    let marked = |mark: char, text: Option<&str>| match text {
        Some(text) if !text.is_empty() => format!("{mark}{text}"),
        _ => String::new(),
    };
    json!({
        "href": url.as_str(),
        "protocol": format!("{}:", url.scheme()),
        "username": url.username(),
        "password": url.password().unwrap_or_default(),
        "host": &url[Position::BeforeHost..Position::AfterPort],
        "hostname": url.host_str().unwrap_or_default(),
        "port": url.port().map(|port| port.to_string()).unwrap_or_default(),
        "pathname": url.path(),
        "search": marked('?', url.query()),
        "hash": marked('#', url.fragment()),
        "origin": url.origin().ascii_serialization(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_read_and_set() {
        let asked = |request: Value| -> Value {
            serde_json::from_str(&answer(&request.to_string())).unwrap()
        };
        let url = asked(
            json!({ "url": "../b?q=1#f", "base": "https://u:p@x.test:8443/a/c", "part": null }),
        );
        assert_eq!(url["href"], "https://u:p@x.test:8443/b?q=1#f");
        assert_eq!(url["host"], "x.test:8443");
        assert_eq!(url["origin"], "https://x.test:8443");
        assert_eq!(url["search"], "?q=1");
        let url = asked(
            json!({ "url": "http://x/a?b", "base": null, "part": "search", "value": "?c=2" }),
        );
        assert_eq!(url["href"], "http://x/a?c=2");
        assert_eq!(
            asked(json!({ "url": "nonsense", "base": null })),
            Value::Null
        );
    }
}
