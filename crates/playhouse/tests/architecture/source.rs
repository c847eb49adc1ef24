//! Rust source without comments, string literals, and code that only tests compile.

/// Blanks comments, strings and character literals.
pub(crate) fn code_of(text: &str) -> String {
    let bytes: Vec<char> = text.chars().collect();
    let (mut out, mut at) = (String::with_capacity(text.len()), 0);
    while at < bytes.len() {
        let end = match bytes[at] {
            '/' if bytes.get(at + 1) == Some(&'/') => line_end(&bytes, at),
            '/' if bytes.get(at + 1) == Some(&'*') => comment_end(&bytes, at),
            '"' => string_end(&bytes, at),
            'r' if !follows_a_word(&bytes, at) && raw_hashes(&bytes, at).is_some() => {
                raw_end(&bytes, at)
            }
            '\'' => char_end(&bytes, at),
            _ => at,
        };
        if end == at {
            out.push(bytes[at]);
            at += 1;
        } else {
            out.extend(
                bytes[at..end]
                    .iter()
                    .map(|&c| if c == '\n' { '\n' } else { ' ' }),
            );
            at = end;
        }
    }
    out
}

fn follows_a_word(text: &[char], at: usize) -> bool {
    at > 0 && (text[at - 1].is_alphanumeric() || text[at - 1] == '_') && text[at - 1] != 'b'
}

fn line_end(text: &[char], at: usize) -> usize {
    (at..text.len())
        .find(|&i| text[i] == '\n')
        .unwrap_or(text.len())
}

fn comment_end(text: &[char], at: usize) -> usize {
    let (mut depth, mut i) = (0, at);
    while i + 1 < text.len() {
        match (text[i], text[i + 1]) {
            ('/', '*') => (depth, i) = (depth + 1, i + 2),
            ('*', '/') if depth == 1 => return i + 2,
            ('*', '/') => (depth, i) = (depth - 1, i + 2),
            _ => i += 1,
        }
    }
    text.len()
}

fn string_end(text: &[char], at: usize) -> usize {
    let mut i = at + 1;
    while i < text.len() && text[i] != '"' {
        i += if text[i] == '\\' { 2 } else { 1 };
    }
    (i + 1).min(text.len())
}

/// Returns the number of `#` between the `r` and the quote of a raw string.
fn raw_hashes(text: &[char], at: usize) -> Option<usize> {
    let hashes = text[at + 1..].iter().take_while(|&&c| c == '#').count();
    (text.get(at + 1 + hashes) == Some(&'"')).then_some(hashes)
}

fn raw_end(text: &[char], at: usize) -> usize {
    let hashes = raw_hashes(text, at).unwrap_or(0);
    let start = at + hashes + 2;
    let is_end = |&i: &usize| {
        text[i] == '"'
            && text[i + 1..]
                .iter()
                .take(hashes)
                .filter(|&&c| c == '#')
                .count()
                == hashes
    };
    (start..text.len())
        .find(is_end)
        .map_or(text.len(), |i| i + 1 + hashes)
}

/// Returns the end of a character literal; a lifetime has none.
fn char_end(text: &[char], at: usize) -> usize {
    match text.get(at + 1) {
        Some('\\') => (at + 3..text.len())
            .find(|&i| text[i] == '\'')
            .map_or(text.len(), |i| i + 1),
        Some(_) if text.get(at + 2) == Some(&'\'') => at + 3,
        _ => at,
    }
}

/// Removes the items under `#[cfg(test)]`; also returns the names of the modules among them.
pub(crate) fn without_tests(code: &str) -> (String, Vec<String>) {
    const MARK: &str = "#[cfg(test)]";
    let (mut kept, mut modules, mut rest) = (String::new(), Vec::new(), code);
    while let Some(at) = rest.find(MARK) {
        kept.push_str(&rest[..at]);
        let item = &rest[at + MARK.len()..];
        let end = item_end(item);
        modules.extend(module_lines(&item[..end]));
        rest = &item[end..];
    }
    kept.push_str(rest);
    (kept, modules)
}

/// Returns the end of an item: its `;`, or the end of its braces.
fn item_end(code: &str) -> usize {
    let mut depth = 0_usize;
    for (at, character) in code.char_indices() {
        match character {
            '{' | '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            '}' if depth <= 1 => return at + 1,
            '}' => depth -= 1,
            ';' if depth == 0 => return at + 1,
            _ => {}
        }
    }
    code.len()
}

/// Returns the modules that code declares in separate files.
pub(crate) fn module_lines(code: &str) -> Vec<String> {
    code.split(';')
        .filter_map(|statement| {
            let mut words = statement.split_whitespace().rev();
            let name = words.next()?;
            (words.next()? == "mod" && name.chars().all(|c| c.is_alphanumeric() || c == '_'))
                .then(|| name.to_owned())
        })
        .collect()
}

#[test]
fn only_code_remains() {
    let text = "use a::b; // use c::d\n/* /* x */ use e::f */ let s = \"g::h\\\" {\"; let r = r#\"i::\"j\"#; let c = '\\''; let d = '{'; fn k<'l>() {}";
    let code = code_of(text);
    for gone in ["c::d", "e::f", "g::h", "i::", "'{'"] {
        assert!(!code.contains(gone), "{gone} in {code}");
    }
    assert!(code.contains("use a::b;") && code.contains("fn k<'l>() {}"));
}

#[test]
fn tests_are_omitted() {
    let code = "mod a;\n#[cfg(test)]\nmod tests;\npub(crate) mod b;\n#[cfg(test)]\nmod inside { use x::y; fn z() {} }\nfn w() {}";
    let (kept, modules) = without_tests(code);
    assert!(!kept.contains("x::y") && kept.contains("fn w"));
    assert_eq!(
        (module_lines(&kept), modules),
        (
            vec!["a".to_owned(), "b".to_owned()],
            vec!["tests".to_owned()]
        )
    );
}
