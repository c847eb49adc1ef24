//! Whether a caller may call a tool, as far as that does not depend on the page.

use super::Server;
use crate::access::principal::Principal;
use crate::error::Error;
use crate::toolbox::Lookup;
use crate::tools::tool::ToolDef;

/// There is no tool of that name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UnknownTool {
    /// The name in the call.
    pub(crate) name: String,
    /// A tool with a similar name.
    pub(crate) nearest: Option<&'static str>,
}

impl UnknownTool {
    /// The JSON-RPC error code.
    pub(crate) const CODE: i32 = -32601;

    pub(super) fn new(name: &str, nearest: Option<&'static str>) -> Self {
        Self {
            name: name.to_owned(),
            nearest,
        }
    }
}

impl std::fmt::Display for UnknownTool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Tool \"{}\" not found", self.name)?;
        match self.nearest {
            Some(nearest) => write!(f, ". Did you mean \"{nearest}\"?"),
            None => Ok(()),
        }
    }
}

/// Why a tool cannot be called.
pub(super) enum Rejection {
    /// There is no tool of that name.
    Unknown(UnknownTool),
    /// The tool is disabled, or the caller lacks the permission.
    Refused(&'static ToolDef, Error),
}

impl Server {
    /// Returns the tool of that name if it is enabled and the principal may call it.
    pub(super) fn admit(
        &self,
        name: &str,
        principal: &Principal,
    ) -> Result<&'static ToolDef, Rejection> {
        match self.toolbox.find(name) {
            Lookup::Unknown(nearest) => Err(Rejection::Unknown(UnknownTool::new(name, nearest))),
            Lookup::Off(tool) => Err(Rejection::Refused(tool, self.switched_off(tool))),
            Lookup::On(tool) if principal.permission() < tool.permission => {
                let error = Error::NotPermitted {
                    tool: tool.name,
                    needed: tool.permission.scope(),
                };
                Err(Rejection::Refused(tool, error))
            }
            Lookup::On(tool) => Ok(tool),
        }
    }

    /// Returns the error for a call of a disabled tool.
    fn switched_off(&self, tool: &'static ToolDef) -> Error {
        if self.toolbox.is_without_app(tool) {
            return Error::DevServerNotConfigured {
                server: None,
                servers: Vec::new(),
            };
        }
        let settings = &self.settings.tools;
        let forbidden = tool.risk.filter(|risk| settings.forbidden.contains(risk));
        match forbidden {
            Some(risk) => Error::SwitchedOff {
                tool: tool.name,
                setting: risk.switch(),
            },
            None => Error::ToolDisabled {
                tool: tool.name.to_owned(),
                capability: tool.capability.map(Into::into),
                toolset: self.toolbox.disabled_toolset(tool, settings),
                instead: self.toolbox.most_similar(tool.name),
            },
        }
    }
}
