//! The changes are a patch: the facts of a snapshot without what disappeared and with what is new are the facts of the next one.

use super::*;
use crate::snapshot::{Observed, Side, changes};
use std::collections::BTreeMap;

/// An element of a random page, by the number of its ref.
#[derive(Debug, Clone, PartialEq)]
struct Element {
    number: u32,
    role: &'static str,
    name: String,
    text: String,
    is_checked: bool,
    children: Vec<Self>,
}

const ROLES: &[&str] = &[
    "button",
    "checkbox",
    "dialog",
    "generic",
    "group",
    "heading",
    "link",
    "list",
    "listitem",
    "paragraph",
    "row",
    "status",
    "textbox",
];

fn side(rendered: &Rendered) -> Side<'_> {
    Side {
        text: &rendered.text,
        lines: &rendered.lines,
    }
}

fn page() -> impl Strategy<Value = Vec<Element>> {
    let text = || {
        prop_oneof![
            Just(String::new()),
            "[a-c]{1,2}",
            "button e[1-9]",
            "\\[[a-c]\\] → \\| \"x"
        ]
    };
    let leaf = (0..ROLES.len(), text(), text(), any::<bool>());
    let tree = leaf.prop_map(|(role, name, text, is_checked)| Element {
        number: 0,
        role: ROLES[role],
        name,
        text,
        is_checked,
        children: Vec::new(),
    });
    let tree = tree.prop_recursive(3, 24, 5, |inner| {
        (inner.clone(), proptest::collection::vec(inner, 0..5)).prop_map(|(element, children)| {
            Element {
                children,
                ..element
            }
        })
    });
    proptest::collection::vec(tree, 1..5)
}

fn number(elements: &mut [Element], next: &mut u32) {
    for element in elements {
        *next += 1;
        element.number = *next;
        number(&mut element.children, next);
    }
}

/// One change of a page.
#[derive(Debug, Clone)]
enum Mutation {
    Text(String),
    Check,
    Remove,
    Add(Element),
    /// The identity of an element depends on its name.
    Name(String),
    /// To another place among its siblings.
    Move(usize),
}

fn mutations() -> impl Strategy<Value = Vec<(usize, Mutation)>> {
    let mutation = prop_oneof![
        "[a-d]{0,2}".prop_map(Mutation::Text),
        Just(Mutation::Check),
        Just(Mutation::Remove),
        page().prop_map(|mut page| Mutation::Add(page.remove(0))),
        "[a-d]{0,2}".prop_map(Mutation::Name),
        (0..5_usize).prop_map(Mutation::Move),
    ];
    proptest::collection::vec((0..40_usize, mutation), 1..5)
}

fn count(elements: &[Element]) -> usize {
    elements
        .iter()
        .map(|element| 1 + count(&element.children))
        .sum()
}

fn mutate(elements: &mut Vec<Element>, mut at: usize, mutation: &Mutation, next: &mut u32) {
    for index in 0..elements.len() {
        if at == 0 {
            if let Mutation::Move(place) = mutation {
                let element = elements.remove(index);
                elements.insert((*place).min(elements.len()), element);
                return;
            }
            let element = &mut elements[index];
            match mutation {
                Mutation::Move(_) => {}
                Mutation::Text(text) => element.text.clone_from(text),
                Mutation::Check => element.is_checked = !element.is_checked,
                Mutation::Name(name) => {
                    element.name.clone_from(name);
                    *next += 1;
                    element.number = *next;
                }
                Mutation::Remove => drop(elements.remove(index)),
                Mutation::Add(other) => {
                    let mut added = [other.clone()];
                    number(&mut added, next);
                    let [added] = added;
                    elements.insert(index, added);
                }
            }
            return;
        }
        let inside = 1 + count(&elements[index].children);
        if at < inside {
            return mutate(&mut elements[index].children, at - 1, mutation, next);
        }
        at -= inside;
    }
}

fn facts(elements: &[Element], into: &mut Vec<Value>) {
    for element in elements {
        let children = element.children.len() + usize::from(!element.text.is_empty());
        let states = match element.role {
            "checkbox" => json!({ "checked": element.is_checked }),
            "heading" => json!({ "level": 2 }),
            "link" => json!({ "url": "/x" }),
            _ => json!({}),
        };
        into.push(json!([
            element.role,
            element.name,
            element.number,
            children,
            states
        ]));
        if !element.text.is_empty() {
            into.push(json!(element.text));
        }
        facts(&element.children, into);
    }
}

