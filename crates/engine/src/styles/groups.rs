//! Longhand properties with their winning declarations, and their groups.

use super::cascade::{Candidate, Precedence};
use crate::backend::{InheritedRules, StyleRule};
use std::collections::BTreeMap;

/// A declaration of the element or of an ancestor.
#[derive(Clone, Copy)]
pub(super) struct Winner<'a> {
    pub(super) ancestor: Option<&'a InheritedRules>,
    pub(super) rule: &'a StyleRule,
    pub(super) candidate: Candidate<'a>,
}

/// A longhand property with its winning declaration.
pub(super) struct Longhand<'a> {
    pub(super) name: String,
    pub(super) winner: Option<Winner<'a>>,
    /// The weaker declarations, and why they are.
    pub(super) others: Vec<(Candidate<'a>, Precedence)>,
}

/// Longhand properties for which one declaration wins.
pub(super) struct Group<'a> {
    pub(super) longhands: Vec<String>,
    pub(super) winner: Option<Winner<'a>>,
    pub(super) others: Vec<(Candidate<'a>, Precedence)>,
}

impl Group<'_> {
    /// Returns the rules of the element that the group is about.
    pub(super) fn rules(&self) -> impl Iterator<Item = usize> {
        let own = self.winner.filter(|winner| winner.ancestor.is_none());
        let others = self.others.iter().map(|(other, _)| other.rule);
        own.map(|winner| winner.candidate.rule)
            .into_iter()
            .chain(others)
    }
}

/// Groups the longhand properties of shorthands, in the order of the first of each.
pub(super) fn grouped(longhands: Vec<Longhand<'_>>) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut known: BTreeMap<*const (), usize> = BTreeMap::new();
    for Longhand {
        name,
        winner,
        others,
    } in longhands
    {
        let declaration = winner.map(|it| std::ptr::from_ref(it.candidate.declaration).cast());
        let group = declaration.and_then(|declaration| known.get(&declaration));
        match group {
            Some(group) => {
                let group = &mut groups[*group];
                group.longhands.push(name);
                for (other, reason) in others {
                    let is_known = |(it, _): &(Candidate<'_>, Precedence)| {
                        std::ptr::eq(it.declaration, other.declaration)
                    };
                    if !group.others.iter().any(is_known) {
                        group.others.push((other, reason));
                    }
                }
            }
            None => {
                if let Some(declaration) = declaration {
                    known.insert(declaration, groups.len());
                }
                groups.push(Group {
                    longhands: vec![name],
                    winner,
                    others,
                });
            }
        }
    }
    groups
}
