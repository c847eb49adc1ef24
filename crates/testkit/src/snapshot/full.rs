//! The full layout: aria YAML.

use super::{FIELDS, Node, Part};

/// Reads a full snapshot.
pub fn parse(text: &str) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    // The indentation and the part of each open node.
    let mut open: Vec<(usize, usize)> = Vec::new();
    for line in text.lines() {
        let indent = line.len() - line.trim_start().len();
        while open.last().is_some_and(|(outer, _)| *outer >= indent) {
            open.pop();
        }
        let (key, value) = entry(line[indent..].strip_prefix("- ").expect("an item"));
        let parent = open.last().map(|(_, index)| *index);
        match key.as_str() {
            "text" => add_text(&mut parts, parent, value.unwrap_or_default()),
            "/url" | "/placeholder" => {
                let Some(Part::Node(node)) = parent.and_then(|index| parts.get_mut(index)) else {
                    panic!("a property without a node: {line}");
                };
                let value = value.unwrap_or_default();
                match key.as_str() {
                    "/url" => node.has_url = true,
                    _ => drop(node.states.insert(format!("placeholder={value:?}"))),
                }
            }
            _ => {
                // A field with more than a text in it has no value.
                if let Some(Part::Node(node)) = parent.and_then(|index| parts.get_mut(index)) {
                    node.value = None;
                }
                open.push((indent, parts.len()));
                parts.push(Part::Node(node(&key)));
                if let Some(value) = value {
                    let index = parts.len() - 1;
                    add_text(&mut parts, Some(index), value);
                }
            }
        }
    }
    parts
}

fn add_text(parts: &mut Vec<Part>, parent: Option<usize>, text: String) {
    let is_first = parent.is_some_and(|index| index + 1 == parts.len());
    if let Some(Part::Node(node)) = parent.and_then(|index| parts.get_mut(index))
        && is_first
        && FIELDS.contains(&&*node.role)
    {
        node.value = Some(text.clone());
    }
    parts.push(Part::Text(text));
}

/// Splits an item into its key and its value, without their quotes.
fn entry(item: &str) -> (String, Option<String>) {
    let (key, rest) = match item.strip_prefix('\'') {
        Some(quoted) => {
            let mut key = String::new();
            let mut rest = quoted;
            loop {
                let end = rest.find('\'').expect("a closing quote");
                key.push_str(&rest[..end]);
                rest = &rest[end + 1..];
                match rest.strip_prefix('\'') {
                    Some(more) => {
                        key.push('\'');
                        rest = more;
                    }
                    None => break (key, rest),
                }
            }
        }
        None => match item.find(": ") {
            Some(end) => (item[..end].to_owned(), &item[end..]),
            None => (item.strip_suffix(':').unwrap_or(item).to_owned(), ""),
        },
    };
    (key, rest.strip_prefix(": ").map(scalar))
}

fn scalar(value: &str) -> String {
    match value.strip_prefix('"') {
        Some(_) => {
            let json = value.replace("\\x", "\\u00");
            serde_json::from_str(&json).unwrap_or_else(|_| panic!("not a scalar: {value}"))
        }
        None => value.to_owned(),
    }
}

fn node(key: &str) -> Node {
    let end = key.find(' ').unwrap_or(key.len());
    let (role, mut rest) = key.split_at(end);
    let mut node = Node {
        role: role.to_owned(),
        ..Node::default()
    };
    if rest.starts_with(" \"") {
        let mut names = serde_json::Deserializer::from_str(rest).into_iter::<String>();
        node.name = Some(names.next().expect("a name").expect("a name in quotes"));
        rest = &rest[names.byte_offset()..];
    }
    for state in rest.split('[').skip(1) {
        let state = state.trim_end().trim_end_matches(']');
        match state.strip_prefix("ref=") {
            Some(reference) => node.reference = Some(reference.to_owned()),
            None if state == "cursor=pointer" => node.is_clickable = true,
            None => drop(node.states.insert(state.to_owned())),
        }
    }
    node
}
