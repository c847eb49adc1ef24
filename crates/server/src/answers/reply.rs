//! Replies: the results of tools and the page state after them, as data before it is formatted.

use crate::error::Error;
use engine::codegen::{Action, Language, Statement};
use engine::{ConsoleCounts, Dialog, FileChooser};
use script::Pause;

/// The result of a tool.
#[derive(Debug, Default)]
pub(crate) struct Reply {
    /// The parts of the result, in order.
    pub(crate) parts: Vec<Part>,
    /// The generated code of the action, in the language of `--codegen`.
    pub(crate) code: Vec<String>,
    /// The same in TypeScript, for exported tests.
    pub(crate) test_code: Vec<String>,
    /// Whether exported tests have the code although the tool only reads.
    pub(crate) is_test_step: bool,
    /// The error that is the result of a completed call.
    pub(crate) error: Option<Error>,
    /// Whether a snapshot of the page is included.
    pub(crate) snapshot: SnapshotRequest,
    /// The page's title, if it was read together with the snapshot.
    pub(crate) title: Option<String>,
    /// The lines of what changed since the last snapshot, if the tool compared the page itself.
    pub(crate) changes: Option<Vec<String>>,
}

/// One part of a reply.
#[derive(Debug)]
pub(crate) enum Part {
    /// Text of the server.
    Text(String),
    /// Text of a page or of a server that it requests.
    Page(String),
    /// Code that a page has a part in, in a fence.
    Code {
        language: &'static str,
        code: String,
    },
    /// A written file.
    File { title: String, link: String },
    /// The open tabs.
    Tabs(Vec<TabFacts>),
    /// An image.
    Image(Image),
    /// Members of the object that is the answer.
    Object(serde_json::Value),
}

/// An image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Image {
    /// The file in the format of `mime_type`.
    pub(crate) bytes: Vec<u8>,
    /// The media type, such as `image/png`.
    pub(crate) mime_type: String,
}

/// Whether and how a snapshot is included in an answer.
#[derive(Debug, Default)]
pub(crate) enum SnapshotRequest {
    /// No snapshot, unless the answer has a page section for another reason.
    #[default]
    None,
    /// Taken after the page has settled, for its changes or for a file.
    AfterAction,
    /// Taken for its changes alone, if that costs little.
    ForChanges,
    /// This snapshot, in the answer itself.
    Inline(String),
    /// This outline in the answer itself, and the whole snapshot in a file.
    Outline { outline: String, whole: String },
    /// This snapshot, in a file that exists already.
    File(String),
}

impl Reply {
    /// Creates a reply that consists of code.
    pub(crate) fn code(line: impl Into<String>) -> Self {
        Self::default().and_code(line)
    }

    /// Creates a reply that consists of the code of an action, in the language of the answers.
    pub(crate) fn action(language: Language, action: &Action) -> Self {
        Self::default().and_action(language, action)
    }

    /// Creates a reply that consists of text.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::default().and_text(text)
    }

    /// Creates a reply that consists of text of a page.
    pub(crate) fn page(text: impl Into<String>) -> Self {
        Self::default().and(Part::Page(text.into()))
    }

    /// Creates a reply that reports an error, with everything that a reply may have.
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
    pub(crate) fn and_code(self, line: impl Into<String>) -> Self {
        let line = line.into();
        let mut reply = self.and_test_code(line.clone());
        reply.code.push(line);
        reply
    }

    /// Adds lines of TypeScript that only exported tests have.
    pub(crate) fn and_test_code(mut self, line: impl Into<String>) -> Self {
        self.test_code.push(line.into());
        self
    }

    /// Adds the code of a tool that only reads to exported tests.
    pub(crate) fn into_test_step(mut self) -> Self {
        self.is_test_step = true;
        self
    }

    /// Adds the code of an action, in the language of the answers.
    pub(crate) fn and_action(mut self, language: Language, action: &Action) -> Self {
        let typescript = action.code(Language::Typescript);
        let code = match language {
            Language::Typescript => typescript.clone(),
            _ => action.code(language),
        };
        self.test_code.extend(typescript);
        self.code.extend(code);
        self
    }

    /// Adds code: a text in TypeScript, or the same as statements in another language.
    pub(crate) fn and_statements(
        mut self,
        language: Language,
        typescript: impl Into<String>,
        statements: impl IntoIterator<Item = Statement>,
    ) -> Self {
        let typescript = typescript.into();
        self.test_code.push(typescript.clone());
        match language {
            Language::Typescript | Language::None => self.code.push(typescript),
            Language::Python | Language::Java | Language::Csharp => {
                let lines = statements.into_iter();
                self.code
                    .extend(lines.filter_map(|statement| statement.code(language)));
            }
        }
        self
    }

    /// Creates a reply that consists of code: a text in TypeScript, or the same as statements in another language.
    pub(crate) fn statements(
        language: Language,
        typescript: impl Into<String>,
        statements: impl IntoIterator<Item = Statement>,
    ) -> Self {
        Self::default().and_statements(language, typescript, statements)
    }

    /// Adds a part.
    pub(crate) fn and(mut self, part: Part) -> Self {
        self.parts.push(part);
        self
    }

    /// Requests the changes of the page, without a snapshot in the answer.
    pub(crate) fn and_changes(mut self) -> Self {
        self.snapshot = SnapshotRequest::ForChanges;
        self
    }

    /// Requests a snapshot after the action.
    pub(crate) fn and_snapshot(mut self) -> Self {
        self.snapshot = SnapshotRequest::AfterAction;
        self
    }
}

