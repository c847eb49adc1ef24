//! Locators: descriptions of elements that are resolved in their frame for each operation, with strictness.

mod batch;
mod element;
mod highlight;
mod origin;
mod reference;
mod wait;
mod wanted;

pub(crate) use element::generate;
pub use element::{Checked, Element, Rect, States};
pub use wait::WaitFor;

use crate::backend::FrameId;
use crate::error::{Candidate, Error, Result};
use crate::page::Page;
use crate::progress::Progress;
use crate::selector::{Selector, Step, Target};
use element::{Content, read};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::sync::Arc;

/// An element that a ref or a selector names, resolved again for each operation.
///
/// An action on a target without a match fails at once; an element that is removed while an action waits for it is waited for.
#[derive(Debug, Clone)]
pub struct Locator {
    pub(crate) page: Page,
    target: Target,
    source: Arc<str>,
    /// The frame in which a selector starts; default: the main frame.
    root: Option<FrameId>,
    /// Whether a missing element is waited for.
    patient: bool,
    /// The only origin in whose documents text may be typed.
    pub(crate) origin: Option<Arc<str>>,
}

/// The largest number of candidates in the error for several matches.
const MAX_CANDIDATES: usize = 10;
/// The largest number of elements that `resolve_all` returns.
const MAX_MATCHES: usize = 1_000;

impl Page {
    /// Returns the locator of `target`: a ref of a snapshot (`e5`, `f1e5`), a selector, or a locator expression.
    pub fn locator(&self, target: &str) -> Result<Locator> {
        let test_id = self.state().test_id.clone();
        let parsed = Target::parse(target, &test_id).map_err(|reason| Error::InvalidSelector {
            selector: target.to_owned(),
            reason: reason.to_string(),
        })?;
        Ok(Locator {
            page: self.clone(),
            target: parsed,
            source: target.trim().into(),
            root: None,
            patient: false,
            origin: None,
        })
    }

    /// Returns the locator of a selector.
    pub fn locate(&self, selector: Selector) -> Locator {
        Locator {
            page: self.clone(),
            source: selector.to_string().into(),
            target: Target::Selector(selector),
            root: None,
            patient: false,
            origin: None,
        }
    }

    /// Sets the attribute of `getByTestId`, by default `data-testid`.
    pub fn set_test_id_attribute(&self, name: &str) {
        self.state().test_id = name.into();
    }
}

impl std::fmt::Display for Locator {
    /// The format of call logs: `locator('#x')`, `getByRole('button')`, `locator('aria-ref=e5')`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.target {
            Target::Ref(name) => write!(f, "locator('aria-ref={name}')"),
            Target::Selector(selector) => selector.fmt(f),
        }
    }
}

impl Locator {
    /// Returns the page.
    pub fn page(&self) -> &Page {
        &self.page
    }

    /// Returns the parsed target.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Returns the target as it was given.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns the locator in a frame of the page instead of the main frame; a ref has its own frame.
    pub fn within(mut self, frame: FrameId) -> Self {
        self.root = Some(frame);
        self
    }

    /// Returns the locator with waiting for missing elements, as Playwright's locators do.
    pub fn waiting_for_element(mut self) -> Self {
        self.patient = true;
        self
    }

    pub(crate) fn waits_for_element(&self) -> bool {
        self.patient
    }

    /// Returns the locator of the first match; a ref is unchanged.
    pub fn first(&self) -> Self {
        let mut first = self.clone();
        if let Target::Selector(selector) = &mut first.target {
            *selector = std::mem::take(selector).then(Step::Nth { index: 0 });
        }
        first
    }

    /// Resolves the single matching element. Fails at once with `ElementNotFound`, `ElementAmbiguous` or `StaleRef`; a waiting locator
    /// waits until an element matches.
    pub async fn resolve(&self, progress: &Progress) -> Result<Element> {
        progress.log(format!("waiting for {self}"));
        progress
            .run(async {
                loop {
                    match self.find().await {
                        Err(error) if self.patient && error.transient() => {
                            progress.set_obstacle(error);
                            self.page.wait_for_change().await?;
                        }
                        found => return found,
                    }
                }
            })
            .await
    }

