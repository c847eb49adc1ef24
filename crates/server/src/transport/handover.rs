//! The page on which a user types a value that the agent must not see. Its unguessable address authorizes access, and is valid once.

use crate::calls::handover::{Handover, Handovers, PATH};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use http::{HeaderValue, StatusCode, header};
use std::sync::Arc;

/// The largest typed value, in bytes.
const MAX_BYTES: usize = 16 * 1024;

/// The page loads, runs, frames and stores nothing, and sends no referrer.
const HEADERS: [(header::HeaderName, &str); 6] = [
    (header::CONTENT_TYPE, "text/html; charset=utf-8"),
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    ),
    (header::CACHE_CONTROL, "no-store"),
    // With `no-referrer`, a browser would send the form with a null origin.
    (header::REFERRER_POLICY, "same-origin"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
];

/// Returns the router of the pages of open handovers.
pub(crate) fn pages<S: Clone + Send + Sync + 'static>(handovers: Arc<Handovers>) -> Router<S> {
    Router::new()
        .route(&format!("{PATH}/{{id}}"), get(show).post(take))
        .layer(DefaultBodyLimit::max(MAX_BYTES))
        .with_state(handovers)
}

async fn show(State(handovers): State<Arc<Handovers>>, Path(id): Path<String>) -> Response {
    match handovers.find(&id) {
        Some(handover) if !handover.is_done() => page(StatusCode::OK, &form(&handover)),
        _ => over(),
    }
}

async fn take(
    State(handovers): State<Arc<Handovers>>,
    Path(id): Path<String>,
    body: Bytes,
) -> Response {
    let Some(handover) = handovers.find(&id) else {
        return over();
    };
    let typed = url::form_urlencoded::parse(&body).find(|(name, _)| name == "text");
    match typed {
        Some((_, text)) if !text.is_empty() => match handover.submit(text.into_owned()) {
            true => page(
                StatusCode::OK,
                "<p>Thank you. It goes into the page; you can close this one.</p>",
            ),
            false => over(),
        },
        _ => page(StatusCode::OK, &form(&handover)),
    }
}

fn over() -> Response {
    let text = "<p>There is nothing to type here any more.</p>";
    page(StatusCode::NOT_FOUND, text)
}

fn form(handover: &Handover) -> String {
    let request = escaped(&handover.wanted.request);
    let site = escaped(&handover.wanted.site);
    format!(
        "<p>An agent that works in a browser for you asks:</p>\n<blockquote>{request}</blockquote>\n\
         <p>What you type goes into a field of <strong>{site}</strong>, and is not shown to the agent. Go on only if you expected this.</p>\n\
         <form method=\"post\"><input name=\"text\" type=\"password\" autocomplete=\"one-time-code\" aria-label=\"Text\" autofocus required> \
         <button>Send</button></form>"
    )
}

fn page(status: StatusCode, content: &str) -> Response {
    let html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>Playhouse</title>\n<style>body {{ font: 1.1rem/1.5 system-ui, sans-serif; max-width: 34rem; margin: 3rem auto; padding: 0 1rem }} \
         input, button {{ font: inherit; padding: .3rem .6rem }}</style>\n{content}\n</html>\n"
    );
    let mut response = (status, Body::from(html)).into_response();
    for (name, value) in HEADERS {
        response
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Escapes a text for HTML.
fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            c => html.push(c),
        }
    }
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_an_agent_is_escaped() {
        assert_eq!(
            escaped("<script src='x'>\"a\" & b"),
            "&lt;script src=&#39;x&#39;&gt;&quot;a&quot; &amp; b"
        );
    }
}
