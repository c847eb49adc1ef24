//! Suggestions for mistyped words.

/// The longest word that is compared, in bytes, because the time of a comparison grows with the length.
const MAX_LENGTH: usize = 100;

/// Returns the nearest of `known` to `word`, if it is similar enough to be suggested.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > MAX_LENGTH {
        return None;
    }
    let word = word.to_lowercase();
    let distance = |candidate: &str| strsim::damerau_levenshtein(&word, &candidate.to_lowercase());
    let (distance, found) = known
        .into_iter()
        .map(|candidate| (distance(candidate), candidate))
        .min_by_key(|(d, _)| *d)?;
    let length = word.chars().count().max(found.chars().count());
    // A word with a third of its letters wrong is another word.
    (distance * 3 <= length).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_typo_finds_its_word() {
        let known = ["headless", "host", "isolated"];
        assert_eq!(nearest("heedless", known), Some("headless"));
        assert_eq!(nearest("headles", known), Some("headless"));
        assert_eq!(nearest("HEADLESS", known), Some("headless"));
        assert_eq!(nearest("isoalted", known), Some("isolated"));
        assert_eq!(nearest("viewport", known), None);
        assert_eq!(nearest("x", known), None);
        assert_eq!(nearest("x", []), None);
    }
}
