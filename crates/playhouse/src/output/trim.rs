//! `--output-max-size`: the oldest files of the output folder go until the rest fits.

use super::Output;
use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;
use std::time::{Duration, SystemTime};

/// A file that may go.
struct Old {
    path: PathBuf,
    size: u64,
    modified: SystemTime,
}

/// The files that were there when the last call ended, with the time of their last change.
pub(super) type Known = HashMap<PathBuf, SystemTime>;

/// The clock of file systems lags behind ours by a tick.
const TICK: Duration = Duration::from_millis(20);

impl Output {
    /// Deletes old files until all take at most `limit` bytes; those written by the call, which came at `began`, stay.
    pub(crate) async fn trim(&self, limit: u64, began: SystemTime) {
        let (folder, known) = (self.base.clone(), self.known.clone());
        let ours = self.chosen.then(|| {
            let written = self.artifacts.all().into_iter();
            written.map(|file| file.path).collect::<HashSet<_>>()
        });
        let work = move || {
            let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
            let is_old = |file: &Old| match &*known {
                Some(known) => known.get(&file.path) == Some(&file.modified),
                None => file.modified < began - TICK,
            };
            *known = Some(trim(&folder, ours.as_ref(), limit, is_old));
        };
        // Whether it worked out shows with the next call.
        let _ = tokio::task::spawn_blocking(work).await;
    }
}

/// Returns what is left. With `ours` only those files count, and what has a name that we give.
fn trim(
    folder: &Path,
    ours: Option<&HashSet<PathBuf>>,
    limit: u64,
    is_old: impl Fn(&Old) -> bool,
) -> Known {
    let mut files = Vec::new();
    collect(folder, ours, &mut files);
    let mut total: u64 = files.iter().map(|file| file.size).sum();
    files.sort_by_key(|file| file.modified);
    files.retain(|file| {
        let goes = total > limit && is_old(file) && fs::remove_file(&file.path).is_ok();
        if goes {
            total -= file.size;
        }
        !goes
    });
    let left = files.into_iter().map(|file| (file.path, file.modified));
    left.collect()
}

/// The files below a folder. In one that the user chose may lie what is not ours: there only files count that the session wrote or downloaded,
/// and names that we give.
fn collect(folder: &Path, ours: Option<&HashSet<PathBuf>>, files: &mut Vec<Old>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (name, path) = (
            entry.file_name().to_string_lossy().into_owned(),
            entry.path(),
        );
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        let ours = ours.is_none_or(|ours| ours.contains(&path) || is_automatic(&name));
        // What is still on its way lies in the folder of downloads.
        if kind.is_dir() && ours && name != "downloads" {
            collect(&path, None, files);
        } else if kind.is_file()
            && ours
            && let Ok(facts) = entry.metadata()
        {
            files.push(Old {
                path,
                size: facts.len(),
                modified: facts.modified().unwrap_or(SystemTime::UNIX_EPOCH),
            });
        }
    }
}

/// `page-2026-11-21T08-09-17-011Z.yml`, `session-1795274565667`, `session-3f2b8c1e`.
fn is_automatic(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default();
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_hexdigit());
    if let Some(time) = stem.strip_prefix("session-") {
        return digits(time);
    }
    let shape: String = stem
        .bytes()
        .map(|b| {
            if b.is_ascii_digit() {
                '0'
            } else {
                char::from(b)
            }
        })
        .collect();
    shape.ends_with("-0000-00-00T00-00-00-000Z")
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn the_oldest_go_first_and_what_is_new_stays() {
        let folder = tempfile::tempdir().unwrap();
        let began = SystemTime::now();
        let write = |name: &str, age: u64| {
            let file = fs::File::create(folder.path().join(name)).unwrap();
            file.set_len(10).unwrap();
            file.set_modified(began - Duration::from_secs(age)).unwrap();
        };
        fs::create_dir(folder.path().join("session-1")).unwrap();
        for (name, age) in [
            ("a.txt", 3),
            ("session-1/session.md", 2),
            ("b-2026-11-21T08-09-17-011Z.yml", 1),
        ] {
            write(name, age);
        }
        fs::write(folder.path().join("new.txt"), [0; 10]).unwrap();
        let there = |name: &str| folder.path().join(name).exists();
        // Only what is ours, where the user chose the folder.
        let old = |file: &Old| !file.path.ends_with("new.txt");
        let none = HashSet::new();
        trim(folder.path(), Some(&none), 10, old);
        assert!(
            there("a.txt")
                && !there("session-1/session.md")
                && there("b-2026-11-21T08-09-17-011Z.yml")
        );
        let download = HashSet::from([folder.path().join("a.txt")]);
        trim(folder.path(), Some(&download), 10, old);
        assert!(!there("a.txt") && there("b-2026-11-21T08-09-17-011Z.yml"));
        let left = trim(folder.path(), None, 0, old);
        assert_eq!(left.len(), 1);
        assert!(!there("b-2026-11-21T08-09-17-011Z.yml") && there("new.txt"));
    }
}
