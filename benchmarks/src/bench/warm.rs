//! The duration of single calls on running servers. All servers run side by side and alternate metric by metric, so that a disturbance
//! affects all of them.

use super::Round;
use super::servers::{Running, View, WITH_RULES};
use super::steps::{has_tool, steps};
use super::workloads::{MANY_REQUESTS, METRICS};

/// Measures one round of the selected metrics.
pub(super) async fn measure(round: &mut Round<'_>, running: &[Running]) {
    for metric in METRICS.iter() {
        let Some(timed) = metric.timed.filter(|_| round.begin(metric.key)) else {
            continue;
        };
        for running in running {
            let steps = steps(timed[2], running.site, 1);
            let has_tools = steps.iter().all(|step| has_tool(running.tools, step));
            if has_tools && (running.key != WITH_RULES || metric.key == MANY_REQUESTS) {
                eprintln!("  {} {}", metric.key, running.key);
                if let Err(why) = measure_one(round, timed, running).await {
                    round.fail(running.key, why);
                }
            }
        }
    }
}

async fn measure_one(
    round: &mut Round<'_>,
    [page, count, text, proof]: [&str; 4],
    running: &Running,
) -> Result<(), String> {
    let view = &mut View::default();
    if !page.is_empty() {
        let open = format!("navigate {page} ; see");
        running.run(view, &open, 1).await?;
    }
    // The first one is a warm-up.
    for n in 1..=count.parse::<usize>().expect("a number") + 1 {
        let (spent, answers) = running.run(view, text, n).await?;
        let proof = proof.replace("$n", &n.to_string());
        // `page` (a snapshot shows these texts, or all values of the step), `snapshot` (the same of the last one), `answer`, `image`.
        let (kind, proof) = proof.split_once(' ').unwrap_or((&proof, ""));
        let steps = steps(text, running.site, n);
        let texts: Vec<&str> = match proof {
            "values" => steps[0].fields.iter().map(|field| &*field.value).collect(),
            texts => texts.split(", ").collect(),
        };
        let answer: String = answers.iter().map(|answer| &*answer.text).collect();
        if kind == "page" {
            running.run(view, "see", n).await?;
        }
        let images = answers.iter().flat_map(|answer| &answer.images);
        let missing = match kind {
            "image" if images.count() > 0 || answer.contains(".png") => None,
            "image" => Some(&"an image"),
            "answer" => texts.iter().find(|text| !answer.contains(**text)),
            _ => texts.iter().find(|text| !view.snapshot.contains(**text)),
        };
        if let Some(missing) = missing {
            return Err(format!("there is no {missing:?}"));
        }
        if n > 1 {
            round.add(round.metric, running.key, spent);
        }
    }
    Ok(())
}
