//! Outlines: within their size, and every line is reached through folds.

use super::*;
use crate::snapshot::LineRange;
use crate::snapshot::outline::Part;
use crate::tokens::estimate_tokens;
use std::collections::BTreeMap;

const MOST: usize = 1_500;

fn render(page: &FrameSnapshot, layout: Layout) -> Rendered {
    let depth = None;
    page.render(&RenderOptions { layout, depth })
}

/// Returns the outline of some lines, or their text if it is small enough.
fn shown(whole: &Rendered, part: &Part, layout: Layout, most: usize) -> String {
    let lines = whole.part(part, layout);
    match lines.is_larger_than(most) {
        true => whole.outline(part, layout, most),
        false => lines.text,
    }
}

/// A page with a form, sections of text, and a table with this many rows.
fn large_page(rows: u32) -> FrameSnapshot {
    let mut facts = vec![json!(["generic", "", 1, 4, { "active": true }])];
    let mut next = 1;
    let mut number = || {
        next += 1;
        next
    };
    facts.push(json!(["form", "Search", number(), 2]));
    facts.push(json!(["textbox", "Query", number(), 0, { "box": [0, 10, 100, 20] }]));
    facts.push(json!(["button", "Go", number(), 0]));
    facts.push(json!(["main", "", number(), 120]));
    for section in 0..40 {
        facts.push(json!(["heading", format!("Section {section}"), number(), -1, { "level": 2 }]));
        for paragraph in 0..2 {
            facts.push(json!(["paragraph", "", number(), 1]));
            facts.push(json!(format!(
                "Paragraph {paragraph} of section {section} has a few words more than its heading, so that it takes place."
            )));
        }
    }
    facts.push(json!(["table", "", number(), rows]));
    for row in 0..rows {
        let bounds = [0, 300 + 20 * row, 500, 20];
        facts.push(json!(["row", "", number(), 2]));
        facts.push(json!(["cell", format!("Order {row}"), number(), -1]));
        facts.push(json!(["cell", "", number(), 1]));
        facts.push(
            json!(["button", format!("Open {row}"), number(), -1, { "pointer": true, "box": bounds }]),
        );
    }
    facts.push(json!(["contentinfo", "", number(), 1]));
    facts.push(json!(["link", "Imprint", number(), -1, { "url": "/imprint" }]));
    document("", json!(facts))
}

/// Returns the targets of the folds in a text.
fn folds(text: &str) -> Vec<LineRange> {
    let fold = |line: &str| {
        let line = line.trim_start().trim_start_matches("- ");
        let target = line.strip_prefix("… ")?.rsplit_once(" [ref=")?.1;
        let target = target.strip_suffix(']')?;
        let range = match target.contains("..") {
            true => target.to_owned(),
            false => format!("{target}..{target}"),
        };
        Some(LineRange::parse(&range).unwrap_or_else(|| panic!("{target} is no target")))
    };
    text.lines().filter_map(fold).collect()
}

/// Opens all folds; returns the lines with the number of calls that show them.
fn open_all(
    whole: &Rendered,
    depth: Option<u32>,
    layout: Layout,
    most: usize,
) -> BTreeMap<String, usize> {
    let mut seen = BTreeMap::new();
    let mut open = vec![(whole.all(depth), 1)];
    while let Some((part, calls)) = open.pop() {
        let text = shown(whole, &part, layout, most);
        assert!(
            estimate_tokens(&text) <= most,
            "{} tokens:\n{text}",
            estimate_tokens(&text)
        );
        for line in text.lines() {
            let before = seen.entry(line.trim_start().to_owned()).or_insert(calls);
            *before = calls.min(*before);
        }
        for range in folds(&text) {
            assert!(calls < 9, "{range} opens nothing smaller");
            let part = whole.find(&range, "", None);
            let part = part.unwrap_or_else(|| panic!("{range} is not there"));
            open.push((part, calls + 1));
        }
    }
    seen
}

fn assert_reached(whole: &Rendered, layout: Layout, most: usize, calls: usize) {
    assert_reached_to(None, whole, layout, most, calls);
}

/// The same for the lines down to a level.
fn assert_reached_to(
    depth: Option<u32>,
    whole: &Rendered,
    layout: Layout,
    most: usize,
    calls: usize,
) {
    let seen = open_all(whole, depth, layout, most);
    for line in whole.part(&whole.all(depth), layout).text.lines() {
        let own = seen.get(line.trim_start()).copied();
        assert!(own.is_some_and(|own| own <= calls), "{own:?}: {line}");
    }
}

#[test]
fn every_line_is_reached_in_two_calls_within_the_size() {
    for layout in [Layout::Full, Layout::Compact] {
        let whole = render(&large_page(700), layout);
        assert!(whole.is_larger_than(10 * MOST));
        assert_reached(&whole, layout, MOST, 2);
    }
}

#[test]
fn every_line_is_reached_if_there_are_more_folds_than_fit() {
    for layout in [Layout::Full, Layout::Compact] {
        let whole = render(&large_page(1_500), layout);
        assert_reached(&whole, layout, 400, 3);
    }
}

