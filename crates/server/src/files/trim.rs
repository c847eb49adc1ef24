//! `--output-max-size`: deletes the oldest files of the output folder until the rest fits.

use super::Output;
use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

/// A file that may be deleted.
struct OldFile {
    path: PathBuf,
    size: u64,
    modified: SystemTime,
}

/// The files at the end of the last call, with the time of their last change.
pub(super) type Known = HashMap<PathBuf, SystemTime>;

/// The name of the folder of traces.
pub(super) const TRACES: &str = "traces";

/// The limit below which the folder is trimmed after each call, in bytes.
const SMALL: u64 = 64 * 1024 * 1024;

/// The clock of file systems lags behind the system clock by a tick.
const TICK: Duration = Duration::from_millis(20);

impl Output {
    /// Deletes old files until all take at most `limit` bytes, except files of the call that started at `began`. Only files that the server
    /// named or that pages offered as downloads count.
    pub(crate) async fn trim(&self, limit: u64, began: SystemTime) {
        // Listing a large folder after each call would cost more than a few excess files.
        let enough = if limit < SMALL { 0 } else { limit / 64 };
        let written = self.written.load(Ordering::Relaxed);
        if written < enough || !self.place.holds(&self.place.base) {
            return;
        }
        self.written.store(0, Ordering::Relaxed);
        let (folder, known) = (self.place.base.clone(), self.known.clone());
        let (mut ours, mut of_clients) = (HashSet::new(), HashSet::new());
        for file in self.artifacts.all() {
            match file.named_by_client {
                true => of_clients.insert(file.path),
                false => ours.insert(file.path),
            };
        }
        let work = move || {
            let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
            let is_old = |file: &OldFile| match &*known {
                Some(known) => known.get(&file.path) == Some(&file.modified),
                None => file.modified < began - TICK,
            };
            let may_go = |file: &OldFile| !of_clients.contains(&file.path) && is_old(file);
            *known = Some(trim(&folder, &ours, limit, may_go));
        };
        // The next call repeats a failed attempt.
        let _ = tokio::task::spawn_blocking(work).await;
    }
}

/// Deletes old files and returns the rest. Only the files of `ours` and files with an automatic name count.
fn trim(
    folder: &Path,
    ours: &HashSet<PathBuf>,
    limit: u64,
    may_go: impl Fn(&OldFile) -> bool,
) -> Known {
    let mut files = Vec::new();
    collect(folder, Some(ours), &mut files);
    let mut total: u64 = files.iter().map(|file| file.size).sum();
    files.sort_by_key(|file| file.modified);
    files.retain(|file| {
        let goes = total > limit && may_go(file) && fs::remove_file(&file.path).is_ok();
        if goes {
            total -= file.size;
        }
        !goes
    });
    let left = files.into_iter().map(|file| (file.path, file.modified));
    left.collect()
}

/// Collects the files below a folder that count: those of `ours`, and those with an automatic name; without `ours`, all of them.
fn collect(folder: &Path, ours: Option<&HashSet<PathBuf>>, files: &mut Vec<OldFile>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (name, path) = (
            entry.file_name().to_string_lossy().into_owned(),
            entry.path(),
        );
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        let counts = ours.is_none_or(|ours| ours.contains(&path) || is_automatic(&name));
        // The folder of downloads contains unfinished files.
        if kind.is_dir() && counts && name != "downloads" {
            collect(&path, None, files);
        } else if kind.is_file()
            && counts
            && let Ok(facts) = entry.metadata()
        {
            files.push(OldFile {
                path,
                size: facts.len(),
                modified: facts.modified().unwrap_or(SystemTime::UNIX_EPOCH),
            });
        }
    }
}

/// Returns whether the server chose the name: `page-2026-11-21T08-09-17-011Z.yml`, `session-1795274565667`, `session-3f2b8c1e`, `traces`.
fn is_automatic(name: &str) -> bool {
    if name == TRACES {
        return true;
    }
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
        // Other files belong to others.
        let old = |file: &OldFile| !file.path.ends_with("new.txt");
        let none = HashSet::new();
        trim(folder.path(), &none, 10, old);
        assert!(
            there("a.txt")
                && !there("session-1/session.md")
                && there("b-2026-11-21T08-09-17-011Z.yml")
        );
        let download = HashSet::from([folder.path().join("a.txt")]);
        trim(folder.path(), &download, 10, old);
        assert!(!there("a.txt") && there("b-2026-11-21T08-09-17-011Z.yml"));
        assert_eq!(trim(folder.path(), &none, 0, old).len(), 0);
        assert!(!there("b-2026-11-21T08-09-17-011Z.yml") && there("new.txt"));
        fs::create_dir_all(folder.path().join("traces/resources")).unwrap();
        write("traces/resources/page-1.jpeg", 3);
        trim(folder.path(), &none, 0, old);
        assert!(!there("traces/resources/page-1.jpeg"));
    }
}
