//! The styles of an element: the rules that match it, the winning declaration of each property, and those that it overrides.

mod cascade;
mod groups;
mod longhands;

pub use cascade::Precedence;

use crate::backend::{FrameId, MatchedStyles, RuleOrigin, SourcePosition, StyleRule};
use crate::error::Result;
use crate::locator::Locator;
use crate::page::Page;
use crate::progress::Progress;
use crate::source_map::{SourceMap, source_name};
use cascade::{Cascade, is_inherited};
use futures_util::future::join_all;
use groups::{Group, Longhand, Winner, grouped};
use longhands::{Sides, physical, resolve_longhands};
use std::time::Duration;
use url::Url;

/// How long the source maps of the style sheets may take. Positions whose map is not loaded until then are those of the style sheet.
const SOURCE_MAP_TIMEOUT: Duration = Duration::from_secs(2);
/// The largest number of custom properties of a value.
const MAX_VARIABLES: usize = 6;

/// The styles of an element.
#[derive(Debug, Clone, PartialEq)]
pub struct ElementStyles {
    /// A short description of the element, such as `<button id="go">Go</button>`.
    pub element: String,
    /// The rules that match the element, the strongest first.
    pub rules: Vec<MatchedRule>,
    /// The properties: first those that the rules of the element declare, then the inherited ones.
    pub properties: Vec<StyleProperty>,
    /// The box; `None` if the element is not rendered.
    pub bounds: Option<BoxModel>,
}

/// A rule that matches an element, or the declarations of the element itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchedRule {
    /// Where it is from.
    pub origin: RuleOrigin,
    /// The selectors that match, within those of the rules around it; empty for declarations of the element.
    pub selector: String,
    /// The specificity of the strongest of them.
    pub specificity: Option<(u32, u32, u32)>,
    /// The full name of its cascade layer.
    pub layer: Option<String>,
    /// The conditions around it, such as `@media print`.
    pub conditions: Vec<String>,
    /// The position of the selector.
    pub position: Option<SourcePosition>,
}

/// A property of an element, and where its value is from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StyleProperty {
    /// The name. A shorthand stands for all longhand properties for which its declaration wins.
    pub name: String,
    /// The winning value, as it is written; `None` if the property has its initial value.
    pub value: Option<String>,
    /// Whether it is important.
    pub is_important: bool,
    /// The shorthand that the declaration is about, if that is another name.
    pub shorthand: Option<String>,
    /// The computed value.
    pub computed: Option<String>,
    /// Where the declaration is.
    pub declared: Option<Declared>,
    /// The weaker declarations of the property, the strongest first.
    pub overridden: Vec<Overridden>,
    /// The custom properties that the value uses, also indirectly.
    pub variables: Vec<Variable>,
}

/// Where a declaration is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declared {
    /// The rule.
    pub rule: RuleOf,
    /// The position of the declaration.
    pub position: Option<SourcePosition>,
}

/// The rule of a declaration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RuleOf {
    /// The index of a rule of the element in [`ElementStyles::rules`].
    Element(usize),
    /// A rule of an ancestor, which is described as a selector.
    Ancestor {
        /// The ancestor, such as `div#main.wide`.
        ancestor: String,
        /// The rule.
        rule: MatchedRule,
    },
}

/// A declaration that another one overrides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overridden {
    /// The index of its rule in [`ElementStyles::rules`].
    pub rule: usize,
    /// The property that it is about, if that is not the one that overrides it.
    pub name: Option<String>,
    /// The value.
    pub value: String,
    /// Why the other one is stronger.
    pub reason: Precedence,
}

/// A custom property that a value uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// The name, with `--`.
    pub name: String,
    /// The computed value; `None` if it is not defined.
    pub value: Option<String>,
    /// Where it is declared.
    pub declared: Option<Declared>,
}

/// The box of an element. The sides are in the order top, right, bottom, left.
#[derive(Debug, Clone, PartialEq)]
pub struct BoxModel {
    /// The width and the height of the content, in CSS pixels.
    pub content: (f64, f64),
    /// The computed values of the padding.
    pub padding: [String; 4],
    /// The computed widths of the border.
    pub border: [String; 4],
    /// The computed values of the margin.
    pub margin: [String; 4],
}

