//! Refs in pages that change at random: a call acts on the element that the snapshot described, or fails with `STALE_REF`.

use crate::harness::{eval, on_a_page, soon};
use engine::{Click, Error, Page, SnapshotOptions};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashMap;
use testkit::Engine;
use testkit::harness::input_size;

/// A page with a keyed list, an unkeyed one, a list that shows a part of its rows, and a shadow root; and with the same kinds of lists whose
/// rows have buttons with the same name. It records for each click the element that received it, by a number of its own, and its row.
const PAGE: &str = r#"<!doctype html><title>Lists</title><style>button, [role=link] { margin: 2px }</style>
<main><ul id=keyed aria-label=Keyed></ul><ul id=unkeyed aria-label=Unkeyed></ul><ul id=part aria-label=Part></ul><div id=aside></div><div id=host></div></main>
<ul id=tasks></ul><table><tbody id=goods></tbody></table><div id=visible></div>
<script>
  const names = ['Save', 'Delete', 'Open 1', 'Open 2', 'Rename'];
  const shadow = host.attachShadow({ mode: 'open' });
  const numbers = new WeakMap();
  let last = 0;
  const clicks = [];
  const button = (name) => Object.assign(document.createElement('button'), { type: 'button', textContent: name });
  const item = (name) => { const item = document.createElement('li'); item.append(button(name)); return item; };
  const first = (row) => row.firstChild ?? row.appendChild(button('New'));
  const all = () => [...document.querySelectorAll('main button'), ...shadow.querySelectorAll('button')];
  const facts = (e) => {
    if (!numbers.has(e)) numbers.set(e, ++last);
    const row = e.closest('[data-row]')?.querySelector('.title').textContent ?? '';
    return { number: numbers.get(e), role: e.getAttribute('role') ?? 'button', name: e.textContent, attached: e.isConnected, row };
  };
  const titles = ['Apples', 'Bread', 'Sour cream', 'Dates', 'Brown eggs', 'Figs', 'Grapes', 'Honey', 'Ink', 'Jam', 'Kale', 'Lemons'];
  const draw = (list, html, count) => { list.innerHTML = Array.from({ length: count }, () => html).join(''); };
  const title = (row) => row.querySelector('.title');
  const status = (row) => row.querySelector('.status');
  draw(tasks, '<li data-row><span class=title></span> <i class=status>open</i> <button>Remove</button> <button>Rename</button></li>', 4);
  draw(goods, '<tr data-row><td class=place><td class=title><td class=status>0<td><button>More</button></tr>', 4);
  draw(visible, '<div data-row><div class=cell><b class=title></b></div><div class=cell><em class=status></em><button>Remove</button></div></div>', 3);
  const show = (first) => { for (const [i, row] of [...visible.children].entries()) { title(row).textContent = 'Item ' + (first + i); status(row).textContent = (first + i) % 3 ? 'open' : 'done'; } };
  for (const [i, row] of [...tasks.children].entries()) title(row).textContent = titles[i];
  for (const [i, row] of [...goods.children].entries()) { row.firstChild.textContent = i + 1; title(row).textContent = titles[i]; }
  show(0);
  const unused = (list, n) => { const used = [...list.querySelectorAll('.title')].map((e) => e.textContent); return name(titles.filter((title) => !used.includes(title)), n); };
  document.addEventListener('click', (event) => clicks.push(facts(event.composedPath()[0])), true);
  for (let i = 0; i < 4; i++) {
    keyed.append(item(names[i]));
    unkeyed.append(item(names[i % 2]));
    part.append(item('Row ' + i));
  }
  shadow.append(button('Save'), button('Inside'));
  // What refs named, by ref: the elements are kept for the questions of the test.
  const described = new Map();
  const name = (list, n) => list[n % list.length];
  const changes = [
    // Keyed: the elements move, and stay what they are.
    (n) => { for (const row of [...keyed.children].sort((a, b) => (facts(a).number * n) % 7 - (facts(b).number * n) % 7)) keyed.append(row); },
    // Unkeyed: the elements stay, and become what another was.
    (n) => { const texts = [...unkeyed.children].map((row) => row.textContent); for (const [i, row] of [...unkeyed.children].entries()) first(row).textContent = name(texts, i + n); },
    (n) => { for (const [i, row] of [...part.children].entries()) first(row).textContent = 'Row ' + (n + i); },
    (n) => { keyed.innerHTML = keyed.innerHTML; },
    (n) => { keyed.insertBefore(item(name(names, n)), name([...keyed.children, null], n)); },
    (n) => { if (all().length > 4) name(all(), n).remove(); },
    (n) => { name(all(), n).textContent = name(names, n >> 3); },
    (n) => { const e = name(all(), n); e.replaceWith(e.cloneNode(true)); },
    (n) => { (n % 2 ? aside : shadow).append(name(all(), n)); },
    (n) => { const e = name(all(), n); e.hasAttribute('role') ? e.removeAttribute('role') : e.setAttribute('role', 'link'); },
    // States do not count.
    (n) => { const e = name(all(), n); e.ariaPressed = e.ariaPressed === 'true' ? 'false' : 'true'; e.title = 'step ' + n; },
    // Rows: keyed, unkeyed, in view, with another status or count, renamed, and removed.
    (n) => { for (const row of [...tasks.children].sort((a, b) => (title(a).textContent.charCodeAt(0) * n) % 7 - (title(b).textContent.charCodeAt(0) * n) % 7)) tasks.append(row); },
    (n) => { const rows = [...goods.children].map((row) => [title(row).textContent, status(row).textContent]); for (const [i, row] of [...goods.children].entries()) [title(row).textContent, status(row).textContent] = name(rows, i + n); },
    (n) => show(n),
    (n) => { status(name([...tasks.children], n)).textContent = n % 2 ? 'done' : 'open'; status(name([...goods.children], n)).textContent = n; },
    (n) => { title(name([...tasks.children], n)).textContent = unused(tasks, n); },
    (n) => { if (tasks.children.length > 2) name([...tasks.children], n).remove(); },
  ];
