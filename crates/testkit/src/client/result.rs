//! The parsed result of a tool call.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::Image;

/// The result of one tool call.
#[derive(Clone, Debug)]
pub struct CallResult {
    /// All text items, joined by line breaks.
    pub text: String,
    /// Whether the result is an error.
    pub is_error: bool,
    /// The image items, in order.
    pub images: Vec<Image>,
    /// The `### Title` sections of the text, in order: title and trimmed body.
    pub sections: Vec<(String, String)>,
    /// The result as received.
    pub raw: Value,
    workspace: PathBuf,
}

impl CallResult {
    pub(super) fn new(raw: Value, workspace: &Path) -> Self {
        let items = raw["content"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        let text = items
            .iter()
            .filter_map(|item| item["text"].as_str())
            .collect::<Vec<_>>()
            .join("\n");
        let images = items
            .iter()
            .filter(|item| item["type"] == "image")
            .map(|item| Image {
                media_type: item["mimeType"].as_str().unwrap_or_default().to_owned(),
                base64: item["data"].as_str().unwrap_or_default().to_owned(),
            })
            .collect();
        Self {
            sections: sections(&text),
            is_error: raw["isError"] == true,
            text,
            images,
            raw,
            workspace: workspace.to_owned(),
        }
    }

    /// Returns the body of a section by its title, such as `Result` or `Page`.
    pub fn section(&self, title: &str) -> Option<&str> {
        self.sections
            .iter()
            .find(|(known, _)| known == title)
            .map(|(_, body)| body.as_str())
    }

    /// Returns the server's working directory, which links are relative to.
    pub fn workspace(&self) -> &Path {
        &self.workspace
    }

    /// Returns the section `Result`, or an empty text.
    pub fn result(&self) -> &str {
        self.section("Result").unwrap_or_default()
    }

    /// Returns the section `Error`, or an empty text.
    pub fn error(&self) -> &str {
        self.section("Error").unwrap_or_default()
    }

    /// Returns the generated code without its fence.
    pub fn code(&self) -> Option<&str> {
        self.section("Ran Playwright code").map(unfenced)
    }

    /// Returns the snapshot's YAML: from the answer, or from the linked file.
    pub fn snapshot(&self) -> Option<String> {
        let body = self.section("Snapshot")?;
        match self.linked_file(body) {
            Some(path) => Some(
                fs::read_to_string(&path)
                    .unwrap_or_else(|error| panic!("{}: {error}", path.display())),
            ),
            None => Some(unfenced(body).to_owned()),
        }
    }

    /// Returns the file of the first Markdown link in `text`, which is relative to the workspace.
    pub fn linked_file(&self, text: &str) -> Option<PathBuf> {
        let (_, rest) = text.split_once("](")?;
        let (path, _) = rest.split_once(')')?;
        Some(self.workspace.join(path))
    }
}

/// Splits at lines that start with `### `; the text before the first has no title. Boundaries around page text are removed.
fn sections(text: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let is_boundary = |line: &&str| {
        let tag = line.strip_prefix("</").or_else(|| line.strip_prefix('<'));
        tag.is_some_and(|tag| tag.starts_with("page") && tag.len() == 14)
    };
    for line in text.lines().filter(|line| !is_boundary(line)) {
        match (line.strip_prefix("### "), found.last_mut()) {
            (Some(title), _) => found.push((title.trim().to_owned(), String::new())),
            (None, Some((_, body))) => {
                body.push_str(line);
                body.push('\n');
            }
            (None, None) => {}
        }
    }
    for (_, body) in &mut found {
        body.truncate(body.trim_end().len());
        if body.starts_with('\n') {
            *body = body.trim_start_matches('\n').to_owned();
        }
    }
    found
}

/// Returns the body of a text that is one fenced block; any other text unchanged.
fn unfenced(text: &str) -> &str {
    let inside = text
        .strip_prefix("```")
        .and_then(|rest| rest.split_once('\n'))
        .map(|(_, inside)| inside);
    match inside.and_then(|inside| inside.strip_suffix("```")) {
        Some(inside) => inside.strip_suffix('\n').unwrap_or(inside),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn result(text: &str) -> CallResult {
        CallResult::new(
            json!({ "content": [{ "type": "text", "text": text }] }),
            Path::new("/w"),
        )
    }

    #[test]
    fn sections_are_split_at_their_headings() {
        let answer = result(
            "### Result\none\n\ntwo\n### Ran Playwright code\n```js\nawait x();\n```\n### Snapshot\n```yaml\n- a\n```",
        );
        assert_eq!(answer.result(), "one\n\ntwo");
        assert_eq!(answer.code(), Some("await x();"));
        assert_eq!(answer.snapshot().as_deref(), Some("- a"));
        assert_eq!(answer.section("Page"), None);
    }

    #[test]
    fn a_link_is_relative_to_the_workspace() {
        let answer = result("### Result\n- [Shot](./a/b.png)");
        assert_eq!(
            answer.linked_file(answer.result()),
            Some(PathBuf::from("/w/./a/b.png"))
        );
    }

    #[test]
    fn an_empty_snapshot_is_an_empty_text() {
        assert_eq!(
            result("### Snapshot\n```yaml\n\n```").snapshot().as_deref(),
            Some("")
        );
    }
}
