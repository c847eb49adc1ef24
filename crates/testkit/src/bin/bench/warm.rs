//! The duration of single calls on running servers. All servers run side by side and alternate metric by metric, so that a disturbance
//! affects all of them.

use testkit::Site;

use crate::metrics::MANY_REQUESTS;
use crate::pages::FIELDS;
use crate::plan::Plan;
use crate::samples::Samples;
use crate::servers::{Outcome, Running, WITH_RULES};
use crate::steps::{Step, Target};

/// A metric: the page, the steps, and the proof of their effect.
struct Timed {
    metric: &'static str,
    /// The page that is opened first; empty if the steps open one.
    page: &'static str,
    steps: fn(&Site, usize) -> Vec<Step>,
    proof: fn(usize) -> Proof,
    /// The number of values in a round.
    count: usize,
}

/// The proof that a step was done.
enum Proof {
    /// A snapshot contains all of these.
    Page(Vec<String>),
    /// The timed snapshot contains all of these.
    Snapshot(&'static [&'static str]),
    /// The answer contains this.
    Answer(String),
    /// The answer contains or links an image.
    Picture,
}

fn shown(text: String) -> Proof {
    Proof::Page(vec![text])
}

const TIMED: &[Timed] = &[
    Timed {
        metric: "navigate-tiny",
        page: "",
        steps: |site, n| open(site, "/tiny", n),
        proof: |n| shown(format!("Tiny {n}")),
        count: 5,
    },
    Timed {
        metric: "navigate-form",
        page: "",
        steps: |site, n| open(site, "/form", n),
        proof: |n| shown(format!("Form {n}")),
        count: 3,
    },
    Timed {
        metric: "navigate-article",
        page: "",
        steps: |site, n| open(site, "/article", n),
        proof: |n| shown(format!("Article {n}")),
        count: 3,
    },
    Timed {
        metric: "navigate-table",
        page: "",
        steps: |site, n| open(site, "/table", n),
        proof: |n| shown(format!("Table {n}")),
        count: 3,
    },
    Timed {
        metric: "navigate-frames",
        page: "",
        steps: |site, n| open(site, "/frames", n),
        proof: |n| shown(format!("Frames {n}")),
        count: 3,
    },
    Timed {
        metric: "navigate-slow",
        page: "",
        steps: |site, n| open(site, "/slow", n),
        proof: |n| shown(format!("Slow {n}")),
        count: 1,
    },
    Timed {
        metric: MANY_REQUESTS,
        page: "",
        steps: |site, n| open(site, "/requests", n),
        proof: |n| Proof::Page(vec![format!("Requests {n}"), "49 pictures".to_owned()]),
        count: 5,
    },
    Timed {
        metric: "snapshot-form",
        page: "/form",
        steps: |_, _| vec![Step::Look],
        proof: |_| Proof::Snapshot(&["Field 1\"", "Field 30\""]),
        count: 5,
    },
    Timed {
        metric: "snapshot-article",
        page: "/article",
        steps: |_, _| vec![Step::Look],
        proof: |_| Proof::Snapshot(&["Chapter 1\"", "Chapter 50\""]),
        count: 3,
    },
    Timed {
        metric: "snapshot-table",
        page: "/table",
        steps: |_, _| vec![Step::Look],
        proof: |_| Proof::Snapshot(&["Order 1428"]),
        count: 3,
    },
    Timed {
        metric: "snapshot-frames",
        page: "/frames",
        steps: |_, _| vec![Step::Look],
        proof: |_| Proof::Snapshot(&["Press 1\"", "Press 20\""]),
        count: 3,
    },
    Timed {
        metric: "click",
        page: "/form",
        steps: |_, _| vec![Step::Click(button("Count", "#go"))],
        proof: |n| shown(format!("count {n}")),
        count: 3,
    },
    Timed {
        metric: "click-table",
        page: "/table",
        steps: |_, _| vec![Step::Click(button("Count", "#go"))],
        proof: |n| shown(format!("count {n}")),
        count: 2,
    },
    Timed {
        metric: "click-fetch-0",
        page: "/spa",
        steps: |_, n| fetch(0, n),
        proof: |n| shown(format!("loaded 0 no {n}.")),
        count: 2,
    },
    Timed {
        metric: "click-fetch-50",
        page: "/spa",
        steps: |_, n| fetch(50, n),
        proof: |n| shown(format!("loaded 50 no {n}.")),
        count: 2,
    },
    Timed {
        metric: "click-fetch-300",
        page: "/spa",
        steps: |_, n| fetch(300, n),
        proof: |n| shown(format!("loaded 300 no {n}.")),
        count: 2,
    },
    Timed {
        metric: "type",
        page: "/form",
        steps: |_, n| vec![Step::Type(field(1), format!("kettle {n}"))],
        proof: |n| shown(format!("kettle {n}")),
        count: 5,
    },
    Timed {
        metric: "fill",
        page: "/form",
        steps: |_, n| vec![fill(FIELDS, n)],
        proof: |n| Proof::Page((1..=FIELDS).map(|k| value(k, n)).collect()),
        count: 3,
    },
    Timed {
        metric: "evaluate",
        page: "/form",
        steps: |_, n| vec![Step::Evaluate(format!("'sum ' + ({n} + 4200)"))],
        proof: |n| Proof::Answer(format!("sum {}", n + 4200)),
        count: 3,
    },
    Timed {
        metric: "key",
        page: "/form",
        steps: |_, _| vec![Step::Key("a")],
        proof: |n| shown(format!("keys {n}")),
        count: 5,
    },
    Timed {
        metric: "type-keys",
        page: "/form",
        steps: |_, n| vec![Step::Keys(field(n), format!("kettle {n}"))],
        proof: |n| shown(format!("kettle {n}")),
        count: 3,
    },
    Timed {
        metric: "hover",
        page: "/form",
        // The pointer enters a button that it was not over.
        steps: |_, n| {
            vec![Step::Hover(match n % 2 {
                0 => button("Count", "#go"),
                _ => button("Send", "#send"),
            })]
        },
        proof: |n| shown(format!("hovers {n}")),
        count: 5,
    },
    Timed {
        metric: "screenshot",
        page: "/form",
        steps: |_, _| vec![Step::Screenshot],
        proof: |_| Proof::Picture,
        count: 3,
    },
];

