//! The rules by which a file may not be used although it is in a folder of the server.

use serde::Serialize;

/// The rule that a path breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum FileRule {
    #[error(
        "is protected: no tool reads or writes keys, configuration, secrets, profiles and state of the server, .git, or files of others"
    )]
    Protected,
    #[error(
        "is a folder with protected files, with links that lead out of it, or with more files than can be checked"
    )]
    FolderHoldsProtected,
    #[error(
        "may be read with the scope browser:admin only, unless it lies in a readable root (--readable-roots)"
    )]
    ReadsRootsOnly,
    #[error(
        "cannot be written: with the scope browser:read, tools only create files in the output folder"
    )]
    CreatesOnly,
    #[error("exists already, and the scope browser:read may not overwrite files")]
    NeverOverwrites,
    #[error("was named by the client, and this server names all files itself")]
    NoClientPaths,
}

impl FileRule {
    /// Returns what the client can do about the error.
    pub(super) fn suggestion(self) -> &'static str {
        match self {
            Self::Protected | Self::FolderHoldsProtected => "Use another file or folder.",
            Self::ReadsRootsOnly => {
                "Give the content in the call where the tool takes it, or connect with a key or token that has the scope browser:admin, or list the folder in --readable-roots."
            }
            Self::CreatesOnly => {
                "Leave the name out, name a new file in the output folder, or connect with a key or token that has the scope browser:act."
            }
            Self::NeverOverwrites => "Name another file, or leave the name out.",
            Self::NoClientPaths => "Leave the name out; give files for the page in the call.",
        }
    }
}

/// Returns the end of the message: the folders in which files may be used.
pub(super) fn allowed(roots: &[String]) -> String {
    match roots {
        [] => String::new(),
        roots => format!(". Allowed: {}", roots.join(", ")),
    }
}
