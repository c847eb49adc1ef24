//! The sources of a page: console messages whose positions are those of the sources from which the scripts were built, and the loading of
//! source maps.

use crate::backend::{
    ConsoleMessage, CoveredSource, FrameId, FunctionPosition, MessageKind, SourceKind,
    SourceLocation,
};
use crate::error::Result;
use crate::injected::RESOURCE;
use crate::page::Page;
use crate::progress::Progress;
use crate::source_map::{MappedFile, SourceMap, data_of, map_frames, reference, scripts_of};
use futures_util::future::join_all;
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use task::compute;
use tokio::time::Instant;
use url::Url;

/// The largest size of a script and of a source map, in bytes.
const MAX_SIZE: usize = 16 * 1024 * 1024;
/// How long the source maps for the messages of an answer may take. Positions whose map is not loaded until then stay as they are.
const TIMEOUT: Duration = Duration::from_secs(2);
/// The largest number of scripts whose source maps are loaded at once.
const MAX_SCRIPTS: usize = 20;

impl Page {
    /// Returns the messages in the same order, with the positions and functions of the sources in errors: in their locations and in their
    /// stack traces. Source maps are loaded for that, at most for two seconds. Without a map, a position stays as it is.
    pub async fn with_sources(
        &self,
        progress: &Progress,
        messages: Vec<Arc<ConsoleMessage>>,
    ) -> Vec<Arc<ConsoleMessage>> {
        let errors = messages.iter().filter(|message| is_error(message));
        let scripts = errors.flat_map(|message| {
            let location = message.location.iter().map(|location| location.url.clone());
            location.chain(scripts_of(&message.text))
        });
        let scripts = self.mapped_scripts(progress, scripts.collect()).await;
        if scripts.is_empty() {
            return messages;
        }
        let mapped = move || {
            let mapped = messages
                .into_iter()
                .map(|message| match is_error(&message) {
                    true => Arc::new(map_message(&message, &scripts)),
                    false => message,
                });
            mapped.collect()
        };
        compute(mapped).await
    }

    /// Returns those of the scripts with these URLs that have source maps, which are loaded at most for two seconds.
    async fn mapped_scripts(
        &self,
        progress: &Progress,
        mut urls: Vec<String>,
    ) -> BTreeMap<String, Arc<MappedFile>> {
        urls.sort_unstable();
        urls.dedup();
        urls.truncate(MAX_SCRIPTS);
        let progress = shortened(progress);
        let scripts = urls.into_iter().map(|url| async {
            let script = progress.run(self.mapped_script(&url)).await;
            // A map that cannot be loaded is none.
            Some((url, script.ok().flatten()?))
        });
        join_all(scripts).await.into_iter().flatten().collect()
    }

