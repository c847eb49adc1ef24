//! The files of `examples/`.

use std::path::{Component, Path};

use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Redirect, Response};

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");

pub(super) async fn serve(request: Request) -> Response {
    let path = request.uri().path();
    if path == "/" {
        return Redirect::to("/shop/").into_response();
    }
    let mut file = Path::new(EXAMPLES).join(path.trim_start_matches('/'));
    if path.ends_with('/') {
        file.push("index.html");
    }
    let climbs = file
        .strip_prefix(EXAMPLES)
        .is_ok_and(|below| below.components().any(|part| part == Component::ParentDir));
    let body = if climbs {
        None
    } else {
        tokio::fs::read(&file).await.ok()
    };
    match body {
        Some(body) => (
            [
                (CONTENT_TYPE, media_type(&file)),
                (CACHE_CONTROL, "no-store"),
            ],
            body,
        )
            .into_response(),
        None => missing(path),
    }
}

fn missing(path: &str) -> Response {
    let text = format!(
        "<!doctype html><title>Not found</title><h1>Not found</h1><p>Nothing stands at {path}.</p>"
    );
    (
        StatusCode::NOT_FOUND,
        [(CONTENT_TYPE, "text/html; charset=utf-8")],
        text,
    )
        .into_response()
}

fn media_type(file: &Path) -> &'static str {
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("json") => "application/json",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        _ => "application/octet-stream",
    }
}