</script>"#;

/// The number of kinds of changes in the page.
const CHANGES: usize = 17;

/// What the page says of an element.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct Facts {
    number: u64,
    role: String,
    name: String,
    attached: bool,
    /// The title of its row; empty without a row.
    row: String,
}

/// The refs of buttons and links in a snapshot, with their roles and names.
fn refs(snapshot: &str) -> Vec<(String, String, String)> {
    let of = |line: &str| {
        let line = line.trim_start().strip_prefix("- ")?;
        let (role, rest) = line.split_once(" \"")?;
        let (name, rest) = rest.split_once('"')?;
        let (_, rest) = rest.split_once("[ref=")?;
        let (reference, _) = rest.split_once(']')?;
        matches!(role, "button" | "link").then(|| (reference.into(), role.into(), name.into()))
    };
    snapshot.lines().filter_map(of).collect()
}

async fn facts(page: &Page, expression: &str) -> Vec<Facts> {
    serde_json::from_value(eval(page, expression).await).unwrap()
}

/// Takes a snapshot, and records which element each of its refs names.
async fn describe(page: &Page, known: &mut HashMap<String, Facts>) {
    let snapshot = page.snapshot(&soon(), &SnapshotOptions::default()).await;
    for (reference, role, name) in refs(&snapshot.unwrap().text) {
        let locator = page.locator(&reference).unwrap();
        let function = format!("(e) => {{ described.set('{reference}', e); return facts(e) }}");
        let of = locator.evaluate(&soon(), &function).await.unwrap();
        let of: Facts = serde_json::from_value(of.unwrap()).unwrap();
        assert_eq!((&of.role, &of.name), (&role, &name), "{reference}");
        let before = known.insert(reference.clone(), of.clone());
        assert!(
            before.is_none_or(|before| before == of),
            "{reference} is of two elements"
        );
    }
}

