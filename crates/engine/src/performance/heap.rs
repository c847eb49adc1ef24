//! Reading a heap snapshot of V8: the objects by constructor, with their own and their retained sizes, and detached DOM nodes.
//!
//! The format is described in `v8/include/v8-profiler.h` (`HeapSnapshot::Serialize`): flat arrays of numbers whose fields the file names.

use super::dominators::{Graph, UNREACHED};
use crate::error::{Error, Result};
use crate::text::shorten;
use serde::Deserialize;
use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use std::collections::HashMap;
use std::fmt;
use std::io::{BufReader, Read};

/// The largest number of objects and references. Larger heaps are refused, so that memory is bounded.
const MAX_LENGTH: usize = 50_000_000;
/// The value of the field `detachedness` of a DOM node that is not in its document.
const DETACHED: u64 = 2;

/// The group of the roots, which are no objects.
const ROOTS: &str = "(roots)";

/// The objects of a heap.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HeapSummary {
    /// The size of all objects, in bytes.
    pub size: u64,
    /// The number of objects.
    pub count: u64,
    /// The number of DOM nodes that are in no document and not freed.
    pub detached_nodes: u64,
    /// The objects by constructor, those that retain most first. Names of groups of other objects are in brackets, as in Chrome DevTools.
    pub classes: Vec<HeapClass>,
}

/// The objects with the same constructor.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HeapClass {
    /// The name of the constructor or the group.
    pub name: String,
    /// The number of objects.
    pub count: u64,
    /// Their own size, in bytes.
    pub size: u64,
    /// The size of all objects that would be freed with them, in bytes.
    pub retained: u64,
}

impl HeapSummary {
    /// Reads a heap snapshot. Takes long; run it on a thread for computations.
    pub fn read(file: impl Read) -> Result<Self> {
        let mut json = serde_json::Deserializer::from_reader(BufReader::new(file));
        let heap = json
            .deserialize_map(Document)
            .map_err(|error| invalid(&error))?;
        heap.summary()
    }
}

fn invalid(reason: &dyn fmt::Display) -> Error {
    Error::InvalidProfile {
        reason: format!("The heap snapshot is not valid: {reason}"),
    }
}

/// The parts of a snapshot.
#[derive(Default)]
struct Heap {
    meta: Meta,
    nodes: Nodes,
    graph: Graph,
    strings: Vec<String>,
}

#[derive(Deserialize, Default, Clone)]
#[serde(default)]
struct Meta {
    node_fields: Vec<String>,
    node_types: Vec<serde_json::Value>,
    edge_fields: Vec<String>,
    edge_types: Vec<serde_json::Value>,
}

#[derive(Deserialize)]
struct Snapshot {
    meta: Meta,
}

/// The fields of all nodes.
#[derive(Default)]
struct Nodes {
    kinds: Vec<u8>,
    names: Vec<u32>,
    sizes: Vec<u64>,
    edge_counts: Vec<u32>,
    detachedness: Vec<u8>,
}

impl Default for Graph {
    fn default() -> Self {
        Self {
            starts: vec![0],
            targets: Vec::new(),
        }
    }
}

impl Meta {
    fn node_field(&self, name: &str) -> Option<usize> {
        self.node_fields.iter().position(|field| field == name)
    }

    fn edge_field(&self, name: &str) -> Option<usize> {
        self.edge_fields.iter().position(|field| field == name)
    }

    /// Returns the name of the type of a node.
    fn kind(&self, number: u8) -> &str {
        let kinds = self.node_types.first();
        let kind = kinds.and_then(|kinds| kinds.get(usize::from(number)));
        kind.and_then(serde_json::Value::as_str).unwrap_or_default()
    }

    /// Returns the number of the type of references that keep nothing alive.
    fn weak(&self) -> Option<u64> {
        let kinds = self.edge_types.first()?.as_array()?;
        let weak = kinds.iter().position(|kind| kind == "weak")?;
        u64::try_from(weak).ok()
    }
}

impl Heap {
    fn summary(&self) -> Result<HeapSummary> {
        let nodes = &self.nodes;
        let count = nodes.kinds.len();
        if count == 0 {
            return Err(invalid(&"it has no objects"));
        }
        if self.graph.starts.len() != count + 1 {
            return Err(invalid(&"the references do not belong to the objects"));
        }
        let classes: Vec<u32> = {
            let mut numbers = HashMap::new();
            let class = |node| {
                let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
                *numbers.entry(self.class(node)).or_insert(next)
            };
            (0..count).map(class).collect()
        };
        let class_count = classes.iter().max().map_or(0, |last| *last as usize + 1);
        let mut of_class = vec![HeapClass::default(); class_count];
        for (node, class) in classes.iter().enumerate() {
            let class = &mut of_class[*class as usize];
            if class.count == 0 {
                self.class(node).clone_into(&mut class.name);
            }
            class.count += 1;
            class.size += nodes.sizes[node];
        }
        self.add_retained(&classes, &mut of_class);
        of_class.retain(|class| class.name != ROOTS && class.size + class.retained > 0);
        of_class.sort_by(|one, other| {
            let by_size = (other.retained, other.size).cmp(&(one.retained, one.size));
            by_size.then_with(|| one.name.cmp(&other.name))
        });
        let detached = nodes.detachedness.iter();
        Ok(HeapSummary {
            size: nodes.sizes.iter().sum(),
            count: count as u64,
            detached_nodes: detached
                .filter(|state| u64::from(**state) == DETACHED)
                .count() as u64,
            classes: of_class,
        })
    }

