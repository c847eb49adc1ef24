//! Conversion of Firefox's network events to events of the engine.

use crate::backend::address::is_external;
use crate::backend::{FrameId, Headers, LoaderId, RequestEvent, ResponseFacts};
use crate::error::NetError;
use wire::RawEvent;
use wire::bidi::Event;
use wire::bidi::network::{
    AuthRequired, BeforeRequestSent, BytesValue, FetchError, Header, RequestData,
    ResponseCompleted, ResponseData, ResponseStarted,
};

/// A network event.
pub(super) enum Network {
    Responded(ResponseStarted),
    Completed(ResponseCompleted),
    Failed(FetchError),
    Challenged(AuthRequired),
}

impl Network {
    pub(super) fn read(event: &RawEvent) -> Option<Self> {
        let read = match &*event.method {
            ResponseStarted::METHOD => event.parse()?.map(Self::Responded),
            ResponseCompleted::METHOD => event.parse()?.map(Self::Completed),
            FetchError::METHOD => event.parse()?.map(Self::Failed),
            AuthRequired::METHOD => event.parse()?.map(Self::Challenged),
            _ => return None,
        };
        read.inspect_err(|error| tracing::warn!(%error, "an event is not understood"))
            .ok()
    }
}

pub(super) fn started(sent: BeforeRequestSent, body: Option<String>) -> RequestEvent {
    let has_body = sent.request.body_size.is_some_and(|size| size > 0.0);
    RequestEvent::Started {
        is_navigation: sent.navigation.is_some(),
        resource_type: resource_type(&sent.request, sent.navigation.is_some()).to_owned(),
        id: sent.request.request.into(),
        frame: sent.context.map(FrameId::from),
        loader: sent.navigation.map(LoaderId::from),
        url: sent.request.url,
        method: sent.request.method,
        headers: headers(sent.request.headers),
        has_body,
        body,
        at: sent.timestamp / 1000.0,
    }
}

pub(super) fn responded(started: ResponseStarted) -> RequestEvent {
    RequestEvent::Responded {
        id: started.request.request.into(),
        response: facts(started.response),
        has_raw_headers: false,
        at: started.timestamp / 1000.0,
    }
}

pub(super) fn completed(completed: ResponseCompleted) -> RequestEvent {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a count of bytes"
    )]
    let size = completed.response.bytes_received.max(0.0) as u64;
    RequestEvent::Finished {
        id: completed.request.request.into(),
        size,
        at: completed.timestamp / 1000.0,
    }
}

/// Whether a request with the same identifier follows.
pub(super) fn is_redirect(response: &ResponseData) -> bool {
    target(response).is_some()
}

/// Whether a response redirects to a URL that another program would open.
pub(super) fn leaves_browser(response: &ResponseData) -> bool {
    let target = target(response).map(|header| header.value.clone().into_text());
    target.is_some_and(|url| is_external(&url))
}

/// Returns the header of a redirect with its target.
fn target(response: &ResponseData) -> Option<&Header> {
    let mut headers = response.headers.iter();
    let target = headers.find(|header| header.name.eq_ignore_ascii_case("location"));
    target.filter(|_| matches!(response.status, 301 | 302 | 303 | 307 | 308))
}

/// Whether the request log includes a request. It excludes URLs that need no network and favicons that the browser requests.
pub(super) fn is_logged(request: &RequestData) -> bool {
    let own = request.initiator_type.is_none() && request.destination == "image";
    let favicon = own && {
        let path = request.url.split(['?', '#']).next();
        path.is_some_and(|path| path.ends_with("/favicon.ico"))
    };
    let inside = [
        "data:",
        "about:",
        "blob:",
        "resource:",
        "chrome:",
        "moz-extension:",
    ];
    !favicon && !inside.iter().any(|scheme| request.url.starts_with(scheme))
}

pub(super) fn resource_type(request: &RequestData, is_navigation: bool) -> &'static str {
    let initiator = request.initiator_type.as_deref().unwrap_or_default();
    match request.destination.as_str() {
        _ if is_navigation => "document",
        "document" | "iframe" | "frame" | "object" | "embed" => "document",
        "style" | "xslt" => "stylesheet",
        "script" | "worker" | "sharedworker" | "serviceworker" | "audioworklet"
        | "paintworklet" => "script",
        "image" => "image",
        "font" => "font",
        "audio" | "video" => "media",
        "track" => "texttrack",
        "manifest" => "manifest",
        "report" => "cspreport",
        _ => match initiator {
            "xmlhttprequest" => "xhr",
            "fetch" => "fetch",
            "beacon" | "ping" => "ping",
            "eventsource" => "eventsource",
            _ if is_handshake(request) => "websocket",
            _ if accepts_event_stream(request) => "eventsource",
            _ if request.method == "POST" => "ping",
            _ => "other",
        },
    }
}

