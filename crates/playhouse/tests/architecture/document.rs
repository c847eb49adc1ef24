//! The tables of ARCHITECTURE.md.

use std::collections::{BTreeMap, BTreeSet};

/// What the tables say.
#[derive(Debug, Default)]
pub(crate) struct Document {
    layers: BTreeMap<String, Vec<Layer>>,
    /// The tests that the invariants name.
    pub(crate) tests: Vec<String>,
}

/// One row of a layer table.
#[derive(Debug)]
pub(crate) struct Layer {
    /// A module such as `snapshot`, or a module in a module such as `backend/cdp`.
    pub(crate) module: String,
    pub(crate) may_use: BTreeSet<String>,
}

impl Document {
    /// A heading with a crate's name in backticks begins its table; the heading `Invariants` the tests.
    pub(crate) fn parse(text: &str) -> Self {
        let (mut document, mut section) = (Self::default(), String::new());
        for line in text.lines() {
            if let Some(heading) = line.strip_prefix("## ") {
                section = spans(heading).next().unwrap_or(heading).to_owned();
            }
            let Some(row) = line.strip_prefix("| ") else {
                continue;
            };
            if section == "Invariants" {
                let cell = row
                    .trim_end_matches('|')
                    .rsplit('|')
                    .next()
                    .unwrap_or_default();
                document.tests.extend(spans(cell).map(str::to_owned));
            } else if row.starts_with('`') {
                let mut cells = row.split('|');
                let module = cells
                    .next()
                    .and_then(|cell| spans(cell).next())
                    .expect("a row begins with a module");
                let may_use = cells
                    .next()
                    .map(|cell| spans(cell).map(str::to_owned).collect())
                    .unwrap_or_default();
                document
                    .layers
                    .entry(section.clone())
                    .or_default()
                    .push(Layer {
                        module: module.to_owned(),
                        may_use,
                    });
            }
        }
        document
    }

    /// The layers of a crate, lowest first.
    pub(crate) fn layers(&self, krate: &str) -> &[Layer] {
        self.layers
            .get(krate)
            .unwrap_or_else(|| panic!("ARCHITECTURE.md has no layer table for `{krate}`"))
    }
}

/// The row that a module belongs to: the one that names most of its path.
pub(crate) fn row_of<'d>(layers: &'d [Layer], module: &[String]) -> Option<&'d Layer> {
    (1..=module.len()).rev().find_map(|length| {
        let name = module[..length].join("/");
        layers.iter().find(|layer| layer.module == name)
    })
}

/// What stands in backticks.
fn spans(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

#[test]
fn tables_are_read() {
    let text = "## Layers of `engine`\n\n| module | may use |\n|---|---|\n| `error` | |\n| `backend/cdp` | `error` `wire` |\n\
                ## Invariants\n| what | test |\n|---|---|\n| stdout is clean | `stdout_is_clean` |\n";
    let document = Document::parse(text);
    let layers = document.layers("engine");
    assert_eq!(
        layers[1].may_use,
        ["error", "wire"].map(str::to_owned).into()
    );
    let path = ["backend", "cdp", "page"].map(str::to_owned);
    assert_eq!(
        row_of(layers, &path).map(|row| row.module.as_str()),
        Some("backend/cdp")
    );
    assert!(row_of(layers, &path[..1]).is_none());
    assert_eq!(document.tests, ["stdout_is_clean"]);
}
