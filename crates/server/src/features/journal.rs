//! The journal of a session (`--save-session`): each call and its answer, appended to `session.md`.

use crate::files::Output;
use crate::sessions::session::feature::{Answered, SessionFeature};
use serde_json::{Map, Value, json};
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// The sections of an answer in order, and their titles in the journal.
const SECTIONS: &[(&str, &str)] = &[
    ("Error", "error"),
    ("Result", "result"),
    ("Ran Playwright code", "code"),
    ("Open tabs", "tabs"),
    ("Page", "page"),
    ("Modal state", "modalState"),
    ("Changes", "changes"),
    ("Snapshot", "snapshot"),
    ("Events", "events"),
    ("Paused", "paused"),
];

/// The journal; its folder is created with the first entry.
#[derive(Default)]
pub(super) struct Journal {
    file: Mutex<Option<PathBuf>>,
}

impl SessionFeature for Journal {
    /// Adds a call. A write error does not make the call or later ones fail.
    fn after_call(&self, output: &Output, tool: &str, arguments: &Value, answer: &Answered<'_>) {
        let Some(path) = self.path(output) else {
            return;
        };
        let entry = output.redacted(entry(output.workspace(), tool, arguments, answer));
        // Not kept open, because the file may be removed meanwhile.
        if let Err(error) = output.append(&path, &entry) {
            tracing::warn!(%error, "the session's journal cannot be written");
        }
    }
}

impl Journal {
    /// Returns the path of the journal; creates a new folder for it.
    fn path(&self, output: &Output) -> Option<PathBuf> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if file.is_none() {
            let now = SystemTime::now().duration_since(UNIX_EPOCH);
            let begin = now.unwrap_or_default().as_millis();
            let names = (begin..).map(|time| format!("session-{time}"));
            match output.make_folder(names) {
                Ok(folder) => {
                    // Clients search stderr for this line.
                    let _ = writeln!(io::stderr(), "Session: {}", folder.display());
                    *file = Some(folder.join("session.md"));
                }
                Err(error) => {
                    tracing::warn!(%error, "the session's journal cannot be written");
                }
            }
        }
        file.clone()
    }
}

fn entry(workspace: &Path, tool: &str, arguments: &Value, answer: &Answered<'_>) -> String {
    let result = result(workspace, answer);
    format!(
        "\n### Tool call: {tool}\n- Args\n```json\n{arguments:#}\n```\n- Result\n```json\n{result:#}\n```\n"
    )
}

fn result(workspace: &Path, answer: &Answered<'_>) -> Value {
    let mut result = Map::new();
    if answer.is_error {
        result.insert("isError".to_owned(), json!(true));
    }
    for (key, body) in sections(answer.text) {
        let (key, body) = match (key, unfenced(body)) {
            ("snapshot", Some(inline)) => ("inlineSnapshot", inline.to_owned()),
            ("snapshot", None) => (
                key,
                linked(workspace, body).unwrap_or_else(|| body.to_owned()),
            ),
            ("code", Some(code)) => (key, code.to_owned()),
            (key, _) => (key, body.to_owned()),
        };
        result.insert(key.to_owned(), json!(body));
    }
    if !answer.images.is_empty() {
        let image = |kind: &&str| json!({ "type": "image", "mimeType": kind });
        let images: Vec<_> = answer.images.iter().map(image).collect();
        result.insert("attachments".to_owned(), json!(images));
    }
    Value::Object(result)
}

/// Returns the bodies of the sections. A title counts only outside fences and in the order of sections, because a page may print one too.
fn sections(text: &str) -> Vec<(&'static str, &str)> {
    let mut starts: Vec<(&'static str, usize, usize)> = Vec::new();
    let (mut at, mut next, mut fenced) = (0, 0, false);
    for line in text.split_inclusive('\n') {
        let heading = line.trim_end().strip_prefix("### ").filter(|_| !fenced);
        let found = heading.and_then(|title| {
            let index = SECTIONS[next..]
                .iter()
                .position(|(name, _)| *name == title)?;
            Some(next + index)
        });
        if let Some(index) = found {
            starts.push((SECTIONS[index].1, at, at + line.len()));
            next = index + 1;
        } else if line.starts_with("```") {
            fenced = !fenced;
        }
        at += line.len();
    }
    let ends: Vec<_> = starts
        .iter()
        .skip(1)
        .map(|(_, start, _)| *start)
        .chain([text.len()])
        .collect();
    starts
        .iter()
        .zip(ends)
        .map(|((key, _, body), end)| (*key, text[*body..end].trim_end()))
        .collect()
}

fn unfenced(body: &str) -> Option<&str> {
    let (_, rest) = body.strip_prefix("```")?.split_once('\n')?;
    Some(rest.strip_suffix("```")?.trim_end_matches('\n'))
}

/// Returns the text of the file that `- [Snapshot](path)` links.
fn linked(workspace: &Path, body: &str) -> Option<String> {
    let link = body.strip_prefix("- [Snapshot](")?.strip_suffix(')')?;
    fs::read_to_string(workspace.join(link)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_taken_apart_into_its_sections() {
        let text = "### Result\nsaid\n### Page\n### Ran Playwright code\n```js\nawait x();\n### Page\n```\n### Page\n- Page URL: u\n### Snapshot\n```yaml\n- x\n```";
        let answer = Answered {
            text,
            is_error: false,
            images: vec!["image/png"],
        };
        assert_eq!(
            result(Path::new("/"), &answer),
            json!({
                "result": "said",
                "page": "### Ran Playwright code\n```js\nawait x();\n### Page\n```\n### Page\n- Page URL: u",
                "inlineSnapshot": "- x",
                "attachments": [{ "type": "image", "mimeType": "image/png" }],
            })
        );
        let answer = Answered {
            text: "### Error\nError: no",
            is_error: true,
            images: vec![],
        };
        assert_eq!(
            result(Path::new("/"), &answer),
            json!({ "isError": true, "error": "Error: no" })
        );
    }
}
