//! The accessibility audit: axe-core runs in each document, and merges the results of all documents in the first one.

use super::{AuditedElement, Shown};
use crate::backend::{FrameId, Handle};
use crate::error::{Error, Obstacle, Result};
use crate::injected::axe_script;
use crate::locator::Locator;
use crate::page::Page;
use crate::progress::Progress;
use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

/// How long axe-core may take in a frame; an unresponsive one is left out.
const FRAME_TIMEOUT: Duration = Duration::from_secs(10);
/// The number of elements that get refs.
const MAX_ELEMENTS: usize = 2_000;

/// The result of an accessibility audit.
#[derive(Debug, Clone)]
pub struct AccessibilityAudit {
    /// The violated rules.
    pub violations: Vec<Violation>,
    /// The number of rules that need a review.
    pub incomplete: usize,
    /// The number of rules that were followed.
    pub passes: usize,
    /// The number of frames without a result.
    pub left_out: usize,
    /// The report of axe-core, if it was requested: its nodes have `ref`, as far as they have refs.
    pub report: Option<Value>,
}

/// A violated rule.
#[derive(Debug, Clone)]
pub struct Violation {
    /// The identifier of the rule.
    pub rule: String,
    /// The impact: `minor`, `moderate`, `serious` or `critical`.
    pub impact: String,
    /// What the rule requires.
    pub help: String,
    /// The tags, such as `wcag2aa`.
    pub tags: Vec<String>,
    /// The elements that violate it.
    pub nodes: Vec<ViolationNode>,
}

/// An element that violates a rule.
#[derive(Debug, Clone)]
pub struct ViolationNode {
    /// The element; `None` if it was removed or is beyond the limit.
    pub element: Option<AuditedElement>,
    /// The selector, with those of the frames around it.
    pub selector: String,
    /// Messages of which one at least must not apply any more.
    pub any: Vec<String>,
    /// Messages of which none must apply any more.
    pub all: Vec<String>,
}

/// The result of `run` in a document.
#[derive(Deserialize)]
#[serde(untagged)]
enum Run {
    Unknown {
        unknown: Vec<String>,
        tags: Vec<String>,
    },
    Gone {
        #[expect(dead_code, reason = "the key distinguishes the variant")]
        gone: bool,
    },
    Done {
        frames: Vec<Option<AxeFrame>>,
        #[serde(default)]
        partial: Value,
    },
}

/// A frame in the audited part of a document.
#[derive(Deserialize)]
struct AxeFrame {
    handle: Handle,
    number: u64,
    context: Value,
}

/// The result of `finish`.
#[derive(Deserialize)]
struct Finished {
    violations: Vec<Value>,
    counts: Counts,
    report: Value,
}

#[derive(Deserialize)]
struct Counts {
    incomplete: usize,
    passes: usize,
}

/// A document with a result.
struct Document {
    frame: FrameId,
    /// The indices of the documents of its frames, by the numbers of the frame elements.
    frames: HashMap<u64, usize>,
}

/// An audit in progress. `documents` and `partials` are in the order of a depth-first walk; a frame without a result is null.
struct Audit<'a> {
    page: &'a Page,
    script: String,
    rules: &'a [String],
    documents: Vec<Option<Document>>,
    partials: Vec<Value>,
}

impl Page {
    /// Audits the page, or the element, by these rules or by the rules with these tags; by the usual ones if there are none. Fails with
    /// `UnknownAuditRules` if they do not exist. `report` is whether the report is requested.
    pub async fn audit_accessibility(
        &self,
        progress: &Progress,
        target: Option<&Locator>,
        rules: &[String],
        report: bool,
    ) -> Result<AccessibilityAudit> {
        let element = match target {
            Some(target) => Some(target.resolve(progress).await?),
            None => None,
        };
        progress.log("auditing the page, which is busy or very large");
        progress
            .run(async {
                let script = axe_script().map_err(|error| Error::protocol("axe-core", error))?;
                let mut audit = Audit {
                    page: self,
                    script,
                    rules,
                    documents: Vec::new(),
                    partials: Vec::new(),
                };
                self.backend.prepare_frames();
                let (frame, argument) = match &element {
                    Some(element) => (element.frame.clone(), json!({ "handle": element.handle })),
                    None => (self.main_frame(), json!({})),
                };
                let done = match audit.run(frame, argument).await? {
                    Run::Unknown { unknown, tags } => {
                        Err(Error::UnknownAuditRules { unknown, tags })
                    }
                    Run::Gone { .. } => Err(match &element {
                        Some(element) => element.not_actionable(Obstacle::Detached),
                        None => Error::DocumentGone {},
                    }),
                    Run::Done { frames, .. } => {
                        audit.run_frames(0, frames).await?;
                        audit.finish(report).await
                    }
                };
                let frames = audit.documents.iter().flatten().map(|it| &it.frame);
                self.end_audit(frames).await;
                done
            })
            .await
    }
}

