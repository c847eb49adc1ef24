//! The MCP server: tools over sessions over the engine.

mod access;
mod answers;
mod apps;
mod calls;
mod cli;
mod config;
mod dashboard;
mod error;
mod features;
mod files;
mod server;
mod sessions;
mod telemetry;
mod timestamp;
mod toolbox;
mod tools;
mod transport;

pub use access::principal::Permission;
pub use calls::tool_spec::{Effect, OutputFormat, ToolSpec};
pub use cli::{client_links, main};
pub use config::{
    AnswerSettings, AnswerStyle, AuthMode, AuthSettings, BrowserSettings, Capability, CdpSettings,
    ColorScheme, Config, ConfigError, ConsoleLevel, ContextSettings, Contrast, Environment,
    ExtensionSettings, FilePaths, FileSettings, ForcedColors, HarContent, HarMode, HttpSettings,
    ImageResponses, LogFormat, LogLevel, LogSettings, Options, PoolSettings, Problem,
    PromptSettings, RecordHar, ReducedMotion, Risk, Secrets, SecuritySettings, SessionExpiry,
    SessionSettings, Settings, SnapshotMode, StorageStateSource, Timeouts, ToolRule, ToolSettings,
    ToolsetName, TraceSettings, Viewport, WebDriverSettings, reference as config_reference,
    schema as config_schema,
};
pub use error::{ErrorClass, ErrorCode};
pub use script::reference as code_reference;
pub use toolbox::reference::{
    BrowserColumn, all_tools, browser_reference, error_reference, tool_reference,
};
pub use toolbox::{TOOLSETS, Toolbox};
pub use tools::tool::{SessionNaming, ToolDef, Toolset};
// Only for the conformance suite: no interface of the product.
#[doc(hidden)]
pub use transport::mcp::{Fixtures, set_fixtures};
