//! A log file with rotation: at its size limit the file is renamed and a new one created.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The largest size of the file, in bytes.
const MAX_FILE_BYTES: u64 = 10_000_000;

/// The number of old files that are kept, as NAME.1 (the newest), NAME.2, ….
const MAX_OLD_FILES: u32 = 2;

/// The current log file.
pub(super) struct LogFile {
    path: PathBuf,
    file: File,
    size: u64,
    limit: u64,
}

impl LogFile {
    /// Opens the file at `path` for appending, or creates it and the folders above it.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let file = appended(path)?;
        Ok(Self {
            size: file.metadata()?.len(),
            path: path.to_owned(),
            file,
            limit: MAX_FILE_BYTES,
        })
    }

    fn rotate(&mut self) -> io::Result<()> {
        for number in (0..MAX_OLD_FILES).rev() {
            // A missing file cannot be renamed.
            let _ = fs::rename(self.numbered(number), self.numbered(number + 1));
        }
        self.file = appended(&self.path)?;
        self.size = self.file.metadata()?.len();
        Ok(())
    }

    fn numbered(&self, number: u32) -> PathBuf {
        if number == 0 {
            return self.path.clone();
        }
        let mut name = OsString::from(&self.path);
        name.push(format!(".{number}"));
        name.into()
    }
}

/// Opens a file for the owner only: at the level `trace` it has typed secrets.
fn appended(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    #[cfg(unix)]
    if file.metadata()?.is_file() {
        file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    }
    Ok(file)
}

impl Write for LogFile {
    /// Writes one log entry per call, which is not split between files.
    fn write(&mut self, report: &[u8]) -> io::Result<usize> {
        let length = report.len() as u64;
        if self.size > 0 && self.size + length > self.limit {
            self.rotate()?;
        }
        self.file.write_all(report)?;
        self.size += length;
        Ok(report.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_reports_are_kept_in_files_of_bounded_size() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("logs/server.log");
        let mut log = LogFile::open(&path).expect("writable");
        log.limit = 10;
        for number in 0..9 {
            let line = format!("line{number}\n");
            log.write_all(line.as_bytes()).expect("writable");
        }
        drop(log);
        #[cfg(unix)]
        for name in ["server.log", "server.log.1", "server.log.2"] {
            use std::os::unix::fs::PermissionsExt as _;
            let file = fs::metadata(folder.path().join("logs").join(name)).expect("there");
            assert_eq!(file.permissions().mode() & 0o777, 0o600, "{name}");
        }
        let read = |name: &str| fs::read_to_string(folder.path().join("logs").join(name));
        // Each line has six bytes: one fits.
        assert_eq!(read("server.log").expect("there"), "line8\n");
        assert_eq!(read("server.log.1").expect("there"), "line7\n");
        assert_eq!(read("server.log.2").expect("there"), "line6\n");
        assert!(read("server.log.3").is_err());
        let mut log = LogFile::open(&path).expect("writable");
        assert_eq!(log.size, 6);
        write!(log, "more").expect("writable");
        assert_eq!(read("server.log").expect("there"), "line8\nmore");
    }
}
