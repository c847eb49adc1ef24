//! JavaScript regular expressions with limits. QuickJS matches them as a browser would, with a limit of steps and of memory. Matching
//! belongs into [`task::compute`], because it may take long even within the limits.

use crate::error::{Error, Result};
use rquickjs::context::intrinsic;
use rquickjs::{CatchResultExt as _, CaughtError, Context, Ctx, Function, Runtime, Value};
use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// The longest pattern, in bytes.
const MAX_PATTERN_LENGTH: usize = 8 * 1024;

/// The largest number of steps for all texts of a search, in units of 10,000 steps of the matcher (`INTERRUPT_COUNTER_INIT` of QuickJS): a
/// tenth of a second.
const MAX_STEPS: u32 = 500;

/// How long a search in a large number of texts may take.
const SEARCH_TIMEOUT: Duration = Duration::from_secs(5);

/// The largest memory of the matcher and one text, in bytes.
const MAX_MEMORY: usize = 128 * 1024 * 1024;

/// A regular expression. It matches anywhere in a text; the flags `g`, `y` and `d` have no effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RegExp {
    source: String,
    flags: String,
}

impl RegExp {
    /// Parses a regular expression; returns the syntax error that JavaScript would report.
    pub(crate) fn new(source: &str, flags: &str) -> Result<Self, String> {
        if source.len() > MAX_PATTERN_LENGTH {
            return Err(format!(
                "Invalid regular expression: longer than {MAX_PATTERN_LENGTH} bytes"
            ));
        }
        let regexp = Self {
            source: source.to_owned(),
            flags: flags
                .chars()
                .filter(|flag| !"dgy".contains(*flag))
                .collect(),
        };
        regexp
            .with_matcher(|_| Ok(()))
            .map_err(|error| match error {
                Failure::Invalid(message) => format!("Invalid regular expression: {message}"),
                Failure::OverBudget => "Invalid regular expression: too large".to_owned(),
            })?;
        Ok(regexp)
    }

    /// Returns which of the texts match.
    ///
    /// # Errors
    /// If that exceeds a limit.
    pub(crate) fn matches<'a>(
        &self,
        texts: impl IntoIterator<Item = &'a str>,
    ) -> Result<Vec<bool>> {
        let end = Instant::now() + SEARCH_TIMEOUT;
        let matched = self.with_matcher(|test| {
            let texts = texts.into_iter();
            let each = texts.map(|text| match Instant::now() < end {
                true => test(text),
                false => Err(Failure::OverBudget),
            });
            each.collect()
        });
        matched.map_err(|_| self.too_slow())
    }

    /// Returns the error for an exceeded limit.
    pub(crate) fn too_slow(&self) -> Error {
        Error::PatternTooSlow {
            pattern: format!("/{}/{}", self.source, self.flags),
        }
    }

    fn with_matcher<T>(
        &self,
        work: impl FnOnce(&dyn Fn(&str) -> Result<bool, Failure>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let runtime = Runtime::new()?;
        runtime.set_memory_limit(MAX_MEMORY);
        let spent = Rc::new(Cell::new(0));
        let counted = spent.clone();
        runtime.set_interrupt_handler(Some(Box::new(move || {
            counted.set(counted.get() + 1);
            counted.get() > MAX_STEPS
        })));
        let context = Context::custom::<(
            intrinsic::Eval,
            intrinsic::RegExpCompiler,
            intrinsic::RegExp,
        )>(&runtime)?;
        context.with(|ctx| {
            let test = self.compiled(&ctx).catch(&ctx).map_err(Failure::of)?;
            work(&|text| test.call((text,)).catch(&ctx).map_err(Failure::of))
        })
    }

    fn compiled<'js>(&self, ctx: &Ctx<'js>) -> rquickjs::Result<Function<'js>> {
        let compile: Function<'js> = ctx.eval(
            "(source, flags) => { const regexp = new RegExp(source, flags); return text => regexp.test(text); }",
        )?;
        compile.call((self.source.as_str(), self.flags.as_str()))
    }
}

enum Failure {
    Invalid(String),
    OverBudget,
}

impl Failure {
    fn of(error: CaughtError<'_>) -> Self {
        match error {
            CaughtError::Exception(exception) => {
                let name = exception.get::<_, Option<String>>("name").ok().flatten();
                match name.as_deref() {
                    Some("SyntaxError") => Self::Invalid(exception.message().unwrap_or_default()),
                    _ => Self::OverBudget,
                }
            }
            CaughtError::Error(_) | CaughtError::Value(Value { .. }) => Self::OverBudget,
        }
    }
}

/// Without memory, the matcher cannot be created.
impl From<rquickjs::Error> for Failure {
    fn from(_: rquickjs::Error) -> Self {
        Self::OverBudget
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(source: &str, flags: &str, text: &str) -> bool {
        let regexp = RegExp::new(source, flags).unwrap();
        regexp.matches([text]).unwrap()[0]
    }

    #[test]
    fn patterns_have_javascript_semantics() {
        let cases = [
            (r"(?<=\$)\d+(?!\.)", "", "costs $42", true),
            (r"(?<!\$)\b\d+", "", "costs $42", false),
            (r"(?<year>\d{4})-\k<year>", "", "2026-2026", true),
            (r"(?<year>\d{4})-\k<year>", "", "2026-2025", false),
            (r"^\p{Lu}\p{L}+$", "u", "Ärger", true),
            (r"[\p{L}--[a-z]]", "v", "abc", false),
            ("a.c", "s", "a\nc", true),
            ("^b$", "m", "a\nb\nc", true),
            ("STRASSE", "i", "strasse", true),
            ("b", "gy", "ab", true),
            ("^.$", "u", "😀", true),
            ("^.$", "", "😀", false),
            (r"\0", "", "a\0b", true),
        ];
        for (source, flags, text, expected) in cases {
            assert_eq!(matches(source, flags, text), expected, "/{source}/{flags}");
        }
    }

    #[test]
    fn invalid_javascript_patterns_are_refused() {
        for (source, flags) in [
            ("(", ""),
            ("a", "x"),
            ("a", "uv"),
            (r"\k<a>(?<b>)", ""),
            ("(?<!", ""),
        ] {
            assert!(RegExp::new(source, flags).is_err(), "/{source}/{flags}");
        }
        assert!(RegExp::new(&"a".repeat(MAX_PATTERN_LENGTH + 1), "").is_err());
        assert!(RegExp::new(&"(".repeat(MAX_PATTERN_LENGTH), "").is_err());
    }

    #[test]
    fn catastrophic_backtracking_is_stopped() {
        let text = format!("{}!", "a".repeat(64));
        for source in ["(a+)+$", r"(\w+\s?)+:$", "(a|a)*$", "(?=(a+)+$)"] {
            let regexp = RegExp::new(source, "").unwrap();
            let given_up = regexp.matches([text.as_str()]);
            assert!(
                matches!(given_up, Err(Error::PatternTooSlow { .. })),
                "{source}: {given_up:?}"
            );
        }
    }
}
