//! The configuration: flags override environment variables, which override the configuration file, which overrides
//! defaults. Only this module reads the environment; the rest of the program reads [`Settings`].

#[cfg(unix)]
mod background;
mod endpoints;
mod engine;
mod environment;
mod error;
mod file;
pub(crate) mod flags;
mod ini;
mod layered;
mod options;
mod paths;
mod reference;
mod resolve;
mod secrets;
mod settings;
mod show;
mod table;
mod value;

use std::path::Path;

use clap::ArgMatches;
use serde_json::Value;

pub use endpoints::{CdpSettings, ExtensionSettings, WebDriverSettings};
pub use environment::Environment;
pub use error::ConfigError;
pub(crate) use file::JSON_WITH_COMMENTS;
pub use options::Options;
pub(crate) use paths::home;
#[cfg(unix)]
pub(crate) use paths::{apps as apps_folder, runtime_folders};
pub use reference::{reference, schema};
pub(crate) use resolve::{is_safe_address, safe_help};
pub(crate) use secrets::FORBIDDEN;
pub use secrets::Secrets;
pub(crate) use secrets::Variables;
pub(crate) use secrets::WrongOrigin;
pub use settings::{
    AnswerSettings, AuthSettings, BrowserSettings, ContextSettings, FileSettings, HttpSettings,
    LogSettings, PoolSettings, PromptSettings, Risk, SecuritySettings, SessionSettings, Settings,
    Timeouts, ToolSettings, TraceSettings,
};
pub(crate) use settings::{
    DEFAULT_SESSION_TOOLS, DevServerSettings, DevServers, FFMPEG, NEVER, OwnerFolders, StateKey,
};
pub use value::{
    AnswerStyle, AuthMode, Capability, ColorScheme, ConsoleLevel, Contrast, FilePaths,
    ForcedColors, HarContent, HarMode, ImageResponses, LogFormat, LogLevel, Problem, RecordHar,
    ReducedMotion, SessionExpiry, SnapshotMode, StorageStateSource, ToolRule, ToolsetName,
    Viewport,
};

/// The options after all layers, and the settings that follow from them.
#[derive(Debug, Clone)]
pub struct Config {
    options: Options,
    /// The settings that the rest of the server reads.
    pub settings: Settings,
}

impl Config {
    /// Merges the layers into options and settings. Relative paths are relative to `cwd`, which is absolute.
    pub(crate) fn load(
        matches: &ArgMatches,
        environment: &Environment,
        cwd: &Path,
    ) -> Result<Config, ConfigError> {
        Config::load_over(Options::default(), matches, environment, cwd)
    }

    /// Loads the configuration over options that other layers override.
    fn load_over(
        mut options: Options,
        matches: &ArgMatches,
        environment: &Environment,
        cwd: &Path,
    ) -> Result<Config, ConfigError> {
        flags::apply(matches, &mut options)?;
        environment.apply(&mut options)?;
        if let Some(path) = resolve::file(&options, cwd) {
            file::apply(&path, &mut options)?;
        }
        let settings = resolve::resolve(&mut options, environment, cwd)?;
        Ok(Config { options, settings })
    }

    /// Returns each option that has a value, with its source, in columns. Secrets are masked.
    pub fn show(&self) -> String {
        show::text(&self.options)
    }

    /// Returns each option that has a value as JSON: a list of objects with `option`, `value`, `source`. Secrets are masked.
    pub fn show_json(&self) -> Value {
        show::json(&self.options)
    }
}

#[cfg(test)]
impl Settings {
    /// Returns the settings of a server that was started with these flags.
    pub(crate) fn of_flags(args: &[&str]) -> Self {
        tests::settings(args)
    }
}

#[cfg(test)]
mod tests;
