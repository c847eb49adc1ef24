//! Files of a crate that use each other. Uses of parent modules do not count, because a part of a module may use the whole.

use std::collections::{BTreeMap, BTreeSet};

use crate::modules::{Crate, File};
use crate::paths::{Used, paths_in, words};

/// The module of a file: `backend/cdp/page`; empty for the crate's root.
type Name = String;

/// Returns the groups of files that use each other, each in alphabetical order.
pub(crate) fn cycles(krate: &Crate) -> Vec<Vec<Name>> {
    let sources = Sources::read(krate);
    let edges: BTreeMap<Name, BTreeSet<Name>> = sources
        .files
        .iter()
        .map(|(name, source)| (name.clone(), sources.used_by(krate, source)))
        .collect();
    groups(&edges)
}

/// Returns the groups of nodes that reach each other, each in alphabetical order.
pub(crate) fn groups(edges: &BTreeMap<Name, BTreeSet<Name>>) -> Vec<Vec<Name>> {
    let reachable: BTreeMap<&Name, BTreeSet<&Name>> = edges
        .keys()
        .map(|name| (name, reachable_from(name, edges)))
        .collect();
    let mut groups = BTreeSet::new();
    for (name, others) in &reachable {
        let group: Vec<Name> = others
            .iter()
            .filter(|other| reachable[**other].contains(*name))
            .map(|other| (*other).clone())
            .collect();
        if group.len() > 1 {
            groups.insert(group);
        }
    }
    groups.into_iter().collect()
}

fn reachable_from<'e>(
    name: &'e Name,
    edges: &'e BTreeMap<Name, BTreeSet<Name>>,
) -> BTreeSet<&'e Name> {
    let (mut found, mut next) = (BTreeSet::new(), vec![name]);
    while let Some(at) = next.pop() {
        for used in edges.get(at).into_iter().flatten() {
            if found.insert(used) {
                next.push(used);
            }
        }
    }
    found
}

/// The files of a crate without tests.
struct Sources<'c> {
    files: BTreeMap<Name, Source<'c>>,
}

struct Source<'c> {
    file: &'c File,
    /// The code without re-exports, which are for other modules.
    code: String,
    /// The re-exports: the last name of each path, and the path from the crate's root.
    exports: Vec<(String, Vec<String>)>,
}

impl<'c> Sources<'c> {
    fn read(krate: &'c Crate) -> Self {
        let files = krate.files.iter().filter(|file| !file.is_test);
        let files = files.map(|file| {
            let (code, statements) = without_exports(file.code());
            let exports = paths_in(&statements).into_iter().filter_map(|path| {
                match krate.resolve(file, path)? {
                    Used::Module(path) => Some((path.last()?.clone(), path)),
                    Used::Crate(_) => None,
                }
            });
            let exports = exports.collect();
            let source = Source {
                file,
                code,
                exports,
            };
            (file.module.join("/"), source)
        });
        Self {
            files: files.collect(),
        }
    }

    fn used_by(&self, krate: &Crate, source: &Source<'_>) -> BTreeSet<Name> {
        let mut used = BTreeSet::new();
        let mut add = |path: &[String]| {
            if let Some(name) = self.file_of(path, 0) {
                used.insert(name);
            }
        };
        for path in paths_in(&source.code) {
            if let Some(Used::Module(path)) = krate.resolve(source.file, path) {
                add(&path);
            }
        }
        // A file may also use its re-exports.
        let words: BTreeSet<&str> = words(&source.code).collect();
        for (name, path) in &source.exports {
            if words.contains(name.as_str()) {
                add(path);
            }
        }
        // A file may use declarations of its parent modules.
        let own = format!("{}/", source.file.module.join("/"));
        used.retain(|name| !name.is_empty() && !own.starts_with(&format!("{name}/")));
        used
    }

    /// Returns the file that declares the target of a path, following re-exports.
    fn file_of(&self, path: &[String], depth: usize) -> Option<Name> {
        let length = (0..=path.len())
            .rev()
            .find(|&length| self.files.contains_key(&path[..length].join("/")))?;
        let name = path[..length].join("/");
        let Some(item) = path.get(length) else {
            return Some(name);
        };
        let mut exports = self.files[&name].exports.iter();
        let target = exports.find(|(exported, _)| exported == item);
        match target {
            Some((_, target)) if depth < 8 => {
                let rest = &path[length + 1..];
                self.file_of(&[target.as_slice(), rest].concat(), depth + 1)
            }
            _ => Some(name),
        }
    }
}

/// Splits code into the part without `pub use` statements, and those.
fn without_exports(code: &str) -> (String, String) {
    let (mut kept, mut exports) = (String::new(), String::new());
    for statement in code.split_inclusive(';') {
        let exported = statement.match_indices("pub").find(|(at, _)| {
            let rest = statement[at + "pub".len()..].trim_start();
            let scope = rest.strip_prefix('(').and_then(|rest| rest.split_once(')'));
            let rest = scope.map_or(rest, |(_, rest)| rest.trim_start());
            rest.strip_prefix("use")
                .is_some_and(|rest| rest.starts_with(char::is_whitespace))
        });
        let (before, export) = statement.split_at(exported.map_or(statement.len(), |(at, _)| at));
        kept.push_str(before);
        exports.push_str(export);
    }
    (kept, exports)
}

#[test]
fn re_exports_are_not_uses() {
    let code = "mod a; pub(crate) use a::B; pub use c::{D, e::F}; use g::H; fn i() { j::k(); }";
    let (kept, exports) = without_exports(code);
    assert!(kept.contains("use g::H") && kept.contains("j::k") && !kept.contains("a::B"));
    assert!(exports.contains("a::B") && exports.contains("e::F") && !exports.contains("H"));
}
