//! Snapshots of recorded facts, without a browser. `UPDATE_EXPECT=1` rewrites the expected texts.

mod changes;
mod compact;
mod complete;
mod outline;
mod patch;

use super::facts::{Entry, Mark, Node};
use super::{Facts, FrameSnapshot, Layout, Pattern, RenderOptions, Rendered};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

const RECORDED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/snapshot");

fn pages() -> Vec<PathBuf> {
    let mut pages: Vec<_> = fs::read_dir(RECORDED)
        .expect("the recorded pages are there")
        .map(|entry| entry.expect("the folder can be read").path())
        .filter(|path| path.extension().is_some_and(|it| it == "json"))
        .collect();
    pages.sort();
    assert!(!pages.is_empty());
    pages
}

#[test]
fn recorded_pages_read_as_expected() {
    for page in pages() {
        let text = recorded(&page).render(&RenderOptions::default()).text;
        expect_test::expect_file![page.with_extension("yaml")].assert_eq(&format!("{text}\n"));
    }
}

#[test]
fn a_cut_node_keeps_the_name_from_its_content() {
    let table = || recorded(&Path::new(RECORDED).join("tables.json"));
    let lines = |depth| {
        let options = RenderOptions {
            depth: Some(depth),
            ..RenderOptions::default()
        };
        table().render(&options).text
    };
    assert!(lines(1).contains("- table \"Cap\" [ref=e2]\n"));
    assert!(lines(2).contains("- table \"Cap\" [ref=e2]:\n    - caption [ref=e3]: Cap\n"));
    assert!(lines(3).contains("- row \"A B\" [ref=e5]\n"));
    assert!(lines(4).contains("- row [ref=e5]:\n"));
}

