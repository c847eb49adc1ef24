//! File access: the workspace that paths of clients are relative to, the output folder for files without a name from the client, and the
//! rules about reading and writing.

mod access;
pub(crate) mod artifacts;
mod beneath;
mod encryption;
mod names;
mod opening;
mod output_folder;
mod owner;
pub(crate) mod resource_uri;
mod trim;
mod writing;

use crate::access::protected::{Protected, real};
use crate::access::urls::Addresses;
use crate::config::{FilePaths, FileSettings, Risk, Secrets, Settings, StateKey};
use crate::error::{Error, Result};
use artifacts::Artifacts;
use beneath::{PRIVATE_FILE, PRIVATE_FOLDER, Use};
use engine::StorageState;
use output_folder::OutputFolder;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};

pub(crate) use access::FileAccess;
pub(crate) use names::{file_uri, valid_name};
pub(crate) use owner::settings_of;

/// A file that was or will be written for a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WrittenFile {
    pub(crate) path: PathBuf,
    /// The path in answers and generated code.
    pub(crate) link: String,
    /// The origin of the name.
    pub(crate) origin: FileOrigin,
}

/// The origin of a file's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileOrigin {
    /// Named by the server; the file exists already and is empty.
    Server,
    /// Named by the client.
    Client,
    /// Named by the client, which must not overwrite an existing file.
    NewOfClient,
    /// Named by the configuration.
    Configuration,
}

/// The workspace of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Workspace {
    /// The first existing root of the client, otherwise the server's folder: paths of the client are relative to it.
    pub(crate) folder: PathBuf,
    /// The first root of the client, which may be a folder of another machine, otherwise the same folder. It selects the profile.
    pub(crate) project: PathBuf,
}

impl Workspace {
    /// Selects the workspace of a client with these roots. An authenticated client uses the workspace of its principal.
    pub(crate) fn of(mut roots: Vec<PathBuf>, files: &FileSettings) -> Self {
        if let Some(owner) = &files.owner {
            return owner::workspace_of(owner, roots);
        }
        let folder = roots.iter().find(|root| root.is_dir());
        let folder = folder.map_or_else(|| files.cwd.clone(), Clone::clone);
        let project = match roots.is_empty() {
            true => folder.clone(),
            false => roots.swap_remove(0),
        };
        Self { folder, project }
    }
}

/// The folder of quarantined downloads.
const QUARANTINE: &str = "quarantine";
/// The suffix of quarantined downloads, so that no program opens them.
const SUFFIX: &str = ".quarantine";

/// The folders of a session.
#[derive(Debug, Clone)]
pub(crate) struct Output {
    workspace: PathBuf,
    project: PathBuf,
    /// The output folder of all sessions of the principal.
    place: OutputFolder,
    /// The output folder of this session.
    folder: PathBuf,
    /// The configured folder of downloads. Clients cannot name files in it.
    downloads_dir: Option<PathBuf>,
    /// The configured folder of traces.
    traces_dir: Option<PathBuf>,
    quarantine: bool,
    /// Folders that can be read in addition to the workspace.
    readable: Vec<PathBuf>,
    protected: Protected,
    /// Whether clients may name files.
    client_paths: bool,
    unrestricted: bool,
    addresses: Addresses,
    uploads: bool,
    max_screenshot: Option<u64>,
    absolute_links: bool,
    secrets: Secrets,
    state_key: Option<StateKey>,
    known: Arc<Mutex<Option<trim::Known>>>,
    /// Bytes that were written since the folder was trimmed.
    written: Arc<AtomicU64>,
    artifacts: Artifacts,
}

impl Output {
    /// Creates the folders of a session whose client works in `workspace`. A named session has an output folder of its own; `artifacts` are
    /// the files that it wrote before.
    pub(crate) fn new(
        settings: &Settings,
        workspace: &Workspace,
        session: Option<&str>,
        artifacts: Artifacts,
    ) -> Self {
        let files = &settings.files;
        if let Some(owner) = &files.owner
            && let Err(error) = output_folder::make_workspace(&owner.workspace, files)
        {
            let folder = owner.workspace.display();
            tracing::warn!(%error, %folder, "the workspace of a principal cannot be made");
        }
        let project = workspace.project.clone();
        let workspace = workspace.folder.clone();
        let place = OutputFolder::of(files, &workspace);
        let readable = files.readable.iter();
        let readable = readable.map(|root| names::normal(&workspace.join(root)));
        let owner = files.owner.as_ref();
        let own = owner.map_or_else(|| workspace.clone(), |owner| owner.workspace.clone());
        let others = owner.into_iter().flat_map(|owner| owner.others.clone());
        let protected = files.protected.iter().cloned().chain(others);
        // The name is short because each answer contains it. Files are created exclusively, so equal names do no harm.
        let of_session =
            session.map(|id| format!("session-{}", id.split('-').next().unwrap_or(id)));
        Self {
            downloads_dir: settings.context.downloads_dir.clone(),
            traces_dir: settings.files.traces_dir.clone(),
            quarantine: settings.files.quarantine,
            readable: readable.collect(),
            protected: Protected::new(protected.collect(), vec![own, place.base.clone()])
                .beside_others(
                    files
                        .owner
                        .as_ref()
                        .is_some_and(|owner| owner.name.is_some()),
                ),
            workspace,
            project,
            folder: of_session.map_or_else(|| place.base.clone(), |own| place.base.join(own)),
            place,
            client_paths: files.client_paths,
            unrestricted: files.unrestricted,
            addresses: Addresses::new(settings),
            uploads: !settings.tools.forbidden.contains(&Risk::Upload),
            max_screenshot: settings.security.max_screenshot,
            absolute_links: settings.answers.file_paths == FilePaths::Absolute,
            secrets: settings.secrets.clone(),
            state_key: files.state_key.clone(),
            known: Arc::default(),
            // The first call trims the files of earlier sessions.
            written: Arc::new(AtomicU64::new(u64::MAX / 2)),
            artifacts,
        }
    }

