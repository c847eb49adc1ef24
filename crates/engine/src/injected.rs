//! The code that runs in pages, in a world apart from theirs. Built from `injected/` and committed.

use serde_json::Value;
use serde_json::value::RawValue;
use std::sync::OnceLock;

/// Defines `globalThis.__playhouseCore`: an object of functions, each of one JSON argument.
const CORE: &str = include_str!("../injected/dist/core.js");

/// The JSON that a function of the core answered with. What the answer begins with stands for each quote in it: quotes are escaped on
/// their way, by some browsers twice.
pub(crate) fn json_of(answer: String) -> String {
    let mut bytes = answer.into_bytes();
    let quote = bytes.first().copied().filter(u8::is_ascii);
    if let Some(quote) = quote {
        for byte in &mut bytes {
            if *byte == quote {
                *byte = b'"';
            }
        }
        bytes.remove(0);
    }
    // One ASCII character in the place of another leaves UTF-8 what it is.
    String::from_utf8(bytes).unwrap_or_default()
}

/// [`CORE`] as a string of JSON, written once: it goes to every document.
pub(crate) fn core() -> &'static RawValue {
    static ENCODED: OnceLock<Box<RawValue>> = OnceLock::new();
    ENCODED.get_or_init(|| serde_json::value::to_raw_value(CORE).unwrap_or_default())
}

/// The same as it is written, for whoever puts it into a script of their own.
pub(crate) fn core_script() -> &'static str {
    CORE
}

/// [`CORE`] as Firefox is quick with it: in a sandbox, to look a property of the page up takes longer than anything else.
const CORE_OF_FIREFOX: &str = include_str!("../injected/dist/core.firefox.js");

/// The same for a document of Firefox that may have it already; what it holds then stays. `who` is what it is told of itself, as JSON.
pub(crate) fn core_of_firefox(document: u64, who: &Value) -> Box<RawValue> {
    static ENCODED: OnceLock<String> = OnceLock::new();
    let core = ENCODED.get_or_init(|| {
        let once = format!("if (!globalThis.__playhouseCore) {{\n{CORE_OF_FIREFOX}\n}}\n");
        Value::from(once).to_string()
    });
    let rest = Value::from(format!(
        "globalThis.__playhouseDocument = {document};__playhouseCore.introduce({who})"
    ))
    .to_string();
    // Two texts of JSON as one.
    let both = format!(
        "{}{}",
        core.trim_end_matches('"'),
        rest.trim_start_matches('"')
    );
    RawValue::from_string(both).unwrap_or_default()
}

/// Defines `globalThis.__playhouseDatabases`: reads and writes the IndexedDB of the document's origin, as JSON.
pub(crate) const DATABASES: &str = include_str!("../injected/dist/databases.js");

/// Defines `globalThis.__playhouseReader`, which the core calls: finds the main article of a document, and returns it as Markdown.
pub(crate) const READER: &str = include_str!("../injected/dist/reader.js");

#[cfg(test)]
mod tests {
    use super::json_of;

    #[test]
    fn tilde_quotes_become_json_quotes() {
        let answers = ["~[~a~,{~é~:~\\~~}]", "\"[\"~\"]", "`null", "", "é"];
        let read = answers.map(|answer| json_of(answer.to_owned()));
        assert_eq!(
            read,
            ["[\"a\",{\"é\":\"\\\"\"}]", "[\"~\"]", "null", "", "é"]
        );
    }
}