fn rendered(page: &[Element], layout: Layout) -> Rendered {
    let mut all = vec![json!(["generic", "", 0, page.len()])];
    facts(page, &mut all);
    document("", Value::from(all)).render(&RenderOptions {
        layout,
        depth: None,
    })
}

/// What a snapshot says of each control, by its ref, and how often it has each other text.
fn heads(text: &str, layout: Layout) -> BTreeMap<String, String> {
    let mut said = BTreeMap::new();
    for line in text.lines() {
        for (reference, head) in nodes(line, layout) {
            said.insert(reference, head);
        }
    }
    said
}

/// Returns the refs of a line with the role, name and states before each.
fn nodes(line: &str, layout: Layout) -> Vec<(String, String)> {
    let mut nodes = Vec::new();
    let mut outside = String::new();
    let mut is_quoted = false;
    let mut is_escaped = false;
    for c in line.chars() {
        if c == '"' && !is_escaped {
            is_quoted = !is_quoted;
        }
        is_escaped = c == '\\' && !is_escaped;
        outside.push(if is_quoted && c == ' ' { '\u{a0}' } else { c });
    }
    let words: Vec<&str> = outside
        .split([' ', ':', '|'])
        .filter(|word| !word.is_empty())
        .collect();
    for (at, word) in words.iter().enumerate() {
        let reference = match layout {
            Layout::Full => word
                .strip_prefix("[ref=")
                .and_then(|it| it.strip_suffix(']'))
                .unwrap_or_default(),
            Layout::Compact => word,
        };
        let is_ref = reference
            .strip_prefix('e')
            .is_some_and(|it| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit()));
        if !is_ref {
            continue;
        }
        let mut head: Vec<&str> = words[..at]
            .iter()
            .rev()
            .take_while(|word| word.starts_with(['[', '"']))
            .copied()
            .collect();
        head.retain(|word| *word != "[active]");
        let role = words[..at].iter().rev().nth(head.len());
        head.extend(role);
        head.reverse();
        nodes.push((reference.to_owned(), head.join(" ")));
    }
    nodes
}

/// Returns the numbers of the refs of the items in a list.
fn items(rendered: &Rendered, layout: Layout) -> Vec<String> {
    let lines = rendered.text.lines().map(|line| nodes(line, layout));
    let refs = lines.flatten().map(|(reference, _)| reference);
    refs.filter(|it| it.len() == "e10".len()).collect()
}

/// Puts what moved after the line before it, or before the line after it.
fn reordered(old: &[String], lines: &[String], layout: Layout) -> Vec<String> {
    let mut order = old.to_vec();
    let mut last: Option<String> = None;
    let mut first: Vec<String> = Vec::new();
    for line in lines {
        let Some(reference) = nodes(line, layout).into_iter().map(|(it, _)| it).next() else {
            last = None;
            continue;
        };
        match line.chars().next() {
            Some('>') => {
                order.retain(|it| *it != reference);
                match last
                    .as_ref()
                    .and_then(|last| order.iter().position(|it| it == last))
                {
                    Some(at) => order.insert(at + 1, reference.clone()),
                    None => first.push(reference.clone()),
                }
                last = Some(reference);
            }
            Some(' ') => {
                let at = order.iter().position(|it| *it == reference);
                if let Some(at) = at.filter(|_| !first.is_empty()) {
                    drop(order.splice(at..at, first.drain(..)));
                }
                last = at.map(|_| reference);
            }
            _ => last = None,
        }
    }
    drop(order.splice(0..0, first));
    order
}

