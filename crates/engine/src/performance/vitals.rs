//! Core Web Vitals of a page, as an observer in its document measures them. <https://web.dev/articles/vitals>

use crate::backend::Handle;
use crate::error::Result;
use crate::injected::VITALS;
use crate::page::Page;
use crate::progress::Progress;
use crate::reading::{ElementFacts, describe_handles};
use serde::Deserialize;
use serde_json::json;

/// A metric of web.dev.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vital {
    /// Largest Contentful Paint, in ms.
    Lcp,
    /// Cumulative Layout Shift, without a unit.
    Cls,
    /// Interaction to Next Paint, in ms.
    Inp,
    /// Time to First Byte, in ms.
    Ttfb,
    /// First Contentful Paint, in ms.
    Fcp,
}

/// The rating of a metric by the thresholds of web.dev.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::Display)]
pub enum Rating {
    /// At most the lower threshold.
    #[strum(to_string = "good")]
    Good,
    /// At most the upper threshold.
    #[strum(to_string = "needs improvement")]
    NeedsImprovement,
    /// More than the upper threshold.
    #[strum(to_string = "poor")]
    Poor,
}

impl Vital {
    /// Returns the rating of a value.
    pub fn rating(self, value: f64) -> Rating {
        let (good, poor) = match self {
            Self::Lcp => (2_500.0, 4_000.0),
            Self::Cls => (0.1, 0.25),
            Self::Inp => (200.0, 500.0),
            Self::Ttfb => (800.0, 1_800.0),
            Self::Fcp => (1_800.0, 3_000.0),
        };
        if value <= good {
            Rating::Good
        } else if value <= poor {
            Rating::NeedsImprovement
        } else {
            Rating::Poor
        }
    }
}

/// A metric, or why there is none.
#[derive(Debug, Clone, PartialEq)]
pub enum Measured<T> {
    /// The browser does not report it.
    Unsupported,
    /// There is nothing to measure yet.
    Nothing,
    /// The metric.
    Value(T),
}

/// The Core Web Vitals of a document until now.
#[derive(Debug, Clone, PartialEq)]
pub struct Vitals {
    /// The largest paint.
    pub lcp: Measured<LargestPaint>,
    /// The layout shifts of the worst session window; empty if there was none.
    pub cls: Measured<Vec<LayoutShift>>,
    /// The interaction whose latency is INP.
    pub inp: Measured<Interaction>,
    /// The time to the first byte of the response, in ms.
    pub ttfb: Measured<f64>,
    /// The time to the first paint with content, in ms.
    pub fcp: Measured<f64>,
}

/// The largest paint.
#[derive(Debug, Clone, PartialEq)]
pub struct LargestPaint {
    /// In ms.
    pub time: f64,
    /// The URL of the image; empty for text.
    pub url: String,
    /// The element, if it still exists.
    pub element: Option<ElementFacts>,
}

/// A layout shift.
#[derive(Debug, Clone, PartialEq)]
pub struct LayoutShift {
    /// In ms.
    pub time: f64,
    /// The score.
    pub value: f64,
    /// The elements that moved and still exist.
    pub elements: Vec<ElementFacts>,
}

/// An interaction and the parts of its latency, in ms.
#[derive(Debug, Clone, PartialEq)]
pub struct Interaction {
    /// The type of the longest event, such as `pointerup`.
    pub event: String,
    /// The time of the event.
    pub time: f64,
    /// The time from the event to the next paint.
    pub duration: f64,
    /// The time until its listeners began.
    pub input_delay: f64,
    /// The time that listeners took.
    pub processing: f64,
    /// The time from the end of the listeners to the next paint.
    pub presentation: f64,
    /// The target, if it still exists.
    pub element: Option<ElementFacts>,
}

#[derive(Deserialize)]
struct Facts {
    lcp: Option<Entry<LcpFacts>>,
    cls: Option<ClsFacts>,
    inp: Option<Entry<InteractionFacts>>,
    ttfb: Option<f64>,
    fcp: Option<Entry<f64>>,
}

