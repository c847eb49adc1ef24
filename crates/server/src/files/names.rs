//! Names of files.

use crate::config::{FORBIDDEN, Secrets};
use crate::timestamp::file_timestamp;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Creates something in the folder that must not exist, and returns its path. The time, such as `2026-11-21T08-09-17-011Z`, replaces the
/// `*` in the name; if that name is taken, a later time is used.
pub(crate) fn new_at(
    folder: &Path,
    name: &str,
    make: impl Fn(&Path) -> std::io::Result<()>,
) -> std::io::Result<PathBuf> {
    let mut time = SystemTime::now();
    loop {
        let path = folder.join(name.replace('*', &file_timestamp(time)));
        match make(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                time += Duration::from_millis(1);
            }
            made => return made.map(|()| path),
        }
    }
}

/// Returns the path of a file URI; `None` for other URIs.
pub(crate) fn file_uri(uri: &str) -> Option<PathBuf> {
    url::Url::parse(uri)
        .ok()
        .filter(|url| url.scheme() == "file")?
        .to_file_path()
        .ok()
}

/// Returns the file name of a download, from the name that the page suggests: without secrets, and valid in any file system.
pub(crate) fn download_name(suggested: &str, secrets: &Secrets) -> String {
    let name = secrets.redacted(suggested.to_owned());
    valid_name(&name.replace("<secret>", "").replace("</secret>", ""))
}

/// Returns a name that is valid in any file system.
pub(crate) fn valid_name(name: &str) -> String {
    let clean: String = name
        .chars()
        .map(|char| match char {
            char if FORBIDDEN.contains(&char) || char.is_control() => '-',
            char => char,
        })
        .collect();
    match clean.trim_matches(['.', ' ']) {
        "" => "download".to_owned(),
        name => shortened(name),
    }
}

/// The longest name that file systems support, in bytes, with room for a number.
const MAX_NAME_BYTES: usize = 255 - 16;

/// The longest suffix of a name that counts as its extension, in bytes.
const MAX_EXTENSION_BYTES: usize = 32;

/// Shortens a name to the limit of file systems, and preserves its extension.
fn shortened(name: &str) -> String {
    if name.len() <= MAX_NAME_BYTES {
        return name.to_owned();
    }
    let end = name.rfind('.').map_or("", |at| &name[at..]);
    let end = Some(end).filter(|end| end.len() <= MAX_EXTENSION_BYTES);
    let end = end.unwrap_or_default();
    let stem = &name[..name.floor_char_boundary(MAX_NAME_BYTES - end.len())];
    format!("{stem}{end}")
}

/// Normalizes the path without `.` and `..`, independently of the file system.
pub(super) fn normal(path: &Path) -> PathBuf {
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

pub(super) fn relative(from: &Path, to: &Path) -> PathBuf {
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

    #[test]
    fn a_root_that_is_no_file_is_no_workspace() {
        assert_eq!(file_uri("file:///w/a%20b"), Some(PathBuf::from("/w/a b")));
        assert_eq!(file_uri("https://x/"), None);
        assert_eq!(file_uri("nonsense"), None);
    }

    #[test]
    fn a_suggested_name_stays_a_name() {
        assert_eq!(valid_name("../../a:b.txt"), "-..-a-b.txt");
        assert_eq!(valid_name("..."), "download");
        assert_eq!(valid_name(&"ä".repeat(200)), "ä".repeat(119));
        let long = valid_name(&format!("{}.tar.gz", "a".repeat(300)));
        assert_eq!(long, format!("{}.gz", "a".repeat(236)));
    }

    #[test]
    fn a_download_is_not_named_after_a_secret() {
        let pairs = [("TOKEN", "hunter22"), ("PATHS", "ab/b:c/d")];
        let pairs = pairs.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let secrets = Secrets::new(pairs);
        for (suggested, name) in [
            ("report.pdf", "report.pdf"),
            ("hunter22.txt", "TOKEN.txt"),
            ("of-hunter22-and-hunter22", "of-TOKEN-and-TOKEN"),
            ("ab/b:c/d.txt", "PATHS.txt"),
            ("ab_b_c_d.txt", "PATHS.txt"),
            ("a_b", "a_b"),
        ] {
            assert_eq!(download_name(suggested, &secrets), name);
        }
    }
}
