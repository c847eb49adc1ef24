//! The check of a page: facts of its documents, and the addresses of its links.

use super::{AuditedElement, Shown};
use crate::backend::FrameId;
use crate::error::Result;
use crate::injected::AUDIT;
use crate::page::Page;
use crate::progress::Progress;
use futures_util::future::join_all;
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Duration;

/// How long the check of a frame may take; an unresponsive one is left out.
const FRAME_TIMEOUT: Duration = Duration::from_secs(3);

/// The result of the check of a page.
#[derive(Debug, Clone, Default)]
pub struct PageCheck {
    /// The problems, those of the main document first. Of each kind, a document has at most 50.
    pub findings: Vec<Finding>,
    /// The number of all problems of each kind.
    pub counts: BTreeMap<FindingKind, usize>,
    /// The check of the links, if it was requested.
    pub links: Option<LinkCheck>,
}

/// A problem of a document.
#[derive(Debug, Clone)]
pub struct Finding {
    /// What is wrong.
    pub kind: FindingKind,
    /// The elements; none if something is missing.
    pub elements: Vec<AuditedElement>,
    /// The address, size, id or name that belongs to it.
    pub detail: String,
}

/// The kind of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FindingKind {
    /// The document lacks the language, title or metadata that the detail names.
    Missing,
    /// An image could not be loaded or decoded; the detail is its address.
    Image,
    /// A document of https loads or sends to an address of http, which is the detail.
    Mixed,
    /// A field has no label.
    Label,
    /// A field has only a placeholder instead of a label.
    Placeholder,
    /// A target is smaller than 24 by 24 CSS pixels and too near to another one; the detail is the size.
    Target,
    /// Several elements have the same id, which is the detail.
    Id,
}

/// The result of the check of links.
#[derive(Debug, Clone)]
pub struct LinkCheck {
    /// The links whose address cannot be loaded.
    pub broken: Vec<BrokenLink>,
    /// The number of addresses that were requested.
    pub checked: usize,
    /// The number of addresses that were not requested because they may change something.
    pub unsafe_links: usize,
    /// The number of addresses that were not requested because of the limits or the policy of the page.
    pub rest: usize,
}

/// A link whose address cannot be loaded.
#[derive(Debug, Clone)]
pub struct BrokenLink {
    /// The first link with the address; `None` if it was removed.
    pub element: Option<AuditedElement>,
    /// The address.
    pub url: String,
    /// The status; `None` if there is no response.
    pub status: Option<u16>,
}

#[derive(Deserialize)]
struct Facts {
    findings: Vec<RawFinding>,
    counts: BTreeMap<FindingKind, usize>,
}

#[derive(Deserialize)]
struct RawFinding {
    kind: FindingKind,
    elements: Vec<Option<Shown>>,
    detail: String,
}

#[derive(Deserialize)]
struct RawLinks {
    broken: Vec<RawLink>,
    checked: usize,
    #[serde(rename = "unsafe")]
    unsafe_links: usize,
    rest: usize,
}

#[derive(Deserialize)]
struct RawLink {
    element: Option<Shown>,
    url: String,
    status: u16,
}

impl Page {
    /// Checks the documents of the page, and with `links` the addresses of the main document's links to its own origin, which are requested.
    pub async fn check(&self, progress: &Progress, links: bool) -> Result<PageCheck> {
        progress.log("checking the page, which is busy or very large");
        progress
            .run(async {
                self.backend.prepare_frames();
                let main = self.main_frame();
                let mut check = PageCheck::default();
                check.add(self, &main, self.facts(&main, true).await?);
                let frames: Vec<_> = self.frames().into_iter().map(|frame| frame.id).collect();
                let frames: Vec<_> = frames.into_iter().filter(|frame| *frame != main).collect();
                let below = frames
                    .iter()
                    .map(|frame| tokio::time::timeout(FRAME_TIMEOUT, self.facts(frame, false)));
                for (frame, facts) in frames.iter().zip(join_all(below).await) {
                    // An unresponsive or removed frame is left out.
                    if let Ok(Ok(facts)) = facts {
                        check.add(self, frame, facts);
                    }
                }
                if links {
                    check.links = Some(self.check_links(&main).await?);
                }
                self.end_audit(frames.iter().chain([&main])).await;
                Ok(check)
            })
            .await
    }

    async fn facts(&self, frame: &FrameId, is_main: bool) -> Result<Facts> {
        self.begin_audit(frame, AUDIT).await?;
        self.audit(frame, "page", json!({ "main": is_main })).await
    }

    async fn check_links(&self, main: &FrameId) -> Result<LinkCheck> {
        let links: RawLinks = self.audit(main, "links", json!({})).await?;
        let (shown, addresses): (Vec<_>, Vec<_>) = links
            .broken
            .into_iter()
            .map(|link| (link.element, (link.url, link.status)))
            .unzip();
        let broken = self.audited(main, shown).into_iter().zip(addresses);
        let broken = broken.map(|(element, (url, status))| BrokenLink {
            element,
            url,
            status: Some(status).filter(|status| *status > 0),
        });
        Ok(LinkCheck {
            broken: broken.collect(),
            checked: links.checked,
            unsafe_links: links.unsafe_links,
            rest: links.rest,
        })
    }
}

impl PageCheck {
    /// Adds the problems of a document.
    fn add(&mut self, page: &Page, frame: &FrameId, facts: Facts) {
        for (kind, count) in facts.counts {
            *self.counts.entry(kind).or_default() += count;
        }
        for finding in facts.findings {
            let elements = page.audited(frame, finding.elements);
            self.findings.push(Finding {
                kind: finding.kind,
                elements: elements.into_iter().flatten().collect(),
                detail: finding.detail,
            });
        }
    }
}
