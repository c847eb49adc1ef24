//! Lines of snapshots as targets, in either layout: `button "Go" e2`, `- textbox "Name" [active] [ref=e4]: Ada`. Agents copy what they read.

use super::{Mixed, Role, SelectorError, TextMatch, Tristate, is_ref};

/// Returns the ref that the text names, with the name of its context if it has one (`shop:e5`): a ref, `ref=e5`, `[ref=e5]`, or a line of a
/// snapshot. Returns `None` for other texts.
pub fn reference_in(text: &str) -> Result<Option<&str>, SelectorError> {
    let text = text.trim();
    for prefix in ["", "ref=", "aria-ref="] {
        if let Some(bare) = text.strip_prefix(prefix)
            && is_named_ref(bare)
        {
            return Ok(Some(bare));
        }
    }
    // The lines below belong to the element of the first one.
    let mut line = without_marks(text.lines().next().unwrap_or_default());
    if let Some(inside) = line
        .strip_prefix('\'')
        .filter(|inside| inside.contains("[ref="))
    {
        line = inside;
    }
    // Selectors of other engines, such as `text=` and XPath, and texts in quotes.
    let is_quoted = line.starts_with('\'') || quoted_length(line) == Some(line.len());
    if is_quoted || line.starts_with(['/', '.', '(']) || begins_with_engine(line) {
        return Ok(None);
    }
    let mut found = Vec::new();
    let mut scanner = Scanner {
        rest: line,
        last: Last::Start,
        is_head: true,
    };
    let is_row = line.starts_with('|');
    while let Some(token) = scanner.next() {
        let (reference, is_full) = match token {
            Token::Ref(reference) => (reference, true),
            Token::Word(word) if is_named_ref(word) => match scanner.last {
                Last::Head => (word, false),
                // The ref of a cell is after its text.
                Last::Start | Last::Text if is_row => (word, false),
                Last::Start if scanner.is_at_end() => (word, false),
                Last::Start => return Err(in_selector(word)),
                Last::Text => continue,
            },
            _ => {
                scanner.set_last(&token);
                continue;
            }
        };
        if scanner.continues_as_selector(is_full) {
            return Err(in_selector(reference));
        }
        // What follows is the content of the element.
        if is_full || scanner.is_head && scanner.rest.starts_with(':') {
            return Ok(Some(reference));
        }
        scanner.last = Last::Head;
        scanner.is_head = false;
        found.push(reference);
    }
    match found.as_slice() {
        [] => Ok(None),
        [reference] => Ok(Some(reference)),
        several => Err(SelectorError::SeveralRefs {
            refs: several.join(", "),
        }),
    }
}

/// Returns the role, name and states of a line without a ref: `button "Go" [disabled]`, `# Orders`.
pub(super) fn role_in(text: &str) -> Option<Role> {
    let text = text.trim();
    let level = text.bytes().take_while(|byte| *byte == b'#').count();
    if let (1..=6, Some(name)) = (level, text[level..].strip_prefix(' ')) {
        return Some(Role {
            role: "heading".to_owned(),
            name: Some(TextMatch::exactly(unquoted(name.trim())?)),
            level: u32::try_from(level).ok(),
            ..Role::default()
        });
    }
    let line = without_marks(text).trim_start_matches('\'');
    let (word, rest) = line.split_once(' ')?;
    if !is_role(word) {
        return None;
    }
    let length = quoted_length(rest)?;
    let mut role = Role {
        role: word.to_owned(),
        name: Some(TextMatch::exactly(unquoted(&rest[..length])?)),
        ..Role::default()
    };
    let mut rest = rest[length..].trim_start();
    while let Some(state) = rest.strip_prefix('[') {
        let (state, after) = state.split_once(']')?;
        set_state(&mut role, state);
        rest = after.trim_start();
    }
    (rest.is_empty() || rest.starts_with([':', '→', '\''])).then_some(role)
}

/// Applies a state of a line. Other marks, such as `active`, are no conditions of locators.
fn set_state(role: &mut Role, state: &str) {
    let (name, value) = state.split_once('=').unwrap_or((state, ""));
    let tristate = Some(match value {
        "mixed" => Tristate::Mixed(Mixed::Mixed),
        _ => Tristate::Is(true),
    });
    match name {
        "checked" => role.checked = tristate,
        "pressed" => role.pressed = tristate,
        "disabled" => role.disabled = Some(true),
        "expanded" => role.expanded = Some(true),
        "selected" => role.selected = Some(true),
        "level" => role.level = value.parse().ok(),
        _ => {}
    }
}

