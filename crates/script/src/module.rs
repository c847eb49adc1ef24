//! Preparing a module for the JavaScript engine: common TypeScript syntax is replaced by spaces, so that lines and columns are preserved.
//! This covers imports of types and of Playwright, and the types of the default export's parameters.

/// Packages that are imported only for their types, because they cannot run here.
const PLAYWRIGHT: [&str; 4] = [
    "@playwright/test",
    "playwright",
    "playwright-core",
    "playwright/test",
];

/// Returns the source without these types.
pub(super) fn untyped(source: &str) -> String {
    let mut text: Vec<char> = source.chars().collect();
    blank_imports(&mut text);
    blank_parameters(&mut text);
    text.into_iter().collect()
}

/// Returns whether the source is a CommonJS module, which sets `exports`.
pub(super) fn is_common(source: &str) -> bool {
    let exports = |line: &str| line.trim_start().starts_with("export ");
    !source.lines().any(exports) && source.contains("exports")
}

fn blank_imports(text: &mut [char]) {
    let mut at = 0;
    while at < text.len() {
        let end = line_end(text, at);
        let start = at
            + text[at..end]
                .iter()
                .take_while(|c| c.is_whitespace())
                .count();
        at = end + 1;
        if !begins(text, start, "import ") {
            continue;
        }
        // The import ends with the name of the module.
        let Some((from, to)) = first_string(text, start) else {
            continue;
        };
        let name: String = text[from + 1..to].iter().collect();
        if begins(text, start, "import type ") || PLAYWRIGHT.contains(&name.as_str()) {
            let end = to + 1 + usize::from(text.get(to + 1) == Some(&';'));
            blank(&mut text[start..end]);
        }
        at = line_end(text, to) + 1;
    }
}

fn blank_parameters(text: &mut [char]) {
    let Some(open) = parameters(text) else {
        return;
    };
    let Some(close) = blank_types(text, open + 1) else {
        return;
    };
    // The return type.
    let after = close + 1 + spaces(text, close + 1);
    if text.get(after) == Some(&':') {
        let rest = &text[after..];
        let body = rest.iter().zip(rest.iter().skip(1));
        let end = body
            .enumerate()
            .find(|(_, (c, next))| **c == '{' || (**c == '=' && **next == '>'));
        if let Some((length, _)) = end {
            blank(&mut text[after..after + length]);
        }
    }
}

/// Returns the position of the opening parenthesis of the default export's parameters.
fn parameters(text: &[char]) -> Option<usize> {
    let mut at = (0..text.len()).find(|at| {
        begins(text, *at, "export default") && (*at == 0 || text[*at - 1].is_whitespace())
    })? + "export default".len();
    at += spaces(text, at);
    for word in ["async", "function"] {
        if begins(text, at, word) {
            at += word.len();
            at += spaces(text, at);
        }
    }
    let name = |c: &&char| c.is_alphanumeric() || matches!(c, '_' | '$');
    at += text[at..].iter().take_while(name).count();
    at += spaces(text, at);
    (text.get(at) == Some(&'(')).then_some(at)
}

/// Blanks the types of a parameter list; returns the position of its closing parenthesis.
fn blank_types(text: &mut [char], from: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let mut typed = None;
    for at in from..text.len() {
        match text[at] {
            '(' | '[' | '{' | '<' => depth += 1,
            ')' | ',' | '=' if depth == 0 => {
                if let Some(from) = typed.take() {
                    blank(&mut text[from..at]);
                }
                if text[at] == ')' {
                    return Some(at);
                }
            }
            ')' | ']' | '}' | '>' => depth = depth.saturating_sub(1),
            ':' if depth == 0 && typed.is_none() => typed = Some(at),
            _ => {}
        }
    }
    None
}

fn first_string(text: &[char], from: usize) -> Option<(usize, usize)> {
    let quote = |c: char| matches!(c, '\'' | '"');
    let open = from + text[from..].iter().position(|c| quote(*c) || *c == ';')?;
    let mark = Some(text[open]).filter(|c| quote(*c))?;
    let close = open + 1 + text[open + 1..].iter().position(|c| *c == mark)?;
    Some((open, close))
}

fn begins(text: &[char], at: usize, word: &str) -> bool {
    word.chars()
        .enumerate()
        .all(|(offset, c)| text.get(at + offset) == Some(&c))
}

fn line_end(text: &[char], from: usize) -> usize {
    let rest = text[from..].iter();
    rest.take_while(|c| **c != '\n').count() + from
}

fn spaces(text: &[char], from: usize) -> usize {
    let rest = text.iter().skip(from);
    rest.take_while(|c| c.is_whitespace()).count()
}

fn blank(text: &mut [char]) {
    for c in text.iter_mut().filter(|c| **c != '\n') {
        *c = ' ';
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(source: &str) -> String {
        let untyped = untyped(source);
        assert_eq!(untyped.lines().count(), source.lines().count());
        untyped.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn types_of_the_default_export_go() {
        for (typed, plain) in [
            (
                "export default async ({ page }: { page: Page }) => { a: 1 };",
                "export default async ({ page } ) => { a: 1 };",
            ),
            (
                "export default async ({ page }: { page: Page }): Promise<void> => {};",
                "export default async ({ page } ) => {};",
            ),
            (
                "export default async function init({ page: p }: Fixtures<{ a: 1 }>, n: number = 1): Promise<void> {}",
                "export default async function init({ page: p } , n = 1) {}",
            ),
            (
                "export default ({ page }) => x ? y : z",
                "export default ({ page }) => x ? y : z",
            ),
            ("export default init;", "export default init;"),
        ] {
            assert_eq!(words(typed), plain);
        }
    }

    #[test]
    fn imports_of_types_and_of_playwright_go() {
        let source = "import type { Page } from './types';\nimport {\n  test,\n  Page,\n} from '@playwright/test'; // x\nimport fs from 'fs';\nimport './y'\n1";
        assert_eq!(words(source), "// x import fs from 'fs'; import './y' 1");
    }

    #[test]
    fn text_that_ends_anywhere_is_read() {
        let whole = "import type { A } from 'a';\nexport default async (a: {b: C}): D => {}";
        for end in 0..=whole.len() {
            untyped(&whole[..end]);
        }
    }

    #[test]
    fn modules_of_the_older_kind_are_known() {
        assert!(is_common("exports.default = () => {}"));
        assert!(is_common("module.exports = () => {}"));
        assert!(!is_common("export default () => { exports }"));
    }
}
