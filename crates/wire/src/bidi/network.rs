//! The `network` module: the events of requests, and their interception.

use base64::Engine as _;
use serde::{Deserialize, Serialize};

use super::browser::UserContext;
use super::browsing_context::{BrowsingContext, Navigation};
use super::{Empty, command, event};

/// The id of a request, which a redirect keeps. <https://w3c.github.io/webdriver-bidi/#type-network-Request>
pub type Request = String;

/// Text, or binary data. [`network.BytesValue`](https://w3c.github.io/webdriver-bidi/#type-network-BytesValue)
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "type", content = "value", rename_all = "lowercase")]
pub enum BytesValue {
    String(String),
    Base64(String),
}

impl Default for BytesValue {
    fn default() -> Self {
        Self::String(String::new())
    }
}

impl From<Vec<u8>> for BytesValue {
    fn from(bytes: Vec<u8>) -> Self {
        match String::from_utf8(bytes) {
            Ok(text) => Self::String(text),
            Err(error) => {
                Self::Base64(base64::engine::general_purpose::STANDARD.encode(error.as_bytes()))
            }
        }
    }
}

impl BytesValue {
    /// Returns the bytes; invalid Base64 is empty.
    pub fn into_bytes(self) -> Vec<u8> {
        match self {
            Self::String(text) => text.into_bytes(),
            Self::Base64(text) => base64::engine::general_purpose::STANDARD
                .decode(text)
                .unwrap_or_default(),
        }
    }

    /// Returns the text; invalid UTF-8 is replaced.
    pub fn into_text(self) -> String {
        match self {
            Self::String(text) => text,
            other => String::from_utf8_lossy(&other.into_bytes()).into_owned(),
        }
    }
}

/// [`network.Header`](https://w3c.github.io/webdriver-bidi/#type-network-Header)
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Header {
    pub name: String,
    pub value: BytesValue,
}

/// [`network.SameSite`](https://w3c.github.io/webdriver-bidi/#type-network-SameSite)
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SameSite {
    Strict,
    Lax,
    None,
    #[default]
    #[serde(other)]
    Default,
}

/// [`network.Cookie`](https://w3c.github.io/webdriver-bidi/#type-network-Cookie)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Cookie {
    pub name: String,
    pub value: BytesValue,
    pub domain: String,
    pub path: String,
    pub http_only: bool,
    pub secure: bool,
    pub same_site: SameSite,
    /// The expiry, in Unix seconds.
    pub expiry: Option<f64>,
}

/// [`network.RequestData`](https://w3c.github.io/webdriver-bidi/#type-network-RequestData)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RequestData {
    pub request: Request,
    pub url: String,
    pub method: String,
    pub headers: Vec<Header>,
    pub body_size: Option<f64>,
    /// <https://fetch.spec.whatwg.org/#concept-request-destination>
    pub destination: String,
    /// <https://fetch.spec.whatwg.org/#request-initiator-type>
    pub initiator_type: Option<String>,
}

/// [`network.ResponseData`](https://w3c.github.io/webdriver-bidi/#type-network-ResponseData)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResponseData {
    pub url: String,
    pub protocol: String,
    pub status: i64,
    pub status_text: String,
    pub from_cache: bool,
    pub headers: Vec<Header>,
    pub mime_type: String,
    pub bytes_received: f64,
    pub auth_challenges: Option<Vec<AuthChallenge>>,
}

/// [`network.AuthChallenge`](https://w3c.github.io/webdriver-bidi/#type-network-AuthChallenge)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct AuthChallenge {
    pub scheme: String,
    pub realm: String,
}

macro_rules! request_event {
    ($name:ident, $method:literal, { $($field:ident: $type:ty),* }) => {
        #[doc = concat!("[`", $method, "`](https://w3c.github.io/webdriver-bidi/#event-", $method, ")")]
        #[derive(Debug, Clone, Default, Deserialize)]
        #[serde(rename_all = "camelCase", default)]
        pub struct $name {
            pub context: Option<BrowsingContext>,
            pub navigation: Option<Navigation>,
            /// Whether the request is paused.
            pub is_blocked: bool,
            pub redirect_count: u64,
            pub request: RequestData,
            /// The time, in Unix milliseconds.
            pub timestamp: f64,
            pub user_context: Option<UserContext>,
            $(pub $field: $type,)*
        }
        event!($name, $method);
    };
}
request_event!(BeforeRequestSent, "network.beforeRequestSent", {});
request_event!(ResponseStarted, "network.responseStarted", { response: ResponseData });
request_event!(ResponseCompleted, "network.responseCompleted", { response: ResponseData });
request_event!(FetchError, "network.fetchError", { error_text: String });
request_event!(AuthRequired, "network.authRequired", { response: ResponseData });

