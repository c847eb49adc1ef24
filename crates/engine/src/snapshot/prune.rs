//! Pruning the facts: wrappers of a single item, repeated texts, and names that the content shows anyway are omitted.

use super::facts::{Action, Entry, FrameSnapshot, Layout, Node};
use super::key::{self, CONTROLS, States};
use super::line::Ref;
use std::borrow::Cow;

/// The roles whose names `@playwright/mcp` always shows.
const IDENTIFIED_BY_NAME: [&str; 27] = [
    "alertdialog",
    "application",
    "banner",
    "columnheader",
    "complementary",
    "contentinfo",
    "dialog",
    "document",
    "figure",
    "form",
    "grid",
    "group",
    "listbox",
    "main",
    "menu",
    "menubar",
    "navigation",
    "radiogroup",
    "region",
    "rowheader",
    "search",
    "table",
    "tablist",
    "tabpanel",
    "toolbar",
    "tree",
    "treegrid",
];

/// The controls that are often only an icon.
const ICON_CONTROLS: [&str; 9] = [
    "button",
    "checkbox",
    "link",
    "menuitem",
    "menuitemcheckbox",
    "menuitemradio",
    "option",
    "radio",
    "tab",
];

/// A part of the pruned tree.
#[derive(Debug)]
pub(super) enum Item<'a> {
    Text(Cow<'a, str>),
    Node(Shown<'a>),
}

/// A shown node with its shown children.
#[derive(Debug)]
pub(super) struct Shown<'a> {
    pub(super) node: &'a Node,
    /// The prefix of the refs of its frame.
    pub(super) prefix: &'a str,
    /// The origin of its document.
    pub(super) origin: &'a str,
    /// Whether its name is shown.
    pub(super) named: bool,
    /// How a person can act on it, if that is not only for elements in it.
    pub(super) action: Option<Action>,
    pub(super) children: Vec<Item<'a>>,
}

impl<'a> Shown<'a> {
    pub(super) fn has_pointer(&self) -> bool {
        has_pointer(self.node)
    }

    /// Returns whether a person can act on it, apart from native controls.
    pub(super) fn acts(&self, in_clickable: bool) -> bool {
        self.action.is_some() || (self.has_pointer() && !in_clickable)
    }

    pub(super) fn reference(&self) -> Option<Ref<'a>> {
        let number = self.node.reference?;
        Some(Ref {
            prefix: self.prefix,
            number,
        })
    }

    fn is_bare_generic(&self) -> bool {
        self.node.role == "generic" && !self.named
    }

    /// Returns whether name and content consist of this text only.
    fn has_only_text(&self, text: &str) -> bool {
        if self.named {
            self.node.name == text && self.children.is_empty()
        } else {
            self.only_text() == Some(text)
        }
    }

    /// Returns whether it only contains an element that is acted on and has the same name.
    fn only_names_its_content(&self) -> bool {
        let is_twin = |child: &Shown<'_>| {
            let is_target = child.action.is_some() || CONTROLS.contains(&&*child.node.role);
            let is_named_alike = child.named && child.node.name == self.node.name;
            is_named_alike && is_target && child.node.reference.is_some()
        };
        self.named && matches!(&*self.children, [Item::Node(child)] if is_twin(child))
    }

    /// Returns whether it is a generic that shows a text and nothing else of its own.
    pub(super) fn has_only_bare_text(&self) -> bool {
        self.is_bare_generic()
            && self.only_text().is_some()
            && !key::has_states(self.node, States::All)
            && self.node.url.is_none()
            && self.node.bounds.is_none()
    }

    /// Returns the text of a node whose only content is one text.
    fn only_text(&self) -> Option<&str> {
        match self.children.as_slice() {
            [Item::Text(text)] => Some(text),
            _ => None,
        }
    }
}

/// Prunes a document and its frames, down to a level.
pub(super) fn prune(snapshot: &FrameSnapshot, layout: Layout, depth: Option<u32>) -> Vec<Item<'_>> {
    frame(snapshot, layout, depth, 0)
}

