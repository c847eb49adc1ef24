//! Where files lie: the workspace that paths of clients are relative to, the output folder for what nobody named, and
//! the rule which files may be touched at all.

mod beneath;
mod trim;

use crate::address::Addresses;
use crate::artifacts::Artifacts;
use crate::config::{FilePaths, Risk, Secrets, Settings};
use crate::error::{Error, Result};
use crate::reply::WrittenFile;
use beneath::{Use, lies_in, real};
use engine::StorageState;
use std::io::{Read as _, Write as _};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex};
use time::OffsetDateTime;
use time::macros::format_description;

/// Below this name output lies in the workspace.
const FOLDER: &str = ".playwright-mcp";

/// Where a client works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Workspace {
    /// The first folder that it names and that exists, or else the server's own: its paths are relative to it.
    pub(crate) folder: PathBuf,
    /// The first folder that it names, which may be one of another machine, or else the same: its profile is that of this folder.
    pub(crate) project: PathBuf,
}

impl Workspace {
    /// Of a client that names these folders, of a server that was started in `cwd`.
    pub(crate) fn of(mut roots: Vec<PathBuf>, cwd: &Path) -> Self {
        let folder = roots.iter().find(|root| root.is_dir());
        let folder = folder.map_or_else(|| cwd.to_owned(), Clone::clone);
        let project = match roots.is_empty() {
            true => folder.clone(),
            false => roots.swap_remove(0),
        };
        Self { folder, project }
    }
}

/// The folders of a session.
#[derive(Debug, Clone)]
pub(crate) struct Output {
    workspace: PathBuf,
    project: PathBuf,
    /// Of all sessions.
    base: PathBuf,
    /// Of this one.
    folder: PathBuf,
    /// The user named the folder, so that it may lie anywhere.
    chosen: bool,
    unrestricted: bool,
    addresses: Addresses,
    uploads: bool,
    max_screenshot: Option<u64>,
    absolute_links: bool,
    secrets: Secrets,
    known: Arc<Mutex<Option<trim::Known>>>,
    artifacts: Artifacts,
}

impl Output {
    /// The folders of a session whose client works in `workspace`. A session that has a name has a folder of its own, `artifacts` is what
    /// it wrote before.
    pub(crate) fn new(
        settings: &Settings,
        workspace: &Workspace,
        session: Option<&str>,
        artifacts: Artifacts,
    ) -> Self {
        let project = workspace.project.clone();
        let workspace = workspace.folder.clone();
        let base = match &settings.files.output_dir {
            Some(chosen) => chosen.clone(),
            None if writable(&workspace) => workspace.join(FOLDER),
            None => std::env::temp_dir().join(FOLDER),
        };
        // As short as it can be: each answer has it. Files are created exclusively, should two begin alike.
        let own = session.map(|id| format!("session-{}", id.split('-').next().unwrap_or(id)));
        Self {
            workspace,
            project,
            folder: own.map_or_else(|| base.clone(), |own| base.join(own)),
            base,
            chosen: settings.files.output_dir.is_some(),
            unrestricted: settings.files.unrestricted,
            addresses: Addresses::new(settings),
            uploads: !settings.tools.forbidden.contains(&Risk::Upload),
            max_screenshot: settings.security.max_screenshot,
            absolute_links: settings.answers.file_paths == FilePaths::Absolute,
            secrets: settings.secrets.clone(),
            known: Arc::default(),
            artifacts,
        }
    }

    /// The folder that paths of clients are relative to.
    pub(crate) fn workspace(&self) -> &Path {
        &self.workspace
    }

    /// The folder that a profile of its own belongs to; it may be one of another machine.
    pub(crate) fn project(&self) -> &Path {
        &self.project
    }

    /// The output folder; it may not exist yet.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// A file for the client: where it asked for it, or below the output folder under a name with the time.
    pub(crate) async fn file(
        &self,
        asked: Option<&str>,
        prefix: &str,
        extension: &str,
    ) -> Result<WrittenFile> {
        match asked {
            Some(asked) => self.named(asked),
            None => self.automatic(prefix, extension).await,
        }
    }

    /// The file that the client names, if it may be touched.
    pub(crate) fn named(&self, name: &str) -> Result<WrittenFile> {
        Ok(self.linked(self.allowed(name)?))
    }

