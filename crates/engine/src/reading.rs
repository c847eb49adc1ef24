//! What a page says, as data: its text, elements, tables, links, and facts about itself. Finding elements and acting on them is elsewhere.

use crate::backend::FrameId;
use crate::error::{Error, Result};
use crate::injected::READER;
use crate::locator::{Element, Locator};
use crate::page::Page;
use crate::progress::Progress;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// How many texts are read at once.
const MAX_TEXTS: usize = 1_000;

/// The form that content is wanted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// As the document stands now.
    Html,
    /// As it is laid out.
    Text,
    /// What people read of it.
    Markdown,
    /// The main article as Markdown; all of it where no article is found.
    Reader,
}

/// Content of a page or an element.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Content {
    /// The text.
    #[serde(rename = "content")]
    pub text: String,
    /// It was longer than there was room for.
    #[serde(rename = "cut")]
    pub is_cut: bool,
}

/// An element for those who look for one; long texts are cut off.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct ElementFacts {
    /// Its name in lower case.
    pub tag: String,
    /// As written.
    pub attributes: BTreeMap<String, String>,
    /// As it is laid out.
    pub text: String,
    /// The accessible role.
    pub role: String,
    /// The accessible name.
    pub name: String,
    /// `x`, `y`, `width` and `height` in the viewport of its frame, in CSS pixels.
    #[serde(rename = "box")]
    pub bounds: Map<String, Value>,
    /// Names it until the next snapshot of the page, as refs of a snapshot do.
    #[serde(rename = "ref", deserialize_with = "local_ref")]
    pub reference: String,
}

fn local_ref<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    u64::deserialize(deserializer).map(|number| format!("e{number}"))
}

/// A table: what spans several rows or columns stands in each of them.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Table {
    /// One for each column; empty where the table has none.
    pub headers: Vec<String>,
    /// All of the same length.
    pub rows: Vec<Vec<String>>,
}

/// The links of a page or an element.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Links {
    /// How many there are.
    pub count: usize,
    /// The first of them.
    pub links: Vec<Link>,
}

/// A link.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Link {
    /// What it says, or its accessible name.
    pub text: String,
    /// Absolute, where it is a URL.
    pub href: String,
}

/// What a document says of itself.
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
    /// A BCP 47 tag.
    pub language: Option<String>,
    /// Such as `UTF-8`.
    pub charset: String,
    /// `<meta name=viewport>`
    pub viewport: Option<String>,
    /// Open Graph properties without their `og:`; texts, or lists where there are several of one name.
    pub open_graph: Map<String, Value>,
    /// Every JSON-LD block that can be read.
    pub json_ld: Vec<Value>,
    /// All other named `<meta>`, in lower case.
    pub meta: BTreeMap<String, String>,
}

impl Page {
    /// The main document in that form, as far as there is room for it, in UTF-16 units.
    pub async fn content(&self, progress: &Progress, form: Form, room: usize) -> Result<Content> {
        let frame = self.main_frame();
        let argument = json!({ "form": form, "room": room });
        let content = async {
            self.prepare(&frame, form).await?;
            self.call(&frame, "read", &argument).await
        };
        progress.run(content).await
    }

    /// Brings the code to a frame that a form of content needs.
    async fn prepare(&self, frame: &FrameId, form: Form) -> Result<()> {
        match form {
            Form::Reader => {
                self.unless_interrupted(self.backend.inject_script(frame, READER))
                    .await
            }
            Form::Html | Form::Text | Form::Markdown => Ok(()),
        }
    }

    /// The links of the main document.
    pub async fn links(&self, progress: &Progress) -> Result<Links> {
        self.extract(progress, "links", json!({})).await
    }

    /// What the main document says of itself.
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
    /// The element in that form, as far as there is room for it, in UTF-16 units.
    pub async fn content(&self, progress: &Progress, form: Form, room: usize) -> Result<Content> {
        let element = self.resolve(progress).await?;
        let argument = json!({ "form": form, "room": room });
        let content = async {
            element.page.prepare(&element.frame, form).await?;
            element.call("read", argument).await
        };
        progress.run(content).await
    }

    /// The links in the element, itself included.
    pub async fn links(&self, progress: &Progress) -> Result<Links> {
        let element = self.resolve(progress).await?;
        progress.run(element.call("links", json!({}))).await
    }

    /// The table that the element is, or the first one in it. Fails with `ElementMismatch` where there is none.
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

    /// The texts of all elements that match now, as they are laid out.
    pub async fn all_texts(&self, progress: &Progress) -> Result<Vec<String>> {
        progress
            .run(async {
                let (_, found) = self.find_all(MAX_TEXTS).await?;
                texts(&found.elements).await
            })
            .await
    }

    /// What the element is.
    pub async fn describe(&self, progress: &Progress) -> Result<ElementFacts> {
        let element = self.resolve(progress).await?;
        let facts = progress.run(describe(std::slice::from_ref(&element))).await;
        facts?
            .pop()
            .ok_or_else(|| element.not_actionable(crate::error::Obstacle::Detached))
    }

    /// What the first elements are that match now, and how many match.
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

/// The whole text of each of these elements of one document, as far as it is still there.
async fn texts(elements: &[Element]) -> Result<Vec<String>> {
    let Some(first) = elements.first() else {
        return Ok(Vec::new());
    };
    let handles: Vec<_> = elements.iter().map(|element| element.handle).collect();
    let argument = json!({ "handles": handles });
    first.page.call(&first.frame, "texts", &argument).await
}

/// What each of these elements of one document is, as far as it is still there.
async fn describe(elements: &[Element]) -> Result<Vec<ElementFacts>> {
    let Some(first) = elements.first() else {
        return Ok(Vec::new());
    };
    let handles: Vec<_> = elements.iter().map(|element| element.handle).collect();
    let (page, frame) = (&first.page, &first.frame);
    let mut all: Vec<ElementFacts> = page
        .call(frame, "describe", &json!({ "handles": handles }))
        .await?;
    let prefix = page.prefix_of(frame);
    for facts in &mut all {
        facts.reference = format!("{prefix}{}", facts.reference);
    }
    Ok(all)
}
