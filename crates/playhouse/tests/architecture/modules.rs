//! The files of a crate, found by their `mod` declarations, and the modules that each of them uses.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::paths::{Used, paths_in};
use crate::source::{code_of, module_lines, without_tests};

pub(crate) struct Crate {
    pub(crate) name: String,
    pub(crate) source: PathBuf,
    pub(crate) files: Vec<File>,
    /// The names that the crate's root re-exports, and their origins.
    exports: BTreeMap<String, Vec<String>>,
}

pub(crate) struct File {
    pub(crate) path: PathBuf,
    /// The module path from the crate's root; empty for the root itself.
    pub(crate) module: Vec<String>,
    /// Whether only tests compile it.
    pub(crate) is_test: bool,
    code: String,
    children: Vec<String>,
}

impl File {
    /// Returns the code without tests, comments and string literals.
    pub(crate) fn code(&self) -> &str {
        &self.code
    }
}

impl Crate {
    pub(crate) fn read(name: &str, source: &Path) -> Self {
        let mut files = Vec::new();
        for root in ["lib.rs", "main.rs"] {
            if source.join(root).is_file() {
                walk(&source.join(root), source, Vec::new(), false, &mut files);
            }
        }
        let mut exports = BTreeMap::new();
        for file in files.iter().filter(|file| file.path.ends_with("lib.rs")) {
            for mut path in paths_in(&file.code) {
                if path
                    .first()
                    .is_some_and(|first| first == "crate" || first == "self")
                {
                    path.remove(0);
                }
                if let (Some(name), Some(first)) = (path.last().cloned(), path.first())
                    && file.children.contains(first)
                {
                    exports.insert(name, path);
                }
            }
        }
        Self {
            name: name.to_owned(),
            source: source.to_owned(),
            files,
            exports,
        }
    }

    /// Returns what a file uses outside of tests.
    pub(crate) fn used_by(&self, file: &File) -> BTreeSet<Used> {
        paths_in(&file.code)
            .into_iter()
            .filter_map(|path| self.resolve(file, path))
            .collect()
    }

    /// Returns the target of a path in a file; `None` for a name of the file itself.
    pub(crate) fn resolve(&self, file: &File, path: Vec<String>) -> Option<Used> {
        let (first, rest) = path.split_first()?;
        let absolute = match first.as_str() {
            "crate" => rest.to_vec(),
            "self" => [file.module.as_slice(), rest].concat(),
            "super" => {
                let ups = path
                    .iter()
                    .take_while(|segment| *segment == "super")
                    .count();
                let base = &file.module[..file.module.len().saturating_sub(ups)];
                [base, &path[ups..]].concat()
            }
            _ if file.children.contains(first) => [file.module.as_slice(), &path].concat(),
            _ => return (!rest.is_empty()).then(|| Used::Crate(first.clone())),
        };
        let top = absolute.first()?;
        let through_the_root = self.exports.get(top).filter(|_| {
            !self
                .files
                .iter()
                .any(|file| file.module.first() == Some(top))
        });
        Some(Used::Module(through_the_root.cloned().unwrap_or(absolute)))
    }
}

fn walk(path: &Path, folder: &Path, module: Vec<String>, is_test: bool, files: &mut Vec<File>) {
    let text =
        fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let (code, test_modules) = without_tests(&code_of(&text));
    let children = module_lines(&code);
    let below = children
        .iter()
        .map(|name| (name, is_test))
        .chain(test_modules.iter().map(|name| (name, true)));
    let below: Vec<_> = below
        .map(|(name, is_test)| (name.clone(), is_test))
        .collect();
    files.push(File {
        path: path.to_owned(),
        module: module.clone(),
        is_test,
        code,
        children,
    });
    for (name, is_test) in below {
        walk(
            &folder.join(&name).with_extension("rs"),
            &folder.join(&name),
            [module.clone(), vec![name]].concat(),
            is_test,
            files,
        );
    }
}
