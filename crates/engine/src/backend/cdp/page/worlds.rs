//! The execution contexts of each frame: the main world and the isolated world.

use crate::backend::FrameId;
use std::collections::HashMap;
use std::sync::Arc;
use wire::cdp::runtime::{ExecutionContextDescription, ExecutionContextId};

/// The name of the isolated world, which is visible in developer tools.
pub(super) const WORLD: &str = "playhouse";

/// The execution contexts of all frames of a page.
#[derive(Debug, Default)]
pub(super) struct Worlds {
    frames: HashMap<FrameId, FrameWorlds>,
}

#[derive(Debug, Default, Clone)]
struct FrameWorlds {
    main: Option<World>,
    isolated: Option<World>,
}

/// An execution context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct World {
    pub(super) session: Arc<str>,
    /// The identifier, which is unique only in its process.
    pub(super) id: ExecutionContextId,
    /// The identifier that is unique in the browser, so that a call cannot reach another process of the session.
    pub(super) unique: Arc<str>,
    /// Whether the script was injected.
    pub(super) injected: bool,
}

impl Worlds {
    pub(super) fn created(&mut self, session: &Arc<str>, context: &ExecutionContextDescription) {
        let Some(origin) = &context.aux_data else {
            return;
        };
        let Some(frame) = &origin.frame_id else {
            return;
        };
        let worlds = self.frames.entry(frame.into()).or_default();
        let world = World {
            session: session.clone(),
            id: context.id,
            unique: context.unique_id.as_str().into(),
            injected: false,
        };
        if origin.is_default {
            worlds.main = Some(world);
        } else if context.name == WORLD
            && worlds
                .isolated
                .as_ref()
                .is_none_or(|current| !current.same(&world))
        {
            worlds.isolated = Some(world);
        }
    }

    pub(super) fn destroyed(&mut self, session: &str, id: ExecutionContextId) {
        self.retain(|world| !(&*world.session == session && world.id == id));
    }

    pub(super) fn cleared(&mut self, session: &str) {
        self.retain(|world| &*world.session != session);
    }

    pub(super) fn remove_frame(&mut self, frame: &FrameId) {
        self.frames.remove(frame);
    }

    pub(super) fn main(&self, frame: &FrameId) -> Option<World> {
        self.frames.get(frame)?.main.clone()
    }

    /// Returns whether an execution context of a session is the main world of a frame.
    pub(super) fn is_main(&self, session: &str, id: ExecutionContextId) -> bool {
        let mut mains = self
            .frames
            .values()
            .filter_map(|worlds| worlds.main.as_ref());
        mains.any(|main| &*main.session == session && main.id == id)
    }

    pub(super) fn isolated(&self, frame: &FrameId) -> Option<World> {
        self.frames.get(frame)?.isolated.clone()
    }

    /// Records that the script is being injected.
    pub(super) fn injected(&mut self, frame: &FrameId, world: &World) {
        if let Some(current) = self
            .frames
            .get_mut(frame)
            .and_then(|worlds| worlds.isolated.as_mut())
            && current.same(world)
        {
            current.injected = true;
        }
    }

    /// Returns the isolated worlds of a session without the script, and records that it is being injected.
    pub(super) fn take_uninjected(&mut self, session: &str) -> Vec<(FrameId, World)> {
        let mut claimed = Vec::new();
        for (frame, worlds) in &mut self.frames {
            let fresh = worlds.isolated.as_mut();
            let fresh = fresh.filter(|world| !world.injected && &*world.session == session);
            if let Some(world) = fresh {
                world.injected = true;
                claimed.push((frame.clone(), world.clone()));
            }
        }
        claimed
    }

    fn retain(&mut self, keep: impl Fn(&World) -> bool) {
        for worlds in self.frames.values_mut() {
            worlds.main.take_if(|world| !keep(world));
            worlds.isolated.take_if(|world| !keep(world));
        }
    }
}

impl World {
    fn same(&self, other: &Self) -> bool {
        self.session == other.session && self.unique == other.unique
    }
}
