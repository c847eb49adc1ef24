//! Texts of pages, whose length a page determines.

/// Shortens a text to a number of bytes, and marks the cut with `…`.
pub(crate) fn shorten(text: &mut String, most: usize) {
    if text.len() > most {
        text.truncate(text.floor_char_boundary(most));
        text.push('…');
        text.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_between_characters() {
        for (most, shown) in [(9, "für dich"), (8, "für dic…"), (2, "f…"), (0, "…")] {
            let mut text = "für dich".to_owned();
            shorten(&mut text, most);
            assert_eq!(text, shown);
        }
    }
}
