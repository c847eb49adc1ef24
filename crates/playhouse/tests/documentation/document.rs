//! Parsing the documents: blocks, code spans, links, and the anchors of headings.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use crate::root;

/// A document of the repository.
pub(crate) struct Document {
    /// The path from the root of the repository.
    pub(crate) path: String,
    pub(crate) blocks: Vec<Block>,
    /// Code in sentences and tables, with its line.
    pub(crate) spans: Vec<(usize, String)>,
    /// The targets of links, with their lines.
    pub(crate) links: Vec<(usize, String)>,
    /// The anchors of headings.
    pub(crate) anchors: BTreeSet<String>,
}

/// A fenced block.
pub(crate) struct Block {
    /// The path and the line, for messages.
    pub(crate) place: String,
    /// The info string.
    pub(crate) info: String,
    pub(crate) text: String,
}

/// Returns the documents that users and contributors read. Decisions are history: they are not executed.
pub(crate) fn documents() -> Vec<Document> {
    let root = root();
    let mut paths: Vec<String> = ["README.md", "AGENTS.md", "CONTRIBUTING.md", "SECURITY.md"]
        .map(str::to_owned)
        .into();
    paths.push("extension/README.md".to_owned());
    paths.extend(files(&root, "docs"));
    paths.iter().map(|path| Document::read(path)).collect()
}

/// Returns the Markdown files of a folder, without those of its subfolders.
pub(crate) fn files(root: &Path, folder: &str) -> Vec<String> {
    let entries = fs::read_dir(root.join(folder)).expect("the folder can be read");
    let names = entries.map(|entry| entry.expect("it can be read").file_name());
    let mut paths: Vec<String> = names
        .filter_map(|name| name.into_string().ok())
        .filter(|name| name.ends_with(".md"))
        .map(|name| format!("{folder}/{name}"))
        .collect();
    paths.sort();
    paths
}

impl Document {
    pub(crate) fn read(path: &str) -> Self {
        let text = fs::read_to_string(root().join(path)).expect(path);
        Self::parse(path, &text)
    }

    fn parse(path: &str, text: &str) -> Self {
        let mut document = Self {
            path: path.to_owned(),
            blocks: Vec::new(),
            spans: Vec::new(),
            links: Vec::new(),
            anchors: BTreeSet::new(),
        };
        let mut heading: Option<String> = None;
        let mut block: Option<Block> = None;
        for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
            let line = 1 + text[..range.start].matches('\n').count();
            match event {
                Event::Start(Tag::CodeBlock(kind)) => {
                    block = Some(Block {
                        place: format!("{path}:{line}"),
                        info: match kind {
                            CodeBlockKind::Fenced(info) => info.to_string(),
                            CodeBlockKind::Indented => "(indented)".to_owned(),
                        },
                        text: String::new(),
                    });
                }
                Event::End(TagEnd::CodeBlock) => document.blocks.extend(block.take()),
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::End(TagEnd::Heading(_)) => document.add_anchor(&heading.take().unwrap()),
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    document.links.push((line, dest_url.to_string()));
                }
                Event::Text(part) => match (&mut block, &mut heading) {
                    (Some(block), _) => block.text.push_str(&part),
                    (None, Some(heading)) => heading.push_str(&part),
                    (None, None) => {}
                },
                Event::Code(code) => {
                    if let Some(heading) = &mut heading {
                        heading.push_str(&code);
                    }
                    document.spans.push((line, code.to_string()));
                }
                _ => {}
            }
        }
        document
    }

    /// Adds the anchor that GitHub derives from a heading.
    fn add_anchor(&mut self, heading: &str) {
        let lower = heading.trim().to_lowercase();
        let kept = lower
            .chars()
            .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        let anchor: String = kept.map(|c| if c == ' ' { '-' } else { c }).collect();
        let mut name = anchor.clone();
        for again in 1.. {
            if self.anchors.insert(name) {
                break;
            }
            name = format!("{anchor}-{again}");
        }
    }
}

#[testkit::test]
fn a_document_is_parsed() {
    let text = "# The `--safe` mode, again\n\n| a |\n|---|\n| `x {}` |\n\n```json config\n{}\n```\n\n    old\n\n[l](m.md#n)\n";
    let document = Document::parse("d.md", text);
    let blocks: Vec<_> = document
        .blocks
        .iter()
        .map(|block| (&*block.place, &*block.info, &*block.text))
        .collect();
    assert_eq!(
        blocks,
        [
            ("d.md:7", "json config", "{}\n"),
            ("d.md:11", "(indented)", "old\n")
        ]
    );
    assert_eq!(document.links, [(13, "m.md#n".to_owned())]);
    assert!(document.spans.contains(&(5, "x {}".to_owned())));
    assert!(document.anchors.contains("the---safe-mode-again"));
}
