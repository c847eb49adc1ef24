//! The cascade: which declaration of a property wins, and why others do not. <https://drafts.csswg.org/css-cascade-5/>

use crate::backend::{Declaration, RuleOrigin, StyleRule};
use std::cmp::Reverse;
use std::collections::HashMap;

/// Why a declaration is stronger than another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::Display)]
pub enum Precedence {
    /// Only one of them is important.
    #[strum(to_string = "!important")]
    Important,
    /// A rule of the page is stronger than an attribute or a rule of the browser.
    #[strum(to_string = "origin")]
    Origin,
    /// The attribute `style` is stronger than rules.
    #[strum(to_string = "style attribute")]
    StyleAttribute,
    /// Its cascade layer is stronger.
    #[strum(to_string = "layer")]
    Layer,
    /// Its selector is more specific.
    #[strum(to_string = "specificity")]
    Specificity,
    /// Its rule is later.
    #[strum(to_string = "order")]
    Order,
    /// The scope of its rule is nearer, or its rule is in another shadow tree.
    #[strum(to_string = "scope or shadow tree")]
    Context,
}

/// The rules of an element, the weakest first.
pub(super) struct Cascade<'a> {
    rules: &'a [StyleRule],
    /// The ranks of cascade layers for normal declarations.
    layers: HashMap<&'a str, usize>,
}

/// A declaration of a longhand property.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate<'a> {
    /// The index of its rule.
    pub(super) rule: usize,
    pub(super) declaration: &'a Declaration,
    /// The value of the longhand property, or of the shorthand if it contains variables.
    pub(super) value: &'a str,
}

impl<'a> Cascade<'a> {
    pub(super) fn new(rules: &'a [StyleRule]) -> Self {
        let mut layers = HashMap::new();
        for (index, rule) in rules.iter().enumerate() {
            if let Some(layer) = &rule.layer {
                layers.entry(layer.as_str()).or_insert(index);
            }
        }
        Self { rules, layers }
    }

    pub(super) fn rule(&self, candidate: Candidate<'_>) -> &'a StyleRule {
        &self.rules[candidate.rule]
    }

    /// Returns the declarations of a property, the strongest first; of each rule the strongest one.
    pub(super) fn candidates(&self, name: &str) -> Vec<Candidate<'a>> {
        let rules = self.rules.iter().enumerate();
        let declared = rules.filter_map(|(rule, StyleRule { declarations, .. })| {
            let declared = declarations.iter().filter_map(|declaration| {
                let value = value_of(declaration, name)?;
                Some(Candidate {
                    rule,
                    declaration,
                    value,
                })
            });
            // The last one of the important ones, or else of all.
            declared.reduce(|strongest, next| {
                let is_weaker =
                    strongest.declaration.is_important && !next.declaration.is_important;
                if is_weaker { strongest } else { next }
            })
        });
        let mut candidates: Vec<_> = declared.collect();
        candidates.sort_by_key(|candidate| Reverse(self.strength(*candidate)));
        candidates
    }

    /// Returns the strength of a declaration: its origin and importance, its layer if it is important, and its place.
    fn strength(&self, candidate: Candidate<'_>) -> (u8, Reverse<usize>, usize) {
        let rule = self.rule(candidate);
        let is_important = candidate.declaration.is_important;
        let tier = match (is_important, rule.origin) {
            (false, RuleOrigin::UserAgent) => 0,
            (false, RuleOrigin::PresentationalHints) => 1,
            (false, RuleOrigin::Author) => 2,
            (false, RuleOrigin::StyleAttribute) => 3,
            (true, RuleOrigin::Author | RuleOrigin::PresentationalHints) => 4,
            (true, RuleOrigin::StyleAttribute) => 5,
            (true, RuleOrigin::UserAgent) => 6,
        };
        // For important declarations, the order of layers is reversed; what is in no layer is last.
        let rank = match &rule.layer {
            Some(layer) => self.layers.get(layer.as_str()).copied().unwrap_or_default(),
            None => usize::MAX,
        };
        let layer = if is_important { rank } else { 0 };
        (tier, Reverse(layer), candidate.rule)
    }

    /// Returns why a declaration is stronger than another one.
    pub(super) fn precedence(&self, winner: Candidate<'_>, loser: Candidate<'_>) -> Precedence {
        let (strong, weak) = (self.rule(winner), self.rule(loser));
        if winner.declaration.is_important != loser.declaration.is_important {
            Precedence::Important
        } else if strong.origin != weak.origin {
            match strong.origin {
                RuleOrigin::StyleAttribute => Precedence::StyleAttribute,
                _ => Precedence::Origin,
            }
        } else if strong.layer != weak.layer {
            Precedence::Layer
        } else {
            match strong.specificity.cmp(&weak.specificity) {
                std::cmp::Ordering::Greater => Precedence::Specificity,
                std::cmp::Ordering::Equal => Precedence::Order,
                std::cmp::Ordering::Less => Precedence::Context,
            }
        }
    }
}

/// Returns the value that a declaration gives to a property.
fn value_of<'a>(declaration: &'a Declaration, name: &str) -> Option<&'a str> {
    if declaration.name == name {
        return Some(&declaration.value);
    }
    let mut longhands = declaration.longhands.iter();
    let (_, value) = longhands.find(|(longhand, _)| longhand == name)?;
    // The browser does not know it before the variables are replaced.
    Some(if value.is_empty() {
        &declaration.value
    } else {
        value
    })
}

