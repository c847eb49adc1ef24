//! The baseline for Firefox, with WebDriver BiDi: a browser and its one page.

use std::process::Stdio;
use std::time::Duration;

use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Child;
use tokio::task::JoinSet;
use wire::actions::{Action, Source};
use wire::bidi::browsing_context::{
    CaptureScreenshot, Create, CreateType, ImageFormat, Navigate, ReadinessState, SetViewport,
    Viewport,
};
use wire::bidi::input::PerformActions;
use wire::bidi::script::{Evaluate, Target};
use wire::bidi::session;
use wire::{Connection, Session};

use crate::tools::{self, READY, element};

/// A page in its own window, which ends with the browser.
pub(crate) struct Page {
    session: Session,
    context: String,
    _connection: Connection,
    _tasks: JoinSet<()>,
    _process: Child,
    _profile: TempDir,
}

/// The line that Firefox prints when it listens.
const LISTENS: &str = "WebDriver BiDi listening on ";
const STARTING: Duration = Duration::from_secs(60);

impl Page {
    pub(crate) async fn launch(program: &str) -> Self {
        let profile = tempfile::Builder::new()
            .prefix("testkit-floor-")
            .tempdir()
            .expect("a temporary folder");
        #[expect(clippy::disallowed_methods, reason = "it ends when we do")]
        let mut process = tokio::process::Command::new(program)
            .args(["--headless", "--no-remote", "--remote-debugging-port=0"])
            .arg("--profile")
            .arg(profile.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("a Firefox");
        let mut lines = BufReader::new(process.stderr.take().expect("it is piped")).lines();
        let url = loop {
            let line = lines.next_line().await.expect("it can be read");
            let line = line.expect("Firefox says where it listens");
            if let Some((_, url)) = line.split_once(LISTENS) {
                break format!("{}/session", url.trim());
            }
        };
        let (connection, mut events) = Connection::websocket(&url, &[], STARTING)
            .await
            .expect("Firefox takes a connection");
        let mut tasks = JoinSet::new();
        tasks.spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        tasks.spawn(async move { while events.next().await.is_some() {} });
        let session = connection.root();
        let context = open(&session).await.expect("a page");
        Self {
            session,
            context,
            _connection: connection,
            _tasks: tasks,
            _process: process,
            _profile: profile,
        }
    }

    async fn perform(&self, source: Source) -> wire::Result<()> {
        let context = self.context.clone();
        let actions = vec![source];
        let performed = PerformActions { context, actions };
        self.session.call(&performed).await.map(drop)
    }
}

async fn open(session: &Session) -> wire::Result<String> {
    session.call(&session::New::default()).await?;
    let created = Create {
        kind: CreateType::Window,
        user_context: None,
        reference_context: None,
        background: None,
    };
    let context = session.call(&created).await?.context;
    let size = SetViewport {
        context: Some(context.clone()),
        viewport: Some(Viewport {
            width: 1280,
            height: 720,
        }),
        ..Default::default()
    };
    session.call(&size).await?;
    Ok(context)
}

impl tools::Page for Page {
    async fn navigate(&self, url: &str) -> wire::Result<()> {
        let there = Navigate {
            context: self.context.clone(),
            url: url.to_owned(),
            wait: ReadinessState::Complete,
        };
        self.session.call(&there).await.map(drop)
    }

    async fn text(&self, expression: String) -> wire::Result<String> {
        let asked = Evaluate {
            expression,
            await_promise: true,
            target: Target {
                context: self.context.clone(),
                sandbox: None,
            },
        };
        let answer = self.session.call(&asked).await?;
        Ok(match answer.exception_details {
            Some(details) => details.text,
            None => answer.result.decode().unwrap_or_default(),
        })
    }

    /// One script and one command, whose response arrives after the page has handled the events.
    async fn click(&self, selector: &str) -> wire::Result<()> {
        let point = self
            .text(format!("{READY}({}).join()", element(selector)))
            .await?;
        let (x, y) = point.split_once(',').unwrap_or_default();
        let actions = vec![
            Action::PointerMove {
                x: x.parse().unwrap_or_default(),
                y: y.parse().unwrap_or_default(),
            },
            Action::PointerDown { button: 0 },
            Action::PointerUp { button: 0 },
        ];
        let id = "mouse";
        self.perform(Source::Pointer { id, actions }).await
    }

    async fn key(&self, key: &str) -> wire::Result<()> {
        self.perform(tools::pressed(key)).await
    }

    async fn screenshot(&self) -> wire::Result<Vec<u8>> {
        let shot = CaptureScreenshot {
            context: self.context.clone(),
            origin: "viewport",
            format: ImageFormat {
                kind: "image/png",
                quality: None,
            },
            clip: None,
        };
        Ok(self.session.call(&shot).await?.data.0)
    }
}
