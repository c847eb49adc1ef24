//! The processes of ffmpeg that encode videos. Each ends with its input, so that none outlives this process.

use crate::backend::Size;
use crate::error::{Error, Result};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use task::Task;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStdin, Command};

/// The encoders for WebM, the preferred one first.
const ENCODERS: [&str; 2] = ["libvpx", "libvpx-vp9"];
/// How long a process may take to complete its file after the end of its input.
const FINISH_TIMEOUT: Duration = Duration::from_secs(60);
/// How much of the output of a process is kept for an error, in bytes.
const MAX_OUTPUT: u64 = 4096;
/// The lowest bit rate of a video, in bits per second.
const MIN_BIT_RATE: f64 = 1_000_000.0;
/// The bit rate for each pixel of a second.
const BITS_PER_PIXEL: f64 = 0.11;

/// An ffmpeg that can encode WebM.
#[derive(Debug, Clone)]
pub struct Ffmpeg {
    program: PathBuf,
    encoder: &'static str,
}

/// A process that encodes a video.
pub(crate) struct Encoder {
    process: Child,
    input: ChildStdin,
    output: Output,
}

impl Ffmpeg {
    /// Checks that the program, a path or a name in PATH, can be run and encodes WebM.
    pub async fn find(program: &Path) -> Result<Self> {
        let failed = |reason: String| Error::FfmpegUnavailable { reason };
        let output = command(program)
            .args(["-hide_banner", "-encoders"])
            .stdin(Stdio::null())
            .output()
            .await
            .map_err(|error| failed(format!("\"{}\" cannot be run: {error}", program.display())))?;
        let listed = String::from_utf8_lossy(&output.stdout);
        let has = |encoder: &&str| {
            let mut names = listed
                .lines()
                .filter_map(|line| line.split_whitespace().nth(1));
            names.any(|name| name == *encoder)
        };
        let encoder = ENCODERS.into_iter().find(has).ok_or_else(|| {
            failed(format!(
                "\"{}\" has no encoder for WebM (libvpx)",
                program.display()
            ))
        })?;
        Ok(Self {
            program: program.to_owned(),
            encoder,
        })
    }

    /// Starts to encode a video into `file`. The frames are written to the process as a Matroska stream; each is shown until the time of the
    /// next one. Larger frames are scaled down, smaller ones padded.
    pub(crate) fn encode(&self, size: Size, fps: f64, file: &Path) -> Result<Encoder> {
        let Size { width, height } = size;
        let filters = format!(
            "scale=w='min({width},iw)':h='min({height},ih)':force_original_aspect_ratio=decrease,\
             pad={width}:{height}:0:0:gray,format=yuv420p,fps={fps}"
        );
        let bit_rate = f64::from(width) * f64::from(height) * fps * BITS_PER_PIXEL;
        let bit_rate = format!("{:.0}", bit_rate.max(MIN_BIT_RATE));
        let mut command = command(&self.program);
        command
            .args(["-hide_banner", "-loglevel", "error", "-y"])
            .args([
                "-probesize",
                "32",
                "-fpsprobesize",
                "0",
                "-analyzeduration",
                "0",
            ])
            .args(["-f", "matroska", "-i", "pipe:0", "-an"])
            .args(["-vf", &filters, "-c:v", self.encoder])
            .args(["-deadline", "realtime", "-cpu-used", "8", "-threads", "1"])
            .args(["-crf", "10", "-qmin", "0", "-qmax", "50", "-b:v", &bit_rate])
            .args(["-f", "webm"])
            .arg(file);
        Encoder::start(command)
    }

    /// Copies a video and adds chapters to it: the text of a metadata file of ffmpeg.
    pub(crate) async fn add_chapters(&self, from: &Path, chapters: &str, to: &Path) -> Result<()> {
        let mut command = command(&self.program);
        command
            .args(["-hide_banner", "-loglevel", "error", "-y", "-i"])
            .arg(from)
            .args(["-f", "ffmetadata", "-i", "pipe:0"])
            .args([
                "-map",
                "0",
                "-map_chapters",
                "1",
                "-c",
                "copy",
                "-f",
                "webm",
            ])
            .arg(to);
        let mut process = Encoder::start(command)?;
        process.write(chapters.as_bytes()).await?;
        process.finish().await
    }
}

impl Encoder {
    fn start(mut command: Command) -> Result<Self> {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut process = command.spawn().map_err(|error| failed(&error))?;
        let gone = || failed(&io::Error::from(io::ErrorKind::BrokenPipe));
        let input = process.stdin.take().ok_or_else(gone)?;
        let output = Output::collect(process.stderr.take().ok_or_else(gone)?);
        Ok(Self {
            process,
            input,
            output,
        })
    }

    /// Writes a part of the input. Waits while the process is busy.
    pub(crate) async fn write(&mut self, bytes: &[u8]) -> Result<()> {
        match self.input.write_all(bytes).await {
            Ok(()) => Ok(()),
            // The process has ended; its output has the reason.
            Err(_) => Err(self.output.take().await),
        }
    }

    /// Ends the input and waits until the file is complete.
    pub(crate) async fn finish(self) -> Result<()> {
        let Self {
            mut process,
            input,
            output,
        } = self;
        drop(input);
        match tokio::time::timeout(FINISH_TIMEOUT, process.wait()).await {
            Ok(Ok(status)) if status.success() => Ok(()),
            Ok(Ok(_)) => Err(output.take().await),
            Ok(Err(error)) => Err(failed(&error)),
            // Dropping the process kills it.
            Err(_) => Err(failed(&"it did not end in time")),
        }
    }
}

/// The first output of a process; the rest is read and dropped.
struct Output {
    text: tokio::sync::watch::Receiver<Option<String>>,
    _reader: Task,
}

impl Output {
    fn collect(stream: impl AsyncRead + Unpin + Send + 'static) -> Self {
        let (done, text) = tokio::sync::watch::channel(None);
        let reader = task::spawn("output of ffmpeg", async move {
            let mut bytes = Vec::new();
            let mut beginning = stream.take(MAX_OUTPUT);
            let _ = beginning.read_to_end(&mut bytes).await;
            let _ = tokio::io::copy(&mut beginning.into_inner(), &mut tokio::io::sink()).await;
            done.send_replace(Some(String::from_utf8_lossy(&bytes).trim().to_owned()));
        });
        Self {
            text,
            _reader: reader,
        }
    }

    /// Returns the output of a process that has ended, as an error.
    async fn take(&self) -> Error {
        let mut text = self.text.clone();
        let all = tokio::time::timeout(Duration::from_secs(1), text.wait_for(Option::is_some));
        let text = all.await.ok().and_then(std::result::Result::ok);
        let text = text.and_then(|text| text.clone()).unwrap_or_default();
        failed(&text)
    }
}

fn failed(reason: &dyn std::fmt::Display) -> Error {
    Error::VideoFailed {
        reason: reason.to_string(),
    }
}

fn command(program: &Path) -> Command {
    #[expect(
        clippy::disallowed_methods,
        reason = "`launch` starts the processes that end with the server"
    )]
    let mut command = Command::new(program);
    // A signal of the terminal would end it before its input ends.
    #[cfg(unix)]
    command.process_group(0);
    #[cfg(windows)]
    command.creation_flags(job::NO_WINDOW);
    command.kill_on_drop(true);
    command
}
