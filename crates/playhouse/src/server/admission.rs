//! Whether a caller may call a tool, as far as that does not depend on the page.

use super::{Server, UnknownTool};
use crate::access::principal::Principal;
use crate::error::Error;
use crate::tools::Lookup;
use crate::tools::tool::ToolDef;

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