    /// Adds the positions and names in the sources to functions of scripts, by source maps, which are loaded at most for two seconds.
    pub(crate) async fn map_functions<'a>(
        &self,
        progress: &Progress,
        functions: impl Iterator<Item = &'a mut FunctionPosition>,
    ) {
        let functions: Vec<_> = functions.collect();
        let urls = functions.iter().map(|function| function.url.clone());
        let scripts = self.mapped_scripts(progress, urls.collect()).await;
        for function in functions {
            let place = function
                .line
                .checked_sub(1)
                .zip(function.column.checked_sub(1));
            if let Some(script) = scripts.get(&function.url)
                && let Some((line, column)) = place
                && let Some(source) = script.position(line, column)
            {
                function.name = script.function(&function.name, line, column);
                function.source = Some(source);
            }
        }
    }

    /// Returns the files with their source maps, which are loaded at most for two seconds.
    pub(crate) async fn with_source_maps(
        &self,
        progress: &Progress,
        files: Vec<CoveredSource>,
    ) -> Vec<(CoveredSource, Option<Arc<MappedFile>>)> {
        let scripts = files.iter().filter(|file| file.kind == SourceKind::Script);
        let scripts = scripts.map(|script| script.url.clone()).collect();
        let (progress, main) = (shortened(progress), self.main_frame());
        let sheets = files.iter().map(|file| async {
            let is_sheet = file.kind == SourceKind::StyleSheet;
            let named = reference(&file.text).filter(|_| is_sheet)?;
            let map = progress.run(self.source_map(&main, &file.url, named)).await;
            Some(Arc::new(MappedFile::new(
                map.ok().flatten()?,
                file.text.clone(),
            )))
        });
        let (scripts, sheets) =
            futures_util::future::join(self.mapped_scripts(&progress, scripts), join_all(sheets))
                .await;
        let files = files.into_iter().zip(sheets);
        let mapped = files.map(|(file, sheet)| {
            let is_script = file.kind == SourceKind::Script;
            let script = scripts.get(&file.url).filter(|_| is_script).cloned();
            (file, sheet.or(script))
        });
        mapped.collect()
    }

    /// Returns a script of the page with its source map, if it has one.
    async fn mapped_script(&self, url: &str) -> Result<Option<Arc<MappedFile>>> {
        let Some(request) = self.state().requests.script(url).cloned() else {
            return Ok(None);
        };
        {
            let mut state = self.state();
            if let Some(known) = state.source_maps.get(request.number) {
                return Ok(known);
            }
            // The page does not load anything while a dialog is open.
            if state.is_blocked_by_dialog() {
                return Ok(None);
            }
            // If this is interrupted, the script counts as one without a map.
            state.source_maps.set(request.number, None);
        }
        let script = self.backend.response_body(&request.id).await?;
        let headers = request.response.iter().flat_map(|it| &it.headers);
        let header = headers
            .filter(|(name, _)| ["sourcemap", "x-sourcemap"].contains(&&*name.to_ascii_lowercase()))
            .map(|(_, value)| value.clone())
            .next();
        if script.len() > MAX_SIZE {
            return Ok(None);
        }
        let text = String::from_utf8_lossy(&script).into_owned();
        let Some(named) = header.or_else(|| reference(&text).map(str::to_owned)) else {
            return Ok(None);
        };
        let frame = request.frame.unwrap_or_else(|| self.main_frame());
        let Some(map) = self.source_map(&frame, url, &named).await? else {
            return Ok(None);
        };
        let script = compute(move || Arc::new(MappedFile::new(map, text))).await;
        let mut state = self.state();
        state.source_maps.set(request.number, Some(script.clone()));
        Ok(Some(script))
    }

    /// Returns the source map that a script or a style sheet names, if it is part of it or on the same origin. It is requested by the
    /// document of the frame, with the cookies and the rules of its requests, and is no request of the page.
    pub(crate) async fn source_map(
        &self,
        frame: &FrameId,
        built: &str,
        named: &str,
    ) -> Result<Option<SourceMap>> {
        let Ok(mut base) = Url::parse(built) else {
            return Ok(None);
        };
        let text = match named.starts_with("data:") {
            true => data_of(named).filter(|data| data.len() <= MAX_SIZE),
            false => {
                let Some(mut url) = base.join(named).ok().filter(|url| is_loaded(url, &base))
                else {
                    return Ok(None);
                };
                url.set_fragment(None);
                if self.refusal(url.as_str()).is_some() {
                    return Ok(None);
                }
                self.state().own_requests.add(url.as_str());
                base = url;
                self.load(frame, &base).await?
            }
        };
        let Some(text) = text else { return Ok(None) };
        Ok(compute(move || SourceMap::parse(&text, &base)).await)
    }

    async fn load(&self, frame: &FrameId, url: &Url) -> Result<Option<String>> {
        #[derive(Deserialize)]
        struct Resource {
            text: Option<String>,
        }
        let argument = json!({
            "url": url.as_str(),
            "maxSize": MAX_SIZE,
            "timeout": u64::try_from(TIMEOUT.as_millis()).unwrap_or(u64::MAX),
        });
        let resource: Resource = self.call_bundle(frame, &RESOURCE, argument).await?;
        Ok(resource.text)
    }
}

/// Returns the progress with the time that source maps may take.
fn shortened(progress: &Progress) -> Progress {
    let left = progress.deadline().duration_since(Instant::now());
    progress.within(TIMEOUT.min(left))
}

/// Returns whether a source map is loaded: only over HTTP, and from the origin of the built file.
fn is_loaded(map: &Url, built: &Url) -> bool {
    matches!(map.scheme(), "http" | "https") && map.origin() == built.origin()
}

fn is_error(message: &ConsoleMessage) -> bool {
    matches!(
        message.kind,
        MessageKind::Error | MessageKind::PageError | MessageKind::Assert
    )
}

fn map_message(
    message: &ConsoleMessage,
    scripts: &BTreeMap<String, Arc<MappedFile>>,
) -> ConsoleMessage {
    let mut mapped = message.clone();
    mapped.text = map_frames(&message.text, scripts);
    if let Some(location) = &message.location
        && let Some(script) = scripts.get(&location.url)
        && let Some(source) = script.position(location.line, location.column)
    {
        let function = script.function(&location.function, location.line, location.column);
        // A thrown value that is no error has no stack trace, and in WebKit some errors have none.
        if message.kind == MessageKind::PageError && scripts_of(&message.text).is_empty() {
            mapped.text += &match function.as_str() {
                "" => format!("\n    at {source}"),
                name => format!("\n    at {name} ({source})"),
            };
        }
        mapped.location = Some(SourceLocation {
            function,
            source: Some(source),
            ..location.clone()
        });
    }
    mapped
}
