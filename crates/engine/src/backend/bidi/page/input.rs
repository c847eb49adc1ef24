//! Trusted input, sent to the frame that it is for.

use super::BidiPage;
use crate::backend::{Evaluation, FrameId, Input, InputStep, Point, gesture};
use crate::error::{Error, Result};
use async_trait::async_trait;
use std::sync::PoisonError;
use wire::actions::Source;
use wire::bidi::input::PerformActions;
use wire::bidi::script::{LocalValue, RemoteValue};

/// The frame that input goes to, and where its viewport lies in the main one's. What is sent to the page itself does not reach a frame
/// of another process.
#[derive(Clone)]
pub(super) struct ActionsOrigin {
    frame: FrameId,
    left: f64,
    top: f64,
    scale_x: f64,
    scale_y: f64,
}

impl ActionsOrigin {
    fn main(frame: &FrameId) -> Self {
        Self {
            frame: frame.clone(),
            left: 0.0,
            top: 0.0,
            scale_x: 1.0,
            scale_y: 1.0,
        }
    }

    fn inside(&self, point: Point) -> Point {
        Point {
            x: (point.x - self.left) / self.scale_x,
            y: (point.y - self.top) / self.scale_y,
        }
    }
}

/// What boxes of frames differ by that are drawn as they are.
const UNSCALED: f64 = 0.01;

/// The frame at a point, and where it lies.
const FRAME_AT: &str = include_str!("input.js");

/// A page, and the frame of it that a gesture is in.
struct Framed<'a> {
    page: &'a BidiPage,
    ground: ActionsOrigin,
}

#[async_trait]
impl gesture::ActionsOrigin for Framed<'_> {
    fn inside(&self, point: Point) -> Point {
        self.ground.inside(point)
    }

    async fn perform(&self, actions: Vec<Source>) -> Result<()> {
        let context = self.ground.frame.as_str().to_owned();
        self.page
            .root()
            .call(&PerformActions { context, actions })
            .await?;
        Ok(())
    }

    async fn drag(&self, function: &str, at: Point) -> Result<bool> {
        let at = self.ground.inside(at);
        let point = serde_json::json!({ "x": at.x, "y": at.y });
        let frame = &self.ground.frame;
        match self.page.call(frame, function, &point).await {
            Ok(answer) => Ok(answer == "true"),
            Err(Error::DocumentGone {}) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

#[async_trait]
impl Input for BidiPage {
    async fn input(&self, steps: &[InputStep]) -> Result<()> {
        let ground = self.ground(steps).await?;
        self.devices
            .act(&Framed { page: self, ground }, steps)
            .await
    }
}

impl BidiPage {
    /// Where these steps belong: to the frame that their first point is in, or where a button is held.
    async fn ground(&self, steps: &[InputStep]) -> Result<ActionsOrigin> {
        let first = steps.iter().find_map(|step| match step {
            InputStep::MouseMove { to, buttons, .. } => Some((*to, !buttons.is_empty())),
            InputStep::MouseDown { at, .. } | InputStep::Wheel { at, .. } => Some((*at, false)),
            InputStep::MouseUp { at, .. } => Some((*at, true)),
            _ => None,
        });
        let main = ActionsOrigin::main(&self.main);
        let Some((point, held)) = first.filter(|_| self.has_frames()) else {
            return Ok(main);
        };
        if held
            && let Some(ground) = self
                .ground
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone()
        {
            return Ok(ground);
        }
        let mut ground = main;
        while let Some(inner) = self.frame_at(&ground, point).await? {
            ground = inner;
        }
        *self.ground.lock().unwrap_or_else(PoisonError::into_inner) = Some(ground.clone());
        Ok(ground)
    }

    /// The frame that lies at a point of the page, inside another one.
    async fn frame_at(&self, outer: &ActionsOrigin, point: Point) -> Result<Option<ActionsOrigin>> {
        let at = outer.inside(point);
        let arguments = [at.x, at.y].map(|length| LocalValue::string(length.to_string()));
        let found = match self
            .in_sandbox(&outer.frame, FRAME_AT, arguments.into())
            .await
        {
            // What is shown there can be pointed at all the same.
            Err(Error::DocumentGone {} | Error::Script { .. }) => return Ok(None),
            found => found?,
        };
        let Some((window, place)) = found.decode::<(RemoteValue, RemoteValue)>() else {
            return Ok(None);
        };
        let place: String = place.decode().unwrap_or_default();
        let numbers: Vec<f64> = place.split(',').filter_map(|n| n.parse().ok()).collect();
        let (Some(frame), [left, top, scale_x, scale_y]) = (window.window(), numbers.as_slice())
        else {
            return Ok(None);
        };
        // Firefox does not know the scale that a frame is drawn at; the page around it does.
        if (scale_x - 1.0).abs() > UNSCALED || (scale_y - 1.0).abs() > UNSCALED {
            return Ok(None);
        }
        Ok(Some(ActionsOrigin {
            frame: FrameId::from(frame),
            left: outer.left + left * outer.scale_x,
            top: outer.top + top * outer.scale_y,
            scale_x: outer.scale_x * scale_x,
            scale_y: outer.scale_y * scale_y,
        }))
    }
}
