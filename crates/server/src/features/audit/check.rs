//! A quick check of the page.

use super::{AUDIT_TIMEOUT, MAX_LISTED, counted, label, shortened};
use crate::access::principal::Permission;
use crate::answers::reply::Reply;
use crate::calls::Call;
use crate::config::{Capability, ConsoleLevel};
use crate::error::Result;
use crate::sessions::session::{console_level, console_lines};
use crate::tools::browser::network;
use crate::tools::scope::CurrentTab;
use crate::tools::tool::{Effect, Tool};
use engine::{BrokenLink, ConsoleEntry, Finding, FindingKind, LinkCheck, Page, PageCheck, Request};
use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Duration;

/// Find errors, broken images and links, missing labels and metadata.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct CheckPage {
    /// Request links of the same origin too? Default: true.
    links: Option<bool>,
}

impl Tool for CheckPage {
    const NAME: &'static str = "browser_check_page";
    const TITLE: &'static str = "Check page";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Read;
    const CAPABILITY: Option<Capability> = Some(Capability::Audit);
    const EXTRA_TIME: Duration = AUDIT_TIMEOUT;
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        let progress = call.within(call.timeout_or(AUDIT_TIMEOUT));
        let page = &tab.page;
        // Without the requests of the check itself and what the console says about them.
        let last = page.requests().last().map_or(0, |request| request.number);
        let entries = page.console(0);
        let check = page.check(&progress, self.links.unwrap_or(true)).await?;
        // Firefox may report a response after the page has loaded, but not after the check.
        let failed = failed_requests(page, last);
        let console = console_problems(call, page, entries, &failed).await;
        let mut report = Report {
            origin: origin_of(&page.url()),
            lines: Vec::new(),
            problems: 0,
        };
        report.add_all(console);
        report.add_all(request_lines(&failed, &check));
        report.add_findings(&check);
        if let Some(links) = &check.links {
            let lines = links.broken.iter().map(|link| report.link(link)).collect();
            report.add_all(lines);
        }
        Ok(Reply::page(report.text(check.links.as_ref())))
    }
}

/// Returns the origin of a URL, which is left out of addresses; empty if it has none.
fn origin_of(url: &str) -> String {
    let url = url::Url::parse(url).ok();
    let origin = url.map(|url| url.origin()).filter(url::Origin::is_tuple);
    origin
        .map(|origin| origin.ascii_serialization())
        .unwrap_or_default()
}

/// Returns the failed requests up to a number.
fn failed_requests(page: &Page, last: u64) -> Vec<Request> {
    let mut requests = page.requests();
    requests.retain(|request| {
        request.number <= last && network::has_error(request) && !network::is_favicon(request)
    });
    requests
}

/// Returns the errors and warnings in the console, except those that the browser adds for failed requests.
async fn console_problems(
    call: &Call,
    page: &Page,
    entries: Vec<ConsoleEntry>,
    failed: &[Request],
) -> Vec<String> {
    let is_of_request = |entry: &ConsoleEntry| {
        let location = entry.message.location.as_ref();
        entry.message.text.starts_with("Failed to load resource")
            && location.is_some_and(|it| failed.iter().any(|request| request.url == it.url))
    };
    let messages = entries
        .into_iter()
        .filter(|entry| entry.current && !is_of_request(entry))
        .filter(|entry| console_level(entry.message.kind) <= ConsoleLevel::Warning)
        .map(|entry| entry.message);
    let lines = console_lines(call, page, messages.collect()).await;
    let lines = lines.iter().map(|line| {
        let first = line.lines().next().unwrap_or_default();
        format!("console: {}", shortened(first))
    });
    lines.collect()
}

/// Returns the failed requests, except those of images that are listed themselves.
fn request_lines(failed: &[Request], check: &PageCheck) -> Vec<String> {
    let is_image = |request: &Request| {
        check
            .findings
            .iter()
            .any(|finding| finding.kind == FindingKind::Image && finding.detail == request.url)
    };
    failed
        .iter()
        .filter(|request| !is_image(request))
        .map(|request| format!("request: {}", shortened(&network::summary(request))))
        .collect()
}

/// The lines of an answer.
struct Report {
    origin: String,
    lines: Vec<String>,
    problems: usize,
}

impl Report {
    /// Adds problems of one kind, of which it lists the first ones.
    fn add_all(&mut self, lines: Vec<String>) {
        let count = lines.len();
        self.add(lines, count);
    }

    fn add(&mut self, lines: Vec<String>, count: usize) {
        self.problems += count;
        let listed = lines.len().min(MAX_LISTED);
        self.lines.extend(lines.into_iter().take(MAX_LISTED));
        if count > listed {
            self.lines.push(format!("… {} more", count - listed));
        }
    }

    fn add_findings(&mut self, check: &PageCheck) {
        for (kind, count) in &check.counts {
            let of_kind = check.findings.iter().filter(|it| it.kind == *kind);
            let lines = of_kind.map(|finding| self.finding(finding)).collect();
            self.add(lines, *count);
        }
    }

    fn finding(&self, finding: &Finding) -> String {
        let labels: Vec<_> = finding.elements.iter().map(label).collect();
        let (elements, detail) = (labels.join(", "), &finding.detail);
        match finding.kind {
            FindingKind::Missing => format!("missing: {detail}"),
            FindingKind::Image => format!("broken image: {elements} → {}", self.address(detail)),
            FindingKind::Mixed => format!("mixed content: {elements} → {}", shortened(detail)),
            FindingKind::Label => format!("no label: {elements}"),
            FindingKind::Placeholder => format!("no label but a placeholder: {elements}"),
            FindingKind::Target => format!("small target: {elements}, {detail} px"),
            FindingKind::Id => format!("duplicate id {}: {elements}", shortened(detail)),
        }
    }

    fn link(&self, link: &BrokenLink) -> String {
        let status = match link.status {
            Some(status) => status.to_string(),
            None => "no response".to_owned(),
        };
        let element = link.element.as_ref().map(label).unwrap_or_default();
        format!(
            "broken link: {element} → {}, {status}",
            self.address(&link.url)
        )
    }

    /// Returns an address without the origin of the page.
    fn address(&self, url: &str) -> String {
        let path = url.strip_prefix(&self.origin);
        shortened(path.filter(|path| path.starts_with('/')).unwrap_or(url))
    }

    fn text(self, links: Option<&LinkCheck>) -> String {
        let mut first = match self.problems {
            0 => "No problems.".to_owned(),
            problems => format!("{}.", counted(problems, "problem")),
        };
        if let Some(links) = links {
            first += &format!(" Links requested: {}", links.checked);
            let reasons = [
                (links.unsafe_links, "that may change something"),
                (links.rest, "because of limits or the policy of the page"),
            ];
            for (count, reason) in reasons {
                if count > 0 {
                    first += &format!("; not requested {reason}: {count}");
                }
            }
            first.push('.');
        }
        let lines = [first].into_iter().chain(self.lines);
        lines.collect::<Vec<_>>().join("\n")
    }
}