#[test]
fn lines_that_are_nested_deeply_are_reached() {
    // Each level has a long list before the next level.
    let mut facts = Vec::new();
    let mut next = 0;
    for _ in 0..30 {
        next += 1;
        facts.push(json!(["region", "", next, 41]));
        for item in 0..40 {
            next += 1;
            facts.push(json!(["listitem", "", next, 1]));
            facts.push(json!(format!(
                "Item {item} at {next}, with some more words"
            )));
        }
    }
    facts.push(json!(["button", "Deepest", next + 1, 0]));
    let page = document("", json!(facts));
    for layout in [Layout::Full, Layout::Compact] {
        let whole = render(&page, layout);
        assert!(whole.is_larger_than(10 * MOST));
        assert_reached(&whole, layout, MOST, 2);
    }
}

#[test]
fn lines_without_refs_are_reached() {
    let mut facts = vec![
        json!(["generic", "", 1, 3]),
        json!(["button", "Before", 2, 0]),
        json!(["listbox", "", 3, 2_000]),
    ];
    for option in 0..2_000 {
        facts.push(json!(["option", format!("Option {option} of many"), 0, -1]));
    }
    facts.push(json!(["button", "After", 4, 0]));
    let page = document("", json!(facts));
    for layout in [Layout::Full, Layout::Compact] {
        let whole = render(&page, layout);
        assert!(whole.is_larger_than(5 * MOST));
        let outline = shown(&whole, &whole.all(None), layout, MOST);
        assert!(outline.contains(" more options: Option "), "{outline}");
        assert!(outline.contains(" [ref=e3+"), "{outline}");
        assert_reached(&whole, layout, MOST, 2);
    }
}

#[test]
fn a_line_that_is_too_long_is_folded_and_shown_by_its_fold() {
    let page = document(
        "",
        json!([
            ["main", "", 1, 2],
            ["button", "Go", 2, 0],
            ["paragraph", "", 3, 1],
            "many words ".repeat(5_000),
        ]),
    );
    for layout in [Layout::Full, Layout::Compact] {
        let whole = render(&page, layout);
        let outline = shown(&whole, &whole.all(None), layout, MOST);
        assert!(outline.len() < 200, "{}", outline.len());
        let [fold] = &folds(&outline)[..] else {
            panic!("{outline}");
        };
        assert!(outline.contains("button \"Go\""), "{outline}");
        let part = whole.find(fold, "", None).expect("it is there");
        assert_eq!(
            shown(&whole, &part, layout, MOST),
            whole.part(&part, layout).text
        );
        assert!(whole.part(&part, layout).is_larger_than(MOST));
    }
}

#[test]
fn the_folds_of_a_frame_and_of_a_browser_context_have_their_prefix() {
    let mut page = document(
        "clean:",
        json!([["generic", "", 1, 2], ["button", "Out", 2, 0], ["iframe", "", 3, 0, { "frame": 7 }]]),
    );
    let mut facts = vec![json!(["list", "", 1, 500])];
    for item in 2..502 {
        facts.push(json!(["listitem", "", item, 1]));
        facts.push(json!(format!("Item {item} of the frame")));
    }
    page.insert_frame(7, document("clean:f1", json!(facts)));
    let whole = render(&page, Layout::Compact);
    let outline = whole.outline(&whole.all(None), Layout::Compact, MOST);
    let fold = outline.lines().find(|line| line.contains('…'));
    let target = fold.and_then(|fold| fold.split_once("[ref=")).unwrap().1;
    let range = target.strip_suffix(']').unwrap();
    let (from, to) = range.split_once("..").unwrap();
    assert!(
        from.starts_with("clean:f1e") && to.starts_with("f1e"),
        "{range}"
    );
    // The tools remove the name of the context from targets.
    let range = LineRange::parse(range.strip_prefix("clean:").unwrap()).unwrap();
    let part = whole.find(&range, "clean:", None).unwrap();
    let part = whole.part(&part, Layout::Compact);
    assert!(part.text.starts_with("- Item "), "{}", part.text);
}

#[test]
fn an_outline_has_structure_and_the_controls_in_view_and_folds_the_rest() {
    let mut page = large_page(400);
    page.mark_in_view(0.0..720.0, false);
    let whole = render(&page, Layout::Compact);
    let outline = whole.outline(&whole.all(None), Layout::Compact, MOST);
    for shown in [
        "form \"Search\" e2\n textbox \"Query\" e3\n button \"Go\" e4\n",
        " ## Section 0\n",
        " ## Section 20\n",
        "| Order 0 | button \"Open 0\" e",
        " more rows: Order ",
        "contentinfo ",
    ] {
        assert!(outline.contains(shown), "{shown} is not in\n{outline}");
    }
    assert!(!whole.text.contains("[box="));
}

