//! Requests with their responses as entries of HTTP archives, with the additions of Playwright's traces: bodies are resources.

use super::resources::Resources;
use crate::config::Secrets;
use crate::sessions::http_archive::{self, Bodies, Body};
use engine::Request;
use serde_json::{Value, json};
use std::io;

/// A request, with the bodies that could be read.
pub(super) struct TracedExchange {
    pub(super) request: Request,
    /// The identifier of the page in the trace.
    pub(super) page: String,
    /// The identifier of the frame in the trace.
    pub(super) frame: Option<String>,
    /// The time of the trace at which the request was sent, in milliseconds.
    pub(super) started: f64,
    pub(super) bodies: Bodies,
}

impl TracedExchange {
    /// Returns the entry, without secrets, and writes the bodies.
    pub(super) fn entry(
        mut self,
        secrets: &Secrets,
        resources: &mut impl Resources,
    ) -> io::Result<Value> {
        let sent = take_bytes(&mut self.bodies.request);
        let received = take_bytes(&mut self.bodies.response);
        let mut entry = http_archive::entry(&self.page, &self.request, self.bodies);
        if let Some(body) = sent {
            let headers = &self.request.headers;
            let content_type = http_archive::header(headers, "content-type").unwrap_or_default();
            let (name, size) = write(body, content_type, secrets, resources)?;
            entry["request"]["bodySize"] = size.into();
            entry["request"]["postData"] =
                json!({ "mimeType": content_type, "params": [], "text": "", "_sha1": name });
        }
        if let Some(body) = received {
            let content = &mut entry["response"]["content"];
            let content_type = content["mimeType"].as_str().unwrap_or_default().to_owned();
            let (name, size) = write(body, &content_type, secrets, resources)?;
            content["size"] = size.into();
            content["_sha1"] = name.into();
        }
        entry["_monotonicTime"] = self.started.into();
        if let Some(frame) = self.frame {
            entry["_frameref"] = frame.into();
        }
        Ok(secrets.redacted_json(entry))
    }
}

/// Takes the bytes out of a body; the reason of one that is left out remains.
fn take_bytes(body: &mut Body) -> Option<Vec<u8>> {
    match std::mem::take(body) {
        Body::Bytes(bytes) => Some(bytes),
        other => {
            *body = other;
            None
        }
    }
}

/// Writes a body, without secrets if it is a text. Returns its name and its size.
fn write(
    body: Vec<u8>,
    content_type: &str,
    secrets: &Secrets,
    resources: &mut impl Resources,
) -> io::Result<(String, usize)> {
    let body = match String::from_utf8(body) {
        Ok(text) => secrets.redacted(text).into_bytes(),
        Err(binary) => binary.into_bytes(),
    };
    let name = resources.write_hashed(extension(content_type), &body)?;
    Ok((name, body.len()))
}

fn extension(content_type: &str) -> &'static str {
    let media_type = content_type.split(';').next().unwrap_or_default().trim();
    match media_type {
        "text/html" => "html",
        "text/css" => "css",
        "text/javascript" | "application/javascript" | "application/x-javascript" => "js",
        "application/json" => "json",
        "image/png" => "png",
        "image/jpeg" => "jpeg",
        "image/svg+xml" => "svg",
        "image/webp" => "webp",
        "image/gif" => "gif",
        "font/woff2" => "woff2",
        text if text.starts_with("text/") => "txt",
        json if json.ends_with("+json") => "json",
        _ => "dat",
    }
}
