//! Apps that a server command starts, and server commands: what tests of end-to-end testing use. All of them need Node, but for the
//! ones in shell; what each does stands at the head of its file.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::prerequisites::node;

/// A Node script that listens on `PORT` and misbehaves as its arguments say.
pub fn misbehaving_app() -> PathBuf {
    folder().join("crooked.mjs")
}

/// A server command (POSIX shell) that breaks the rules of its interface: `broken-command.sh MODE[@OPTION] [URL [PID]] OPTION`.
pub fn broken_command() -> PathBuf {
    folder().join("broken-command.sh")
}

/// The server command of the documentation, in bash: `APP` (what starts the app), `READY_PATH` and `STATE_DIR` are its variables.
pub fn command_in_bash() -> PathBuf {
    examples().join("server.sh")
}

/// The server command of the documentation, in Node, with the same variables.
pub fn command_in_node() -> PathBuf {
    examples().join("server.mjs")
}

/// A copy of two real apps that belong together, for one test to run and to change: the page of some notes, served by Vite with hot
/// reload, and their API, in Express over a JSON file.
///
/// In its folder `npm run api` listens on `PORT` (default 3000) and has its data in the file `DATABASE`, which begins with the user
/// `ada`, password `engine`, and two notes; `npm run dev` listens on `PORT` (default 5173) and sends `/api` on to `API_URL`. The page
/// signs up and logs in, lists and adds notes; its button Export fails: 500, with a stack trace on the API's stderr.
pub struct NotesApp {
    folder: TempDir,
}

impl NotesApp {
    /// Copies it.
    ///
    /// # Panics
    /// If Node or the dependencies of the apps are missing.
    pub fn copy() -> Self {
        let source = folder();
        node(&source);
        let modules = source.join("node_modules");
        let folder = tempfile::Builder::new()
            .prefix("testkit-notes-")
            .tempdir()
            .expect("a temporary folder");
        copy(
            &source.join("package.json"),
            &folder.path().join("package.json"),
        );
        copy(&source.join("notes"), &folder.path().join("notes"));
        copy(&source.join("api"), &folder.path().join("api"));
        #[cfg(unix)]
        std::os::unix::fs::symlink(&modules, folder.path().join("node_modules"))
            .expect("a link can be made");
        Self { folder }
    }

    /// Where its `package.json` is: the working directory of `npm run dev` and `npm run api`.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The file of the API's data, once it has started without `DATABASE`.
    pub fn database(&self) -> PathBuf {
        self.folder().join("api/database.json")
    }

    /// Changes the heading of the page in its source, as a developer would: with hot reload the page shows it without being loaded anew.
    pub fn set_title(&self, title: &str) {
        let path = self.folder().join("notes/src/title.js");
        let source = fs::read_to_string(&path).expect("it is there");
        let line = source
            .lines()
            .find(|line| line.starts_with("export let title"))
            .expect("it has a title");
        let source = source.replace(line, &format!("export let title = '{title}';"));
        fs::write(&path, source).expect("it can be written");
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("apps")
}

fn examples() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.join("../../docs/examples")
        .canonicalize()
        .expect("the documentation has examples")
}

fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        fs::create_dir(to).expect("it can be made");
        for entry in fs::read_dir(from).expect("it can be listed") {
            let name = entry.expect("it can be listed").file_name();
            // What a run by hand has left behind.
            if name != ".vite" && name != "database.json" {
                copy(&from.join(&name), &to.join(&name));
            }
        }
    } else {
        fs::copy(from, to).expect("it can be copied");
    }
}