impl Audit<'_> {
    /// Runs axe-core in a document, and adds the document.
    async fn run(&mut self, frame: FrameId, mut argument: Value) -> Result<Run> {
        argument["rules"] = self.rules.into();
        self.page.begin_audit(&frame, &self.script).await?;
        let run = self.page.audit(&frame, "run", argument);
        let run = self.page.or_terminate(&frame, run).await?;
        self.documents.push(Some(Document {
            frame,
            frames: HashMap::new(),
        }));
        Ok(run)
    }

    /// Runs axe-core in the frames of a document, in their order.
    fn run_frames(
        &mut self,
        document: usize,
        frames: Vec<Option<AxeFrame>>,
    ) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            let Some(Some(outer)) = self.documents.get(document) else {
                return Ok(());
            };
            let handles: Vec<_> = frames.iter().flatten().map(|frame| frame.handle).collect();
            let mut ids = match handles.as_slice() {
                [] => Vec::new(),
                handles => {
                    let backend = &self.page.backend;
                    backend.content_frames(&outer.frame, handles).await?
                }
            }
            .into_iter();
            for frame in frames {
                let index = self.documents.len();
                let known = frame.and_then(|frame| Some((ids.next().flatten()?, frame)));
                let Some((id, frame)) = known else {
                    self.leave_out();
                    continue;
                };
                if let Some(Some(outer)) = self.documents.get_mut(document) {
                    outer.frames.insert(frame.number, index);
                }
                let argument = json!({ "context": frame.context });
                let run = tokio::time::timeout(FRAME_TIMEOUT, self.run(id, argument)).await;
                match run {
                    Ok(Ok(Run::Done { frames, partial })) => {
                        self.partials.push(partial);
                        self.run_frames(index, frames).await?;
                    }
                    // An unresponsive or removed frame has no result.
                    _ => {
                        self.documents.truncate(index);
                        self.leave_out();
                    }
                }
            }
            Ok(())
        })
    }

    fn leave_out(&mut self) {
        self.documents.push(None);
        self.partials.push(Value::Null);
    }

    /// Merges the results, and reads the elements of their nodes.
    async fn finish(&mut self, report: bool) -> Result<AccessibilityAudit> {
        let Some(Some(first)) = self.documents.first() else {
            return Err(Error::DocumentGone {});
        };
        let argument = json!({
            "partials": std::mem::take(&mut self.partials),
            "rules": self.rules,
            "whole": report,
        });
        let Finished {
            mut violations,
            counts,
            mut report,
        } = self.page.audit(&first.frame, "finish", argument).await?;
        let incomplete = report.get_mut("incomplete").and_then(Value::as_array_mut);
        let all = violations.iter_mut();
        let mut nodes: Vec<_> = all
            .chain(incomplete.into_iter().flatten())
            .filter_map(|rule| rule["nodes"].as_array_mut())
            .flatten()
            .collect();
        let elements = self.identify(&mut nodes).await;
        for (node, element) in nodes.into_iter().zip(&elements) {
            if let Some(element) = element {
                node["ref"] = element.reference.as_str().into();
            }
        }
        let mut elements = elements.into_iter();
        let found = violations
            .iter()
            .map(|rule| violation(rule, &mut elements))
            .collect();
        let report = report.is_object().then(|| {
            report["violations"] = violations.into();
            report
        });
        Ok(AccessibilityAudit {
            violations: found,
            incomplete: counts.incomplete,
            passes: counts.passes,
            left_out: self.documents.iter().filter(|it| it.is_none()).count(),
            report,
        })
    }

    /// Returns the elements of nodes, whose paths it removes.
    async fn identify(&self, nodes: &mut [&mut Value]) -> Vec<Option<AuditedElement>> {
        let mut elements = vec![None; nodes.len()];
        // The numbers of the elements in each document, and the positions of their nodes.
        let mut wanted: BTreeMap<usize, (Vec<u64>, Vec<usize>)> = BTreeMap::new();
        for (position, node) in nodes.iter_mut().enumerate() {
            let path = node
                .as_object_mut()
                .and_then(|node| node.shift_remove("path"));
            let path = path.and_then(|path| serde_json::from_value::<Vec<u64>>(path).ok());
            let Some((number, around)) = path.as_deref().and_then(<[u64]>::split_last) else {
                continue;
            };
            let document = around.iter().try_fold(0, |document, number| {
                let document = self.documents.get(document)?.as_ref()?;
                document.frames.get(number).copied()
            });
            if let Some(document) = document
                && position < MAX_ELEMENTS
            {
                let (numbers, positions) = wanted.entry(document).or_default();
                numbers.push(*number);
                positions.push(position);
            }
        }
        for (document, (numbers, positions)) in wanted {
            let Some(Some(Document { frame, .. })) = self.documents.get(document) else {
                continue;
            };
            let argument = json!({ "numbers": numbers });
            let shown: Result<Vec<Option<Shown>>> =
                self.page.audit(frame, "identify", argument).await;
            // The elements of a document that was replaced meanwhile have no refs.
            let shown = self.page.audited(frame, shown.unwrap_or_default());
            for (position, element) in positions.into_iter().zip(shown) {
                elements[position] = element;
            }
        }
        elements
    }
}

/// Returns a violated rule of the report. `elements` begins with the elements of its nodes.
fn violation(
    rule: &Value,
    elements: &mut impl Iterator<Item = Option<AuditedElement>>,
) -> Violation {
    let text = |key: &str| rule[key].as_str().unwrap_or_default().to_owned();
    let items = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let nodes = items(&rule["nodes"]).into_iter().map(|node| {
        let messages = |keys: &[&str]| -> Vec<String> {
            let checks = keys.iter().flat_map(|key| items(&node[*key]));
            checks
                .filter_map(|check| Some(check["message"].as_str()?.to_owned()))
                .collect()
        };
        ViolationNode {
            element: elements.next().flatten(),
            selector: selector(&node["target"]),
            any: messages(&["any"]),
            all: messages(&["all", "none"]),
        }
    });
    Violation {
        nodes: nodes.collect(),
        rule: text("id"),
        impact: text("impact"),
        help: text("help"),
        tags: items(&rule["tags"])
            .iter()
            .filter_map(|tag| Some(tag.as_str()?.to_owned()))
            .collect(),
    }
}

/// Returns a target of axe-core as one text: selectors of frames and shadow hosts, then that of the element.
fn selector(target: &Value) -> String {
    match target {
        Value::String(selector) => selector.clone(),
        Value::Array(parts) => parts.iter().map(selector).collect::<Vec<_>>().join(" > "),
        _ => String::new(),
    }
}
