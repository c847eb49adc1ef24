//! Estimating the number of tokens of a text by the encoding o200k, without its vocabulary.
//!
//! The text is split as that encoding splits it before it looks words up: words with the character before them, numbers of three digits,
//! runs of symbols, white space. Most such pieces are one token; the costs of longer ones are averages over answers of the server.

/// The cost of a token.
const TOKEN: usize = 100;

/// Returns the approximate number of tokens. In answers of the server, the error is at most 5 %.
pub fn estimate_tokens(text: &str) -> usize {
    let mut cost = 0;
    let mut rest = text;
    while !rest.is_empty() {
        let (length, piece) = piece(rest);
        cost += piece;
        rest = &rest[length..];
    }
    (cost + TOKEN / 2) / TOKEN
}

/// Returns the length of the beginning of a text that has at most so many tokens, in bytes.
#[must_use]
pub fn prefix_of_tokens(text: &str, tokens: usize) -> usize {
    let mut room = tokens * TOKEN;
    let mut length = 0;
    while length < text.len() {
        let (piece, cost) = piece(&text[length..]);
        if cost > room {
            // Only a long piece, such as a text without blanks, is worth dividing.
            let part = if cost > 10 * TOKEN {
                piece * room / cost
            } else {
                0
            };
            return text.floor_char_boundary(length + part);
        }
        room -= cost;
        length += piece;
    }
    length
}

/// Returns where the end of a text begins that has at most so many tokens, in bytes.
#[must_use]
pub fn suffix_of_tokens(text: &str, tokens: usize) -> usize {
    // No text that is worth reading has more characters per token.
    const MAX_BYTES_PER_TOKEN: usize = 64;
    let most = tokens.saturating_mul(MAX_BYTES_PER_TOKEN);
    let mut start = text.ceil_char_boundary(text.len().saturating_sub(most));
    loop {
        let own = estimate_tokens(&text[start..]);
        if own <= tokens {
            return start;
        }
        let surplus = (text.len() - start) * (own - tokens) / own;
        start = text.ceil_char_boundary(start + surplus.max(1));
    }
}

/// Returns the length of the first piece, in bytes, and its cost.
fn piece(text: &str) -> (usize, usize) {
    let mut chars = text.chars();
    let Some(first) = chars.next() else {
        return (0, 0);
    };
    let second = chars.next();
    if first.is_numeric() {
        let digits = text.chars().take(3).take_while(|c| c.is_numeric());
        return (digits.map(char::len_utf8).sum(), TOKEN);
    }
    if first.is_alphabetic() {
        return word(text, 0, None);
    }
    if !is_break(first) && second.is_some_and(char::is_alphabetic) {
        return word(text, first.len_utf8(), Some(first));
    }
    if first.is_whitespace() && !(first == ' ' && second.is_some_and(is_symbol)) {
        return (white_space(text), TOKEN);
    }
    symbols(text, usize::from(first == ' '))
}

fn is_break(c: char) -> bool {
    matches!(c, '\r' | '\n')
}

fn is_symbol(c: char) -> bool {
    !c.is_whitespace() && !c.is_alphabetic() && !c.is_numeric()
}

/// A word: upper case letters, then others. `from` is the length of the character before it.
fn word(text: &str, from: usize, before: Option<char>) -> (usize, usize) {
    let mut length = from;
    let (mut letters, mut foreign, mut has_lower) = (0, 0, false);
    for c in text[from..].chars() {
        if !c.is_alphabetic() || (has_lower && c.is_uppercase()) {
            break;
        }
        has_lower |= !c.is_uppercase();
        length += c.len_utf8();
        letters += 1;
        foreign += match c {
            _ if c.is_ascii() => 0,
            // Scripts without blanks between words.
            '\u{2e80}'.. => 75,
            _ => 25,
        };
    }
    let is_after_symbol = before.is_some_and(|c| c != ' ');
    let mut cost = match (is_after_symbol, letters) {
        (false, 0..=7) => 101,
        (false, 8..=9) => 119,
        (false, 10..=12) => 160,
        (true, 0..=3) => 116,
        (true, 4..=5) => 130,
        (true, 6..=7) => 150,
        (true, 8..=9) => 166,
        (true, 10..=12) => 196,
        (_, letters) => 200 + (letters - 12) * 15,
    };
    if foreign > 0 {
        cost = TOKEN.max(foreign);
    }
    (length, cost)
}

/// White space up to the last line break in it; without one, up to the last blank, which belongs to the word after it.
fn white_space(text: &str) -> usize {
    let end = text.len() - text.trim_start().len();
    if let Some(line) = text[..end].rfind(is_break) {
        return line + 1;
    }
    let last = text[..end].chars().next_back().map_or(0, char::len_utf8);
    match end < text.len() && end > last {
        true => end - last,
        false => end,
    }
}

/// Symbols and the line breaks after them. `from` is the length of a blank before them.
fn symbols(text: &str, from: usize) -> (usize, usize) {
    let run = text[from..].chars().take_while(|c| is_symbol(*c));
    let (mut length, mut ascii, mut foreign) = (from, 0, 0);
    for c in run {
        length += c.len_utf8();
        match c.is_ascii() {
            true => ascii += 1,
            false => foreign += 1,
        }
    }
    let tail = text[length..]
        .chars()
        .take_while(|c| is_break(*c) || *c == '/');
    length += tail.map(char::len_utf8).sum::<usize>();
    let cost = match ascii {
        0 => 0,
        1..=2 => TOKEN,
        3 => 105,
        more => 130 + (more - 4) * 10,
    };
    (length, (cost + foreign * 80).max(TOKEN))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers whose numbers of tokens, by gpt-tokenizer 4.0.0 from npm, are in the names of their files.
    #[test]
    fn estimates_of_answers_are_within_five_percent() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tokens");
        let mut count = 0;
        for entry in std::fs::read_dir(folder).expect("the answers are there") {
            let path = entry.expect("the folder can be read").path();
            let name = path.file_stem().and_then(|it| it.to_str()).expect("a name");
            let tokens: usize = name
                .rsplit('.')
                .next()
                .and_then(|it| it.parse().ok())
                .expect("a number");
            let text = std::fs::read_to_string(&path).expect("the answer can be read");
            let estimate = estimate_tokens(&text);
            assert!(
                estimate.abs_diff(tokens) * 20 <= tokens,
                "{name}: {estimate}"
            );
            count += 1;
        }
        assert!(count >= 10, "{count} answers");
    }

    #[test]
    fn both_ends_of_a_text_have_the_requested_size() {
        let prose = "The answer has a few words, and 12345 numbers.\n".repeat(200);
        for text in [prose, "x".repeat(100_000), "日本語".repeat(5_000)] {
            let end = prefix_of_tokens(&text, 100);
            let start = suffix_of_tokens(&text, 100);
            for part in [&text[..end], &text[start..]] {
                let own = estimate_tokens(part);
                assert!((90..=100).contains(&own), "{own}: {part}");
            }
        }
        assert_eq!(prefix_of_tokens("a b", 9), 3);
        assert_eq!(suffix_of_tokens("a b", 9), 0);
        assert_eq!(suffix_of_tokens("a b", 0), 3);
    }

    #[test]
    fn any_text_is_estimated() {
        for (text, tokens) in [
            ("", 0),
            ("a", 1),
            ("\n\n  a", 3),
            ("日本語のテキスト", 6),
            ("…→", 2),
            (" 12345", 3),
        ] {
            assert_eq!(estimate_tokens(text), tokens, "{text:?}");
        }
    }
}
