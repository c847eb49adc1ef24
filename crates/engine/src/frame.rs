//! The frames of a page and their documents.

use crate::backend::{FrameId, LoaderId};
use crate::error::NetError;
use crate::snapshot::Descriptions;
use std::collections::{HashMap, VecDeque};

/// The largest number of ended navigations of a frame that are stored for waiters that check later.
const MAX_ENDED_NAVIGATIONS: usize = 16;
/// The largest number of replaced documents whose refs are described.
const MAX_REPLACED_DOCUMENTS: usize = 16;

/// The frames of a page according to the browser's events.
#[derive(Debug)]
pub(crate) struct FrameTree {
    main: FrameId,
    frames: HashMap<FrameId, Frame>,
    next_sequence: u32,
    /// The documents that were replaced or removed with their frames and have refs, the last one at the end.
    replaced: VecDeque<ReplacedDocument>,
}

/// A document that is no longer shown, and for which refs were given.
#[derive(Debug, Clone)]
pub(crate) struct ReplacedDocument {
    sequence: u32,
    /// The frame that showed it.
    pub(crate) frame: FrameId,
    /// What its refs named.
    pub(crate) refs: Descriptions,
}

/// The facts of a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameFacts {
    /// The id, which navigations preserve.
    pub id: FrameId,
    /// The parent frame; `None` for the main frame.
    pub parent: Option<FrameId>,
    /// The URL of the document, empty before the first one.
    pub url: String,
    /// The `name` attribute, or the `window.name` that a script set.
    pub name: String,
    /// The id of the load of its document, which differs also after a reload.
    pub document: Option<LoaderId>,
    /// Whether the document has fired `load`.
    pub loaded: bool,
    /// Whether a navigation to another document is in progress.
    pub pending: bool,
}

/// A frame.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    pub(crate) parent: Option<FrameId>,
    pub(crate) children: Vec<FrameId>,
    pub(crate) url: String,
    pub(crate) name: String,
    pub(crate) loader: Option<LoaderId>,
    /// Distinguishes the refs of this frame from those of other frames and earlier documents; 0 has no prefix.
    pub(crate) sequence: u32,
    /// What the refs of the document name; empty if none was given.
    refs: Descriptions,
    pub(crate) parsed: bool,
    pub(crate) loaded: bool,
    /// The navigation to another document that is in progress.
    pub(crate) pending: Option<PendingNavigation>,
    /// The number of started navigations to another document.
    pub(crate) navigations: u64,
    /// The number of committed documents.
    pub(crate) commits: u64,
    /// How many of the committed documents were no error pages of the browser.
    pub(crate) documents: u64,
    /// The number of same-document navigations.
    pub(crate) moves: u64,
    /// The last committed documents.
    shown: VecDeque<LoaderId>,
    /// The last navigations that ended without a document, with the reasons; `None` for a download or a 204.
    ended: VecDeque<(LoaderId, Option<NetError>)>,
    /// Why the last navigation ended without a document; without an error for a download or a 204.
    pub(crate) aborted: Option<(Option<LoaderId>, Option<NetError>)>,
    /// The document that could not be loaded, for which the frame shows the browser's error page; some browsers show none and keep the last
    /// document.
    failure: Option<LoadFailure>,
    /// The number of documents that could not be loaded.
    pub(crate) failures: u64,
}

#[derive(Debug, Clone)]
pub(crate) struct PendingNavigation {
    pub(crate) loader: Option<LoaderId>,
    /// The URL; empty if the browser does not report it.
    pub(crate) url: String,
    /// The ids that the navigation had before the browser restarted it.
    earlier: Vec<LoaderId>,
}

impl PendingNavigation {
    /// Returns the ids of a navigation after this one, if that is this one with another id: Firefox sometimes moves a navigation to another
    /// process, and reports no end of the first id, by which the caller knows it.
    fn restarted_as(self, loader: Option<&LoaderId>, url: &str) -> Vec<LoaderId> {
        let mut earlier = self.earlier;
        match self.loader {
            Some(known) if Some(&known) != loader && !url.is_empty() && self.url == url => {
                earlier.push(known);
                earlier
            }
            known if known.as_ref() == loader => earlier,
            _ => Vec::new(),
        }
    }
}

