//! The event listeners of the elements of a document, by which the injected script recognizes what a person can act on.

use super::CdpPage;
use super::evaluation::{object, value};
use super::worlds::World;
use crate::backend::{FrameId, Handle};
use crate::error::{Error, Result};
use futures_util::future::join_all;
use serde_json::json;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;
use wire::cdp::dom::{BackendNodeId, ResolveNode};
use wire::cdp::dom_debugger::GetEventListeners;
use wire::cdp::runtime::{CallFunctionOn, ReleaseObjectGroup, RemoteObjectId};

/// Returns the document, whose listeners are read with those of all nodes in it.
const DOCUMENT: &str = "function() { return document; }";
/// Passes elements with the types of their listeners to the injected script.
const SET_LISTENERS: &str =
    "function(types, ...elements) { globalThis.__playhouseCore.setListeners(elements, types); }";
/// Passes a closed shadow root to the injected script.
const RECORD_ROOT: &str = "function(root) { globalThis.__playhouseCore.recordClosedRoots(root); }";
/// The object group of elements while they are passed.
const GROUP: &str = "playhouse-listeners";
/// The beginnings of the types of events that a person causes.
const TYPES: [&str; 10] = [
    "auxclick",
    "click",
    "contextmenu",
    "dblclick",
    "drag",
    "drop",
    "key",
    "mouse",
    "pointer",
    "touch",
];
/// How long a child frame may take to report its listeners.
const FRAME_TIMEOUT: Duration = Duration::from_millis(200);
/// The most elements that are passed at a time.
const MAX_ELEMENTS: usize = 500;

/// The types of the listeners of nodes, in document order.
type Listeners = Vec<(BackendNodeId, Vec<String>)>;

/// The listeners of a document that the injected script knows.
#[derive(Debug)]
pub(super) struct KnownListeners {
    world: Arc<str>,
    document: RemoteObjectId,
    nodes: HashMap<BackendNodeId, Vec<String>>,
}

impl CdpPage {
    /// Reports the listeners of documents that changed since the last call to their injected scripts. Two round trips if there are any, else
    /// one.
    pub(super) async fn update_listeners(&self, frames: &[FrameId]) -> Result<()> {
        let reads = frames.iter().map(|frame| async move {
            match *frame == self.main {
                true => self.read_listeners(frame).await,
                // Without the listeners of an unresponsive frame it is unknown whose the others are.
                false => tokio::time::timeout(FRAME_TIMEOUT, self.read_listeners(frame))
                    .await
                    .unwrap_or(Err(Error::DocumentGone {})),
            }
        });
        let mut read = Vec::new();
        for (frame, listeners) in frames.iter().zip(join_all(reads).await) {
            read.push((self.depth_of(frame), frame, listeners?));
        }
        // The listeners of a document include those of the frames in it. An object of a node that is created in the world of another
        // frame has the prototypes of that frame, so each node belongs to the innermost frame.
        read.sort_by_key(|(depth, ..)| std::cmp::Reverse(*depth));
        let mut assigned: HashSet<(Arc<str>, BackendNodeId)> = HashSet::new();
        let updates = read.into_iter().map(|(_, frame, (world, mut nodes))| {
            nodes.retain(|(node, _)| assigned.insert((world.session.clone(), *node)));
            self.set_listeners(frame, world, nodes)
        });
        for update in join_all(updates.collect::<Vec<_>>()).await {
            update?;
        }
        Ok(())
    }

    /// Returns the number of frames that contain a frame.
    fn depth_of(&self, frame: &FrameId) -> usize {
        std::iter::successors(self.parent_of(frame), |parent| self.parent_of(parent)).count()
    }

    /// Returns the types of the listeners of each node of a document and of the frames in it.
    async fn read_listeners(&self, frame: &FrameId) -> Result<(World, Listeners)> {
        let world = self.isolated_world(frame).await?;
        let document = self.document_in(frame, &world).await?;
        let session = self.session_of(&world.session);
        let read = GetEventListeners {
            object_id: document,
            depth: Some(-1),
            pierce: Some(true),
        };
        let answer = self
            .map_context_gone(&world, session.call(&read).await)
            .await?;
        let mut nodes = Listeners::new();
        for listener in answer.listeners {
            let Some(node) = listener.backend_node_id else {
                continue;
            };
            match nodes.last_mut() {
                Some((last, types)) if *last == node => types.push(listener.kind),
                _ => nodes.push((node, vec![listener.kind])),
            }
        }
        Ok((world, nodes))
    }

