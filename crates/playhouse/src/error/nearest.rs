//! The known word that a mistyped one most likely meant.

/// No word that is meant is longer, in bytes; and the time to compare grows with the length.
const MAX_LENGTH: usize = 100;

/// The nearest of `known` to `word`, if one is near enough to be worth a question.
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
    // A third of the letters wrong is another word.
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
