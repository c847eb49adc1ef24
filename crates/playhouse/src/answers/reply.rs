//! What a tool answers, and what the page looks like afterwards: data, before it is formatted.

use crate::error::Error;
use engine::codegen::{Action, Language};
use engine::{ConsoleCounts, Dialog, FileChooser};

/// A tool's own answer.
#[derive(Debug, Default)]
pub(crate) struct Reply {
    /// What it found or made, in order.
    pub(crate) parts: Vec<Part>,
    /// The same deed as lines of test code, in the language of `--codegen`.
    pub(crate) code: Vec<String>,
    /// It did its work, and the work's outcome is that something is wrong.
    pub(crate) error: Option<Error>,
    /// Whether the page's snapshot goes with it.
    pub(crate) snapshot: SnapshotRequest,
    /// The page's title, if the snapshot was taken already and that was read along with it.
    pub(crate) title: Option<String>,
}

/// One piece of an answer.
#[derive(Debug)]
pub(crate) enum Part {
    /// Plain text.
    Text(String),
    /// Text that a page chose, or a server that it spoke to.
    Page(String),
    /// A file that was written.
    File { title: String, link: String },
    /// The tabs that are open.
    Tabs(Vec<TabFacts>),
    /// A picture.
    Image(Image),
    /// Members of the object that the answer is.
    Object(serde_json::Value),
}

/// A picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Image {
    /// Encoded as `mime_type` says.
    pub(crate) bytes: Vec<u8>,
    /// Such as `image/png`.
    pub(crate) mime_type: String,
}

/// Whether and how a snapshot goes with an answer.
#[derive(Debug, Default)]
pub(crate) enum SnapshotRequest {
    /// Only if something else calls for the page's section.
    #[default]
    None,
    /// Taken when the consequences of the action are over, as a file.
    AfterAction,
    /// This one, in the answer itself.
    Inline(String),
    /// This one, written to a file already.
    File(String),
}

impl Reply {
    /// An answer that is only its code.
    pub(crate) fn code(line: impl Into<String>) -> Self {
        Self::default().and_code(line)
    }

    /// An answer that is only its code, in the language of the answers.
    pub(crate) fn action(language: Language, action: &Action) -> Self {
        Self::default().and_action(language, action)
    }

    /// An answer that is only text.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::default().and_text(text)
    }

    /// An answer that is only text of a page.
    pub(crate) fn page(text: impl Into<String>) -> Self {
        Self::default().and(Part::Page(text.into()))
    }

    /// An answer that says what is wrong, with all that belongs to an answer.
    pub(crate) fn error(error: impl Into<Error>) -> Self {
        Self {
            error: Some(error.into()),
            ..Self::default()
        }
    }

    /// Adds a line of text.
    pub(crate) fn and_text(mut self, text: impl Into<String>) -> Self {
        self.parts.push(Part::Text(text.into()));
        self
    }

    /// Adds lines of code.
    pub(crate) fn and_code(mut self, line: impl Into<String>) -> Self {
        self.code.push(line.into());
        self
    }

    /// Adds what was done, in the language of the answers.
    pub(crate) fn and_action(mut self, language: Language, action: &Action) -> Self {
        self.code.extend(action.code(language));
        self
    }

    /// Adds a part.
    pub(crate) fn and(mut self, part: Part) -> Self {
        self.parts.push(part);
        self
    }

    /// Asks for the snapshot after the action.
    pub(crate) fn and_snapshot(mut self) -> Self {
        self.snapshot = SnapshotRequest::AfterAction;
        self
    }
}

impl Reply {
    /// Whether going through it takes long.
    fn is_large(&self) -> bool {
        let snapshot = match &self.snapshot {
            SnapshotRequest::Inline(yaml) => yaml,
            _ => "",
        };
        let texts = self.parts.iter().map(|part| match part {
            Part::Text(text) | Part::Page(text) => &**text,
            _ => "",
        });
        let texts: Vec<_> = texts.collect();
        let objects = |part: &Part| matches!(part, Part::Object(object) if task::is_large(object));
        task::is_large(&(texts, &self.code, snapshot, &self.error))
            || self.parts.iter().any(objects)
    }
}

