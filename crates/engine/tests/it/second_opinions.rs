//! The roles and names of elements, compared with those of the npm packages `dom-accessibility-api` and `aria-query`. The file
//! `tests/second-opinions/differences.md` lists the differences, with the paragraph of the specification that decides each.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use engine::Page;
use serde_json::{Value, json};
use testkit::{Engine, node};

use crate::harness::{eval, on_a_page, soon};

/// The differences of each case of the corpus.
type Differences = BTreeMap<String, Vec<String>>;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

#[testkit::test(node, chromium, slow)]
fn roles_and_names_differ_from_second_opinions_only_as_listed(engine: Engine) {
    let bundle = bundle();
    on_a_page(engine, async |stage| {
        let mut found = Differences::new();
        let mut compared = 0;
        for (title, html) in corpus() {
            stage.show("/", &html).await;
            let script = stage.site.add_page("/opinions.js", &bundle);
            eval(&stage.page, &loaded(&script)).await;
            let theirs = eval(&stage.page, "opinions()").await;
            let ours = facts(&stage.page).await;
            let theirs = theirs.as_array().unwrap();
            assert_eq!(ours.len(), theirs.len(), "{title}");
            compared += ours.len();
            let lines = ours.iter().zip(theirs);
            let lines = lines.flat_map(|(ours, theirs)| compare(ours, theirs));
            add(&mut found, &title, lines);
        }
        stage.show("/", "<body>").await;
        let script = stage.site.add_page("/opinions.js", &bundle);
        eval(&stage.page, &loaded(&script)).await;
        let wanted = eval(&stage.page, "examples()").await;
        let ours = facts(&stage.page).await;
        let wanted = wanted.as_array().unwrap();
        assert_eq!(ours.len(), wanted.len());
        compared += ours.len();
        let lines = ours.iter().zip(wanted);
        let lines = lines.filter_map(|(ours, wanted)| unlike(ours, wanted));
        add(&mut found, "aria-query", lines);
        assert!(compared > 1_000, "only {compared} elements were compared");
        assert_listed(&found);
    });
}

/// Returns an expression that loads a script.
fn loaded(url: &str) -> String {
    format!(
        "new Promise((done, failed) => document.head.append(Object.assign(document.createElement('script'), {{ src: '{url}', onload: () => done(true), onerror: failed }})))"
    )
}

/// Returns the script with both packages.
#[expect(clippy::disallowed_methods, reason = "a test runs the bundler")]
fn bundle() -> String {
    let root = folder().join("../../..");
    node(&root);
    let output = Command::new(root.join("node_modules/.bin/esbuild"))
        .args(["--bundle", "--format=iife", "--log-level=error"])
        .arg(folder().join("second-opinions/entry.mjs"))
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the pages of the specs of roles and names, whose elements of interest have `data-r`.
fn corpus() -> Vec<(String, String)> {
    let mut pages = Vec::new();
    for name in [
        "roles-of-html",
        "roles-of-aria",
        "roles-of-svg",
        "names",
        "names-of-html",
        "generated-content",
    ] {
        let text = fs::read_to_string(folder().join(format!("spec/aria/{name}.md"))).unwrap();
        for case in text.split("\n## ").skip(1) {
            let (title, rest) = case.split_once('\n').unwrap();
            let html = rest.split_once("```html\n").unwrap().1;
            let html = html.split_once("\n```\n").unwrap().0;
            if html.contains(" data-r=") {
                pages.push((format!("{name} > {title}"), html.to_owned()));
            }
        }
    }
    pages
}

/// Returns the role and the name of each element of interest.
async fn facts(page: &Page) -> Vec<Value> {
    let css = "[data-r]";
    let step = json!({ "engine": "css", "css": css, "native": true, "list": [[{ "css": css }]] });
    let found = call(page, "query", &json!({ "steps": [step], "limit": 1_000 })).await;
    let elements = found["elements"].as_array().unwrap();
    assert_eq!(found["count"], elements.len());
    let handles: Vec<_> = elements.iter().map(|element| &element["handle"]).collect();
    match call(page, "describe", &json!({ "handles": handles })).await {
        Value::Array(facts) => facts,
        other => panic!("{other}"),
    }
}

async fn call(page: &Page, function: &str, argument: &Value) -> Value {
    let frame = page.backend().main_frame();
    let call = page.backend().call(&frame, function, argument);
    serde_json::from_str(&soon().run(call).await.unwrap()).unwrap()
}

/// Returns the preferred one of the roles that are synonyms.
fn preferred(role: &str) -> &str {
    match role {
        "image" => "img",
        "presentation" => "none",
        other => other,
    }
}

fn text<'a>(facts: &'a Value, key: &str) -> &'a str {
    facts[key].as_str().unwrap()
}

