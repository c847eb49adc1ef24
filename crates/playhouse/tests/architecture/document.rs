//! The tables of ARCHITECTURE.md.

use std::collections::BTreeSet;

/// The parsed tables.
#[derive(Debug, Default)]
pub(crate) struct Document {
    tables: Vec<Table>,
    /// The tests named by the invariants.
    pub(crate) tests: Vec<String>,
}

/// The layers of a crate, or of a folder in it.
#[derive(Debug)]
pub(crate) struct Table {
    /// The crate's name.
    pub(crate) krate: String,
    /// The folder whose modules the table lists; `None`: the crate.
    pub(crate) folder: Option<String>,
    /// The rows, lowest first.
    pub(crate) layers: Vec<Layer>,
}

/// One row of a layer table.
#[derive(Debug)]
pub(crate) struct Layer {
    /// A module such as `snapshot`, or a nested module such as `backend/cdp`.
    pub(crate) module: String,
    pub(crate) may_use: BTreeSet<String>,
}

impl Document {
    /// Parses the document: a heading with a crate's name in backticks begins its table, one below it with a folder's name the table of
    /// that folder; the heading `Invariants` begins the tests.
    pub(crate) fn parse(text: &str) -> Self {
        let (mut document, mut section, mut folder) = (Self::default(), String::new(), None);
        for line in text.lines() {
            if let Some(heading) = line.strip_prefix("## ") {
                section = spans(heading).next().unwrap_or(heading).to_owned();
                folder = None;
            } else if let Some(heading) = line.strip_prefix("### ") {
                folder = spans(heading).next().map(str::to_owned);
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
                let layer = Layer {
                    module: module.to_owned(),
                    may_use,
                };
                match document.tables.last_mut() {
                    Some(table) if table.krate == section && table.folder == folder => {
                        table.layers.push(layer);
                    }
                    _ => document.tables.push(Table {
                        krate: section.clone(),
                        folder: folder.clone(),
                        layers: vec![layer],
                    }),
                }
            }
        }
        document
    }

    /// Returns the tables of a crate: its own, then those of its folders.
    pub(crate) fn tables(&self, krate: &str) -> Vec<&Table> {
        let tables: Vec<_> = self.tables.iter().filter(|it| it.krate == krate).collect();
        assert!(
            tables.first().is_some_and(|table| table.folder.is_none()),
            "ARCHITECTURE.md has no layer table for `{krate}`"
        );
        tables
    }
}

impl Table {
    /// Returns the row of a module: the one with the longest matching path. In a folder's table, the row with the folder's name stands for
    /// the rest of the folder. `None`: the module is not in this table.
    pub(crate) fn row_of(&self, module: &[String]) -> Option<&Layer> {
        let module = match (&self.folder, module.split_first()) {
            (None, _) => module,
            (Some(folder), Some((first, rest))) if first == folder => rest,
            (Some(_), _) => return None,
        };
        let row = |name: &str| self.layers.iter().find(|layer| layer.module == name);
        let named = (1..=module.len())
            .rev()
            .find_map(|length| row(&module[..length].join("/")));
        named.or_else(|| self.folder.as_deref().and_then(row))
    }

    /// Returns the name of a used module in rows: its row, or for a folder's table the folder that contains it.
    pub(crate) fn name_of<'m>(&'m self, module: &'m [String]) -> Option<&'m str> {
        let row = self.row_of(module).map(|row| row.module.as_str());
        row.or_else(|| self.folder.as_ref().and(module.first()).map(String::as_str))
    }

    /// Returns the path of a row's module from the crate's root.
    pub(crate) fn path_of(&self, layer: &Layer) -> String {
        match &self.folder {
            Some(folder) if *folder != layer.module => format!("{folder}/{}", layer.module),
            _ => layer.module.clone(),
        }
    }
}

/// Returns the texts in backticks.
fn spans(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

#[test]
fn tables_are_read() {
    let text = "## Layers of `engine`\n\n| module | may use |\n|---|---|\n| `error` | |\n| `backend/cdp` | `error` `wire` |\n\
                ### Inside `page`\n| `frames` | `error` |\n| `page` | `frames` |\n\
                ## Invariants\n| what | test |\n|---|---|\n| stdout is clean | `stdout_is_clean` |\n";
    let document = Document::parse(text);
    let [top, page] = document.tables("engine")[..] else {
        panic!("{document:?}");
    };
    assert_eq!(
        top.layers[1].may_use,
        ["error", "wire"].map(str::to_owned).into()
    );
    let path = |text: &str| -> Vec<String> { text.split('/').map(str::to_owned).collect() };
    let row = |table: &Table, module: &str| {
        let row = table.row_of(&path(module));
        row.map(|row| row.module.clone())
    };
    assert_eq!(row(top, "backend/cdp/page").as_deref(), Some("backend/cdp"));
    assert_eq!(row(top, "backend"), None);
    assert_eq!(row(page, "page/frames/tree").as_deref(), Some("frames"));
    assert_eq!(row(page, "page/title").as_deref(), Some("page"));
    assert_eq!(row(page, "error"), None);
    assert_eq!(page.name_of(&path("error/advice")), Some("error"));
    assert_eq!(document.tests, ["stdout_is_clean"]);
}