    /// Reports the listeners of the nodes of a document, as far as they changed.
    async fn set_listeners(&self, frame: &FrameId, world: World, nodes: Listeners) -> Result<()> {
        let session = self.session_of(&world.session);
        let changed = self.changed_listeners(frame, &world, nodes);
        if changed.is_empty() {
            return Ok(());
        }
        let resolved = changed.iter().map(|(node, _)| {
            session.send(&ResolveNode {
                backend_node_id: Some(*node),
                execution_context_id: Some(world.id),
                object_group: Some(GROUP.to_owned()),
                ..Default::default()
            })
        });
        let resolved = join_all(resolved.collect::<Vec<_>>()).await;
        let mut types = Vec::new();
        let mut elements = Vec::new();
        // Removed nodes are not resolved.
        for ((_, kinds), element) in changed.into_iter().zip(resolved) {
            if let Ok(Some(id)) = element.map(|it| it.object.object_id) {
                types.push(kinds);
                elements.push(object(id));
            }
        }
        let mut arguments = vec![value(json!(types))];
        arguments.append(&mut elements);
        let call = CallFunctionOn {
            function_declaration: SET_LISTENERS.to_owned(),
            arguments: Some(arguments),
            ..Default::default()
        };
        let set = self.in_isolated(frame, call).await;
        session.post(&ReleaseObjectGroup {
            object_group: GROUP.to_owned(),
        });
        set.map(drop)
    }

    /// Reports the closed shadow roots of elements to the injected script. Returns whether there are any.
    pub(super) async fn find_closed_roots(
        &self,
        frame: &FrameId,
        hosts: &[Handle],
    ) -> Result<bool> {
        let world = self.isolated_world(frame).await?;
        let roots = hosts.iter().map(|host| async {
            let host = self.remote_element(frame, *host).await?;
            let node = self.describe_node(&host).await?;
            let roots = node.shadow_roots.into_iter().flatten();
            let mut closed =
                roots.filter(|root| root.shadow_root_type.as_deref() == Some("closed"));
            match closed.next() {
                Some(root) => self.resolved(&world, root.backend_node_id).await.map(Some),
                None => Ok(None),
            }
        });
        let mut found = false;
        for root in join_all(roots).await.into_iter().flatten().flatten() {
            let call = CallFunctionOn {
                function_declaration: RECORD_ROOT.to_owned(),
                arguments: Some(vec![object(root.id())]),
                ..Default::default()
            };
            self.in_isolated(frame, call).await?;
            found = true;
        }
        Ok(found)
    }

    /// Returns the document of a frame as an object of its main world: with one of an isolated world, Chromium crashes in its garbage
    /// collection if the page adds listeners all the time.
    async fn document_in(&self, frame: &FrameId, world: &World) -> Result<RemoteObjectId> {
        let known = self
            .listeners()
            .get(frame)
            .and_then(|known| (known.world == world.unique).then(|| known.document.clone()));
        if let Some(known) = known {
            return Ok(known);
        }
        let main = self.main_world(frame).await?;
        let call = CallFunctionOn {
            function_declaration: DOCUMENT.to_owned(),
            unique_context_id: Some(main.unique.to_string()),
            ..Default::default()
        };
        let answer = self.session_of(&main.session).call(&call).await;
        let found = self.map_context_gone(&main, answer).await?;
        let document = found.result.object_id.ok_or(Error::DocumentGone {})?;
        let known = KnownListeners {
            world: world.unique.clone(),
            document: document.clone(),
            nodes: HashMap::new(),
        };
        self.listeners().insert(frame.clone(), known);
        Ok(document)
    }

    /// Records the listeners of nodes; returns those that differ from the ones that the injected script knows.
    fn changed_listeners(&self, frame: &FrameId, world: &World, nodes: Listeners) -> Listeners {
        let mut listeners = self.listeners();
        let Some(known) = listeners
            .get_mut(frame)
            .filter(|known| known.world == world.unique)
        else {
            return Vec::new();
        };
        let mut changed = Vec::new();
        let mut now = HashMap::with_capacity(nodes.len());
        for (node, types) in nodes {
            if !types.iter().any(|kind| is_caused_by_person(kind)) {
                continue;
            }
            let before = known.nodes.remove(&node);
            if before.as_ref() != Some(&types) {
                if changed.len() >= MAX_ELEMENTS {
                    continue;
                }
                changed.push((node, types.clone()));
            }
            now.insert(node, types);
        }
        let gone = std::mem::replace(&mut known.nodes, now);
        changed.extend(gone.into_keys().map(|node| (node, Vec::new())));
        changed
    }
}

fn is_caused_by_person(kind: &str) -> bool {
    TYPES.iter().any(|start| kind.starts_with(start))
}
