//! Files that a client names, and the permissions to read or write them.

use super::beneath::lies_in;
use super::names::{normal, valid_name};
use super::{FileOrigin, WrittenFile};
use super::{Output, parsed_state};
use crate::access::principal::Permission;
use crate::config::Risk;
use crate::error::{Error, FileRule, Result};
use engine::StorageState;
use std::ops::Deref;
use std::path::{Path, PathBuf};

/// The folder of storage states that are saved by name, in the output folder.
const STATES: &str = "states";
/// The end of the names of their files.
const STATE_FILE: &str = ".json";

/// The files of a session with the permissions of one call. All file names of clients are checked here.
///
/// | scope | may write | may read |
/// |---|---|---|
/// | `browser:read` | new files in the output folder | nothing |
/// | `browser:act` | files in the workspace and the output folder | readable roots, and files that the session's own tools wrote |
/// | `browser:admin` | the same | the same, and all of the workspace and the output folder |
#[derive(Debug, Clone)]
pub(crate) struct FileAccess {
    output: Output,
    permission: Permission,
}

/// Files that the server names are in the output folder, and need no permission.
impl Deref for FileAccess {
    type Target = Output;

    fn deref(&self) -> &Output {
        &self.output
    }
}

impl FileAccess {
    pub(crate) fn new(output: Output, permission: Permission) -> Self {
        Self { output, permission }
    }

    /// Returns a file for the client: at the requested path, or in the output folder with the time in its name.
    pub(crate) async fn file(
        &self,
        asked: Option<&str>,
        prefix: &str,
        extension: &str,
    ) -> Result<WrittenFile> {
        match asked {
            Some(asked) => self.writable(asked),
            None => self.output.automatic(prefix, extension).await,
        }
    }

    /// Returns the file of that name, if the call may write it.
    pub(crate) fn writable(&self, name: &str) -> Result<WrittenFile> {
        self.writable_at(self.path(name)?)
    }

    fn writable_at(&self, path: PathBuf) -> Result<WrittenFile> {
        let place = &self.output.place;
        let base = Some(&place.base).filter(|base| place.holds(base));
        let workspace = Some(&self.output.workspace);
        let may_create_only = self.permission == Permission::Read;
        if may_create_only {
            let base: Vec<_> = base.into_iter().collect();
            if !is_in(&path, &base) {
                return Err(refused(&path, FileRule::CreatesOnly, &base));
            }
            if path.symlink_metadata().is_ok() {
                return Err(refused(&path, FileRule::NeverOverwrites, &base));
            }
        } else {
            self.refuse_outside(
                &path,
                &base.into_iter().chain(workspace).collect::<Vec<_>>(),
            )?;
        }
        self.refuse_protected(&path)?;
        let origin = match may_create_only {
            true => FileOrigin::NewOfClient,
            false => FileOrigin::Client,
        };
        Ok(self.output.linked(path, origin))
    }

    /// Returns the path of that name, if the call may read its file.
    pub(crate) fn readable(&self, name: &str) -> Result<PathBuf> {
        self.readable_at(self.path(name)?)
    }

    fn readable_at(&self, path: PathBuf) -> Result<PathBuf> {
        let readable: Vec<_> = self.output.readable.iter().collect();
        if self.permission == Permission::Admin {
            let place = &self.output.place;
            let base = Some(&place.base).filter(|base| place.holds(base));
            let own = base.into_iter().chain([&self.output.workspace]);
            self.refuse_outside(&path, &own.chain(readable).collect::<Vec<_>>())?;
        } else {
            let is_own = self.permission >= Permission::Act && self.wrote(&path);
            if !is_own && !is_in(&path, &readable) {
                return Err(refused(&path, FileRule::ReadsRootsOnly, &readable));
            }
        }
        self.refuse_protected(&path)?;
        Ok(path)
    }

    /// Reads the file of that name.
    pub(crate) async fn read(&self, name: &str) -> Result<Vec<u8>> {
        let path = self.readable(name)?;
        self.output.read(&path).await
    }

    /// Reads the storage state file of that name.
    pub(crate) async fn storage_state(&self, name: &str) -> Result<StorageState> {
        self.storage_state_at(self.readable(name)?).await
    }

