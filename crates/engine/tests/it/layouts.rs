//! The layouts of snapshots: the compact one holds what the full one holds.

use crate::harness::{goto, on_a_page, soon};
use engine::{Layout, Page, SnapshotOptions};
use std::path::Path;
use testkit::snapshot::contains;
use testkit::{Engine, spec_cases};

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

async fn snapshot(page: &Page, layout: Layout) -> String {
    let options = SnapshotOptions {
        layout,
        ..SnapshotOptions::default()
    };
    page.snapshot(&soon(), &options).await.unwrap().text
}

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit))]
fn compact_snapshots_of_fixture_pages_hold_what_full_ones_hold(engine: Engine) {
    on_a_page(engine, async |stage| {
        let cases = spec_cases(Path::new(REPOSITORY).join("crates/engine/tests/spec/snapshot"));
        let mut pages: Vec<(String, String)> = Vec::new();
        for (number, case) in cases.iter().enumerate() {
            let Some(start) = &case.start else { continue };
            pages.push((format!("{number} {}", case.name), start.clone()));
        }
        let shop = Path::new(REPOSITORY).join("examples/shop");
        for file in std::fs::read_dir(shop).unwrap() {
            let name = file.unwrap().file_name().into_string().unwrap();
            if name.ends_with(".html") {
                pages.push((name.clone(), format!("/shop/{name}")));
            }
        }
        assert!(pages.len() > 80, "{} pages", pages.len());
        let mut lost = Vec::new();
        for (name, path) in pages {
            let number = name
                .split(' ')
                .next()
                .and_then(|it| it.parse::<usize>().ok());
            if let Some(case) = number.and_then(|number| cases.get(number)) {
                case.add_pages(&stage.site);
            }
            goto(&stage.page, &stage.site.url(&path)).await;
            // A page that changes meanwhile is read again.
            let mut same = Err(String::new());
            for _ in 0..3 {
                let full = snapshot(&stage.page, Layout::Full).await;
                let compact = snapshot(&stage.page, Layout::Compact).await;
                same = contains(&compact, &full)
                    .map_err(|lost| format!("{name}: {lost}\n{full}\n\n{compact}\n"));
                if same.is_ok() {
                    break;
                }
            }
            lost.extend(same.err());
        }
        assert!(lost.is_empty(), "{}", lost.join("\n"));
    });
}
