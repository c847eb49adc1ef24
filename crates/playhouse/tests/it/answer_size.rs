//! The size of answers: no answer is larger than its limit, and everything of a large page can be reached.

use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::fs;
use testkit::harness::is_nightly;
use testkit::{CallResult, Client, Engine, Site};

use crate::bad_input::structured_content;
use crate::{PATIENT, shared};

/// The default limit, in tokens.
const MOST: u64 = 6_000;

/// The same limit in the style of `@playwright/mcp`, in which there is none by default.
const LIMITED: [&str; 2] = ["--max-answer-tokens", "6000"];

/// Landmarks, a form, sections, a long table, a long list and a long select. `{percent}` of 100: 10,000 elements.
const PAGE: &str = "<title>Large</title><header><a href=/>Home</a></header><main><h1>Orders</h1>
<form aria-label=Search><input aria-label=Query><button>Find</button></form>
<div id=sections></div><table id=rows></table><ul id=items></ul><select id=options aria-label=Country></select>
</main><footer><button id=last onclick=\"document.title = 'clicked'\">Last</button></footer>
<script>
const many = (count, one) => Array.from({ length: count * {percent} / 100 }, (_, n) => one(n)).join('');
sections.innerHTML = many(100, n => `<section><h2>Section ${n}</h2><p>Text ${n} with a few words.</p><p>… 9 more rows [ref=e1..e9]</section>`);
rows.innerHTML = many(1500, n => `<tr><td>Order ${n}<td>open<td><button>Open ${n}</button>`);
items.innerHTML = many(1200, n => `<li>Item ${n} <a href=/${n}>Link ${n}</a>`);
options.innerHTML = many(400, n => `<option>Country ${n}`);
</script>";

/// Returns the size of an answer as it reports it. The estimate of the complete text is the same.
fn tokens(answer: &CallResult) -> u64 {
    let tokens = answer.raw["_meta"]["playhouse/tokens"].as_u64();
    tokens.unwrap_or_else(|| panic!("no size: {}", answer.raw["_meta"]))
}

/// Returns the targets of the folds of an outline.
fn folds(text: &str) -> Vec<String> {
    let fold = |line: &str| {
        let line = line.trim_start().trim_start_matches("- ");
        let target = line.strip_prefix("… ")?.split_once(" [ref=")?.1;
        let target = target.strip_suffix(']')?;
        assert_ne!(target, "e1..e9", "a text of the page");
        Some(target.to_owned())
    };
    text.lines().filter_map(fold).collect()
}

async fn snapshot(client: &Client, target: Option<&str>) -> CallResult {
    let arguments = target.map_or(json!({}), |target| json!({ "target": target }));
    let answer = client.call("browser_snapshot", arguments).await;
    assert!(!answer.is_error, "{target:?}: {}", answer.text);
    assert!(tokens(&answer) <= MOST, "{target:?}: {}", tokens(&answer));
    answer
}

