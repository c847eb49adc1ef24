//! The report of an answer besides the result of the tool: the page, the tabs, the snapshot, and new events.

use super::changes::{Comparison, KnownSize};
use super::tab::ReadDocument;
use super::tabs::TabSummary;
use super::{Session, TITLE_TIMEOUT, Tab};
use crate::answers::reply::{Answer, Event, Part, Reply, SnapshotFacts, SnapshotRequest};
use crate::calls::Call;
use crate::config::{AnswerStyle, SnapshotMode};
use crate::error::{Error, Result};
use crate::telemetry::part_span;
use engine::{Layout, Overview, Progress, SnapshotOptions, estimate_tokens};
use std::time::Duration;
use tracing::Instrument as _;

/// How long to wait for the document of a new page before its URL is reported.
const OPENED_PAGE_TIMEOUT: Duration = Duration::from_secs(1);

/// The largest list of changes in the answer to an action, in tokens.
const MAX_CHANGES_TOKENS: usize = 400;

/// Removes the titles of pages that the policy does not let the call show.
fn withhold_titles(call: &Call, tabs: &mut [TabSummary]) {
    for tab in tabs.iter_mut().filter(|tab| !call.may_show(&tab.facts.url)) {
        tab.facts.title.clear();
    }
}

/// What an answer shows of the document, and its title if that was read.
#[derive(Default)]
struct Shown {
    snapshot: Option<SnapshotFacts>,
    changes: Option<Vec<String>>,
    title: Option<String>,
}

impl Shown {
    fn of_snapshot(snapshot: SnapshotFacts) -> Self {
        Self {
            snapshot: Some(snapshot),
            ..Self::default()
        }
    }
}

impl Session {
    /// Returns a tool's reply with the page state after it.
    pub(crate) async fn answer(&self, call: &Call, mut reply: Reply) -> Result<Answer> {
        let Some(tabs) = self
            .open_tabs()
            .filter(|tabs| tabs.closed_reason().is_none())
        else {
            let events = std::mem::take(&mut self.state().events);
            return Ok(Answer {
                reply,
                events,
                ..Answer::default()
            });
        };
        let wish = std::mem::take(&mut reply.snapshot);
        let is_compact = self.settings.answers.style == AnswerStyle::Compact;
        let asked = match &wish {
            _ if is_compact => false,
            SnapshotRequest::None | SnapshotRequest::ForChanges => false,
            SnapshotRequest::AfterAction => {
                self.settings.answers.snapshot_mode != SnapshotMode::None
            }
            SnapshotRequest::Inline(_)
            | SnapshotRequest::Outline { .. }
            | SnapshotRequest::File(_) => true,
        };
        let current = tabs.current();
        let (current, denied) = match current {
            Some(tab) if !call.may_show(&tab.page.url()) => (None, true),
            current => (current, false),
        };
        if denied {
            let text = "The page is not shown: the server's policy does not allow it.";
            reply.parts.push(Part::Text(text.to_owned()));
        }
        let report = current.as_ref().map(|tab| Report {
            session: self,
            call,
            tab,
        });
        let shown = match &report {
            Some(report) => {
                let shown = report.snapshot(wish);
                shown.instrument(part_span!("snapshot")).await
            }
            None => Shown::default(),
        };
        let mut is_title_read = reply.title.take().or(shown.title).is_some();
        let mut changes = reply.changes.take().or(shown.changes);
        let read = current.as_ref().and_then(|tab| tab.take_read());
        let progress = call.within(TITLE_TIMEOUT);
        if let Some(report) = report.filter(|_| !is_title_read) {
            let overview = report.overview(&progress, changes.is_none());
            if let Some(overview) = overview.await {
                is_title_read = true;
                changes = changes.or(Some(overview.gone).filter(|gone| !gone.is_empty()));
            }
        }
        let state = read.filter(|_| is_compact).and_then(ReadDocument::event);
        if let Some(changes) = &changes {
            for feature in self.features.all() {
                feature.after_changes(self, changes);
            }
        }
        let mut summarize = tabs.summarize(&progress, is_title_read).await;
        let changed = mark_reported(&summarize) && !denied;
        withhold_titles(call, &mut summarize);
        let mut answer = Answer {
            reply,
            changes,
            snapshot: shown.snapshot,
            ..Answer::default()
        };
        if asked || changed {
            answer.tabs = summarize.iter().map(TabSummary::listed).collect();
            answer.page = summarize
                .into_iter()
                .find(|tab| tab.current)
                .map(|tab| tab.facts);
        }
        if let Some(tab) = &current {
            answer.modals = tab.modals();
        }
        answer.pause = self.scripts.pause();
        answer.events = std::mem::take(&mut self.state().events);
        answer.events.extend(state);
        if let Some(tab) = &current {
            answer.events.extend(tab.new_console_lines(call).await);
        }
        let closed = tabs.take_closed().filter(|_| is_compact);
        answer
            .events
            .extend(closed.map(|url| Event::TabClosed { url }));
        answer.events.extend(tabs.refused());
        answer.events.extend(tabs.not_opened());
        answer.events.extend(tabs.other_dialogs());
        answer.events.extend(tabs.download_events().await);
        Ok(answer)
    }

