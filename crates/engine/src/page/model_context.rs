//! The tools that documents register with the WebMCP API, `document.modelContext` (`navigator.modelContext` in earlier drafts):
//! <https://webmachinelearning.github.io/webmcp/>. They run in the page's own world, because polyfills define the API there.

use super::invisible::without_invisible;
use super::{Page, PageState};
use crate::backend::FrameId;
use crate::error::{Error, Result};
use crate::frame::FrameFacts;
use crate::progress::Progress;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::time::Duration;

/// Lists the tools, or calls one.
const SCRIPT: &str = include_str!("model_context.js");

/// The number of frames whose tools are listed.
const MAX_FRAMES: usize = 20;

/// The longest description, in characters.
const MAX_DESCRIPTION: usize = 1_000;

/// The longest input schema, in bytes of JSON. Larger ones are left out.
const MAX_SCHEMA: usize = 8_000;

/// The longest name, in characters.
const MAX_NAME: usize = 128;

/// How long after the commit of another document the result of a tool may arrive.
const RESULT_AFTER_COMMIT: Duration = Duration::from_secs(2);

/// A tool that a document registered. Its texts are content of the page: they are bounded, and otherwise as the page wrote them.
#[derive(Debug, Clone, PartialEq)]
pub struct DocumentTool {
    /// The frame of the document.
    pub frame: FrameId,
    /// The name.
    pub name: String,
    /// How many tools of the same name precede it in its frame.
    pub index: usize,
    /// The title.
    pub title: Option<String>,
    /// The description.
    pub description: String,
    /// The JSON Schema of the arguments, if it is an object and not too large.
    pub input_schema: Option<Value>,
    /// Whether the page says that the tool only reads.
    pub is_read_only: bool,
    /// Whether the page says that the tool has effects outside the page, such as an order.
    pub is_consequential: bool,
    /// Whether the page says that results may contain texts of others.
    pub is_untrusted: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Registered {
    name: String,
    title: Option<String>,
    description: String,
    input_schema: Option<String>,
    read_only: bool,
    consequential: bool,
    untrusted_content: bool,
}

impl Page {
    /// Returns the tools of all documents of the page, those of the main frame first. Frames that fail or do not respond have none.
    pub async fn document_tools(&self, progress: &Progress) -> Vec<DocumentTool> {
        let frames = self.frames();
        let frames = frames.iter().take(MAX_FRAMES);
        let listed = frames.map(|frame| self.tools_of(progress, frame));
        let listed = futures_util::future::join_all(listed).await;
        listed.into_iter().flatten().collect()
    }

    async fn tools_of(&self, progress: &Progress, frame: &FrameFacts) -> Vec<DocumentTool> {
        let function = format!("() => ({SCRIPT})(null)");
        // Not `evaluate_in`, which terminates the script of a busy page at the timeout.
        let listed = self.backend.evaluate(&frame.id, &function, None);
        let listed = progress.run(self.unless_interrupted(listed)).await;
        let listed = listed.ok().flatten().unwrap_or_default();
        let listed: Vec<Registered> = serde_json::from_value(listed).unwrap_or_default();
        let mut known: HashMap<String, usize> = HashMap::new();
        let listed = listed.into_iter().map(|tool| {
            let count = known.entry(tool.name.clone()).or_default();
            *count += 1;
            (*count - 1, tool)
        });
        let listed = listed.filter(|(_, tool)| {
            let is_visible = without_invisible(tool.name.clone(), "") == tool.name;
            is_visible && (1..=MAX_NAME).contains(&tool.name.chars().count())
        });
        listed
            .map(|(index, tool)| DocumentTool {
                frame: frame.id.clone(),
                name: tool.name,
                index,
                title: tool.title.map(bounded),
                description: bounded(tool.description),
                input_schema: tool.input_schema.as_deref().and_then(schema),
                is_read_only: tool.read_only,
                is_consequential: tool.consequential,
                is_untrusted: tool.untrusted_content,
            })
            .collect()
    }

    /// Calls a tool of a document. Returns its result as the text that the tool gave, or as JSON. Chromium cancels a tool of its own API when
    /// the call ends before it.
    ///
    /// # Errors
    ///
    /// [`Error::Script`] if the tool fails or does not exist any more.
    pub async fn call_document_tool(
        &self,
        progress: &Progress,
        tool: &DocumentTool,
        arguments: &Value,
    ) -> Result<String> {
        let DocumentTool { name, index, .. } = tool;
        // The protocol names only the first of several tools.
        if *index == 0 {
            let called = self.call_tool_of_browser(tool, arguments);
            if let Some(result) = progress.run(self.unless_interrupted(called)).await? {
                return Ok(result);
            }
        }
        let call = json!({ "name": name, "index": index, "arguments": arguments });
        let function = format!("() => ({SCRIPT})({call})");
        match self.evaluate_in(progress, &tool.frame, &function).await? {
            Some(Value::String(text)) => Ok(text),
            _ => Err(Error::Script {
                message: format!("the page has no tool \"{name}\" any more"),
            }),
        }
    }
}

impl Page {
    /// Calls a tool of the browser's own WebMCP API; `None` if there is no such tool. The browser cancels it if this future is dropped.
    async fn call_tool_of_browser(
        &self,
        tool: &DocumentTool,
        arguments: &Value,
    ) -> Result<Option<String>> {
        let frame = &tool.frame;
        let commits = |state: &PageState| state.frames.get(frame).map(|frame| frame.commits);
        let before = commits(&self.state());
        let left = async {
            self.until(|state| commits(state) != before).await?;
            // The result of a tool that navigates arrives after the commit.
            tokio::time::sleep(RESULT_AFTER_COMMIT).await;
            Err(Error::DocumentGone {})
        };
        tokio::select! {
            biased;
            result = self.backend.call_document_tool(frame, &tool.name, arguments) => result,
            gone = left => gone,
        }
    }
}

fn schema(text: &str) -> Option<Value> {
    let schema = (text.len() <= MAX_SCHEMA).then(|| serde_json::from_str::<Value>(text).ok())??;
    schema.is_object().then_some(schema)
}

fn bounded(text: String) -> String {
    let text = without_invisible(text, "");
    match text.char_indices().nth(MAX_DESCRIPTION) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