    /// Returns the constructor of an object, or the group of another node.
    fn class(&self, node: usize) -> &str {
        let name = || {
            let name = self.strings.get(self.nodes.names[node] as usize);
            name.map_or("", String::as_str)
        };
        match self.meta.kind(self.nodes.kinds[node]) {
            "object" | "native" => match name() {
                name if name.starts_with("system / ") => "(system)",
                name if name.contains("::") => "(browser)",
                name => name,
            },
            "synthetic" => ROOTS,
            "closure" => "Function",
            "regexp" => "RegExp",
            "string" | "concatenated string" | "sliced string" => "(string)",
            "number" => "(number)",
            "symbol" => "(symbol)",
            "bigint" => "(bigint)",
            "array" => "(array)",
            "code" => "(compiled code)",
            "object shape" => "(object shape)",
            _ => "(system)",
        }
    }

    /// Adds what the objects of each class retain. An object within one of the same class is counted with the outer one.
    fn add_retained(&self, classes: &[u32], of_class: &mut [HeapClass]) {
        let dominators = self.graph.dominators();
        let mut retained = self.nodes.sizes.clone();
        for node in dominators.order.iter().rev() {
            let dominator = dominators.of[*node as usize];
            if dominator != *node && dominator != UNREACHED {
                retained[dominator as usize] += retained[*node as usize];
            }
        }
        // A depth-first walk of the dominator tree, with the number of open nodes of each class.
        let children = dominators.tree();
        let mut open = vec![0_u32; of_class.len()];
        let mut stack: Vec<(u32, usize)> = Vec::new();
        let enter = |node: u32, open: &mut [u32], of_class: &mut [HeapClass]| {
            let class = classes[node as usize] as usize;
            if open[class] == 0 {
                of_class[class].retained += retained[node as usize];
            }
            open[class] += 1;
        };
        if let Some(root) = dominators.order.first() {
            enter(*root, &mut open, of_class);
            stack.push((*root, 0));
        }
        while let Some((node, next)) = stack.last_mut() {
            if let Some(child) = children.successors(*node).get(*next).copied() {
                *next += 1;
                enter(child, &mut open, of_class);
                stack.push((child, 0));
            } else {
                open[classes[*node as usize] as usize] -= 1;
                stack.pop();
            }
        }
    }
}

/// The whole file. `snapshot`, which names the fields, comes before the arrays, and `nodes` before `edges`.
struct Document;

impl<'de> Visitor<'de> for Document {
    type Value = Heap;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a heap snapshot")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Heap, A::Error> {
        let mut heap = Heap::default();
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "snapshot" => heap.meta = map.next_value::<Snapshot>()?.meta,
                "nodes" => map.next_value_seed(NodeArray(&mut heap))?,
                "edges" => map.next_value_seed(EdgeArray(&mut heap))?,
                "strings" => heap.strings = map.next_value_seed(Strings)?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(heap)
    }
}

/// Reads records of a number of fields each and passes them on.
fn records<'de, A: SeqAccess<'de>>(
    mut numbers: A,
    width: usize,
    mut record: impl FnMut(&[u64]) -> std::result::Result<(), &'static str>,
) -> std::result::Result<(), A::Error> {
    if width == 0 {
        return Err(A::Error::custom("it does not name its fields"));
    }
    let mut fields = Vec::with_capacity(width);
    let mut count = 0;
    while let Some(number) = numbers.next_element::<u64>()? {
        fields.push(number);
        if fields.len() == width {
            record(&fields).map_err(A::Error::custom)?;
            fields.clear();
            count += 1;
            if count > MAX_LENGTH {
                return Err(A::Error::custom("it is too large"));
            }
        }
    }
    Ok(())
}

struct NodeArray<'a>(&'a mut Heap);

impl<'de> DeserializeSeed<'de> for NodeArray<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> std::result::Result<(), D::Error> {
        json.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for NodeArray<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("numbers of nodes")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, numbers: A) -> std::result::Result<(), A::Error> {
        let Heap { meta, nodes, .. } = self.0;
        let field = |name| {
            meta.node_field(name)
                .ok_or_else(|| A::Error::custom(format!("nodes have no field {name}")))
        };
        let (kind, name) = (field("type")?, field("name")?);
        let (size, edges) = (field("self_size")?, field("edge_count")?);
        let detachedness = meta.node_field("detachedness");
        records(numbers, meta.node_fields.len(), |fields| {
            nodes
                .kinds
                .push(u8::try_from(fields[kind]).unwrap_or(u8::MAX));
            nodes
                .names
                .push(u32::try_from(fields[name]).unwrap_or(u32::MAX));
            nodes.sizes.push(fields[size]);
            let edges = u32::try_from(fields[edges]).map_err(|_| "a node has too many edges")?;
            nodes.edge_counts.push(edges);
            let state = detachedness.map_or(0, |field| fields[field]);
            nodes.detachedness.push(u8::try_from(state).unwrap_or(0));
            Ok(())
        })
    }
}

