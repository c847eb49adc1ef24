//! The videos of a context: one for each of its pages, from the start of the recording to its end.

mod overlays;
mod tools;

use crate::calls::Call;
use crate::config::{FFMPEG, Settings};
use crate::error::{Error, Result};
use crate::files::{Output, WrittenFile};
use crate::sessions::session::feature::SessionFeature;
use crate::sessions::session::{Session, Tabs};
use crate::tools::tool::ToolDef;
use async_trait::async_trait;
use engine::{
    BrowserContext, Feature, Ffmpeg, Page, Progress, Size, VideoEncoder, VideoOptions,
    VideoRecording,
};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use task::Task;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use overlays::Overlays;

pub(super) const TOOLS: &[ToolDef] = tools::TOOLS;

/// How long a page may take until its screencast begins.
const START_TIMEOUT: Duration = Duration::from_secs(5);

/// The rate of videos that are recorded without a call, in frames for each second.
const DEFAULT_FPS: f64 = 25.0;

/// The recording of all pages of a context.
struct Video {
    shared: Arc<Shared>,
    /// Starts and ends the videos of pages that open and close.
    _follow: Task,
}

struct Shared {
    context: BrowserContext,
    encoder: VideoEncoder,
    options: VideoOptions,
    output: Output,
    target: Target,
    /// Cancelled when no further page is recorded.
    stopped: CancellationToken,
    pages: tokio::sync::Mutex<Vec<RecordedPage>>,
}

/// Where videos are written.
enum Target {
    /// This file, and numbered ones beside it.
    File(WrittenFile),
    /// A folder that the operator chose.
    Folder(PathBuf),
}

struct RecordedPage {
    page: Page,
    /// `None` once the video is complete.
    recording: Option<VideoRecording>,
    /// The link to the complete video.
    link: Option<String>,
}

impl Video {
    /// Starts to record the pages of a context.
    async fn start(
        context: BrowserContext,
        encoder: VideoEncoder,
        options: VideoOptions,
        output: Output,
        target: Target,
    ) -> Self {
        let shared = Arc::new(Shared {
            context,
            encoder,
            options,
            output,
            target,
            stopped: CancellationToken::new(),
            pages: tokio::sync::Mutex::default(),
        });
        shared.update().await;
        let follow = task::spawn("videos", follow(shared.clone()));
        Self {
            shared,
            _follow: follow,
        }
    }

    /// Begins a chapter in the videos of all pages.
    async fn add_chapter(&self, title: &str) {
        for recorded in &*self.shared.pages.lock().await {
            if let Some(recording) = &recorded.recording {
                recording.add_chapter(title);
            }
        }
    }

    /// Completes the videos. Returns links to them, in the order in which the pages were opened.
    async fn finish(&self) -> Result<Vec<String>> {
        self.shared.stopped.cancel();
        let mut pages = self.shared.pages.lock().await;
        let completed = pages
            .iter_mut()
            .enumerate()
            .map(|(index, page)| self.shared.complete(index, page));
        // All of them are completed, also after an error of one.
        let completed = futures_util::future::join_all(completed).await;
        if let Some(error) = completed.into_iter().find_map(Result::err) {
            return Err(error);
        }
        let links: Vec<_> = pages.iter().filter_map(|page| page.link.clone()).collect();
        if links.is_empty()
            && let Target::File(file) = &self.shared.target
        {
            self.shared.output.remove_unused(file);
        }
        Ok(links)
    }
}

impl Shared {
    /// Starts the videos of new pages, and completes those of closed ones.
    async fn update(&self) {
        let mut pages = self.pages.lock().await;
        if self.stopped.is_cancelled() {
            return;
        }
        for (index, recorded) in pages.iter_mut().enumerate() {
            if recorded.page.is_closed()
                && let Err(error) = self.complete(index, recorded).await
            {
                tracing::warn!(%error, "a video was not written");
            }
        }
        for page in self.context.pages() {
            if pages.iter().any(|recorded| recorded.page == page) {
                continue;
            }
            let progress = Progress::new(START_TIMEOUT);
            let recording = page.record_video(&progress, &self.encoder, self.options);
            match recording.await {
                Ok(recording) => pages.push(RecordedPage {
                    page,
                    recording: Some(recording),
                    link: None,
                }),
                Err(error) => tracing::warn!(%error, "a page is not recorded"),
            }
        }
    }

    /// Writes the video of a page, unless that is done.
    async fn complete(&self, index: usize, recorded: &mut RecordedPage) -> Result<()> {
        let Some(recording) = recorded.recording.take() else {
            return Ok(());
        };
        let Some(video) = recording.stop().await? else {
            return Ok(());
        };
        recorded.link = Some(match &self.target {
            Target::File(file) => {
                let file = match index {
                    0 => file.clone(),
                    _ => self.output.numbered(file, index),
                };
                self.output.copy(&file, &video).await?;
                file.link
            }
            Target::Folder(folder) => {
                let path = folder.join(format!("page@{}.webm", Uuid::new_v4().simple()));
                let failed = |error| Error::file(&path, "open", &error);
                tokio::fs::create_dir_all(folder).await.map_err(failed)?;
                tokio::fs::copy(&video, &path).await.map_err(failed)?;
                self.output.link(&path)
            }
        });
        Ok(())
    }
}

