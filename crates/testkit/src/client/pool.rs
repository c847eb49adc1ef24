//! A pool of servers: tests that need the same server use one process and one browser, one after the other.

use std::fs;
use std::ops::Deref;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;

use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

use super::{Client, Launch};

/// The largest number of idle servers; the one that has been idle longest ends.
const MAX_IDLE: usize = 4;

/// Runs the connections to the servers, which outlive the runtimes of tests.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().expect("threads"));
static POOL: Mutex<Pool> = Mutex::new(Pool {
    idle: Vec::new(),
    ending: Vec::new(),
});

struct Pool {
    /// The one that has been idle longest is the first.
    idle: Vec<(Launch, Client)>,
    ending: Vec<JoinHandle<ExitStatus>>,
}

/// A server that no other test uses at the same time. When this is dropped, all sessions are closed, all files of the workspace are removed,
/// and the server returns to the pool; if the test failed, the server ends instead.
///
/// # Panics
/// If the server does not close its sessions, or has printed something else than messages.
pub struct PooledClient {
    launch: Launch,
    /// `None` only while this is dropped.
    client: Option<Client>,
}

impl Launch {
    /// Takes a server that was started in the same way from the pool, or starts one. It has neither sessions nor files. Its log, metrics and
    /// subscriptions are also those of the tests before; a test about them starts a server of its own, as one that ends its server does.
    ///
    /// # Panics
    /// If the server does not start, or if the launch has a workspace.
    pub async fn pooled(self) -> PooledClient {
        assert!(self.has_own_workspace(), "a pooled server has its own");
        let idle = pool().take(&self);
        let client = match idle {
            Some(mut client) => {
                client.limit = self.limit;
                client.forget();
                client
            }
            None => {
                let client = {
                    let _runtime = RUNTIME.enter();
                    self.clone().spawn()
                };
                client.initialize(self.capabilities()).await;
                client
            }
        };
        PooledClient {
            launch: self,
            client: Some(client),
        }
    }
}

impl Deref for PooledClient {
    type Target = Client;

    fn deref(&self) -> &Client {
        self.client.as_ref().expect("only a drop takes it")
    }
}

impl Drop for PooledClient {
    fn drop(&mut self) {
        let Some(client) = self.client.take() else {
            return;
        };
        if thread::panicking() {
            return;
        }
        let (sender, receiver) = mpsc::channel();
        RUNTIME.spawn(async move {
            let outcome = client.reset().await.map(|()| client);
            // The test waits for it.
            let _ = sender.send(outcome);
        });
        match receiver.recv().expect("an outcome is sent") {
            Ok(client) => pool().add(self.launch.clone(), client),
            Err(why) => panic!("the server is not reusable: {why}"),
        }
    }
}

fn pool() -> MutexGuard<'static, Pool> {
    POOL.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Pool {
    /// Takes the server that was used last.
    fn take(&mut self, launch: &Launch) -> Option<Client> {
        let same = |(other, _): &(Launch, Client)| other.starts_same_server(launch);
        let index = self.idle.iter().rposition(same)?;
        Some(self.idle.remove(index).1)
    }

    fn add(&mut self, launch: Launch, client: Client) {
        self.idle.push((launch, client));
        if self.idle.len() > MAX_IDLE {
            let (_, oldest) = self.idle.remove(0);
            self.ending.push(RUNTIME.spawn(oldest.end()));
        }
    }
}

/// Ends all idle servers. Returns whether all servers of the pool have exited without an error.
pub(crate) fn end_idle_servers() -> bool {
    let (idle, mut ending) = {
        let mut pool = pool();
        (
            std::mem::take(&mut pool.idle),
            std::mem::take(&mut pool.ending),
        )
    };
    let ends = idle.into_iter();
    ending.extend(ends.map(|(_, client)| RUNTIME.spawn(client.end())));
    let mut all_succeeded = true;
    for end in ending {
        let status = RUNTIME.block_on(end);
        all_succeeded &= status.is_ok_and(|status| status.success());
    }
    all_succeeded
}

impl Client {
    /// Closes all sessions, and removes all files of the workspace.
    async fn reset(&self) -> Result<(), String> {
        let stray = self.stray_lines();
        if !stray.is_empty() {
            return Err(format!("it printed {stray:?}"));
        }
        let list = self.completed("list_sessions", json!({})).await?;
        let sessions = list["sessions"].as_array().into_iter().flatten();
        let ids = sessions.map(|session| &session["id"]);
        // It is not listed before it has a page.
        for id in ids.chain([&json!("default")]) {
            self.completed("close_session", json!({ "sessionId": id }))
                .await?;
        }
        let removed = remove_content(self.workspace());
        removed.map_err(|why| format!("its workspace cannot be emptied: {why}"))
    }

    async fn completed(&self, tool: &str, arguments: Value) -> Result<Value, String> {
        match self.try_call(tool, arguments).await {
            Ok(answer) if answer.is_error => Err(format!("{tool}: {}", answer.text)),
            Ok(answer) => Ok(answer.raw["structuredContent"].clone()),
            Err(why) => Err(format!("{tool}: {why}\n{}", self.last_words())),
        }
    }

    /// Discards the messages to the test before.
    fn forget(&mut self) {
        let unmatched = self.unmatched.get_mut();
        while unmatched.try_recv().is_ok() {}
        self.shared.asked.lock().expect("not poisoned").clear();
    }
}

fn remove_content(folder: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        match entry.file_type()?.is_dir() {
            true => fs::remove_dir_all(entry.path())?,
            false => fs::remove_file(entry.path())?,
        }
    }
    Ok(())
}
