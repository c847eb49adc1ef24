//! Parsing selectors: CSS, `engine=body`, and chains of them joined by `>>`.

use super::attributes::{self, Value};
use super::literal::Cursor;
use super::print::Regex;
use super::{Mixed, Role, Selector, SelectorError, Step, TextMatch, Tristate, css::Css};

/// Parses a chain. `test_id` is only used for selectors nested in quotes.
pub(super) fn parse(text: &str, test_id: &str) -> Result<Selector, SelectorError> {
    let mut selector = Selector::default();
    // `*css=li >> b` selects the `li` that contain a `b`, not the `b`.
    let mut captured = None;
    for (at, piece) in split(text) {
        let piece = piece.trim();
        let empty = SelectorError::EmptyPart {
            selector: text.to_owned(),
            position: text[..at].chars().count() + 1,
        };
        if piece.is_empty() {
            return Err(empty);
        }
        let captures = piece.starts_with('*') && engine_of(&piece[1..]).is_some();
        let piece = if captures { &piece[1..] } else { piece };
        part(&mut selector, text, piece, test_id)?;
        if captures && captured.is_none() {
            captured = Some(std::mem::take(&mut selector));
        }
    }
    Ok(match captured {
        None => selector,
        Some(captured) if selector.is_empty() => captured,
        Some(captured) => captured.then(Step::Has {
            selector,
            not: false,
        }),
    })
}

/// Splits at each `>>` outside quotes and regular expressions; returns the parts with their offsets.
fn split(text: &str) -> Vec<(usize, &str)> {
    let mut pieces = Vec::new();
    let (mut start, mut at) = (0, 0);
    let mut quote = None;
    while let Some(c) = text[at..].chars().next() {
        let piece = text[start..at].trim_start();
        match (quote, c) {
            (Some(_), '\\') => at += text[at + 1..].chars().next().map_or(0, char::len_utf8),
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'' | '`') if opens_quote(piece) => quote = Some(c),
            (None, '/') if matches!(engine_of(piece), Some((_, body)) if body.is_empty()) => {
                if let Some(length) = regex_length(&text[at..]) {
                    at += length;
                    continue;
                }
            }
            (None, '\\') => at += text[at + 1..].chars().next().map_or(0, char::len_utf8),
            (None, '>') if text[at..].starts_with(">>") => {
                pieces.push((start, &text[start..at]));
                start = at + 2;
                at += 1;
            }
            _ => {}
        }
        at += c.len_utf8();
    }
    pieces.push((start, &text[start..]));
    pieces
}

/// Returns the length of a regular expression that is the entire rest of a part; `text=/pets` is a text.
fn regex_length(text: &str) -> Option<usize> {
    let mut cursor = Cursor::new(text);
    cursor.regex().ok()?;
    let rest = cursor.rest();
    let ends = rest.trim_start().is_empty() || rest.trim_start().starts_with(">>");
    ends.then_some(text.len() - rest.len())
}

/// Returns whether a quote begins here. In `text=It's` an apostrophe is not a quote; a quote must come first there.
fn opens_quote(piece: &str) -> bool {
    match engine_of(piece) {
        Some(("text" | "id", body)) => body.trim_start().is_empty(),
        _ => true,
    }
}

/// Splits `engine=body`, if the part has that form.
fn engine_of(piece: &str) -> Option<(&str, &str)> {
    let (name, body) = piece.split_once('=')?;
    let named = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '+' | ':');
    (!name.is_empty() && name.chars().all(named)).then_some((name, body))
}