/// Returns whether elements inherit the values of a property.
pub(super) fn is_inherited(name: &str) -> bool {
    const PREFIXES: [&str; 4] = ["--", "font", "list-style", "text-emphasis"];
    const NAMES: [&str; 50] = [
        "accent-color",
        "border-collapse",
        "border-spacing",
        "caption-side",
        "caret-color",
        "clip-rule",
        "color",
        "color-scheme",
        "cursor",
        "direction",
        "dominant-baseline",
        "empty-cells",
        "fill",
        "fill-opacity",
        "fill-rule",
        "forced-color-adjust",
        "hyphens",
        "image-rendering",
        "letter-spacing",
        "line-break",
        "line-height",
        "orphans",
        "overflow-wrap",
        "paint-order",
        "pointer-events",
        "print-color-adjust",
        "quotes",
        "ruby-align",
        "ruby-position",
        "scrollbar-color",
        "stroke",
        "stroke-opacity",
        "stroke-width",
        "tab-size",
        "text-align",
        "text-align-last",
        "text-anchor",
        "text-indent",
        "text-rendering",
        "text-shadow",
        "text-transform",
        "text-underline-offset",
        "text-underline-position",
        "text-wrap-mode",
        "visibility",
        "white-space-collapse",
        "widows",
        "word-break",
        "word-spacing",
        "writing-mode",
    ];
    PREFIXES.iter().any(|prefix| name.starts_with(prefix)) || NAMES.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(
        origin: RuleOrigin,
        layer: Option<&str>,
        specificity: u32,
        declarations: &[(&str, &str, bool)],
    ) -> StyleRule {
        let declarations = declarations
            .iter()
            .map(|(name, value, is_important)| Declaration {
                name: (*name).to_owned(),
                value: (*value).to_owned(),
                is_important: *is_important,
                ..Declaration::default()
            });
        StyleRule {
            origin,
            specificity: Some((0, specificity, 0)),
            layer: layer.map(str::to_owned),
            declarations: declarations.collect(),
            ..StyleRule::default()
        }
    }

    fn resolved(rules: &[StyleRule]) -> Vec<(&str, Option<Precedence>)> {
        let cascade = Cascade::new(rules);
        let candidates = cascade.candidates("color");
        let winner = candidates[0];
        let all = candidates.iter().enumerate();
        all.map(|(index, candidate)| {
            let precedence = (index > 0).then(|| cascade.precedence(winner, *candidate));
            (candidate.value, precedence)
        })
        .collect()
    }

    #[test]
    fn the_strongest_declaration_wins_and_the_reason_is_the_first_difference() {
        use RuleOrigin::{Author, PresentationalHints, StyleAttribute, UserAgent};
        let rules = [
            rule(UserAgent, None, 1, &[("color", "browser", false)]),
            rule(PresentationalHints, None, 0, &[("color", "hint", false)]),
            rule(Author, Some("base"), 9, &[("color", "layered", false)]),
            rule(Author, None, 1, &[("color", "early", false)]),
            rule(
                Author,
                None,
                1,
                &[("color", "fallback", false), ("color", "late", false)],
            ),
            rule(Author, None, 2, &[("color", "specific", false)]),
        ];
        assert_eq!(
            resolved(&rules),
            [
                ("specific", None),
                ("late", Some(Precedence::Specificity)),
                ("early", Some(Precedence::Specificity)),
                ("layered", Some(Precedence::Layer)),
                ("hint", Some(Precedence::Origin)),
                ("browser", Some(Precedence::Origin)),
            ]
        );
        assert_eq!(resolved(&rules[..5])[1], ("early", Some(Precedence::Order)));
        let mut rules = rules.to_vec();
        rules.push(rule(StyleAttribute, None, 0, &[("color", "own", false)]));
        assert_eq!(resolved(&rules)[0].0, "own");
        assert_eq!(resolved(&rules)[1].1, Some(Precedence::StyleAttribute));
    }

    #[test]
    fn important_declarations_reverse_the_order_of_layers() {
        use RuleOrigin::{Author, StyleAttribute};
        let rules = [
            rule(
                Author,
                Some("base"),
                1,
                &[("color", "first", true), ("color", "x", false)],
            ),
            rule(Author, Some("base"), 2, &[("color", "second", true)]),
            rule(Author, Some("theme"), 3, &[("color", "theme", true)]),
            rule(Author, None, 4, &[("color", "unlayered", true)]),
            rule(StyleAttribute, None, 0, &[("color", "own", false)]),
        ];
        assert_eq!(
            resolved(&rules),
            [
                ("second", None),
                ("first", Some(Precedence::Specificity)),
                ("theme", Some(Precedence::Layer)),
                ("unlayered", Some(Precedence::Layer)),
                ("own", Some(Precedence::Important)),
            ]
        );
    }

    #[test]
    fn a_shorthand_declares_its_longhands() {
        let declaration = |value: &str, longhand: &str| Declaration {
            name: "background".to_owned(),
            value: value.to_owned(),
            longhands: vec![("background-color".to_owned(), longhand.to_owned())],
            ..Declaration::default()
        };
        let known = declaration("red url(x)", "red");
        assert_eq!(value_of(&known, "background-color"), Some("red"));
        assert_eq!(value_of(&known, "background-image"), None);
        let unknown = declaration("var(--x)", "");
        assert_eq!(value_of(&unknown, "background-color"), Some("var(--x)"));
    }
}
