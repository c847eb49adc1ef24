//! Websites by others: the tasks of an agent in few calls, with answers of few tokens.

use engine::estimate_tokens;
use serde_json::{Value, json};
use testkit::{CallResult, Engine, PooledClient, Site, Website};

use crate::shared;

/// A client that counts its calls and the tokens of their answers.
struct Agent {
    client: PooledClient,
    calls: usize,
    tokens: usize,
}

impl Agent {
    async fn start(engine: Engine) -> Self {
        Self {
            client: shared(engine, &["--answers", "compact", "--changes", "on"]).await,
            calls: 0,
            tokens: 0,
        }
    }

    async fn call(&mut self, tool: &str, arguments: Value) -> CallResult {
        let answer = self.client.call(tool, arguments).await;
        self.calls += 1;
        self.tokens += estimate_tokens(&answer.text);
        answer
    }

    async fn open(&mut self, url: &str) -> CallResult {
        self.call("browser_navigate", json!({ "url": url })).await
    }

    async fn click(&mut self, target: &str) -> CallResult {
        self.call("browser_click", json!({ "target": target }))
            .await
    }
}

/// Returns the ref of the last element of a role before a text or beside it.
fn reference(answer: &CallResult, role: &str, text: &str) -> String {
    let before = answer.text.split_inclusive(text).next();
    let before = before.filter(|before| before.ends_with(text));
    let after_role = before.and_then(|before| before.rsplit_once(role));
    let rest = after_role.map(|(start, _)| &answer.text[start.len() + role.len()..]);
    let found = rest.and_then(|rest| rest.split([' ', ':', '\n']).find(|word| is_reference(word)));
    let found = found.unwrap_or_else(|| panic!("no {role} beside {text:?}: {}", answer.text));
    found.to_owned()
}

/// Returns the lines of an answer in one, without the marks and the indentation of changes.
fn on_one_line(answer: &CallResult) -> String {
    let lines = answer
        .text
        .lines()
        .map(|line| line.trim_start_matches(['+', '~']).trim());
    lines.collect::<Vec<_>>().join(" ")
}

fn is_reference(word: &str) -> bool {
    let number = word.rsplit_once('e').map(|(_, number)| number);
    number.is_some_and(|number| number.parse::<u32>().is_ok())
}

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit), websites)]
async fn todo_mvc_takes_few_calls_and_tokens(engine: Engine) {
    let site = Site::start().await;
    let mut agent = Agent::start(engine).await;
    let url = site.add_folder("/todo/", Website::TodoMvc.folder());
    let opened = agent.open(&url).await;
    let field = reference(&opened, "textbox", "What needs to be done?");
    let add = |text: &str| json!({ "tool": "browser_type", "arguments": { "target": field, "text": text, "submit": true } });
    let steps = ["Boil water", "Brew tea", "Drink"].map(add);
    let added = agent.call("browser_batch", json!({ "steps": steps })).await;
    assert!(
        on_one_line(&added).contains("3 items left"),
        "{}",
        added.text
    );
    let checkbox = reference(&added, "checkbox", "Brew tea");
    let checked = agent.click(&checkbox).await;
    let line = format!("~ checkbox [checked] [active] {checkbox}");
    assert!(checked.text.contains(&line), "{}", checked.text);
    let filtered = agent.click(&reference(&added, "link", "\"Active\"")).await;
    assert!(filtered.text.contains("Brew tea"), "{}", filtered.text);
    assert!(
        agent.calls <= 6 && agent.tokens <= 900,
        "{} calls, {} tokens",
        agent.calls,
        agent.tokens
    );
}

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit), websites)]
async fn a_long_page_fits_into_a_small_answer(engine: Engine) {
    let site = Site::start().await;
    let mut agent = Agent::start(engine).await;
    let folder = Website::Kitchensink.folder();
    site.add_folder("/assets/", folder.join("assets"));
    let url = site.add_folder("/", folder);
    agent.open(&format!("{url}commands/actions.html")).await;
    let arguments = json!({ "maxTokens": 2_500 });
    let outline = agent.call("browser_snapshot", arguments).await;
    let size = estimate_tokens(&outline.text);
    assert!(size <= 2_500, "{size} tokens");
    // The controls are in the outline, or in the folds, which show them.
    let whole = agent
        .call("browser_snapshot", json!({ "maxTokens": 20_000 }))
        .await;
    let mut shown = references(&outline.text);
    for fold in folds(&outline.text) {
        let opened = agent
            .call("browser_snapshot", json!({ "target": fold }))
            .await;
        shown.extend(references(&opened.text));
    }
    let missing: Vec<String> = references(&whole.text)
        .into_iter()
        .filter(|reference| !shown.contains(reference))
        .collect();
    assert!(missing.is_empty(), "{missing:?} in {}", outline.text);
}

/// Returns the refs in a compact snapshot.
fn references(snapshot: &str) -> Vec<String> {
    let words = snapshot.split([' ', ':', '(', ')', '\n']);
    words
        .filter(|word| is_reference(word))
        .map(str::to_owned)
        .collect()
}

/// Returns the refs of the folds of an outline: `… 12 more rows [ref=e3..e9]`.
fn folds(outline: &str) -> Vec<String> {
    let folds = outline.lines().filter_map(|line| {
        let (_, fold) = line.split_once("[ref=")?;
        Some(fold.split(']').next()?.to_owned())
    });
    folds.collect()
}
