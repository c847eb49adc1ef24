//! Trusted input, sent to the frame at the position.

use super::BidiPage;
use crate::backend::{Evaluation, FrameId, Input, InputStep, Point, gesture};
use crate::error::{Error, Result};
use async_trait::async_trait;
use std::sync::PoisonError;
use wire::actions::Source;
use wire::bidi::input::PerformActions;
use wire::bidi::script::{LocalValue, RemoteValue};

/// The frame that input is sent to, and the position of its viewport in that of the main frame. Input to the page itself does not reach
/// out-of-process frames.
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

/// The largest deviation from 1 of the scale of a frame that is not scaled.
const UNSCALED: f64 = 0.01;

/// Returns the frame at a point, and its position.
const FRAME_AT: &str = include_str!("input.js");

/// A page and the frame that input actions are sent to.
struct Framed<'a> {
    page: &'a BidiPage,
    origin: ActionsOrigin,
}

#[async_trait]
impl gesture::ActionsOrigin for Framed<'_> {
    fn inside(&self, point: Point) -> Point {
        self.origin.inside(point)
    }

    async fn perform(&self, actions: Vec<Source>) -> Result<()> {
        let context = self.origin.frame.as_str().to_owned();
        self.page
            .root()
            .call(&PerformActions { context, actions })
            .await?;
        Ok(())
    }

    async fn drag(&self, function: &str, at: Point) -> Result<bool> {
        let at = self.origin.inside(at);
        let point = serde_json::json!({ "x": at.x, "y": at.y });
        let frame = &self.origin.frame;
        match self.page.call(frame, function, &point).await {
            Ok(answer) => Ok(answer == "true"),
            Err(Error::DocumentGone {}) => Ok(false),
            Err(error) => Err(error),
        }
    }

    async fn prevent_clicks(&self, at: Point, count: u32) -> Result<bool> {
        let at = self.origin.inside(at);
        let arguments = [at.x, at.y, f64::from(count)];
        let arguments = arguments.map(|number| LocalValue::string(number.to_string()));
        let prevented = self.page.in_sandbox(
            &self.origin.frame,
            gesture::PREVENT_CLICKS,
            arguments.into(),
        );
        Ok(prevented.await?.decode::<String>().as_deref() == Some("prevented"))
    }
}

#[async_trait]
impl Input for BidiPage {
    fn inserts_text(&self) -> bool {
        false
    }

    async fn input(&self, steps: &[InputStep]) -> Result<()> {
        let origin = self.origin(steps).await?;
        self.devices
            .act(&Framed { page: self, origin }, steps)
            .await
    }
}

impl BidiPage {
    /// Returns the actions origin of steps: the frame at their first point, or that of the last actions while a button is pressed.
    async fn origin(&self, steps: &[InputStep]) -> Result<ActionsOrigin> {
        let first = steps.iter().find_map(|step| match step {
            InputStep::MouseMove { to, buttons, .. } => Some((*to, !buttons.is_empty())),
            InputStep::MouseDown { at, .. } | InputStep::Wheel { at, .. } => Some((*at, false)),
            InputStep::MouseUp { at, .. } => Some((*at, true)),
            _ => None,
        });
        let main = ActionsOrigin::main(&self.main);
        let Some((point, is_pressed)) = first.filter(|_| self.has_frames()) else {
            return Ok(main);
        };
        if is_pressed
            && let Some(origin) = self
                .origin
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone()
        {
            return Ok(origin);
        }
        let mut origin = main;
        while let Some(inner) = self.frame_at(&origin, point).await? {
            origin = inner;
        }
        *self.origin.lock().unwrap_or_else(PoisonError::into_inner) = Some(origin.clone());
        Ok(origin)
    }

    /// Returns the frame at a point of the page that is a child of another frame.
    async fn frame_at(&self, outer: &ActionsOrigin, point: Point) -> Result<Option<ActionsOrigin>> {
        let at = outer.inside(point);
        let arguments = [at.x, at.y].map(|length| LocalValue::string(length.to_string()));
        let found = match self
            .in_sandbox(&outer.frame, FRAME_AT, arguments.into())
            .await
        {
            // Input can be sent to any document that the frame has.
            Err(Error::DocumentGone {} | Error::Script { .. }) => return Ok(None),
            found => found?,
        };
        let Some((window, position)) = found.decode::<(RemoteValue, RemoteValue)>() else {
            return Ok(None);
        };
        let position: String = position.decode().unwrap_or_default();
        let numbers: Vec<f64> = position.split(',').filter_map(|n| n.parse().ok()).collect();
        let (Some(frame), [left, top, scale_x, scale_y]) = (window.window(), numbers.as_slice())
        else {
            return Ok(None);
        };
        // Firefox does not apply the scale of a frame to input; the document around it does.
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