    /// A new file below the output folder, under a name with the time.
    pub(crate) async fn automatic(&self, prefix: &str, extension: &str) -> Result<WrittenFile> {
        self.refuse_led_away(&self.folder)?;
        let (output, name) = (self.clone(), format!("{prefix}-*.{extension}"));
        let made = tokio::task::spawn_blocking(move || output.make(&name)).await;
        let made = made.unwrap_or_else(|panic| Err(std::io::Error::other(panic)));
        let path = made.map_err(|error| Error::file(&self.folder, "open", &error))?;
        Ok(self.linked(path))
    }

    /// Makes a new, empty file in the output folder; the time takes the place of the `*` in its name.
    pub(crate) fn make(&self, name: &str) -> std::io::Result<PathBuf> {
        std::fs::create_dir_all(&self.folder)?;
        new_at(&self.folder, name, |path| {
            let mut options = std::fs::OpenOptions::new();
            options.write(true).create_new(true).open(path).map(drop)
        })
    }

    fn linked(&self, path: PathBuf) -> WrittenFile {
        let link = self.link(&path);
        WrittenFile { path, link }
    }

    /// Writes what opens other doors: a saved login.
    pub(crate) async fn write_guarded(&self, file: &WrittenFile, text: String) -> Result<()> {
        self.write_as(file, self.redacted(text), true).await
    }

    /// Writes a file that is no text; folders above it are made. From then on it is a resource: a file that a client only names is none.
    pub(crate) async fn write_bytes(
        &self,
        file: &WrittenFile,
        bytes: impl Into<Vec<u8>>,
    ) -> Result<()> {
        self.write_as(file, bytes, false).await
    }

    /// The same; `guarded`: it opens other doors.
    pub(crate) async fn write_as(
        &self,
        file: &WrittenFile,
        bytes: impl Into<Vec<u8>>,
        guarded: bool,
    ) -> Result<()> {
        if guarded {
            // Before anybody could read it.
            self.artifacts.add(&file.path, true);
            return self.put(&file.path, bytes.into()).await;
        }
        self.put(&file.path, bytes.into()).await?;
        self.artifacts.add(&file.path, false);
        Ok(())
    }

    async fn put(&self, path: &Path, bytes: Vec<u8>) -> Result<()> {
        let written = self.with(path, Use::Write, move |mut file| file.write_all(&bytes));
        written.await
    }

