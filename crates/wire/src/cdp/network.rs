//! The `Network` domain: events of requests and responses, and network conditions.

pub use super::id::LoaderId;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::cdp::id::FrameId;
use crate::cdp::{Binary, Empty, command, event, runtime};

pub use cookie::*;
pub use stream::*;

mod cookie;
mod stream;

/// HTTP headers in the order in which they were sent. A repeated header is one entry whose values are joined by line feeds.
/// [`Network.Headers`](https://chromedevtools.github.io/devtools-protocol/tot/Network/#type-Headers)
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Headers(pub Vec<(String, String)>);

impl Headers {
    /// Returns the value of a header, ignoring the case of its name.
    pub fn get(&self, name: &str) -> Option<&str> {
        let (_, value) = self
            .0
            .iter()
            .find(|(given, _)| given.eq_ignore_ascii_case(name))?;
        Some(value)
    }
}

impl FromIterator<(String, String)> for Headers {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(headers: I) -> Self {
        Self(headers.into_iter().collect())
    }
}

impl Serialize for Headers {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl<'de> Deserialize<'de> for Headers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let map = serde_json::Map::deserialize(deserializer)?;
        let text = |value| match value {
            Value::String(text) => text,
            other => other.to_string(),
        };
        Ok(map
            .into_iter()
            .map(|(name, value)| (name, text(value)))
            .collect())
    }
}

/// [`Network.enable`](https://chromedevtools.github.io/devtools-protocol/tot/Network/#method-enable)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Enable {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_total_buffer_size: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_resource_buffer_size: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_post_data_size: Option<i64>,
}
command!(Enable, "Network.enable", Empty);

/// [`Network.getResponseBody`](https://chromedevtools.github.io/devtools-protocol/tot/Network/#method-getResponseBody)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GetResponseBody {
    pub request_id: RequestId,
}
command!(
    GetResponseBody,
    "Network.getResponseBody",
    GetResponseBodyResponse
);

/// The result of [`GetResponseBody`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GetResponseBodyResponse {
    pub body: String,
    pub base64_encoded: bool,
}

/// [`Network.getRequestPostData`](https://chromedevtools.github.io/devtools-protocol/tot/Network/#method-getRequestPostData)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GetRequestPostData {
    pub request_id: RequestId,
}
command!(
    GetRequestPostData,
    "Network.getRequestPostData",
    GetRequestPostDataResponse
);

/// The result of [`GetRequestPostData`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GetRequestPostDataResponse {
    pub post_data: String,
    pub base64_encoded: bool,
}

/// [`Network.setExtraHTTPHeaders`](https://chromedevtools.github.io/devtools-protocol/tot/Network/#method-setExtraHTTPHeaders)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetExtraHTTPHeaders {
    pub headers: Headers,
}
command!(SetExtraHTTPHeaders, "Network.setExtraHTTPHeaders", Empty);

/// [`Network.setBypassServiceWorker`](https://chromedevtools.github.io/devtools-protocol/tot/Network/#method-setBypassServiceWorker)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetBypassServiceWorker {
    pub bypass: bool,
}
command!(
    SetBypassServiceWorker,
    "Network.setBypassServiceWorker",
    Empty
);

/// [`Network.emulateNetworkConditions`](https://chromedevtools.github.io/devtools-protocol/tot/Network/#method-emulateNetworkConditions)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EmulateNetworkConditions {
    pub offline: bool,
    pub latency: f64,
    pub download_throughput: f64,
    pub upload_throughput: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connection_type: Option<String>,
}
command!(
    EmulateNetworkConditions,
    "Network.emulateNetworkConditions",
    Empty
);

/// [`Network.requestWillBeSent`](https://chromedevtools.github.io/devtools-protocol/tot/Network/#event-requestWillBeSent)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RequestWillBeSent {
    pub request_id: RequestId,
    pub loader_id: LoaderId,
    #[serde(rename = "documentURL")]
    pub document_url: String,
    pub request: Request,
    pub timestamp: MonotonicTime,
    pub wall_time: TimeSinceEpoch,
    pub initiator: Initiator,
    pub redirect_has_extra_info: bool,
    pub redirect_response: Option<Response>,
    #[serde(rename = "type")]
    pub kind: Option<ResourceType>,
    pub frame_id: Option<FrameId>,
    pub has_user_gesture: Option<bool>,
}
event!(RequestWillBeSent, "Network.requestWillBeSent");