    /// Returns the folder that paths of clients are relative to.
    pub(crate) fn workspace(&self) -> &Path {
        &self.workspace
    }

    /// Returns the folder that selects the profile; it may be a folder of another machine.
    pub(crate) fn project(&self) -> &Path {
        &self.project
    }

    /// Returns the output folder; it may not exist yet.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Creates a file in the output folder, with the time in its name.
    pub(crate) async fn automatic(&self, prefix: &str, extension: &str) -> Result<WrittenFile> {
        self.refuse_symlink_escape(&self.folder)?;
        let name = format!("{prefix}-*.{extension}");
        let made = self.in_background(&self.folder, move |output| output.make(&name));
        Ok(self.linked(made.await?, FileOrigin::Server))
    }

    /// Removes a file that the server named and did not write.
    pub(crate) fn remove_unused(&self, file: &WrittenFile) {
        if file.origin == FileOrigin::Server {
            // An empty file does no harm.
            let _ = std::fs::remove_file(&file.path);
        }
    }

    /// Returns a file beside another one, with a number after its name.
    pub(crate) fn numbered(&self, file: &WrittenFile, number: usize) -> WrittenFile {
        let stem = file.path.file_stem().unwrap_or_default().to_string_lossy();
        let extension = file.path.extension().map(|end| end.to_string_lossy());
        let end = extension.map_or_else(String::new, |end| format!(".{end}"));
        let path = file.path.with_file_name(format!("{stem}-{number}{end}"));
        self.linked(path, file.origin)
    }

    /// Creates an empty file in the output folder; the time replaces the `*` in its name.
    pub(crate) fn make(&self, name: &str) -> io::Result<PathBuf> {
        names::new_at(&self.folder, name, |path| {
            self.open(path, Use::Create, PRIVATE_FILE).map(drop)
        })
    }

