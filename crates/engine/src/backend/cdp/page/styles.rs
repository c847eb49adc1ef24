//! The style rules of an element, from the `CSS` domain.

use super::CdpPage;
use super::evaluation::value;
use crate::backend::{
    Declaration, FrameId, Handle, InheritedRules, MatchedStyles, RuleOrigin, StyleRule, StyleSheet,
    Styles,
};
use crate::error::{Error, Result};
use async_trait::async_trait;
use std::collections::HashMap;
use wire::cdp::{css, dom, runtime};
use wire::{Reply, Session};

/// Returns the ancestors of an element in the flat tree, the parent first, as selectors. Fields of a form shadow its properties.
const ANCESTORS: &str = r"function() {
    const own = (type, name, node) => Reflect.get(type.prototype, name, node);
    const attribute = (node, name) => Element.prototype.getAttribute.call(node, name) ?? '';
    const up = node => (node instanceof Element && own(Element, 'assignedSlot', node)) || own(Node, 'parentNode', node);
    const names = [];
    for (let node = up(this); node; node = node instanceof ShadowRoot ? node.host : up(node)) {
        if (!(node instanceof Element)) continue;
        const id = attribute(node, 'id'), classes = attribute(node, 'class').split(/\s+/, 3).filter(Boolean);
        names.push([own(Element, 'localName', node) + (id ? '#' + id : ''), ...classes].join('.'));
    }
    return names;
}";

/// Returns the longhand properties of each shorthand.
const LONGHANDS: &str = "function(names) {
    const style = document.createElement('p').style;
    return Object.fromEntries(names.map(name => {
        style.cssText = '';
        style.setProperty(name, 'inherit');
        return [name, [...style].filter(longhand => longhand !== name)];
    }));
}";

#[async_trait]
impl Styles for CdpPage {
    async fn matched_styles(
        &self,
        frame: &FrameId,
        element: Handle,
        names: &[String],
    ) -> Result<MatchedStyles> {
        let element = self.remote_element(frame, element).await?;
        let session = element.session();
        let commands = [
            session.send(&dom::Enable {}),
            session.send(&css::Enable {}),
            session.send(&dom::GetDocument { depth: Some(0) }),
        ];
        let read = async {
            for command in commands {
                command.await?;
            }
            self.read_styles(session, element.id(), names).await
        };
        let read = read.await;
        // A measurement of coverage has enabled them, too.
        if !self.state().profiling.is_measuring_coverage() {
            session.post(&css::Disable {});
            session.post(&dom::Disable {});
            self.state().profiling.sheets.clear();
        }
        read.map_err(|error| match error {
            Error::Protocol { .. } => Error::DocumentGone {},
            error => error,
        })
    }
}

impl CdpPage {
    async fn read_styles(
        &self,
        session: &Session,
        object_id: runtime::RemoteObjectId,
        names: &[String],
    ) -> Result<MatchedStyles> {
        let about_element = |function: &str, arguments| runtime::CallFunctionOn {
            function_declaration: function.to_owned(),
            object_id: Some(object_id.clone()),
            arguments,
            return_by_value: Some(true),
            ..Default::default()
        };
        let ancestors = session.send(&about_element(ANCESTORS, None));
        let object_id = object_id.clone();
        let node = session.call(&dom::RequestNode { object_id }).await?;
        let node_id = node.node_id;
        let matched = session.send(&css::GetMatchedStylesForNode { node_id });
        let computed = session.send(&css::GetComputedStyleForNode { node_id });
        let border_box: Reply<_> = session.send(&dom::GetBoxModel { node_id });
        let (matched, computed) = (matched.await?, computed.await?);
        // An element that is not rendered has no box.
        let border_box = border_box.await.ok();
        let ancestors: Vec<String> = ancestors.await?.result.decode().unwrap_or_default();
        // The style sheets were reported before.
        session.flush().await?;
        let mut reader = Reader {
            headers: self.state().profiling.sheets.clone(),
            ..Reader::default()
        };
        let mut rules = reader.rules(matched.matched_css_rules);
        let hints = matched.attributes_style.into_iter();
        let hints = hints.map(|style| own(RuleOrigin::PresentationalHints, style));
        let first_of_page = rules
            .iter()
            .position(|rule| rule.origin != RuleOrigin::UserAgent)
            .unwrap_or(rules.len());
        rules.splice(first_of_page..first_of_page, hints);
        let inline = matched.inline_style.into_iter();
        rules.extend(inline.map(|style| own(RuleOrigin::StyleAttribute, style)));
        let mut ancestors = ancestors.into_iter();
        let inherited = matched.inherited.into_iter().map(|entry| {
            let mut rules = reader.rules(entry.matched_css_rules);
            let inline = entry.inline_style.into_iter();
            rules.extend(inline.map(|style| own(RuleOrigin::StyleAttribute, style)));
            InheritedRules {
                ancestor: ancestors.next().unwrap_or_default(),
                rules,
            }
        });
        let inherited: Vec<_> = inherited.collect();
        let computed = computed.computed_style.into_iter();
        let computed: HashMap<_, _> = computed
            .map(|property| (property.name, property.value))
            .collect();
        let of_ancestors = inherited.iter().flat_map(|entry| &entry.rules);
        let declarations = rules.iter().chain(of_ancestors);
        let declarations = declarations.flat_map(|rule| &rule.declarations);
        let unlisted = declarations.filter(|declaration| declaration.longhands.is_empty());
        let unlisted = unlisted.map(|declaration| &declaration.name).chain(names);
        let mut unlisted: Vec<_> = unlisted
            .filter(|name| !name.starts_with("--") && !computed.contains_key(*name))
            .collect();
        unlisted.sort_unstable();
        unlisted.dedup();
        let shorthands = match unlisted.is_empty() {
            true => HashMap::new(),
            false => {
                let arguments = vec![value(serde_json::json!(unlisted))];
                let call = about_element(LONGHANDS, Some(arguments));
                session.call(&call).await?.result.decode()?
            }
        };
        Ok(MatchedStyles {
            rules,
            inherited,
            sheets: reader.sheets,
            computed,
            shorthands,
            border_box: border_box.map(|it| (it.model.width, it.model.height)),
        })
    }
}