/// An answer with what the page looks like after it.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    /// What the tool said.
    pub(crate) reply: Reply,
    /// The state of the current page, where the answer shows it.
    pub(crate) page: Option<PageFacts>,
    /// The open tabs, where the answer shows them.
    pub(crate) tabs: Vec<TabFacts>,
    /// What waits for an answer.
    pub(crate) modals: Vec<Modal>,
    /// The snapshot, where the answer shows one.
    pub(crate) snapshot: Option<SnapshotFacts>,
    /// What happened besides.
    pub(crate) events: Vec<Event>,
    /// The pages that opened since the last answer, for programs.
    pub(crate) opened: Vec<OpenedPage>,
}

/// A page that opened by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OpenedPage {
    /// Its place among the session's pages.
    pub(crate) index: usize,
    /// The URL that the address bar would show.
    pub(crate) url: String,
    /// Why its document could not be loaded.
    pub(crate) failure: Option<String>,
}

impl Answer {
    /// Whether going through it takes long.
    pub(crate) fn is_large(&self) -> bool {
        let snapshot = match &self.snapshot {
            Some(SnapshotFacts::Inline(yaml)) => yaml,
            _ => "",
        };
        self.reply.is_large() || task::is_large(snapshot)
    }
}

/// What an answer tells of the current page.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct PageFacts {
    /// The URL that the address bar would show.
    pub(crate) url: String,
    /// The document's title; empty when it has none or cannot be asked.
    pub(crate) title: String,
    /// The renderer crashed.
    pub(crate) crashed: bool,
    /// HTTP status and reason of the document.
    pub(crate) status: Option<(u16, String)>,
    /// Console messages since the last navigation.
    pub(crate) console: ConsoleCounts,
}

/// What an answer tells of a tab.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TabFacts {
    /// The document's title.
    pub(crate) title: String,
    /// The URL that the address bar would show.
    pub(crate) url: String,
    /// Page tools act on this one.
    pub(crate) current: bool,
    /// The renderer crashed.
    pub(crate) crashed: bool,
}

/// What waits for an answer before the page goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Modal {
    /// A dialog.
    Dialog(Dialog),
    /// A file chooser.
    FileChooser(FileChooser),
}

/// Where the snapshot is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SnapshotFacts {
    /// In the answer.
    Inline(String),
    /// In a file; this is its link.
    File(String),
    /// Nowhere; this is why, in a line.
    Missing(String),
}

/// Something that happened since the last answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Event {
    /// Lines were added to a console log.
    Console {
        /// The file's link.
        link: String,
        /// The first new line, from 1.
        first: usize,
        /// The last new line.
        last: usize,
    },
    /// A download began.
    Downloading {
        /// The file's name.
        name: String,
    },
    /// A download ended.
    Downloaded {
        /// The file's name.
        name: String,
        /// Where it lies, as a link.
        link: String,
        /// It is kept apart, under a name that no program opens.
        quarantined: bool,
    },
    /// The browser had gone, and another one took its place.
    BrowserReplaced {
        /// Why it had gone.
        reason: String,
    },
    /// Pages opened more tabs than they may; these were closed at once.
    TabsRefused {
        /// How many since the last answer.
        count: u64,
    },
    /// Somebody else uses the profile; this session has a browser context of its own that keeps nothing.
    ProfileInUse {
        /// The profile's directory.
        dir: String,
    },
    /// What was done led to a document that could not be loaded.
    NavigationFailed {
        /// Which one, and why.
        reason: String,
    },
    /// Requests failed for which the app's server is to blame.
    AppFailed {
        /// The first of them, in a line.
        first: String,
        /// How many.
        count: usize,
    },
    /// A download broke off.
    DownloadFailed {
        /// The file's name.
        name: String,
        /// Why.
        reason: String,
    },
}
