//! The parts of a session as JSON for the page of the dashboard, with secrets masked and with limits.

use super::uploads::{MAX_UPLOAD, can_upload};
use crate::access::principal::Principal;
use crate::answers::bound::truncated;
use crate::apps::{self, DevServer, Excerpt, Position};
use crate::config::Secrets;
use crate::sessions::session::Session;
use crate::sessions::session::control::Holder;
use crate::sessions::{OwnedSession, unix_ms};
use engine::{ConsoleEntry, Page, Request, RequestOutcome};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

/// The largest number of requests that are shown.
const MAX_REQUESTS: usize = 100;
/// The largest number of console messages in one message to the page.
const MAX_CONSOLE: usize = 200;
/// The largest size of a text, in bytes.
const MAX_TEXT: usize = 2_000;
/// The largest part of a log in one message, in bytes.
const MAX_LOG: usize = 16 * 1024;

/// Returns a session of the list.
pub(super) fn session(owned: &OwnedSession, owner: &Principal) -> Value {
    let session = &owned.session;
    let secrets = session.settings().secrets.clone();
    let created = owned.created.as_ref();
    let (named, active) = session.named_contexts();
    let contexts = std::iter::once((None, session)).chain(
        named
            .iter()
            .map(|(name, context)| (Some(name.as_str()), context)),
    );
    let mut pages = Vec::new();
    for (name, context) in contexts {
        let is_active = name == active.as_deref();
        let Some(tabs) = context.open_tabs() else {
            continue;
        };
        let current = tabs.current();
        for tab in tabs.all() {
            let is_current = current
                .as_ref()
                .is_some_and(|current| Arc::ptr_eq(current, &tab));
            pages.push(json!({
                "id": *tab.page.id().0,
                "url": shown(&secrets, tab.page.url()),
                "context": name,
                "isCurrent": is_active && is_current,
            }));
        }
    }
    let value = json!({
        "id": session.id(),
        "name": created.and_then(|created| created.name.clone()),
        "owner": owner.to_string(),
        "createdAt": created.map(|created| unix_ms(created.created_at)),
        "expiresAt": created.and_then(|created| created.expires_at()).map(unix_ms),
        "pages": pages,
        "calls": session.control().call_log().count(),
        "holder": match session.control().holder() {
            Holder::Calls => "calls",
            Holder::UserNext => "userNext",
            Holder::User => "user",
        },
        "isAnnotated": session.control().is_annotated(),
    });
    secrets.redacted_json(value)
}

/// Returns the state of the shown page: its URL, its dialog and its file chooser.
pub(super) fn page(session: &Session, page: &Page) -> Value {
    let secrets = &session.settings().secrets;
    let dialog = page.dialog().map(|dialog| {
        let message = shown(secrets, dialog.message);
        json!({ "kind": dialog.kind.to_string(), "message": message, "text": dialog.default_value })
    });
    let chooser = page.file_chooser().map(|chooser| {
        let can_upload = can_upload(session);
        json!({ "isMultiple": chooser.multiple, "canUpload": can_upload, "maxBytes": MAX_UPLOAD })
    });
    let value = json!({
        "id": *page.id().0,
        "url": shown(secrets, page.url()),
        "dialog": dialog,
        "fileChooser": chooser,
    });
    secrets.redacted_json(value)
}

/// Returns the console messages from a number on.
pub(super) fn console(session: &Session, entries: &[ConsoleEntry]) -> Value {
    let secrets = &session.settings().secrets;
    let newest = &entries[entries.len().saturating_sub(MAX_CONSOLE)..];
    let lines = newest.iter().map(|entry| {
        let location = entry.message.location.as_ref();
        json!({
            "number": entry.number,
            "kind": entry.message.kind.to_string(),
            "text": shown(secrets, entry.message.text.clone()),
            "location": location.map(|at| format!("{}:{}", shown(secrets, at.url.clone()), at.line)),
        })
    });
    secrets.redacted_json(lines.collect())
}

