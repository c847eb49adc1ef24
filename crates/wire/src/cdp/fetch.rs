//! The `Fetch` domain: interception of requests.

use serde::{Deserialize, Serialize};

use super::{Binary, Empty, command, event, network, page};

/// [`Fetch.enable`](https://chromedevtools.github.io/devtools-protocol/tot/Fetch/#method-enable)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Enable {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patterns: Option<Vec<RequestPattern>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handle_auth_requests: Option<bool>,
}
command!(Enable, "Fetch.enable", Empty);

/// [`Fetch.disable`](https://chromedevtools.github.io/devtools-protocol/tot/Fetch/#method-disable)
#[derive(Debug, Clone, Default, Serialize)]
pub struct Disable {}
command!(Disable, "Fetch.disable", Empty);

/// [`Fetch.continueRequest`](https://chromedevtools.github.io/devtools-protocol/tot/Fetch/#method-continueRequest)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ContinueRequest {
    pub request_id: RequestId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub post_data: Option<Binary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headers: Option<Vec<HeaderEntry>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intercept_response: Option<bool>,
}
command!(ContinueRequest, "Fetch.continueRequest", Empty);

/// Fulfills a request with a mock response.
/// [`Fetch.fulfillRequest`](https://chromedevtools.github.io/devtools-protocol/tot/Fetch/#method-fulfillRequest)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FulfillRequest {
    pub request_id: RequestId,
    pub response_code: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_headers: Option<Vec<HeaderEntry>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub binary_response_headers: Option<Binary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<Binary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_phrase: Option<String>,
}
command!(FulfillRequest, "Fetch.fulfillRequest", Empty);

/// [`Fetch.failRequest`](https://chromedevtools.github.io/devtools-protocol/tot/Fetch/#method-failRequest)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FailRequest {
    pub request_id: RequestId,
    pub error_reason: network::ErrorReason,
}
command!(FailRequest, "Fetch.failRequest", Empty);

/// [`Fetch.continueWithAuth`](https://chromedevtools.github.io/devtools-protocol/tot/Fetch/#method-continueWithAuth)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ContinueWithAuth {
    pub request_id: RequestId,
    pub auth_challenge_response: AuthChallengeResponse,
}
command!(ContinueWithAuth, "Fetch.continueWithAuth", Empty);

/// [`Fetch.getResponseBody`](https://chromedevtools.github.io/devtools-protocol/tot/Fetch/#method-getResponseBody)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GetResponseBody {
    pub request_id: RequestId,
}
command!(
    GetResponseBody,
    "Fetch.getResponseBody",
    GetResponseBodyResponse
);

/// The result of [`GetResponseBody`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GetResponseBodyResponse {
    pub body: String,
    pub base64_encoded: bool,
}

/// A request (or, with a status or error reason, its response) is paused until one of the commands of this domain.
/// [`Fetch.requestPaused`](https://chromedevtools.github.io/devtools-protocol/tot/Fetch/#event-requestPaused)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RequestPaused {
    pub request_id: RequestId,
    pub request: network::Request,
    pub frame_id: page::FrameId,
    pub resource_type: network::ResourceType,
    pub response_error_reason: Option<network::ErrorReason>,
    pub response_status_code: Option<i64>,
    pub response_status_text: Option<String>,
    pub response_headers: Option<Vec<HeaderEntry>>,
    pub network_id: Option<network::RequestId>,
    pub redirected_request_id: Option<RequestId>,
}
event!(RequestPaused, "Fetch.requestPaused");

/// [`Fetch.authRequired`](https://chromedevtools.github.io/devtools-protocol/tot/Fetch/#event-authRequired)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AuthRequired {
    pub request_id: RequestId,
    pub request: network::Request,
    pub frame_id: page::FrameId,
    pub resource_type: network::ResourceType,
    pub auth_challenge: AuthChallenge,
}
event!(AuthRequired, "Fetch.authRequired");

/// [`Fetch.RequestId`](https://chromedevtools.github.io/devtools-protocol/tot/Fetch/#type-RequestId)
pub type RequestId = String;

/// [`Fetch.RequestStage`](https://chromedevtools.github.io/devtools-protocol/tot/Fetch/#type-RequestStage)
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize)]
pub enum RequestStage {
    #[default]
    Request,
    Response,
}

/// [`Fetch.RequestPattern`](https://chromedevtools.github.io/devtools-protocol/tot/Fetch/#type-RequestPattern)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestPattern {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url_pattern: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_type: Option<network::ResourceType>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_stage: Option<RequestStage>,
}

/// [`Fetch.HeaderEntry`](https://chromedevtools.github.io/devtools-protocol/tot/Fetch/#type-HeaderEntry)
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct HeaderEntry {
    pub name: String,
    pub value: String,
}

/// [`Fetch.AuthChallenge`](https://chromedevtools.github.io/devtools-protocol/tot/Fetch/#type-AuthChallenge)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AuthChallenge {
    pub source: Option<AuthSource>,
    pub origin: String,
    pub scheme: String,
    pub realm: String,
}

/// [`Fetch.AuthChallengeResponse`](https://chromedevtools.github.io/devtools-protocol/tot/Fetch/#type-AuthChallengeResponse)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AuthChallengeResponse {
    pub response: AuthResponse,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub username: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub password: Option<String>,
}

/// The values of `response` in `Fetch.AuthChallengeResponse`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize)]
pub enum AuthResponse {
    #[default]
    Default,
    CancelAuth,
    ProvideCredentials,
}

/// The values of `source` in `Fetch.AuthChallenge`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize)]
pub enum AuthSource {
    #[default]
    Server,
    Proxy,
    /// An unknown value.
    #[serde(other)]
    Unknown,
}