    /// Returns all matching elements, in document order.
    pub async fn resolve_all(&self, progress: &Progress) -> Result<Vec<Element>> {
        progress
            .run(self.find_all(MAX_MATCHES))
            .await
            .map(|(_, found)| found.elements)
    }

    /// Returns the number of matching elements.
    pub async fn count(&self, progress: &Progress) -> Result<usize> {
        progress
            .run(self.find_all(0))
            .await
            .map(|(_, found)| found.count)
    }

    /// Runs a function in the page's default context with the list of all matching elements; `None` for `undefined`.
    pub async fn evaluate_all(&self, progress: &Progress, function: &str) -> Result<Option<Value>> {
        progress
            .run(async {
                let (frame, found) = self.find_all(MAX_MATCHES).await?;
                let handles: Vec<_> = found
                    .elements
                    .iter()
                    .map(|element| element.handle)
                    .collect();
                let evaluated = self.page.backend.evaluate_all(&frame, function, &handles);
                let returned = self.page.unless_interrupted(evaluated).await;
                self.page.mask_passwords(&frame, &returned).await;
                returned
            })
            .await
    }

    /// Runs a function in the page's default context with the element; `None` for `undefined`.
    pub async fn evaluate(&self, progress: &Progress, function: &str) -> Result<Option<Value>> {
        let element = self.resolve(progress).await?;
        progress.run(element.evaluate(function)).await
    }

    /// Returns the element's current states.
    pub async fn states(&self, progress: &Progress) -> Result<States> {
        let element = self.resolve(progress).await?;
        progress.run(element.states()).await
    }