impl Reply {
    /// Returns whether processing the reply takes long.
    fn is_large(&self) -> bool {
        let snapshot = match &self.snapshot {
            SnapshotRequest::Inline(text) | SnapshotRequest::Outline { whole: text, .. } => text,
            _ => "",
        };
        let texts = self.parts.iter().map(|part| match part {
            Part::Text(text) | Part::Page(text) | Part::Code { code: text, .. } => &**text,
            _ => "",
        });
        let texts: Vec<_> = texts.collect();
        let objects = |part: &Part| matches!(part, Part::Object(object) if task::is_large(object));
        task::is_large(&(texts, &self.code, snapshot, &self.error))
            || self.parts.iter().any(objects)
    }
}

/// A reply with the page state after it.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    /// The result of the tool.
    pub(crate) reply: Reply,
    /// The state of the current page, if the answer shows it.
    pub(crate) page: Option<PageFacts>,
    /// The open tabs, if the answer shows them.
    pub(crate) tabs: Vec<TabFacts>,
    /// The modal states.
    pub(crate) modals: Vec<Modal>,
    /// Where client code is paused, if it is.
    pub(crate) pause: Option<Pause>,
    /// The lines of what changed on the page since the last snapshot, if the answer lists that.
    pub(crate) changes: Option<Vec<String>>,
    /// The snapshot, if the answer includes one.
    pub(crate) snapshot: Option<SnapshotFacts>,
    /// The events since the last answer.
    pub(crate) events: Vec<Event>,
    /// The pages that opened since the last answer, for the JSON format.
    pub(crate) opened: Vec<OpenedPage>,
}

/// A page that opened without a call, such as a popup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OpenedPage {
    /// The index among the session's pages.
    pub(crate) index: usize,
    /// The URL that the address bar would show.
    pub(crate) url: String,
    /// Why its document could not be loaded.
    pub(crate) failure: Option<String>,
}

impl Answer {
    /// Returns whether processing the outcome takes long.
    pub(crate) fn is_large(&self) -> bool {
        let snapshot = match &self.snapshot {
            Some(SnapshotFacts::Inline(text) | SnapshotFacts::Outline { outline: text, .. }) => {
                text
            }
            _ => "",
        };
        self.reply.is_large() || task::is_large(snapshot) || task::is_large(&self.changes)
    }
}

/// The state of the current page in an answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct PageFacts {
    /// The URL that the address bar would show.
    pub(crate) url: String,
    /// The document's title; empty if there is none or the page is unresponsive.
    pub(crate) title: String,
    /// The name of the context, unless it is the default one.
    pub(crate) context: Option<String>,
    /// The renderer crashed.
    pub(crate) crashed: bool,
    /// HTTP status and reason of the document.
    pub(crate) status: Option<(u16, String)>,
    /// Console messages since the last navigation.
    pub(crate) console: ConsoleCounts,
    /// The number of WebMCP tools of the page.
    pub(crate) document_tools: usize,
}

/// The state of a tab in an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TabFacts {
    /// The document's title.
    pub(crate) title: String,
    /// The URL that the address bar would show.
    pub(crate) url: String,
    /// This is the current tab.
    pub(crate) current: bool,
    /// The renderer crashed.
    pub(crate) crashed: bool,
    /// The name of its context, unless it is the default one.
    pub(crate) context: Option<String>,
}

/// A modal state, which must be handled before the page continues.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Modal {
    Dialog(Dialog),
    FileChooser(FileChooser),
}

/// The snapshot in an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SnapshotFacts {
    Inline(String),
    /// The outline, the link of a file with the whole snapshot, and its size in tokens.
    Outline {
        outline: String,
        /// The file of the whole snapshot; `None` if it could not be written.
        link: Option<String>,
        tokens: usize,
    },
    /// The link of a file.
    File(String),
    /// The reason why there is no snapshot, in one line.
    Missing(String),
}

/// An event since the last answer.
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
    /// A download started.
    Downloading {
        /// The file's name.
        name: String,
    },
    /// A download ended.
    Downloaded {
        /// The file's name.
        name: String,
        /// The link of the file.
        link: String,
        /// The file is quarantined under a name that no program opens.
        quarantined: bool,
    },
    /// The browser had ended and was replaced.
    BrowserReplaced {
        /// The reason of its end.
        reason: String,
    },
    /// A page navigated to a URL of an external protocol, for which no program is started.
    NotOpened {
        /// The URL.
        url: String,
    },
    /// Pages opened too many tabs; these were closed at once.
    TabsRefused {
        /// The number of tabs since the last answer.
        count: u64,
    },
    /// The current tab closed, and not by a call for that.
    TabClosed {
        /// The URL of its page.
        url: String,
    },
    /// A dialog is open in another tab.
    DialogElsewhere {
        /// The index of the tab.
        index: usize,
        /// The dialog.
        dialog: Dialog,
    },
    /// Another process uses the profile; this session has a temporary browser context.
    ProfileInUse {
        /// The profile's directory.
        dir: String,
    },
    /// The document shows nothing.
    EmptyPage {},
    /// The document indicates that a part of it is loading.
    BusyPage {},
    /// The action navigated to a document that could not be loaded.
    NavigationFailed {
        /// The URL and the reason.
        reason: String,
    },
    /// A user at the dashboard has used the browser and handed it back.
    UserActed {},
    /// A user at the dashboard has annotated the page.
    UserAnnotated {
        /// The notes, with the refs and areas of marks.
        notes: Vec<String>,
        /// The link of the screenshot with the numbered marks.
        image: Option<String>,
    },
    /// Requests failed because of the app's server.
    AppFailed {
        /// The first failed request, in one line.
        first: String,
        /// The number of failed requests.
        count: usize,
    },
    /// A download failed.
    DownloadFailed {
        /// The file's name.
        name: String,
        /// The reason.
        reason: String,
    },
}