fn open(site: &Site, page: &str, n: usize) -> Vec<Step> {
    vec![Step::Navigate(site.url(&format!("{page}?{n}")))]
}

fn fetch(ms: u64, n: usize) -> Vec<Step> {
    let target = button(&format!("Load {ms}"), &format!("#b{ms}"));
    vec![
        Step::Click(target),
        Step::Wait(format!("loaded {ms} no {n}.")),
    ]
}

/// Returns a button by its name, or for the baseline by CSS.
pub(crate) fn button(name: &str, css: &str) -> Target {
    Target {
        role: "button",
        name: name.to_owned(),
        css: css.to_owned(),
    }
}

/// Returns a field of the form.
pub(crate) fn field(n: usize) -> Target {
    Target {
        role: "textbox",
        name: format!("Field {n}"),
        css: format!("#f{n}"),
    }
}

/// Returns the step that fills the first fields of the form with values that depend on `n`.
pub(crate) fn fill(fields: usize, n: usize) -> Step {
    Step::Fill((1..=fields).map(|k| (field(k), value(k, n))).collect())
}

fn value(field: usize, n: usize) -> String {
    format!("value {field} of {n}.")
}

/// Returns whether the metric belongs to this module.
pub(crate) fn measures(metric: &str) -> bool {
    TIMED.iter().any(|timed| timed.metric == metric)
}

/// Measures one round of the selected metrics.
pub(crate) async fn measure(
    plan: &Plan,
    site: &Site,
    round: usize,
    running: &mut [(&'static str, Running)],
    samples: &mut Samples,
) {
    for timed in TIMED.iter().filter(|timed| plan.wants(timed.metric)) {
        let steps = (timed.steps)(site, 1);
        for (server, running) in &mut *running {
            if !steps.iter().all(|step| running.vocabulary.has(step)) {
                continue;
            }
            if *server == WITH_RULES && timed.metric != MANY_REQUESTS {
                continue;
            }
            eprintln!("  {} {server}", timed.metric);
            let mut done = block(timed, site, round, (server, running), samples).await;
            // A crash of the browser is a failure of Playhouse, but says nothing about the baseline.
            if done.is_err() && server.starts_with("floor") {
                done = block(timed, site, round, (server, running), samples).await;
            }
            if let Err(why) = done {
                eprintln!("{}, {server}: {why}", timed.metric);
                samples.fail(timed.metric, server, why);
            }
        }
    }
}

async fn block(
    timed: &Timed,
    site: &Site,
    round: usize,
    (server, running): (&'static str, &mut Running),
    samples: &mut Samples,
) -> Result<(), String> {
    if !timed.page.is_empty() {
        running.step(&Step::Navigate(site.url(timed.page))).await?;
        running.step(&Step::Look).await?;
    }
    // The first one is a warm-up.
    for n in 1..=timed.count + 1 {
        let mut took = std::time::Duration::ZERO;
        let mut last = Outcome::default();
        for step in (timed.steps)(site, n) {
            last = running.step(&step).await?;
            took += last.took;
        }
        check((timed.proof)(n), running, &last).await?;
        if n > 1 {
            samples.add(timed.metric, server, round, took.as_secs_f64() * 1e3);
        }
    }
    Ok(())
}

async fn check(proof: Proof, running: &mut Running, last: &Outcome) -> Result<(), String> {
    match proof {
        Proof::Page(marks) => running.shows(&marks).await,
        Proof::Snapshot(marks) => {
            match marks.iter().find(|mark| !running.snapshot.contains(**mark)) {
                None => Ok(()),
                Some(mark) => Err(format!("the snapshot lacks {mark:?}")),
            }
        }
        Proof::Answer(text) => {
            let said = last
                .answers
                .iter()
                .any(|answer| answer.text.contains(&text));
            said.then_some(())
                .ok_or_else(|| format!("the answer lacks {text:?}"))
        }
        Proof::Picture => {
            let seen = last.answers.iter().any(|answer| {
                answer.images.iter().any(|image| image.base64.len() > 1000)
                    || answer.text.contains(".png")
            });
            seen.then_some(()).ok_or_else(|| "no picture".to_owned())
        }
    }
}