/// [`Network.requestWillBeSentExtraInfo`](https://chromedevtools.github.io/devtools-protocol/tot/Network/#event-requestWillBeSentExtraInfo)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RequestWillBeSentExtraInfo {
    pub request_id: RequestId,
    pub associated_cookies: Vec<AssociatedCookie>,
    pub headers: Headers,
}
event!(
    RequestWillBeSentExtraInfo,
    "Network.requestWillBeSentExtraInfo"
);

/// [`Network.requestServedFromCache`](https://chromedevtools.github.io/devtools-protocol/tot/Network/#event-requestServedFromCache)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RequestServedFromCache {
    pub request_id: RequestId,
}
event!(RequestServedFromCache, "Network.requestServedFromCache");

/// [`Network.responseReceived`](https://chromedevtools.github.io/devtools-protocol/tot/Network/#event-responseReceived)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResponseReceived {
    pub request_id: RequestId,
    pub loader_id: LoaderId,
    pub timestamp: MonotonicTime,
    #[serde(rename = "type")]
    pub kind: ResourceType,
    pub response: Response,
    pub has_extra_info: bool,
    pub frame_id: Option<FrameId>,
}
event!(ResponseReceived, "Network.responseReceived");

/// [`Network.responseReceivedExtraInfo`](https://chromedevtools.github.io/devtools-protocol/tot/Network/#event-responseReceivedExtraInfo)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResponseReceivedExtraInfo {
    pub request_id: RequestId,
    pub headers: Headers,
    pub status_code: i64,
    pub headers_text: Option<String>,
}
event!(
    ResponseReceivedExtraInfo,
    "Network.responseReceivedExtraInfo"
);

/// [`Network.dataReceived`](https://chromedevtools.github.io/devtools-protocol/tot/Network/#event-dataReceived)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DataReceived {
    pub request_id: RequestId,
    pub timestamp: MonotonicTime,
    pub data_length: i64,
    pub encoded_data_length: i64,
    pub data: Option<Binary>,
}
event!(DataReceived, "Network.dataReceived");

/// [`Network.loadingFinished`](https://chromedevtools.github.io/devtools-protocol/tot/Network/#event-loadingFinished)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LoadingFinished {
    pub request_id: RequestId,
    pub timestamp: MonotonicTime,
    pub encoded_data_length: f64,
    pub encoded_body_length: Option<f64>,
}
event!(LoadingFinished, "Network.loadingFinished");

/// The event is also sent for aborted requests, then with `canceled`.
/// [`Network.loadingFailed`](https://chromedevtools.github.io/devtools-protocol/tot/Network/#event-loadingFailed)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LoadingFailed {
    pub request_id: RequestId,
    pub timestamp: MonotonicTime,
    #[serde(rename = "type")]
    pub kind: ResourceType,
    pub error_text: String,
    pub canceled: Option<bool>,
    pub blocked_reason: Option<String>,
    pub cors_error_status: Option<CorsErrorStatus>,
}
event!(LoadingFailed, "Network.loadingFailed");

/// [`Network.ResourceType`](https://chromedevtools.github.io/devtools-protocol/tot/Network/#type-ResourceType)
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ResourceType {
    #[default]
    Document,
    Stylesheet,
    Image,
    Media,
    Font,
    Script,
    TextTrack,
    XHR,
    Fetch,
    Prefetch,
    EventSource,
    WebSocket,
    Manifest,
    SignedExchange,
    Ping,
    CSPViolationReport,
    Preflight,
    FedCM,
    #[serde(other)]
    Other,
}

/// [`Network.RequestId`](https://chromedevtools.github.io/devtools-protocol/tot/Network/#type-RequestId)
pub type RequestId = String;

/// [`Network.ErrorReason`](https://chromedevtools.github.io/devtools-protocol/tot/Network/#type-ErrorReason)
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ErrorReason {
    #[default]
    Failed,
    Aborted,
    TimedOut,
    AccessDenied,
    ConnectionClosed,
    ConnectionReset,
    ConnectionRefused,
    ConnectionAborted,
    ConnectionFailed,
    NameNotResolved,
    InternetDisconnected,
    AddressUnreachable,
    BlockedByClient,
    BlockedByResponse,
    /// An unknown value.
    #[serde(other)]
    Unknown,
}