#[test]
fn an_outline_uses_its_size_and_begins_with_names() {
    for layout in [Layout::Full, Layout::Compact] {
        for (rows, most) in [(100, 1_500), (400, 6_000), (4_000, 1_500), (12_000, 6_000)] {
            let whole = render(&large_page(rows), layout);
            let outline = whole.outline(&whole.all(None), layout, most);
            let tokens = estimate_tokens(&outline);
            assert!(
                (most * 85 / 100..=most).contains(&tokens),
                "{rows} {most}: {tokens}\n{outline}"
            );
            let first: Vec<&str> = outline.lines().take(8).collect();
            let first = first.join("\n");
            for shown in [
                "Search",
                "Query",
                "Go",
                "Section 0",
                "Paragraph 0 of section 0",
            ] {
                assert!(first.contains(shown), "{shown} is not in\n{first}");
            }
            assert!(outline.contains(" more rows: Order "), "{outline}");
        }
    }
}

#[test]
fn the_names_of_a_fold_are_no_targets() {
    let mut facts = vec![json!(["list", "", 1, 500])];
    for item in 2..502 {
        facts.push(json!(["listitem", "", item, 1]));
        facts.push(json!(format!("Item [ref=e1..e2] of {item} e5")));
    }
    let whole = render(&document("", json!(facts)), Layout::Compact);
    let outline = whole.outline(&whole.all(None), Layout::Compact, 1_000);
    let mut folds = outline.lines().filter(|line| line.starts_with("… "));
    assert!(
        folds.all(|line| line.matches("[ref=").count() == 1),
        "{outline}"
    );
    assert!(outline.contains("listitems: Item ["), "{outline}");
}

#[test]
fn a_part_of_a_snapshot_consists_of_its_lines_down_to_a_level() {
    let page = large_page(2);
    let whole = render(&page, Layout::Full);
    let part = |from: &str, to: &str, depth| {
        let range = LineRange::parse(&format!("{from}..{to}")).expect("it is a range");
        let part = whole
            .find(&range, "", depth)
            .map(|part| whole.part(&part, Layout::Full));
        part.map(|part| part.text)
    };
    let fields = "- textbox \"Query\" [ref=e3] [box=0,10,100,20]\n- button \"Go\" [ref=e4]";
    assert_eq!(part("e3", "e4", None).as_deref(), Some(fields));
    let form = part("e2", "e2", None).expect("it is there");
    assert_eq!(form.lines().count(), 3);
    let form = part("e2", "e2", Some(0)).expect("it is there");
    assert_eq!(form, "- form \"Search\" [ref=e2]:");
    assert_eq!(part("e4", "e3", None), None);
    assert_eq!(part("e3", "e99999", None), None);
}

#[test]
fn the_outline_of_a_part_that_ends_in_an_element_has_nothing_after_it() {
    let mut facts = vec![json!(["list", "", 1, 40])];
    for item in 2..42 {
        facts.push(json!(["listitem", "", item, 1]));
        facts.push(json!(format!("Item {item} with some more words")));
    }
    let whole = render(&document("", json!(facts)), Layout::Full);
    let range = LineRange::parse("e1..e20").expect("it is a range");
    let part = whole.find(&range, "", None).expect("it is there");
    let outline = whole.outline(&part, Layout::Full, 150);
    assert!(outline.contains("Item 2 "), "{outline}");
    assert!(!outline.contains("e41"), "{outline}");
}

#[test]
fn only_refs_are_the_targets_of_folds() {
    for (target, is_range) in [
        ("e1..e2", true),
        (" f1e1..f2e20 ", true),
        ("e5+1..e5+200", true),
        ("e1", false),
        ("e1..", false),
        ("e1..x", false),
        ("e1+..e2", false),
        ("xpath=..", false),
        ("text=e1..e2", false),
        ("fe1..e2", false),
    ] {
        let range = LineRange::parse(target);
        assert_eq!(range.is_some(), is_range, "{target}");
        if let Some(range) = range {
            assert_eq!(range.to_string(), target.trim());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_line_of_any_page_is_reached(
            entries in entries(),
            is_full in any::<bool>(),
            numbered in 1..4_u32,
            depth in proptest::option::of(0..3_u32),
        ) {
        // Many copies of a random tree. Some nodes have refs, each of its own.
        let mut all = Vec::new();
        for _ in 0..200 {
            all.extend(entries.iter().cloned());
        }
        let mut next = 0_u32;
        for (index, entry) in all.iter_mut().enumerate() {
            if let Entry::Node(node) = entry {
                next += 1;
                let has_ref = index == 0 || !next.is_multiple_of(numbered + 1);
                node.reference = has_ref.then_some(next);
            }
        }
        let page = FrameSnapshot { entries: all, ..FrameSnapshot::default() };
        let layout = if is_full { Layout::Full } else { Layout::Compact };
        let whole = render(&page, layout);
        if whole.lines.iter(&whole.text).any(|line| line.reference.is_some()) {
            assert_reached_to(depth, &whole, layout, MOST, 3);
        }
    }
}
