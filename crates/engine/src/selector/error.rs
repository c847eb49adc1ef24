//! Errors in the text of a selector, with suggestions.

/// A target's text that cannot be understood. Positions count characters from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, serde::Serialize)]
#[serde(untagged)]
pub enum SelectorError {
    /// Nothing but blanks.
    #[error(
        "the selector is empty: give a ref such as e5, a CSS selector, or a locator such as getByRole('button')"
    )]
    Empty,
    /// No selector that is meant is so long.
    #[error("the selector is longer than 64 KiB: use a ref of the snapshot, such as e5")]
    TooLong,
    /// A line of a snapshot with several elements.
    #[error("the line names several elements ({refs}): give the ref of one of them")]
    SeveralRefs {
        /// The refs.
        refs: String,
    },
    /// A selector that contains a ref.
    #[error(
        "a selector cannot contain the ref {reference}: give a ref alone, or a selector without refs"
    )]
    RefInSelector {
        /// The ref.
        reference: String,
    },
    /// Not a CSS selector.
    #[error(
        "Unexpected token \"{found}\" while parsing css selector \"{selector}\", at {position}: expected {expected}. Did you mean to CSS.escape it?"
    )]
    Css {
        /// The part of the selector that was read as CSS.
        selector: String,
        /// Where in it.
        position: usize,
        /// What stands there; empty at the end.
        found: String,
        /// What could stand there.
        expected: String,
    },
    /// Not a locator expression, though it begins as one.
    #[error("Unexpected {found} at {position} of the locator `{locator}`: expected {expected}.")]
    Expression {
        /// The whole expression.
        locator: String,
        /// Where in it.
        position: usize,
        /// What stands there.
        found: String,
        /// What could stand there.
        expected: String,
    },
    /// A chain (`a >> b`) with nothing at one end or between two `>>`.
    #[error(
        "Unexpected token \"\" while parsing css selector \"{selector}\", at {position}: expected a selector on both sides of `>>`."
    )]
    EmptyPart {
        /// The whole chain.
        selector: String,
        /// Where a part is missing.
        position: usize,
    },
    /// `foo=…` where `foo` is no selector engine.
    #[error(
        "Unknown engine \"{engine}\" while parsing selector \"{selector}\". Known are css, xpath, text, role, id, data-testid, nth, visible; a CSS attribute selector is written [{engine}=\"…\"]."
    )]
    UnknownEngine {
        /// The whole chain.
        selector: String,
        /// The name before the `=`.
        engine: String,
    },
    /// The text after `engine=` is not what that engine reads.
    #[error("Cannot read \"{body}\" as the body of {engine}=, at {position}: expected {expected}.")]
    Body {
        /// The engine's name.
        engine: String,
        /// What follows its `=`.
        body: String,
        /// Where in the body.
        position: usize,
        /// What could stand there.
        expected: String,
    },
}