    /// Returns a tool's reply with the modal states and the events since the last answer.
    pub(crate) async fn plain_answer(&self, reply: Reply) -> Answer {
        let tabs = self.open_tabs();
        let Some(tabs) = tabs.filter(|tabs| tabs.closed_reason().is_none()) else {
            return Answer {
                reply,
                ..Answer::default()
            };
        };
        let modals = tabs.current().map(|tab| tab.modals()).unwrap_or_default();
        if reply.error.is_some() {
            // The next answer reports the other events.
            return Answer {
                reply,
                modals,
                events: tabs.other_dialogs().collect(),
                ..Answer::default()
            };
        }
        let is_reported = |event: &mut Event| {
            matches!(
                event,
                Event::NavigationFailed { .. } | Event::UserActed {} | Event::UserAnnotated { .. }
            )
        };
        let mut events: Vec<_> = self.state().events.extract_if(.., is_reported).collect();
        events.extend(tabs.take_closed().map(|url| Event::TabClosed { url }));
        events.extend(tabs.refused());
        events.extend(tabs.other_dialogs());
        events.extend(tabs.download_events().await);
        Answer {
            reply,
            modals,
            events,
            opened: tabs.opened(OPENED_PAGE_TIMEOUT).await,
            ..Answer::default()
        }
    }

    /// Returns the open tabs of the context for an answer that lists them, and marks them as reported.
    pub(crate) async fn listed_tabs(&self, call: &Call) -> Vec<TabSummary> {
        let Some(tabs) = self.open_tabs() else {
            return Vec::new();
        };
        let mut summarize = tabs.summarize(&call.within(TITLE_TIMEOUT), false).await;
        mark_reported(&summarize);
        drop(tabs.take_closed());
        withhold_titles(call, &mut summarize);
        summarize
    }
}

/// What an answer to a call shows of the current page.
struct Report<'a> {
    session: &'a Session,
    call: &'a Call,
    tab: &'a Tab,
}

