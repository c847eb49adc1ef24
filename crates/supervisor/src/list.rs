//! Further commands for users: listing all apps, and printing the log of one.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;

use crate::state::{Folder, Phase, timestamp};

/// The interval between checks of a followed log.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// An app that runs or has run.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AppEntry {
    pub name: String,
    /// The project.
    pub cwd: PathBuf,
    pub status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    pub started_at: String,
}

/// Returns all apps below this folder, by project and name.
pub fn list(apps: &Path) -> Vec<AppEntry> {
    let below = |folder: &Path| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        paths.sort();
        paths
    };
    let projects = below(apps);
    let folders = projects.iter().flat_map(|project| below(project));
    let listed = |path: PathBuf| {
        let state = Folder::of(&path).read()?;
        let supervised = state.supervisor.is_alive();
        let runs = supervised && state.phase != Phase::Ended;
        Some(AppEntry {
            name: path.file_name()?.to_string_lossy().into_owned(),
            status: match state.phase {
                Phase::Starting if runs => "starting",
                Phase::Ready if runs => "running",
                _ => "stopped",
            },
            url: state.url.filter(|_| runs),
            pid: state.app.filter(|_| runs).map(|app| app.pid),
            started_at: timestamp(state.started),
            cwd: state.cwd,
        })
    };
    folders.filter_map(listed).collect()
}

/// Prints the combined log of an app, and if `goes_on` new lines until the reader closes the output.
pub async fn follow(folder: &Path, goes_on: bool, mut to: impl Write) -> io::Result<()> {
    let path = Folder::of(folder).logs().combined;
    let mut file = File::open(&path)?;
    loop {
        print_rest(&mut file, &mut to)?;
        if !goes_on {
            return Ok(());
        }
        tokio::time::sleep(POLL_INTERVAL).await;
        let facts = file.metadata()?;
        let Ok(newest) = File::open(&path) else {
            continue;
        };
        if newest.metadata()?.ino() != facts.ino() {
            // Lines before the rotation are printed first.
            print_rest(&mut file, &mut to)?;
            file = newest;
        } else if facts.len() < file.stream_position()? {
            file.seek(SeekFrom::Start(0))?;
        }
    }
}

fn print_rest(file: &mut File, to: &mut impl Write) -> io::Result<()> {
    let mut chunk = Vec::new();
    file.read_to_end(&mut chunk)?;
    to.write_all(&chunk)?;
    to.flush()
}
