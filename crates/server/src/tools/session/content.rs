//! The content and the metadata of a page.

use crate::access::principal::Permission;
use crate::calls::Call;
use crate::error::Result;
use crate::tools::scope::FreeTab;
use crate::tools::tool::{Effect, Object, Tool, ToolDef};
use engine::Form;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

pub(super) const TOOLS: &[ToolDef] = &[
    ToolDef::of::<GetContent>(),
    ToolDef::of::<GetPageMetadata>(),
];

/// The largest content in one answer, in bytes.
const MAX_ANSWER_BYTES: usize = 400_000;

/// Read the page.
#[derive(Deserialize, JsonSchema)]
pub(super) struct GetContent {
    /// Markdown by default. `reader`: only the main article, as Markdown.
    format: Option<Format>,
    /// Only this element.
    selector: Option<String>,
}

/// A form of content.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Format {
    Html,
    Text,
    Markdown,
    Reader,
}

/// The content of the page or element.
#[derive(Serialize, JsonSchema)]
pub(super) struct Content {
    content: String,
    /// Whether the content was truncated. A selector reads a part of it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
}

impl Tool for GetContent {
    const NAME: &'static str = "get_content";
    const TITLE: &'static str = "Get content";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Read;
    const HAS_LARGE_ANSWERS: bool = true;
    type Scope = FreeTab;
    type Output = Object<Content>;

    async fn run(self, tab: FreeTab, call: &Call) -> Result<Object<Content>> {
        let form = match self.format {
            Some(Format::Html) => Form::Html,
            Some(Format::Text) => Form::Text,
            Some(Format::Reader) => Form::Reader,
            Some(Format::Markdown) | None => Form::Markdown,
        };
        let mut content = match &self.selector {
            Some(selector) => {
                let locator = tab.locator_with_wait(selector)?;
                locator
                    .content(&call.reading(), form, MAX_ANSWER_BYTES)
                    .await?
            }
            None => {
                tab.page
                    .content(&call.reading(), form, MAX_ANSWER_BYTES)
                    .await?
            }
        };
        // Browsers differ in the number of line breaks after the last paragraph.
        if form == Form::Text {
            content
                .text
                .truncate(content.text.trim_end_matches('\n').len());
        }
        Ok(Content {
            content: content.text,
            truncated: content.is_cut,
        }
        .into())
    }
}

/// Read page metadata: meta tags, Open Graph, JSON-LD.
#[derive(Deserialize, JsonSchema)]
pub(super) struct GetPageMetadata {}

/// The metadata of the page.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Metadata {
    title: String,
    url: String,
    description: Option<String>,
    canonical: Option<String>,
    language: Option<String>,
    charset: String,
    viewport: Option<String>,
    /// Open Graph properties, without the prefix `og:`.
    open_graph: Map<String, Value>,
    json_ld: Vec<Value>,
    /// Other `meta` elements with a name.
    meta: BTreeMap<String, String>,
}

impl Tool for GetPageMetadata {
    const NAME: &'static str = "get_page_metadata";
    const TITLE: &'static str = "Get page metadata";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Read;
    const WAITS: bool = false;
    type Scope = FreeTab;
    type Output = Object<Metadata>;

    async fn run(self, tab: FreeTab, call: &Call) -> Result<Object<Metadata>> {
        let engine::Metadata {
            title,
            url,
            description,
            canonical,
            language,
            charset,
            viewport,
            open_graph,
            json_ld,
            meta,
        } = tab.page.metadata(&call.reading()).await?;
        Ok(Metadata {
            title,
            url,
            description,
            canonical,
            language,
            charset,
            viewport,
            open_graph,
            json_ld,
            meta,
        }
        .into())
    }
}
