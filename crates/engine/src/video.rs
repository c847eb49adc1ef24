//! Videos of pages: a screencast that ffmpeg encodes with a constant frame rate, or frames that the browser encodes. Each moment of the video
//! shows what the page showed then.

mod matroska;
mod webm;

use crate::backend::Size;
use crate::error::{Error, Result};
use crate::launch::ffmpeg::{Encoder, Ffmpeg};
use crate::launch::profile::TemporaryFile;
use crate::page::{Page, Screencast};
use crate::progress::Progress;
use image::ImageFormat;
use std::io::Cursor;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};
use tokio::sync::oneshot;
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};
use webm::{TitledPart, WebmFile, key_frame};

/// The longer side of a video without a size, in pixels.
const DEFAULT_SIDE: u32 = 800;
/// A frame is repeated after this time, so that a long one is encoded while it is shown and not at the end.
const REPEAT_INTERVAL: Duration = Duration::from_secs(1);
/// How long a video that is stopped waits for what the page shows then.
const LAST_FRAME_TIMEOUT: Duration = Duration::from_secs(2);

/// What encodes a video.
#[derive(Debug, Clone)]
pub enum VideoEncoder {
    /// ffmpeg, with a constant frame rate.
    Ffmpeg(Ffmpeg),
    /// The browser, with a frame for each change of the page ([`Feature::VideoFrames`](crate::Feature::VideoFrames)).
    Browser,
}

/// How a video is recorded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VideoOptions {
    /// The size in pixels; default: that of the first frame, scaled down to 800 pixels. Frames that the browser encodes are not padded.
    pub size: Option<Size>,
    /// Frames for each second; the most of them if the browser encodes them.
    pub fps: f64,
}

/// A titled point of time of a video.
#[derive(Debug, Clone)]
struct Chapter {
    time: SystemTime,
    title: String,
}

/// The recording of a page. Dropping it discards the video.
#[derive(Debug)]
pub struct VideoRecording {
    chapters: Arc<Mutex<Vec<Chapter>>>,
    ended: oneshot::Receiver<Result<Option<TemporaryFile>>>,
    stop: DropGuard,
}

impl VideoRecording {
    /// Adds a chapter that begins now.
    pub fn add_chapter(&self, title: &str) {
        let chapter = Chapter {
            time: SystemTime::now(),
            title: title.to_owned(),
        };
        let mut chapters = self.chapters.lock();
        chapters
            .as_mut()
            .unwrap_or_else(|poisoned| poisoned.get_mut())
            .push(chapter);
    }

    /// Stops the recording. Returns the WebM file, which is deleted when it is dropped; `None` if the page has shown nothing.
    pub async fn stop(self) -> Result<Option<TemporaryFile>> {
        drop(self.stop);
        let gone = || Error::VideoFailed {
            reason: "the recording has ended".to_owned(),
        };
        self.ended.await.unwrap_or_else(|_| Err(gone()))
    }
}

impl Page {
    /// Starts to record a video of the viewport, across navigations, until it is stopped or the page is closed.
    pub async fn record_video(
        &self,
        progress: &Progress,
        encoder: &VideoEncoder,
        options: VideoOptions,
    ) -> Result<VideoRecording> {
        let screencast = self.screencast(progress).await?;
        let chapters = Arc::<Mutex<Vec<Chapter>>>::default();
        let stopped = CancellationToken::new();
        let (report, ended) = oneshot::channel();
        let (stop, titles, encoder) = (stopped.clone(), chapters.clone(), encoder.clone());
        // The file is completed after the recording was stopped, so the task ends by itself.
        task::spawn("video", async move {
            let _ = report.send(match encoder {
                VideoEncoder::Ffmpeg(ffmpeg) => {
                    record(screencast, ffmpeg, options, stop, titles).await
                }
                VideoEncoder::Browser => record_frames(screencast, options, stop, titles).await,
            });
        })
        .detach();
        Ok(VideoRecording {
            chapters,
            ended,
            stop: stopped.drop_guard(),
        })
    }
}

