//! Observers of the pointer: they are called before an action presses, moves or turns it.

use super::Page;
use crate::backend::{InputStep, Point};
use async_trait::async_trait;
use std::sync::Arc;

/// An observer of the input of a page.
#[async_trait]
pub trait InputObserver: Send + Sync {
    /// Is called before input at a point of the main frame's viewport, which is sent when the future is ready.
    async fn before_input(&self, page: &Page, at: Point);
}

impl Page {
    /// Sets the observer of the page's input.
    pub fn set_input_observer(&self, observer: Arc<dyn InputObserver>) {
        self.state().input_observer = Some(observer);
    }

    /// Calls the observer, if there is one and the input has a point.
    pub(super) async fn announce_input(&self, steps: &[InputStep]) {
        let Some(observer) = self.state().input_observer.clone() else {
            return;
        };
        if let Some(at) = steps.iter().rev().find_map(point) {
            observer.before_input(self, at).await;
        }
    }
}

/// Returns the point of a step of the pointer.
fn point(step: &InputStep) -> Option<Point> {
    match step {
        InputStep::MouseMove { to: at, .. }
        | InputStep::MouseDown { at, .. }
        | InputStep::MouseUp { at, .. }
        | InputStep::Wheel { at, .. } => Some(*at),
        InputStep::KeyDown { .. } | InputStep::KeyUp { .. } | InputStep::InsertText { .. } => None,
    }
}