/// Uses the ref, by a click or a script, and checks what received it.
async fn use_ref(page: &Page, reference: &str, was: &Facts, clicks: bool) {
    eval(page, "clicks.length = 0").await;
    let now = facts(page, &format!("[facts(described.get('{reference}'))]")).await;
    let locator = page.locator(reference).unwrap();
    let used = if clicks {
        locator.click(&soon(), &Click::default()).await
    } else {
        let push = "(e) => { clicks.push(facts(e)) }";
        locator.evaluate(&soon(), push).await.map(drop)
    };
    let received = facts(page, "clicks").await;
    let is_still = now[0] == *was;
    match used {
        Ok(()) => {
            assert!(is_still, "{reference} was {was:?}, is {:?}", now[0]);
            assert_eq!(received, std::slice::from_ref(was), "{reference}");
        }
        Err(Error::StaleRef { facts, .. }) => {
            assert!(!is_still, "{reference} is still {was:?}: {facts:?}");
            assert_eq!(received, [], "{reference}");
            let said = facts.was.as_ref().unwrap();
            assert_eq!((&said.role, &said.name), (&was.role, &was.name));
            // What is offered is there under the ref that is offered.
            if let Some(best) = &facts.best_match {
                let offered = page.locator(best.reference.as_ref().unwrap()).unwrap();
                let of = offered.evaluate(&soon(), "(e) => facts(e)").await.unwrap();
                let of: Facts = serde_json::from_value(of.unwrap()).unwrap();
                assert_eq!((&of.role, &of.name), (&best.role, &best.name));
                assert_ne!(of.number, was.number, "{reference} {facts:?}");
                assert_eq!(of.row, was.row, "{reference} {facts:?}");
            }
        }
        Err(error) => panic!("{reference} of {was:?}: {error}"),
    }
}

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit), slow)]
fn a_ref_names_the_described_element_or_is_stale(engine: Engine) {
    let change = (0..CHANGES, 0usize..40);
    let rounds = prop::collection::vec((prop::collection::vec(change, 1..6), 0usize..4), 1..4);
    let config = Config {
        cases: u32::try_from(input_size(40)).unwrap(),
        max_shrink_iters: 32,
        failure_persistence: None,
        ..Config::default()
    };
    // The same cases in each run: a failure can be repeated.
    let random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let run = TestRunner::new_with_rng(config, random).run(&rounds, |rounds| {
        on_a_page(engine, async |stage| {
            let page = &stage.page;
            stage.show("/", PAGE).await;
            let mut known = HashMap::new();
            for (changes, chosen) in &rounds {
                describe(page, &mut known).await;
                for (change, n) in changes {
                    eval(page, &format!("void changes[{change}]({n})")).await;
                }
                let mut all: Vec<_> = known.iter().collect();
                all.sort_by_key(|(reference, _)| reference.as_str());
                for (index, (reference, was)) in all.into_iter().enumerate() {
                    let clicks = (index + chosen).is_multiple_of(4);
                    use_ref(page, reference, was, clicks).await;
                }
            }
        });
        Ok(())
    });
    if let Err(error) = run {
        panic!("{error}");
    }
}

#[testkit::test(chromium, firefox, webkit)]
fn a_list_that_scrolls_into_view_does_not_receive_the_click_of_another_row(engine: Engine) {
    on_a_page(engine, async |stage| {
        let page = &stage.page;
        // Each row shows another text as soon as the list is scrolled.
        let html = "<div style='height: 2000px'></div><div id=list></div><div style='height: 2000px'></div><script>
            const chosen = [];
            const draw = (first) => { list.innerHTML ||= '<button></button><br>'.repeat(5); [...list.querySelectorAll('button')].forEach((row, i) => { row.textContent = 'Row ' + (first + i); row.onclick = () => chosen.push(row.textContent); }); };
            draw(0);
            addEventListener('scroll', () => draw(5));
        </script>";
        stage.show("/", html).await;
        let snapshot = page.snapshot(&soon(), &SnapshotOptions::default()).await;
        let rows = refs(&snapshot.unwrap().text);
        let (reference, ..) = rows.iter().find(|(.., name)| name == "Row 2").unwrap();
        let locator = page.locator(reference).unwrap();
        let error = locator.click(&soon(), &Click::default()).await.unwrap_err();
        let Error::StaleRef { facts, .. } = &error else {
            panic!("{error}");
        };
        assert_eq!(facts.was.as_ref().unwrap().name, "Row 2");
        assert_eq!(eval(page, "chosen").await, Value::Array(Vec::new()));
    });
}