/// The time, in seconds since 1970.
/// [`Network.TimeSinceEpoch`](https://chromedevtools.github.io/devtools-protocol/tot/Network/#type-TimeSinceEpoch)
pub type TimeSinceEpoch = f64;

/// Monotonic time, in seconds.
/// [`Network.MonotonicTime`](https://chromedevtools.github.io/devtools-protocol/tot/Network/#type-MonotonicTime)
pub type MonotonicTime = f64;

/// [`Network.ResourceTiming`](https://chromedevtools.github.io/devtools-protocol/tot/Network/#type-ResourceTiming)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceTiming {
    pub request_time: f64,
    pub proxy_start: f64,
    pub proxy_end: f64,
    pub dns_start: f64,
    pub dns_end: f64,
    pub connect_start: f64,
    pub connect_end: f64,
    pub ssl_start: f64,
    pub ssl_end: f64,
    pub worker_start: f64,
    pub worker_ready: f64,
    pub worker_fetch_start: f64,
    pub worker_respond_with_settled: f64,
    pub worker_router_evaluation_start: Option<f64>,
    pub worker_cache_lookup_start: Option<f64>,
    pub send_start: f64,
    pub send_end: f64,
    pub push_start: f64,
    pub push_end: f64,
    pub receive_headers_start: f64,
    pub receive_headers_end: f64,
}

/// [`Network.PostDataEntry`](https://chromedevtools.github.io/devtools-protocol/tot/Network/#type-PostDataEntry)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PostDataEntry {
    pub bytes: Option<String>,
}

/// [`Network.Request`](https://chromedevtools.github.io/devtools-protocol/tot/Network/#type-Request)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Request {
    pub url: String,
    pub url_fragment: Option<String>,
    pub method: String,
    pub headers: Headers,
    pub post_data: Option<String>,
    pub has_post_data: Option<bool>,
    pub post_data_entries: Option<Vec<PostDataEntry>>,
    pub initial_priority: String,
    pub referrer_policy: String,
}

/// [`Network.SecurityDetails`](https://chromedevtools.github.io/devtools-protocol/tot/Network/#type-SecurityDetails)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SecurityDetails {
    pub protocol: String,
    pub key_exchange: String,
    pub cipher: String,
    pub subject_name: String,
    pub san_list: Vec<String>,
    pub issuer: String,
    pub valid_from: TimeSinceEpoch,
    pub valid_to: TimeSinceEpoch,
}

/// [`Network.CorsErrorStatus`](https://chromedevtools.github.io/devtools-protocol/tot/Network/#type-CorsErrorStatus)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CorsErrorStatus {
    pub cors_error: String,
    pub failed_parameter: String,
}

/// [`Network.Response`](https://chromedevtools.github.io/devtools-protocol/tot/Network/#type-Response)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Response {
    pub url: String,
    pub status: i64,
    pub status_text: String,
    pub headers: Headers,
    pub mime_type: String,
    pub charset: String,
    pub request_headers: Option<Headers>,
    pub connection_reused: bool,
    pub connection_id: f64,
    #[serde(rename = "remoteIPAddress")]
    pub remote_ip_address: Option<String>,
    pub remote_port: Option<i64>,
    pub from_disk_cache: Option<bool>,
    pub from_service_worker: Option<bool>,
    pub from_prefetch_cache: Option<bool>,
    pub encoded_data_length: f64,
    pub timing: Option<ResourceTiming>,
    pub response_time: Option<TimeSinceEpoch>,
    pub protocol: Option<String>,
    pub security_state: String,
    pub security_details: Option<SecurityDetails>,
}

/// [`Network.Initiator`](https://chromedevtools.github.io/devtools-protocol/tot/Network/#type-Initiator)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Initiator {
    #[serde(rename = "type")]
    pub kind: String,
    pub stack: Option<runtime::StackTrace>,
    pub url: Option<String>,
    pub line_number: Option<f64>,
    pub column_number: Option<f64>,
    pub request_id: Option<RequestId>,
}

/// [`Network.NetworkConditions`](https://chromedevtools.github.io/devtools-protocol/tot/Network/#type-NetworkConditions)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NetworkConditions {
    pub url_pattern: String,
    pub latency: f64,
    pub download_throughput: f64,
    pub upload_throughput: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connection_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packet_loss: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packet_queue_length: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packet_reordering: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offline: Option<bool>,
}