#[test]
fn a_frame_is_shown_below_its_element_with_refs_of_its_own() {
    let mut page = document(
        "",
        json!([
            ["generic", "", 1, 2],
            ["heading", "Out", 2, 0, { "level": 1 }],
            ["iframe", "", 3, 0, { "frame": 7, "pointer": true }],
        ]),
    );
    let frames: Vec<_> = page.frame_elements().map(|it| it.handle).collect();
    assert_eq!(frames, [7]);
    let frame = json!([
        ["generic", "", 1, 2],
        ["button", "In", 2, 0, { "pointer": true }],
        "text",
    ]);
    page.insert_frame(7, document("f1", frame));
    expect_test::expect![[r#"
        - generic [ref=e1]:
          - heading "Out" [level=1] [ref=e2]
          - iframe [ref=e3] [cursor=pointer]:
            - generic [ref=f1e1]:
              - button "In" [ref=f1e2] [cursor=pointer]
              - text: text"#]]
    .assert_eq(&page.render(&RenderOptions::default()).text);
    expect_test::expect![[r#"
        - generic [ref=e1]:
          - heading "Out" [level=1] [ref=e2]
          - iframe [ref=e3] [cursor=pointer]"#]]
    .assert_eq(
        &page
            .render(&RenderOptions {
                depth: Some(1),
                ..RenderOptions::default()
            })
            .text,
    );
}

#[test]
fn a_line_has_the_ref_of_its_element_whether_or_not_it_is_shown() {
    let mut page = document(
        "",
        json!([
            ["generic", "", 1, 3],
            ["paragraph", "", 2, 1],
            "one",
            ["link", "l", 3, 0, { "url": "/x" }],
            ["iframe", "", 4, 0, { "frame": 7 }],
        ]),
    );
    page.insert_frame(
        7,
        document("f1", json!([["list", "", 2, 1], ["listitem", "", 3, 0]])),
    );
    let lines = |layout| {
        let options = RenderOptions {
            layout,
            depth: None,
        };
        let Rendered { text, lines } = page.render(&options);
        let lines = lines.iter(&text).map(|line| {
            let reference = line.reference.map_or("-".to_owned(), |it| it.to_string());
            format!("{} {reference} {:?} {}\n", line.level, line.kind, line.text)
        });
        lines.collect::<String>()
    };
    expect_test::expect![[r#"
        0 e2 Text one
        0 e3 Element("link") link "l" e3 → /x
        0 e4 Element("iframe") iframe
        1 f1e3 Element("listitem") -
    "#]]
    .assert_eq(&lines(Layout::Compact));
    expect_test::expect![[r#"
        0 e1 Element("generic") - generic [ref=e1]:
        1 e2 Element("paragraph") - paragraph [ref=e2]: one
        1 e3 Element("link") - link "l" [ref=e3]:
        2 - Property - /url: /x
        1 e4 Element("iframe") - iframe [ref=e4]:
        2 f1e2 Element("list") - list [ref=f1e2]:
        3 f1e3 Element("listitem") - listitem [ref=f1e3]
    "#]]
    .assert_eq(&lines(Layout::Full));
}

#[test]
fn bounding_boxes_are_printed_last() {
    let more = json!({ "pointer": true, "url": "/x", "box": [1, -2, 30, 4] });
    let facts = json!([["link", "l", 4, 0, more]]);
    let page = document("f2", facts);
    assert_eq!(
        page.render(&RenderOptions::default()).text,
        "- link \"l\" [ref=f2e4] [cursor=pointer] [box=1,-2,30,4]:\n  - /url: /x"
    );
}

#[test]
fn facts_that_lack_children_are_refused() {
    for wrong in [
        json!([["list", "", 0, 2], "one"]),
        json!([["list", "", 0, -2], "one"]),
        json!([["list", "", 0]]),
        json!([["list", "", 0, 0, {}, "more"]]),
        json!({}),
        json!([1]),
    ] {
        assert!(
            serde_json::from_value::<Facts>(wrong.clone()).is_err(),
            "{wrong}"
        );
    }
}

#[test]
fn a_text_equal_to_the_name_is_not_repeated() {
    let page = document(
        "",
        json!([["list", "", 0, 2], ["option", "One", 1, -1], "two"]),
    );
    let whole = json!([["list", "", 0, 2], ["option", "One", 1, 1], "One", "two"]);
    let options = RenderOptions::default();
    assert_eq!(page.render(&options), document("", whole).render(&options));
}

fn document(prefix: &str, facts: Value) -> FrameSnapshot {
    let facts = serde_json::from_value(facts).expect("the facts are whole");
    FrameSnapshot::new(prefix, facts)
}

/// Reads a recorded page: its facts and, by frame element, those of its frames.
fn recorded(path: &Path) -> FrameSnapshot {
    let text = fs::read_to_string(path).expect("the recorded page can be read");
    build(&serde_json::from_str(&text).expect("the recorded page is JSON"))
}

fn build(tree: &Value) -> FrameSnapshot {
    let prefix = tree["prefix"].as_str().expect("a prefix");
    let mut snapshot = document(prefix, tree["facts"].clone());
    for frame in tree["frames"].as_array().expect("frames") {
        let element = frame[0].as_u64().expect("a handle");
        snapshot.insert_frame(element, build(&frame[1]));
    }
    snapshot
}

fn node() -> impl Strategy<Value = Node> + Clone {
    let role = prop::sample::select(vec!["generic", "img", "link", "row", "iframe", "button"]);
    let name = prop::sample::select(vec!["", "a", "a b", "x: y", "\u{7}"]);
    let mark = prop_oneof![
        Just(Mark::Off),
        Just(Mark::On(true)),
        Just(Mark::Kind("mixed".into()))
    ];
    (
        (
            role,
            name,
            mark,
            prop::option::of(1..9_u32),
            any::<[bool; 6]>(),
        ),
        (
            prop::collection::vec(0..12_usize, 0..3),
            prop::option::of("[ -~]{0,6}"),
        ),
    )
        .prop_map(
            |((role, name, checked, reference, flags), (sources, url))| Node {
                role: role.into(),
                name: name.into(),
                reference,
                checked,
                disabled: flags[0],
                active: flags[1],
                aria_hidden: flags[2],
                pointer: flags[3],
                parts: flags[4],
                bounds: flags[5].then_some([0.0, 1.0, 2.0, 3.0]),
                sources,
                url,
                ..Node::default()
            },
        )
}

/// Generates trees as lists of entries: each node takes some of the following entries as its children.
fn entries() -> impl Strategy<Value = Vec<Entry>> {
    trees(node(), vec!["a", " a b ", " ", "x: y", "-"])
}

fn trees(
    nodes: impl Strategy<Value = Node> + Clone + 'static,
    texts: Vec<&'static str>,
) -> impl Strategy<Value = Vec<Entry>> {
    #[derive(Debug, Clone)]
    enum Tree {
        Text(String),
        Node(Box<Node>, Vec<Tree>),
    }
    fn list(tree: Tree, into: &mut Vec<Entry>) {
        match tree {
            Tree::Text(text) => into.push(Entry::Text(text)),
            Tree::Node(mut node, children) => {
                node.children = children.len();
                into.push(Entry::Node(node));
                for child in children {
                    list(child, into);
                }
            }
        }
    }
    let text = prop::sample::select(texts);
    let leaf = prop_oneof![
        text.prop_map(|text| Tree::Text(text.into())),
        nodes
            .clone()
            .prop_map(|node| Tree::Node(Box::new(node), Vec::new())),
    ];
    let tree = leaf.prop_recursive(5, 40, 4, move |inner| {
        (nodes.clone(), prop::collection::vec(inner, 0..4))
            .prop_map(|(node, children)| Tree::Node(Box::new(node), children))
    });
    prop::collection::vec(tree, 0..3).prop_map(|trees| {
        let mut entries = Vec::new();
        for tree in trees {
            list(tree, &mut entries);
        }
        entries
    })
}

proptest! {
    #[test]
    fn any_tree_can_be_written(entries in entries(), depth in prop::option::of(0..4_u32)) {
        let snapshot = FrameSnapshot { entries, ..FrameSnapshot::default() };
        let text = snapshot.render(&RenderOptions { depth, ..RenderOptions::default() }).text;
        let mut before = None;
        for line in text.lines() {
            let indent = line.len() - line.trim_start().len();
            prop_assert!(line[indent..].starts_with("- "), "{text}");
            prop_assert!(indent <= before.map_or(0, |before| before + 2), "{text}");
            before = Some(indent);
            // A node at the depth limit still has its properties and a single text.
            if let Some(depth) = depth {
                prop_assert!(indent / 2 <= depth as usize + 1, "{text}");
            }
        }
    }

    #[test]
    fn the_lines_are_those_of_the_text(entries in entries(), is_full in any::<bool>()) {
        let layout = if is_full { Layout::Full } else { Layout::Compact };
        let snapshot = FrameSnapshot { entries, ..FrameSnapshot::default() };
        let Rendered { text, lines } = snapshot.render(&RenderOptions { layout, depth: None });
        let written = lines.iter(&text).map(|line| format!("{}{}", layout.indent().repeat(line.level as usize), line.text));
        prop_assert_eq!(text.lines().collect::<Vec<_>>(), written.collect::<Vec<_>>());
    }

    #[test]
    fn every_match_is_in_the_result(entries in entries(), text in "[ab:-]") {
        let snapshot = FrameSnapshot { entries, ..FrameSnapshot::default() };
        let lines = snapshot.render(&RenderOptions::default()).text;
        let found = tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(Pattern::text(&text).find_in(lines.clone(), usize::MAX)).unwrap();
        let matching: Vec<&str> = lines.lines().filter(|line| line.to_lowercase().contains(&text)).collect();
        prop_assert_eq!(found.matches, matching.len());
        for line in matching {
            prop_assert!(found.text.lines().any(|it| it == line));
        }
    }
}
