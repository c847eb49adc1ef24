//! Apps and server commands for tests of end-to-end testing. All of them need Node, except those in shell; each file starts with a
//! description.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::prerequisites::node;

/// Returns the path of a Node script that listens on `PORT` and misbehaves according to its arguments.
pub fn misbehaving_app() -> PathBuf {
    folder().join("crooked.mjs")
}

/// Returns the path of a server command (POSIX shell) that violates the interface: `broken-command.sh MODE[@OPTION] [URL [PID]] OPTION`.
pub fn broken_command() -> PathBuf {
    folder().join("broken-command.sh")
}

/// Returns the path of the server command of the documentation in bash, with the variables `APP` (the command that starts the app),
/// `READY_PATH` and `STATE_DIR`.
pub fn command_in_bash() -> PathBuf {
    examples().join("server.sh")
}

/// Returns the path of the server command of the documentation in Node, with the same variables.
pub fn command_in_node() -> PathBuf {
    examples().join("server.mjs")
}

/// A copy of two real apps, for one test to run and to change: the page of a notes app, served by Vite with hot reload, and its API, in
/// Express with a JSON file.
///
/// In its folder `npm run api` listens on `PORT` (default 3000) and stores its data in the file `DATABASE`, which initially contains the
/// user `ada` with password `engine`, and two notes; `npm run dev` listens on `PORT` (default 5173) and forwards `/api` to `API_URL`. The
/// page has sign-up, login, a list of notes and a form to add one; its button Export fails: 500, with a stack trace on the API's stderr.
pub struct NotesApp {
    folder: TempDir,
}

impl NotesApp {
    /// Copies the apps.
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

    /// Returns the folder of `package.json`: the working directory of `npm run dev` and `npm run api`.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the file of the API's data, after it was started without `DATABASE`.
    pub fn database(&self) -> PathBuf {
        self.folder().join("api/database.json")
    }

    /// Changes the heading of the page in its source: hot reload updates the page without a navigation.
    pub fn set_title(&self, title: &str) {
        let path = self.folder().join("notes/src/title.js");
        let source = fs::read_to_string(&path).expect("it is there");
        let line = source
            .lines()
            .find(|line| line.starts_with("export const title"))
            .expect("it has a title");
        let source = source.replace(line, &format!(r#"export const title = "{title}";"#));
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
            // Leftovers of a manual run.
            if name != ".vite" && name != "database.json" {
                copy(&from.join(&name), &to.join(&name));
            }
        }
    } else {
        fs::copy(from, to).expect("it can be copied");
    }
}
