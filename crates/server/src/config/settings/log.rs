//! The settings of the log.

use crate::config::value::{LogFormat, LogLevel};
use std::path::PathBuf;

/// What is logged, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogSettings {
    /// The least severe level that is logged.
    pub level: LogLevel,
    /// The format of log messages.
    pub format: LogFormat,
    /// The absolute path of the log file; `None`: stderr.
    pub file: Option<PathBuf>,
}