/// A document that could not be loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LoadFailure {
    /// The URL; empty if the browser did not report it.
    pub(crate) url: String,
    /// `None` until the browser reports it.
    pub(crate) reason: Option<NetError>,
    /// Whether the frame shows the browser's error page.
    pub(crate) is_shown: bool,
}

impl FrameTree {
    pub(crate) fn new(main: FrameId) -> Self {
        let mut frames = HashMap::new();
        frames.insert(main.clone(), Frame::below(None, 0));
        Self {
            main,
            frames,
            next_sequence: 1,
            replaced: VecDeque::new(),
        }
    }

    pub(crate) fn main_id(&self) -> &FrameId {
        &self.main
    }

    /// The main frame exists as long as the page.
    pub(crate) fn main(&self) -> &Frame {
        &self.frames[&self.main]
    }

    pub(crate) fn get(&self, id: &FrameId) -> Option<&Frame> {
        self.frames.get(id)
    }

    pub(crate) fn is_main(&self, id: &FrameId) -> bool {
        *id == self.main
    }

    /// Returns the frame whose refs have this sequence number.
    pub(crate) fn by_sequence(&self, sequence: u32) -> Option<&FrameId> {
        self.frames
            .iter()
            .find(|(_, frame)| frame.sequence == sequence)
            .map(|(id, _)| id)
    }

    /// Returns the replaced document whose refs have this sequence number.
    pub(crate) fn replaced(&self, sequence: u32) -> Option<&ReplacedDocument> {
        self.replaced
            .iter()
            .find(|document| document.sequence == sequence)
    }

    /// Records what refs of the frame's document name. `is_whole` is false if they are a part of those that were given.
    pub(crate) fn describe_refs(&mut self, id: &FrameId, refs: Descriptions, is_whole: bool) {
        if let Some(frame) = self.frames.get_mut(id) {
            match is_whole && !refs.is_empty() {
                true => frame.refs = refs,
                false => frame.refs.extend(&refs),
            }
        }
    }

    /// Stores what the refs of a document named that the frame no longer shows.
    fn store_replaced(&mut self, frame: FrameId, sequence: u32, refs: Descriptions) {
        if refs.is_empty() {
            return;
        }
        if self.replaced.len() == MAX_REPLACED_DOCUMENTS {
            self.replaced.pop_front();
        }
        self.replaced.push_back(ReplacedDocument {
            sequence,
            frame,
            refs,
        });
    }

    /// Returns the URLs of the documents.
    pub(crate) fn urls(&self) -> impl Iterator<Item = &str> {
        self.frames.values().map(|frame| frame.url.as_str())
    }

    /// Returns all frames, parents before children.
    pub(crate) fn facts(&self) -> Vec<FrameFacts> {
        let mut facts = Vec::with_capacity(self.frames.len());
        let mut next = vec![&self.main];
        while let Some(id) = next.pop() {
            let Some(frame) = self.frames.get(id) else {
                continue;
            };
            facts.push(FrameFacts {
                id: id.clone(),
                parent: frame.parent.clone(),
                url: frame.url.clone(),
                name: frame.name.clone(),
                document: frame.loader.clone(),
                loaded: frame.loaded,
                pending: frame.pending.is_some(),
            });
            next.extend(frame.children.iter().rev());
        }
        facts
    }

    pub(crate) fn attach(&mut self, id: FrameId, parent: FrameId) {
        if self.frames.contains_key(&id) {
            return;
        }
        if let Some(above) = self.frames.get_mut(&parent) {
            above.children.push(id.clone());
        }
        let sequence = self.take_sequence();
        self.frames.insert(id, Frame::below(Some(parent), sequence));
    }

    pub(crate) fn detach(&mut self, id: &FrameId) {
        let Some(frame) = self.frames.remove(id) else {
            return;
        };
        if let Some(above) = frame.parent.and_then(|parent| self.frames.get_mut(&parent)) {
            above.children.retain(|child| child != id);
        }
        self.store_replaced(id.clone(), frame.sequence, frame.refs);
        for child in frame.children {
            self.detach(&child);
        }
    }