async fn open_everything(client: &Client) -> (usize, usize) {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut targets = VecDeque::from([(None::<String>, 1)]);
    let mut whole = String::new();
    let mut answers = 0;
    while let Some((target, calls)) = targets.pop_front() {
        let answer = snapshot(client, target.as_deref()).await;
        answers += 1;
        let body = answer.section("Snapshot").expect("a snapshot");
        if whole.is_empty() {
            let file = answer
                .linked_file(body)
                .expect("a link to the whole snapshot");
            whole = fs::read_to_string(file).expect("the whole snapshot");
        }
        for line in body.lines() {
            seen.entry(line.trim_start().to_owned()).or_insert(calls);
        }
        targets.extend(
            folds(body)
                .into_iter()
                .map(|target| (Some(target), calls + 1)),
        );
    }
    for line in whole.lines() {
        let calls = seen.get(line.trim_start()).copied();
        assert!(
            calls.is_some_and(|calls| calls <= 3),
            "{calls:?} calls: {line}"
        );
    }
    (whole.lines().count(), answers)
}

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit), slow)]
async fn every_line_of_a_large_page_is_reached_in_three_calls(engine: Engine) {
    let site = Site::start().await;
    // Even in the shortest style, several folds are needed.
    let percent = if is_nightly() { 100 } else { 40 };
    let url = site.add_page("/", &PAGE.replace("{percent}", &percent.to_string()));
    let section = format!("Section {}", percent - 1);
    // The layout of the folds does not depend on the engine.
    let styles: &[_] = match engine {
        Engine::Chromium if is_nightly() => &["compact", "playwright"],
        _ => &["compact"],
    };
    for &style in styles {
        let client = shared(
            engine,
            &[&["--answers", style], &LIMITED[..], &PATIENT].concat(),
        )
        .await;
        let opened = client.call("browser_navigate", json!({ "url": url })).await;
        assert!(
            !opened.is_error && tokens(&opened) <= MOST,
            "{}",
            opened.text
        );
        let first = snapshot(&client, None).await;
        let body = first.section("Snapshot").expect("a snapshot");
        for shown in ["\"Query\"", "\"Find\"", "\"Home\"", &section, "\"Last\""] {
            assert!(body.contains(shown), "{shown} is not in\n{body}");
        }
        // There is room for a sample of the rows in the compact layout.
        assert_eq!(body.contains("| Order 0 |"), style == "compact", "{body}");
        let (lines, answers) = open_everything(&client).await;
        assert!(
            lines > 30 * percent && answers > 3,
            "{lines} lines, {answers} answers"
        );
        // The refs of an outline are those of the page.
        let last = body
            .lines()
            .find(|line| line.contains("button \"Last\""))
            .expect("it is shown");
        let reference = last
            .trim_end_matches(']')
            .rsplit(['=', ' '])
            .find(|it| it.contains('e'));
        let reference = match style {
            "compact" => reference.expect("a ref").to_owned(),
            _ => last
                .split_once("[ref=")
                .expect("a ref")
                .1
                .split(']')
                .next()
                .unwrap()
                .to_owned(),
        };
        let clicked = client
            .call("browser_click", json!({ "target": reference }))
            .await;
        assert!(!clicked.is_error, "{}", clicked.text);
    }
}

#[testkit::test(chromium)]
async fn the_folds_of_a_named_context_and_of_a_frame_open() {
    let site = Site::start().await;
    let framed = site.add_page(
        "/framed",
        "<ul id=u></ul><script>u.innerHTML = '<li>one of many items'.repeat(2000)</script>",
    );
    let url = site.add_page(
        "/",
        &format!("<h1>Out</h1><iframe src={framed} style='height:100px'></iframe>"),
    );
    let client = shared(Engine::Chromium, &LIMITED).await;
    client
        .call("browser_context_create", json!({ "name": "clean" }))
        .await;
    client.navigate(&url).await;
    let seen = snapshot(&client, None).await;
    let folds = folds(seen.section("Snapshot").expect("a snapshot"));
    let fold = folds.first().expect("a fold");
    assert!(fold.starts_with("clean:f"), "{fold}");
    let opened = snapshot(&client, Some(fold)).await;
    assert!(opened.text.contains("one of many items"), "{}", opened.text);
    // A target that is no longer there is an error that says so.
    client.call("browser_close", json!({})).await;
    client.navigate(&url).await;
    for target in ["e1..e9999", "e9999..e10000"] {
        let answer = client
            .call("browser_snapshot", json!({ "target": target }))
            .await;
        assert!(
            answer
                .error()
                .contains("not found in the current page snapshot"),
            "{}",
            answer.text
        );
    }
}

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit))]
async fn long_results_keep_their_beginning_and_their_end_and_are_whole_in_a_file(engine: Engine) {
    let site = Site::start().await;
    let url = site.add_page(
        "/",
        "<p>x<script>for (let n = 0; n < 3000; n++) console.log('message ' + n + ' of the page')</script>",
    );
    let client = shared(engine, &LIMITED).await;
    client.navigate(&url).await;
    let lines = "Array.from({ length: 9000 }, (_, n) => `line ${n} of a result`).join('\\n')";
    for (tool, arguments, first, last) in [
        (
            "browser_evaluate",
            json!({ "function": "() => Array.from({ length: 20000 }, (_, n) => n)" }),
            "\n  1,\n",
            "\n  19999\n",
        ),
        (
            "browser_evaluate",
            json!({ "function": "() => 'x'.repeat(500000)" }),
            "\"xxx",
            "xxx\"",
        ),
        (
            "browser_run_code_unsafe",
            json!({ "code": format!("async page => {{ console.log('y'); return {lines}; }}") }),
            "line 1 ",
            "line 8999 ",
        ),
        (
            "browser_console_messages",
            json!({ "level": "debug" }),
            "message 0 of",
            "message 2999 of",
        ),
    ] {
        let answer = client.call(tool, arguments).await;
        assert!(!answer.is_error, "{tool}: {}", answer.text);
        let size = tokens(&answer);
        assert!((MOST * 3 / 4..=MOST).contains(&size), "{tool}: {size}");
        let result = format!("\n{}\n", answer.result());
        assert!(
            result.contains(first) && result.contains(last),
            "{tool}: {result}"
        );
        assert!(result.contains(" left out"), "{tool}: {result}");
        let rest = answer.section("Left out").expect("how to get the rest");
        let file = answer.linked_file(rest).expect("a file");
        let whole = fs::read_to_string(file).expect("the whole answer");
        assert!(
            whole.len() > 3 * answer.text.len(),
            "{tool}: {}",
            whole.len()
        );
        assert!(whole.contains(first) && whole.contains(last) && !whole.contains(" left out"));
    }
    // A call has its own limit.
    let short = client
        .call(
            "browser_evaluate",
            json!({ "function": "() => 'word '.repeat(5000)", "maxTokens": 600 }),
        )
        .await;
    assert!((400..=600).contains(&tokens(&short)), "{}", tokens(&short));
    let long = client
        .call(
            "browser_evaluate",
            json!({ "function": "() => 'word '.repeat(8000)", "maxTokens": 0 }),
        )
        .await;
    assert!(tokens(&long) > 8_000 && long.section("Left out").is_none());
    let wrong = client
        .call("browser_snapshot", json!({ "maxTokens": "many" }))
        .await;
    assert!(wrong.error().contains("maxTokens"), "{}", wrong.text);
    // A long error is cut too.
    let error = client
        .call(
            "browser_evaluate",
            json!({ "function": "() => { throw new Error('word '.repeat(20000)) }" }),
        )
        .await;
    assert!(
        error.is_error && tokens(&error) <= MOST,
        "{}",
        tokens(&error)
    );
}

