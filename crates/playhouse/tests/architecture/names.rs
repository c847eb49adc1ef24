//! The words of names: concepts of the specifications have the terms of the specifications (docs/glossary.md).

/// Words that are not allowed in names: docs/glossary.md has the term of the specifications for each.
pub(crate) const DENIED: [&str; 53] = [
    "aftermath",
    "alone",
    "anybody",
    "arrival",
    "arrivals",
    "asked",
    "board",
    "brake",
    "census",
    "crooked",
    "crowd",
    "deed",
    "departure",
    "desk",
    "dialect",
    "door",
    "ears",
    "eyes",
    "fleet",
    "gate",
    "glance",
    "halt",
    "halted",
    "heard",
    "lend",
    "lent",
    "look",
    "looked",
    "looks",
    "lull",
    "news",
    "nobody",
    "obey",
    "oracle",
    "patience",
    "picture",
    "pictures",
    "place",
    "places",
    "questions",
    "rescue",
    "said",
    "says",
    "scratch",
    "seat",
    "somebody",
    "spelling",
    "stranger",
    "tell",
    "tells",
    "told",
    "trouble",
    "wish",
];

/// The keywords that declare a name.
const KEYWORDS: [&str; 6] = ["fn", "struct", "enum", "trait", "mod", "type"];

/// Returns every name that the code declares.
pub(crate) fn declared(code: &str) -> Vec<&str> {
    let tokens = code.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    let tokens: Vec<&str> = tokens.filter(|token| !token.is_empty()).collect();
    let pairs = tokens.windows(2);
    let names = pairs.filter(|pair| KEYWORDS.contains(&pair[0]));
    names.map(|pair| pair[1]).collect()
}

/// Returns the words of a name in snake case or camel case, in lower case.
pub(crate) fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut is_new = true;
    for c in name.chars() {
        if c == '_' {
            is_new = true;
            continue;
        }
        match words.last_mut() {
            Some(word) if !is_new && !c.is_uppercase() => word.push(c),
            _ => words.push(c.to_lowercase().collect()),
        }
        is_new = false;
    }
    words
}

#[test]
fn names_are_found_and_split_into_words() {
    let code = "pub(crate) fn is_told() {} struct FooBar<T>; impl FooBar { fn new() {} }";
    assert_eq!(declared(code), ["is_told", "FooBar", "new"]);
    let words: Vec<_> = declared(code).into_iter().flat_map(words).collect();
    assert_eq!(words, ["is", "told", "foo", "bar", "new"]);
}
