//! The steps of a batch as calls of the server, which this layer cannot name.

use super::{Arguments, BoxFuture};
use crate::answers::Content;
use crate::calls::Call;
use crate::calls::tool_spec::ToolSpec;
use crate::error::{Error, Result};

/// Calls tools as steps of a batch: with the client, the session and the turn of the batch, and otherwise like any call.
pub(crate) trait StepCaller: Send + Sync {
    /// Returns the tool of a step, or an error if the call cannot be a step or would be refused whatever the page shows.
    fn check(&self, tool: &str, arguments: &Arguments) -> Result<&'static ToolSpec, StepError>;

    /// Calls a tool in the turn of `batch`.
    fn call<'a>(
        &'a self,
        batch: &'a Call,
        tool: &'a str,
        arguments: Arguments,
    ) -> BoxFuture<'a, Result<Content>>;
}

/// Why a call cannot be a step.
#[derive(Debug)]
pub(crate) enum StepError {
    /// A parameter of the step is wrong.
    Parameter {
        /// The parameter, such as `arguments.sessionId`.
        name: &'static str,
        message: String,
    },
    /// The call would be refused.
    Refused(&'static ToolSpec, Error),
}