    /// Creates a folder in the output folder with the first of these names that is free.
    pub(crate) fn make_folder(&self, names: impl Iterator<Item = String>) -> io::Result<PathBuf> {
        self.make_own_folder()?;
        let (home, folder) = self.real_folder()?;
        for name in names {
            let made = beneath::make_folder_beneath(&home, &folder.join(&name), PRIVATE_FOLDER);
            match made {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => return made.map(|()| self.folder.join(name)),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Creates the folder of finished downloads if it is missing, and returns it.
    pub(crate) fn make_downloads_folder(&self) -> io::Result<PathBuf> {
        let folder = match &self.downloads_dir {
            None => self.make_own_folder().map(|()| self.folder())?,
            Some(chosen) => {
                beneath::make_folders(chosen, PRIVATE_FOLDER)?;
                chosen
            }
        };
        if !self.quarantine {
            return Ok(folder.to_owned());
        }
        let place = real(folder).ok_or(io::ErrorKind::NotFound)?;
        let quarantine = place.join(QUARANTINE);
        beneath::make_folders_beneath(&place, &quarantine, PRIVATE_FOLDER)?;
        // An existing folder may be accessible to others.
        #[cfg(unix)]
        std::fs::set_permissions(
            &quarantine,
            std::os::unix::fs::PermissionsExt::from_mode(PRIVATE_FOLDER),
        )?;
        Ok(folder.join(QUARANTINE))
    }

    /// Returns whether downloads are quarantined under names that no program opens.
    pub(crate) fn has_quarantine(&self) -> bool {
        self.quarantine
    }

    /// Creates the output folder if it is missing.
    fn make_own_folder(&self) -> io::Result<()> {
        self.place.make()?;
        let (home, folder) = self.real_folder()?;
        beneath::make_folders_beneath(&home, &folder, PRIVATE_FOLDER)
    }

    /// Returns the resolved output folder, and the resolved folder that must contain it.
    fn real_folder(&self) -> io::Result<(PathBuf, PathBuf)> {
        let places = (real(&self.place.home), real(&self.folder));
        match places {
            (Some(home), Some(folder)) if folder.starts_with(&home) => Ok((home, folder)),
            _ => Err(io::ErrorKind::PermissionDenied.into()),
        }
    }

    fn linked(&self, path: PathBuf, origin: FileOrigin) -> WrittenFile {
        let link = self.link(&path);
        WrittenFile { path, link, origin }
    }

    /// Returns a file at a path of the configuration. It may be in any folder.
    pub(crate) fn configured(&self, path: PathBuf) -> WrittenFile {
        self.linked(path, FileOrigin::Configuration)
    }

    /// Masks secrets in each string of a JSON value.
    pub(crate) fn redacted_json(&self, value: serde_json::Value) -> serde_json::Value {
        self.secrets.redacted_json(value)
    }

    /// Returns the folder of traces; it may not exist yet.
    pub(crate) fn traces(&self) -> PathBuf {
        let own = || self.folder.join(trim::TRACES);
        self.traces_dir.clone().unwrap_or_else(own)
    }

    /// Creates the folder of traces if it is missing.
    pub(crate) fn make_traces_folder(&self) -> io::Result<()> {
        match &self.traces_dir {
            Some(chosen) => beneath::make_folders(chosen, PRIVATE_FOLDER),
            None => self.make_folders(&self.traces()),
        }
    }

    /// Returns the artifacts of the session.
    pub(crate) fn artifacts(&self) -> &Artifacts {
        &self.artifacts
    }

    /// Returns the folder that the browser downloads to; it may not exist yet.
    pub(crate) fn downloads(&self) -> Result<PathBuf> {
        let downloads = self.place.base.join("downloads");
        self.refuse_symlink_escape(&downloads)?;
        // Otherwise the browser creates it, readable for others. If it cannot be created, downloads report the error.
        let _ = self.place.make();
        Ok(downloads)
    }

    /// Returns an error if the output folder in the workspace is a link to a folder outside.
    fn refuse_symlink_escape(&self, path: &Path) -> Result<()> {
        if self.unrestricted || self.place.holds(path) {
            return Ok(());
        }
        let path = path.display().to_string();
        Err(Error::File {
            reason: format!(
                "The output folder {path} is a link that leads elsewhere. Remove it, or choose a folder with --output-dir."
            ),
            path,
        })
    }

    /// Returns a text with masked secrets.
    pub(crate) fn redacted(&self, text: String) -> String {
        self.secrets.redacted(text)
    }

    /// Returns the file name of a download for which the page suggests this name.
    pub(crate) fn download_name(&self, suggested: &str) -> String {
        let mut name = names::download_name(suggested, &self.secrets);
        if self.quarantine {
            name += SUFFIX;
        }
        name
    }

    /// Returns an error for a URL that client code must not open.
    pub(crate) fn refuse_address(&self, url: &str) -> Result<()> {
        self.addresses.refuse(url)
    }

    /// Returns an error for a screenshot that exceeds the size limit.
    pub(crate) fn refuse_large(&self, screenshot: &[u8]) -> Result<()> {
        match self.max_screenshot {
            Some(limit) if screenshot.len() as u64 > limit => Err(Error::ScreenshotTooLarge {
                size: screenshot.len(),
                limit,
            }),
            _ => Ok(()),
        }
    }

    /// Returns the path of a file in answers: relative to the workspace if the file is in it.
    pub(crate) fn link(&self, path: &Path) -> String {
        if self.absolute_links {
            return path.display().to_string();
        }
        let relative = names::relative(&self.workspace, path);
        if relative.components().count() == 1 && !relative.starts_with("..") {
            format!("./{}", relative.display())
        } else {
            relative.display().to_string()
        }
    }
}

/// Reads the storage state file of the configuration.
pub(crate) async fn storage_state(path: &Path, key: Option<&StateKey>) -> Result<StorageState> {
    let bytes = tokio::fs::read(path).await;
    let bytes = bytes.map_err(|error| Error::file(path, "open", &error));
    parsed_state(path, bytes, key).await
}

/// Parses a storage state, which may be encrypted.
async fn parsed_state(
    path: &Path,
    bytes: Result<Vec<u8>>,
    key: Option<&StateKey>,
) -> Result<StorageState> {
    let unreadable = |reason: String| Error::File {
        path: path.display().to_string(),
        reason: format!(
            "Error reading storage state from {}:\n{reason}",
            path.display()
        ),
    };
    let bytes = bytes.map_err(|error| unreadable(error.to_string()))?;
    let key = key.cloned();
    let text = task::compute(move || encryption::decrypt(bytes, key.as_ref())).await;
    let text = text.map_err(|reason| unreadable(reason.to_owned()))?;
    serde_json::from_slice(&text).map_err(|error| unreadable(error.to_string()))
}

#[cfg(test)]
mod tests;
