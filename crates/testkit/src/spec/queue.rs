//! The queue of the specs of all runners of a process: each worker runs one file after another, on a server that it keeps as long as there
//! are files with the same flags.

use std::cmp::Reverse;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard};

use futures_util::FutureExt;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;

use super::document::Document;
use super::report::Outcome;
use super::runner::{Run, Server};
use crate::engine::Engine;

/// The process-wide queue, because each engine is a test of its own.
static QUEUE: Mutex<Queue> = Mutex::new(Queue {
    waiting: Vec::new(),
    running: Vec::new(),
});

struct Queue {
    /// The files that no worker has taken.
    waiting: Vec<Job>,
    /// The groups of the workers' servers.
    running: Vec<Option<Group>>,
}

/// A file to run.
struct Job {
    run: Arc<Run>,
    name: String,
    document: Document,
    done: UnboundedSender<Vec<Outcome>>,
}

/// What the files of one server have in common: the engine, and the flags.
type Group = (Option<Engine>, Vec<String>);

impl Job {
    fn group(&self) -> Group {
        (self.run.engine(), self.document.setup.args.clone())
    }

    /// Returns the number of calls, with that which opens the page.
    fn calls(&self) -> usize {
        let cases = self.document.cases.iter();
        cases.map(|case| 1 + case.steps.len()).sum()
    }
}

impl Queue {
    fn lock() -> MutexGuard<'static, Self> {
        QUEUE.lock().expect("not poisoned")
    }

    /// Returns the next file for a worker: of the slowest engine for one half of the workers, of the fastest for the other, so that cases
    /// that wait for timers run beside those that use the processor. Of these files, preferably one for the server that the worker runs
    /// already, otherwise for one that no other worker runs. A worker without a file has ended.
    fn next(&mut self, worker: usize) -> Option<Job> {
        let rank = |job: &Job| {
            let group = job.group();
            let is_own = self.running[worker].as_ref() == Some(&group);
            let is_free = !self.running.contains(&Some(group));
            // A browser of its own is closed after the case, and the next case starts another one.
            let is_first = !job.document.setup.own_browser;
            let engine = job.run.engine();
            let slowness = match worker % 2 {
                0 => (engine, None),
                _ => (None, Some(Reverse(engine))),
            };
            (slowness, is_own, is_free, is_first, job.calls())
        };
        let next = (0..self.waiting.len()).max_by_key(|&at| rank(&self.waiting[at]));
        let next = next.map(|at| self.waiting.swap_remove(at));
        self.running[worker] = next.as_ref().map(Job::group);
        next
    }
}

/// Runs files, together with those of other runs, and returns what came of them.
pub(super) async fn run(run: &Arc<Run>, documents: Vec<(String, Document)>) -> Vec<Outcome> {
    let (done, mut results) = unbounded_channel();
    let jobs = documents.into_iter().map(|(name, document)| Job {
        run: run.clone(),
        name,
        document,
        done: done.clone(),
    });
    let mut workers = JoinSet::new();
    {
        let mut queue = Queue::lock();
        queue.waiting.extend(jobs);
        // The cases of Chromium wait for timers half of the time.
        let count = std::thread::available_parallelism().map_or(2, |cores| 2 * cores.get());
        queue.running.resize(count, None);
        for worker in 0..count {
            if queue.running[worker].is_none()
                && let Some(job) = queue.next(worker)
            {
                workers.spawn(work(worker, job));
            }
        }
    }
    drop(done);
    let mut outcomes = Vec::new();
    while let Some(more) = results.recv().await {
        outcomes.extend(more);
    }
    // They may be running files of another engine.
    workers.join_all().await;
    outcomes
}

async fn work(worker: usize, mut job: Job) {
    let mut server: Option<Server> = None;
    loop {
        let play = job.run.play(&job.name, &job.document, &mut server);
        let outcomes = match AssertUnwindSafe(play).catch_unwind().await {
            Ok(outcomes) => outcomes,
            Err(_) => {
                server = None;
                let fault = "  its server panicked; the reason is above\n";
                vec![Outcome::failed(&job.name, fault)]
            }
        };
        // The run ends with its last result.
        let _ = job.done.send(outcomes);
        let group = job.group();
        drop(job);
        let next = Queue::lock().next(worker);
        match next {
            Some(next) => job = next,
            None => return,
        }
        if job.group() != group {
            // The old server ends first, so that there is one browser less at a time.
            server = None;
        }
    }
}
