//! Stack traces in Chromium's format, for all browsers.

/// A call in a stack trace. Line and column are from 1.
pub(crate) struct Call<'a> {
    /// The name of the function; empty if it has none.
    pub(crate) function: &'a str,
    pub(crate) url: &'a str,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// Returns a message with its stack trace.
pub(crate) fn with_stack<'a>(message: &str, calls: impl Iterator<Item = Call<'a>>) -> String {
    let mut all = message.to_owned();
    for call in calls {
        let position = format!("{}:{}:{}", call.url, call.line, call.column);
        all += &match call.function {
            "" => format!("\n    at {position}"),
            name => format!("\n    at {name} ({position})"),
        };
    }
    all
}