fn part(
    selector: &mut Selector,
    whole: &str,
    piece: &str,
    test_id: &str,
) -> Result<(), SelectorError> {
    if piece.starts_with("//") || piece.starts_with("..") || piece.starts_with("(//") {
        let expression = piece.to_owned();
        selector.push_source(Step::Xpath { expression }, piece);
        return Ok(());
    }
    if piece.len() > 1 && piece.starts_with(['"', '\'']) && piece.ends_with(&piece[..1]) {
        selector.push_source(text_step(piece)?, format!("text={piece}"));
        return Ok(());
    }
    let Some((engine, body)) = engine_of(piece) else {
        let css = Css::parse(piece)?;
        *selector = std::mem::take(selector).then(Step::Css(css));
        return Ok(());
    };
    let wrong = |position: usize, expected: &str| SelectorError::Body {
        engine: engine.to_owned(),
        body: body.to_owned(),
        position,
        expected: expected.to_owned(),
    };
    let step = match engine {
        "css" => Step::Css(Css::parse(body.trim())?),
        "xpath" => {
            let expression = body.trim();
            if expression.is_empty() {
                return Err(wrong(1, "an XPath expression"));
            }
            Step::Xpath {
                expression: expression.to_owned(),
            }
        }
        "text" => {
            selector.push_source(text_step(body)?, piece);
            return Ok(());
        }
        "role" => {
            selector.push_source(Step::Role(role(engine, body, false)?), piece);
            return Ok(());
        }
        "id" | "data-testid" | "data-test-id" | "data-test" => {
            let step = Step::Attribute {
                name: engine.to_owned(),
                text: TextMatch::exactly(body),
            };
            selector.push_source(step, piece);
            return Ok(());
        }
        "nth" => Step::Nth {
            index: body
                .trim()
                .parse()
                .map_err(|_| wrong(1, "a whole number: 0 is the first, -1 the last"))?,
        },
        "visible" => Step::Visible {
            visible: match body.trim() {
                "true" => true,
                "false" => false,
                _ => return Err(wrong(1, "true or false")),
            },
        },
        "internal:role" => Step::Role(role(engine, body, true)?),
        "internal:text" => Step::Text {
            text: attributes::quoted(engine, body)?,
            nodes: false,
        },
        "internal:label" => Step::Label {
            text: attributes::quoted(engine, body)?,
        },
        "internal:has-text" | "internal:has-not-text" => Step::HasText {
            text: attributes::quoted(engine, body)?,
            not: engine == "internal:has-not-text",
        },
        "internal:attr" | "internal:testid" => {
            let (_, mut list) = attributes::parse(engine, body, true)?;
            let (Some(attribute), true) = (list.pop(), list.is_empty()) else {
                return Err(wrong(1, "one [attribute=\"value\"]"));
            };
            let text = attribute.text().ok_or_else(|| wrong(1, "a value"))?;
            let name = attribute.name;
            if engine == "internal:testid" {
                Step::TestId {
                    attribute: name,
                    text,
                }
            } else {
                Step::Attribute { name, text }
            }
        }
        "internal:has" | "internal:has-not" | "internal:and" | "internal:or" | "internal:chain" => {
            let nested: String = serde_json::from_str(body.trim())
                .map_err(|_| wrong(1, "a selector as a JSON string"))?;
            let nested = Selector::parse(&nested, test_id)?;
            match engine {
                "internal:and" => Step::And { selector: nested },
                "internal:or" => Step::Or { selector: nested },
                "internal:chain" => {
                    *selector = std::mem::take(selector).join(nested);
                    return Ok(());
                }
                _ => Step::Has {
                    selector: nested,
                    not: engine == "internal:has-not",
                },
            }
        }
        "internal:control" if body.trim() == "enter-frame" => Step::EnterFrame,
        "internal:describe" => return Ok(()),
        _ => {
            return Err(SelectorError::UnknownEngine {
                selector: whole.to_owned(),
                engine: engine.to_owned(),
            });
        }
    };
    *selector = std::mem::take(selector).then(step);
    Ok(())
}

/// Parses a text body: `"quoted"` equals a text node, `/regex/` is tested, other texts are contained, ignoring case.
fn text_step(body: &str) -> Result<Step, SelectorError> {
    let body = body.trim();
    let quoted = body.len() > 1 && body.starts_with(['"', '\'']) && body.ends_with(&body[..1]);
    Ok(if quoted {
        let text = TextMatch::exactly(Cursor::new(body).string()?);
        Step::Text { text, nodes: true }
    } else if body.starts_with('/') && body[1..].contains('/') {
        let Regex { source, flags } = Cursor::new(body).regex()?;
        let text = TextMatch::Regex {
            regex: source,
            flags,
        };
        Step::Text { text, nodes: false }
    } else {
        let text = TextMatch::containing(body);
        Step::Text { text, nodes: false }
    })
}

/// Parses `button[name="Go"i][checked]`.
fn role(engine: &str, body: &str, internal: bool) -> Result<Role, SelectorError> {
    let (name, list) = attributes::parse(engine, body, internal)?;
    let wrong = |expected: &str| SelectorError::Body {
        engine: engine.to_owned(),
        body: body.to_owned(),
        position: body[..body.find('[').unwrap_or(body.len())].chars().count() + 1,
        expected: expected.to_owned(),
    };
    if name.is_empty() {
        return Err(wrong("a role, such as button"));
    }
    let mut role = Role {
        role: name,
        ..Role::default()
    };
    for attribute in list {
        let boolean = match &attribute.value {
            None => Some(true),
            Some(Value::Word(word) | Value::Text(word)) => word.parse().ok(),
            Some(Value::Regex(_)) => None,
        };
        let mixed = matches!(&attribute.value, Some(Value::Word(word) | Value::Text(word)) if word == "mixed");
        let state = || {
            let what = format!("[{0}], [{0}=true] or [{0}=false]", attribute.name);
            boolean.ok_or_else(|| wrong(&what))
        };
        let tristate = || {
            if mixed {
                return Ok(Tristate::Mixed(Mixed::Mixed));
            }
            state().map(Tristate::Is)
        };
        match attribute.name.as_str() {
            "name" => role.name = Some(attribute.text().ok_or_else(|| wrong("[name=\"…\"]"))?),
            "description" => {
                let text = attribute.text();
                role.description = Some(text.ok_or_else(|| wrong("[description=\"…\"]"))?);
            }
            "checked" => role.checked = Some(tristate()?),
            "pressed" => role.pressed = Some(tristate()?),
            "disabled" => role.disabled = Some(state()?),
            "expanded" => role.expanded = Some(state()?),
            "selected" => role.selected = Some(state()?),
            "include-hidden" => role.include_hidden = state()?,
            "level" => {
                let level = match &attribute.value {
                    Some(Value::Word(word) | Value::Text(word)) => word.parse().ok(),
                    _ => None,
                };
                role.level = Some(level.ok_or_else(|| wrong("[level=1] or another number"))?);
            }
            _ => {
                return Err(wrong(
                    "one of [name], [description], [checked], [disabled], [expanded], [include-hidden], [level], [pressed], [selected]",
                ));
            }
        }
    }
    Ok(role)
}