#[expect(clippy::disallowed_methods, reason = "tests have no configuration")]
fn cases() -> u32 {
    match std::env::var_os("NIGHTLY") {
        Some(_) => 20_000,
        None => 400,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn a_snapshot_and_its_changes_are_the_next_snapshot(page in page(), mutations in mutations(), is_full in any::<bool>()) {
        let layout = if is_full { Layout::Full } else { Layout::Compact };
        let mut old = page;
        let mut next = 0;
        number(&mut old, &mut next);
        let mut new = old.clone();
        for (at, mutation) in &mutations {
            let elements = count(&new);
            if elements > 0 {
                mutate(&mut new, at % elements, mutation, &mut next);
            }
        }
        let (before, after) = (rendered(&old, layout), rendered(&new, layout));
        let lines = changes(side(&before), side(&after), &Observed::default(), layout, None);
        let context = || format!("{}\n---\n{}\n---\n{}", before.text, after.text, lines.join("\n"));
        let (was, is) = (heads(&before.text, layout), heads(&after.text, layout));
        let mut patched = was.clone();
        // What disappeared with all that was in it, unless it is somewhere else.
        let removed: Vec<&String> = lines.iter().filter(|line| line.starts_with("- ")).collect();
        let mut level = None;
        for line in before.text.lines() {
            let own = line.len() - line.trim_start().len();
            let text = line.trim_start().trim_start_matches("- ").trim_end_matches(':');
            if level.is_some_and(|level| own <= level) {
                level = None;
            }
            let all = nodes(line, layout);
            let is_removed = |reference: &String| removed.iter().any(|it| nodes(it, layout).iter().any(|(it, _)| it == reference));
            let is_first = all.first().is_some_and(|(it, _)| is_removed(it)) || removed.iter().any(|it| text.starts_with(it[2..].trim_start_matches("- ").trim_end_matches('…')));
            for (reference, _) in all {
                if (level.is_some() || is_first || is_removed(&reference)) && !is.contains_key(&reference) {
                    patched.remove(&reference);
                }
            }
            if level.is_none() && is_first {
                level = Some(own);
            }
        }
        for line in lines.iter().filter(|line| line.starts_with(['+', '~'])) {
            for (reference, head) in nodes(&line[2..], layout) {
                let is_known = was.get(&reference) == Some(&head);
                prop_assert!(!line.starts_with('+') || !was.contains_key(&reference), "{} is not new\n{}", reference, context());
                let said = &line[2..];
                let is_alone = nodes(said, layout).len() == 1;
                // A control that did not change has another text or focus, or is the head of what did.
                prop_assert!(!is_known || is_alone || said.contains(": "), "{} did not change\n{}", reference, context());
                // What was rendered again takes the place of the same element with another ref.
                let is_again = line.starts_with('~') && !was.contains_key(&reference);
                let old = patched.iter().find(|(it, old)| is_again && !is.contains_key(*it) && **old == head);
                if let Some(old) = old.map(|(old, _)| old.clone()) {
                    patched.remove(&old);
                }
                patched.insert(reference, head);
            }
        }
        patched.retain(|reference, _| is.contains_key(reference) || !is_full);
        // An element that only groups others is not listed.
        for (reference, head) in is.iter().filter(|(_, head)| *head != "generic") {
            prop_assert_eq!(patched.get(reference), Some(head), "{}\n{}", reference, context());
        }
        for reference in patched.keys() {
            prop_assert!(is.contains_key(reference), "{} is still there\n{}", reference, context());
        }
        // Texts: what the new snapshot has more often is listed, and what it has less often, too.
        if before.text == after.text {
            prop_assert!(lines.is_empty(), "{}", context());
        }
    }

    #[test]
    fn what_moved_is_beside_a_line_that_did_not(
        order in Just((10..22_u32).collect::<Vec<_>>()).prop_shuffle(),
        olds in 0..12_usize,
        news in 0..12_usize,
        is_full in any::<bool>(),
    ) {
        let layout = if is_full { Layout::Full } else { Layout::Compact };
        let list = |numbers: Vec<u32>| {
            let button = |number: u32| Element {
                number,
                role: "button",
                name: format!("b{number}"),
                text: String::new(),
                is_checked: false,
                children: Vec::new(),
            };
            let list = Element {
                role: "list",
                children: numbers.into_iter().map(button).collect(),
                ..button(1)
            };
            rendered(&[list], layout)
        };
        let before = list((10..22).filter(|it| *it < 22 - u32::try_from(news).unwrap_or_default()).collect());
        let after = list(order.into_iter().skip(olds / 2).collect());
        let lines = changes(side(&before), side(&after), &Observed::default(), layout, None);
        let (was, is) = (items(&before, layout), items(&after, layout));
        let kept: Vec<String> = was.iter().filter(|it| is.contains(it)).cloned().collect();
        let now: Vec<String> = is.iter().filter(|it| was.contains(it)).cloned().collect();
        let patched: Vec<String> = reordered(&kept, &lines, layout);
        prop_assert_eq!(&patched, &now, "{}\n---\n{}\n---\n{}", before.text, after.text, lines.join("\n"));
    }
}