/// The phase in which requests are intercepted.
/// [`network.InterceptPhase`](https://w3c.github.io/webdriver-bidi/#type-network-InterceptPhase)
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum InterceptPhase {
    BeforeRequestSent,
    ResponseStarted,
    AuthRequired,
}

/// [`network.addIntercept`](https://w3c.github.io/webdriver-bidi/#command-network-addIntercept)
#[derive(Debug, Clone, Default, Serialize)]
pub struct AddIntercept {
    pub phases: Vec<InterceptPhase>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contexts: Option<Vec<BrowsingContext>>,
}
command!(AddIntercept, "network.addIntercept", AddInterceptResult);

/// The result of [`AddIntercept`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct AddInterceptResult {
    pub intercept: String,
}

/// [`network.removeIntercept`](https://w3c.github.io/webdriver-bidi/#command-network-removeIntercept)
#[derive(Debug, Clone, Default, Serialize)]
pub struct RemoveIntercept {
    pub intercept: String,
}
command!(RemoveIntercept, "network.removeIntercept", Empty);

/// [`network.continueRequest`](https://w3c.github.io/webdriver-bidi/#command-network-continueRequest)
#[derive(Debug, Clone, Default, Serialize)]
pub struct ContinueRequest {
    pub request: Request,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headers: Option<Vec<Header>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<BytesValue>,
}
command!(ContinueRequest, "network.continueRequest", Empty);

/// [`network.continueResponse`](https://w3c.github.io/webdriver-bidi/#command-network-continueResponse)
#[derive(Debug, Clone, Default, Serialize)]
pub struct ContinueResponse {
    pub request: Request,
}
command!(ContinueResponse, "network.continueResponse", Empty);

/// [`network.failRequest`](https://w3c.github.io/webdriver-bidi/#command-network-failRequest)
#[derive(Debug, Clone, Default, Serialize)]
pub struct FailRequest {
    pub request: Request,
}
command!(FailRequest, "network.failRequest", Empty);

/// [`network.provideResponse`](https://w3c.github.io/webdriver-bidi/#command-network-provideResponse)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProvideResponse {
    pub request: Request,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status_code: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason_phrase: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headers: Option<Vec<Header>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<BytesValue>,
}
command!(ProvideResponse, "network.provideResponse", Empty);

/// [`network.continueWithAuth`](https://w3c.github.io/webdriver-bidi/#command-network-continueWithAuth)
#[derive(Debug, Clone, Default, Serialize)]
pub struct ContinueWithAuth {
    pub request: Request,
    /// `provideCredentials`, `default` or `cancel`.
    pub action: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credentials: Option<AuthCredentials>,
}
command!(ContinueWithAuth, "network.continueWithAuth", Empty);

/// [`network.AuthCredentials`](https://w3c.github.io/webdriver-bidi/#type-network-AuthCredentials)
#[derive(Debug, Clone, Serialize)]
pub struct AuthCredentials {
    /// `password`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub username: String,
    pub password: String,
}

/// [`network.DataType`](https://w3c.github.io/webdriver-bidi/#type-network-DataType)
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum DataType {
    Request,
    Response,
}

/// [`network.addDataCollector`](https://w3c.github.io/webdriver-bidi/#command-network-addDataCollector)
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AddDataCollector {
    pub data_types: Vec<DataType>,
    pub max_encoded_data_size: u64,
    pub user_contexts: Vec<UserContext>,
}
command!(
    AddDataCollector,
    "network.addDataCollector",
    AddDataCollectorResult
);

/// The result of [`AddDataCollector`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct AddDataCollectorResult {
    pub collector: String,
}

/// [`network.getData`](https://w3c.github.io/webdriver-bidi/#command-network-getData)
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GetData {
    pub data_type: DataType,
    pub request: Request,
}
command!(GetData, "network.getData", GetDataResult);

/// The result of [`GetData`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct GetDataResult {
    pub bytes: BytesValue,
}

/// [`network.setExtraHeaders`](https://w3c.github.io/webdriver-bidi/#command-network-setExtraHeaders)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetExtraHeaders {
    pub headers: Vec<Header>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contexts: Option<Vec<BrowsingContext>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_contexts: Option<Vec<UserContext>>,
}
command!(SetExtraHeaders, "network.setExtraHeaders", Empty);

/// [`network.setCacheBehavior`](https://w3c.github.io/webdriver-bidi/#command-network-setCacheBehavior)
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetCacheBehavior {
    /// `default` or `bypass`.
    pub cache_behavior: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contexts: Option<Vec<BrowsingContext>>,
}
command!(SetCacheBehavior, "network.setCacheBehavior", Empty);
