//! Audit records of requests other than tool calls.

use crate::access::audit::{Entry, Outcome};
use crate::error::Error;
use crate::files::resource_uri::ResourceUri;
use crate::server::Server;
use crate::server::request::not_recorded;
use crate::sessions::Caller;
use crate::telemetry::RequestInfo;
use rmcp::model::ErrorData;
use serde_json::{Value, json};

/// Handles a request and records it: its method, and its parameters as the arguments.
pub(super) async fn recorded<T>(
    server: &Server,
    caller: &Caller,
    request: &RequestInfo,
    method: &'static str,
    params: Value,
    answer: impl AsyncFnOnce(Option<&Entry>) -> Result<T, ErrorData>,
) -> Result<T, ErrorData> {
    let address = params["uri"].as_str().and_then(ResourceUri::parse);
    let entry = server
        .record(&caller.principal, request, method, None, || params)
        .await;
    let entry = entry.map_err(|error| failed(&not_recorded(&error, false)))?;
    if let (Some(entry), Some(address)) = (&entry, address) {
        entry.set_session(address.session());
    }
    let answer = answer(entry.as_deref()).await;
    if let Some(entry) = entry {
        let outcome = match &answer {
            Ok(_) => Outcome::Ok,
            Err(error) => Outcome::Refused(error.code.0),
        };
        let recorded = entry.end(outcome).await;
        recorded.map_err(|error| failed(&not_recorded(&error, true)))?;
    }
    answer
}

/// Converts an error to JSON-RPC, with its error code in the data.
pub(super) fn failed(error: &Error) -> ErrorData {
    let data = json!({ "errorCode": error.code().name() });
    ErrorData::internal_error(error.to_string(), Some(data))
}
