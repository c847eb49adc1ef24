//! The network of a fake browser: HTTP without TLS, through a proxy of the context, `data:` URLs, files, and cookies.

use crate::backend::interception::status_text;
use crate::backend::{Cookie, Fetched, Headers, Proxy};
use crate::error::NetError;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::Request;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use percent_encoding::percent_decode_str;
use std::io::ErrorKind;
use task::spawn;
use tokio::net::TcpStream;
use url::Url;

/// Loads a URL. Redirects are not followed.
pub(super) async fn load(
    method: &str,
    url: &Url,
    headers: &Headers,
    body: Vec<u8>,
    proxy: Option<&Proxy>,
) -> Result<Fetched, NetError> {
    let found = |content_type: &str, body| {
        Ok(Fetched {
            status: 200,
            status_text: "OK".to_owned(),
            headers: vec![("content-type".to_owned(), content_type.to_owned())],
            body,
        })
    };
    match url.scheme() {
        "about" => found("text/html", Vec::new()),
        "data" => {
            let text = url.as_str().split('#').next().unwrap_or_default();
            let (head, data) = text["data:".len()..]
                .split_once(',')
                .ok_or(NetError::InvalidUrl)?;
            let data: Vec<u8> = percent_decode_str(data).collect();
            match head.strip_suffix(";base64") {
                Some(head) => found(head, BASE64_STANDARD.decode(data).unwrap_or_default()),
                None => found(head, data),
            }
        }
        "file" => {
            let path = url.to_file_path().map_err(|()| NetError::FileNotFound)?;
            let body = std::fs::read(path).map_err(|_| NetError::FileNotFound)?;
            found("text/html", body)
        }
        "http" => over_http(method, url, headers, body, proxy).await,
        "https" => Err(NetError::ConnectionRefused),
        _ => Err(NetError::UnknownUrlScheme),
    }
}

async fn over_http(
    method: &str,
    url: &Url,
    headers: &Headers,
    body: Vec<u8>,
    proxy: Option<&Proxy>,
) -> Result<Fetched, NetError> {
    let own = url.authority().rsplit('@').next().unwrap_or_default();
    let port = url.port().map_or(":80", |_| "");
    let server = match proxy {
        Some(proxy) => proxy.server.trim_start_matches("http://").to_owned(),
        None => format!("{own}{port}"),
    };
    let stream = TcpStream::connect(&server).await;
    let stream = stream.map_err(|error| match error.kind() {
        ErrorKind::ConnectionRefused if proxy.is_some() => NetError::ProxyConnectionFailed,
        ErrorKind::ConnectionRefused => NetError::ConnectionRefused,
        _ => NetError::NameNotResolved,
    })?;
    let failed = |error: hyper::Error| match error.is_incomplete_message() {
        true => NetError::EmptyResponse,
        false => NetError::ConnectionReset,
    };
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream))
        .await
        .map_err(failed)?;
    // The connection ends with the request.
    let _connection = spawn("fake request", async { drop(connection.await) });
    let target = match proxy {
        Some(_) => url.as_str(),
        None => &url[url::Position::BeforePath..url::Position::AfterQuery],
    };
    let mut request = Request::builder()
        .method(method)
        .uri(target)
        .header("host", own);
    for (name, value) in headers {
        request = request.header(name, value);
    }
    let request = request.body(Full::new(Bytes::from(body)));
    let request = request.map_err(|_| NetError::InvalidUrl)?;
    let response = sender.send_request(request).await.map_err(failed)?;
    let status = response.status().as_u16();
    let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let headers = response.headers().iter();
    let headers = headers.map(|(name, value)| (name.to_string(), text(value)));
    Ok(Fetched {
        status,
        status_text: status_text(status).to_owned(),
        headers: headers.collect(),
        body: match response.into_body().collect().await {
            Ok(body) => body.to_bytes().to_vec(),
            Err(error) => return Err(failed(error)),
        },
    })
}

/// Returns the value of a header.
pub(super) fn header<'a>(headers: &'a Headers, name: &str) -> Option<&'a str> {
    let mut headers = headers.iter();
    let found = headers.find(|(other, _)| other.eq_ignore_ascii_case(name));
    found.map(|(_, value)| value.as_str())
}

/// The cookies of a context.
#[derive(Default)]
pub(super) struct Jar(pub(super) Vec<Cookie>);

impl Jar {
    /// Adds a cookie, replacing that of the same name, domain and path.
    pub(super) fn add(&mut self, cookie: Cookie) {
        self.remove(&cookie);
        self.0.push(cookie);
    }

    pub(super) fn remove(&mut self, cookie: &Cookie) {
        let is_same = |other: &Cookie| {
            (&other.name, &other.domain, &other.path)
                == (&cookie.name, &cookie.domain, &cookie.path)
        };
        self.0.retain(|other| !is_same(other));
    }

    /// Adds the cookie of a `Set-Cookie` header or of a script.
    pub(super) fn set(&mut self, url: &Url, text: &str) {
        let mut parts = text.split(';').map(str::trim);
        let Some((name, value)) = parts.next().and_then(|pair| pair.split_once('=')) else {
            return;
        };
        let mut cookie = Cookie {
            name: name.to_owned(),
            value: value.to_owned(),
            domain: url.host_str().unwrap_or_default().to_owned(),
            path: "/".to_owned(),
            expires: -1.0,
            http_only: false,
            secure: false,
            same_site: None,
        };
        for part in parts {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            match key.to_ascii_lowercase().as_str() {
                "path" => value.clone_into(&mut cookie.path),
                "domain" => cookie.domain = format!(".{}", value.trim_start_matches('.')),
                "httponly" => cookie.http_only = true,
                "secure" => cookie.secure = true,
                "max-age" if value == "0" => return self.remove(&cookie),
                _ => {}
            }
        }
        self.add(cookie);
    }

    /// Returns the `Cookie` header of a request, or with `by_script` what a script of the document sees.
    pub(super) fn header(&self, url: &Url, by_script: bool) -> String {
        let host = url.host_str().unwrap_or_default();
        let is_sent = |cookie: &&Cookie| {
            let domain = cookie.domain.as_str();
            let is_host = match domain.strip_prefix('.') {
                Some(parent) => host == parent || host.ends_with(domain),
                None => host == domain,
            };
            is_host && url.path().starts_with(&cookie.path) && !(by_script && cookie.http_only)
        };
        let cookies = self.0.iter().filter(is_sent);
        let pairs: Vec<_> = cookies
            .map(|cookie| format!("{}={}", cookie.name, cookie.value))
            .collect();
        pairs.join("; ")
    }
}
