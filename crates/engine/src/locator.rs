//! A lazy description of an element: looked up when something is done with it, in the frame it names, and strictly one.

mod batch;
mod element;
mod origin;
mod wait;

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

/// An element that a ref or a selector names, looked up anew by everything that is done with it.
///
/// An action on a target that matches nothing fails at once; an element that goes away while an action waits for it is waited for.
#[derive(Debug, Clone)]
pub struct Locator {
    pub(crate) page: Page,
    target: Target,
    source: Arc<str>,
    /// The frame that a selector begins in, if not the main one.
    root: Option<FrameId>,
    /// What is not there yet is waited for.
    patient: bool,
    /// The only origin whose documents get text.
    pub(crate) origin: Option<Arc<str>>,
}

/// Candidates listed when a selector matches more than one element.
const MAX_CANDIDATES: usize = 10;
/// What `resolve_all` returns at most.
const MAX_MATCHES: usize = 1_000;

impl Page {
    /// The element that `target` names: a ref of the last snapshot (`e5`, `f1e5`), a selector, or a locator expression.
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

    /// The element that a selector names.
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

    /// The attribute behind `getByTestId`, `data-testid` unless set.
    pub fn set_test_id_attribute(&self, name: &str) {
        self.state().test_id = name.into();
    }
}

impl std::fmt::Display for Locator {
    /// As call logs name it: `locator('#x')`, `getByRole('button')`, `locator('aria-ref=e5')`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.target {
            Target::Ref(name) => write!(f, "locator('aria-ref={name}')"),
            Target::Selector(selector) => selector.fmt(f),
        }
    }
}

impl Locator {
    /// The page it looks in.
    pub fn page(&self) -> &Page {
        &self.page
    }

    /// What it looks for.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// The target as it was given.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The same, looked for in a frame of the page instead of the main one; a ref knows its frame itself.
    pub fn within(mut self, frame: FrameId) -> Self {
        self.root = Some(frame);
        self
    }

    /// The same, but an element that is not there yet is waited for, as Playwright's locators do.
    pub fn waiting_for_element(mut self) -> Self {
        self.patient = true;
        self
    }

    pub(crate) fn waits_for_element(&self) -> bool {
        self.patient
    }

    /// The first of the elements that match; a ref stays as it is.
    pub fn first(&self) -> Self {
        let mut first = self.clone();
        if let Target::Selector(selector) = &mut first.target {
            *selector = std::mem::take(selector).then(Step::Nth { index: 0 });
        }
        first
    }

    /// The one element that matches now. Fails at once with `ElementNotFound`, `ElementAmbiguous` or `StaleRef`; a patient locator waits
    /// until an element matches.
    pub async fn resolve(&self, progress: &Progress) -> Result<Element> {
        progress.log(format!("waiting for {self}"));
        progress
            .run(async {
                loop {
                    match self.find().await {
                        Err(error) if self.patient && error.transient() => {
                            progress.set_obstacle(error);
                            self.wait_for_change().await?;
                        }
                        found => return found,
                    }
                }
            })
            .await
    }

    /// Every element that matches now, in document order.
    pub async fn resolve_all(&self, progress: &Progress) -> Result<Vec<Element>> {
        progress
            .run(self.find_all(MAX_MATCHES))
            .await
            .map(|(_, found)| found.elements)
    }

    /// How many elements match now.
    pub async fn count(&self, progress: &Progress) -> Result<usize> {
        progress
            .run(self.find_all(0))
            .await
            .map(|(_, found)| found.count)
    }

    /// Runs a function in the page's own world with the list of all elements that match now; `None` for `undefined`.
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

    /// Runs a function in the page's own world with the element; `None` for `undefined`.
    pub async fn evaluate(&self, progress: &Progress, function: &str) -> Result<Option<Value>> {
        let element = self.resolve(progress).await?;
        progress.run(element.evaluate(function)).await
    }

    /// The element's states now.
    pub async fn states(&self, progress: &Progress) -> Result<States> {
        let element = self.resolve(progress).await?;
        progress.run(element.states()).await
    }

    /// Whether an element matches and is visible now.
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

    /// The element's text content.
    pub async fn text(&self, progress: &Progress) -> Result<String> {
        let element = self.resolve(progress).await?;
        Ok(progress.run(element.content()).await?.text)
    }

