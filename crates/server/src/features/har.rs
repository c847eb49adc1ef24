//! Recording of the requests of a browser context to an HTTP archive: between two calls, or from its start to its end.

mod tools;

use crate::config::{HarContent, HarMode, RecordHar};
use crate::error::{Error, Problem, Result};
use crate::files::{Output, WrittenFile};
use crate::sessions::http_archive::{Bodies, Exchanges, ReadOptions, entry};
use crate::sessions::session::feature::SessionFeature;
use crate::sessions::session::{Session, Tabs};
use crate::timestamp::timestamp;
use crate::tools::tool::ToolDef;
use async_trait::async_trait;
use engine::{BrowserContext, Page, PageId, Progress, Request, UrlPattern};
use futures_util::future::join_all;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{self, BufRead as _, BufReader, Seek as _, Write as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

pub(super) const TOOLS: &[ToolDef] = tools::TOOLS;

/// The largest body that is embedded, in bytes.
const MAX_BODY: usize = 10 * 1024 * 1024;
/// The largest size of all entries, in bytes. Later requests are counted and not recorded.
const MAX_SIZE: usize = 512 * 1024 * 1024;
/// How long a page may take to return its title.
const TITLE_TIMEOUT: Duration = Duration::from_millis(500);

/// The recordings of a browser context.
#[derive(Default)]
pub(super) struct Har {
    /// The recording that a call started.
    called: Mutex<Option<HarRecording>>,
    /// The recording that the settings request.
    configured: Mutex<Option<HarRecording>>,
}

impl Har {
    /// Returns the recording that a call started.
    fn called(&self) -> MutexGuard<'_, Option<HarRecording>> {
        self.called.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn configured(&self) -> MutexGuard<'_, Option<HarRecording>> {
        let configured = self.configured.lock();
        configured.unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> impl Iterator<Item = HarRecording> {
        let recordings = [self.configured().take(), self.called().take()];
        recordings.into_iter().flatten()
    }
}

#[async_trait]
impl SessionFeature for Har {
    async fn opened(&self, session: &Session, tabs: &Arc<Tabs>) -> Result<()> {
        let wanted = session.settings().context.record_har.as_ref();
        if let (Some(wanted), Some(output)) = (wanted, session.known_output()) {
            let started = HarRecording::configured(&tabs.open().context, output, wanted)
                .inspect_err(|error| tracing::warn!(%error, "requests are not recorded"));
            *self.configured() = started.ok();
        }
        Ok(())
    }

    async fn closing(&self, _: &Session) {
        for recording in self.take() {
            if let Err(error) = recording.stop().await {
                tracing::warn!(%error, "a HAR cannot be written");
            }
        }
    }

    fn closed(&self) {
        self.take().for_each(drop);
    }
}

/// What a recording contains.
#[derive(Debug, Clone, Default)]
pub(crate) struct HarOptions {
    /// Whether bodies of responses are embedded.
    pub(crate) content: HarContent,
    /// The URLs that are recorded; default: all.
    pub(crate) url: Option<UrlPattern>,
    /// Whether sizes, cookies and timings are left out.
    pub(crate) minimal: bool,
}

/// A running recording. When it is dropped, the archive is written in the background.
pub(crate) struct HarRecording {
    stop: CancellationToken,
    written: oneshot::Receiver<Result<HarSummary>>,
}

/// What was written.
#[derive(Debug)]
pub(crate) struct HarSummary {
    /// The archive.
    pub(crate) file: WrittenFile,
    /// The number of recorded requests.
    pub(crate) requests: usize,
    /// The number of requests that exceed the limits.
    pub(crate) left_out: usize,
}

/// The state of a recording.
struct Recorder {
    output: Output,
    file: WrittenFile,
    options: HarOptions,
    began: SystemTime,
    /// The entries, one in each line, in a file that has no name.
    spool: std::fs::File,
    size: usize,
    requests: usize,
    left_out: usize,
    /// The pages of the archive in the order of their first requests.
    pages: Vec<HarPage>,
    known: HashMap<PageId, (usize, Page)>,
}

struct HarPage {
    id: String,
    began: SystemTime,
    title: String,
}

impl HarRecording {
    /// Records the requests of all pages of the context, until it is stopped.
    pub(crate) fn start(
        context: &BrowserContext,
        output: &Output,
        file: WrittenFile,
        options: HarOptions,
    ) -> Result<Self> {
        let spool =
            tempfile::tempfile().map_err(|error| Error::file(&file.path, "open", &error))?;
        let stop = CancellationToken::new();
        let reads = ReadOptions {
            reads_responses: options.content == HarContent::Embed,
            max_body: MAX_BODY,
            url: options.url.clone(),
            includes_earlier: false,
        };
        let exchanges = Exchanges::of(context, reads, stop.clone());
        let recorder = Recorder {
            output: output.clone(),
            file,
            options,
            began: SystemTime::now(),
            spool,
            size: 0,
            requests: 0,
            left_out: 0,
            pages: Vec::new(),
            known: HashMap::new(),
        };
        let (written, summary) = oneshot::channel();
        // The task ends with the recording.
        task::spawn("HAR", async move {
            let _ = written.send(recorder.record(exchanges).await);
        })
        .detach();
        Ok(Self {
            stop,
            written: summary,
        })
    }

    /// Starts the recording that the configuration requests.
    fn configured(context: &BrowserContext, output: &Output, wanted: &RecordHar) -> Result<Self> {
        let url = wanted.url_filter.as_deref().map(UrlPattern::glob);
        let url = url.transpose().map_err(|reason| Error::InvalidArguments {
            tool: "recordHar",
            problems: vec![Problem {
                parameter: "urlFilter".to_owned(),
                message: reason,
                missing: false,
            }],
        })?;
        let options = HarOptions {
            content: wanted.content,
            url,
            minimal: wanted.mode == HarMode::Minimal,
        };
        Self::start(
            context,
            output,
            output.configured(wanted.path.clone()),
            options,
        )
    }

    /// Writes the archive.
    pub(crate) async fn stop(mut self) -> Result<HarSummary> {
        self.stop.cancel();
        let gone = || engine::Error::PageClosed {}.into();
        (&mut self.written).await.unwrap_or_else(|_| Err(gone()))
    }
}

impl Drop for HarRecording {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl Recorder {
    async fn record(mut self, mut exchanges: Exchanges) -> Result<HarSummary> {
        while let Some((page, request, bodies)) = exchanges.next().await {
            // Requests from before that are still in progress are not recorded.
            if request.outcome.is_some() || request.sent >= self.began {
                let number = self.page(page);
                self.add(number, request, bodies).await?;
            }
        }
        self.write().await
    }

    /// Returns the number of a page in the archive.
    fn page(&mut self, page: Page) -> usize {
        let number = self.known.get(page.id()).map(|(number, _)| *number);
        number.unwrap_or_else(|| {
            let number = self.pages.len();
            self.pages.push(HarPage {
                id: format!("page_{}", number + 1),
                began: SystemTime::now(),
                title: page.url(),
            });
            self.known.insert(page.id().clone(), (number, page));
            number
        })
    }

    /// Adds an entry with masked secrets.
    async fn add(&mut self, page: usize, request: Request, bodies: Bodies) -> Result<()> {
        if self.size >= MAX_SIZE {
            self.left_out += 1;
            return Ok(());
        }
        let reference = self.pages[page].id.clone();
        self.pages[page].began = self.pages[page].began.min(request.sent);
        let output = self.output.clone();
        let minimal = self.options.minimal;
        let line = task::compute(move || {
            let mut entry = entry(&reference, &request, bodies);
            if minimal {
                minimize(&mut entry);
            }
            output.redacted_json(entry).to_string() + "\n"
        })
        .await;
        self.size += line.len();
        self.requests += 1;
        let written = self.spool.write_all(line.as_bytes());
        written.map_err(|error| Error::file(&self.file.path, "write", &error))
    }

    /// Writes the archive. Secrets are masked again, because passwords may have become known meanwhile.
    async fn write(mut self) -> Result<HarSummary> {
        let titles = self.known.values().map(async |(number, page)| {
            let progress = Progress::new(TITLE_TIMEOUT);
            (*number, page.title(&progress).await)
        });
        for (number, title) in join_all(titles).await {
            if let Ok(title) = title {
                self.pages[number].title = title;
            }
        }
        let pages = self.pages.iter().map(|page| {
            json!({
                "startedDateTime": timestamp(page.began),
                "id": page.id,
                "title": page.title,
                "pageTimings": { "onContentLoad": -1, "onLoad": -1 },
            })
        });
        let pages = self.output.redacted_json(pages.collect());
        let creator = json!({ "name": "Playhouse", "version": env!("CARGO_PKG_VERSION") });
        let (output, mut spool) = (self.output.clone(), self.spool);
        let write = move |file: &mut dyn io::Write| {
            spool.rewind()?;
            writeln!(
                file,
                "{{\"log\":{{\"version\":\"1.2\",\"creator\":{creator},\"pages\":{pages},\"entries\":["
            )?;
            for (number, line) in BufReader::new(spool).lines().enumerate() {
                let entry: Value = serde_json::from_str(&line?)?;
                let comma = if number == 0 { "" } else { ",\n" };
                write!(file, "{comma}{}", output.redacted_json(entry))?;
            }
            writeln!(file, "\n]}}}}")
        };
        self.output.write_parts(&self.file, write).await?;
        Ok(HarSummary {
            file: self.file,
            requests: self.requests,
            left_out: self.left_out,
        })
    }
}

/// Leaves out what a replay does not need. The members that HAR requires remain.
fn minimize(entry: &mut Value) {
    entry["time"] = (-1).into();
    entry["timings"] = json!({ "send": -1, "wait": -1, "receive": -1 });
    entry["request"]["cookies"] = json!([]);
    entry["response"]["cookies"] = json!([]);
    if let Some(members) = entry.as_object_mut() {
        members.remove("serverIPAddress");
        members.remove("connection");
    }
}
