//! Questions to the user behind a client, as revisions from 2025-06-18 to 2025-11-25 have them.
//! <https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation>

use crate::call::{Decision, Question};
use rmcp::RoleServer;
use rmcp::model::{ClientResult, ElicitRequest, ElicitationAction, ServerRequest};
use rmcp::service::Peer;
use serde_json::json;

/// The user's decision; `None` if the client cannot ask, or the user would rather not say.
pub(super) async fn ask(peer: &Peer<RoleServer>, question: &Question) -> Option<Decision> {
    let client = peer.peer_info()?;
    client.capabilities.elicitation.as_ref()?;
    let mut properties = json!({
        "answer": {
            "type": "string",
            "title": "Answer",
            "enum": ["accept", "dismiss"],
            "description": "accept: OK, or leave; dismiss: cancel, or stay",
        },
    });
    if let Some(suggestion) = &question.suggestion {
        properties["text"] = json!({ "type": "string", "title": "Text", "default": suggestion });
    }
    let params = json!({
        "mode": "form",
        "message": question.text,
        "requestedSchema": { "type": "object", "properties": properties, "required": ["answer"] },
    });
    let request = ElicitRequest::new(serde_json::from_value(params).ok()?);
    let answer = peer.send_request(ServerRequest::ElicitRequest(request));
    let ClientResult::ElicitResult(answer) = answer.await.ok()? else {
        return None;
    };
    if answer.action != ElicitationAction::Accept {
        return None;
    }
    let content = answer.content.unwrap_or_default();
    Some(Decision {
        accept: content["answer"] == "accept",
        text: content["text"].as_str().map(str::to_owned),
    })
}
