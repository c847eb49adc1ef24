//! The style rules that match an element, as a browser reports them.

use std::collections::HashMap;

/// The style rules of an element and what follows from them.
#[derive(Debug, Clone, Default)]
pub struct MatchedStyles {
    /// The rules of the element, the weakest first, in the order of the cascade of normal declarations.
    pub rules: Vec<StyleRule>,
    /// The rules of its ancestors in the flat tree, the parent first.
    pub inherited: Vec<InheritedRules>,
    /// The style sheets of the rules.
    pub sheets: Vec<StyleSheet>,
    /// The computed values of all longhand properties and custom properties.
    pub computed: HashMap<String, String>,
    /// The longhand properties of shorthands whose declarations do not list them: `font: inherit`, `margin: var(--gap)`, and of those that
    /// were asked for.
    pub shorthands: HashMap<String, Vec<String>>,
    /// The width and the height of the border box in CSS pixels; `None` if the element has no box.
    pub border_box: Option<(i64, i64)>,
}

/// The rules of an ancestor.
#[derive(Debug, Clone, Default)]
pub struct InheritedRules {
    /// The ancestor as a selector, such as `div#main.wide`.
    pub ancestor: String,
    /// The rules, the weakest first.
    pub rules: Vec<StyleRule>,
}

/// A style sheet.
#[derive(Debug, Clone, Default)]
pub struct StyleSheet {
    /// The URL of the style sheet, or of the document that contains it; empty if a script has constructed it.
    pub url: String,
    /// The URL of its source map.
    pub source_map: Option<String>,
    /// The line and the column of the document in which an inline style sheet begins, from 0.
    pub start: (u32, u32),
}

/// A rule, or the declarations of an element.
#[derive(Debug, Clone, Default)]
pub struct StyleRule {
    /// Where the rule is from.
    pub origin: RuleOrigin,
    /// The selectors that match, within the selectors of the rules around it; empty for declarations of the element.
    pub selector: String,
    /// The specificity of the strongest of them.
    pub specificity: Option<(u32, u32, u32)>,
    /// The full name of its cascade layer.
    pub layer: Option<String>,
    /// The conditions around it, such as `@media print`, the outermost first.
    pub conditions: Vec<String>,
    /// The index of its style sheet, and the line and column of its selector in it, from 0.
    pub place: Option<(usize, u32, u32)>,
    /// The declarations in their order.
    pub declarations: Vec<Declaration>,
}

/// The origin of a rule, the weakest for normal declarations first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum RuleOrigin {
    /// A rule of the browser.
    UserAgent,
    /// An attribute such as `width`.
    PresentationalHints,
    /// A rule of the page.
    #[default]
    Author,
    /// The attribute `style`.
    StyleAttribute,
}

/// A declaration.
#[derive(Debug, Clone, Default)]
pub struct Declaration {
    /// The property, which may be a shorthand.
    pub name: String,
    /// The value.
    pub value: String,
    /// Whether it is important.
    pub is_important: bool,
    /// The longhand properties with their values, if it is a shorthand and the value determines them.
    pub longhands: Vec<(String, String)>,
    /// The line and column in the style sheet, from 0.
    pub place: Option<(u32, u32)>,
}
