//! The facts about a tool that a call, the policy and the answers need, without its code.

use crate::access::policy::Subject;
use crate::access::principal::Permission;
use crate::config::{Capability, Risk};
use crate::error::{Error, ErrorCode};
use std::time::Duration;

/// The facts about a tool.
#[derive(Debug)]
pub struct ToolSpec {
    /// The name in `tools/list`.
    pub name: &'static str,
    /// A short name for people.
    pub title: &'static str,
    /// The effect on the page or the world.
    pub effect: Effect,
    /// The permission that a caller needs.
    pub permission: Permission,
    /// The `--caps` value that enables the tool; `None`: always enabled.
    pub capability: Option<Capability>,
    /// The risk by which an operator can disable the tool, if any.
    pub risk: Option<Risk>,
    /// The format of answers.
    pub output_format: OutputFormat,
    /// Whether the tool creates sessions, which other calls then name.
    pub(crate) creates_sessions: bool,
    /// Whether a call can name its session.
    pub(crate) has_session: bool,
    /// Whether the tool can be a step of a batch.
    pub(crate) can_be_step: bool,
    /// Whether the tool calls other tools as its steps.
    pub(crate) has_steps: bool,
    /// How long a call may take in addition to the limit of all calls.
    pub(crate) extra_time: Duration,
    /// The error code for an element that fails an actionability check of the tool.
    pub(crate) not_ready: ErrorCode,
}

/// The output format of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputFormat {
    /// Sections of Markdown, as clients of `@playwright/mcp` read them.
    Markdown,
    /// One JSON object.
    Json,
}

/// The effect of a tool, from which the MCP annotations follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// The tool only reads.
    Reads,
    /// The tool changes something.
    Acts,
}

impl ToolSpec {
    /// Creates the facts of calls that the server makes itself.
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
            can_be_step: false,
            has_steps: false,
            extra_time: Duration::ZERO,
            not_ready: ErrorCode::ElementNotClickable,
        }
    }

    /// Returns whether the tool changes something.
    pub(crate) fn acts(&self) -> bool {
        self.effect == Effect::Acts
    }

    /// Returns whether answers have structured content.
    pub(crate) fn answers_with_object(&self) -> bool {
        self.output_format == OutputFormat::Json
    }

    /// Returns whether the tool returns or accepts credentials (cookies, storage, headers of requests) or runs code outside the page.
    pub(crate) fn is_sensitive(&self) -> bool {
        self.permission == Permission::Admin
    }

    /// Returns the tool as a subject of policy rules.
    pub(crate) fn subject(&self) -> Subject {
        Subject {
            name: self.name,
            is_read_only: !self.acts(),
        }
    }

    /// Returns the code of an error of the tool. Failed actionability checks have the tool's own code.
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