fn squashed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns how the role and the name of an element differ from those of `dom-accessibility-api`.
fn compare(ours: &Value, theirs: &Value) -> Vec<String> {
    let tag = text(ours, "tag");
    let (role, other) = (
        preferred(text(ours, "role")),
        preferred(text(theirs, "role")),
    );
    let mut lines = Vec::new();
    if role != other {
        lines.push(format!("role of `{tag}`: {role}, not {other}"));
    }
    let (name, other) = (squashed(text(ours, "name")), squashed(text(theirs, "name")));
    if name != other {
        lines.push(format!("name of `{tag}`: \"{name}\", not \"{other}\""));
    }
    lines
}

/// Returns how an element differs from what `aria-query` has of it.
fn unlike(ours: &Value, wanted: &Value) -> Option<String> {
    let role = preferred(text(ours, "role"));
    let roles: Vec<_> = wanted["roles"]
        .as_array()
        .unwrap()
        .iter()
        .map(|role| preferred(role.as_str().unwrap()))
        .collect();
    let name = text(ours, "name");
    let has_role = roles.contains(&role);
    let has_name = wanted["name"].as_str().is_none_or(|wanted| wanted == name);
    if has_role && has_name {
        return None;
    }
    let context = text(wanted, "context");
    let context = if context.is_empty() {
        String::new()
    } else {
        format!(" ({context})")
    };
    let title = text(wanted, "title");
    Some(if has_role {
        format!("`{title}`{context}: \"{name}\", not {}", wanted["name"])
    } else {
        format!("`{title}`{context}: {role}, not {}", roles.join(" or "))
    })
}

fn add(found: &mut Differences, title: &str, lines: impl Iterator<Item = String>) {
    let mut lines: Vec<_> = lines.collect();
    lines.sort();
    lines.dedup();
    if !lines.is_empty() {
        found.insert(title.to_owned(), lines);
    }
}

/// Compares the differences with the list, or rewrites it under `UPDATE_EXPECT`, where a new reason is `?`.
fn assert_listed(found: &Differences) {
    let path = folder().join("second-opinions/differences.md");
    let listed = fs::read_to_string(&path).unwrap_or_default();
    let (intro, cases) = listed.split_once("\n## ").unwrap_or((&listed, ""));
    // Below a title, each paragraph is a reason with the differences that it explains.
    let reasons: BTreeMap<(String, String), String> = cases
        .split("\n## ")
        .filter_map(|case| case.split_once('\n'))
        .flat_map(|(title, body)| {
            body.split("\n\n").flat_map(move |paragraph| {
                let mut lines = paragraph.trim().lines();
                let reason = lines.next().unwrap_or_default();
                lines.map(move |line| {
                    (
                        (title.to_owned(), line.trim_start_matches("- ").to_owned()),
                        reason.to_owned(),
                    )
                })
            })
        })
        .collect();
    let mut text = intro.trim_end().to_owned();
    for (title, lines) in found {
        text += &format!("\n\n## {title}\n");
        let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for line in lines {
            let reason = reasons
                .get(&(title.clone(), line.clone()))
                .map_or("?", String::as_str);
            by_reason.entry(reason).or_default().push(line);
        }
        for (reason, lines) in by_reason {
            text += &format!("\n{reason}\n");
            for line in lines {
                text += &format!("- {line}\n");
            }
        }
        text.truncate(text.trim_end().len());
    }
    text.push('\n');
    if testkit::updates_expectations() {
        fs::write(&path, &text).unwrap();
    }
    assert!(
        !text.contains("\n?\n"),
        "differences without a reason:\n{text}"
    );
    assert!(
        text == fs::read_to_string(&path).unwrap(),
        "{} is stale; run this test with UPDATE_EXPECT=1:\n{text}",
        path.display()
    );
}
