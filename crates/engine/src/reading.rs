//! Reading a page as data: its text, elements, tables, links, and metadata.

use crate::backend::{FrameId, Handle};
use crate::error::{Error, Result};
use crate::injected::READER;
use crate::locator::{Element, Locator};
use crate::page::Page;
use crate::progress::Progress;
use crate::snapshot::Descriptions;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The largest number of texts that are read at once.
const MAX_TEXTS: usize = 1_000;

/// The format of content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// The serialized DOM.
    Html,
    /// The rendered text.
    Text,
    /// The visible content as Markdown.
    Markdown,
    /// The main article as Markdown; the whole page if there is no article.
    Reader,
}

/// The content of a page or an element.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Content {
    /// The text.
    #[serde(rename = "content")]
    pub text: String,
    /// Whether it was truncated.
    #[serde(rename = "cut")]
    pub is_cut: bool,
}

/// An element.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "their names say it")]
pub struct ElementFacts {
    pub tag: String,
    pub attributes: BTreeMap<String, String>,
    pub text: String,
    pub role: String,
    /// Accessible name.
    pub name: String,
    /// In the viewport of its frame, in CSS pixels.
    #[serde(rename = "box")]
    pub bounds: Map<String, Value>,
    /// A target that names this element, as long as its document, role and name stay the same.
    #[serde(rename = "ref", deserialize_with = "local_ref")]
    pub reference: String,
}

fn local_ref<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    u64::deserialize(deserializer).map(|number| format!("e{number}"))
}

/// A table: a cell that spans several rows or columns is repeated in each of them.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Table {
    /// One header for each column; empty if the table has none.
    pub headers: Vec<String>,
    /// The rows, all of the same length.
    pub rows: Vec<Vec<String>>,
}

/// The links of a page or an element.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Links {
    /// The number of links.
    pub count: usize,
    /// The first links.
    pub links: Vec<Link>,
}

/// A link.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Link {
    /// The text, or the accessible name.
    pub text: String,
    /// The URL, absolute if it is valid.
    pub href: String,
}

/// The metadata of a document.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Metadata {
    /// The title.
    pub title: String,
    /// The URL.
    pub url: String,
    /// `<meta name=description>`
    pub description: Option<String>,
    /// `<link rel=canonical>`, absolute.
    pub canonical: Option<String>,
    /// The language, a BCP 47 tag.
    pub language: Option<String>,
    /// The character encoding, such as `UTF-8`.
    pub charset: String,
    /// `<meta name=viewport>`
    pub viewport: Option<String>,
    /// Open Graph properties without the prefix `og:`; texts, or lists for repeated names.
    pub open_graph: Map<String, Value>,
    /// All valid JSON-LD blocks.
    pub json_ld: Vec<Value>,
    /// All other named `<meta>` elements, in lower case.
    pub meta: BTreeMap<String, String>,
}

impl Page {
    /// Returns the main document in that format, up to `room` UTF-16 units.
    pub async fn content(&self, progress: &Progress, form: Form, room: usize) -> Result<Content> {
        let frame = self.main_frame();
        let argument = json!({ "form": form, "room": room });
        let content = async {
            self.prepare(&frame, form).await?;
            self.call(&frame, "read", &argument).await
        };
        progress.run(content).await
    }

    /// Injects the script into a frame that a format needs.
    async fn prepare(&self, frame: &FrameId, form: Form) -> Result<()> {
        match form {
            Form::Reader => {
                self.unless_interrupted(self.backend.inject_script(frame, READER))
                    .await
            }
            Form::Html | Form::Text | Form::Markdown => Ok(()),
        }
    }

    /// Returns the links of the main document.
    pub async fn links(&self, progress: &Progress) -> Result<Links> {
        self.extract(progress, "links", json!({})).await
    }

    /// Returns the metadata of the main document.
    pub async fn metadata(&self, progress: &Progress) -> Result<Metadata> {
        self.extract(progress, "metadata", json!({})).await
    }