fn frame(
    snapshot: &FrameSnapshot,
    layout: Layout,
    depth: Option<u32>,
    level: u32,
) -> Vec<Item<'_>> {
    let mut walk = Walk {
        snapshot,
        layout,
        depth,
        targets: 0,
        places: node_contexts(snapshot, level),
        around: Vec::new(),
        next: 0,
        next_node: 0,
    };
    let mut items = Vec::new();
    while walk.next < snapshot.entries.len() {
        walk.entry(None, level, false, &mut items);
    }
    trim(&mut items);
    items
}

/// Facts of a node that the rules need for its descendants.
struct NodeContext {
    level: u32,
    parent: Option<usize>,
    /// Whether it is a generic that contains only text, and adds no information.
    is_loose_text: bool,
    /// Whether it is not a generic, and its own name is shown; known after it was visited.
    tells_its_name: bool,
    /// Whether it has a ref because a person can act on it, so that it is shown; known after it was visited.
    acts: bool,
    /// Whether it is left out because it repeats the name of the node around it; known after it was visited.
    is_left_out: bool,
}

fn node_contexts(snapshot: &FrameSnapshot, top: u32) -> Vec<NodeContext> {
    let mut places: Vec<NodeContext> = Vec::new();
    // The number of remaining children, and the index, of each open node.
    let mut open: Vec<(usize, usize)> = Vec::new();
    for entry in &snapshot.entries {
        if let Some((left, parent)) = open.last_mut() {
            *left -= 1;
            if matches!(entry, Entry::Node(_)) {
                places[*parent].is_loose_text = false;
            }
        }
        if let Entry::Node(node) = entry {
            let level = top + u32::try_from(open.len()).unwrap_or(u32::MAX - top);
            places.push(NodeContext {
                level,
                parent: open.last().map(|(_, place)| *place),
                is_loose_text: node.role == "generic",
                tells_its_name: false,
                acts: false,
                is_left_out: false,
            });
            open.push((node.children, places.len() - 1));
        }
        while open.last().is_some_and(|(left, _)| *left == 0) {
            open.pop();
        }
    }
    places
}

struct Walk<'a> {
    snapshot: &'a FrameSnapshot,
    layout: Layout,
    depth: Option<u32>,
    /// The number of nodes so far that a person can act on.
    targets: usize,
    places: Vec<NodeContext>,
    /// The nodes around the current one that are not generic.
    around: Vec<&'a Node>,
    /// The indexes of the next entry, and of the next node.
    next: usize,
    next_node: usize,
}

impl<'a> Walk<'a> {
    /// Visits the next entry with its descendants, and adds the shown parts.
    fn entry(
        &mut self,
        parent: Option<&'a Node>,
        level: u32,
        in_clickable: bool,
        into: &mut Vec<Item<'a>>,
    ) {
        let entry = &self.snapshot.entries[self.next];
        self.next += 1;
        match entry {
            Entry::Text(text) => match into.last_mut() {
                Some(Item::Text(before)) => before.to_mut().push_str(text),
                _ => into.push(Item::Text(Cow::Borrowed(text))),
            },
            Entry::Node(node) => {
                let place = self.next_node;
                let shown = self.node(node, level, in_clickable);
                let repeats_name = parent.is_some_and(|it| repeats_name(&shown, it, self.layout));
                if self.layout == Layout::Compact && decorates(&shown, self.around.last().copied())
                {
                    return;
                }
                match simplify(shown, repeats_name, in_clickable, self.layout) {
                    Some(item) => into.push(item),
                    None => {
                        self.places[place].is_left_out = repeats_name;
                        // What was between two texts separates them.
                        if let (Layout::Compact, Some(Item::Text(before))) =
                            (self.layout, into.last_mut())
                        {
                            before.to_mut().push(' ');
                        }
                    }
                }
            }
        }
    }

