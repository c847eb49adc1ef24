//! The styles of an element and where they are from.

use crate::access::principal::Permission;
use crate::answers::escape::one_line;
use crate::answers::reply::Reply;
use crate::calls::Call;
use crate::config::Capability;
use crate::error::Result;
use crate::tools::scope::CurrentTab;
use crate::tools::tool::{Effect, Tool, ToolDef};
use engine::{
    BoxModel, Declared, ElementStyles, Feature, MatchedRule, RuleOf, RuleOrigin, SourcePosition,
    StyleProperty, Variable, estimate_tokens,
};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<GetStyles>()];

/// The largest size of an answer, in tokens.
const MAX_TOKENS: usize = 600;
/// The largest size of a value or a selector, in characters.
const MAX_CHARS: usize = 100;
/// The largest number of names of properties that are left out.
const MAX_NAMES: usize = 12;

/// Show where an element's styles come from: rules, winning and overridden declarations, box.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct GetStyles {
    /// Ref from the snapshot, or a selector.
    target: String,
    /// CSS properties; default: those that the page's rules set.
    properties: Option<Vec<String>>,
}

impl Tool for GetStyles {
    const NAME: &'static str = "browser_get_styles";
    const TITLE: &'static str = "Get styles";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Read;
    const CAPABILITY: Option<Capability> = Some(Capability::Devtools);
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        tab.require(Feature::StyleRules)?;
        let locator = tab.find(call, &self.target).await?.locator;
        let properties = self.properties.unwrap_or_default();
        let styles = locator.styles(&call.action(), &properties).await?;
        Ok(Reply::page(shown(&styles)))
    }
}

/// Returns as many properties as there is room for, with their rules.
fn shown(styles: &ElementStyles) -> String {
    let all = styles.properties.len();
    let texts = (0..=all).rev().map(|count| text(styles, count));
    let mut last = String::new();
    for text in texts {
        last = text;
        if estimate_tokens(&last) <= MAX_TOKENS {
            break;
        }
    }
    last
}

/// Returns the answer with the first properties.
fn text(styles: &ElementStyles, count: usize) -> String {
    let (properties, rest) = styles.properties.split_at(count);
    let numbers = numbers(properties);
    let mut lines = vec![one_line(&styles.element).into_owned()];
    if !numbers.is_empty() {
        lines.push("Rules, strongest first:".to_owned());
    }
    lines.extend(
        numbers
            .iter()
            .map(|(rule, number)| format!("{number}. {}", described(&styles.rules[*rule], true))),
    );
    for property in properties {
        add_property(property, &numbers, &mut lines);
    }
    if properties.is_empty() && rest.is_empty() {
        lines.push("No rule of the page sets a property.".to_owned());
    }
    lines.push(match &styles.bounds {
        Some(bounds) => box_line(bounds),
        None => "Box: none, the element is not rendered".to_owned(),
    });
    if !rest.is_empty() {
        let names = rest
            .iter()
            .take(MAX_NAMES)
            .map(|property| property.name.as_str());
        let names: Vec<_> = names.collect();
        let dots = if rest.len() > MAX_NAMES { ", …" } else { "" };
        lines.push(format!(
            "… {} more properties (parameter properties): {}{dots}",
            rest.len(),
            one_line(&names.join(", "))
        ));
    }
    lines.join("\n")
}

/// Returns the numbers of the rules that properties are about.
fn numbers(properties: &[StyleProperty]) -> BTreeMap<usize, usize> {
    let rule = |declared: &Option<Declared>| match declared.as_ref()?.rule {
        RuleOf::Element(rule) => Some(rule),
        RuleOf::Ancestor { .. } => None,
    };
    let rules = properties.iter().flat_map(|property| {
        let variables = property.variables.iter();
        let variables = variables.filter_map(|variable| rule(&variable.declared));
        let overridden = property.overridden.iter().map(|other| other.rule);
        rule(&property.declared)
            .into_iter()
            .chain(overridden)
            .chain(variables)
    });
    let mut numbers: BTreeMap<usize, usize> = rules.map(|rule| (rule, 0)).collect();
    for (index, number) in numbers.values_mut().enumerate() {
        *number = index + 1;
    }
    numbers
}