impl Locator {
    /// Returns the styles of the element: of these properties, longhands or shorthands, or else of all that rules of the page declare.
    pub async fn styles(
        &self,
        progress: &Progress,
        properties: &[String],
    ) -> Result<ElementStyles> {
        let element = self.resolve(progress).await?;
        let page = &element.page;
        progress
            .run(async {
                let names = properties.iter().map(|name| match name.trim() {
                    // Names of custom properties are case-sensitive.
                    name if name.starts_with("--") => name.to_owned(),
                    name => name.to_ascii_lowercase(),
                });
                let names: Vec<_> = names.collect();
                let backend = &page.backend;
                let read = backend.matched_styles(&element.frame, element.handle, &names);
                let mut matched = page.unless_interrupted(read).await?;
                resolve_longhands(&mut matched);
                let maps = page.maps_of(progress, &element.frame, &matched).await;
                let frames = page.frames();
                let frame = frames.into_iter().find(|frame| frame.id == element.frame);
                let reader = Reader {
                    own: Cascade::new(&matched.rules),
                    matched: &matched,
                    maps,
                    document: frame.and_then(|frame| Url::parse(&frame.url).ok()),
                };
                Ok(reader.read(element.preview.clone(), &names))
            })
            .await
    }
}

impl Page {
    /// Returns the source map of each style sheet that has one.
    async fn maps_of(
        &self,
        progress: &Progress,
        frame: &FrameId,
        matched: &MatchedStyles,
    ) -> Vec<Option<SourceMap>> {
        let progress = progress.within(SOURCE_MAP_TIMEOUT);
        let maps = matched.sheets.iter().map(|sheet| async {
            let named = sheet.source_map.as_ref()?;
            let map = self.source_map(frame, &sheet.url, named);
            // A map that cannot be loaded is none.
            progress.run(map).await.ok().flatten()
        });
        join_all(maps).await
    }
}

/// Reads the styles of an element from the rules that match it.
struct Reader<'a> {
    matched: &'a MatchedStyles,
    own: Cascade<'a>,
    maps: Vec<Option<SourceMap>>,
    document: Option<Url>,
}

impl<'a> Reader<'a> {
    fn read(&self, element: String, asked: &[String]) -> ElementStyles {
        let names = match asked {
            [] => self.names(),
            asked => unique(asked.iter().flat_map(|name| self.longhands(name))),
        };
        let longhands = names
            .into_iter()
            .map(|name| self.longhand(name, !asked.is_empty()));
        let groups = grouped(longhands.collect());
        // The rules that the answer is about, the strongest first.
        let mut rules: Vec<usize> = groups.iter().flat_map(|group| group.rules()).collect();
        let properties_of_rules = groups.iter().flat_map(|group| self.variables(group));
        rules.extend(properties_of_rules.filter_map(|(_, winner)| {
            winner
                .filter(|it| it.ancestor.is_none())
                .map(|it| it.candidate.rule)
        }));
        rules.sort_unstable_by(|one, other| other.cmp(one));
        rules.dedup();
        ElementStyles {
            element,
            properties: groups
                .iter()
                .map(|group| self.property(group, &rules))
                .collect(),
            rules: rules
                .iter()
                .map(|rule| self.rule(&self.matched.rules[*rule]))
                .collect(),
            bounds: self.bounds(),
        }
    }

