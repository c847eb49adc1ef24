//! The facts about a tool that a call, the policy and the answers need, without its code.

use crate::access::policy::Subject;
use crate::access::principal::Permission;
use crate::config::{Capability, Risk};
use crate::error::{Error, ErrorCode};

/// The facts about a tool.
#[derive(Debug)]
pub struct ToolSpec {
    /// Its name in `tools/list`.
    pub name: &'static str,
    /// A short name for people.
    pub title: &'static str,
    /// What it does to the world.
    pub effect: Effect,
    /// What its caller must be permitted.
    pub permission: Permission,
    /// The `--caps` value that switches it on; `None`: it is on anyway.
    pub capability: Option<Capability>,
    /// The risk for which an operator can switch it off; `None`: there is none.
    pub risk: Option<Risk>,
    /// How its answers are laid out.
    pub output_format: OutputFormat,
    /// Whether it creates sessions, which other calls then name.
    pub(crate) creates_sessions: bool,
    /// Whether a call may name the session that it is for.
    pub(crate) has_session: bool,
    /// The error code for an element that is not ready for it.
    pub(crate) not_ready: ErrorCode,
}

/// How the answers of a tool are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputFormat {
    /// Sections of Markdown, as clients of `@playwright/mcp` read them.
    Markdown,
    /// One JSON object.
    Json,
}

/// What a tool does to the world; the MCP annotations follow from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It only reads.
    Reads,
    /// It changes something.
    Acts,
}

impl ToolSpec {
    /// What stands for a tool in calls that the server makes itself.
    pub(crate) const fn internal(name: &'static str, output_format: OutputFormat) -> Self {
        Self {
            name,
            title: name,
            effect: Effect::Acts,
            permission: Permission::Act,
            capability: None,
            risk: None,
            output_format,
            creates_sessions: false,
            has_session: true,
            not_ready: ErrorCode::ElementNotClickable,
        }
    }

    /// Whether it changes something.
    pub(crate) fn acts(&self) -> bool {
        self.effect == Effect::Acts
    }

    /// Whether it answers with an object for programs.
    pub(crate) fn answers_with_object(&self) -> bool {
        self.output_format == OutputFormat::Json
    }

    /// Whether it returns or takes what grants access elsewhere (cookies, storage, headers of requests), or runs code beside the page.
    pub(crate) fn is_sensitive(&self) -> bool {
        self.permission == Permission::Admin
    }

    /// The tool as rules of a policy know it.
    pub(crate) fn subject(&self) -> Subject {
        Subject {
            name: self.name,
            is_read_only: !self.acts(),
        }
    }

    /// The code of an error of the tool. An element that is not ready has the code of what the tool does with elements.
    pub(crate) fn code_of(&self, error: &Error) -> ErrorCode {
        match error.code() {
            ErrorCode::ElementNotClickable => self.not_ready,
            code => code,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_of_a_timeout_follows_its_obstacle() {
        let error = Error::from(engine::Error::Timeout {
            timeout_ms: 5000,
            obstacle: Some(Box::new(engine::Error::NotActionable {
                selector: "#go".into(),
                obstacle: engine::Obstacle::Covered("<div></div>".into()),
            })),
            log: vec![],
        });
        for not_ready in [
            ErrorCode::ElementNotClickable,
            ErrorCode::ElementNotEditable,
            ErrorCode::ElementNotInteractive,
        ] {
            let tool = ToolSpec {
                not_ready,
                ..ToolSpec::internal("tool", OutputFormat::Json)
            };
            assert_eq!(tool.code_of(&error), not_ready);
        }
    }
}