impl Report<'_> {
    /// Reads the title for an answer without a snapshot, and what is gone since the last answer. The answer of a batch lists what is gone in
    /// its steps.
    async fn overview(&self, progress: &Progress, transients: bool) -> Option<Overview> {
        if !self.tab.modals().is_empty() {
            return None;
        }
        let transients =
            transients && self.session.settings.answers.changes && !self.call.is_step();
        self.tab.overview(progress, transients).await
    }

    /// Returns the requested snapshot, or the changes of the page.
    async fn snapshot(&self, wish: SnapshotRequest) -> Shown {
        let answers = &self.session.settings.answers;
        let is_asked = match &wish {
            SnapshotRequest::AfterAction => answers.snapshot_mode != SnapshotMode::None,
            SnapshotRequest::ForChanges => answers.changes && self.tab.modals().is_empty(),
            _ => true,
        };
        let is_compact = answers.style == AnswerStyle::Compact;
        let shown = match (wish, self.tab.known_size()) {
            _ if !is_asked => return Shown::default(),
            (SnapshotRequest::None, _) => return Shown::default(),
            (SnapshotRequest::Inline(text), _) => {
                if !text.is_empty() {
                    self.tab.set_shown();
                }
                return Shown::of_snapshot(SnapshotFacts::Inline(text));
            }
            (SnapshotRequest::Outline { outline, whole }, _) => {
                self.tab.set_shown();
                let written = self.write_outline(outline, whole).await;
                written.map(Shown::of_snapshot)
            }
            (SnapshotRequest::File(link), _) => {
                return Shown::of_snapshot(SnapshotFacts::File(link));
            }
            (SnapshotRequest::AfterAction, _) => self.snapshot_after().await,
            (SnapshotRequest::ForChanges, KnownSize::Unknown) if is_compact => {
                self.snapshot_after().await
            }
            (SnapshotRequest::ForChanges, KnownSize::Small) => {
                let changes = self.changes_after().await;
                return changes.unwrap_or_default();
            }
            (SnapshotRequest::ForChanges, _) => return Shown::default(),
        };
        match shown {
            Ok(shown) => shown,
            // The page's section reports the crash.
            Err(Error::Engine(engine::Error::PageCrashed {})) => Shown::default(),
            // The action was done, even if no snapshot can be taken.
            Err(error) => {
                let text = error.to_string();
                let reason = text.lines().next().unwrap_or_default().to_owned();
                Shown::of_snapshot(SnapshotFacts::Missing(reason))
            }
        }
    }

    /// Takes a snapshot for the changes of the page alone.
    async fn changes_after(&self) -> Result<Shown> {
        let seen = self.tab.snapshot_for_changes(self.call).await?;
        let changes = match self.tab.compare(self.call, &seen, MAX_CHANGES_TOKENS).await {
            Comparison::Lines(lines) => Some(lines),
            Comparison::NewDocument | Comparison::TooLarge => None,
        };
        Ok(Shown {
            snapshot: None,
            changes,
            title: seen.title,
        })
    }

    /// Takes the snapshot after an action. In answers of `@playwright/mcp`, it is in a file. In compact answers, the snapshot of a new
    /// document or its outline is in the answer; of a known document, the changes are.
    async fn snapshot_after(&self) -> Result<Shown> {
        let answers = &self.session.settings.answers;
        let layout = answers.layout();
        let is_new = layout == Layout::Compact && !self.tab.is_shown();
        let options = SnapshotOptions {
            max_tokens: is_new.then(|| self.call.max_snapshot_tokens(&self.tab.page.url())),
            ..answers.snapshot_options()
        };
        // A page with a modal state cannot be read; its file is empty.
        let seen = match self.tab.modals().is_empty() {
            true => match self.tab.snapshot_after_action(self.call, &options).await {
                Err(engine::Error::Timeout { .. })
                    if !self.call.has_own_timeout()
                        && self.tab.page.is_responsive_again().await =>
                {
                    self.tab.snapshot(self.call, &options).await
                }
                seen => seen,
            },
            false => Err(engine::Error::DialogOpen {}),
        };
        let mut shown = Shown::default();
        let mut gone = None;
        let (text, outline) = match seen {
            // The section of the modal state says all.
            Err(engine::Error::DialogOpen {}) if layout == Layout::Compact => return Ok(shown),
            Err(engine::Error::DialogOpen {}) => (String::new(), None),
            seen => {
                let mut seen = seen?;
                // Of a document that showed nothing, the next answer has the snapshot, too.
                if !seen.text.is_empty() {
                    self.tab.set_shown();
                }
                shown.title = seen.title.take();
                gone = Some(seen.gone()).filter(|gone| !gone.is_empty());
                if answers.changes
                    && let Comparison::Lines(lines) =
                        self.tab.compare(self.call, &seen, MAX_CHANGES_TOKENS).await
                {
                    shown.changes = Some(lines);
                }
                (seen.text, seen.outline)
            }
        };
        if layout == Layout::Compact && shown.changes.is_some() {
            return Ok(shown);
        }
        if shown.changes.is_none() {
            for feature in self.session.features.all() {
                feature.after_document(self.session, &text);
            }
        }
        shown.changes = shown.changes.or(gone);
        shown.snapshot = Some(match outline {
            Some(outline) => self.write_outline(outline, text).await?,
            None if is_new => SnapshotFacts::Inline(text),
            None => SnapshotFacts::File(self.write_snapshot(text).await?),
        });
        Ok(shown)
    }

    /// Writes the whole snapshot to a file for an answer with its outline.
    async fn write_outline(&self, outline: String, whole: String) -> Result<SnapshotFacts> {
        let tokens = estimate_tokens(&whole);
        // The outline needs no file, and the disk may be full.
        let link = self.write_snapshot(whole).await.ok();
        Ok(SnapshotFacts::Outline {
            outline,
            link,
            tokens,
        })
    }

    /// Writes a snapshot to a file; returns the link to it.
    async fn write_snapshot(&self, text: String) -> Result<String> {
        let extension = match self.session.settings.answers.layout() {
            Layout::Full => "yml",
            Layout::Compact => "md",
        };
        let output = self.session.output(self.call).await;
        let file = output.automatic("page", extension).await?;
        output.write(&file, text).await?;
        Ok(file.link)
    }
}

/// Records the reported state of each tab; returns whether any of it changed.
fn mark_reported(summarize: &[TabSummary]) -> bool {
    let mut news = false;
    for TabSummary {
        tab,
        facts,
        current,
    } in summarize
    {
        news |= tab.set_reported(facts.clone(), *current);
    }
    news
}
