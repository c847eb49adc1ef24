//! The difference between two snapshots.

use super::*;
use crate::snapshot::{Observed, Rendered, Side, Transient, changes};
use crate::tokens::estimate_tokens;

fn between(layout: Layout, before: Value, after: Value) -> String {
    let render = |facts| {
        let options = RenderOptions {
            layout,
            depth: None,
        };
        document("", facts).render(&options)
    };
    let (before, after) = (render(before), render(after));
    changes(
        side(&before),
        side(&after),
        &Observed::default(),
        layout,
        Some(400),
    )
    .join("\n")
}

fn side(rendered: &Rendered) -> Side<'_> {
    Side {
        text: &rendered.text,
        lines: &rendered.lines,
    }
}

/// A shop before and after "Save" was pressed: a value, an alert, a removed list, a text, and the focus.
fn shop() -> (Value, Value) {
    let before = json!([
        ["generic", "", 1, 5, { "active": true }],
        ["heading", "Shop", 2, -1, { "level": 1 }],
        ["textbox", "Name", 3, 0],
        ["list", "", 4, 2],
        ["listitem", "", 5, 1],
        "Tea",
        ["listitem", "", 6, 1],
        "Tea",
        ["paragraph", "", 7, 1],
        "3 items",
        ["checkbox", "Gift", 8, 0],
    ]);
    let after = json!([
        ["generic", "", 1, 5],
        ["heading", "Shop", 2, -1, { "level": 1 }],
        ["textbox", "Name", 3, 1, { "active": true }],
        "Ada",
        ["alert", "", 9, 2],
        "Saved",
        ["button", "Undo", 10, -1],
        ["paragraph", "", 7, 1],
        "4 items",
        ["checkbox", "Gift", 8, 0, { "checked": true }],
    ]);
    (before, after)
}

