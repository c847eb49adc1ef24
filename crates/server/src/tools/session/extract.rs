//! Reading tables and links as data.

use crate::access::principal::Permission;
use crate::calls::Call;
use crate::error::Result;
use crate::tools::scope::FreeTab;
use crate::tools::tool::{Effect, Object, Tool, ToolDef};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(super) const TOOLS: &[ToolDef] =
    &[ToolDef::of::<ExtractTable>(), ToolDef::of::<ExtractLinks>()];

/// Read a table.
#[derive(Deserialize, JsonSchema)]
pub(super) struct ExtractTable {
    /// The table, or what holds it.
    selector: String,
}

/// A table. A cell that spans several rows or columns is repeated in each.
#[derive(Serialize, JsonSchema)]
pub(super) struct Table {
    headers: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Tool for ExtractTable {
    const NAME: &'static str = "extract_table";
    const TITLE: &'static str = "Extract table";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Read;
    type Scope = FreeTab;
    type Output = Object<Table>;

    async fn run(self, tab: FreeTab, call: &Call) -> Result<Object<Table>> {
        let locator = tab.locator_with_wait(&self.selector)?;
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

/// The links.
#[derive(Serialize, JsonSchema)]
pub(super) struct Links {
    /// The number of all links; a very long list is truncated.
    count: usize,
    links: Vec<Link>,
}

/// A link.
#[derive(Serialize, JsonSchema)]
struct Link {
    text: String,
    /// The absolute URL.
    href: String,
}

impl Tool for ExtractLinks {
    const NAME: &'static str = "extract_links";
    const TITLE: &'static str = "Extract links";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Read;
    const WAITS: bool = false;
    type Scope = FreeTab;
    type Output = Object<Links>;

    async fn run(self, tab: FreeTab, call: &Call) -> Result<Object<Links>> {
        let links = match &self.selector {
            Some(selector) => {
                tab.locator_with_wait(selector)?
                    .links(&call.action())
                    .await?
            }
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
