//! Audits of the page: accessibility, and a quick check.

mod check;

use crate::access::principal::Permission;
use crate::answers::escape::one_line;
use crate::answers::reply::{Part, Reply};
use crate::calls::Call;
use crate::config::Capability;
use crate::error::Result;
use crate::tools::scope::CurrentTab;
use crate::tools::tool::{Effect, Tool, ToolDef};
use engine::{AccessibilityAudit, AuditedElement, Violation, ViolationNode};
use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Duration;

pub(super) const TOOLS: &[ToolDef] = &[
    ToolDef::of::<AuditAccessibility>(),
    ToolDef::of::<check::CheckPage>(),
];

/// How long an audit may take.
const AUDIT_TIMEOUT: Duration = Duration::from_secs(60);
/// The number of elements of a rule, or of problems of a kind, that an answer lists.
const MAX_LISTED: usize = 20;
/// The maximum length of a text in an answer, in characters.
const MAX_TEXT: usize = 200;

/// Audit accessibility with axe-core.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct AuditAccessibility {
    /// Only this element: ref or selector.
    target: Option<String>,
    /// Only these rules or tags, e.g. wcag2aa.
    rules: Option<Vec<String>>,
    /// Save the full JSON report to this file.
    filename: Option<String>,
}

impl Tool for AuditAccessibility {
    const NAME: &'static str = "browser_audit_accessibility";
    const TITLE: &'static str = "Audit accessibility";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Read;
    const CAPABILITY: Option<Capability> = Some(Capability::Audit);
    const EXTRA_TIME: Duration = AUDIT_TIMEOUT;
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        let progress = call.within(call.timeout_or(AUDIT_TIMEOUT));
        let target = match &self.target {
            Some(target) => Some(tab.attached(call, target).await?),
            None => None,
        };
        let files = tab.files(call).await;
        let file = self.filename.as_deref();
        let file = file.map(|name| files.writable(name)).transpose()?;
        let audit = tab
            .page
            .audit_accessibility(
                &progress,
                target.as_ref(),
                self.rules.as_deref().unwrap_or_default(),
                file.is_some(),
            )
            .await?;
        let reply = Reply::page(summary(&audit));
        let (Some(file), Some(report)) = (file, audit.report) else {
            return Ok(reply);
        };
        let is_large = task::is_large(&report);
        let text = task::compute_if_large(is_large, move || serde_json::to_string_pretty(&report));
        let text = files.redacted(text.await.unwrap_or_default());
        files
            .write_as(&file, text, call.tool.is_sensitive())
            .await?;
        Ok(reply.and(Part::File {
            title: "Accessibility report".to_owned(),
            link: file.link,
        }))
    }
}

/// Returns the counts of an audit, and its violations, those with the highest impact first.
fn summary(audit: &AccessibilityAudit) -> String {
    let nodes = audit.violations.iter().map(|rule| rule.nodes.len()).sum();
    let violations = match audit.violations.len() {
        0 => "No violations".to_owned(),
        rules => format!("{} violated by {}", rules_of(rules), nodes_of(nodes)),
    };
    let mut text = format!(
        "{violations}. To review: {}. Passed: {}.",
        audit.incomplete, audit.passes
    );
    if audit.left_out > 0 {
        text += &format!(" Frames not audited: {}.", audit.left_out);
    }
    let mut violations: Vec<_> = audit.violations.iter().collect();
    violations.sort_by_key(|violation| {
        let impacts = ["critical", "serious", "moderate", "minor"];
        impacts
            .iter()
            .position(|impact| *impact == violation.impact)
    });
    for violation in violations {
        text += &describe(violation);
    }
    text
}

fn rules_of(count: usize) -> String {
    counted(count, "rule")
}

fn nodes_of(count: usize) -> String {
    counted(count, "element")
}

/// Returns the number with the noun.
fn counted(count: usize, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        _ => format!("{count} {noun}s"),
    }
}

/// Returns the lines of a violated rule: the rule, then its elements, together if they are to be fixed alike.
fn describe(violation: &Violation) -> String {
    let tags = criteria(&violation.tags).join(" ");
    let Violation {
        rule, impact, help, ..
    } = violation;
    let mut text = format!("\n\n{impact} {rule}: {help} ({tags})");
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for node in violation.nodes.iter().take(MAX_LISTED) {
        let (fix, shown) = (fix(node), node_label(node));
        match groups.iter_mut().find(|(other, _)| *other == fix) {
            Some((_, nodes)) => nodes.push(shown),
            None => groups.push((fix, vec![shown])),
        }
    }
    for (fix, nodes) in groups {
        text += &format!("\n- {}: {fix}", nodes.join(", "));
    }
    let rest = violation.nodes.len().saturating_sub(MAX_LISTED);
    if rest > 0 {
        text += &format!("\n… {rest} more");
    }
    text
}

/// Returns the tags that name a level or a success criterion of WCAG, such as `wcag2aa` and `1.4.3`, or `best-practice`.
fn criteria(tags: &[String]) -> Vec<String> {
    let shown = tags
        .iter()
        .filter_map(|tag| match tag.strip_prefix("wcag") {
            Some(number) if number.bytes().all(|byte| byte.is_ascii_digit()) => {
                let (principle, rest) = number.split_at_checked(1)?;
                let (guideline, criterion) = rest.split_at_checked(1)?;
                Some(format!("{principle}.{guideline}.{criterion}"))
            }
            Some(_) => Some(tag.clone()),
            None => Some(tag.clone()).filter(|tag| tag == "best-practice"),
        });
    shown.collect()
}

/// Returns what is to be fixed, in one line.
fn fix(node: &ViolationNode) -> String {
    let any = match node.any.as_slice() {
        [] => None,
        [only] => Some(only.clone()),
        several => Some(format!("one of: {}", several.join("; "))),
    };
    let fixes: Vec<_> = node.all.iter().cloned().chain(any).collect();
    shortened(&fixes.join("; "))
}

fn node_label(node: &ViolationNode) -> String {
    match &node.element {
        Some(element) => label(element),
        None => shortened(&node.selector),
    }
}

/// Returns the role, name and ref of an element as in snapshots. The tag stands for a missing role, the text for a missing name.
fn label(element: &AuditedElement) -> String {
    let mut label = match element.role.as_str() {
        "" | "generic" | "none" | "presentation" => format!("<{}>", element.tag),
        role => role.to_owned(),
    };
    let (name, text) = (&element.name, &element.text);
    if !name.is_empty() {
        label += &format!(" {}", quoted(name));
    }
    label += &format!(" {}", element.reference);
    if name.is_empty() && !text.is_empty() {
        label += &format!(" ({})", quoted(text));
    }
    label
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(shortened(text)).to_string()
}

/// Returns a text of the page in one line, shortened.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_TEXT) {
        Some((end, _)) => format!("{}…", one_line(&text[..end])),
        None => one_line(text).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::criteria;

    #[test]
    fn tags_name_levels_and_success_criteria() {
        let tags = ["cat.color", "wcag2aa", "wcag143", "wcag1411", "TTv5"];
        let tags = tags.map(str::to_owned);
        assert_eq!(criteria(&tags), ["wcag2aa", "1.4.3", "1.4.11"]);
        assert_eq!(criteria(&["best-practice".to_owned()]), ["best-practice"]);
    }
}
