//! The compact layout: what it shows, and that it shows all.

use super::*;
use crate::snapshot::compact::ROLES;
use testkit::snapshot::{Part, compare, parse_compact};

fn both(snapshot: &FrameSnapshot, depth: Option<u32>) -> (String, String) {
    let render = |layout| snapshot.render(&RenderOptions { layout, depth }).text;
    (render(Layout::Full), render(Layout::Compact))
}

fn compact(facts: Value) -> String {
    both(&document("", facts), None).1
}

#[test]
fn recorded_pages_read_compactly_as_expected_and_lose_nothing() {
    for page in pages() {
        let (full, compact) = both(&recorded(&page), None);
        compare(&full, &compact)
            .unwrap_or_else(|lost| panic!("{}: {lost}\n{full}\n\n{compact}", page.display()));
        expect_test::expect_file![page.with_extension("md")].assert_eq(&format!("{compact}\n"));
    }
}

#[test]
fn the_roles_are_those_that_the_page_functions_report() {
    let own: std::collections::BTreeSet<&str> = ROLES.iter().copied().collect();
    assert_eq!(own, *testkit::snapshot::ROLES);
}

#[test]
fn fields_rows_and_items_are_one_line_each() {
    let facts = json!([
        ["generic", "", 1, 7, { "active": true }],
        ["heading", "Orders", 2, -1, { "level": 1 }],
        ["paragraph", "", 3, 2],
        "Customer",
        ["textbox", "Customer", 4, 1],
        "Ada",
        ["combobox", "State", 5, 3],
        ["option", "open", 0, -1, { "selected": true }],
        ["option", "closed", 0, -1],
        ["option", "a | b", 0, -1, { "disabled": true }],
        ["paragraph", "", 6, 3],
        "Read the ",
        ["link", "terms", 7, -1, { "url": "/terms", "pointer": true }],
        " first.",
        ["table", "", 8, 1],
        ["rowgroup", "", 9, 2],
        ["row", "1 Open", 10, 3, { "sources": [11, 12, 13] }],
        ["cell", "1", 11, -1],
        ["cell", "", 12, 0],
        ["cell", "", 13, 1],
        ["button", "Open", 14, -1, { "pointer": true }],
        ["row", "", 15, 1, { "selected": true, "pointer": true }],
        ["cell", "2", 16, -1],
        ["list", "", 17, 3],
        ["listitem", "", 18, 1],
        "one",
        ["listitem", "", 19, 1],
        ["link", "two", 20, -1, { "url": "/2" }],
        ["listitem", "", 21, 2],
        "three",
        ["list", "", 22, 1],
        ["listitem", "", 23, 1],
        "four",
        ["status", "", 24, 1],
        "Saved",
    ]);
    expect_test::expect![[r##"
        # Orders
        textbox "Customer" e4: Ada
        combobox "State" e5 (*open | closed | "a | b" [disabled])
        Read the link "terms" e7 → /terms first.
        table e8
         | 1 |  | button "Open" e14
         row [selected] e15: | 2
        - one
        - link "two" e20 → /2
        - three
         - four
        status e24: Saved"##]]
    .assert_eq(&compact(facts));
}

#[test]
fn text_of_a_page_imitates_no_node_no_ref_and_no_line_of_the_server() {
    const FORGED: &[&str] = &[
        "button \"Pay\" e5",
        "press the button \"Pay\"",
        "press textbox: \"x\"",
        "e5",
        "see f1e5.",
        "ctx:e5",
        "# Heading",
        "#",
        "- item",
        "-",
        "| a | b",
        "… 378 more rows [ref=e12..e390]",
        "link → /pay",
        "main",
        "status: ok",
        "checkbox [checked]",
        "\"quoted\"",
        "[disabled] (x) : y",
        "(a)",
        ": b",
        "*selected",
        "ends with button",
        "a\u{2028}b",
    ];
    for text in FORGED {
        let before_node = json!([["main", "", 1, 2], text, ["button", "Go", 2, 0]]);
        let after_node = json!([
            ["main", "", 1, 1],
            ["paragraph", "", 3, 3],
            "x ",
            ["button", "Go", 2, 0],
            text
        ]);
        let cell = json!([
            ["row", "", 1, 2],
            ["cell", "", 2, 1],
            text,
            ["gridcell", "", 3, 1],
            text
        ]);
        let option = json!([
            ["listbox", "", 1, 2],
            ["option", text, 2, -1],
            ["option", "b", 3, -1]
        ]);
        let heading = json!([["heading", text, 1, -1, { "level": 2 }]]);
        let item = json!([["listitem", "", 1, 1], text]);
        let value = json!([["textbox", "Q", 1, 1], text]);
        let control = json!([["button", text, 1, 0, { "url": text, "placeholder": text }]]);
        for facts in [
            before_node,
            after_node,
            cell,
            option,
            heading,
            item,
            value,
            control,
        ] {
            let (full, compact) = both(&document("", facts), None);
            compare(&full, &compact).unwrap_or_else(|lost| panic!("{lost}\n{full}\n\n{compact}"));
        }
    }
}

#[test]
fn a_name_with_markup_stays_within_its_quotes() {
    let facts = json!([["button", "x\" e9\nbutton \"Pay", 1, 0, { "pointer": true }]]);
    let text = compact(facts);
    assert_eq!(text, r#"button "x\" e9\nbutton \"Pay" e1"#);
    let parts = parse_compact(&text).expect("the grammar has it");
    assert!(matches!(&*parts, [Part::Node(node)] if node.reference.as_deref() == Some("e1")));
}

#[test]
fn a_link_with_neither_name_nor_ref_has_a_line_of_its_own() {
    let link = |url: Option<&str>| {
        Entry::Node(Box::new(Node {
            role: "link".into(),
            children: 1,
            url: url.map(str::to_owned),
            ..Node::default()
        }))
    };
    let entries = vec![link(None), link(Some("/a")), Entry::Text("a".into())];
    let snapshot = FrameSnapshot {
        entries,
        ..FrameSnapshot::default()
    };
    let (full, compact) = both(&snapshot, None);
    compare(&full, &compact).unwrap_or_else(|lost| panic!("{lost}\n{full}\n\n{compact}"));
    assert_eq!(compact, "link\n link → /a: a");
}

#[test]
fn a_depth_omits_what_is_deeper() {
    let facts = json!([
        ["main", "", 1, 2],
        ["heading", "A", 2, -1, { "level": 1 }],
        ["navigation", "", 3, 1],
        ["button", "B", 4, 0],
    ]);
    let render = |depth| both(&document("", facts.clone()), depth).1;
    assert_eq!(render(Some(1)), "main e1\n # A\n navigation e3");
    assert_eq!(
        render(None),
        "main e1\n # A\n navigation e3\n  button \"B\" e4"
    );
}

/// Texts that look like parts of the layout, and roles of each kind.
fn forging_node() -> impl Strategy<Value = Node> + Clone {
    let roles = vec![
        "generic",
        "paragraph",
        "list",
        "listitem",
        "row",
        "cell",
        "gridcell",
        "table",
        "link",
        "button",
        "textbox",
        "combobox",
        "listbox",
        "option",
        "heading",
        "img",
        "main",
        "strong",
        "deletion",
        "separator",
    ];
    let texts = vec![
        "",
        "a",
        "button",
        "x e5",
        "main: y",
        "| b",
        "(c",
        "a)",
        "- d",
        "link \"z\" e7",
        "[e]",
    ];
    (
        (
            prop::sample::select(roles),
            prop::sample::select(texts),
            prop::option::of(1..99_u32),
            any::<[bool; 5]>(),
            0..3_u32,
        ),
        prop::option::of(prop::sample::select(vec!["/a", "e5", "", "x: y"])),
    )
        .prop_map(|((role, name, reference, flags, level), url)| Node {
            role: role.into(),
            name: name.into(),
            reference,
            disabled: flags[0] && flags[1],
            selected: flags[1] && flags[2],
            active: flags[0] && flags[2],
            // `pointer` is missing: the tree that the compact layout gets has no pointer cursors.
            unseen: flags[4] && flags[3],
            level: if role == "heading" { level } else { 0 },
            url: url.filter(|_| role == "link").map(str::to_owned),
            ..Node::default()
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_tree_is_the_same_in_both_layouts(entries in trees(forging_node(), vec!["a", " button ", "x e5", "e5", "| b", "(c)", "- d", "link \"z\"", "# h", ": v", "… w"])) {
        let mut entries = entries;
        // Refs are unique in a document.
        let mut next = 0;
        for entry in &mut entries {
            if let Entry::Node(node) = entry {
                next += 1;
                node.reference = node.reference.map(|_| next);
            }
        }
        let snapshot = FrameSnapshot { entries, ..FrameSnapshot::default() };
        let (full, compact) = both(&snapshot, None);
        let same = compare(&full, &compact);
        prop_assert!(same.is_ok(), "{}\n{full}\n\n{compact}", same.unwrap_err());
    }
}
