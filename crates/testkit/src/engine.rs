//! The browser engines that tests run on. A test that holds on each of them is written once, with the engine as its parameter.

use std::path::PathBuf;

use crate::prerequisites;

/// A browser engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Engine {
    Chromium,
    Firefox,
    Webkit,
}

impl Engine {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Chromium, Self::Firefox, Self::Webkit];

    /// What `--browser` calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Chromium => "chromium",
            Self::Firefox => "firefox",
            Self::Webkit => "webkit",
        }
    }

    /// Its program.
    ///
    /// # Panics
    /// If it is not installed.
    pub fn executable(self) -> PathBuf {
        self.find().unwrap_or_else(|| {
            let name = self.name();
            prerequisites::missing(name, &format!("playhouse install {name}"))
        })
    }

    /// Its program, if it is installed.
    pub fn find(self) -> Option<PathBuf> {
        prerequisites::browser(self)
    }

    /// The server's arguments for it: none for Chromium, which servers take by themselves.
    pub fn args(self) -> &'static [&'static str] {
        match self {
            Self::Chromium => &[],
            Self::Firefox => &["--browser", "firefox"],
            Self::Webkit => &["--browser", "webkit"],
        }
    }

    /// The further arguments with which a browser goes on when its last session ends: for engines that take seconds to start.
    pub(crate) fn keeping(self) -> &'static [&'static str] {
        match self {
            Self::Chromium => &[],
            Self::Firefox => &["--min-browsers", "1"],
            // Each session starts one of its own, whatever runs.
            Self::Webkit => &[],
        }
    }
}

/// Makes a test of each function for each engine: `async fn a_rule(engine: Engine)` becomes `a_rule::chromium`, `a_rule::firefox` and
/// `a_rule::webkit`. The latter two are ignored unless they are asked for (`make test-engines`).
///
/// `on_each_engine!(but webkit: a_rule)` leaves out WebKit, for what it does not support.
#[macro_export]
macro_rules! on_each_engine {
    (but webkit: $($test:ident),+ $(,)?) => {$(
        mod $test {
            $crate::on_each_engine!(@ $test, chromium, Chromium);
            $crate::on_each_engine!(@ #[ignore = "needs Firefox: make test-engines"] $test, firefox, Firefox);
        }
    )+};
    ($($test:ident),+ $(,)?) => {$(
        mod $test {
            $crate::on_each_engine!(@ $test, chromium, Chromium);
            $crate::on_each_engine!(@ #[ignore = "needs Firefox: make test-engines"] $test, firefox, Firefox);
            $crate::on_each_engine!(@ #[ignore = "needs WebKit: make test-engines"] $test, webkit, Webkit);
        }
    )+};
    (@ $(#[$attribute:meta])? $test:ident, $name:ident, $engine:ident) => {
        #[tokio::test(flavor = "multi_thread")]
        $(#[$attribute])?
        async fn $name() {
            super::$test($crate::Engine::$engine).await;
        }
    };
}
