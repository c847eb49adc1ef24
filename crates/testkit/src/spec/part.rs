//! Which part of an answer a `reply` block shows.

use std::fs;

use crate::client::CallResult;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The whole text.
    Whole,
    /// The body of a section.
    Section(&'static str),
    /// The Playwright code without its fence.
    Code,
    /// The snapshot's YAML, inline or from the linked file.
    Snapshot,
    /// The titles of the sections.
    Titles,
    /// Media type and size of each image.
    Images,
    /// A file of the workspace.
    File(String),
}

const SECTIONS: [(&str, &str); 7] = [
    ("result", "Result"),
    ("error", "Error"),
    ("page", "Page"),
    ("tabs", "Open tabs"),
    ("modal", "Modal state"),
    ("events", "Events"),
    ("snapshot-section", "Snapshot"),
];

impl Part {
    /// The part of this name, as it follows `reply`.
    pub(super) fn named(name: &str) -> Result<Self, String> {
        match name {
            "" => return Ok(Self::Whole),
            "code" => return Ok(Self::Code),
            "snapshot" => return Ok(Self::Snapshot),
            "sections" => return Ok(Self::Titles),
            "images" => return Ok(Self::Images),
            _ => {}
        }
        if let Some(file) = name.strip_prefix("file=") {
            return Ok(Self::File(file.to_owned()));
        }
        match SECTIONS.iter().find(|(known, _)| *known == name) {
            Some((_, title)) => Ok(Self::Section(title)),
            None => Err(format!(
                "a reply shows no `{name}`; there are code, snapshot, sections, images, file=NAME, {}",
                SECTIONS.map(|(known, _)| known).join(", ")
            )),
        }
    }

    /// Whether the block says that the call fails.
    pub(super) fn expects_error(&self) -> bool {
        *self == Self::Section("Error")
    }

    /// This part of an answer; what is not there is an empty text.
    pub(super) fn of(&self, answer: &CallResult) -> String {
        match self {
            Self::Whole => answer.text.clone(),
            // An answer that is one object has no sections.
            Self::Section("Error") if answer.is_error => {
                answer.section("Error").unwrap_or(&answer.text).to_owned()
            }
            Self::Section(title) => answer.section(title).unwrap_or_default().to_owned(),
            Self::Code => answer.code().unwrap_or_default().to_owned(),
            Self::Snapshot => answer.snapshot().unwrap_or_default(),
            Self::Titles => lines(answer.sections.iter().map(|(title, _)| title.clone())),
            Self::Images => lines(answer.images.iter().map(|image| match image.size() {
                Some((width, height)) => format!("{} {width}x{height}", image.media_type),
                None => image.media_type.clone(),
            })),
            Self::File(name) => fs::read_to_string(answer.workspace().join(name))
                .unwrap_or_else(|error| format!("{name}: {error}")),
        }
    }
}

fn lines(items: impl Iterator<Item = String>) -> String {
    items.collect::<Vec<_>>().join("\n")
}