    async fn extract<T: serde::de::DeserializeOwned + Send + 'static>(
        &self,
        progress: &Progress,
        function: &str,
        argument: Value,
    ) -> Result<T> {
        let frame = self.main_frame();
        progress.run(self.call(&frame, function, &argument)).await
    }
}

impl Locator {
    /// Returns the element in that format, up to `room` UTF-16 units.
    pub async fn content(&self, progress: &Progress, form: Form, room: usize) -> Result<Content> {
        let element = self.resolve(progress).await?;
        let argument = json!({ "form": form, "room": room });
        let content = async {
            element.page.prepare(&element.frame, form).await?;
            element.call("read", argument).await
        };
        progress.run(content).await
    }

    /// Returns the links in the element, including itself.
    pub async fn links(&self, progress: &Progress) -> Result<Links> {
        let element = self.resolve(progress).await?;
        progress.run(element.call("links", json!({}))).await
    }

    /// Returns the table that the element is, or the first one in it. Fails with `ElementMismatch` if there is none.
    pub async fn table(&self, progress: &Progress) -> Result<Table> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Answer {
            Table(Table),
            Mismatch { mismatch: String },
        }
        let element = self.resolve(progress).await?;
        match progress.run(element.call("table", json!({}))).await? {
            Answer::Table(table) => Ok(table),
            Answer::Mismatch { mismatch } => Err(Error::ElementMismatch {
                selector: self.to_string(),
                reason: format!("{mismatch} is not a table and contains none"),
            }),
        }
    }

    /// Returns the rendered texts of all matching elements.
    pub async fn all_texts(&self, progress: &Progress) -> Result<Vec<String>> {
        progress
            .run(async {
                let (_, found) = self.find_all(MAX_TEXTS).await?;
                texts(&found.elements).await
            })
            .await
    }

    /// Returns the facts of the element.
    pub async fn describe(&self, progress: &Progress) -> Result<ElementFacts> {
        let element = self.resolve(progress).await?;
        let facts = progress.run(describe(std::slice::from_ref(&element))).await;
        facts?
            .pop()
            .ok_or_else(|| element.not_actionable(crate::error::Obstacle::Detached))
    }

    /// Returns the facts of the first matching elements, and the number of matches.
    pub async fn describe_all(
        &self,
        progress: &Progress,
        limit: usize,
    ) -> Result<(usize, Vec<ElementFacts>)> {
        progress
            .run(async {
                let (_, found) = self.find_all(limit).await?;
                Ok((found.count, describe(&found.elements).await?))
            })
            .await
    }
}

/// Returns the complete text of each of these elements of one document, except removed ones.
async fn texts(elements: &[Element]) -> Result<Vec<String>> {
    let Some(first) = elements.first() else {
        return Ok(Vec::new());
    };
    let handles: Vec<_> = elements.iter().map(|element| element.handle).collect();
    let argument = json!({ "handles": handles });
    first.page.call(&first.frame, "texts", &argument).await
}

/// Returns the facts of each of these elements of one document, except removed ones.
pub(crate) async fn describe(elements: &[Element]) -> Result<Vec<ElementFacts>> {
    let Some(first) = elements.first() else {
        return Ok(Vec::new());
    };
    let handles: Vec<_> = elements.iter().map(|element| element.handle).collect();
    describe_handles(&first.page, &first.frame, &handles).await
}

/// Returns the facts of each of these elements of a frame's document, except removed ones.
pub(crate) async fn describe_handles(
    page: &Page,
    frame: &FrameId,
    handles: &[Handle],
) -> Result<Vec<ElementFacts>> {
    let mut all: Vec<ElementFacts> = page
        .call(frame, "describe", &json!({ "handles": handles }))
        .await?;
    let prefix = page.prefix_of(frame);
    let mut refs = Descriptions::default();
    for facts in &all {
        refs.add(&facts.reference, &facts.role, &facts.name);
    }
    page.state().frames.describe_refs(frame, refs, false);
    for facts in &mut all {
        facts.reference = format!("{prefix}{}", facts.reference);
    }
    Ok(all)
}
