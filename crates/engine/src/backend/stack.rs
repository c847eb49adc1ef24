//! Stacks of scripts in the format of Chromium, whatever engine they come from.

/// A call of a stack; line and column from 1.
pub(crate) struct Call<'a> {
    /// The name of the function; empty for none.
    pub(crate) function: &'a str,
    pub(crate) url: &'a str,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// A message with its stack.
pub(crate) fn with_stack<'a>(message: &str, calls: impl Iterator<Item = Call<'a>>) -> String {
    let mut all = message.to_owned();
    for call in calls {
        let place = format!("{}:{}:{}", call.url, call.line, call.column);
        all += &match call.function {
            "" => format!("\n    at {place}"),
            name => format!("\n    at {name} ({place})"),
        };
    }
    all
}
