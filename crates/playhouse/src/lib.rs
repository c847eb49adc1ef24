//! The MCP server: tools over sessions over the engine.

mod address;
#[cfg(unix)]
mod app;
mod artifacts;
mod audit;
mod auth;
mod browsers;
mod call;
mod call_queue;
mod cli;
mod config;
mod devserver;
mod dispatch;
mod downloads;
mod error;
mod escape;
mod evidence;
mod handover;
mod image_diff;
mod image_size;
mod instructions;
mod mcp;
mod metrics;
mod nearest;
mod output;
mod output_format;
mod owners;
mod policy;
mod principal;
mod processes;
mod prompts;
mod protected;
mod reference;
mod reply;
mod resources;
mod scope;
mod script;
mod serve;
mod server;
mod session;
mod sessions;
mod tool;
mod tools;
mod transport;
mod uri;

pub use cli::main;
pub use config::{
    AnswerSettings, AuthMode, AuthSettings, BrowserSettings, Capability, CdpSettings,
    CodegenLanguage, ColorScheme, Config, ConfigError, ConsoleLevel, ContextSettings, Contrast,
    Environment, FilePaths, FileSettings, ForcedColors, Geolocation, HttpCredentials, HttpSettings,
    ImageResponses, LogFormat, LogLevel, LogSettings, Options, PoolSettings, Problem,
    PromptSettings, ReducedMotion, Risk, Secrets, SecuritySettings, SessionExpiry, SessionSettings,
    Settings, Size, SnapshotMode, StorageStateSource, Timeouts, ToolRule, ToolSettings,
    ToolsetName, Viewport, WebDriverSettings, reference as config_reference,
    schema as config_schema,
};
pub use error::ErrorCode;
pub use principal::Permission;
pub use reference::{BrowserColumn, all_tools, browser_reference, error_reference, tool_reference};
pub use script::reference as code_reference;
pub use tool::{Effect, OutputFormat, SessionNaming, ToolDef, ToolSpec, Toolset};
pub use tools::{TOOLSETS, Toolbox};