    /// Returns whether an element matches and is visible.
    pub async fn is_visible(&self, progress: &Progress) -> Result<bool> {
        match progress.run(self.find()).await {
            Ok(element) => match progress.run(element.states()).await {
                Ok(states) => Ok(states.visible),
                Err(error) if error.transient() => Ok(false),
                Err(error) => Err(error),
            },
            Err(error) if error.transient() => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Returns the element's text content.
    pub async fn text(&self, progress: &Progress) -> Result<String> {
        let element = self.resolve(progress).await?;
        Ok(progress.run(element.content()).await?.text)
    }

    /// Returns the element's rendered text.
    pub async fn inner_text(&self, progress: &Progress) -> Result<String> {
        let element = self.resolve(progress).await?;
        Ok(progress.run(element.content()).await?.inner_text)
    }

    /// Returns the value of a field, or of the field of a label; `None` for an element without one. The value of a password field is
    /// masked.
    pub async fn value(&self, progress: &Progress) -> Result<Option<String>> {
        let element = self.resolve(progress).await?;
        Ok(progress.run(element.content()).await?.value)
    }

    /// Returns the value, and whether the unmasked value is the expected one.
    pub async fn compare_value(
        &self,
        progress: &Progress,
        expected: &str,
    ) -> Result<Option<(String, bool)>> {
        let element = self.resolve(progress).await?;
        let asked = element.call("content", json!({ "expected": expected }));
        let content: Content = progress.run(asked).await?;
        Ok(content.value.map(|value| (value, content.is_expected)))
    }

    /// Returns an attribute as written.
    pub async fn attribute(&self, progress: &Progress, name: &str) -> Result<Option<String>> {
        let element = self.resolve(progress).await?;
        progress.run(element.attribute(name)).await
    }

    /// Returns the element's bounding box in the main frame's viewport; `None` if it is not visible.
    pub async fn bounds(&self, progress: &Progress) -> Result<Option<Rect>> {
        let element = self.resolve(progress).await?;
        progress.run(element.bounds()).await
    }

    /// Returns a locator expression that matches only this element, including frames, for generated code: for a selector target, the target
    /// itself.
    pub async fn generated(&self, progress: &Progress) -> Result<Selector> {
        match &self.target {
            Target::Selector(selector) => Ok(selector.clone()),
            Target::Ref(_) => {
                progress.log(format!("waiting for {self}"));
                let argument = json!({ "testIdAttribute": self.page.state().test_id.as_ref() });
                progress
                    .run(async {
                        let (element, own) = self.find_and_call("locator", &argument).await?;
                        element.in_its_frames(own?).await
                    })
                    .await
            }
        }
    }

    /// Returns the best locator expression for the element, including frames, regardless of how it was found.
    pub async fn best(&self, progress: &Progress) -> Result<Selector> {
        let element = self.resolve(progress).await?;
        progress.run(element.generated()).await
    }

    /// Attempts once to resolve exactly one element.
    pub(crate) async fn find(&self) -> Result<Element> {
        let look = self.lookup().await?;
        let found = self.page.call(&look.frame, look.find, &look.which).await?;
        self.found(&look, found).await
    }

    /// Attempts once to resolve exactly one element, and calls an injected function on it, in one round trip.
    pub(crate) async fn find_and_call<T: DeserializeOwned>(
        &self,
        function: &str,
        argument: &Value,
    ) -> Result<(Element, Result<T>)> {
        let look = self.lookup().await?;
        // A command that is sent while a dialog blocks the page would be executed after its caller has timed out.
        if self.page.state().is_blocked_by_dialog() {
            return Err(Error::DialogOpen {});
        }
        let question = json!({ "find": look.find, "which": look.which, "ask": function, "argument": argument });
        let About { found, answer } = self.page.call(&look.frame, "about", &question).await?;
        let element = self.found(&look, found).await?;
        let answer = element.read(function, answer);
        Ok((element, answer))
    }

    /// Returns the lookup of the element and its document; frames on the way are resolved already.
    async fn lookup(&self) -> Result<Lookup<'_>> {
        match &self.target {
            Target::Ref(name) => self.lookup_ref(name).await,
            Target::Selector(selector) => {
                let mut path = selector.segments();
                let last = path.pop().ok_or_else(|| self.not_found())?;
                let frame = self.enter(&path).await?;
                Ok(Lookup {
                    frame,
                    find: "query",
                    which: lookup_arguments(&last, MAX_CANDIDATES),
                    place: LookupRoot::Selector {
                        shown: selector,
                        last,
                        path,
                    },
                })
            }
        }
    }

    /// Returns the single element of a lookup's result.
    async fn found(&self, look: &Lookup<'_>, found: Value) -> Result<Element> {
        match &look.place {
            LookupRoot::Ref(name) => {
                let hit = self.ref_hit(name, &look.frame, read(look.find, found)?)?;
                Ok(self.element(&look.frame, hit))
            }
            LookupRoot::Selector { shown, last, path } => {
                let found = self.matches(&look.frame, read(look.find, found)?)?;
                self.only(found, last, shown, path).await
            }
        }
    }

    /// Attempts once to find all elements, and returns them with the frame of their document.
    pub(crate) async fn find_all(&self, limit: usize) -> Result<(FrameId, Found)> {
        match &self.target {
            Target::Ref(_) => {
                let element = self.find().await?;
                let found = Found {
                    count: 1,
                    elements: vec![element.clone()],
                };
                Ok((element.frame, found))
            }
            Target::Selector(selector) => {
                let segments = selector.segments();
                let (last, frames) = segments.split_last().ok_or_else(|| self.not_found())?;
                let frame = self.enter(frames).await?;
                let found = self.query(&frame, last, limit).await?;
                Ok((frame, found))
            }
        }
    }

    /// Returns the frame that the frame segments of a selector match.
    async fn enter(&self, frames: &[Selector]) -> Result<FrameId> {
        let mut frame = self.root.clone().unwrap_or_else(|| self.page.main_frame());
        for (index, segment) in frames.iter().enumerate() {
            let owner = self.strictly(&frame, segment, &frames[..index]).await?;
            let inside = self
                .page
                .backend
                .content_frames(&frame, &[owner.handle])
                .await?;
            frame = inside
                .into_iter()
                .next()
                .flatten()
                .ok_or_else(|| Error::ElementMismatch {
                    selector: self.to_string(),
                    reason: format!("{} is not an <iframe>", owner.preview),
                })?;
        }
        Ok(frame)
    }

    async fn strictly(
        &self,
        frame: &FrameId,
        segment: &Selector,
        path: &[Selector],
    ) -> Result<Element> {
        let found = self.query(frame, segment, MAX_CANDIDATES).await?;
        self.only(found, segment, segment, path).await
    }

    async fn only(
        &self,
        mut found: Found,
        segment: &Selector,
        shown: &Selector,
        path: &[Selector],
    ) -> Result<Element> {
        match found.count {
            0 => Err(self.not_found()),
            1 if found.elements.len() == 1 => Ok(found.elements.remove(0)),
            count => Err(Error::ElementAmbiguous {
                selector: shown.to_string(),
                count,
                candidates: candidates(&found.elements, segment, path).await,
            }),
        }
    }

    async fn query(&self, frame: &FrameId, segment: &Selector, limit: usize) -> Result<Found> {
        let answer = self
            .page
            .call(frame, "query", &lookup_arguments(segment, limit))
            .await?;
        self.matches(frame, answer)
    }

    fn matches(&self, frame: &FrameId, answer: Query) -> Result<Found> {
        match answer {
            Query::Found { count, elements } => Ok(Found {
                count,
                elements: elements
                    .into_iter()
                    .map(|hit| self.element(frame, hit))
                    .collect(),
            }),
            Query::Refused { error } => Err(Error::InvalidSelector {
                selector: self.source.to_string(),
                reason: error.reason(),
            }),
        }
    }

    fn element(&self, frame: &FrameId, Hit { handle, preview }: Hit) -> Element {
        Element {
            page: self.page.clone(),
            frame: frame.clone(),
            handle,
            preview,
        }
    }

    fn not_found(&self) -> Error {
        Error::ElementNotFound {
            selector: self.source.to_string(),
            nearest: Vec::new(),
        }
    }
}

/// A lookup of an element: its document, function and argument.
struct Lookup<'a> {
    frame: FrameId,
    /// The injected function and its argument.
    find: &'static str,
    which: Value,
    place: LookupRoot<'a>,
}

