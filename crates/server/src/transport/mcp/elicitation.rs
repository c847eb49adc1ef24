//! Elicitation: with a request of the server in revisions from 2025-06-18 to 2025-11-25, with a result that requires input in 2026-07-28,
//! whose clients then repeat the call. Secrets are never elicited: users type them on a page of the server, as the specification requires.
//! <https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation>
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr>

use crate::calls::{Decision, Elicitation, ElicitationKind, ElicitationResult};
use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, ClientResult, ElicitRequest, ElicitResult, ElicitationAction,
    ElicitationCapability, InputRequest, InputRequests, InputRequiredResult, ServerRequest,
};
use rmcp::service::Peer;
use serde_json::{Value, json};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Mutex, PoisonError};

/// The key of the elicitation among the input requests of a result.
const KEY: &str = "user";

/// How an elicitation is sent to a client.
pub(super) enum ElicitationMode {
    /// With a request during the call.
    Request(Peer<RoleServer>),
    /// With the result of the call.
    Answer(Box<RetryingClient>),
}

/// A client that repeats a call with the response of its user.
pub(super) struct RetryingClient {
    can: Option<ElicitationCapability>,
    /// The previous elicitation and the response of the user.
    state: Option<String>,
    response: Option<Value>,
    /// The elicitation of this call.
    asked: Mutex<Option<(ElicitRequest, String)>>,
}

impl RetryingClient {
    /// Returns how the client of that call supports elicitation.
    pub(super) fn new(
        can: Option<ElicitationCapability>,
        request: &mut CallToolRequestParams,
    ) -> Self {
        let responses = request.input_responses.take();
        Self {
            can,
            state: request.request_state.take(),
            response: responses.and_then(|mut responses| responses.remove(KEY)),
            asked: Mutex::default(),
        }
    }

    fn ask(&self, question: &Elicitation) -> ElicitationResult {
        let Some(can) = &self.can else {
            return ElicitationResult::Unsupported;
        };
        // The response is as trustworthy as any response of the client; it must only belong to this elicitation.
        let state = digest(question);
        if self.state.as_ref() == Some(&state)
            && let Some(response) = &self.response
        {
            return match serde_json::from_value::<ElicitResult>(response.clone()) {
                Ok(result) => to_result(result),
                Err(_) => ElicitationResult::Declined,
            };
        }
        let Some(request) = request(question, can, None) else {
            return ElicitationResult::Unsupported;
        };
        *self.asked.lock().unwrap_or_else(PoisonError::into_inner) = Some((request, state));
        ElicitationResult::RetriedByClient
    }
}

impl ElicitationMode {
    /// Sends the elicitation.
    pub(super) async fn ask(&self, question: &Elicitation) -> ElicitationResult {
        match self {
            Self::Request(peer) => request_of(peer, question).await,
            Self::Answer(returning) => returning.ask(question),
        }
    }

    /// Returns whether the client will repeat the call.
    pub(super) fn is_retried_by_client(&self) -> bool {
        match self {
            Self::Request(_) => false,
            Self::Answer(returning) => {
                let asked = returning.asked.lock();
                asked.unwrap_or_else(PoisonError::into_inner).is_some()
            }
        }
    }

    /// Returns the result that makes the client repeat the call.
    pub(super) fn answer(&self) -> Option<InputRequiredResult> {
        let Self::Answer(returning) = self else {
            return None;
        };
        let asked = returning.asked.lock();
        let (request, state) = asked.unwrap_or_else(PoisonError::into_inner).take()?;
        let requests = InputRequests::from([(KEY.to_owned(), InputRequest::Elicitation(request))]);
        Some(InputRequiredResult::new(Some(requests), Some(state)))
    }
}

async fn request_of(peer: &Peer<RoleServer>, question: &Elicitation) -> ElicitationResult {
    let client = peer.peer_info();
    let Some(can) = client.and_then(|client| client.capabilities.elicitation.clone()) else {
        return ElicitationResult::Unsupported;
    };
    let id = match &question.kind {
        ElicitationKind::OpenUrl { url } => url.rsplit('/').next(),
        ElicitationKind::Confirm { .. } | ElicitationKind::Permission | ElicitationKind::Action => {
            None
        }
    };
    let Some(request) = request(question, &can, id) else {
        return ElicitationResult::Unsupported;
    };
    let answer = peer.send_request(ServerRequest::ElicitRequest(request));
    match answer.await {
        Ok(ClientResult::ElicitResult(result)) => to_result(result),
        // The client had declared the capability.
        Ok(_) | Err(_) => ElicitationResult::Unsupported,
    }
}

/// Returns the request in a form that the client supports, if there is one.
fn request(
    question: &Elicitation,
    can: &ElicitationCapability,
    id: Option<&str>,
) -> Option<ElicitRequest> {
    // A client without details supports forms.
    let has_forms = can.form.is_some() || can.url.is_none();
    let form = |message: &str, properties: Value, required: Value| {
        json!({
            "mode": "form",
            "message": message,
            "requestedSchema": { "type": "object", "properties": properties, "required": required },
        })
    };
    let text = &question.text;
    let params = match &question.kind {
        ElicitationKind::OpenUrl { url } if can.url.is_some() => {
            let mut params = json!({ "mode": "url", "message": text, "url": url });
            if let Some(id) = id {
                params["elicitationId"] = id.into();
            }
            params
        }
        _ if !has_forms => return None,
        ElicitationKind::OpenUrl { url } => form(
            &format!("{text}\nOpen {url} and type it there, not here."),
            json!({}),
            json!([]),
        ),
        ElicitationKind::Action => form(
            &format!("{text}\nAccept when you have done it."),
            json!({}),
            json!([]),
        ),
        ElicitationKind::Permission => form(
            text,
            json!({
                "answer": {
                    "type": "string",
                    "title": "Answer",
                    "enum": ["once", "session", "decline"],
                    "description": "once: allow this call; session: allow the same tool on the same site until the session ends; decline: refuse this call",
                },
            }),
            json!(["answer"]),
        ),
        ElicitationKind::Confirm { suggestion } => {
            let mut properties = json!({
                "answer": {
                    "type": "string",
                    "title": "Answer",
                    "enum": ["accept", "dismiss"],
                    "description": "accept: OK, or leave; dismiss: cancel, or stay",
                },
            });
            if let Some(suggestion) = suggestion {
                properties["text"] =
                    json!({ "type": "string", "title": "Text", "default": suggestion });
            }
            form(text, properties, json!(["answer"]))
        }
    };
    Some(ElicitRequest::new(serde_json::from_value(params).ok()?))
}

fn to_result(result: ElicitResult) -> ElicitationResult {
    if result.action != ElicitationAction::Accept {
        return ElicitationResult::Declined;
    }
    let content = result.content.unwrap_or_default();
    let answer = content["answer"].as_str().unwrap_or_default();
    ElicitationResult::Decided(Decision {
        accept: matches!(answer, "accept" | "once" | "session"),
        for_session: answer == "session",
        text: content["text"].as_str().map(str::to_owned),
    })
}

/// Returns a digest that identifies an elicitation.
fn digest(question: &Elicitation) -> String {
    let mut hasher = DefaultHasher::new();
    format!("{question:?}").hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}
