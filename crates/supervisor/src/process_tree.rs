//! Which processes belong to an app, and which listen on its ports.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::processes::{Entry, Identity, table};
use crate::state::State;

/// The variable that all processes of an app have, the supervisor's included: the app's folder.
pub(crate) const MARK: &str = "_PLAYHOUSE_APP";

/// How long killed processes may take to be gone: as long as the kernel does.
const KILL_TIMEOUT: Duration = Duration::from_secs(3);
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The processes of an app: those that bear its mark, those of the group that it was started in, and, for its supervisor, all that descend
/// from it.
pub(crate) struct ProcessTree {
    mark: PathBuf,
    leader: Option<Identity>,
    is_ours: bool,
}

impl ProcessTree {
    /// What is left of the app whose mark and state these are, its supervisor included.
    pub(crate) fn of(folder: &Path, state: Option<&State>) -> Self {
        Self {
            mark: folder.to_owned(),
            leader: state.and_then(|state| state.app.clone()),
            is_ours: false,
        }
    }

    /// Those that we look after ourselves: whom nobody else waits for is our child.
    pub(crate) fn supervised(folder: &Path, leader: Identity) -> Self {
        Self {
            mark: folder.to_owned(),
            leader: Some(leader),
            is_ours: true,
        }
    }

    /// Those that run; neither us, nor what has ended and was not taken note of.
    pub(crate) fn members(&self) -> Vec<Identity> {
        let us = std::process::id();
        let mark = format!("{MARK}={}", self.mark.display());
        // The number of a group is not given away while anybody is in it.
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

    /// Asks all of them to end, kills what has not after `grace`, and returns what could not be killed.
    pub(crate) async fn end(&self, grace: Duration) -> Vec<u32> {
        let until = Instant::now() + grace;
        let mut asked = BTreeSet::new();
        while Instant::now() < until {
            let members = self.members();
            if members.is_empty() {
                return Vec::new();
            }
            for member in members {
                // What was started while it ends has not been asked yet.
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

    /// On which ports they listen; empty also where that cannot be known.
    pub(crate) fn ports(&self) -> BTreeSet<u16> {
        let pids: Vec<u32> = self.members().iter().map(|member| member.pid).collect();
        table::ports(&pids)
    }
}

/// Who listens on a port that an app does not listen on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PortOwner {
    /// Nobody, or nobody knows who.
    Unknown,
    /// Somebody who was there before the app.
    Older,
    /// Somebody who came later: on behalf of the app, as a container's proxy does, or by chance.
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

fn descendants(all: &[Entry], of: u32) -> BTreeSet<u32> {
    let mut found = BTreeSet::from([of]);
    loop {
        let known = found.len();
        let children = all.iter().filter(|entry| found.contains(&entry.parent));
        let children: Vec<u32> = children.map(|entry| entry.pid).collect();
        found.extend(children);
        if found.len() == known {
            return found;
        }
    }
}
