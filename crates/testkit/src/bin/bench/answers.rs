//! The tokens of answers: the same tasks and pages with the tools of each server, with its default options.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use testkit::{CallResult, Site, Website};

use crate::cold::{task, tools_text};
use crate::servers::{Running, Server};
use crate::steps::{Step, Target};
use crate::tokens;

/// A row of the table.
struct Row {
    title: &'static str,
    steps: Vec<Step>,
    /// What the page shows afterwards.
    proof: &'static str,
    /// The answers that count.
    counted: Counted,
    /// The largest number of calls and tokens of Playhouse.
    goal: Option<(Option<usize>, usize)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Counted {
    All,
    /// That of the last step, a snapshot.
    Last,
}

/// A measurement.
struct Cost {
    calls: usize,
    tokens: usize,
}

/// Returns the table of the servers on one browser.
pub(crate) async fn measure(site: &Site, browser: &Path, servers: &[Server]) -> String {
    let mut text = "## Tokens\n\nOf answers (o200k), measured in one run, with the default options of each server. A task starts with a new browser; \
a snapshot is the answer of the tool that takes one. Calls are in parentheses. Playhouse needs no snapshot where its answers show the page. A snapshot of agent-browser has no texts by default.\n\n| |"
        .to_owned();
    for server in servers {
        let _ = write!(text, " {} |", server.title);
    }
    text += " target | |\n|---|";
    text += &"---:|".repeat(servers.len() + 1);
    text += "---|\n| list of tools |";
    for server in servers {
        let running = server.start(browser).await;
        let count = tokens::count(&tools_text(&running));
        running.end().await;
        let _ = write!(
            text,
            " {} |",
            count.map_or("–".to_owned(), |it| format!("{it:.0}"))
        );
    }
    text += " | |\n";
    let mut failures = String::new();
    for row in rows(site) {
        eprintln!("tokens: {}", row.title);
        let _ = write!(text, "| {} |", row.title);
        let mut own = None;
        for server in servers {
            let mut running = server.start(browser).await;
            match cost(&mut running, &row).await {
                Ok(cost) => {
                    let calls = match row.counted {
                        Counted::All => format!(" ({})", cost.calls),
                        Counted::Last => String::new(),
                    };
                    let _ = write!(text, " {}{calls} |", cost.tokens);
                    own = own.or((server.key == "ours").then_some(cost));
                }
                Err(why) => {
                    text += " – |";
                    let _ = write!(
                        failures,
                        "\nNo figure for {} of {}: {why}.\n",
                        row.title, server.title
                    );
                }
            }
            running.end().await;
        }
        let (goal, verdict) = judge(&row, own);
        let _ = writeln!(text, " {goal} | {verdict} |");
    }
    text + &failures
}

fn judge(row: &Row, own: Option<Cost>) -> (String, &'static str) {
    let Some((calls, tokens)) = row.goal else {
        return (String::new(), "");
    };
    let goal = match calls {
        Some(calls) => format!("≤ {tokens} ({calls})"),
        None => format!("≤ {tokens}"),
    };
    let verdict = match own {
        None => "–",
        Some(own) if own.tokens <= tokens && calls.is_none_or(|calls| own.calls <= calls) => {
            "reached"
        }
        Some(_) => "**missed**",
    };
    (goal, verdict)
}

/// Runs the steps of a row, and counts its answers.
async fn cost(running: &mut Running, row: &Row) -> Result<Cost, String> {
    let mut answers: Vec<CallResult> = Vec::new();
    for step in &row.steps {
        let new = running.step(step).await?.answers;
        match row.counted {
            Counted::All => answers.extend(new),
            Counted::Last => answers = new,
        }
    }
    let texts: Vec<&str> = answers.iter().map(|answer| &*answer.text).collect();
    let text = texts.join("\n");
    if !text.contains(row.proof) && !running.snapshot.contains(row.proof) {
        return Err(format!("the page does not show {:?}", row.proof));
    }
    let tokens = tokens::count(&text).ok_or("no tokenizer is installed")?;
    Ok(Cost {
        calls: answers.len(),
        tokens: tokens as usize,
    })
}

fn rows(site: &Site) -> Vec<Row> {
    let snapshot = |title, url: String, proof, goal: Option<usize>| Row {
        title,
        steps: vec![Step::Navigate(url), Step::Snapshot],
        proof,
        counted: Counted::Last,
        goal: goal.map(|tokens| (None, tokens)),
    };
    let [
        open,
        look,
        name,
        fields,
        send,
        check,
        next,
        look_again,
        load,
        wait,
    ] = task(site, 1);
    let steps = [
        &open,
        &look,
        &name,
        &fields,
        &send,
        &check,
        &next,
        &look_again,
        &load,
        &wait,
    ];
    let mut rows = vec![
        Row {
            title: "ten-step task",
            steps: steps.into_iter().cloned().collect(),
            proof: "loaded 50 no 1.",
            counted: Counted::All,
            goal: Some((None, 1_770)),
        },
        Row {
            title: "ten-step task, in batches",
            steps: vec![
                open,
                look,
                Step::Batch(vec![name, fields, send]),
                check,
                next,
                look_again,
                Step::Batch(vec![load, wait]),
            ],
            proof: "loaded 50 no 1.",
            counted: Counted::All,
            goal: Some((Some(4), 1_200)),
        },
    ];
    if let Some(todo) = folder(site, "/todo/", Website::TodoMvc.folder()) {
        rows.push(todo_mvc(todo));
    }
    rows.extend([
        snapshot(
            "snapshot, 30-field form",
            site.url("/form?1"),
            "Form 1",
            None,
        ),
        snapshot(
            "snapshot, article of 500 elements",
            site.url("/article?1"),
            "Article 1",
            None,
        ),
        snapshot(
            "snapshot, table of 20 rows",
            site.url("/orders"),
            "Order 20",
            None,
        ),
        snapshot(
            "snapshot, 20 frames",
            site.url("/frames?1"),
            "Frames 1",
            None,
        ),
        snapshot(
            "snapshot, table of 10,000 elements",
            site.url("/table?1"),
            "Table 1",
            Some(6_000),
        ),
    ]);
    if let Some(kitchensink) = folder(
        site,
        "/assets/",
        Website::Kitchensink.folder().join("assets"),
    )
    .and_then(|_| folder(site, "/kitchensink/", Website::Kitchensink.folder()))
    {
        let actions = format!("{kitchensink}commands/actions.html");
        rows.push(Row {
            steps: vec![Step::Navigate(actions.clone()), Step::Outline(2_500)],
            ..snapshot(
                "snapshot, Kitchensink “Actions”, with `maxTokens` of 2,500",
                actions,
                "Actions",
                Some(2_500),
            )
        });
    }
    if let Some(docs) = documentation().and_then(|docs| folder(site, "/doc/", docs)) {
        let vec = format!("{docs}std/vec/struct.Vec.html");
        rows.push(snapshot(
            "snapshot, documentation of `Vec` of Rust",
            vec,
            "Vec",
            Some(6_000),
        ));
    }
    rows
}

/// Returns the task of TodoMVC: add three, complete one, and show those that are left.
fn todo_mvc(url: String) -> Row {
    let add = |text: &str| {
        let field = Target {
            role: "textbox",
            name: "What needs to be done?".to_owned(),
            css: "#new-todo".to_owned(),
        };
        Step::Submit(field, text.to_owned())
    };
    let target = |role, name: &str| Target {
        role,
        name: name.to_owned(),
        css: String::new(),
    };
    Row {
        title: "TodoMVC: add three, complete one, filter, verify",
        steps: vec![
            Step::Navigate(url),
            Step::Look,
            Step::Batch(vec![add("Boil water"), add("Brew tea"), add("Drink")]),
            Step::Look,
            Step::Click(target("checkbox", "")),
            Step::Look,
            Step::Click(target("link", "Active")),
            Step::Read,
        ],
        proof: "items left",
        counted: Counted::All,
        goal: Some((Some(6), 900)),
    }
}

/// Serves an installed folder; returns its URL.
fn folder(site: &Site, prefix: &str, folder: PathBuf) -> Option<String> {
    folder.is_dir().then(|| site.add_folder(prefix, folder))
}

/// Returns the folder of the documentation that the toolchain has, where it is installed.
fn documentation() -> Option<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "it is waited for at once")]
    let output = std::process::Command::new("rustc")
        .args(["--print", "sysroot"])
        .output();
    let root = String::from_utf8(output.ok()?.stdout).ok()?;
    Some(Path::new(root.trim()).join("share/doc/rust/html"))
}
