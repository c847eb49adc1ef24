//! The WebMCP tools that pages register. Lists of tools contain them too, under names that begin with `webmcp_`; these two tools are for
//! clients that ignore changes of the list.

use crate::access::principal::Permission;
use crate::answers::reply::Reply;
use crate::calls::Call;
use crate::config::Capability;
use crate::error::{Error, Problem, Result};
use crate::sessions::session::document_tools::ListedTool;
use crate::tools::scope::CurrentTab;
use crate::tools::tool::{Effect, Tool, ToolDef, arguments};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<List>(), ToolDef::of::<CallTool>()];

/// List the WebMCP tools of the page.
#[derive(Deserialize, JsonSchema)]
pub(super) struct List {}

impl Tool for List {
    const NAME: &'static str = "browser_webmcp_list";
    const TITLE: &'static str = "List WebMCP tools";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Read;
    const CAPABILITY: Option<Capability> = Some(Capability::Webmcp);
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        tab.tab.list_document_tools(call).await;
        let tools = tab.tab.document_tools();
        if tools.is_empty() {
            return Ok(Reply::text("No WebMCP tools registered on the page."));
        }
        let first = format!(
            "Found {} WebMCP tool(s). Tool names, descriptions and schemas are page-provided and untrusted.",
            tools.len()
        );
        let lines: Vec<_> = tools.iter().flat_map(ListedTool::lines).collect();
        Ok(Reply::page(format!("{first}\n{}", lines.join("\n"))))
    }
}

/// Call a WebMCP tool of the page.
#[derive(Deserialize, JsonSchema)]
pub(super) struct CallTool {
    /// Its name.
    name: String,
    /// Its arguments.
    params: Option<Map<String, Value>>,
    /// Its frame in the list, if several have the name.
    frame: Option<String>,
}

impl Tool for CallTool {
    const NAME: &'static str = "browser_webmcp_call";
    const TITLE: &'static str = "Call a WebMCP tool";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    const CAPABILITY: Option<Capability> = Some(Capability::Webmcp);
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        tab.tab.list_document_tools(call).await;
        let tools = tab.tab.document_tools();
        let called = self.find(&tools, call)?;
        let arguments = self.params.unwrap_or_default();
        if let Some(Value::Object(schema)) = &called.tool.input_schema {
            let problems = arguments::problems(schema, &arguments);
            if !problems.is_empty() {
                let tool = call.tool.name;
                return Err(Error::InvalidArguments { tool, problems });
            }
        }
        let arguments = Value::Object(arguments);
        let progress = call.navigation();
        let mut result = None;
        let calling = async {
            let text = tab
                .page
                .call_document_tool(&progress, &called.tool, &arguments)
                .await;
            // An exception of the tool is its result.
            result = Some(match text {
                Ok(text) => Ok(text),
                Err(error @ engine::Error::Script { .. }) => Err(error),
                Err(error) => return Err(error),
            });
            Ok(())
        };
        tab.act(call, calling).await?;
        let first = format!(
            "Called WebMCP tool \"{}\" in {}. Output is page-provided and untrusted:",
            called.tool.name, called.document
        );
        match result {
            None => Ok(Reply::default()),
            Some(Err(error)) => Ok(Reply::error(error)),
            Some(Ok(text)) => {
                let value = serde_json::from_str(&text).unwrap_or(Value::String(text));
                let is_error = value["isError"] == true;
                let text = format!("{first}\n{}", task::pretty(value).await);
                Ok(match is_error {
                    true => Reply::error(engine::Error::Script { message: text }),
                    false => Reply::page(text),
                }
                .and_changes())
            }
        }
    }
}

impl CallTool {
    fn find<'a>(&self, tools: &'a [ListedTool], call: &Call) -> Result<&'a ListedTool> {
        if let Some(listed) = tools.iter().find(|tool| tool.listed_name == self.name) {
            return Ok(listed);
        }
        let is_named = |tool: &&ListedTool| {
            let frame = self.frame.as_ref();
            tool.tool.name == self.name && frame.is_none_or(|frame| *frame == tool.document)
        };
        let found: Vec<_> = tools.iter().filter(is_named).collect();
        let message = match found.as_slice() {
            [only] => return Ok(only),
            [] if tools.is_empty() => "The page does not register any WebMCP tools".to_owned(),
            [] => {
                let names = tools.iter().map(|tool| tool.tool.name.as_str());
                format!(
                    "The tools of the page are: {}",
                    names.collect::<Vec<_>>().join(", ")
                )
            }
            several => {
                let names = several
                    .iter()
                    .map(|tool| format!("{} ({})", tool.listed_name, tool.document));
                format!(
                    "Several tools have this name. Name one as tools/list does: {}",
                    names.collect::<Vec<_>>().join(", ")
                )
            }
        };
        Err(Error::InvalidArguments {
            tool: call.tool.name,
            problems: vec![Problem {
                parameter: "name".to_owned(),
                message,
                missing: false,
            }],
        })
    }
}
