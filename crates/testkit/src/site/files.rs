//! The files of `examples/`, and of the folders that a test adds.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Redirect, Response};

use super::Shared;

pub(super) const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");

/// Returns the file of a path in a folder; `None` if the path leads out of it.
pub(super) fn below(folder: &Path, path: &str) -> Option<PathBuf> {
    let relative = Path::new(path.trim_start_matches('/'));
    let is_inside = relative
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    let mut file = folder.join(relative);
    if path.is_empty() || path.ends_with('/') {
        file.push("index.html");
    }
    is_inside.then_some(file)
}

pub(super) async fn serve(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let path = request.uri().path();
    if path == "/" {
        return Redirect::to("/shop/").into_response();
    }
    let Some(file) = shared.file(path) else {
        return missing(path);
    };
    match tokio::fs::read(&file).await {
        Ok(body) => (
            [
                (CONTENT_TYPE, media_type(&file)),
                (CACHE_CONTROL, "no-store"),
            ],
            body,
        )
            .into_response(),
        Err(_) => missing(path),
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