#[derive(Deserialize)]
struct Entry<T> {
    entry: Option<T>,
}

#[derive(Deserialize)]
struct LcpFacts {
    value: f64,
    url: String,
    handle: Option<Handle>,
}

#[derive(Deserialize)]
struct ClsFacts {
    shifts: Vec<ShiftFacts>,
}

#[derive(Deserialize)]
struct ShiftFacts {
    time: f64,
    value: f64,
    handles: Vec<Option<Handle>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct InteractionFacts {
    #[serde(rename = "type")]
    event: String,
    time: f64,
    duration: f64,
    input_delay: f64,
    processing: f64,
    presentation: f64,
    handle: Option<Handle>,
}

impl Page {
    /// Returns the Core Web Vitals of the main document until now, with the elements that are responsible.
    pub async fn vitals(&self, progress: &Progress) -> Result<Vitals> {
        progress.run(self.read_vitals()).await
    }

    async fn read_vitals(&self) -> Result<Vitals> {
        let main = self.main_frame();
        self.unless_interrupted(self.backend.inject_script(&main, VITALS.script))
            .await?;
        let facts: Facts = self
            .call(&main, "bundle", &json!({ "name": VITALS.name }))
            .await?;
        let described = async |handles: Vec<Handle>| describe_handles(self, &main, &handles).await;
        let lcp = match facts.lcp.map(|lcp| lcp.entry) {
            None => Measured::Unsupported,
            Some(None) => Measured::Nothing,
            Some(Some(lcp)) => Measured::Value(LargestPaint {
                time: lcp.value,
                url: lcp.url,
                element: described(lcp.handle.into_iter().collect()).await?.pop(),
            }),
        };
        let cls = match facts.cls {
            None => Measured::Unsupported,
            Some(cls) => {
                let mut shifts = Vec::new();
                for shift in cls.shifts {
                    shifts.push(LayoutShift {
                        time: shift.time,
                        value: shift.value,
                        elements: described(shift.handles.into_iter().flatten().collect()).await?,
                    });
                }
                Measured::Value(shifts)
            }
        };
        let inp = match facts.inp.map(|inp| inp.entry) {
            None => Measured::Unsupported,
            Some(None) => Measured::Nothing,
            Some(Some(inp)) => Measured::Value(Interaction {
                event: inp.event,
                time: inp.time,
                duration: inp.duration,
                input_delay: inp.input_delay,
                processing: inp.processing,
                presentation: inp.presentation,
                element: described(inp.handle.into_iter().collect()).await?.pop(),
            }),
        };
        Ok(Vitals {
            lcp,
            cls,
            inp,
            ttfb: facts.ttfb.map_or(Measured::Nothing, Measured::Value),
            fcp: match facts.fcp.map(|fcp| fcp.entry) {
                None => Measured::Unsupported,
                Some(fcp) => fcp.map_or(Measured::Nothing, Measured::Value),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Rating, Vital};

    #[test]
    fn values_are_rated_by_the_thresholds_of_web_dev() {
        use Rating::{Good, NeedsImprovement, Poor};
        let cases = [
            (Vital::Lcp, 2_500.0, Good),
            (Vital::Lcp, 2_501.0, NeedsImprovement),
            (Vital::Lcp, 4_001.0, Poor),
            (Vital::Cls, 0.1, Good),
            (Vital::Cls, 0.25, NeedsImprovement),
            (Vital::Cls, 0.26, Poor),
            (Vital::Inp, 200.0, Good),
            (Vital::Inp, 501.0, Poor),
            (Vital::Ttfb, 1_800.0, NeedsImprovement),
            (Vital::Fcp, 3_001.0, Poor),
        ];
        for (vital, value, rating) in cases {
            assert_eq!(vital.rating(value), rating, "{vital:?} {value}");
        }
    }
}
