//! Replay: the responses of an HTTP archive in place of a server. <http://www.softwareishard.com/blog/har-12-spec/>

use super::mock::Mock;
use super::request::{Headers, RoutedRequest, is_about_encoding};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// The most redirects that a replay follows for one request.
const MAX_REDIRECTS: usize = 20;

/// The responses of an HTTP archive, by method and URL of their requests.
pub struct HarReplay {
    exchanges: HashMap<(String, String), Vec<Exchange>>,
    /// Masks the values in URLs and bodies of requests that the archive has only masked.
    mask: Mask,
    /// Whether a request that the archive lacks is sent to the network. Otherwise it fails.
    falls_back: bool,
}

/// Masks secret values in a text.
type Mask = Arc<dyn Fn(String) -> String + Send + Sync>;

impl std::fmt::Debug for HarReplay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HarReplay")
            .field("responses", &self.len())
            .field("falls_back", &self.falls_back)
            .finish_non_exhaustive()
    }
}

impl PartialEq for HarReplay {
    fn eq(&self, other: &Self) -> bool {
        self.exchanges == other.exchanges && self.falls_back == other.falls_back
    }
}

/// A request of the archive and its response.
#[derive(Debug, PartialEq)]
struct Exchange {
    headers: Headers,
    body: Option<Vec<u8>>,
    /// The target of the redirect, if the response is one.
    redirect: Option<String>,
    response: Arc<Mock>,
}

#[derive(Deserialize)]
struct Archive {
    log: Log,
}