struct EdgeArray<'a>(&'a mut Heap);

impl<'de> DeserializeSeed<'de> for EdgeArray<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> std::result::Result<(), D::Error> {
        json.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for EdgeArray<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("numbers of edges")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, numbers: A) -> std::result::Result<(), A::Error> {
        let Heap {
            meta, nodes, graph, ..
        } = self.0;
        let field = |name| {
            meta.edge_field(name)
                .ok_or_else(|| A::Error::custom(format!("edges have no field {name}")))
        };
        let (kind, target) = (field("type")?, field("to_node")?);
        let weak = meta.weak();
        let width = meta.node_fields.len() as u64;
        let count = nodes.kinds.len() as u64;
        let mut left = nodes.edge_counts.iter().copied();
        // The edges that the current node still has.
        let mut rest = None;
        records(numbers, meta.edge_fields.len(), |fields| {
            while rest.unwrap_or(0) == 0 {
                if rest.is_some() {
                    graph.starts.push(length(&graph.targets)?);
                }
                rest = Some(left.next().ok_or("there are more edges than nodes have")?);
            }
            rest = rest.map(|rest| rest - 1);
            let to = fields[target] / width;
            if to >= count {
                return Err("an edge leads to no node");
            }
            if Some(fields[kind]) != weak {
                graph
                    .targets
                    .push(u32::try_from(to).map_err(|_| "it is too large")?);
            }
            Ok(())
        })?;
        // The last node with edges, and those without after it.
        let end = length(&graph.targets).map_err(A::Error::custom)?;
        graph.starts.resize(nodes.kinds.len() + 1, end);
        Ok(())
    }
}

fn length(targets: &[u32]) -> std::result::Result<u32, &'static str> {
    u32::try_from(targets.len()).map_err(|_| "it is too large")
}

/// The strings, of which only the beginning is kept: they can be names of constructors.
struct Strings;

/// The longest name that is kept, in bytes.
const MAX_NAME: usize = 200;

impl<'de> DeserializeSeed<'de> for Strings {
    type Value = Vec<String>;

    fn deserialize<D: Deserializer<'de>>(
        self,
        json: D,
    ) -> std::result::Result<Vec<String>, D::Error> {
        json.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Strings {
    type Value = Vec<String>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("strings")
    }

    fn visit_seq<A: SeqAccess<'de>>(
        self,
        mut all: A,
    ) -> std::result::Result<Vec<String>, A::Error> {
        let mut strings = Vec::new();
        while let Some(mut text) = all.next_element::<String>()? {
            shorten(&mut text, MAX_NAME);
            strings.push(text);
        }
        Ok(strings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The root refers to two lists, one of them weakly too; each list has an item, and both share another one.
    const SMALL: &str = r#"{
        "snapshot": { "meta": {
            "node_fields": ["type", "name", "id", "self_size", "edge_count", "detachedness"],
            "node_types": [["hidden", "object", "native", "synthetic"], "string"],
            "edge_fields": ["type", "name_or_index", "to_node"],
            "edge_types": [["property", "weak"], "string_or_number", "node"]
        } },
        "nodes": [
            3,0,1,0,3,0,
            1,1,3,10,2,0,
            1,1,5,10,2,0,
            1,2,7,100,0,0,
            1,2,9,100,0,0,
            1,2,11,1000,0,0,
            2,3,13,5,0,2
        ],
        "edges": [
            0,0,6, 0,0,12, 1,0,36,
            0,0,18, 0,0,30,
            0,0,24, 0,0,30
        ],
        "strings": ["(root)", "List", "Item", "HTMLElement"]
    }"#;

    #[test]
    fn objects_are_grouped_by_constructor_with_what_they_retain() {
        let summary = HeapSummary::read(SMALL.as_bytes()).unwrap();
        assert_eq!((summary.size, summary.count), (1_225, 7));
        assert_eq!(summary.detached_nodes, 1);
        let class = |name: &str| {
            let class = summary.classes.iter().find(|class| class.name == name);
            class.map(|class| (class.count, class.size, class.retained))
        };
        // The shared item belongs to neither list.
        assert_eq!(class("List"), Some((2, 20, 220)));
        assert_eq!(class("Item"), Some((3, 1_200, 1_200)));
        // A weak reference keeps nothing alive.
        assert_eq!(class("HTMLElement"), Some((1, 5, 0)));
    }

    #[test]
    fn an_invalid_snapshot_is_refused_with_the_reason() {
        for (file, reason) in [
            ("{}", "it has no objects"),
            ("[]", "invalid type"),
            (
                &SMALL.replace("0,0,30", "0,0,60"),
                "an edge leads to no node",
            ),
            (
                &SMALL.replace("\"self_size\"", "\"size\""),
                "nodes have no field self_size",
            ),
        ] {
            let error = HeapSummary::read(file.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
    }
}
