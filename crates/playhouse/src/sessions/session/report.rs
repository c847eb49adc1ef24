//! The report of an answer besides the result of the tool: the page, the tabs, the snapshot, and new events.

use super::tabs::TabSummary;
use super::{Session, TITLE_TIMEOUT, Tab};
use crate::answers::reply::{Answer, Event, Reply, SnapshotFacts, SnapshotRequest, TabFacts};
use crate::calls::Call;
use crate::config::{AnswerStyle, SnapshotMode};
use crate::error::{Error, Result};
use engine::{Layout, SnapshotOptions, estimate_tokens};
use std::time::Duration;

/// How long to wait for the document of a new page before its URL is reported.
const OPENED_PAGE_TIMEOUT: Duration = Duration::from_secs(1);

/// The largest snapshot in the compact answer to a navigation, in tokens.
const MAX_SNAPSHOT_AFTER_NAVIGATION: usize = 1_500;

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
            SnapshotRequest::None => false,
            SnapshotRequest::AfterAction => {
                self.settings.answers.snapshot_mode != SnapshotMode::None
            }
            SnapshotRequest::Inline(_) | SnapshotRequest::File(_) => true,
        };
        let current = tabs.current();
        let (snapshot, read) = match &current {
            Some(tab) => self.snapshot(call, tab, wish).await,
            None => (None, None),
        };
        let title = reply.title.take().or(read);
        let summarize = tabs
            .summarize(&call.within(TITLE_TIMEOUT), title.as_deref())
            .await;
        let changed = mark_reported(&summarize);
        let mut answer = Answer {
            reply,
            snapshot,
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
        answer.events = std::mem::take(&mut self.state().events);
        answer
            .events
            .extend(current.and_then(|tab| tab.new_console_lines()));
        answer.events.extend(tabs.refused());
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
            // The next answer reports the events.
            return Answer {
                reply,
                modals,
                ..Answer::default()
            };
        }
        let told = |event: &mut Event| matches!(event, Event::NavigationFailed { .. });
        let mut events: Vec<_> = self.state().events.extract_if(.., told).collect();
        events.extend(tabs.refused());
        events.extend(tabs.download_events().await);
        Answer {
            reply,
            modals,
            events,
            opened: tabs.opened(OPENED_PAGE_TIMEOUT).await,
            ..Answer::default()
        }
    }

    /// Returns the open tabs for an answer that lists them, and marks them as reported.
    pub(crate) async fn listed_tabs(&self, call: &Call) -> Vec<TabFacts> {
        let Some(tabs) = self.open_tabs() else {
            return Vec::new();
        };
        let summarize = tabs.summarize(&call.within(TITLE_TIMEOUT), None).await;
        mark_reported(&summarize);
        summarize.iter().map(TabSummary::listed).collect()
    }

    /// Returns the requested snapshot, and the page's title if that was read with it.
    async fn snapshot(
        &self,
        call: &Call,
        tab: &Tab,
        wish: SnapshotRequest,
    ) -> (Option<SnapshotFacts>, Option<String>) {
        let snapshot = match wish {
            SnapshotRequest::None => None,
            SnapshotRequest::Inline(text) => {
                tab.set_shown();
                Some(SnapshotFacts::Inline(text))
            }
            SnapshotRequest::File(link) => Some(SnapshotFacts::File(link)),
            SnapshotRequest::AfterAction
                if self.settings.answers.snapshot_mode == SnapshotMode::None =>
            {
                None
            }
            SnapshotRequest::AfterAction => match self.snapshot_after(call, tab).await {
                Ok((snapshot, title)) => return (snapshot, title),
                // The page's section reports the crash.
                Err(Error::Engine(engine::Error::PageCrashed {})) => None,
                // The action was done, even if no snapshot can be taken.
                Err(error) => {
                    let text = error.to_string();
                    let reason = text.lines().next().unwrap_or_default().to_owned();
                    Some(SnapshotFacts::Missing(reason))
                }
            },
        };
        (snapshot, None)
    }

    /// Takes the snapshot after an action; returns it, and the page's title if that was read. In compact answers, a short snapshot of a new
    /// document is in the answer; others are in a file.
    async fn snapshot_after(
        &self,
        call: &Call,
        tab: &Tab,
    ) -> Result<(Option<SnapshotFacts>, Option<String>)> {
        let answers = &self.settings.answers;
        let layout = answers.layout();
        let options = SnapshotOptions {
            layout,
            boxes: answers.snapshot_boxes,
            ..SnapshotOptions::default()
        };
        // A page with a modal state cannot be read; its file is empty.
        let seen = match tab.modals().is_empty() {
            true => match tab.page.snapshot(&call.action(), &options).await {
                Err(engine::Error::Timeout { .. })
                    if !call.has_own_timeout() && tab.page.is_responsive_again().await =>
                {
                    tab.page.snapshot(&call.action(), &options).await
                }
                seen => seen,
            },
            false => Err(engine::Error::DialogOpen {}),
        };
        let (text, title) = match seen {
            // The section of the modal state says all.
            Err(engine::Error::DialogOpen {}) if layout == Layout::Compact => {
                return Ok((None, None));
            }
            Err(engine::Error::DialogOpen {}) => (String::new(), None),
            seen => {
                let seen = seen?;
                (seen.text, seen.title)
            }
        };
        let is_short = estimate_tokens(&text) <= MAX_SNAPSHOT_AFTER_NAVIGATION;
        if layout == Layout::Compact && tab.set_shown() && is_short {
            return Ok((Some(SnapshotFacts::Inline(text)), title));
        }
        let extension = match layout {
            Layout::Full => "yml",
            Layout::Compact => "md",
        };
        let output = self.output(call).await;
        let file = output.automatic("page", extension).await?;
        output.write(&file, text).await?;
        Ok((Some(SnapshotFacts::File(file.link)), title))
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