fn add_property(
    property: &StyleProperty,
    numbers: &BTreeMap<usize, usize>,
    lines: &mut Vec<String>,
) {
    let mut line = format!("{}: ", one_line(&property.name));
    line += &match (&property.value, &property.computed) {
        // The browser has no text for some values of its own.
        (Some(value), Some(computed)) if value.is_empty() => shortened(computed),
        (Some(value), _) => shortened(value),
        (None, Some(initial)) => format!("{} (initial value)", shortened(initial)),
        (None, None) => "no such property".to_owned(),
    };
    if property.is_important {
        line += " !important";
    }
    let value = property.value.as_ref().filter(|value| !value.is_empty());
    if let (Some(_), Some(computed)) = (value, &property.computed) {
        line += &format!(" = {}", shortened(computed));
    }
    if let Some(shorthand) = &property.shorthand {
        line += &format!(" by {}", one_line(shorthand));
    }
    line += &location(property.declared.as_ref(), numbers);
    lines.push(line);
    lines.extend(property.variables.iter().map(|variable| {
        let Variable {
            name,
            value,
            declared,
        } = variable;
        let value = value
            .as_deref()
            .map_or_else(|| "not defined".to_owned(), shortened);
        let location = location(declared.as_ref(), numbers);
        format!("  {}: {value}{location}", one_line(name))
    }));
    // Those with the same reason are together.
    let reasons = property
        .overridden
        .chunk_by(|one, other| one.reason == other.reason);
    let overridden = reasons.map(|others| {
        let shown = others.iter().map(|other| {
            let rule = numbers.get(&other.rule).copied().unwrap_or_default();
            let name = other
                .name
                .iter()
                .map(|name| format!("{}: ", one_line(name)));
            format!(
                "{}{} of {rule}",
                name.collect::<String>(),
                shortened(&other.value)
            )
        });
        format!(
            "{} ({})",
            shown.collect::<Vec<_>>().join(", "),
            others[0].reason
        )
    });
    let overridden = overridden.collect::<Vec<_>>().join(", ");
    if !overridden.is_empty() {
        lines.push(format!("  overrides {overridden}"));
    }
}

/// Returns where a declaration is.
fn location(declared: Option<&Declared>, numbers: &BTreeMap<usize, usize>) -> String {
    let Some(Declared { rule, position }) = declared else {
        return String::new();
    };
    match rule {
        RuleOf::Element(rule) => {
            let number = numbers.get(rule).copied().unwrap_or_default();
            let line = position
                .as_ref()
                .map(|position| format!(", line {}", position.line));
            format!(" of {number}{}", line.unwrap_or_default())
        }
        RuleOf::Ancestor { ancestor, rule } => {
            let rule = MatchedRule {
                position: position.clone().or_else(|| rule.position.clone()),
                ..rule.clone()
            };
            format!(
                ", inherited from {}: {}",
                shortened(ancestor),
                described(&rule, false)
            )
        }
    }
}

/// Returns a rule: its selectors, with their specificity if requested, its position, its layer and its conditions.
fn described(rule: &MatchedRule, has_specificity: bool) -> String {
    let mut text = match rule.origin {
        RuleOrigin::StyleAttribute => "style attribute".to_owned(),
        RuleOrigin::PresentationalHints => "attributes".to_owned(),
        RuleOrigin::Author | RuleOrigin::UserAgent => shortened(&rule.selector),
    };
    if let Some((a, b, c)) = rule.specificity.filter(|_| has_specificity) {
        // Writing to a string does not fail.
        let _ = write!(text, " ({a},{b},{c})");
    }
    if rule.origin == RuleOrigin::UserAgent {
        text += " of the browser";
    }
    if let Some(position) = &rule.position {
        text += &format!(" {}", shown_position(position));
    }
    if let Some(layer) = &rule.layer {
        text += &format!(" @layer {}", shortened(layer));
    }
    for condition in &rule.conditions {
        text += &format!(" {}", shortened(condition));
    }
    text
}

fn shown_position(position: &SourcePosition) -> String {
    one_line(&position.to_string()).into_owned()
}

fn box_line(bounds: &BoxModel) -> String {
    let sides = |sides: &[String; 4]| match sides {
        [top, right, bottom, left] if top == bottom && right == left => match top == right {
            true => top.clone(),
            false => format!("{top} {right}"),
        },
        sides => sides.join(" "),
    };
    let (width, height) = bounds.content;
    format!(
        "Box: content {width}×{height}, padding {}, border {}, margin {}",
        sides(&bounds.padding),
        sides(&bounds.border),
        sides(&bounds.margin)
    )
}

/// Returns a text of the page for a line.
fn shortened(text: &str) -> String {
    let line = one_line(text);
    match line.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.into_owned(),
    }
}