/// Returns the last requests.
pub(super) fn requests(session: &Session, all: &[Request]) -> Value {
    let secrets = &session.settings().secrets;
    let newest = &all[all.len().saturating_sub(MAX_REQUESTS)..];
    let lines = newest.iter().map(|request| {
        let response = request.response.as_ref();
        let failure = match &request.outcome {
            Some(RequestOutcome::Failed { reason, .. }) => Some(reason.to_string()),
            _ => None,
        };
        let url = match request.url.split_once(',') {
            Some((start, _)) if start.starts_with("data:") => format!("{start},…"),
            _ => request.url.clone(),
        };
        json!({
            "method": request.method,
            "url": shown(secrets, url),
            "type": request.resource_type,
            "status": response.map(|response| response.status),
            "failure": failure,
            "duration": request.duration.map(|duration| duration.as_millis()),
        })
    });
    secrets.redacted_json(lines.collect())
}

/// A log of a server of the app.
pub(super) struct FollowedLog {
    server: String,
    path: PathBuf,
    at: Position,
    lines: Lines,
}

/// Collects the lines of a log from its parts, because secrets are masked in whole lines only.
#[derive(Debug, Default)]
struct Lines {
    /// The beginning of the last line.
    rest: String,
    /// Whether the text up to the next line break is left out: its line has no known beginning, or is longer than the largest part.
    skips: bool,
}

impl FollowedLog {
    /// Returns the logs of a server.
    pub(super) fn of(server: &DevServer) -> impl Iterator<Item = Self> + use<> {
        let name = server.name().to_owned();
        let logs = server.logs();
        let paths = match logs.combined {
            Some(path) => vec![path],
            None => logs.stdout.into_iter().chain(logs.stderr).collect(),
        };
        paths.into_iter().map(move |path| {
            let at = apps::end(&path).back(MAX_LOG as u64, Position::default());
            Self {
                server: name.clone(),
                at,
                lines: Lines {
                    rest: String::new(),
                    skips: !at.is_start(),
                },
                path,
            }
        })
    }

    /// Returns the lines that were completed since the last call; at first the end of the log.
    pub(super) async fn more(&mut self) -> Option<(String, String)> {
        let (path, from) = (self.path.clone(), self.at);
        let (to, excerpt) = task::compute(move || {
            let to = apps::end(&path);
            (to, apps::between(&path, from, to, MAX_LOG as u64))
        })
        .await;
        self.at = to;
        let text = self.lines.add(excerpt.ok()?);
        (!text.is_empty()).then(|| (self.server.clone(), text))
    }
}

impl Lines {
    /// Adds the next part of the log, and returns the lines that are complete.
    fn add(&mut self, excerpt: Excerpt) -> String {
        let Excerpt { mut text, left_out } = excerpt;
        if left_out > 0 {
            self.rest.clear();
            self.skips = !text.contains('\n');
        }
        if self.skips {
            let Some(at) = text.find('\n') else {
                return String::new();
            };
            text.drain(..=at);
            self.skips = false;
        }
        text.insert_str(0, &std::mem::take(&mut self.rest));
        self.rest = text.split_off(text.rfind('\n').map_or(0, |at| at + 1));
        if self.rest.len() > MAX_LOG {
            self.rest.clear();
            self.skips = true;
        }
        text
    }
}

/// Returns the beginning of a text without secrets. They are masked first: a part of a secret would not be recognized.
fn shown(secrets: &Secrets, text: String) -> String {
    truncated(&secrets.redacted(text), MAX_TEXT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_at_the_end_of_a_text_is_masked() {
        let secrets = Secrets::default();
        secrets.mask_value("correct horse battery");
        let text = format!("{}correct horse battery", "x".repeat(MAX_TEXT - 10));
        let text = shown(&secrets, text);
        assert!(!text.contains("correct"), "{}", &text[MAX_TEXT - 20..]);
    }

    #[test]
    fn logs_are_sent_in_whole_lines() {
        let mut lines = Lines::default();
        let mut add = |text: &str, left_out| {
            let text = text.to_owned();
            lines.add(Excerpt { text, left_out })
        };
        assert_eq!(add("one\ntw", 0), "one\n");
        assert_eq!(add("o", 0), "");
        assert_eq!(add("\nthree", 0), "two\n");
        assert_eq!(add("nine\nten", 50), "nine\n");
        assert_eq!(add(&"x".repeat(2 * MAX_LOG), 0), "");
        assert_eq!(add("tail\nlast\n", 0), "last\n");
        assert_eq!(add("a part of a long line", 50), "");
        assert_eq!(add("its end\nnext\n", 0), "next\n");
    }
}