    /// Returns the longhand properties that rules of the page declare: first for the element, the strongest rule first, then for ancestors.
    fn names(&self) -> Vec<String> {
        let declared = |rules: &'a [StyleRule]| {
            let rules = rules.iter().rev();
            let rules = rules.filter(|rule| rule.origin != RuleOrigin::UserAgent);
            let names = rules.flat_map(|rule| rule.declarations.iter().flat_map(names_of));
            names.filter(|name| !name.starts_with("--"))
        };
        let inherited = self.matched.inherited.iter();
        let inherited = inherited.flat_map(|entry| declared(&entry.rules));
        let inherited =
            inherited.filter(|name| is_inherited(name) && self.own.candidates(name).is_empty());
        unique(declared(&self.matched.rules).chain(inherited))
    }

    /// Returns the longhand properties of a shorthand that rules declare, or else all of them; the physical name of another property.
    fn longhands(&self, name: &str) -> Vec<String> {
        let names = self
            .matched
            .shorthands
            .get(name)
            .filter(|names| !names.is_empty());
        let Some(names) = names else {
            return vec![self.physical(name)];
        };
        let names = unique(names.iter().map(|name| self.physical(name)));
        let declared: Vec<_> = names
            .iter()
            .filter(|name| self.longhand((*name).clone(), true).winner.is_some())
            .cloned()
            .collect();
        match declared.is_empty() {
            true => names,
            false => declared,
        }
    }

    fn physical(&self, name: &str) -> String {
        physical(name, &Sides::of(&self.matched.computed))
    }

    /// Returns a property with its winning declaration. Rules of the browser are only considered to be overridden if the client asked for
    /// the property.
    fn longhand(&self, name: String, is_asked: bool) -> Longhand<'a> {
        let candidates = self.own.candidates(&name);
        let mut winner = candidates.first().map(|candidate| Winner {
            ancestor: None,
            rule: self.own.rule(*candidate),
            candidate: *candidate,
        });
        let others = candidates
            .iter()
            .skip(1)
            .filter(|other| is_asked || self.own.rule(**other).origin != RuleOrigin::UserAgent);
        let others = candidates.first().map_or_else(Vec::new, |first| {
            others
                .map(|other| (*other, self.own.precedence(*first, *other)))
                .collect()
        });
        let takes_parent = match winner {
            None => is_inherited(&name),
            Some(winner) => match winner.candidate.value {
                "inherit" => true,
                "unset" => is_inherited(&name),
                _ => false,
            },
        };
        if takes_parent {
            winner = self.inherited(&name).or(winner);
        }
        Longhand {
            name,
            winner,
            others,
        }
    }

    /// Returns the declaration of the nearest ancestor that does not inherit the value itself.
    fn inherited(&self, name: &str) -> Option<Winner<'a>> {
        self.matched.inherited.iter().find_map(|entry| {
            let cascade = Cascade::new(&entry.rules);
            let candidate = cascade.candidates(name).into_iter().next()?;
            let is_own = !matches!(candidate.value, "inherit" | "unset");
            is_own.then(|| Winner {
                ancestor: Some(entry),
                rule: cascade.rule(candidate),
                candidate,
            })
        })
    }

    fn property(&self, group: &Group<'a>, rules: &[usize]) -> StyleProperty {
        let single = match &group.longhands[..] {
            [name] => Some(name),
            _ => None,
        };
        let computed = single
            .and_then(|name| self.matched.computed.get(name))
            .cloned();
        let index = |rule: usize| {
            rules
                .iter()
                .position(|other| *other == rule)
                .unwrap_or_default()
        };
        let Some(winner) = group.winner else {
            return StyleProperty {
                name: group.longhands[0].clone(),
                value: None,
                is_important: false,
                shorthand: None,
                computed,
                declared: None,
                overridden: Vec::new(),
                variables: Vec::new(),
            };
        };
        let declaration = winner.candidate.declaration;
        let (name, value) = match single {
            Some(name) => (name, winner.candidate.value),
            None => (&declaration.name, declaration.value.as_str()),
        };
        let declared = |winner: Winner<'a>| Declared {
            rule: match winner.ancestor {
                None => RuleOf::Element(index(winner.candidate.rule)),
                Some(entry) => RuleOf::Ancestor {
                    ancestor: entry.ancestor.clone(),
                    rule: self.rule(winner.rule),
                },
            },
            position: winner.rule.place.and_then(|(sheet, ..)| {
                let (line, column) = winner.candidate.declaration.place?;
                self.position(sheet, line, column)
            }),
        };
        let overridden = group.others.iter().map(|(other, reason)| Overridden {
            rule: index(other.rule),
            name: match single {
                Some(_) => None,
                None => Some(&other.declaration.name)
                    .filter(|other| *other != name)
                    .cloned(),
            },
            value: match single {
                Some(_) => other.value.to_owned(),
                None => other.declaration.value.clone(),
            },
            reason: *reason,
        });
        // The browser has no text for some values of its own.
        let overridden = overridden.filter(|other| !other.value.is_empty());
        let variables = self.variables(group).into_iter();
        StyleProperty {
            is_important: declaration.is_important,
            shorthand: (declaration.name != *name).then(|| declaration.name.clone()),
            computed: computed.filter(|computed| computed != value),
            declared: Some(declared(winner)),
            overridden: overridden.collect(),
            variables: variables
                .map(|(name, winner)| Variable {
                    value: self
                        .matched
                        .computed
                        .get(&name)
                        .cloned()
                        .or_else(|| winner.map(|winner| winner.candidate.value.to_owned())),
                    declared: winner.map(declared),
                    name,
                })
                .collect(),
            name: name.clone(),
            value: Some(value.to_owned()),
        }
    }

    /// Returns the custom properties that a value uses, with their declarations.
    fn variables(&self, group: &Group<'a>) -> Vec<(String, Option<Winner<'a>>)> {
        let mut found: Vec<(String, Option<Winner<'a>>)> = Vec::new();
        let mut values: Vec<&str> = group
            .winner
            .map(|winner| winner.candidate.declaration.value.as_str())
            .into_iter()
            .collect();
        while let Some(value) = values.pop() {
            for name in variables_in(value) {
                let is_known = found.iter().any(|(known, _)| known == name);
                if is_known || found.len() == MAX_VARIABLES {
                    continue;
                }
                let winner = self.longhand(name.to_owned(), false).winner;
                values.extend(winner.map(|winner| winner.candidate.value));
                found.push((name.to_owned(), winner));
            }
        }
        found
    }

    fn rule(&self, rule: &StyleRule) -> MatchedRule {
        MatchedRule {
            origin: rule.origin,
            selector: rule.selector.clone(),
            specificity: rule.specificity,
            layer: rule.layer.clone(),
            conditions: rule.conditions.clone(),
            position: rule
                .place
                .and_then(|(sheet, line, column)| self.position(sheet, line, column)),
        }
    }

    /// Returns a position in a style sheet as that in its source, or else in the file that contains the style sheet.
    fn position(&self, sheet: usize, line: u32, column: u32) -> Option<SourcePosition> {
        let map = self.maps.get(sheet)?.as_ref();
        if let Some(source) = map.and_then(|map| map.position(line, column)) {
            return Some(source);
        }
        let sheet = self.matched.sheets.get(sheet)?;
        let (first_line, first_column) = sheet.start;
        let indent = if line == 0 { first_column } else { 0 };
        let source = match &self.document {
            _ if sheet.url.is_empty() => "a constructed style sheet".to_owned(),
            Some(document) => source_name("", &sheet.url, document),
            None => sheet.url.clone(),
        };
        Some(SourcePosition {
            source: if source.is_empty() {
                "/".into()
            } else {
                source.into()
            },
            line: first_line.saturating_add(line).saturating_add(1),
            column: indent.saturating_add(column).saturating_add(1),
        })
    }

    fn bounds(&self) -> Option<BoxModel> {
        let (width, height) = self.matched.border_box?;
        let computed = |name: String| {
            self.matched
                .computed
                .get(&name)
                .cloned()
                .unwrap_or_default()
        };
        let sides = |before: &str, after: &str| {
            ["top", "right", "bottom", "left"]
                .map(|side| computed(format!("{before}-{side}{after}")))
        };
        let (padding, border) = (sides("padding", ""), sides("border", "-width"));
        let pixels = |text: &str| {
            text.strip_suffix("px")
                .and_then(|it| it.parse::<f64>().ok())
        };
        let both = |one: usize, other: usize| -> f64 {
            let sides = [&padding[one], &padding[other], &border[one], &border[other]];
            sides.iter().filter_map(|side| pixels(side)).sum()
        };
        #[expect(clippy::cast_precision_loss, reason = "a size has few digits")]
        let (width, height) = (width as f64, height as f64);
        Some(BoxModel {
            content: (
                (width - both(1, 3)).max(0.0),
                (height - both(0, 2)).max(0.0),
            ),
            margin: sides("margin", ""),
            padding,
            border,
        })
    }
}

/// Returns the longhand properties of a declaration.
fn names_of(declaration: &crate::backend::Declaration) -> Vec<String> {
    match declaration.longhands.is_empty() {
        true => vec![declaration.name.clone()],
        false => declaration
            .longhands
            .iter()
            .map(|(name, _)| name.clone())
            .collect(),
    }
}

/// Returns the names without repetitions, in the order of the first of each.
fn unique(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = std::collections::HashSet::new();
    names.filter(|name| seen.insert(name.clone())).collect()
}

/// Returns the names of the custom properties that a value uses.
fn variables_in(value: &str) -> impl Iterator<Item = &str> {
    value.split("var(").skip(1).filter_map(|rest| {
        let rest = rest.trim_start();
        let is_end = |char: char| char.is_whitespace() || matches!(char, ',' | ')');
        let name = &rest[..rest.find(is_end).unwrap_or(rest.len())];
        name.starts_with("--").then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_found_in_functions_and_fallbacks() {
        let names: Vec<_> =
            variables_in("calc(var(--a) + var( --b , var(--c))) var(x) var(--d").collect();
        assert_eq!(names, ["--a", "--b", "--c", "--d"]);
    }
}