/// Reads rules and the style sheets that they are from.
#[derive(Default)]
struct Reader {
    headers: HashMap<css::StyleSheetId, css::StyleSheetHeader>,
    sheets: Vec<StyleSheet>,
    indices: HashMap<css::StyleSheetId, usize>,
}

impl Reader {
    fn rules(&mut self, matches: Vec<css::RuleMatch>) -> Vec<StyleRule> {
        matches.into_iter().map(|found| self.rule(found)).collect()
    }

    fn rule(
        &mut self,
        css::RuleMatch {
            rule,
            matching_selectors,
        }: css::RuleMatch,
    ) -> StyleRule {
        let selectors = &rule.selector_list.selectors;
        let matching = matching_selectors.iter();
        let matching: Vec<_> = matching.filter_map(|index| selectors.get(*index)).collect();
        let own = match matching.is_empty() {
            true => rule.selector_list.text.clone(),
            false => join(matching.iter().map(|selector| selector.text.as_str()), ", "),
        };
        // The rules around it are before it.
        let selector = rule
            .nesting_selectors
            .iter()
            .fold(own, |inner, outer| format!("{outer} {{ {inner} }}"));
        let first = matching.first().copied().or(selectors.first());
        let start = first.and_then(|selector| selector.range);
        let start = start.or_else(|| rule.style.css_properties.iter().find_map(|it| it.range));
        let sheet = rule.style_sheet_id.as_ref().and_then(|id| self.sheet(id));
        let specificities = matching.iter().filter_map(|selector| selector.specificity);
        let layers = rule.layers.iter().map(|layer| match layer.text.as_str() {
            "" => "(anonymous)",
            name => name,
        });
        StyleRule {
            origin: match rule.origin {
                css::StyleSheetOrigin::UserAgent => RuleOrigin::UserAgent,
                _ => RuleOrigin::Author,
            },
            selector,
            specificity: specificities.map(|it| (it.a, it.b, it.c)).max(),
            layer: (!rule.layers.is_empty()).then(|| join(layers, ".")),
            conditions: conditions(&rule),
            place: sheet
                .zip(start)
                .map(|(sheet, start)| (sheet, start.start_line, start.start_column)),
            declarations: declarations(rule.style),
        }
    }

    /// Returns the index of a style sheet.
    fn sheet(&mut self, id: &css::StyleSheetId) -> Option<usize> {
        if let Some(index) = self.indices.get(id) {
            return Some(*index);
        }
        let header = self.headers.remove(id)?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a position is a whole number and not negative"
        )]
        let start = match header.is_inline {
            true => (header.start_line as u32, header.start_column as u32),
            false => (0, 0),
        };
        self.sheets.push(StyleSheet {
            url: match header.is_constructed {
                true => String::new(),
                false => header.source_url,
            },
            source_map: header.source_map_url.filter(|url| !url.is_empty()),
            start,
        });
        let index = self.sheets.len() - 1;
        self.indices.insert(id.clone(), index);
        Some(index)
    }
}

fn join<'a>(texts: impl Iterator<Item = &'a str>, separator: &str) -> String {
    texts.collect::<Vec<_>>().join(separator)
}

/// Returns the declarations of the element itself.
fn own(origin: RuleOrigin, style: css::CssStyle) -> StyleRule {
    StyleRule {
        origin,
        declarations: declarations(style),
        ..StyleRule::default()
    }
}

/// Returns the conditions around a rule, the outermost of each kind first.
fn conditions(rule: &css::CssRule) -> Vec<String> {
    let kinds = [
        ("@media", &rule.media),
        ("@supports", &rule.supports),
        ("@container", &rule.container_queries),
        ("@scope", &rule.scopes),
    ];
    let conditions = kinds.into_iter().flat_map(|(name, all)| {
        all.iter().rev().map(move |condition| {
            let of = condition.name.iter().map(String::as_str);
            let parts = [name]
                .into_iter()
                .chain(of)
                .chain([condition.text.as_str()]);
            join(parts.filter(|part| !part.is_empty()), " ")
        })
    });
    conditions.collect()
}

/// Returns the valid declarations of a style. The browser adds the longhand properties of shorthands, without a text.
fn declarations(style: css::CssStyle) -> Vec<Declaration> {
    let is_written = style.css_properties.iter().any(|it| it.text.is_some());
    let declared = style.css_properties.into_iter().filter(|property| {
        let is_valid = property.parsed_ok.unwrap_or(true) && !property.disabled;
        is_valid && (property.text.is_some() || !is_written)
    });
    let declarations = declared.map(|property| Declaration {
        // The value of a text of the style sheet contains it.
        value: property
            .value
            .trim_end_matches("!important")
            .trim_end()
            .to_owned(),
        is_important: property.important,
        longhands: property
            .longhand_properties
            .into_iter()
            .map(|longhand| (longhand.name, longhand.value))
            .collect(),
        place: property
            .range
            .map(|range| (range.start_line, range.start_column)),
        name: property.name,
    });
    declarations.collect()
}