    /// The element's text as it is laid out.
    pub async fn inner_text(&self, progress: &Progress) -> Result<String> {
        let element = self.resolve(progress).await?;
        Ok(progress.run(element.content()).await?.inner_text)
    }

    /// The value of a field, or of the field of a label; `None` for an element without one. That of a password field is masked.
    pub async fn value(&self, progress: &Progress) -> Result<Option<String>> {
        let element = self.resolve(progress).await?;
        Ok(progress.run(element.content()).await?.value)
    }

    /// The same, and whether the value behind it is the expected one.
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

    /// An attribute as written.
    pub async fn attribute(&self, progress: &Progress, name: &str) -> Result<Option<String>> {
        let element = self.resolve(progress).await?;
        progress.run(element.attribute(name)).await
    }

    /// The element's box in the main frame's viewport; `None` when it is not visible.
    pub async fn bounds(&self, progress: &Progress) -> Result<Option<Rect>> {
        let element = self.resolve(progress).await?;
        progress.run(element.bounds()).await
    }

    /// A locator expression that names only this element, frames included, as code would have it: for a selector target the target itself.
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

    /// The best locator expression for the element, frames included, whatever it was found by.
    pub async fn best(&self, progress: &Progress) -> Result<Selector> {
        let element = self.resolve(progress).await?;
        progress.run(element.generated()).await
    }

    /// One look for exactly one element.
    pub(crate) async fn find(&self) -> Result<Element> {
        let look = self.lookup().await?;
        let found = self.page.call(&look.frame, look.find, &look.which).await?;
        self.found(&look, found).await
    }

    /// One look for exactly one element, and a function of the injected code about it, in one round trip.
    pub(crate) async fn find_and_call<T: DeserializeOwned>(
        &self,
        function: &str,
        argument: &Value,
    ) -> Result<(Element, Result<T>)> {
        let look = self.lookup().await?;
        // What is sent while a dialog holds the page would be done when nobody waits for it any more.
        if self.page.state().is_blocked_by_dialog() {
            return Err(Error::DialogOpen {});
        }
        let question = json!({ "find": look.find, "which": look.which, "ask": function, "argument": argument });
        let About { found, answer } = self.page.call(&look.frame, "about", &question).await?;
        let element = self.found(&look, found).await?;
        let answer = element.read(function, answer);
        Ok((element, answer))
    }

    /// What to ask which document for the element; frames on the way to it are found already.
    async fn lookup(&self) -> Result<Lookup<'_>> {
        match &self.target {
            Target::Ref(name) => {
                let (frame, local) = self.owner_of(name)?;
                Ok(Lookup {
                    frame,
                    find: "byRef",
                    which: json!({ "ref": local }),
                    place: LookupRoot::Ref(name),
                })
            }
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

    /// The one element that a look has found.
    async fn found(&self, look: &Lookup<'_>, found: Value) -> Result<Element> {
        match &look.place {
            LookupRoot::Ref(name) => {
                let hit: Option<Hit> = read(look.find, found)?;
                let hit = hit.ok_or_else(|| stale(name))?;
                Ok(self.element(&look.frame, hit))
            }
            LookupRoot::Selector { shown, last, path } => {
                let found = self.matches(&look.frame, read(look.find, found)?)?;
                self.only(found, last, shown, path).await
            }
        }
    }

    /// One look for all elements, and the frame whose document holds them.
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

    /// The frame whose document gave the ref, and the ref as that document knows it.
    fn owner_of(&self, name: &str) -> Result<(FrameId, String)> {
        let (sequence, local) = match name.strip_prefix('f').and_then(|rest| rest.split_once('e')) {
            Some((sequence, number)) => (
                sequence.parse().map_err(|_| stale(name))?,
                format!("e{number}"),
            ),
            None => (0, name.to_owned()),
        };
        let frame = self.page.state().frames.by_sequence(sequence).cloned();
        Ok((frame.ok_or_else(|| stale(name))?, local))
    }

    /// The frame that the frame segments of a selector lead to.
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
        }
    }
}

/// Where to look for an element, and how.
struct Lookup<'a> {
    frame: FrameId,
    /// The function of the injected code, and its argument.
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

/// What the page's `about` says.
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

fn stale(name: &str) -> Error {
    Error::StaleRef {
        reference: name.to_owned(),
    }
}

/// What the page's `query` says.
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

/// A part of a selector that the browser cannot read.
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

/// Each element with a locator of its own; where none can be made, its place among the matches.
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