#[derive(Deserialize)]
struct Log {
    entries: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    request: Request,
    response: Response,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Request {
    method: String,
    url: String,
    #[serde(default)]
    headers: Vec<Header>,
    post_data: Option<Content>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Response {
    status: i64,
    #[serde(default)]
    headers: Vec<Header>,
    #[serde(default)]
    content: Content,
    #[serde(default, rename = "redirectURL")]
    redirect_url: String,
}

#[derive(Deserialize)]
struct Header {
    name: String,
    value: String,
}

/// The content of a response or of a request.
#[derive(Default, Deserialize)]
struct Content {
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    encoding: String,
    /// The name of the file with the content, as Playwright writes it.
    #[serde(default, rename = "_file")]
    file: Option<String>,
}

impl HarReplay {
    /// Parses an archive. `read` returns the content of a file beside it. `mask` masks secrets in a text as they are masked in archives:
    /// requests are compared in this form.
    ///
    /// # Errors
    /// The reason why the archive is invalid.
    pub fn parse(
        archive: &[u8],
        falls_back: bool,
        read: impl Fn(&str) -> Result<Vec<u8>, String>,
        mask: Mask,
    ) -> Result<Self, String> {
        let archive: Archive =
            serde_json::from_slice(archive).map_err(|error| error.to_string())?;
        let mut exchanges: HashMap<_, Vec<_>> = HashMap::new();
        for Entry { request, response } in archive.log.entries {
            // An entry without a status was recorded without a response.
            let Ok(status @ 100..) = u16::try_from(response.status) else {
                continue;
            };
            let body = response.content.bytes(&read)?.unwrap_or_default();
            let redirects = matches!(status, 301 | 302 | 303 | 307 | 308);
            let headers = pairs(response.headers);
            let location = headers
                .iter()
                .find(|(name, _)| name.eq_ignore_ascii_case("location"));
            let target = match location {
                _ if !response.redirect_url.is_empty() => Some(&*response.redirect_url),
                location => location.map(|(_, value)| value.as_str()),
            };
            let base = url::Url::parse(&request.url).ok();
            let redirect = target
                .filter(|_| redirects)
                .and_then(|target| Some(base?.join(target).ok()?.to_string()));
            let exchange = Exchange {
                headers: pairs(request.headers),
                body: match request.post_data {
                    Some(data) => data.bytes(&read)?,
                    None => None,
                },
                redirect,
                response: Arc::new(Mock {
                    status,
                    headers: headers
                        .into_iter()
                        .filter(|(name, _)| !is_about_encoding(name) && !name.starts_with(':'))
                        .collect(),
                    body,
                    delay: Duration::ZERO,
                }),
            };
            let key = (request.method, without_fragment(&request.url).to_owned());
            exchanges.entry(key).or_default().push(exchange);
        }
        Ok(Self {
            exchanges,
            mask,
            falls_back,
        })
    }

    /// Returns the number of responses.
    pub fn len(&self) -> usize {
        self.exchanges.values().map(Vec::len).sum()
    }

    /// Returns whether the archive has no responses.
    pub fn is_empty(&self) -> bool {
        self.exchanges.is_empty()
    }

    /// Returns whether a request that the archive lacks is sent to the network. Otherwise it fails.
    pub(super) fn falls_back(&self) -> bool {
        self.falls_back
    }

    /// Returns the response to a request, if the archive has one. Redirects are followed.
    pub(super) fn response_to(&self, request: &RoutedRequest) -> Option<Arc<Mock>> {
        let mut method = request.method.clone();
        let mut url = (self.mask)(without_fragment(&request.url).to_owned());
        let mut body = request.body.clone().map(|body| {
            let masked = String::from_utf8(body).map(|text| (self.mask)(text).into_bytes());
            masked.unwrap_or_else(std::string::FromUtf8Error::into_bytes)
        });
        for _ in 0..=MAX_REDIRECTS {
            let exchanges = self.exchanges.get(&(method.clone(), url))?;
            let with_body = |exchange: &&Exchange| match (&exchange.body, &body) {
                (Some(recorded), Some(sent)) => recorded == sent,
                _ => true,
            };
            let score = |exchange: &Exchange| {
                let sent = |header| request.headers.iter().any(|own| is_equal(header, own));
                exchange
                    .headers
                    .iter()
                    .filter(|header| sent(header))
                    .count()
            };
            // The first of those with the most equal headers.
            let mut best: Option<(usize, &Exchange)> = None;
            for exchange in exchanges.iter().filter(with_body) {
                let score = score(exchange);
                if best.is_none_or(|(most, _)| score > most) {
                    best = Some((score, exchange));
                }
            }
            let (_, exchange) = best?;
            let Some(target) = &exchange.redirect else {
                return Some(exchange.response.clone());
            };
            url = without_fragment(target).to_owned();
            let status = exchange.response.status;
            // <https://fetch.spec.whatwg.org/#http-redirect-fetch>
            if matches!(status, 301 | 302) && method == "POST"
                || status == 303 && !matches!(&*method, "GET" | "HEAD")
            {
                (method, body) = ("GET".to_owned(), None);
            }
        }
        None
    }
}

impl Content {
    fn bytes(
        self,
        read: impl Fn(&str) -> Result<Vec<u8>, String>,
    ) -> Result<Option<Vec<u8>>, String> {
        if let Some(file) = &self.file {
            return read(file).map(Some);
        }
        let Some(text) = self.text else {
            return Ok(None);
        };
        match &*self.encoding {
            "base64" => BASE64_STANDARD
                .decode(text)
                .map(Some)
                .map_err(|error| format!("A content is not Base64: {error}")),
            _ => Ok(Some(text.into_bytes())),
        }
    }
}

fn is_equal(one: &(String, String), other: &(String, String)) -> bool {
    one.0.eq_ignore_ascii_case(&other.0) && one.1 == other.1
}

fn pairs(headers: Vec<Header>) -> Headers {
    let pair = |header: Header| (header.name, header.value);
    headers.into_iter().map(pair).collect()
}

fn without_fragment(url: &str) -> &str {
    url.split('#').next().unwrap_or(url)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn entry(method: &str, url: &str, body: Option<&str>, status: u16, text: &str) -> Value {
        let post = body.map(|text| json!({ "mimeType": "text/plain", "text": text }));
        let mut request = json!({ "method": method, "url": url, "headers": [] });
        if let Some(post) = post {
            request["postData"] = post;
        }
        json!({
            "request": request,
            "response": {
                "status": status,
                "headers": [{ "name": "Content-Encoding", "value": "gzip" }],
                "content": { "size": 1, "mimeType": "text/plain", "text": text },
                "redirectURL": "",
            },
        })
    }

    fn replay(entries: &[Value]) -> HarReplay {
        let archive = json!({ "log": { "entries": entries } }).to_string();
        let read = |name: &str| Ok(format!("file {name}").into_bytes());
        let mask = |text: String| text.replace("hunter2", "***");
        HarReplay::parse(archive.as_bytes(), false, read, Arc::new(mask)).unwrap()
    }

    fn text(har: &HarReplay, method: &str, url: &str, body: Option<&str>) -> Option<String> {
        let request = RoutedRequest {
            url: url.to_owned(),
            method: method.to_owned(),
            headers: vec![("Accept".to_owned(), "b".to_owned())],
            body: body.map(|body| body.as_bytes().to_vec()),
            resource_type: "fetch",
        };
        let mock = har.response_to(&request)?;
        assert!(
            mock.headers
                .iter()
                .all(|(name, _)| name != "Content-Encoding")
        );
        Some(String::from_utf8(mock.body.clone()).unwrap())
    }

    #[test]
    fn a_request_is_matched_by_method_url_and_body() {
        let har = replay(&[
            entry("GET", "http://a/x?1", None, 200, "one"),
            entry("POST", "http://a/x?1", Some("a"), 200, "posted a"),
            entry("POST", "http://a/x?1", Some("b"), 200, "posted b"),
        ]);
        assert_eq!(
            text(&har, "GET", "http://a/x?1#f", None).as_deref(),
            Some("one")
        );
        assert_eq!(
            text(&har, "POST", "http://a/x?1", Some("b")).as_deref(),
            Some("posted b")
        );
        for (method, url, body) in [
            ("POST", "http://a/x?1", Some("c")),
            ("PUT", "http://a/x?1", None),
            ("GET", "http://a/x", None),
        ] {
            let answer = text(&har, method, url, body);
            assert_eq!(answer, None, "{method} {url}");
        }
    }

    #[test]
    fn secrets_are_compared_as_they_are_masked_in_the_archive() {
        let entries = [
            entry("POST", "http://a/?k=***", Some("p=***"), 200, "in"),
            entry("POST", "http://a/?k=***", Some("p=other"), 403, "out"),
        ];
        let har = replay(&entries);
        let answer = text(&har, "POST", "http://a/?k=hunter2", Some("p=hunter2"));
        assert_eq!(answer.as_deref(), Some("in"));
    }

    #[test]
    fn the_entry_with_the_most_equal_headers_answers() {
        let mut entries = [
            entry("GET", "http://a/", None, 200, "first"),
            entry("GET", "http://a/", None, 200, "second"),
        ];
        entries[1]["request"]["headers"] = json!([{ "name": "accept", "value": "b" }]);
        assert_eq!(
            text(&replay(&entries), "GET", "http://a/", None).as_deref(),
            Some("second")
        );
    }

    #[test]
    fn redirects_are_followed_and_contents_are_decoded() {
        let mut entries = [
            entry("POST", "http://a/old", None, 303, ""),
            entry("GET", "http://a/new", None, 200, "bmV3"),
            entry("GET", "http://a/loop", None, 302, ""),
            entry("GET", "http://a/file", None, 200, ""),
        ];
        entries[0]["response"]["redirectURL"] = "/new".into();
        entries[1]["response"]["content"]["encoding"] = "base64".into();
        entries[2]["response"]["redirectURL"] = "http://a/loop".into();
        entries[3]["response"]["content"] = json!({ "_file": "1.txt" });
        let har = replay(&entries);
        assert_eq!(
            text(&har, "POST", "http://a/old", None).as_deref(),
            Some("new")
        );
        assert_eq!(text(&har, "GET", "http://a/loop", None), None);
        assert_eq!(
            text(&har, "GET", "http://a/file", None).as_deref(),
            Some("file 1.txt")
        );
    }
}