async fn record(
    mut frames: Screencast,
    ffmpeg: Ffmpeg,
    options: VideoOptions,
    stopped: CancellationToken,
    chapters: Arc<Mutex<Vec<Chapter>>>,
) -> Result<Option<TemporaryFile>> {
    let began = SystemTime::now();
    let first = tokio::select! {
        frame = frames.next() => frame.map(|frame| frame.jpeg),
        () = stopped.cancelled() => frames.capture(LAST_FRAME_TIMEOUT).await,
    };
    let Some(jpeg) = first else {
        return Ok(None);
    };
    let mut video = Video::start(&ffmpeg, options, began, &jpeg).await?;
    let mut shown = Shown { slot: 0, jpeg };
    loop {
        tokio::select! {
            biased;
            () = stopped.cancelled() => {
                // The page may show what no frame contains yet.
                if let Some(jpeg) = frames.capture(LAST_FRAME_TIMEOUT).await {
                    video.show(&mut shown, jpeg, SystemTime::now()).await?;
                }
                break;
            }
            frame = frames.next() => {
                let Some(frame) = frame else { break };
                video.show(&mut shown, frame.jpeg, frame.time).await?;
            }
            () = tokio::time::sleep(REPEAT_INTERVAL) => {
                video.write(&shown).await?;
                shown.slot = video.slot(SystemTime::now()).max(shown.slot + 1);
            }
        }
    }
    let end = SystemTime::now();
    drop(frames);
    video.write(&shown).await?;
    // The encoder drops a frame after which there is none.
    shown.slot = video.slot(end).max(shown.slot + 1);
    video.write(&shown).await?;
    let (encoder, file) = (video.encoder, video.file);
    encoder.finish().await?;
    let chapters = std::mem::take(&mut *chapters.lock().unwrap_or_else(PoisonError::into_inner));
    if chapters.is_empty() {
        return Ok(Some(file));
    }
    let with_chapters = temporary()?;
    let text = metadata(&chapters, began, end);
    ffmpeg.add_chapters(&file, &text, &with_chapters).await?;
    Ok(Some(with_chapters))
}

/// Records the frames that the browser encodes, each at the time of its change.
async fn record_frames(
    mut frames: Screencast,
    options: VideoOptions,
    stopped: CancellationToken,
    chapters: Arc<Mutex<Vec<Chapter>>>,
) -> Result<Option<TemporaryFile>> {
    let began = Instant::now();
    let started = SystemTime::now();
    let interval = Duration::from_secs_f64(1.0 / options.fps);
    let mut file = None;
    let mut last = Vec::new();
    let mut shrink = 1.0;
    loop {
        let is_last = tokio::select! {
            biased;
            () = stopped.cancelled() => true,
            frame = frames.next() => {
                let Some(frame) = frame else { break };
                if file.is_none() {
                    shrink = shrink_factor(dimensions(&frame.jpeg)?, options.size);
                }
                false
            }
        };
        let shown_at = began.elapsed();
        if let Some(webp) = frames.capture_webp(LAST_FRAME_TIMEOUT, shrink).await
            && webp != last
        {
            let (frame, size) = key_frame(&webp).ok_or_else(|| Error::VideoFailed {
                reason: "the browser encodes no frames".to_owned(),
            })?;
            let file = match &mut file {
                Some(file) => file,
                None => file.insert(WebmFile::create(temporary()?, size)?),
            };
            file.add(shown_at, frame)?;
            last = webp;
        }
        if is_last {
            break;
        }
        let pause = interval.saturating_sub(began.elapsed() - shown_at);
        let _ = tokio::time::timeout(pause, stopped.cancelled()).await;
    }
    let end = began.elapsed();
    drop(frames);
    let (Some(mut file), Some((frame, _))) = (file, key_frame(&last)) else {
        return Ok(None);
    };
    // Players show a frame until the next one.
    file.add(end, frame)?;
    let chapters = std::mem::take(&mut *chapters.lock().unwrap_or_else(PoisonError::into_inner));
    let start = |chapter: &Chapter| chapter.time.duration_since(started).unwrap_or_default();
    let ends = chapters.iter().skip(1).map(start).chain([end]);
    let parts = chapters.iter().zip(ends).map(|(chapter, end)| TitledPart {
        start: start(chapter),
        end,
        title: chapter.title.clone(),
    });
    file.finish(end, &parts.collect::<Vec<_>>()).map(Some)
}

/// Returns the factor with which frames are not larger than the size of the video.
fn shrink_factor(frame: Size, size: Option<Size>) -> f64 {
    let size = size.unwrap_or_else(|| shrunk(frame));
    let factor = |most: u32, length: u32| f64::from(most) / f64::from(length.max(1));
    factor(size.width, frame.width)
        .min(factor(size.height, frame.height))
        .min(1.0)
}

fn dimensions(jpeg: &[u8]) -> Result<Size> {
    let image = image::ImageReader::with_format(Cursor::new(jpeg), ImageFormat::Jpeg);
    let (width, height) = image
        .into_dimensions()
        .map_err(|error| Error::VideoFailed {
            reason: error.to_string(),
        })?;
    Ok(Size { width, height })
}

/// The frame that is shown from a slot on.
struct Shown {
    slot: u64,
    jpeg: Arc<[u8]>,
}