    fn node(&mut self, node: &'a Node, level: u32, in_clickable: bool) -> Shown<'a> {
        let place = self.next_node;
        self.next_node += 1;
        let targets = self.targets;
        let mut children = Vec::new();
        let is_generic = node.role == "generic";
        self.around.extend((!is_generic).then_some(node));
        for _ in 0..node.children {
            let in_clickable = in_clickable || has_pointer(node);
            self.entry(Some(node), level + 1, in_clickable, &mut children);
        }
        if !is_generic {
            self.around.pop();
        }
        trim(&mut children);
        if let Some(content) = node.frame.and_then(|it| self.snapshot.frames.get(&it)) {
            children = frame(content, self.layout, self.depth, level + 1);
        }
        let inside = self.targets - targets;
        // What only wraps other targets is not acted on for itself.
        let is_wrapper = match node.role.as_str() {
            "generic" => node.name.is_empty(),
            "cell" | "columnheader" | "gridcell" | "rowheader" => true,
            _ => false,
        };
        let wraps = is_wrapper && inside > 0 && !children.iter().any(has_own_text);
        let action = node.action.filter(|action| match action {
            Action::Own => true,
            Action::Pointer => !wraps,
            Action::Listens => !wraps && inside <= MAX_TARGETS,
            Action::Weak => inside == 0,
        });
        let action = action.filter(|_| node.reference.is_some());
        self.places[place].acts = action.is_some() && self.layout == Layout::Compact;
        if action.is_some() || CONTROLS.contains(&&*node.role) {
            self.targets += 1;
        }
        let named = !node.name.is_empty() && !self.is_shown_by_content(node, place);
        self.places[place].tells_its_name = named && node.role != "generic";
        let mut shown = Shown {
            node,
            prefix: &self.snapshot.prefix,
            origin: &self.snapshot.origin,
            named,
            action,
            children,
        };
        if shown.only_text() == Some(node.name.as_str()) {
            shown.children.clear();
        }
        shown
    }

    /// Returns whether all sources of a name are shown below, each as a separate item. In the full layout, a name that identifies an element
    /// among others of its kind is always shown.
    fn is_shown_by_content(&self, node: &Node, place: usize) -> bool {
        if self.layout == Layout::Full && IDENTIFIED_BY_NAME.contains(&&*node.role) {
            return false;
        }
        let sources = || node.sources.iter().filter(|source| **source > place);
        node.reference.is_some()
            && (node.parts || sources().next().is_some())
            && sources().all(|source| self.is_shown_as_name(*source, place))
    }

    /// Returns whether a source of the name of the node at `end` is shown, itself or by the name of an ancestor.
    fn is_shown_as_name(&self, source: usize, end: usize) -> bool {
        let is_shown = |place: &NodeContext| self.depth.is_none_or(|depth| place.level <= depth);
        let around = std::iter::successors(Some(source), |place| self.places.get(*place)?.parent);
        let around: Vec<(usize, &NodeContext)> = around
            .take_while(|place| *place > end)
            .filter_map(|index| Some((index, self.places.get(index)?)))
            .collect();
        // What is in a node that is left out is shown by the name of a node around it.
        let left_out = around.iter().rposition(|(_, place)| place.is_left_out);
        let shown = &around[left_out.map_or(0, |at| at + 1)..];
        shown.iter().any(|(index, place)| {
            let is_item = *index == source && !place.is_loose_text;
            let tells = place.tells_its_name || place.acts || is_item;
            tells && is_shown(place)
        })
    }
}

fn has_pointer(node: &Node) -> bool {
    node.pointer && node.reference.is_some()
}

/// The number of targets in an element above which its event listeners are for those.
const MAX_TARGETS: usize = 4;

/// Returns whether a node is a picture that decorates a control, and that assistive technology does not perceive either.
fn decorates(shown: &Shown<'_>, around: Option<&Node>) -> bool {
    let node = shown.node;
    let is_picture = matches!(&*node.role, "img" | "graphics-document");
    // An icon tells more than nothing.
    let explains = |it: &Node| it.name.is_empty() && ICON_CONTROLS.contains(&&*it.role);
    is_picture
        && node.aria_hidden
        && shown.action.is_none()
        && shown.children.is_empty()
        && !around.is_some_and(explains)
}

/// Returns whether a node only repeats the name of the node around it. In the compact layout, what a person can act on is shown, unless a
/// click on the node around it is one on its name.
fn repeats_name(shown: &Shown<'_>, parent: &Node, layout: Layout) -> bool {
    let wrapped = match shown.children.as_slice() {
        [Item::Node(child)] if !shown.named && joins(shown, child, layout) => child,
        _ => shown,
    };
    let acts = layout == Layout::Compact && shown.action.is_some();
    shown.node.role == "generic"
        && !shown.node.aria_hidden
        && wrapped.has_only_text(&parent.name)
        && (!acts || is_clicked_by_name(parent))
}

/// Returns whether a click on a control is one on its name. A tree item has other parts beside its name, such as its children.
fn is_clicked_by_name(node: &Node) -> bool {
    match &*node.role {
        "treeitem" => false,
        "columnheader" | "rowheader" => node.action == Some(Action::Own),
        role => CONTROLS.contains(&role),
    }
}

/// Returns whether the text of a child moves up into a wrapper that has nothing else.
fn joins(shown: &Shown<'_>, child: &Shown<'_>, layout: Layout) -> bool {
    let child_acts = layout == Layout::Compact && child.action.is_some();
    child.is_bare_generic()
        && child.only_text().is_some()
        && !child_acts
        && !child.node.active
        && !child.node.aria_hidden
        && !shown.node.aria_hidden
}

/// Returns whether an item shows a text that is not that of another target.
fn has_own_text(item: &Item<'_>) -> bool {
    match item {
        Item::Text(_) => true,
        Item::Node(shown) if shown.action.is_some() => false,
        Item::Node(shown) if CONTROLS.contains(&&*shown.node.role) => false,
        Item::Node(shown) => shown.named || shown.children.iter().any(has_own_text),
    }
}

/// Returns the replacement of a node that adds no information.
fn simplify(
    mut shown: Shown<'_>,
    repeats_name: bool,
    in_clickable: bool,
    layout: Layout,
) -> Option<Item<'_>> {
    let acts = shown.acts(in_clickable);
    let node = shown.node;
    let is_picture = matches!(node.role.as_str(), "img" | "graphics-document");
    if is_picture && node.name.is_empty() && shown.children.is_empty() {
        return acts.then_some(Item::Node(shown));
    }
    if node.role != "generic" {
        if layout == Layout::Compact
            && matches!(&*node.role, "cell" | "gridcell" | "listitem")
            && shown.only_names_its_content()
        {
            shown.named = false;
        }
        let is_hidden = layout == Layout::Compact
            && node.aria_hidden
            && node.reference.is_none()
            && !shown.named
            && shown.children.is_empty();
        return (!is_hidden).then_some(Item::Node(shown));
    }
    if let [Item::Node(child)] = shown.children.as_slice()
        && joins(&shown, child, layout)
        && let Some(Item::Node(child)) = shown.children.pop()
    {
        shown.children = child.children;
    }
    if repeats_name {
        return None;
    }
    if layout == Layout::Compact && shown.only_names_its_content() {
        shown.named = false;
    }
    if shown.named {
        return Some(Item::Node(shown));
    }
    match shown.children.as_mut_slice() {
        [] => acts.then_some(Item::Node(shown)),
        [Item::Node(child)]
            if child.node.reference.is_some() && !node.covers && node.day.is_none() =>
        {
            if layout == Layout::Compact && shown.action.is_some() {
                if shown.action == Some(Action::Own) {
                    return Some(Item::Node(shown));
                }
                child.action = child.action.or(shown.action);
            }
            shown.children.pop()
        }
        _ => Some(Item::Node(shown)),
    }
}

/// Joins adjacent texts, trims them, and removes the empty ones.
fn trim(items: &mut Vec<Item<'_>>) {
    for item in items.iter_mut() {
        if let Item::Text(text) = item {
            collapse(text);
        }
    }
    items.retain(|item| !matches!(item, Item::Text(text) if text.is_empty()));
}

fn collapse(text: &mut Cow<'_, str>) {
    if text.contains("  ") {
        let words: Vec<&str> = text.split(' ').filter(|word| !word.is_empty()).collect();
        *text = Cow::Owned(words.join(" "));
        return;
    }
    match text {
        Cow::Borrowed(text) => *text = text.trim(),
        Cow::Owned(text) => {
            let trimmed = text.trim();
            if trimmed.len() < text.len() {
                *text = trimmed.to_owned();
            }
        }
    }
}
