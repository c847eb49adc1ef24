//! The browser engines that tests run on.

use std::path::PathBuf;

use crate::prerequisites::{Prerequisite, browser};

/// A browser engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Engine {
    Chromium,
    Firefox,
    Webkit,
}

impl Engine {
    /// All engines.
    pub const ALL: [Self; 3] = [Self::Chromium, Self::Firefox, Self::Webkit];

    /// Returns the value of `--browser`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Chromium => "chromium",
            Self::Firefox => "firefox",
            Self::Webkit => "webkit",
        }
    }

    /// Returns the path of the program.
    ///
    /// # Panics
    /// If it is not installed.
    pub fn executable(self) -> PathBuf {
        Prerequisite::Browser(self).demand();
        self.find().expect("it is there")
    }

    /// Returns the path of the program, if it is installed.
    pub fn find(self) -> Option<PathBuf> {
        browser(self)
    }

    /// Returns the server's arguments for the engine: none for Chromium, which is the default.
    pub fn args(self) -> &'static [&'static str] {
        match self {
            Self::Chromium => &[],
            Self::Firefox => &["--browser", "firefox"],
            Self::Webkit => &["--browser", "webkit"],
        }
    }

    /// Returns further arguments that keep a browser running after its last session, for engines that take seconds to start.
    pub fn keeping(self) -> &'static [&'static str] {
        match self {
            Self::Chromium => &[],
            Self::Firefox => &["--min-browsers", "1"],
            // Each session needs a browser of its own anyway.
            Self::Webkit => &[],
        }
    }
}
