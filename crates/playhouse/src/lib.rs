//! The MCP server: tools over sessions over the engine.

mod cli;
mod config;
mod nearest;

pub use cli::main;
pub use config::{
    AnswerSettings, BrowserSettings, Capability, CdpSettings, CodegenLanguage, ColorScheme, Config,
    ConfigError, ConsoleLevel, ContextSettings, Contrast, Environment, FilePaths, FileSettings,
    ForcedColors, Geolocation, HttpCredentials, ImageResponses, LogLevel, NetworkSettings, Options,
    Problem, ProxySettings, ReducedMotion, Settings, Size, SnapshotMode, StorageStateSource,
    Timeouts, ToolRule, ToolSettings, ToolsetName, Viewport, reference as config_reference,
    schema as config_schema,
};
