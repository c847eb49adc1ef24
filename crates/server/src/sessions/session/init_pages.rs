//! The modules of `--init-page`, which run for each new tab before any call uses it, and keep listening while it is open.

use super::script_access::ScriptAccess;
use crate::access::principal::Permission;
use crate::config::Settings;
use crate::error::{Error, Result};
use crate::files::{FileAccess, Output};
use crate::sessions::downloads::Downloads;
use engine::{BrowserContext, Page};
use script::{End, Script, ScriptContext, ScriptRegistry};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use task::Task;
use tokio::sync::watch;

/// The environment of the modules.
pub(super) struct InitPages {
    /// The files, in order.
    pub(super) paths: Vec<PathBuf>,
    /// The browser context that each module receives.
    pub(super) context: BrowserContext,
    /// The files of the session.
    pub(super) output: Output,
    /// The client code of the session.
    pub(super) registry: ScriptRegistry,
    /// The downloads of the session.
    pub(super) downloads: Arc<Downloads>,
}

/// The modules of one tab, which are stopped when this is dropped.
pub(super) struct Initialization {
    outcome: watch::Receiver<Option<Result<()>>>,
    _work: Task,
}

impl InitPages {
    /// Starts the modules for a new tab; `None` if there are none.
    pub(super) fn begin(&self, page: Page, settings: &Settings) -> Option<Initialization> {
        if self.paths.is_empty() {
            return None;
        }
        let setting = ScriptContext {
            context: self.context.clone(),
            page,
            // The code belongs to the operator.
            access: Arc::new(ScriptAccess::new(
                FileAccess::new(self.output.clone(), Permission::Admin),
                self.downloads.clone(),
            )),
            registry: self.registry.clone(),
            action: settings.timeouts.action,
            navigation: settings.timeouts.navigation,
            longest: settings.longest_call(),
            can_pause: false,
        };
        let paths = self.paths.clone();
        let (tell, outcome) = watch::channel(None);
        let work = task::spawn("init page", async move {
            let mut listening = Vec::new();
            let limit = setting.longest;
            let all = async {
                for path in &paths {
                    listening.push(run(path, setting.clone()).await?);
                }
                Ok(())
            };
            let outcome = match tokio::time::timeout(limit, all).await {
                Ok(outcome) => outcome,
                Err(_) => Err(Error::InitPage {
                    path: paths.iter().map(shown).collect::<Vec<_>>().join(", "),
                    reason: format!("it took longer than {} ms", limit.as_millis()),
                }),
            };
            tell.send_replace(Some(outcome));
            // Listeners stay active until the tab is closed, which drops this task.
            std::future::pending::<()>().await;
        });
        Some(Initialization {
            outcome,
            _work: work,
        })
    }
}

impl Initialization {
    /// Waits until all modules have run.
    pub(super) async fn done(&self) -> Result<()> {
        let mut outcome = self.outcome.clone();
        match outcome.wait_for(Option::is_some).await {
            Ok(outcome) => outcome.clone().unwrap_or(Ok(())),
            // The tab is closing.
            Err(_) => Err(engine::Error::PageClosed {}.into()),
        }
    }
}

async fn run(path: &Path, setting: ScriptContext) -> Result<Script> {
    let failed = |reason: &str| Error::InitPage {
        path: shown(path),
        reason: reason.to_owned(),
    };
    let source = tokio::fs::read_to_string(path)
        .await
        .map_err(|error| failed(&Error::file(path, "open", &error).to_string()))?;
    let mut script = Script::module(shown(path), source, setting);
    let outcome = script.ended().await;
    for line in outcome.printed {
        tracing::info!(path = %path.display(), line, "an init page says");
    }
    for error in outcome.unhandled {
        tracing::warn!(path = %path.display(), error, "in an init page");
    }
    match outcome.end {
        // The client handles the dialog.
        End::Value(_) | End::Dialog | End::Paused => Ok(script),
        End::Failed(message) => {
            let reason = message.strip_prefix("Error: ").unwrap_or(&message);
            Err(failed(&format!("{reason}{}", advice(reason))))
        }
    }
}

/// Returns the suggestion about a module that cannot be read.
fn advice(reason: &str) -> &'static str {
    if reason.starts_with("SyntaxError") {
        "\nInit pages are plain JavaScript; which types of TypeScript they may have stands in docs/run-code.md."
    } else if reason.contains("could not load module") {
        "\nInit pages cannot import modules; see docs/run-code.md."
    } else {
        ""
    }
}

fn shown(path: impl AsRef<Path>) -> String {
    path.as_ref().display().to_string()
}
