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
        Prerequisite::Browser(self).demand();
        self.find().expect("it is there")
    }

    /// Its program, if it is installed.
    pub fn find(self) -> Option<PathBuf> {
        browser(self)
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