/// Removes what precedes an element: the dash of a list and the sign of a change.
fn without_marks(line: &str) -> &str {
    let mut line = line.trim();
    for mark in ["+ ", "~ ", "- ", "- ", "<changed> "] {
        line = line.strip_prefix(mark).unwrap_or(line).trim_start();
    }
    line
}

fn begins_with_engine(line: &str) -> bool {
    let word = line
        .split(|c: char| c.is_whitespace() || matches!(c, '"' | '['))
        .next();
    word.is_some_and(|word| word.contains('='))
}

fn is_role(word: &str) -> bool {
    !word.is_empty()
        && word
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte == b'-')
}

/// Returns whether the word is a ref, with or without the name of a context.
fn is_named_ref(word: &str) -> bool {
    let is_name = |name: &str| {
        !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    };
    is_ref(word)
        || word
            .split_once(':')
            .is_some_and(|(name, reference)| is_name(name) && is_ref(reference))
}

/// Returns the length of the string in double quotes at the beginning.
fn quoted_length(text: &str) -> Option<usize> {
    let inside = text.strip_prefix('"')?;
    let mut is_escaped = false;
    let end = inside.find(|c| {
        let ends = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        ends
    });
    end.map(|end| end + 2)
}

fn unquoted(text: &str) -> Option<String> {
    match text.starts_with('"') {
        true => serde_json::from_str(text).ok(),
        false => Some(text.to_owned()),
    }
}

fn in_selector(reference: &str) -> SelectorError {
    SelectorError::RefInSelector {
        reference: reference.to_owned(),
    }
}

enum Token<'a> {
    /// A name or a text in quotes.
    Quoted,
    /// `[disabled]`.
    State,
    /// `[ref=e5]`.
    Ref(&'a str),
    /// `|` between cells.
    Bar,
    /// The options of a select.
    Options,
    Word(&'a str),
}

/// What precedes a token.
#[derive(Clone, Copy, PartialEq)]
enum Last {
    Start,
    /// A role, with or without name and states. A ref may follow.
    Head,
    Text,
}

struct Scanner<'a> {
    rest: &'a str,
    last: Last,
    /// Whether there is at most the role, name and states of one element before the rest.
    is_head: bool,
}

impl<'a> Scanner<'a> {
    fn next(&mut self) -> Option<Token<'a>> {
        self.rest = self.rest.trim_start();
        let first = self.rest.chars().next()?;
        let (length, token) = match first {
            '"' => (quoted_length(self.rest)?, Token::Quoted),
            '[' => {
                let end = self.rest.find(']')?;
                let state = &self.rest[1..end];
                let reference = state
                    .strip_prefix("ref=")
                    .map(|name| name.trim_matches('"'));
                match reference.filter(|name| is_named_ref(name)) {
                    Some(reference) => (end + 1, Token::Ref(reference)),
                    None => (end + 1, Token::State),
                }
            }
            '(' if self.last == Last::Head => (self.rest.find(')')? + 1, Token::Options),
            '|' => (1, Token::Bar),
            _ => {
                let ends = |c: char| c.is_whitespace() || matches!(c, '"' | '[' | '|');
                let word = &self.rest[..self.rest.find(ends).unwrap_or(self.rest.len())];
                let bare = word.trim_end_matches(':');
                match bare.is_empty() {
                    true => (word.len(), Token::Word(word)),
                    false => (bare.len(), Token::Word(bare)),
                }
            }
        };
        self.rest = &self.rest[length..];
        Some(token)
    }

    fn set_last(&mut self, token: &Token<'_>) {
        let is_word = matches!(token, Token::Word(_));
        self.is_head &= is_word == (self.last == Last::Start);
        self.last = match (token, self.last) {
            (Token::Bar, _) => Last::Start,
            (Token::Word(word), _) if is_role(word) => Last::Head,
            (Token::Quoted | Token::State, Last::Head) => Last::Head,
            _ => Last::Text,
        };
    }

    fn is_at_end(&self) -> bool {
        let rest = self.rest.trim_start();
        rest.is_empty() || rest.starts_with([':', '→', '[', '|'])
    }

    /// Returns whether a selector follows a ref.
    fn continues_as_selector(&self, is_full: bool) -> bool {
        let mut rest = self.rest.trim_start();
        while is_full
            && let Some((_, after)) = rest
                .strip_prefix('[')
                .and_then(|state| state.split_once(']'))
        {
            rest = after.trim_start();
        }
        match is_full {
            true => !(rest.is_empty() || rest.starts_with([':', '\''])),
            false => rest.starts_with(['>', '+', '~', '.', '#', '*']),
        }
    }
}