    pub(crate) fn start(&mut self, id: &FrameId, loader: Option<LoaderId>, url: String) {
        let Some(frame) = self.frames.get_mut(id) else {
            return;
        };
        // The same navigation is announced more than once: first without, then with its loader.
        let same = frame
            .pending
            .as_ref()
            .is_some_and(|pending| pending.loader.is_none() || pending.loader == loader);
        if !same {
            frame.navigations += 1;
        }
        let last = frame.pending.take();
        let earlier = last.map(|last| last.restarted_as(loader.as_ref(), &url));
        frame.pending = Some(PendingNavigation {
            loader,
            url,
            earlier: earlier.unwrap_or_default(),
        });
        frame.aborted = None;
    }

    /// Commits a document. `failed` is the URL that could not be loaded, if the document is the browser's error page.
    pub(crate) fn commit(
        &mut self,
        id: &FrameId,
        loader: LoaderId,
        url: String,
        name: String,
        failed: Option<String>,
    ) {
        // Refs of the previous document must not name elements of this one, which are counted from 1 again.
        let renew = self.frames.get(id).is_some_and(|frame| {
            let is_first = matches!(frame.url.as_str(), "" | "about:blank");
            !frame.refs.is_empty() || (self.is_main(id) && !is_first)
        });
        let sequence = renew.then(|| self.take_sequence());
        let Some(frame) = self.frames.get_mut(id) else {
            return;
        };
        if frame.pending.is_none() {
            frame.navigations += 1;
        }
        frame.documents += u64::from(failed.is_none());
        frame.set_error_page(failed);
        let pending = frame.pending.take();
        let pending = pending.filter(|pending| pending.loader.as_ref() == Some(&loader));
        frame.aborted = None;
        let earlier = pending.into_iter().flat_map(|pending| pending.earlier);
        for loader in earlier.chain([loader.clone()]) {
            if frame.shown.len() == MAX_ENDED_NAVIGATIONS {
                frame.shown.pop_front();
            }
            frame.shown.push_back(loader);
        }
        frame.loader = Some(loader);
        frame.url = url;
        frame.name = name;
        frame.parsed = false;
        frame.loaded = false;
        frame.commits += 1;
        let children = std::mem::take(&mut frame.children);
        if let Some(sequence) = sequence {
            let replaced = std::mem::replace(&mut frame.sequence, sequence);
            let refs = std::mem::take(&mut frame.refs);
            self.store_replaced(id.clone(), replaced, refs);
        }
        for child in children {
            self.detach(&child);
        }
    }

    pub(crate) fn abort(
        &mut self,
        id: &FrameId,
        loader: Option<LoaderId>,
        reason: Option<NetError>,
    ) {
        let Some(frame) = self.frames.get_mut(id) else {
            return;
        };
        if let Some(failure) = &mut frame.failure
            && failure.is_shown
            && failure.reason.is_none()
            && frame.pending.is_none()
            && frame.loader == loader
        {
            // The reason is reported after the browser's error page.
            failure.reason.clone_from(&reason);
        }
        if let Some(loader) = &loader {
            let pending = frame.pending.as_ref();
            if pending.is_some_and(|pending| pending.earlier.contains(loader)) {
                return;
            }
            frame.record_ended(loader.clone(), reason.clone());
        }
        let ours = match (&frame.pending, &loader) {
            (None, _) => false,
            (
                Some(PendingNavigation {
                    loader: Some(known),
                    ..
                }),
                Some(ended),
            ) => known == ended,
            (Some(_), _) => true,
        };
        if !ours {
            return;
        }
        let mut pending = frame.pending.take();
        let earlier = pending.as_mut().map(|it| std::mem::take(&mut it.earlier));
        for loader in earlier.unwrap_or_default() {
            frame.record_ended(loader, reason.clone());
        }
        if reason.is_some() && reason != Some(NetError::Aborted) {
            frame.failures += 1;
            frame.failure = Some(LoadFailure {
                url: pending.map(|pending| pending.url).unwrap_or_default(),
                reason: reason.clone(),
                is_shown: false,
            });
        } else {
            frame.failure.take_if(|failure| !failure.is_shown);
        }
        frame.aborted = Some((loader, reason));
    }

