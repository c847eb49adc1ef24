//! The tools that start and stop videos, add chapters, and show actions in them.

use super::overlays::{ShownActions, milliseconds};
use super::{DEFAULT_FPS, Target, Videos, encoder};
use crate::access::principal::Permission;
use crate::answers::reply::{Part, Reply};
use crate::calls::Call;
use crate::config::Capability;
use crate::error::{Error, Result};
use crate::sessions::session::Session;
use crate::tools::tool::{Effect, Tool, ToolDef};
use engine::{ActionStyle, ChapterOverlay, Page, Size, VideoOptions};
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;
use std::time::Duration;

pub(super) const TOOLS: &[ToolDef] = &[
    ToolDef::of::<StartVideo>(),
    ToolDef::of::<StopVideo>(),
    ToolDef::of::<VideoChapter>(),
    ToolDef::of::<ShowActions>(),
    ToolDef::of::<HideActions>(),
];

/// How long a chapter card is shown.
const CHAPTER_DURATION: Duration = Duration::from_secs(2);
/// How long an action is shown.
const ACTION_DURATION: Duration = Duration::from_millis(500);
/// The largest side of a video, in pixels.
const MAX_SIDE: f64 = 4096.0;
/// The highest rate of a video, in frames for each second.
const MAX_FPS: f64 = 1000.0;

/// Record a video of each tab, until browser_stop_video.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct StartVideo {
    /// WebM file to write.
    filename: Option<String>,
    /// Default: fits 800x800.
    size: Option<VideoSize>,
    /// Default 25.
    fps: Option<f64>,
    /// Show a pointer that moves to each action.
    cursor: Option<bool>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct VideoSize {
    /// Pixels.
    width: f64,
    /// Pixels.
    height: f64,
}

impl Tool for StartVideo {
    const NAME: &'static str = "browser_start_video";
    const TITLE: &'static str = "Start video";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Read;
    const CAPABILITY: Option<Capability> = Some(Capability::Devtools);
    type Scope = Arc<Session>;
    type Output = Reply;

    async fn run(self, session: Arc<Session>, call: &Call) -> Result<Reply> {
        let videos = session.feature::<Videos>();
        if videos.called().is_some() {
            return Err(Error::VideoStarted {});
        }
        let fps = self.fps.unwrap_or(DEFAULT_FPS);
        if !(fps > 0.0 && fps <= MAX_FPS) {
            return Err(invalid(
                &["fps"],
                format!("\"fps\" must be a positive number, got {fps}"),
            ));
        }
        let size = self.size.map(Size::try_from).transpose()?;
        let files = session.files(call).await;
        let named = self.filename.as_deref();
        let named = named.map(|name| files.writable(name)).transpose()?;
        let encoder = encoder(session.settings()).await?;
        let file = match named {
            Some(file) => file,
            None => files.automatic("video", "webm").await?,
        };
        let options = VideoOptions { size, fps };
        videos
            .start(&session, call, encoder, options, Target::File(file))
            .await?;
        let cursor = self.cursor == Some(true);
        videos.overlays.show_pointer(&session, cursor).await;
        Ok(Reply::text("Video recording started."))
    }
}

impl TryFrom<VideoSize> for Size {
    type Error = Error;

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the range is checked"
    )]
    fn try_from(size: VideoSize) -> Result<Self> {
        let fits = |side: f64| (1.0..=MAX_SIDE).contains(&side);
        if !fits(size.width) || !fits(size.height) {
            let (width, height) = (size.width, size.height);
            let range = format!("\"size\" must be from 1x1 to {MAX_SIDE}x{MAX_SIDE}");
            return Err(invalid(&["size"], format!("{range}, got {width}x{height}")));
        }
        Ok(Self {
            width: size.width.round() as u32,
            height: size.height.round() as u32,
        })
    }
}

/// Stop the videos and write their files.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct StopVideo {}

impl Tool for StopVideo {
    const NAME: &'static str = "browser_stop_video";
    const TITLE: &'static str = "Stop video";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Read;
    const CAPABILITY: Option<Capability> = Some(Capability::Devtools);
    type Scope = Arc<Session>;
    type Output = Reply;

    async fn run(self, session: Arc<Session>, _: &Call) -> Result<Reply> {
        let videos = session.feature::<Videos>();
        videos.overlays.show_pointer(&session, false).await;
        let links = videos.stop().await?;
        if links.is_empty() {
            return Ok(Reply::text("No videos were recorded."));
        }
        Ok(links.into_iter().fold(Reply::default(), |reply, link| {
            let title = "Video".to_owned();
            reply.and(Part::File { title, link })
        }))
    }
}