enum LookupRoot<'a> {
    Ref(&'a str),
    Selector {
        shown: &'a Selector,
        last: Selector,
        path: Vec<Selector>,
    },
}

/// The result of the page function `about`.
#[derive(Deserialize)]
struct About {
    #[serde(default)]
    found: Value,
    #[serde(default)]
    answer: Value,
}

fn lookup_arguments(segment: &Selector, limit: usize) -> Value {
    json!({ "steps": segment, "limit": limit })
}

/// The result of the page function `query`.
#[derive(Deserialize)]
#[serde(untagged)]
enum Query {
    Found { count: usize, elements: Vec<Hit> },
    Refused { error: Refusal },
}

#[derive(Deserialize)]
struct Hit {
    handle: u64,
    preview: String,
}

/// A part of a selector that the browser cannot parse.
#[derive(Deserialize)]
struct Refusal {
    engine: String,
    text: String,
    message: String,
}

impl Refusal {
    fn reason(&self) -> String {
        let Self {
            engine,
            text,
            message,
        } = self;
        match engine.as_str() {
            "css" => format!("\"{text}\" is not a CSS selector that the browser knows."),
            "xpath" => format!("\"{text}\" is not a valid XPath expression."),
            _ => message.clone(),
        }
    }
}

pub(crate) struct Found {
    pub(crate) count: usize,
    pub(crate) elements: Vec<Element>,
}

/// Returns each element with a locator; if none can be generated, with its index among the matches.
async fn candidates(elements: &[Element], segment: &Selector, path: &[Selector]) -> Vec<Candidate> {
    let generated = element::generate(elements).await.unwrap_or_default();
    let generated = generated.into_iter().chain(std::iter::repeat(None));
    elements
        .iter()
        .zip(generated)
        .enumerate()
        .map(|(index, (element, own))| {
            let own = own.unwrap_or_else(|| {
                let index = index.try_into().unwrap_or(i32::MAX);
                segment.clone().then(Step::Nth { index })
            });
            let locator = match path {
                [] => own,
                [first, rest @ ..] => rest
                    .iter()
                    .cloned()
                    .chain([own])
                    .fold(first.clone(), Selector::in_frame),
            };
            Candidate {
                preview: element.preview.clone(),
                locator: locator.to_string(),
            }
        })
        .collect()
}
