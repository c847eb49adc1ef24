//! The compact layout, as `snapshot/compact.rs` of the engine defines it.

use super::{FIELDS, Node, Part, ROLES};

type Parsed<T> = Result<T, String>;

/// Reads a compact snapshot.
///
/// # Errors
/// The first line that the grammar does not have.
pub fn parse(text: &str) -> Parsed<Vec<Part>> {
    let mut parts = Vec::new();
    for line in text.lines() {
        let mut reader = Reader {
            rest: line.trim_start_matches(' '),
            parts: &mut parts,
        };
        reader
            .line()
            .map_err(|reason| format!("{reason} in {line:?}"))?;
    }
    Ok(parts)
}

struct Reader<'a, 'p> {
    rest: &'a str,
    parts: &'p mut Vec<Part>,
}

impl<'a> Reader<'a, '_> {
    fn line(&mut self) -> Parsed<()> {
        let marks = self.rest.len() - self.rest.trim_start_matches('#').len();
        if self.rest == "-" {
            return Ok(());
        }
        if self.eat("- ") {
            return self.body();
        }
        if marks > 0 && self.rest[marks..].starts_with(' ') {
            self.rest = &self.rest[marks + 1..];
            return self.body();
        }
        match self.begins_with_cells() {
            true => self.cells(),
            false => self.body(),
        }
    }

    fn body(&mut self) -> Parsed<()> {
        if !self.begins_with_role() {
            return self.sequence();
        }
        let index = self.node()?;
        if self.rest.is_empty() {
            return Ok(());
        }
        if !self.eat(": ") {
            return self.sequence();
        }
        if self.begins_with_cells() {
            return self.cells();
        }
        let first = self.parts.len();
        self.sequence()?;
        if let [Part::Text(text)] = &self.parts[first..] {
            let text = text.clone();
            self.set_value(index, text);
        }
        Ok(())
    }

    /// Reads the cells of a row. Empty ones at the end are omitted.
    fn cells(&mut self) -> Parsed<()> {
        self.eat("|");
        let line = self.rest;
        let mut cells = Vec::new();
        let (mut from, mut is_quoted, mut is_escaped) = (0, false, false);
        for (at, c) in line.char_indices() {
            match c {
                _ if is_escaped => is_escaped = false,
                '\\' if is_quoted => is_escaped = true,
                // Quotes begin texts and names; within a bare text they are characters.
                '"' if is_quoted || line[..at].ends_with([' ', '=']) => is_quoted = !is_quoted,
                '|' if !is_quoted && !is_in_options(&line[from..at]) => {
                    cells.push(line[from..at].trim());
                    from = at + 1;
                }
                _ => {}
            }
        }
        cells.push(line[from..].trim());
        for cell in cells.into_iter().filter(|cell| !cell.is_empty()) {
            let last = cell.rsplit(' ').next().unwrap_or_default();
            let text = cell[..cell.len() - last.len()].trim_end();
            let mut reader = Reader {
                rest: cell,
                parts: &mut Vec::new(),
            };
            // The content of the only node of a cell can be bare.
            if reader.sequence().is_err() {
                reader.parts.clear();
                reader.rest = cell;
                reader.body()?;
            }
            let mut parts = std::mem::take(reader.parts);
            // The ref of the cell follows a text after a node.
            if let [.., Part::Node(_), Part::Text(end)] = &mut *parts
                && is_ref(last)
                && let Some(before) = end.strip_suffix(&format!(" {last}"))
            {
                *end = before.trim_end().to_owned();
                parts.push(Part::Text(last.to_owned()));
            }
            let is_text = matches!(*parts, [Part::Text(_)])
                || matches!(&*parts, [Part::Text(_), Part::Text(_)]);
            let is_own = |part: &Part| matches!(part, Part::Text(text) if text == last);
            if is_ref(last) && !is_text && parts.last().is_some_and(is_own) {
                parts.pop();
                self.parts.push(Part::Node(Node {
                    role: "cell".to_owned(),
                    reference: Some(last.to_owned()),
                    ..Node::default()
                }));
                self.parts.extend(parts);
            } else if is_ref(last) && is_text {
                self.parts.push(Part::Node(Node {
                    role: "cell".to_owned(),
                    reference: Some(last.to_owned()),
                    ..Node::default()
                }));
                if !text.is_empty() {
                    self.parts.push(Part::Text(text_of(text)?));
                }
            } else {
                self.parts.extend(parts);
            }
        }
        self.rest = "";
        Ok(())
    }

    fn sequence(&mut self) -> Parsed<()> {
        while !self.rest.is_empty() {
            self.rest = self.rest.trim_start_matches(' ');
            if self.rest.starts_with('"') {
                let text = self.quoted()?;
                self.parts.push(Part::Text(text));
            } else if self.begins_with_node() {
                let index = self.node()?;
                if self.rest.starts_with(": \"") {
                    self.eat(": ");
                    let text = self.quoted()?;
                    self.parts.push(Part::Text(text.clone()));
                    self.set_value(index, text);
                }
            } else {
                let end = self.end_of_text();
                self.parts
                    .push(Part::Text(self.rest[..end].trim_end().to_owned()));
                self.rest = &self.rest[end..];
            }
            if !self.rest.is_empty() && !self.rest.starts_with(' ') {
                return Err(format!("unexpected {:?}", self.rest));
            }
        }
        Ok(())
    }

    /// Reads role, name, states, ref, address and options; returns the index of the node.
    fn node(&mut self) -> Parsed<usize> {
        let role = self.word();
        self.rest = &self.rest[role.len()..];
        let mut node = Node {
            role: role.to_owned(),
            ..Node::default()
        };
        if self.rest.starts_with(" \"") {
            self.eat(" ");
            node.name = Some(self.quoted()?);
        }
        loop {
            let next = self.rest.get(1..).unwrap_or_default();
            let end = next.find([' ', ':']).unwrap_or(next.len());
            let end = match next[..end].len() {
                // A context's name precedes its refs.
                len if next[len..].starts_with(':') && is_ref(word_of(next)) => word_of(next).len(),
                len => len,
            };
            if !self.rest.starts_with(' ') {
                break;
            } else if next.starts_with('[') {
                let state = self.state()?;
                node.states.insert(state);
            } else if node.reference.is_none() && is_ref(&next[..end]) {
                node.reference = Some(next[..end].to_owned());
                self.rest = &next[end..];
            } else if next.starts_with("→ ") {
                self.eat(" → ");
                node.has_url = true;
                if self.rest.starts_with('"') {
                    self.quoted()?;
                } else {
                    let url = self.rest.split(' ').next().unwrap_or_default();
                    self.rest = &self.rest[url.trim_end_matches(':').len()..];
                }
            } else {
                break;
            }
        }
        let index = self.parts.len();
        let is_select = matches!(&*node.role, "combobox" | "listbox");
        self.parts.push(Part::Node(node));
        if is_select && self.eat(" (") {
            self.options()?;
        }
        Ok(index)
    }

    fn options(&mut self) -> Parsed<()> {
        loop {
            let mut option = Node {
                role: "option".to_owned(),
                ..Node::default()
            };
            if self.eat("*") {
                option.states.insert("selected".to_owned());
            }
            let text = match self.rest.starts_with('"') {
                true => self.quoted()?,
                false => {
                    let end = self.rest.find([')', '|']).ok_or("options without an end")?;
                    let mut text = self.rest[..end].trim_end();
                    for _ in 0..2 {
                        let last = text.rsplit(' ').next().unwrap_or_default();
                        let is_mark = is_ref(last) || last == "[disabled]";
                        if is_mark && text.len() > last.len() {
                            text = text[..text.len() - last.len()].trim_end();
                        }
                    }
                    self.rest = &self.rest[text.len()..];
                    text.to_owned()
                }
            };
            if self.eat(" [disabled]") {
                option.states.insert("disabled".to_owned());
            }
            let next = self.rest.strip_prefix(' ').unwrap_or_default();
            let end = next.find([' ', ')']).unwrap_or(next.len());
            if is_ref(&next[..end]) {
                option.reference = Some(next[..end].to_owned());
                self.rest = &next[end..];
            }
            option.name = Some(text).filter(|text| !text.is_empty());
            self.parts.push(Part::Node(option));
            if self.eat(")") {
                return Ok(());
            }
            if !self.eat(" | ") {
                return Err(format!("options with {:?}", self.rest));
            }
        }
    }

    fn state(&mut self) -> Parsed<String> {
        self.eat(" [");
        if self.eat("placeholder=") {
            let text = self.quoted()?;
            self.eat("]");
            return Ok(format!("placeholder={text:?}"));
        }
        if self.eat("day=") {
            let text = self.quoted()?;
            self.eat("]");
            return Ok(format!("day={text:?}"));
        }
        let (state, rest) = self.rest.split_once(']').ok_or("a state without an end")?;
        self.rest = rest;
        Ok(state.to_owned())
    }

    fn set_value(&mut self, index: usize, text: String) {
        if let Part::Node(node) = &mut self.parts[index]
            && FIELDS.contains(&&*node.role)
        {
            node.value = Some(text);
        }
    }

    fn quoted(&mut self) -> Parsed<String> {
        let mut texts = serde_json::Deserializer::from_str(self.rest).into_iter::<String>();
        let text = texts
            .next()
            .ok_or("no text")?
            .map_err(|it| it.to_string())?;
        self.rest = &self.rest[texts.byte_offset()..];
        Ok(text)
    }

    /// Returns where a bare text ends: before the blank before a node.
    fn end_of_text(&self) -> usize {
        let blanks = self.rest.match_indices(' ').map(|(at, _)| at);
        let mut ends = blanks.filter(|at| {
            let mut after = Reader {
                rest: &self.rest[at + 1..],
                parts: &mut Vec::new(),
            };
            after.begins_with_node()
        });
        ends.next().unwrap_or(self.rest.len())
    }

    fn begins_with_cells(&self) -> bool {
        self.rest == "|" || self.rest.starts_with("| ")
    }

    fn word(&self) -> &'a str {
        let end = self
            .rest
            .find(|c: char| !c.is_ascii_lowercase() && c != '-');
        &self.rest[..end.unwrap_or(self.rest.len())]
    }

    fn begins_with_role(&self) -> bool {
        let word = self.word();
        let after = &self.rest[word.len()..];
        ROLES.contains(word) && (after.is_empty() || after.starts_with([' ', ':']))
    }

    /// Returns whether a node follows that cannot be text: one with a name, a state, a ref or a value.
    fn begins_with_node(&mut self) -> bool {
        let after = &self.rest[self.word().len()..];
        let next = after.strip_prefix(' ').unwrap_or_default();
        self.begins_with_role()
            && (next.starts_with(['"', '[']) || after.starts_with(": \"") || is_ref(word_of(next)))
    }

    fn eat(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }
}

fn text_of(text: &str) -> Parsed<String> {
    match text.starts_with('"') {
        true => serde_json::from_str(text).map_err(|error| error.to_string()),
        false => Ok(text.to_owned()),
    }
}

/// Returns the characters up to a blank, without a colon at the end.
fn word_of(text: &str) -> &str {
    text.split(' ')
        .next()
        .unwrap_or_default()
        .trim_end_matches(':')
}

/// Returns whether the options of a select have begun and not ended.
fn is_in_options(cell: &str) -> bool {
    cell.rfind(" (").is_some_and(|from| {
        let begins = cell[..from].contains("combobox") || cell[..from].contains("listbox");
        begins && !cell[from..].contains(')')
    })
}

/// Returns whether a word is a ref: `e5`, `f1e5` or `context:e5`.
fn is_ref(word: &str) -> bool {
    let word = word.rsplit(':').next().unwrap_or_default();
    let Some((frame, number)) = word.split_once('e') else {
        return false;
    };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    is_number(number) && (frame.is_empty() || frame.strip_prefix('f').is_some_and(is_number))
}