/// Begin a chapter of the video with a title card.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct VideoChapter {
    /// Title.
    title: String,
    /// Text below the title.
    description: Option<String>,
    /// Milliseconds, 2000 by default.
    duration: Option<f64>,
}

impl Tool for VideoChapter {
    const NAME: &'static str = "browser_video_chapter";
    const TITLE: &'static str = "Video chapter";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Read;
    const CAPABILITY: Option<Capability> = Some(Capability::Devtools);
    type Scope = Arc<Session>;
    type Output = Reply;

    async fn run(self, session: Arc<Session>, call: &Call) -> Result<Reply> {
        let page = open_page(&session)?;
        let duration = duration(self.duration, CHAPTER_DURATION);
        let videos = session.feature::<Videos>();
        videos.add_chapter(&self.title).await;
        let card = ChapterOverlay {
            title: &self.title,
            description: self.description.as_deref(),
            duration: milliseconds(duration),
        };
        page.show_chapter(&call.action(), &card).await?;
        tokio::time::sleep(duration).await;
        Ok(Reply::text(format!("Chapter '{}' added.", self.title)))
    }
}

/// Draw a title, pointer and styles over the page before each action.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ShowActions {
    /// Milliseconds, 500 by default.
    duration: Option<f64>,
    /// Of the title, top-right by default.
    position: Option<Position>,
    /// pointer by default.
    cursor: Option<Cursor>,
    /// CSS declarations.
    style: Option<Style>,
}

#[derive(Deserialize, JsonSchema, Default, Clone, Copy, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
enum Position {
    TopLeft,
    Top,
    #[default]
    TopRight,
    BottomLeft,
    Bottom,
    BottomRight,
}

#[derive(Deserialize, JsonSchema, Default, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Cursor {
    None,
    #[default]
    Pointer,
}

#[derive(Deserialize, JsonSchema, Default)]
#[serde(rename_all = "camelCase")]
struct Style {
    /// Of the point.
    point: Option<String>,
    /// Of the element.
    highlight: Option<String>,
    /// Of the title.
    title: Option<String>,
}

impl Tool for ShowActions {
    const NAME: &'static str = "browser_video_show_actions";
    const TITLE: &'static str = "Show action overlays";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Read;
    const CAPABILITY: Option<Capability> = Some(Capability::Devtools);
    type Scope = Arc<Session>;
    type Output = Reply;

    async fn run(self, session: Arc<Session>, _: &Call) -> Result<Reply> {
        open_page(&session)?;
        let Style {
            point,
            highlight,
            title,
        } = self.style.unwrap_or_default();
        let actions = ShownActions {
            duration: duration(self.duration, ACTION_DURATION),
            position: self.position.unwrap_or_default().into(),
            cursor: self.cursor.unwrap_or_default() == Cursor::Pointer,
            style: ActionStyle {
                point,
                highlight,
                title,
            },
        };
        let videos = session.feature::<Videos>();
        let actions = Some(actions);
        videos.overlays.show_actions(&session, actions).await;
        Ok(Reply::text("Action annotations enabled."))
    }
}

/// Stop showing actions.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct HideActions {}

impl Tool for HideActions {
    const NAME: &'static str = "browser_video_hide_actions";
    const TITLE: &'static str = "Hide action overlays";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Read;
    const CAPABILITY: Option<Capability> = Some(Capability::Devtools);
    type Scope = Arc<Session>;
    type Output = Reply;

    async fn run(self, session: Arc<Session>, _: &Call) -> Result<Reply> {
        open_page(&session)?;
        let videos = session.feature::<Videos>();
        videos.overlays.show_actions(&session, None).await;
        Ok(Reply::text("Action annotations disabled."))
    }
}

fn open_page(session: &Session) -> Result<Page> {
    session.current_page().ok_or(Error::NoOpenPage {})
}

/// Returns the duration of that many milliseconds; a negative number counts as 0.
fn duration(milliseconds: Option<f64>, default: Duration) -> Duration {
    milliseconds.map_or(default, |milliseconds| {
        Duration::try_from_secs_f64(milliseconds / 1000.0).unwrap_or_default()
    })
}

fn invalid(parameters: &'static [&'static str], reason: String) -> Error {
    Error::Arguments {
        reason: reason.into(),
        parameters,
        missing: &[],
        bare: false,
    }
}