    /// Reads a file that may be touched.
    pub(crate) async fn read(&self, path: &Path) -> Result<Vec<u8>> {
        let read = self.with(path, Use::Read, |mut file| {
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).map(|_| bytes)
        });
        read.await
    }

    /// Opens a file that may be touched, and works with it.
    async fn with<T: Send + 'static>(
        &self,
        path: &Path,
        wanted: Use,
        work: impl FnOnce(std::fs::File) -> std::io::Result<T> + Send + 'static,
    ) -> Result<T> {
        let (output, at) = (self.clone(), path.to_owned());
        let done = tokio::task::spawn_blocking(move || output.open(&at, wanted).and_then(work));
        let done = done
            .await
            .unwrap_or_else(|panic| Err(std::io::Error::other(panic)));
        done.map_err(|error| Error::file(path, "open", &error))
    }

    fn open(&self, path: &Path, wanted: Use) -> std::io::Result<std::fs::File> {
        let opened = self.try_open(path, wanted);
        // Mostly the folder is there: to look first would cost as much as the writing.
        match (opened, path.parent()) {
            (Err(error), Some(folder))
                if wanted == Use::Write && error.kind() == std::io::ErrorKind::NotFound =>
            {
                std::fs::create_dir_all(folder)?;
                self.try_open(path, wanted)
            }
            (opened, _) => opened,
        }
    }

    fn try_open(&self, path: &Path, wanted: Use) -> std::io::Result<std::fs::File> {
        if self.unrestricted {
            return beneath::open(path, wanted);
        }
        let place = real(path);
        let roots = [&self.base, &self.workspace].map(|root| real(root));
        let root = roots.into_iter().flatten().find(|root| {
            let place = place.as_deref();
            place.is_some_and(|place| place.starts_with(root))
        });
        match (place, root) {
            (Some(place), Some(root)) => beneath::open_beneath(&root, &place, wanted),
            _ => Err(std::io::ErrorKind::PermissionDenied.into()),
        }
    }

    /// The files of the session.
    pub(crate) fn artifacts(&self) -> &Artifacts {
        &self.artifacts
    }

    /// The folder that the browser downloads to; it may not exist yet.
    pub(crate) fn downloads(&self) -> Result<PathBuf> {
        let downloads = self.base.join("downloads");
        self.refuse_led_away(&downloads)?;
        Ok(downloads)
    }

    /// What a workspace ships at the place of our folder may be a link to anywhere.
    fn refuse_led_away(&self, path: &Path) -> Result<()> {
        if self.is_ours(path) {
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

    /// Whether a path below the output folder really lies where it says.
    fn is_ours(&self, path: &Path) -> bool {
        let home = if self.chosen {
            Some(self.base.as_path())
        } else {
            self.base.parent()
        };
        self.unrestricted || home.is_some_and(|home| lies_in(path, home))
    }

    /// Where the client's path leads, if that may be touched.
    pub(crate) fn allowed(&self, name: &str) -> Result<PathBuf> {
        let path = normal(&self.workspace.join(name));
        if self.unrestricted {
            return Ok(path);
        }
        let folder = Some(&self.base).filter(|folder| self.is_ours(folder));
        let roots: Vec<_> = folder.into_iter().chain([&self.workspace]).collect();
        // A link below the workspace must not lead out of it.
        if roots.iter().any(|root| path.starts_with(root))
            && roots.iter().any(|root| lies_in(&path, root))
        {
            Ok(path)
        } else {
            Err(Error::FileAccessDenied {
                path: path.display().to_string(),
                roots: roots
                    .iter()
                    .map(|root| root.display().to_string())
                    .collect(),
            })
        }
    }

    /// Writes a text, without the secrets that it shows.
    pub(crate) async fn write(&self, file: &WrittenFile, text: String) -> Result<()> {
        self.write_bytes(file, self.redacted(text)).await
    }

    /// A text as files may have it.
    pub(crate) fn redacted(&self, text: String) -> String {
        self.secrets.redacted(text)
    }

    /// The file that the client wants to give to a page, if it may be touched. `tool` is what gives it.
    pub(crate) fn upload(&self, name: &str, tool: &'static str) -> Result<PathBuf> {
        if self.uploads {
            return self.allowed(name);
        }
        Err(Error::SwitchedOff {
            tool,
            setting: Risk::Upload.switch(),
        })
    }

    /// Refuses a URL that code of the client must not go to.
    pub(crate) fn refuse_address(&self, url: &str) -> Result<()> {
        self.addresses.refuse(url)
    }

    /// Refuses a screenshot that is larger than screenshots may be.
    pub(crate) fn refuse_large(&self, screenshot: &[u8]) -> Result<()> {
        match self.max_screenshot {
            Some(limit) if screenshot.len() as u64 > limit => Err(Error::ScreenshotTooLarge {
                size: screenshot.len(),
                limit,
            }),
            _ => Ok(()),
        }
    }

    /// How answers name a file: relative to the workspace where it lies there.
    pub(crate) fn link(&self, path: &Path) -> String {
        if self.absolute_links {
            return path.display().to_string();
        }
        let relative = relative(&self.workspace, path);
        if relative.components().count() == 1 && !relative.starts_with("..") {
            format!("./{}", relative.display())
        } else {
            relative.display().to_string()
        }
    }
}

/// Reads a file of cookies and storage.
pub(crate) async fn storage_state(path: &Path) -> Result<StorageState> {
    let unreadable = |reason: String| Error::File {
        path: path.display().to_string(),
        reason: format!(
            "Error reading storage state from {}:\n{reason}",
            path.display()
        ),
    };
    let text = tokio::fs::read(path)
        .await
        .map_err(|error| unreadable(Error::file(path, "open", &error).to_string()))?;
    serde_json::from_slice(&text).map_err(|error| unreadable(error.to_string()))
}

/// Makes something in the folder that is not there yet, and returns its path. The time takes the place of the `*` in its name, as in
/// `2026-11-21T08-09-17-011Z`, and is a later one where that is taken.
pub(crate) fn new_at(
    folder: &Path,
    name: &str,
    make: impl Fn(&Path) -> std::io::Result<()>,
) -> std::io::Result<PathBuf> {
    let format =
        format_description!("[year]-[month]-[day]T[hour]-[minute]-[second]-[subsecond digits:3]Z");
    let mut time = OffsetDateTime::now_utc();
    loop {
        let path = folder.join(name.replace('*', &time.format(format).unwrap_or_default()));
        match make(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                time += time::Duration::MILLISECOND;
            }
            made => return made.map(|()| path),
        }
    }
}