#[test]
fn what_appeared_disappeared_and_changed_is_listed_by_ref() {
    let (before, after) = shop();
    expect_test::expect![[r#"
        + alert [ref=e9]
        +   text: Saved
        +   button "Undo" [ref=e10]
        ~ textbox "Name" [active] [ref=e3]: Ada
        ~ paragraph [ref=e7]: 4 items
        ~ checkbox "Gift" [checked] [ref=e8]
        - list [ref=e4]"#]]
    .assert_eq(&between(Layout::Full, before, after));
    let (before, after) = shop();
    expect_test::expect![[r#"
        + alert e9: Saved button "Undo" e10
        ~ textbox "Name" [active] e3: Ada
        ~ 4 items
        ~ checkbox "Gift" [checked] e8
        - - Tea
        - - Tea"#]]
    .assert_eq(&between(Layout::Compact, before, after));
}

#[test]
fn nothing_is_listed_if_nothing_changed_or_only_the_focus_was_lost() {
    for layout in [Layout::Full, Layout::Compact] {
        let (page, _) = shop();
        assert_eq!(between(layout, page.clone(), page), "");
        let button = |facts: Value| json!([["generic", "", 1, 1], ["button", "Go", 2, 0, facts]]);
        let (with, without) = (button(json!({ "active": true })), button(json!({})));
        assert_eq!(between(layout, with.clone(), without.clone()), "");
        assert!(between(layout, without, with).starts_with("~ button \"Go\" [active]"));
    }
}

#[test]
fn a_name_that_reads_like_the_focus_is_a_name() {
    let button = |name: &str, facts: Value| json!([["button", name, 2, 0, facts]]);
    let (before, after) = (
        button("a [active]", json!({ "active": true })),
        button("a [active]", json!({ "disabled": true })),
    );
    expect_test::expect![[r#"~ button "a [active]" [disabled] [ref=e2]"#]].assert_eq(&between(
        Layout::Full,
        before,
        after,
    ));
}

#[test]
fn a_control_that_shares_its_line_with_a_text_now_has_not_disappeared() {
    let page = |text: &str| {
        let mut facts = vec![json!([
            "generic",
            "",
            1,
            if text.is_empty() { 1 } else { 2 }
        ])];
        facts.push(json!(["button", "Save \"e7\"", 2, -1]));
        facts.extend((!text.is_empty()).then(|| json!(text)));
        Value::from(facts)
    };
    let changed = between(Layout::Compact, page(""), page("Done"));
    assert_eq!(changed, "+ Done");
    let changed = between(Layout::Compact, page("Done"), page(""));
    assert_eq!(changed, "- Done");
    // The full layout has a line for each element, and one that only groups others is not listed.
    let changed = between(Layout::Full, page(""), page("Done"));
    assert_eq!(changed, "+ text: Done");
}

#[test]
fn a_property_belongs_to_its_element() {
    let links = |one: &str, other: &str| {
        json!([
            ["generic", "", 1, 2],
            ["link", "One", 2, -1, { "url": one }],
            ["link", "Two", 3, -1, { "url": other }],
        ])
    };
    let changed = between(Layout::Full, links("/1", "/2"), links("/1", "/3"));
    assert_eq!(changed, "~ /url: /3");
    let changed = between(Layout::Compact, links("/1", "/2"), links("/1", "/3"));
    assert_eq!(changed, "~ link \"Two\" e3 → /3");
}

#[test]
fn another_order_is_shown_and_rendering_the_same_texts_again_is_no_change() {
    let list = |names: &[(&str, u32)]| {
        let mut facts = vec![json!(["list", "", 1, names.len()])];
        for (name, reference) in names {
            facts.push(json!(["listitem", "", reference, 1]));
            facts.push(json!(name));
        }
        Value::from(facts)
    };
    let sorted = list(&[("a", 2), ("b", 3), ("c", 4), ("d", 5)]);
    let other = list(&[("d", 5), ("a", 2), ("b", 3), ("c", 4)]);
    let moved = between(Layout::Compact, sorted.clone(), other.clone());
    assert_eq!(moved, "> - d\n  - a");
    let moved = between(Layout::Full, sorted.clone(), other.clone());
    assert_eq!(moved, "> listitem [ref=e5]: d\n  listitem [ref=e2]: a");
    let again = list(&[("a", 12), ("b", 13), ("c", 14), ("d", 15)]);
    assert_eq!(between(Layout::Compact, sorted.clone(), again.clone()), "");
    // Refs are shown there, and these are others.
    expect_test::expect![[r#"
        ~ listitem [ref=e12]: a
        ~ listitem [ref=e13]: b
        ~ listitem [ref=e14]: c
        ~ listitem [ref=e15]: d"#]]
    .assert_eq(&between(Layout::Full, sorted, again));
    let button = |reference: u32| {
        json!([
            ["generic", "", 0, 2],
            ["button", "Go", reference, -1],
            "Text"
        ])
    };
    let changed = between(Layout::Compact, button(2), button(7));
    assert_eq!(changed, "~ button \"Go\" e7");
}

#[test]
fn a_text_that_is_gone_has_its_role_and_is_quoted() {
    let (page, _) = shop();
    let rendered = document("", page).render(&RenderOptions::default());
    let transients = [
        Transient {
            role: "alert".to_owned(),
            text: "Saved \"it\"".to_owned(),
        },
        Transient {
            role: String::new(),
            text: "button e5".to_owned(),
        },
    ];
    let side = side(&rendered);
    let observed = Observed {
        transients: transients.into(),
        ..Observed::default()
    };
    let lines = changes(side, side, &observed, Layout::Full, Some(400));
    assert_eq!(
        lines,
        [
            r#"+ alert [gone]: "Saved \"it\"""#,
            r#"+ text [gone]: "button e5""#
        ]
    );
}

#[test]
fn the_most_useful_lines_are_listed_within_the_limit() {
    let page = |rows: usize, is_saved: bool| {
        let count = 2 + rows + 3 * usize::from(is_saved);
        let mut facts = vec![json!(["generic", "", 1, count])];
        facts.push(json!(["link", "Home", 5, -1]));
        facts.push(json!(["link", "Help", 6, -1]));
        for row in 0..rows {
            facts.push(json!(["paragraph", "", 100 + row, 1]));
            facts.push(json!(format!("Order number {row} with a long description")));
        }
        if is_saved {
            facts.push(json!(["heading", "Orders", 2, -1, { "level": 1 }]));
            facts.push(json!(["button", "Undo", 3, -1]));
            facts.push(json!(["status", "", 4, 1]));
            facts.push(json!("x".repeat(5_000)));
        }
        Value::from(facts)
    };
    for layout in [Layout::Full, Layout::Compact] {
        let shown = between(layout, page(0, false), page(500, true));
        let tokens = estimate_tokens(&shown);
        assert!((300..=400).contains(&tokens), "{tokens}\n{shown}");
        for useful in ["+ status", "Undo", "Orders"] {
            assert!(shown.contains(useful), "{useful}\n{shown}");
        }
        let lines = shown.lines().count() - 1;
        let last = shown.lines().last().unwrap_or_default();
        let count = format!("… and {0} more lines ({0} +)", 503 - lines);
        assert!(last.starts_with(&count), "{shown}");
    }
}

proptest! {
    /// Any two pages: each line of the second one that the first one lacks is listed, and the reverse has as many lines removed.
    #[test]
    fn without_a_limit_nothing_is_left_out(before in texts(), after in texts()) {
        let render = |texts: &[String]| {
            let mut facts = vec![json!(["generic", "", 0, texts.len()])];
            for text in texts {
                facts.push(json!(["paragraph", "", 0, 1]));
                facts.push(json!(text));
            }
            let options = RenderOptions { layout: Layout::Compact, depth: None };
            document("", Value::from(facts)).render(&options)
        };
        let (one, other) = (render(&before), render(&after));
        let lines = changes(side(&one), side(&other), &Observed::default(), Layout::Compact, None);
        let count = |texts: &[String], text: &String| texts.iter().filter(|it| *it == text).count();
        let lacking = |texts: &[String], other: &[String]| -> usize {
            let mut all: Vec<&String> = texts.iter().collect();
            all.sort();
            all.dedup();
            all.iter().map(|text| count(texts, text).saturating_sub(count(other, text))).sum()
        };
        let signed = |sign: char| lines.iter().filter(|line| line.starts_with(sign)).count();
        prop_assert_eq!(signed('+'), lacking(&after, &before));
        prop_assert_eq!(signed('-'), lacking(&before, &after));
    }
}

fn texts() -> impl Strategy<Value = Vec<String>> {
    proptest::collection::vec("[abé]", 0..8)
}

fn between_texts(before: Value, after: Value) -> String {
    between(Layout::Compact, before, after)
}

#[test]
fn a_line_of_several_controls_that_splits_shows_only_what_changed() {
    let page = |value: &str| {
        let mut facts = vec![json!(["generic", "", 1, 1])];
        facts.push(json!(["paragraph", "", 2, 4]));
        facts.push(json!("Pay"));
        facts.push(json!([
            "textbox",
            "Card",
            3,
            usize::from(!value.is_empty())
        ]));
        facts.extend((!value.is_empty()).then(|| json!(value)));
        facts.push(json!(["button", "Check", 4, -1]));
        facts.push(json!(["link", "Help", 5, -1, { "url": "/help" }]));
        Value::from(facts)
    };
    let changed = between_texts(page(""), page("4111"));
    assert_eq!(changed, "~ textbox \"Card\" e3: \"4111\"");
    let changed = between_texts(page("4111"), page(""));
    assert_eq!(changed, "~ textbox \"Card\" e3");
    // Without the text, the controls have lines of their own.
    let alone = |value: &str| {
        let mut facts = vec![json!(["generic", "", 1, 3])];
        facts.push(json!([
            "textbox",
            "Card",
            3,
            usize::from(!value.is_empty())
        ]));
        facts.extend((!value.is_empty()).then(|| json!(value)));
        facts.push(json!(["button", "Check", 4, -1]));
        facts.push(json!(["link", "Help", 5, -1, { "url": "/help" }]));
        Value::from(facts)
    };
    let changed = between_texts(page(""), alone("4111"));
    assert_eq!(changed, "~ textbox \"Card\" e3: 4111\n- Pay");
}

#[test]
fn what_an_overlay_hides_is_one_line() {
    let page = |hidden: Value, is_open: bool| {
        let mut facts =
            vec![json!(["generic", "", 1, 1 + usize::from(is_open), { "active": true }])];
        facts.push(json!(["generic", "", 2, 3, hidden]));
        facts.push(json!(["heading", "Orders", 3, -1, { "level": 1 }]));
        facts.push(json!(["button", "New", 4, -1]));
        facts.push(json!(["paragraph", "", 5, 1]));
        facts.push(json!("12 orders"));
        if is_open {
            facts.push(json!(["dialog", "New order", 6, 1]));
            facts.push(json!(["button", "Create", 7, -1]));
        }
        Value::from(facts)
    };
    let (closed, open) = (
        page(json!({}), false),
        page(
            json!({ "ariaHidden": true, "inert": true, "covers": true }),
            true,
        ),
    );
    expect_test::expect![[r#"
        + dialog "New order" e6
        +  button "Create" e7
        ~ [aria-hidden] [inert]: generic e2"#]]
    .assert_eq(&between_texts(closed.clone(), open.clone()));
    expect_test::expect![[r#"
        ~ not [aria-hidden] [inert]: generic e2
        - dialog "New order" e6"#]]
    .assert_eq(&between_texts(open, closed));
}

#[test]
fn a_long_line_shows_what_changed_with_its_beginning() {
    let select = |selected: usize| {
        let mut facts = vec![
            json!(["generic", "", 1, 1]),
            json!(["listbox", "Size", 2, 60]),
        ];
        for option in 0..60 {
            let number = 10 + option;
            let states = json!({ "selected": option == selected });
            facts.push(json!([
                "option",
                format!("Option number {option}"),
                number,
                -1,
                states
            ]));
        }
        Value::from(facts)
    };
    assert_eq!(
        between_texts(select(3), select(40)),
        "~ listbox \"Size\" e2 (… | Option number 3 e13 | … | *Option number 40 e50 | …)"
    );
    let text = |end: &str| {
        json!([
            ["paragraph", "", 1, 1],
            format!("{}{end}", "word ".repeat(200))
        ])
    };
    let changed = between_texts(text("old end"), text("new end"));
    assert!(
        changed.starts_with("~ word word ")
            && changed.ends_with("… word word word word word word new end"),
        "{changed}"
    );
    let field = |value: &str| {
        json!([
            ["textbox", "Note ".repeat(100), 1, 1],
            format!("{}{value}", "word ".repeat(100))
        ])
    };
    let changed = between_texts(field("one"), field("two"));
    assert!(
        changed.starts_with("~ textbox \"Note Note")
            && changed.contains("…\" e1: word")
            && changed.ends_with(" two"),
        "{changed}"
    );
}

#[test]
fn a_row_shows_its_changed_cells() {
    let row = |status: Value, disabled: bool| {
        let mut facts = vec![json!(["table", "", 1, 1]), json!(["row", "", 2, 3])];
        facts.push(json!(["cell", "Ada Lovelace", 3, -1]));
        facts.extend(status.as_array().unwrap().iter().cloned());
        facts.push(json!(["cell", "", 5, 2]));
        facts.push(json!(["button", "Edit", 6, -1, { "disabled": disabled }]));
        facts.push(json!(["button", "Delete", 7, -1]));
        Value::from(facts)
    };
    let text = |text: &str| json!([["cell", text, 4, -1]]);
    assert_eq!(
        between_texts(row(text("open"), false), row(text("open"), true)),
        "~ button \"Edit\" [disabled] e6"
    );
    assert_eq!(
        between_texts(row(text("open"), false), row(text("closed"), false)),
        "~ | Ada Lovelace | closed | …"
    );
    // The ref of a row changes with its name.
    let mut other = row(text("closed"), false);
    other[1][2] = json!(20);
    assert_eq!(
        between_texts(row(text("open"), false), other),
        "~ | Ada Lovelace | closed | …"
    );
    let field = json!([["cell", "", 4, 1], ["textbox", "Status", 8, 1], "open"]);
    assert_eq!(
        between_texts(row(text("open"), false), row(field, false)),
        "~ | Ada Lovelace | textbox \"Status\" e8: open | …"
    );
}
