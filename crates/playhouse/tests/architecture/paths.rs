//! The paths in code: expanded `use` trees, and paths in expressions and types.

use std::collections::BTreeSet;

/// The target of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Used {
    /// Another crate.
    Crate(String),
    /// A module of this crate: names from the crate's root, with the rest of the path.
    Module(Vec<String>),
}

/// Returns every path of at least two segments, as written.
pub(crate) fn paths_in(code: &str) -> BTreeSet<Vec<String>> {
    let tokens = tokens(code);
    let (mut found, mut at) = (BTreeSet::new(), 0);
    while at < tokens.len() {
        // `use<'a>` in a type is a precise capture and not a path.
        if tokens[at] == "use" && tokens.get(at + 1) != Some(&"<") {
            at = use_tree(&tokens, at + 1, &[], &mut found);
        } else if is_word(tokens[at]) && tokens.get(at + 1) == Some(&"::") {
            at = plain_path(&tokens, at, &mut found);
        } else {
            at += 1;
        }
    }
    found
}

fn plain_path(tokens: &[&str], mut at: usize, found: &mut BTreeSet<Vec<String>>) -> usize {
    let mut path = vec![tokens[at].to_owned()];
    while tokens.get(at + 1) == Some(&"::") && tokens.get(at + 2).is_some_and(|next| is_word(next))
    {
        path.push(tokens[at + 2].to_owned());
        at += 2;
    }
    found.insert(path);
    at + 1
}

/// Parses one branch of a `use` tree, up to the `,`, `}` or `;` that ends it.
fn use_tree(
    tokens: &[&str],
    mut at: usize,
    prefix: &[String],
    found: &mut BTreeSet<Vec<String>>,
) -> usize {
    let mut path = prefix.to_vec();
    while let Some(&token) = tokens.get(at) {
        match token {
            "{" => {
                at += 1;
                while !matches!(tokens.get(at), None | Some(&("}" | ";"))) {
                    at = use_tree(tokens, at, &path, found);
                    at += usize::from(tokens.get(at) == Some(&","));
                }
                return at + 1;
            }
            "," | "}" | ";" => break,
            "as" => at += 2,
            word => {
                if is_word(word) {
                    path.push(word.to_owned());
                }
                at += 1;
            }
        }
    }
    if !path.is_empty() {
        found.insert(path);
    }
    at
}

/// Returns the words of code.
pub(crate) fn words(code: &str) -> impl Iterator<Item = &str> {
    tokens(code).into_iter().filter(|token| is_word(token))
}

/// Returns words, `::`, and single characters.
fn tokens(code: &str) -> Vec<&str> {
    let (mut found, mut rest) = (Vec::new(), code.trim_start());
    while let Some(first) = rest.chars().next() {
        let length = match first {
            _ if is_word_part(first) => rest.find(|c| !is_word_part(c)).unwrap_or(rest.len()),
            ':' if rest.starts_with("::") => 2,
            _ => first.len_utf8(),
        };
        found.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    found
}

fn is_word_part(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

fn is_word(token: &str) -> bool {
    token.starts_with(is_word_part)
}

#[test]
fn use_trees_are_spread_out() {
    let code = "use crate::{a::{B, c::d}, e as f, g::*}; fn x() -> super::Y { wire::cdp::Z::new() } fn y<'a>() -> impl Z + use<'a> { w(); } pub use h::I;";
    let found: Vec<_> = paths_in(code)
        .into_iter()
        .map(|path| path.join("::"))
        .collect();
    let expected = [
        "crate::a::B",
        "crate::a::c::d",
        "crate::e",
        "crate::g",
        "h::I",
        "super::Y",
        "wire::cdp::Z::new",
    ];
    assert_eq!(found, expected);
}
