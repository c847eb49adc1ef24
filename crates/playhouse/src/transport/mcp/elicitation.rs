//! Questions to the user behind a client: by a request of ours in revisions from 2025-06-18 to 2025-11-25, by an answer that asks for input
//! in 2026-07-28, whose clients make the call again then. What a user types as a secret is never asked for here: for that there is a page of
//! ours, as the specification wants it.
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

/// What our question is called among those that an answer may ask.
const KEY: &str = "user";

/// How a client's user is asked.
pub(super) enum ElicitationMode {
    /// While the call waits.
    Request(Peer<RoleServer>),
    /// With the answer to the call.
    Answer(Box<RetryingClient>),
}

/// A client that makes a call again with what its user said.
pub(super) struct RetryingClient {
    can: Option<ElicitationCapability>,
    /// What was asked the last time, and what the user said.
    state: Option<String>,
    response: Option<Value>,
    /// What is asked this time.
    asked: Mutex<Option<(ElicitRequest, String)>>,
}

impl RetryingClient {
    /// The client of that call, which can ask in these ways.
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
        // What comes back is the client's word, as any answer of its user; it must only be to this question.
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
    /// Puts the question.
    pub(super) async fn ask(&self, question: &Elicitation) -> ElicitationResult {
        match self {
            Self::Request(peer) => request_of(peer, question).await,
            Self::Answer(returning) => returning.ask(question),
        }
    }

    /// Whether the call will come again.
    pub(super) fn is_retried_by_client(&self) -> bool {
        match self {
            Self::Request(_) => false,
            Self::Answer(returning) => {
                let asked = returning.asked.lock();
                asked.unwrap_or_else(PoisonError::into_inner).is_some()
            }
        }
    }

    /// The answer that has it come again.
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
        // It said that it could.
        Ok(_) | Err(_) => ElicitationResult::Unsupported,
    }
}

/// The question as the client's capability allows it; `None`, where it does not.
fn request(
    question: &Elicitation,
    can: &ElicitationCapability,
    id: Option<&str>,
) -> Option<ElicitRequest> {
    // A client that says nothing more has forms.
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

/// What tells one question from another.
fn digest(question: &Elicitation) -> String {
    let mut hasher = DefaultHasher::new();
    format!("{question:?}").hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}
