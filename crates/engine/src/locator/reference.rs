//! Resolving refs. The page function that resolves a ref also checks that its element is still the one that was described.

use super::{Hit, Locator, Lookup, LookupRoot};
use crate::backend::FrameId;
use crate::error::{ElementState, ElementSummary, Error, Result, StaleElement};
use crate::page::without_invisible;
use crate::snapshot::Descriptions;
use serde::Deserialize;
use serde_json::json;

/// The result of the page function `byRef`.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum RefAnswer {
    Found(Hit),
    Stale { stale: Box<StaleFacts> },
}

/// The facts of a stale ref; nothing if the document never had it. Without `now`, the element was removed.
#[derive(Deserialize)]
pub(super) struct StaleFacts {
    was: Option<ElementSummary>,
    now: Option<ElementSummary>,
    #[serde(rename = "match")]
    best_match: Option<ElementSummary>,
}

impl Locator {
    /// Returns the lookup of a ref in its document.
    pub(super) async fn lookup_ref<'a>(&self, name: &'a str) -> Result<Lookup<'a>> {
        let (sequence, local) = split(name).ok_or_else(|| stale(name, StaleElement::default()))?;
        let (frame, which) = {
            let state = self.page.state();
            let which = json!({
                "ref": local,
                "testId": state.test_id.as_ref(),
                "marks": state.marks_hidden,
            });
            (state.frames.by_sequence(sequence).cloned(), which)
        };
        match frame {
            Some(frame) => Ok(Lookup {
                frame,
                find: "byRef",
                which,
                place: LookupRoot::Ref(name),
            }),
            None => Err(stale(name, self.replaced_facts(sequence, &local).await)),
        }
    }

    /// Returns the element of a ref, or why it is stale.
    pub(super) fn ref_hit(&self, name: &str, frame: &FrameId, answer: RefAnswer) -> Result<Hit> {
        let facts = match answer {
            RefAnswer::Found(hit) => return Ok(hit),
            RefAnswer::Stale { stale } => *stale,
        };
        let now = facts.now.map(|now| self.shown(frame, now));
        let now = now.map_or(ElementState::Removed, ElementState::Changed);
        let facts = StaleElement {
            now: facts.was.is_some().then_some(now),
            was: facts.was.map(|was| self.shown(frame, was)),
            best_match: facts.best_match.map(|best| self.shown(frame, best)),
        };
        Err(stale(name, facts))
    }

    /// Returns the facts of a ref whose document was replaced, or removed with its frame.
    async fn replaced_facts(&self, sequence: u32, local: &str) -> StaleElement {
        let main = self.page.main_frame();
        let (frame, was, now) = {
            let state = self.page.state();
            let Some(document) = state.frames.replaced(sequence) else {
                return StaleElement::default();
            };
            let was = document.refs.get(local).map(|(role, name)| ElementSummary {
                role: role.to_owned(),
                name: name.to_owned(),
                within: String::new(),
                reference: None,
            });
            let shown = state.frames.get(&document.frame);
            let url = shown.map(|frame| frame.url.clone());
            match url {
                Some(url) if document.frame == main => {
                    (main, was, ElementState::PageNavigated { url })
                }
                Some(url) => (
                    document.frame.clone(),
                    was,
                    ElementState::FrameNavigated { url },
                ),
                None => (main, was, ElementState::FrameRemoved),
            }
        };
        let best_match = match &was {
            Some(was) => self.similar(&frame, was).await,
            None => None,
        };
        StaleElement {
            was,
            now: Some(now),
            best_match,
        }
    }

    /// Returns the element of the frame's document that has the role and name; `None` if several have them or the document cannot be read.
    async fn similar(&self, frame: &FrameId, was: &ElementSummary) -> Option<ElementSummary> {
        let marks = self.page.state().marks_hidden;
        let question = json!({ "role": was.role, "name": was.name, "marks": marks });
        let asked = self.page.call(frame, "similar", &question);
        let found: Option<ElementSummary> = asked.await.ok()?;
        found.map(|found| self.shown(frame, found))
    }

    /// Returns the element with the complete ref, which is recorded as given, and without invisible characters if those are removed.
    fn shown(&self, frame: &FrameId, mut element: ElementSummary) -> ElementSummary {
        if let Some(reference) = &mut element.reference {
            let mut refs = Descriptions::default();
            refs.add(&reference, &element.role, &element.name);
            self.page.state().frames.describe_refs(frame, refs, false);
            reference.insert_str(0, &self.page.prefix_of(frame));
        }
        if self.page.state().marks_hidden {
            element.name = without_invisible(element.name, "\\");
            element.within = without_invisible(element.within, "\\");
        }
        element
    }
}

/// Returns the sequence number of the document and the ref within it: 2 and `e6` of `f2e6`.
fn split(name: &str) -> Option<(u32, String)> {
    match name.strip_prefix('f').and_then(|rest| rest.split_once('e')) {
        Some((sequence, number)) => Some((sequence.parse().ok()?, format!("e{number}"))),
        None => Some((0, name.to_owned())),
    }
}

fn stale(name: &str, facts: StaleElement) -> Error {
    Error::StaleRef {
        reference: name.to_owned(),
        facts: Box::new(facts),
    }
}