    pub(crate) fn same_document(&mut self, id: &FrameId, url: String) {
        if let Some(frame) = self.frames.get_mut(id) {
            frame.url = url;
            frame.moves += 1;
            frame.failure.take_if(|failure| !failure.is_shown);
        }
    }

    pub(crate) fn set_name(&mut self, id: &FrameId, name: String) {
        if let Some(frame) = self.frames.get_mut(id) {
            frame.name = name;
        }
    }

    pub(crate) fn set_parsed(&mut self, id: &FrameId, loader: &LoaderId) {
        if let Some(frame) = self.showing(id, loader) {
            frame.parsed = true;
        }
    }

    pub(crate) fn set_loaded(&mut self, id: &FrameId, loader: &LoaderId) {
        if let Some(frame) = self.showing(id, loader) {
            frame.parsed = true;
            frame.loaded = true;
        }
    }

    /// Returns the frame, if the event concerns its current document.
    fn showing(&mut self, id: &FrameId, loader: &LoaderId) -> Option<&mut Frame> {
        self.frames
            .get_mut(id)
            .filter(|frame| frame.loader.as_ref() == Some(loader))
    }

    fn take_sequence(&mut self) -> u32 {
        let sequence = self.next_sequence;
        self.next_sequence += 1;
        sequence
    }
}

impl Frame {
    fn below(parent: Option<FrameId>, sequence: u32) -> Self {
        Self {
            parent,
            children: Vec::new(),
            url: String::new(),
            name: String::new(),
            loader: None,
            sequence,
            refs: Descriptions::default(),
            parsed: false,
            loaded: false,
            pending: None,
            navigations: 0,
            commits: 0,
            documents: 0,
            moves: 0,
            shown: VecDeque::new(),
            ended: VecDeque::new(),
            aborted: None,
            failure: None,
            failures: 0,
        }
    }

    /// Returns whether this load was committed here recently.
    pub(crate) fn was_committed(&self, loader: &LoaderId) -> bool {
        self.shown.contains(loader)
    }

    fn record_ended(&mut self, loader: LoaderId, reason: Option<NetError>) {
        if self.ended.len() == MAX_ENDED_NAVIGATIONS {
            self.ended.pop_front();
        }
        self.ended.push_back((loader, reason));
    }

    /// Records whether the document is the browser's error page; its reason was reported before.
    fn set_error_page(&mut self, failed: Option<String>) {
        let known = self.failure.take();
        let Some(url) = failed else { return };
        let known = known.filter(|known| {
            !known.is_shown && (url.is_empty() || known.url.is_empty() || known.url == url)
        });
        if known.is_none() {
            self.failures += 1;
        }
        let (known_url, reason) =
            known.map_or_else(Default::default, |known| (known.url, known.reason));
        self.failure = Some(LoadFailure {
            url: if url.is_empty() { known_url } else { url },
            reason,
            is_shown: true,
        });
    }

    /// Returns why this load recently ended without a document; without an error for a download or a 204.
    pub(crate) fn end_of(&self, loader: &LoaderId) -> Option<Option<&NetError>> {
        let mut ended = self.ended.iter().rev();
        let (_, reason) = ended.find(|(ended, _)| ended == loader)?;
        Some(reason.as_ref())
    }

    /// Returns the failure of the last navigation, unless another one is in progress.
    pub(crate) fn last_failure(&self) -> Option<&LoadFailure> {
        self.failure.as_ref().filter(|_| self.pending.is_none())
    }

    /// Returns the prefix of the refs of this frame: empty, or `f3`.
    pub(crate) fn prefix(&self) -> String {
        match self.sequence {
            0 => String::new(),
            sequence => format!("f{sequence}"),
        }
    }
}

#[cfg(test)]
mod tests;
