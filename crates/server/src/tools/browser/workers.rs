//! The workers of the page.

use crate::access::principal::Permission;
use crate::access::restrictions;
use crate::answers::escape::one_line;
use crate::answers::reply::Reply;
use crate::calls::Call;
use crate::config::Capability;
use crate::error::{Error, Problem, Result};
use crate::tools::scope::CurrentTab;
use crate::tools::tool::{Effect, Tool, ToolDef};
use engine::{Feature, Registration, Worker, WorkerKind};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeSet;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<Workers>()];

/// List web and service workers, evaluate in one, update or unregister a service worker.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Workers {
    /// Default: list.
    #[serde(default)]
    action: Action,
    /// Name or URL, as listed.
    worker: Option<String>,
    /// () => {…} to evaluate.
    function: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Action {
    #[default]
    List,
    Evaluate,
    Update,
    Unregister,
}

impl Tool for Workers {
    const NAME: &'static str = "browser_workers";
    const TITLE: &'static str = "Workers";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    const CAPABILITY: Option<Capability> = Some(Capability::Devtools);
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        self.check(call)?;
        let progress = call.action();
        let mut workers = tab.page.workers(&progress).await?;
        workers.retain(|worker| call.may_show(&worker.url));
        let done = match self.action {
            Action::List => return Ok(Reply::page(listed(&workers))),
            Action::Evaluate => {
                tab.require(Feature::WorkerEvaluation)?;
                let worker = self.find(&workers, |worker| worker.name.is_some())?;
                let id = worker.id.as_ref().ok_or(engine::Error::PageClosed {})?;
                let function = self.function.as_deref().unwrap_or_default();
                let result = tab.page.evaluate_in_worker(&progress, id, function).await;
                return Ok(match result {
                    // An exception of the script is a result.
                    Err(error @ engine::Error::Script { .. }) => Reply::error(error),
                    value => Reply::page(match value? {
                        Some(value) => task::pretty(value).await,
                        None => "undefined".to_owned(),
                    }),
                });
            }
            Action::Update => {
                let scope = self.scope(&workers)?;
                let updated = tab.page.update_service_worker(&progress, scope).await;
                updated.map(|()| format!("Updated the registration of {scope}"))
            }
            Action::Unregister => {
                let scope = self.scope(&workers)?;
                let unregistered = tab.page.unregister_service_worker(&progress, scope).await;
                unregistered.map(|()| {
                    format!("Unregistered {scope}; open documents keep the worker until they are reloaded or closed")
                })
            }
        };
        Ok(match done {
            Err(error @ engine::Error::Script { .. }) => Reply::error(error),
            done => {
                let done = done?;
                let mut left = tab.page.workers(&progress).await?;
                left.retain(|worker| call.may_show(&worker.url));
                Reply::page(format!("{}\n{}", one_line(&done), listed(&left)))
            }
        })
    }
}

impl Workers {
    /// Fails if the parameters contradict each other, or if the operator forbids the function.
    fn check(&self, call: &Call) -> Result<()> {
        if self.function.is_some() {
            restrictions::check_evaluation(&call.settings, "function")?;
        }
        let reason = match (self.action, &self.function) {
            (Action::Evaluate, None) => "action evaluate needs a function.",
            (Action::Evaluate, Some(_)) | (_, None) => return Ok(()),
            (_, Some(_)) => "function is for action evaluate.",
        };
        Err(Error::Arguments {
            reason: reason.into(),
            parameters: &["action", "function"],
            missing: &[],
            bare: false,
        })
    }

    /// Returns the scope of the service worker that the call names.
    fn scope<'a>(&self, workers: &'a [Worker]) -> Result<&'a str> {
        let worker = self.find(workers, |worker| worker.registration.is_some())?;
        let registration = worker.registration.as_ref();
        Ok(registration.map_or("", |registration| &registration.scope))
    }

    /// Returns the worker that the call names, or the only one that is suitable. Versions of one registration are one worker if their scope
    /// is all that matters.
    fn find<'a>(
        &self,
        workers: &'a [Worker],
        is_suitable: impl Fn(&Worker) -> bool,
    ) -> Result<&'a Worker> {
        let wanted = self.worker.as_deref();
        let is_named = |worker: &&Worker| {
            let scope = worker.registration.as_ref().map(|it| it.scope.as_str());
            let names = [worker.name.as_deref(), Some(&*worker.url), scope];
            wanted.is_none_or(|wanted| names.contains(&Some(wanted)))
        };
        let suitable = workers.iter().filter(|worker| is_suitable(worker));
        let mut found: Vec<_> = suitable.filter(is_named).collect();
        if self.action != Action::Evaluate {
            let mut scopes = BTreeSet::new();
            found.retain(|worker| {
                let registration = worker.registration.as_ref();
                scopes.insert(registration.map(|registration| &registration.scope))
            });
        }
        let message = match (found.as_slice(), wanted) {
            ([only], _) => return Ok(only),
            ([], _) if workers.is_empty() => "The page has no workers".to_owned(),
            ([], None) => format!("No worker is suitable:\n{}", listed(workers)),
            ([], Some(_)) => format!("The workers are:\n{}", listed(workers)),
            (_, _) => format!("Name one of the workers:\n{}", listed(workers)),
        };
        Err(Error::InvalidArguments {
            tool: Self::NAME,
            problems: vec![Problem {
                parameter: "worker".to_owned(),
                message,
                missing: wanted.is_none(),
            }],
        })
    }
}

/// Returns a line for each worker.
fn listed(workers: &[Worker]) -> String {
    let lines: Vec<_> = workers.iter().map(line).collect();
    match lines.as_slice() {
        [] => "The page has no workers".to_owned(),
        lines => lines.join("\n"),
    }
}

/// Returns a worker as `- w1 service http://site/sw.js (activated, scope http://site/)`.
fn line(worker: &Worker) -> String {
    let name = worker.name.as_ref().map(|name| format!("{name} "));
    let registration = match (&worker.registration, worker.kind) {
        (Some(Registration { scope, state, .. }), _) => format!(" ({state}, scope {scope})"),
        (None, WorkerKind::Service) => " (busy)".to_owned(),
        (None, _) => String::new(),
    };
    let url = match worker.url.split_once(',') {
        Some((start, _)) if start.starts_with("data:") => format!("{start},…"),
        _ => worker.url.to_string(),
    };
    let name = name.unwrap_or_default();
    let line = format!("- {name}{} {url}{registration}", worker.kind);
    one_line(&line).into_owned()
}