/// A file URI as a path; `None` for what is none.
pub(crate) fn file_uri(uri: &str) -> Option<PathBuf> {
    url::Url::parse(uri)
        .ok()
        .filter(|url| url.scheme() == "file")?
        .to_file_path()
        .ok()
}

/// The name of a file that a page suggests, fit for any file system.
pub(crate) fn sanitized(name: &str) -> String {
    let clean: String = name
        .chars()
        .map(|char| match char {
            '<' | '>' | ':' | '"' | '/' | '\\' | '|' | '?' | '*' => '-',
            char if char.is_control() => '-',
            char => char,
        })
        .collect();
    match clean.trim_matches(['.', ' ']) {
        "" => "download".to_owned(),
        name => shortened(name),
    }
}

/// The longest name that file systems have, in bytes, with room for a number.
const LONGEST_NAME: usize = 255 - 16;

/// The longest end of a name that counts as its extension, in bytes.
const LONGEST_EXTENSION: usize = 32;

/// A name that file systems have, with its extension.
fn shortened(name: &str) -> String {
    if name.len() <= LONGEST_NAME {
        return name.to_owned();
    }
    let end = name.rfind('.').map_or("", |at| &name[at..]);
    let end = Some(end).filter(|end| end.len() <= LONGEST_EXTENSION);
    let end = end.unwrap_or_default();
    let stem = &name[..name.floor_char_boundary(LONGEST_NAME - end.len())];
    format!("{stem}{end}")
}

fn writable(folder: &Path) -> bool {
    folder.parent().is_some()
        && folder
            .metadata()
            .is_ok_and(|facts| facts.is_dir() && !facts.permissions().readonly())
}

/// The path without `.` and `..`, whatever exists.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    normal
}