/// Updates the videos when pages open and close.
async fn follow(shared: Arc<Shared>) {
    let mut changes = shared.context.changes();
    loop {
        changes.mark_unchanged();
        shared.update().await;
        tokio::select! {
            biased;
            () = shared.stopped.cancelled() => return,
            changed = changes.changed() => {
                if changed.is_err() {
                    return;
                }
            }
        }
    }
}

/// The videos of a browser context.
#[derive(Default)]
pub(super) struct Videos {
    /// The videos of a call.
    called: Mutex<Option<Arc<Video>>>,
    /// The videos that the settings request, and what encodes them.
    automatic: Mutex<Vec<Arc<Video>>>,
    encoder: Mutex<Option<VideoEncoder>>,
    /// What is drawn over pages.
    overlays: Overlays,
}

impl Videos {
    /// Starts to record the open pages of the context and those that will open.
    async fn start(
        &self,
        session: &Session,
        call: &Call,
        encoder: VideoEncoder,
        options: VideoOptions,
        target: Target,
    ) -> Result<()> {
        let tabs = session.tabs(call).await?;
        let output = session.output(call).await.clone();
        let context = tabs.open().context.clone();
        let video = Video::start(context, encoder, options, output, target).await;
        *self.called() = Some(Arc::new(video));
        Ok(())
    }

    /// Begins a chapter in the videos that are being recorded.
    async fn add_chapter(&self, title: &str) {
        let video = self.called().clone();
        if let Some(video) = video {
            video.add_chapter(title).await;
        }
    }

    /// Completes the videos of a call, and returns links to them.
    async fn stop(&self) -> Result<Vec<String>> {
        let video = self.called().take();
        let Some(video) = video else {
            return Ok(Vec::new());
        };
        // The videos are completed even if the call is cancelled.
        let finished =
            task::run_to_completion("stopping video", async move { video.finish().await });
        finished.await.unwrap_or_else(|| Ok(Vec::new()))
    }

    fn called(&self) -> MutexGuard<'_, Option<Arc<Video>>> {
        self.called.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn automatic(&self) -> MutexGuard<'_, Vec<Arc<Video>>> {
        self.automatic
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn encoder(&self) -> MutexGuard<'_, Option<VideoEncoder>> {
        self.encoder.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl SessionFeature for Videos {
    async fn before_open(&self, session: &Session) -> Result<()> {
        let settings = session.settings();
        let video = &settings.files.video;
        if video.save.is_some() || video.record.is_some() {
            let encoder = encoder(settings).await?;
            *self.encoder() = Some(encoder);
        }
        Ok(())
    }

    /// Starts the videos that the settings request.
    async fn opened(&self, session: &Session, tabs: &Arc<Tabs>) -> Result<()> {
        let encoder = self.encoder().take();
        let (Some(encoder), Some(output)) = (encoder, session.known_output()) else {
            return Ok(());
        };
        let settings = &session.settings().files.video;
        let mut targets: Vec<(Target, Option<Size>)> = Vec::new();
        if let Some(size) = settings.save {
            let file = output.automatic("video", "webm").await?;
            targets.push((Target::File(file), Some(size)));
        }
        if let Some((folder, size)) = &settings.record {
            targets.push((Target::Folder(folder.clone()), *size));
        }
        let mut started = Vec::new();
        for (target, size) in targets {
            let options = VideoOptions {
                size,
                fps: DEFAULT_FPS,
            };
            let (context, encoder) = (tabs.open().context.clone(), encoder.clone());
            let video = Video::start(context, encoder, options, output.clone(), target);
            started.push(Arc::new(video.await));
        }
        let before = std::mem::replace(&mut *self.automatic(), started);
        finish(before).await;
        Ok(())
    }

    async fn closing(&self, _: &Session) {
        let mut all = std::mem::take(&mut *self.automatic());
        all.extend(self.called().take());
        finish(all).await;
    }
}

/// Completes videos.
async fn finish(videos: Vec<Arc<Video>>) {
    let finished = videos.iter().map(|video| video.finish());
    for result in futures_util::future::join_all(finished).await {
        if let Err(error) = result {
            tracing::warn!(%error, "a video was not written");
        }
    }
}

/// Returns what encodes videos: ffmpeg, or without one the browser, if it can and no certain ffmpeg is wanted.
async fn encoder(settings: &Settings) -> Result<VideoEncoder> {
    let ffmpeg = &settings.files.video.ffmpeg;
    let capabilities = settings.browser.kind.capabilities();
    match Ffmpeg::find(ffmpeg).await {
        Ok(ffmpeg) => Ok(VideoEncoder::Ffmpeg(ffmpeg)),
        Err(_) if ffmpeg == Path::new(FFMPEG) && capabilities.has(Feature::VideoFrames) => {
            Ok(VideoEncoder::Browser)
        }
        Err(error) => Err(error.into()),
    }
}
