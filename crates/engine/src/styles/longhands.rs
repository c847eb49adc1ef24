//! The longhand properties of declarations, by their physical names.

use crate::backend::MatchedStyles;
use std::collections::HashMap;

/// The physical sides of an element: the start and the end of its block axis, and those of its inline axis.
/// <https://drafts.csswg.org/css-logical-1/>
pub(super) struct Sides {
    block: [&'static str; 2],
    inline: [&'static str; 2],
}

impl Sides {
    pub(super) fn of(computed: &HashMap<String, String>) -> Self {
        let value = |name| computed.get(name).map_or("", String::as_str);
        let (block, mut inline) = match value("writing-mode") {
            "vertical-rl" | "sideways-rl" => (["right", "left"], ["top", "bottom"]),
            "vertical-lr" => (["left", "right"], ["top", "bottom"]),
            "sideways-lr" => (["left", "right"], ["bottom", "top"]),
            _ => (["top", "bottom"], ["left", "right"]),
        };
        if value("direction") == "rtl" {
            inline.reverse();
        }
        Self { block, inline }
    }

    /// Returns the dimension along an axis.
    fn size(axis: [&str; 2]) -> &'static str {
        match axis[0] {
            "left" | "right" => "width",
            _ => "height",
        }
    }
}

/// Returns the physical property to which a logical property maps; the name itself of another property.
pub(super) fn physical(name: &str, sides: &Sides) -> String {
    for (axis, of_axis) in [("block", sides.block), ("inline", sides.inline)] {
        for (end, side) in ["start", "end"].iter().zip(of_axis) {
            if name == format!("inset-{axis}-{end}") {
                return side.to_owned();
            }
            for kind in [
                "margin",
                "padding",
                "border",
                "scroll-margin",
                "scroll-padding",
            ] {
                let logical = format!("{kind}-{axis}-{end}");
                if let Some(rest) = name.strip_prefix(&logical) {
                    return format!("{kind}-{side}{rest}");
                }
            }
        }
        for limit in ["", "min-", "max-"] {
            if name == format!("{limit}{axis}-size") {
                return format!("{limit}{}", Sides::size(of_axis));
            }
        }
    }
    name.to_owned()
}

/// Lists the longhand properties of each shorthand, by their physical names.
pub(super) fn resolve_longhands(matched: &mut MatchedStyles) {
    let sides = Sides::of(&matched.computed);
    let of_ancestors = matched.inherited.iter_mut();
    let of_ancestors = of_ancestors.flat_map(|entry| &mut entry.rules);
    let rules = matched.rules.iter_mut().chain(of_ancestors);
    for declaration in rules.flat_map(|rule| &mut rule.declarations) {
        if let Some(names) = matched.shorthands.get(&declaration.name)
            && declaration.longhands.is_empty()
        {
            // The browser does not know the values before the variables are replaced.
            let names = names.iter().map(|name| (name.clone(), String::new()));
            declaration.longhands = names.collect();
        }
        let name = physical(&declaration.name, &sides);
        if declaration.longhands.is_empty() && name != declaration.name {
            declaration.longhands = vec![(name, declaration.value.clone())];
        }
        for (longhand, _) in &mut declaration.longhands {
            *longhand = physical(longhand, &sides);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logical_properties_map_to_physical_ones() {
        let physical_of = |mode: &str, direction: &str, name: &str| {
            let computed = [("writing-mode", mode), ("direction", direction)];
            let computed = computed.map(|(name, value)| (name.to_owned(), value.to_owned()));
            physical(name, &Sides::of(&HashMap::from(computed)))
        };
        let western = |name| physical_of("horizontal-tb", "ltr", name);
        assert_eq!(western("margin-block-start"), "margin-top");
        assert_eq!(western("padding-inline-end"), "padding-right");
        assert_eq!(western("border-inline-start-color"), "border-left-color");
        assert_eq!(western("inset-block-end"), "bottom");
        assert_eq!(western("min-inline-size"), "min-width");
        assert_eq!(western("margin-trim"), "margin-trim");
        assert_eq!(
            physical_of("horizontal-tb", "rtl", "margin-inline-start"),
            "margin-right"
        );
        assert_eq!(
            physical_of("vertical-rl", "ltr", "margin-block-start"),
            "margin-right"
        );
        assert_eq!(physical_of("vertical-rl", "ltr", "block-size"), "width");
    }
}
