//! Uploading files to the machine of a remote browser through a grid.

use crate::error::{Error, Result};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use std::io::{Cursor, Write as _};
use std::path::{Path, PathBuf};
use wire::webdriver::file::Upload;
use wire::webdriver::{UNKNOWN_COMMAND, WebDriverSession};
use zip::ZipWriter;
use zip::result::ZipResult;
use zip::write::SimpleFileOptions;

/// The largest size of a file or folder, in bytes: several copies of it are in memory during the upload.
const MAX_UPLOAD_SIZE: u64 = 100 * 1024 * 1024;

/// Uploads a file or folder, and returns its path on the machine of the browser. If the remote end does not support uploads, returns the
/// local path, which is valid for a local driver.
pub(super) async fn upload(session: &WebDriverSession, path: &Path) -> Result<String> {
    let name = path.display().to_string();
    let whole = path.to_owned();
    let failed = |reason: String| Error::File {
        path: name.clone(),
        reason: format!("{name}: {reason}"),
    };
    let packed = tokio::task::spawn_blocking(move || pack(&whole)).await;
    let packed = packed.map_err(|error| failed(error.to_string()))?;
    let file = packed.map_err(|error| failed(error.to_string()))?;
    match session.call(&Upload { file }).await {
        Ok(there) => Ok(there),
        Err(wire::Error::Refused { error, .. }) if error == UNKNOWN_COMMAND => Ok(name),
        Err(error) => Err(error.into()),
    }
}

/// Returns a file or folder as a ZIP archive in Base64. Links and special files in a folder are omitted: they may point outside it, or be
/// endless.
fn pack(path: &Path) -> ZipResult<String> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default();
    let mut left = MAX_UPLOAD_SIZE;
    // The name of an entry, and its file.
    let mut waiting: Vec<(PathBuf, PathBuf)> = Vec::new();
    let name = path.file_name().unwrap_or(path.as_os_str());
    waiting.push((name.into(), path.to_owned()));
    while let Some((name, path)) = waiting.pop() {
        if path.is_dir() {
            archive.add_directory_from_path(&name, options)?;
            for entry in path.read_dir()? {
                let entry = entry?;
                let kind = entry.file_type()?;
                if !kind.is_dir() && !kind.is_file() {
                    tracing::debug!(path = %entry.path().display(), "not sent: not a file");
                    continue;
                }
                waiting.push((name.join(entry.file_name()), entry.path()));
            }
            continue;
        }
        let size = path.metadata()?.len();
        left = left.checked_sub(size).ok_or_else(|| {
            let most = MAX_UPLOAD_SIZE / 1024 / 1024;
            std::io::Error::other(format!(
                "more than {most} MB are not sent to another machine; use a folder that both have"
            ))
        })?;
        archive.start_file_from_path(&name, options)?;
        archive.write_all(&std::fs::read(&path)?)?;
    }
    Ok(BASE64_STANDARD.encode(archive.finish()?.into_inner()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;

    #[test]
    fn folders_are_packed_without_links_and_special_files() {
        let folder = tempfile::tempdir().unwrap();
        let photos = folder.path().join("photos");
        std::fs::create_dir_all(photos.join("old")).unwrap();
        std::fs::write(photos.join("old/1.txt"), "one").unwrap();
        std::fs::write(folder.path().join("secret"), "not theirs").unwrap();
        #[cfg(unix)]
        for (target, link) in [("../secret", "way out"), ("..", "loop")] {
            std::os::unix::fs::symlink(target, photos.join(link)).unwrap();
        }
        let bytes = BASE64_STANDARD.decode(pack(&photos).unwrap()).unwrap();
        let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
        let names = archive.file_names().map(|name| name.unwrap().into_owned());
        let mut names: Vec<_> = names.collect();
        names.sort();
        assert_eq!(names, ["photos/", "photos/old/", "photos/old/1.txt"]);
        let mut text = String::new();
        let mut file = archive.by_name("photos/old/1.txt").unwrap();
        file.read_to_string(&mut text).unwrap();
        assert_eq!(text, "one");
    }

    #[test]
    fn files_above_the_size_limit_are_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("film");
        let file = std::fs::File::create(&path).unwrap();
        file.set_len(MAX_UPLOAD_SIZE + 1).unwrap();
        assert!(pack(&path).unwrap_err().to_string().contains("100 MB"));
    }
}
