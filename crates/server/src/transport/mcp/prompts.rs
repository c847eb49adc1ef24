//! `prompts/list`, `prompts/get`, and `completion/complete` for their arguments.

use super::request::unknown_method;
use super::resources::completed;
use crate::server::Server;
use crate::server::prompts::{Problem, Prompt, Prompts, Refusal};
use crate::server::resources::Resources;
use rmcp::model::{
    CompleteRequestParams, CompleteResult, ErrorData, GetPromptRequestParams, GetPromptResult,
    ListPromptsResult, PromptArgument, PromptMessage, PromptsCapability, Reference, Role,
    ServerCapabilities,
};
use serde_json::{Map, Value, json};

/// The methods of this module.
pub(super) const METHODS: &[&str] = &["prompts/list", "prompts/get", "completion/complete"];

/// Declares the capabilities of prompts and completions.
pub(super) fn enable(capabilities: &mut ServerCapabilities) {
    capabilities.prompts = Some(PromptsCapability::default());
    capabilities.completions = Some(Map::new());
}

pub(super) fn list(server: &Server) -> Result<ListPromptsResult, ErrorData> {
    let list = prompts(server, "prompts/list")?.iter().map(described);
    Ok(ListPromptsResult::with_all_items(list.collect()))
}

pub(super) fn get(
    server: &Server,
    request: GetPromptRequestParams,
) -> Result<GetPromptResult, ErrorData> {
    let arguments = request.arguments.unwrap_or_default();
    let (prompt, text) = prompts(server, "prompts/get")?
        .get(&request.name, &arguments)
        .map_err(refused)?;
    let message = PromptMessage::new_text(Role::User, text);
    Ok(GetPromptResult::new(vec![message]).with_description(prompt.description.clone()))
}

pub(super) fn complete(
    server: &Server,
    resources: &Resources,
    request: CompleteRequestParams,
) -> Result<CompleteResult, ErrorData> {
    let prompts = prompts(server, "completion/complete")?;
    let Reference::Prompt(prompt) = request.r#ref else {
        return Err(ErrorData::invalid_params("Not a prompt", None));
    };
    let argument = request.argument;
    let values = prompts.complete(&prompt.name, &argument.name, &argument.value, || {
        resources.session_ids()
    });
    completed(values.map_err(refused)?)
}

fn prompts<'a>(server: &'a Server, method: &str) -> Result<&'a Prompts, ErrorData> {
    server.prompts().ok_or_else(|| unknown_method(method))
}

fn described(prompt: &Prompt) -> rmcp::model::Prompt {
    let arguments = prompt.arguments.iter().map(|argument| {
        let mut described = PromptArgument::new(&argument.name).with_required(argument.required);
        described.description.clone_from(&argument.description);
        described
    });
    let arguments: Vec<_> = arguments.collect();
    let mut described = rmcp::model::Prompt::new(
        &prompt.name,
        Some(&prompt.description),
        (!arguments.is_empty()).then_some(arguments),
    );
    described.title.clone_from(&prompt.title);
    described
}

fn refused(refusal: Refusal) -> ErrorData {
    let data = match &refusal {
        Refusal::Unknown { name, nearest } => json!({ "prompt": name, "nearest": nearest }),
        Refusal::Arguments { name, problems } => {
            json!({ "prompt": name, "problems": listed(problems) })
        }
        Refusal::Template { name, .. } => json!({ "prompt": name }),
    };
    ErrorData::invalid_params(refusal.to_string(), Some(data))
}

fn listed(problems: &[Problem]) -> Vec<Value> {
    let listed = problems
        .iter()
        .map(|problem| json!({ "argument": problem.argument, "reason": problem.reason }));
    listed.collect()
}
