//! Where files lie: the workspace that paths of clients are relative to, the output folder for what nobody named, and
//! the rule which files may be touched at all.

use crate::config::{FilePaths, Settings};
use crate::error::{Error, Result};
use crate::reply::WrittenFile;
use engine::StorageState;
use std::path::{Component, Path, PathBuf};
use time::OffsetDateTime;
use time::macros::format_description;

/// Below this name output lies in the workspace.
const FOLDER: &str = ".playwright-mcp";
/// Links that are followed one after the other; Linux follows as many.
const LINKS: usize = 40;

/// The folders of a session.
#[derive(Debug, Clone)]
pub(crate) struct Output {
    workspace: PathBuf,
    folder: PathBuf,
    unrestricted: bool,
    absolute_links: bool,
}

impl Output {
    /// The folders of a session whose client works in `workspace`.
    pub(crate) fn new(settings: &Settings, workspace: PathBuf) -> Self {
        let folder = match &settings.files.output_dir {
            Some(chosen) => chosen.clone(),
            None if writable(&workspace) => workspace.join(FOLDER),
            None => std::env::temp_dir().join(FOLDER),
        };
        Self {
            workspace,
            folder,
            unrestricted: settings.files.unrestricted,
            absolute_links: settings.answers.file_paths == FilePaths::Absolute,
        }
    }

    /// The folder that paths of clients are relative to.
    pub(crate) fn workspace(&self) -> &Path {
        &self.workspace
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
        let path = self.allowed(name)?;
        let link = self.link(&path);
        Ok(WrittenFile { path, link })
    }

    /// A file below the output folder, under a name with the time.
    pub(crate) async fn automatic(&self, prefix: &str, extension: &str) -> Result<WrittenFile> {
        self.make_folder().await?;
        let path = self.folder.join(format!("{prefix}-{}.{extension}", now()));
        let link = self.link(&path);
        Ok(WrittenFile { path, link })
    }

    /// Makes the output folder.
    pub(crate) async fn make_folder(&self) -> Result<()> {
        tokio::fs::create_dir_all(&self.folder)
            .await
            .map_err(|error| Error::file(&self.folder, "mkdir", &error))
    }

    /// Where the client's path leads, if that may be touched.
    pub(crate) fn allowed(&self, name: &str) -> Result<PathBuf> {
        let path = normal(&self.workspace.join(name));
        if self.unrestricted {
            return Ok(path);
        }
        let roots = [&self.folder, &self.workspace];
        let inside = |path: &Path| roots.iter().any(|root| path.starts_with(root));
        let real = real(&path);
        let really_inside = roots.iter().any(|root| real.starts_with(self::real(root)));
        // A link below the workspace must not lead out of it.
        if inside(&path) && really_inside {
            Ok(path)
        } else {
            Err(Error::FileAccessDenied {
                path: name.to_owned(),
                roots: roots.map(|root| root.display().to_string()).to_vec(),
            })
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

/// Writes a file.
pub(crate) async fn write(file: &WrittenFile, bytes: impl AsRef<[u8]>) -> Result<()> {
    tokio::fs::write(&file.path, bytes)
        .await
        .map_err(|error| Error::file(&file.path, "open", &error))
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

/// The time as automatic file names have it, `2026-11-21T08-09-17-011Z`.
pub(crate) fn now() -> String {
    let format =
        format_description!("[year]-[month]-[day]T[hour]-[minute]-[second]-[subsecond digits:3]Z");
    OffsetDateTime::now_utc().format(format).unwrap_or_default()
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
        name => name.to_owned(),
    }
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

/// The path with its links followed, those too that lead to what does not exist yet.
fn real(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        let mut missing = Vec::new();
        let mut dangling = None;
        for ancestor in path.ancestors() {
            if let Ok(mut real) = ancestor.canonicalize() {
                real.extend(missing.iter().rev());
                return real;
            }
            if let (Ok(target), Some(folder)) = (ancestor.read_link(), ancestor.parent()) {
                let mut led = folder.join(target);
                led.extend(missing.iter().rev());
                dangling = Some(normal(&led));
                break;
            }
            missing.extend(ancestor.file_name());
        }
        match dangling {
            Some(led) => path = led,
            None => return path,
        }
    }
    path
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
            folder: workspace.join(FOLDER),
            workspace: workspace.to_owned(),
            unrestricted: false,
            absolute_links: false,
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
        std::os::unix::fs::symlink("round", folder.path().join("round")).unwrap();
        assert!(output(folder.path()).allowed("round").is_ok());
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
    }
}
