//! Differences that occur in all scenarios in the same way: listed once, with the reason, in `everywhere.md`.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use regress::Regex;

use crate::markdown::{Piece, pieces};

/// The rules that equalize the answers of both servers before they are compared.
pub(super) struct Everywhere {
    rules: Vec<Rule>,
}

struct Rule {
    reason: String,
    is_ours: bool,
    pattern: Regex,
    replacement: String,
    used: AtomicBool,
}

impl Everywhere {
    /// Reads the rules: below each heading, which is the reason, a block `theirs` or `ours` with a regular expression, followed by the
    /// replacement (default: nothing; `\
    /// ` is a line break).
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| format!("{}: {error}", path.display()))?;
        Self::parse(&text).map_err(|(line, why)| format!("{}:{line}: {why}", path.display()))
    }

    fn parse(text: &str) -> Result<Self, (usize, String)> {
        let (mut reason, mut rules) = (None, Vec::new());
        for piece in pieces(text)? {
            match piece {
                Piece::Matter { line, .. } => {
                    return Err((line, "there is no front matter here".to_owned()));
                }
                Piece::Heading { title, .. } => reason = Some(title.to_owned()),
                Piece::Block(block) => {
                    let fault = |why: &str| (block.line, why.to_owned());
                    let is_ours = match block.info {
                        "ours" => true,
                        "theirs" => false,
                        _ => return Err(fault("a rule is a block `ours` or `theirs`")),
                    };
                    let (pattern, replacement) =
                        block.inside.split_once('\n').unwrap_or((block.inside, ""));
                    rules.push(Rule {
                        reason: reason
                            .clone()
                            .ok_or_else(|| fault("a rule without a reason above it"))?,
                        is_ours,
                        pattern: Regex::with_flags(pattern, "m")
                            .map_err(|error| fault(&error.to_string()))?,
                        replacement: replacement.replace("\\n", "\n"),
                        used: AtomicBool::new(false),
                    });
                }
            }
        }
        Ok(Self { rules })
    }

    /// Applies the rules to our answer.
    pub(super) fn ours(&self, answer: String) -> String {
        self.apply(answer, true)
    }

    /// Applies the rules to their answer.
    pub(super) fn theirs(&self, answer: String) -> String {
        self.apply(answer, false)
    }

    fn apply(&self, answer: String, is_ours: bool) -> String {
        let rules = self.rules.iter().filter(|rule| rule.is_ours == is_ours);
        rules.fold(answer, |answer, rule| {
            if rule.pattern.find(&answer).is_none() {
                return answer;
            }
            rule.used.store(true, Ordering::Relaxed);
            rule.pattern.replace_all(&answer, &rule.replacement)
        })
    }

    /// Returns the rules that were never used.
    pub(super) fn unused(&self) -> impl Iterator<Item = String> {
        let unused = self
            .rules
            .iter()
            .filter(|rule| !rule.used.load(Ordering::Relaxed));
        unused.map(|rule| {
            format!(
                "everywhere.md: a rule changes nothing any more; take it out ({})",
                rule.reason
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: &str = "# Rules\n\n## Inner names\n\n```theirs\nbackend\\.(\\w+): \n$1: \n```\n";

    #[test]
    fn a_rule_changes_one_side_and_knows_whether_it_did() {
        let rules = Everywhere::parse(RULES).unwrap();
        assert_eq!(rules.unused().count(), 1);
        assert_eq!(rules.ours("backend.call: x".to_owned()), "backend.call: x");
        assert_eq!(rules.theirs("backend.call: x".to_owned()), "call: x");
        assert_eq!(rules.unused().count(), 0);
    }

    #[test]
    fn a_rule_needs_a_reason() {
        assert!(Everywhere::parse("```theirs\nx\n```\n").is_err());
    }
}
