//! Tables and links as data.

use crate::call::Call;
use crate::error::Result;
use crate::scope::FreeTab;
use crate::tool::{Effect, ObjectTool, Outcome, ToolDef};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(super) const TOOLS: &[ToolDef] = &[
    ToolDef::object::<ExtractTable>(),
    ToolDef::object::<ExtractLinks>(),
];

/// Read a table.
#[derive(Deserialize, JsonSchema)]
pub(super) struct ExtractTable {
    /// The table, or what holds it.
    selector: String,
}

/// What spans several rows or columns stands in each.
#[derive(Serialize, JsonSchema)]
pub(super) struct Table {
    headers: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl ObjectTool for ExtractTable {
    const NAME: &'static str = "extract_table";
    const TITLE: &'static str = "Extract table";
    const EFFECT: Effect = Effect::Reads;
    type Scope = FreeTab;
    type Output = Table;

    async fn run(self, tab: FreeTab, call: &Call) -> Result<Outcome<Table>> {
        let locator = tab.awaited(&self.selector)?;
        let engine::Table { headers, rows } = locator.table(&call.action()).await?;
        Ok(Table { headers, rows }.into())
    }
}

/// List the links of the page.
#[derive(Deserialize, JsonSchema)]
pub(super) struct ExtractLinks {
    /// Only those in this element.
    selector: Option<String>,
}

/// Links.
#[derive(Serialize, JsonSchema)]
pub(super) struct Links {
    /// All there are; a very long list is cut off.
    count: usize,
    links: Vec<Link>,
}

/// A link.
#[derive(Serialize, JsonSchema)]
struct Link {
    text: String,
    /// Absolute.
    href: String,
}

impl ObjectTool for ExtractLinks {
    const NAME: &'static str = "extract_links";
    const TITLE: &'static str = "Extract links";
    const EFFECT: Effect = Effect::Reads;
    const WAITS: bool = false;
    type Scope = FreeTab;
    type Output = Links;

    async fn run(self, tab: FreeTab, call: &Call) -> Result<Outcome<Links>> {
        let links = match &self.selector {
            Some(selector) => tab.awaited(selector)?.links(&call.action()).await?,
            None => tab.page.links(&call.action()).await?,
        };
        let engine::Links { count, links } = links;
        let links = links
            .into_iter()
            .map(|engine::Link { text, href }| Link { text, href });
        Ok(Links {
            count,
            links: links.collect(),
        }
        .into())
    }
}
