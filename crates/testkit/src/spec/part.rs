//! The part of an answer that a `reply` block shows.

use std::fs;

use crate::client::CallResult;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The whole text.
    Whole,
    /// The body of a section.
    Section(&'static str),
    /// The generated code without its fence.
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
    /// Parses the name of a part, which follows `reply`.
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

    /// Returns whether the block expects an error.
    pub(super) fn expects_error(&self) -> bool {
        *self == Self::Section("Error")
    }

    /// Returns this part of an answer; empty if it is missing.
    pub(super) fn of(&self, answer: &CallResult) -> String {
        match self {
            Self::Whole => answer.text.clone(),
            // An answer in JSON has no sections.
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
