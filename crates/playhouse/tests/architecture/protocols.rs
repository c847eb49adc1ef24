//! The protocol types of `wire`: all commands are sent, and all events are handled.

use std::collections::{BTreeMap, BTreeSet};

use crate::paths::paths_in;

/// The macros that declare commands and events.
const DECLARATIONS: [&str; 4] = [
    "command!(",
    "event!(",
    "navigation_event!(",
    "request_event!(",
];

/// A command or an event: its module and its name.
pub(crate) type Declared = (String, String);

/// Returns the declarations in the code of a module.
pub(crate) fn declared(module: &str, code: &str) -> Vec<Declared> {
    let lines = code.match_indices('\n').map(|(at, _)| &code[at + 1..]);
    let bodies = lines.filter_map(|line| {
        DECLARATIONS
            .iter()
            .find_map(|macro_name| line.strip_prefix(macro_name))
    });
    bodies
        .map(|body| {
            let name: String = body.trim_start().chars().take_while(is_of_word).collect();
            (module.to_owned(), name)
        })
        .collect()
}

/// Returns the declarations that no user names. A name that several modules declare counts as used if it is preceded by its module.
pub(crate) fn unused<'a>(declared: &'a [Declared], users: &[String]) -> Vec<&'a Declared> {
    let mut modules: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, name) in declared {
        *modules.entry(name).or_default() += 1;
    }
    let words: BTreeSet<&str> = users
        .iter()
        .flat_map(|code| code.split(|c| !is_of_word(&c)))
        .collect();
    let paths: BTreeSet<_> = users.iter().flat_map(|code| paths_in(code)).collect();
    let qualified: BTreeSet<_> = paths.iter().flat_map(|path| path.windows(2)).collect();
    let is_used = |(module, name): &Declared| match modules[name.as_str()] {
        1 => words.contains(name.as_str()),
        _ => qualified.contains(&[module.clone(), name.clone()][..]),
    };
    declared.iter().filter(|entry| !is_used(entry)).collect()
}

fn is_of_word(c: &char) -> bool {
    c.is_alphanumeric() || *c == '_'
}

#[test]
fn a_command_without_a_sender_is_found() {
    let code = "\ncommand!(\n    Enable,\n    \"\",\n    Empty\n);\nevent!(Loaded, \"\");\n";
    let declared = [declared("page", code), declared("network", code)].concat();
    let users = ["page::Enable {}".to_owned(), "network::Loaded".to_owned()];
    let unused = unused(&declared, &users);
    let unused: Vec<_> = unused
        .iter()
        .map(|(module, name)| format!("{module}::{name}"))
        .collect();
    assert_eq!(unused, ["page::Loaded", "network::Enable"]);
}
