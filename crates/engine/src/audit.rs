//! Audits of a page: the accessibility audit by axe-core, and the check of a page and its links.

mod accessibility;
mod page_check;

pub use accessibility::{AccessibilityAudit, Violation, ViolationNode};
pub use page_check::{BrokenLink, Finding, FindingKind, LinkCheck, PageCheck};

use crate::backend::FrameId;
use crate::error::Result;
use crate::page::Page;
use crate::snapshot::Descriptions;
use serde::Deserialize;
use serde_json::{Value, json};

/// The step of the injected function `audit` that removes it from the document.
const END: &str = "end";

/// An element in the result of an audit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditedElement {
    /// A target that names this element, as in snapshots.
    pub reference: String,
    /// The ARIA role.
    pub role: String,
    /// The accessible name.
    pub name: String,
    /// The tag.
    pub tag: String,
    /// The beginning of the text.
    pub text: String,
}

/// An element as the injected script describes it.
#[derive(Deserialize)]
struct Shown {
    #[serde(rename = "ref")]
    number: u64,
    role: String,
    name: String,
    tag: String,
    text: String,
}

impl Page {
    /// Calls a step of the injected function `audit`.
    async fn audit<T: serde::de::DeserializeOwned + Send + 'static>(
        &self,
        frame: &FrameId,
        step: &str,
        mut argument: Value,
    ) -> Result<T> {
        argument["step"] = step.into();
        self.call(frame, "audit", &argument).await
    }

    /// Adds the function `audit` to the injected script of a frame's document.
    async fn begin_audit(&self, frame: &FrameId, script: &str) -> Result<()> {
        // The script extends the injected script, which a first call injects.
        self.call::<Value>(frame, "origin", &json!({})).await?;
        self.unless_interrupted(self.backend.inject_script(frame, script))
            .await
    }

    /// Removes the function `audit` from these documents. A document that does not exist any more has none.
    async fn end_audit(&self, frames: impl Iterator<Item = &FrameId>) {
        let ends = frames.map(|frame| self.audit::<Value>(frame, END, json!({})));
        drop(futures_util::future::join_all(ends).await);
    }

    /// Records the refs of elements of a document. Returns the elements in the same order; `None` for a removed one.
    fn audited(
        &self,
        frame: &FrameId,
        shown: impl IntoIterator<Item = Option<Shown>>,
    ) -> Vec<Option<AuditedElement>> {
        let prefix = self.prefix_of(frame);
        let mut refs = Descriptions::default();
        let elements = shown.into_iter().map(|shown| {
            let Shown {
                number,
                role,
                name,
                tag,
                text,
            } = shown?;
            let own = format!("e{number}");
            refs.add(&own, &role, &name);
            Some(AuditedElement {
                reference: format!("{prefix}{own}"),
                role,
                name,
                tag,
                text,
            })
        });
        let elements = elements.collect();
        self.state().frames.describe_refs(frame, refs, false);
        elements
    }
}