fn relative(from: &Path, to: &Path) -> PathBuf {
    let common = from
        .components()
        .zip(to.components())
        .take_while(|(a, b)| a == b)
        .count();
    let up = from.components().skip(common).map(|_| Component::ParentDir);
    up.chain(to.components().skip(common)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(workspace: &Path) -> Output {
        Output {
            base: workspace.join(FOLDER),
            folder: workspace.join(FOLDER),
            workspace: workspace.to_owned(),
            project: workspace.to_owned(),
            chosen: false,
            unrestricted: false,
            addresses: Addresses::default(),
            uploads: true,
            max_screenshot: None,
            absolute_links: false,
            secrets: Secrets::default(),
            known: Arc::default(),
            artifacts: Artifacts::default(),
        }
    }

    #[test]
    fn links_are_relative_and_a_bare_name_says_that_it_is_a_file() {
        let output = output(Path::new("/w/a"));
        assert_eq!(output.link(Path::new("/w/a/shot.png")), "./shot.png");
        assert_eq!(
            output.link(Path::new("/w/a/.playwright-mcp/p.yml")),
            ".playwright-mcp/p.yml"
        );
        assert_eq!(output.link(Path::new("/w/b/p.yml")), "../b/p.yml");
    }

    #[test]
    fn files_stay_below_the_roots() {
        let folder = tempfile::tempdir().unwrap();
        let output = output(folder.path());
        assert!(output.allowed("a.txt").is_ok());
        assert!(output.allowed("not/there/yet.txt").is_ok());
        for outside in ["/etc/passwd", "../x", "a/../../x"] {
            assert!(
                matches!(output.allowed(outside), Err(Error::FileAccessDenied { .. })),
                "{outside}"
            );
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_does_not_lead_out() {
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/etc", folder.path().join("etc")).unwrap();
        assert!(output(folder.path()).allowed("etc/passwd").is_err());
        // Nor one to what is not there yet: writing would make it.
        let nothing = tempfile::tempdir().unwrap().path().join("new/file");
        std::os::unix::fs::symlink(nothing, folder.path().join("new")).unwrap();
        assert!(output(folder.path()).allowed("new").is_err());
        assert!(output(folder.path()).allowed("new/x.txt").is_err());
        std::os::unix::fs::symlink("inside", folder.path().join("link")).unwrap();
        assert!(output(folder.path()).allowed("link").is_ok());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_what_is_not_there_yet_does_not_lead_out() {
        use std::os::unix::fs::symlink;
        let (folder, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let at = |name: &str| folder.path().join(name);
        symlink(outside.path().join("new.txt"), at("out.txt")).unwrap();
        symlink("out.txt", at("twice.txt")).unwrap();
        symlink("../escaped.txt", at("up.txt")).unwrap();
        symlink("circle", at("circle")).unwrap();
        symlink("not-yet.txt", at("inside.txt")).unwrap();
        let output = output(folder.path());
        for outside in ["out.txt", "twice.txt", "up.txt", "circle", "circle/a.txt"] {
            assert!(
                matches!(output.allowed(outside), Err(Error::FileAccessDenied { .. })),
                "{outside}"
            );
        }
        assert!(output.allowed("inside.txt").is_ok());
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn an_output_folder_that_is_a_link_out_of_the_workspace_is_refused() {
        use std::os::unix::fs::symlink;
        let (folder, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        symlink(outside.path(), folder.path().join(FOLDER)).unwrap();
        let mut output = output(folder.path());
        let inside = format!("{FOLDER}/secret");
        assert!(matches!(
            output.allowed(&inside),
            Err(Error::FileAccessDenied { roots, .. }) if roots.len() == 1
        ));
        assert!(matches!(
            output.automatic("page", "yml").await,
            Err(Error::File { .. })
        ));
        assert!(output.downloads().is_err());

        // Whoever names the folder knows where it leads.
        output.chosen = true;
        assert!(output.allowed(&inside).is_ok());
        assert!(output.automatic("page", "yml").await.is_ok());
        assert!(output.downloads().is_ok());
    }

    #[test]
    fn a_root_that_does_not_exist_has_a_profile_and_no_files() {
        let (cwd, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (cwd, there) = (cwd.path(), there.path());
        let gone = Path::new("/not/of/this/machine");
        let of = |roots: &[&Path]| {
            let workspace =
                Workspace::of(roots.iter().map(|root| root.to_path_buf()).collect(), cwd);
            (workspace.folder, workspace.project)
        };
        let both = |folder: &Path, project: &Path| (folder.to_owned(), project.to_owned());
        assert_eq!(of(&[]), both(cwd, cwd));
        assert_eq!(of(&[gone]), both(cwd, gone));
        assert_eq!(of(&[gone, there]), both(there, gone));
        assert_eq!(of(&[there, gone]), both(there, there));
    }

    #[test]
    fn a_root_that_is_no_file_is_no_workspace() {
        assert_eq!(file_uri("file:///w/a%20b"), Some(PathBuf::from("/w/a b")));
        assert_eq!(file_uri("https://x/"), None);
        assert_eq!(file_uri("nonsense"), None);
    }

    #[test]
    fn a_suggested_name_stays_a_name() {
        assert_eq!(sanitized("../../a:b.txt"), "-..-a-b.txt");
        assert_eq!(sanitized("..."), "download");
        assert_eq!(sanitized(&"ä".repeat(200)), "ä".repeat(119));
        let long = sanitized(&format!("{}.tar.gz", "a".repeat(300)));
        assert_eq!(long, format!("{}.gz", "a".repeat(236)));
    }

    #[tokio::test]
    async fn files_with_automatic_names_never_meet() {
        let folder = tempfile::tempdir().unwrap();
        let output = output(folder.path());
        let made = (0..200).map(|_| output.automatic("page", "yml"));
        let made = futures_util::future::join_all(made).await;
        let paths: std::collections::BTreeSet<_> =
            made.into_iter().map(|file| file.unwrap().path).collect();
        assert_eq!(paths.len(), 200);
        assert_eq!(std::fs::read_dir(&output.folder).unwrap().count(), 200);
    }
}
