//! The processes of an app, and the ports on which they listen.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::processes::{Entry, Identity, descendants, table};
use crate::state::State;

/// The environment variable of all processes of an app, including the supervisor: the app's folder.
pub(crate) const MARK: &str = "_PLAYHOUSE_APP";

/// How long killed processes may take to disappear.
const KILL_TIMEOUT: Duration = Duration::from_secs(3);
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The processes of an app: those with its mark, those of its process group, and, for its supervisor, all of its descendants.
pub(crate) struct ProcessTree {
    mark: PathBuf,
    leader: Option<Identity>,
    is_ours: bool,
}

impl ProcessTree {
    /// Returns the remaining processes of the app with this mark and state, including its supervisor.
    pub(crate) fn of(folder: &Path, state: Option<&State>) -> Self {
        Self {
            mark: folder.to_owned(),
            leader: state.and_then(|state| state.app.clone()),
            is_ours: false,
        }
    }

    /// Returns the processes of the supervisor's own app: orphans become its children.
    pub(crate) fn supervised(folder: &Path, leader: Identity) -> Self {
        Self {
            mark: folder.to_owned(),
            leader: Some(leader),
            is_ours: true,
        }
    }

    /// Returns the running processes, without this one and without zombies.
    pub(crate) fn members(&self) -> Vec<Identity> {
        let us = std::process::id();
        let mark = format!("{MARK}={}", self.mark.display());
        // The number of a group is not reused while it has members.
        let group = self.leader.as_ref().filter(|leader| leader.is_alive());
        let all: Vec<Entry> = table::all().collect();
        let descendants = if self.is_ours {
            descendants(&all, us)
        } else {
            BTreeSet::new()
        };
        let ours = |entry: &Entry| {
            descendants.contains(&entry.pid)
                || group.is_some_and(|leader| leader.pid == entry.group)
                || table::bears(entry.pid, mark.as_bytes())
        };
        all.into_iter()
            .filter(|entry| !entry.ended && entry.pid != us && ours(entry))
            .map(Entry::identity)
            .collect()
    }

    /// Terminates all processes, kills those that have not ended after `grace`, and returns those that could not be killed.
    pub(crate) async fn end(&self, grace: Duration) -> Vec<u32> {
        let until = Instant::now() + grace;
        let mut asked = BTreeSet::new();
        while Instant::now() < until {
            let members = self.members();
            if members.is_empty() {
                return Vec::new();
            }
            for member in members {
                // Processes that were started since the last pass.
                if asked.insert(member.pid) {
                    member.terminate();
                }
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        let until = Instant::now() + KILL_TIMEOUT;
        loop {
            let members = self.members();
            if members.is_empty() || Instant::now() > until {
                return members.iter().map(|member| member.pid).collect();
            }
            members.iter().for_each(Identity::kill);
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Returns the ports on which they listen; empty also if that is unknown.
    pub(crate) fn ports(&self) -> BTreeSet<u16> {
        let pids: Vec<u32> = self.members().iter().map(|member| member.pid).collect();
        table::ports(&pids)
    }
}

/// The owner of a port on which the app does not listen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PortOwner {
    /// Unknown, or none.
    Unknown,
    /// A process that was started before the app.
    Older,
    /// A process that was started later: on behalf of the app, such as a container's proxy, or by chance.
    Younger,
}

impl PortOwner {
    pub(crate) fn on(port: u16, app: &Identity) -> Self {
        match table::listener(port) {
            None => Self::Unknown,
            Some(its) if its.is_older_than(app) == Some(true) => Self::Older,
            Some(_) => Self::Younger,
        }
    }
}