#[testkit::test(chromium)]
async fn a_large_object_stays_valid_and_says_what_is_left_out() {
    let site = Site::start().await;
    let links: String = (0..900)
        .map(|n| format!("<a href=/{n}>Link {n} with a few more words than that</a> and more<br>"))
        .collect();
    let url = site.add_page("/", &links);
    let client = shared(Engine::Chromium, &LIMITED).await;
    structured_content(&client, "navigate", &json!({ "url": url })).await;
    for (tool, arguments, list) in [
        ("extract_links", json!({}), Some("links")),
        ("get_all_text", json!({ "selector": "a" }), Some("texts")),
        ("get_content", json!({}), None),
        (
            "evaluate",
            json!({ "script": "'word '.repeat(50000)" }),
            None,
        ),
    ] {
        let answer = client.call(tool, arguments).await;
        assert!(!answer.is_error, "{tool}: {}", answer.text);
        assert!(tokens(&answer) <= MOST, "{tool}: {}", tokens(&answer));
        let object = &answer.raw["structuredContent"];
        let text: Value = serde_json::from_str(&answer.text).expect("the text is JSON");
        assert_eq!(
            (&text["success"], &text["truncated"]),
            (&json!(true), &json!(true)),
            "{tool}"
        );
        let left_out = &object["leftOut"];
        if let Some(list) = list {
            let kept = object[list]
                .as_array()
                .unwrap_or_else(|| panic!("{tool}: {object}"));
            assert_eq!(left_out["items"][list], 900 - kept.len(), "{tool}");
        }
        let file = client
            .workspace()
            .join(left_out["file"].as_str().expect("a file"));
        let whole: Value =
            serde_json::from_str(&fs::read_to_string(file).expect("a file")).expect("JSON");
        assert!(
            whole["truncated"].is_null() && whole["success"] == true,
            "{tool}"
        );
    }
}

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit))]
async fn a_result_of_hundred_megabytes_is_refused(engine: Engine) {
    let client = shared(engine, &[]).await;
    client.navigate("about:blank").await;
    for (tool, parameter) in [("browser_evaluate", "function"), ("evaluate", "script")] {
        let arguments = json!({ parameter: "() => 'x'.repeat(100_000_000)" });
        let answer = client.call(tool, arguments).await;
        assert!(
            answer.is_error && answer.text.contains("return a part of it"),
            "{tool}: {:.500}",
            answer.text
        );
    }
}