/// Returns whether a request opens a WebSocket. Firefox reports it with the scheme of HTTP.
fn is_handshake(request: &RequestData) -> bool {
    request.url.starts_with("ws:")
        || request.url.starts_with("wss:")
        || request
            .headers
            .iter()
            .any(|header| header.name.eq_ignore_ascii_case("sec-websocket-version"))
}

fn accepts_event_stream(request: &RequestData) -> bool {
    request.headers.iter().any(|header| {
        header.name.eq_ignore_ascii_case("accept")
            && header.value.clone().into_text() == "text/event-stream"
    })
}

pub(super) fn entries(headers: Headers) -> Vec<Header> {
    let entry = |(name, value)| Header {
        name,
        value: BytesValue::String(value),
    };
    headers.into_iter().map(entry).collect()
}

pub(super) fn headers(headers: Vec<Header>) -> Headers {
    let pair = |header: Header| (header.name.to_ascii_lowercase(), header.value.into_text());
    headers.into_iter().map(pair).collect()
}

fn facts(response: ResponseData) -> ResponseFacts {
    let mime_type = response.mime_type.split(';').next().unwrap_or_default();
    ResponseFacts {
        status: u16::try_from(response.status).unwrap_or(0),
        status_text: response.status_text,
        mime_type: mime_type.trim().to_owned(),
        headers: headers(response.headers),
        from_cache: response.from_cache,
        from_service_worker: false,
        remote_address: None,
        protocol: Some(response.protocol).filter(|protocol| !protocol.is_empty()),
    }
}

/// Returns the net error for an error of Firefox; [`NetError::Other`] with Firefox's name if Chromium has none.
pub(super) fn net_error(word: &str) -> NetError {
    const NAMES: &[(&str, NetError)] = &[
        ("NS_BINDING_ABORTED", NetError::Aborted),
        ("NS_ERROR_ABORT", NetError::Aborted),
        ("NS_ERROR_CONNECTION_REFUSED", NetError::ConnectionRefused),
        ("NS_ERROR_UNKNOWN_HOST", NetError::NameNotResolved),
        (
            "NS_ERROR_UNKNOWN_PROXY_HOST",
            NetError::ProxyConnectionFailed,
        ),
        (
            "NS_ERROR_PROXY_CONNECTION_REFUSED",
            NetError::ProxyConnectionFailed,
        ),
        ("NS_ERROR_NET_RESET", NetError::ConnectionReset),
        ("NS_ERROR_NET_EMPTY_RESPONSE", NetError::EmptyResponse),
        ("NS_ERROR_NET_INTERRUPT", NetError::ConnectionClosed),
        (
            "NS_ERROR_NET_PARTIAL_TRANSFER",
            NetError::ContentLengthMismatch,
        ),
        ("NS_ERROR_NET_TIMEOUT", NetError::ConnectionTimedOut),
        ("NS_ERROR_REDIRECT_LOOP", NetError::TooManyRedirects),
        ("NS_ERROR_OFFLINE", NetError::InternetDisconnected),
        ("NS_ERROR_FILE_NOT_FOUND", NetError::FileNotFound),
        ("NS_ERROR_FILE_ACCESS_DENIED", NetError::AccessDenied),
        ("NS_ERROR_PORT_ACCESS_NOT_ALLOWED", NetError::UnsafePort),
        ("NS_ERROR_UNKNOWN_PROTOCOL", NetError::UnknownUrlScheme),
        ("NS_ERROR_CORRUPTED_CONTENT", NetError::InvalidResponse),
        ("NS_ERROR_DOM_BAD_URI", NetError::InvalidUrl),
        ("NS_ERROR_BLOCKED_BY_POLICY", NetError::BlockedByCsp),
        ("deniedPortAccess", NetError::UnsafePort),
        ("connectionFailure", NetError::ConnectionRefused),
        ("dnsNotFound", NetError::NameNotResolved),
        ("netOffline", NetError::InternetDisconnected),
        ("netReset", NetError::ConnectionReset),
        ("netInterrupt", NetError::ConnectionClosed),
        ("netTimeout", NetError::ConnectionTimedOut),
        ("redirectLoop", NetError::TooManyRedirects),
        ("unknownProtocolFound", NetError::UnknownUrlScheme),
        ("fileNotFound", NetError::FileNotFound),
        ("SEC_ERROR_UNKNOWN_ISSUER", NetError::CertAuthorityInvalid),
        (
            "MOZILLA_PKIX_ERROR_SELF_SIGNED_CERT",
            NetError::CertAuthorityInvalid,
        ),
        ("SSL_ERROR_BAD_CERT_DOMAIN", NetError::CertCommonNameInvalid),
        ("SEC_ERROR_EXPIRED_CERTIFICATE", NetError::CertDateInvalid),
    ];
    // The URL is opened by another program.
    if word.ends_with("is not allowed in this context") {
        return NetError::Aborted;
    }
    let known = NAMES.iter().find(|(name, _)| *name == word);
    known.map_or_else(|| word.into(), |(_, error)| error.clone())
}