    /// Returns the file for the storage state that is saved by this name, if the call may write it. The name is not a path, so clients that
    /// may not name files can use it.
    pub(crate) fn named_state(&self, name: &str) -> Result<WrittenFile> {
        let file = format!("{}{STATE_FILE}", valid_name(name));
        self.writable_at(self.states().join(file))
    }

    /// Reads the storage state that was saved by this name. Returns the names of all if there is none of this name.
    pub(crate) async fn saved_state(
        &self,
        name: &str,
    ) -> Result<std::result::Result<StorageState, Vec<String>>> {
        let folder = self.readable_at(self.states())?;
        let files = folder.read_dir().into_iter().flatten().flatten();
        let names = files.filter_map(|file| {
            let file = file.file_name().into_string().ok()?;
            Some(file.strip_suffix(STATE_FILE)?.to_owned())
        });
        let mut names: Vec<_> = names.collect();
        if !names.iter().any(|known| known == name) {
            names.sort();
            return Ok(Err(names));
        }
        let path = self.readable_at(folder.join(format!("{name}{STATE_FILE}")))?;
        Ok(Ok(self.storage_state_at(path).await?))
    }

    /// Returns the folder of the storage states that are saved by name.
    fn states(&self) -> PathBuf {
        self.output.place.base.join(STATES)
    }

    async fn storage_state_at(&self, path: PathBuf) -> Result<StorageState> {
        let bytes = self.output.read(&path).await;
        parsed_state(&path, bytes, self.output.state_key.as_ref()).await
    }

    /// Returns the path of that name, if its file or folder may be uploaded to a page by `tool`.
    pub(crate) async fn upload(&self, name: &str, tool: &'static str) -> Result<PathBuf> {
        if !self.output.uploads {
            return Err(Error::SwitchedOff {
                tool,
                setting: Risk::Upload.switch(),
            });
        }
        let path = self.readable(name)?;
        // The browser does not check the path, and fails when the page reads the file.
        let facts = tokio::fs::metadata(&path)
            .await
            .map_err(|error| Error::file(&path, "stat", &error))?;
        if facts.is_dir() {
            let (output, folder) = (self.output.clone(), path.clone());
            let covers = move || output.protected.guard().covers_part_of(&folder);
            let covered = tokio::task::spawn_blocking(covers).await;
            if covered.unwrap_or(true) {
                return Err(refused(&path, FileRule::FolderHoldsProtected, &[]));
            }
        }
        Ok(path)
    }

    /// Resolves a name of the client to a path.
    fn path(&self, name: &str) -> Result<PathBuf> {
        let path = normal(&self.output.workspace.join(name));
        match self.output.client_paths {
            true => Ok(path),
            false => Err(refused(&path, FileRule::NoClientPaths, &[])),
        }
    }

    /// Returns whether tools of the session wrote the file, and it was not replaced since.
    fn wrote(&self, path: &Path) -> bool {
        let output = &self.output;
        let own = [&output.workspace, &output.place.base];
        output.artifacts().has_public(path) && is_in(path, &own)
    }

    fn refuse_outside(&self, path: &Path, roots: &[&PathBuf]) -> Result<()> {
        let is_unrestricted = self.output.unrestricted && self.permission == Permission::Admin;
        if is_unrestricted || is_in(path, roots) {
            return Ok(());
        }
        Err(Error::FileAccessDenied {
            path: path.display().to_string(),
            roots: shown(roots),
        })
    }

    fn refuse_protected(&self, path: &Path) -> Result<()> {
        match self.output.protected.guard().covers_path(path) {
            true => Err(refused(path, FileRule::Protected, &[])),
            false => Ok(()),
        }
    }
}

/// Returns whether the path is in one of the folders, both literally and with its links resolved.
fn is_in(path: &Path, roots: &[&PathBuf]) -> bool {
    // A link below the workspace must not lead outside.
    roots.iter().any(|root| path.starts_with(root)) && roots.iter().any(|root| lies_in(path, root))
}

fn refused(path: &Path, rule: FileRule, roots: &[&PathBuf]) -> Error {
    Error::FileRefused {
        path: path.display().to_string(),
        rule,
        roots: shown(roots),
    }
}

fn shown(roots: &[&PathBuf]) -> Vec<String> {
    roots
        .iter()
        .map(|root| root.display().to_string())
        .collect()
}