/// A video that is being encoded. Its time consists of slots, one for each of its frames.
struct Video {
    encoder: Encoder,
    file: TemporaryFile,
    began: SystemTime,
    fps: f64,
}

impl Video {
    async fn start(
        ffmpeg: &Ffmpeg,
        options: VideoOptions,
        began: SystemTime,
        first: &[u8],
    ) -> Result<Self> {
        let frame = dimensions(first)?;
        let file = temporary()?;
        let size = even(options.size.unwrap_or_else(|| shrunk(frame)));
        let mut encoder = ffmpeg.encode(size, options.fps, &file)?;
        encoder.write(&matroska::header(frame)).await?;
        Ok(Self {
            encoder,
            file,
            began,
            fps: options.fps,
        })
    }

    /// Returns the slot of a time.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a number of frames, which is not negative"
    )]
    fn slot(&self, time: SystemTime) -> u64 {
        let since = time.duration_since(self.began).unwrap_or_default();
        (since.as_secs_f64() * self.fps).round() as u64
    }

    /// Shows a frame from that time on; writes the one before if it was shown in an earlier slot.
    async fn show(&mut self, shown: &mut Shown, jpeg: Arc<[u8]>, time: SystemTime) -> Result<()> {
        let slot = self.slot(time);
        if slot > shown.slot {
            self.write(shown).await?;
            shown.slot = slot;
        }
        shown.jpeg = jpeg;
        Ok(())
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "a time, which is not negative"
    )]
    async fn write(&mut self, shown: &Shown) -> Result<()> {
        let milliseconds = (shown.slot as f64 * 1000.0 / self.fps).round() as u64;
        let cluster = matroska::cluster(milliseconds, &shown.jpeg);
        self.encoder.write(&cluster).await
    }
}

fn temporary() -> Result<TemporaryFile> {
    TemporaryFile::create(".webm").map_err(|error| Error::VideoFailed {
        reason: error.to_string(),
    })
}

/// Returns a size of the same shape whose longer side is at most the default one.
fn shrunk(Size { width, height }: Size) -> Size {
    let longer = width.max(height).max(1);
    if longer <= DEFAULT_SIDE {
        return Size { width, height };
    }
    Size {
        width: width * DEFAULT_SIDE / longer,
        height: height * DEFAULT_SIDE / longer,
    }
}

/// Returns the size in whole blocks of colour, each of which has two pixels by two.
fn even(Size { width, height }: Size) -> Size {
    let even = |length: u32| (length & !1).max(2);
    Size {
        width: even(width),
        height: even(height),
    }
}

/// Returns the chapters in the format of ffmpeg: <https://ffmpeg.org/ffmpeg-formats.html#Metadata-2>.
fn metadata(chapters: &[Chapter], began: SystemTime, end: SystemTime) -> String {
    let milliseconds =
        |time: SystemTime| time.duration_since(began).unwrap_or_default().as_millis();
    let ends = chapters.iter().skip(1).map(|chapter| chapter.time);
    let mut text = String::from(";FFMETADATA1\n");
    for (chapter, end) in chapters.iter().zip(ends.chain([end])) {
        let (start, end) = (milliseconds(chapter.time), milliseconds(end));
        text += "[CHAPTER]\nTIMEBASE=1/1000\n";
        text += &format!("START={start}\nEND={}\n", end.max(start + 1));
        text += "title=";
        for char in chapter.title.chars() {
            if matches!(char, '=' | ';' | '#' | '\\' | '\n') {
                text.push('\\');
            }
            text.push(char);
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn videos_have_even_sizes_and_fit_the_default() {
        let fit = |width, height| {
            let Size { width, height } = even(shrunk(Size { width, height }));
            (width, height)
        };
        assert_eq!(fit(1280, 720), (800, 450));
        assert_eq!(fit(375, 667), (374, 666));
        assert_eq!(fit(3000, 1), (800, 2));
    }

    #[test]
    fn titles_of_chapters_are_escaped() {
        let began = SystemTime::UNIX_EPOCH;
        let chapter = |seconds, title: &str| Chapter {
            time: began + Duration::from_secs(seconds),
            title: title.to_owned(),
        };
        let chapters = [chapter(1, "a=b;#\\"), chapter(2, "two\nlines")];
        let text = metadata(&chapters, began, began + Duration::from_secs(5));
        assert_eq!(
            text,
            ";FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=1000\nEND=2000\ntitle=a\\=b\\;\\#\\\\\n\
             [CHAPTER]\nTIMEBASE=1/1000\nSTART=2000\nEND=5000\ntitle=two\\\nlines\n"
        );
    }
}
