//! The injected scripts, which run in isolated worlds. They are built from `injected/` and committed.

use serde_json::Value;
use serde_json::value::RawValue;
use std::io::Read as _;
use std::sync::OnceLock;
use std::time::Duration;
use uuid::Uuid;

/// Defines `globalThis.__playhouseCore`: an object of functions, each of one JSON argument.
const CORE: &str = include_str!("../injected/dist/core.js");

/// Returns the JSON result of a core function. Its first character replaces each quote in it, because quotes are escaped during transport,
/// by some browsers twice.
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
    // Replacing an ASCII character by another preserves valid UTF-8.
    String::from_utf8(bytes).unwrap_or_default()
}

/// Returns [`CORE`] as a JSON string, serialized once, because every document receives it.
pub(crate) fn core() -> &'static RawValue {
    static ENCODED: OnceLock<Box<RawValue>> = OnceLock::new();
    ENCODED.get_or_init(|| serde_json::value::to_raw_value(CORE).unwrap_or_default())
}

/// Returns the core for embedding in another script.
pub(crate) fn core_script() -> &'static str {
    CORE
}

/// [`CORE`] optimized for Firefox: in a sandbox, each access to a property of the page is expensive.
const CORE_OF_FIREFOX: &str = include_str!("../injected/dist/core.firefox.js");

/// Returns the core for a document of Firefox that may have it already; its state is then kept. `who` is its identity, as JSON.
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
    // Concatenates two JSON strings.
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

/// Adds the functions of highlights, annotations and the recorder to the core. Has no effect in a document that has them.
pub(crate) const DEVTOOLS: &str = include_str!("../injected/dist/devtools.js");
/// Adds the function `visibleBoxes` to `__playhouseCore`: the boxes of elements on an annotated screenshot.
pub(crate) const VISIBLE: &str = include_str!("../injected/dist/visible.js");

/// Adds the function `audit` to `__playhouseCore`: the check of a page and of its links, and with [`axe_script`] the accessibility audit.
pub(crate) const AUDIT: &str = include_str!("../injected/dist/audit.js");

/// The file `axe.min.js` of the npm package axe-core, compressed.
const AXE: &[u8] = include_bytes!("../injected/dist/axe.js.gz");

/// Returns a script that begins an audit with axe-core, after [`AUDIT`]. A global variable of the page with the name `axe` stays as it is.
pub(crate) fn axe_script() -> std::io::Result<String> {
    let mut script = format!("{AUDIT}\n(() => {{\n{AXE_BEGIN}\n");
    flate2::read::GzDecoder::new(AXE).read_to_string(&mut script)?;
    script.push_str("\n;");
    script.push_str(AXE_END);
    script.push_str("\n})();");
    Ok(script)
}

/// Makes axe-core a CommonJS module.
const AXE_BEGIN: &str = "const before = Object.getOwnPropertyDescriptor(window, 'axe');
const module = { exports: {} }, define = undefined;";
const AXE_END: &str = "if (before) Object.defineProperty(window, 'axe', before);
else delete window.axe;
__playhouseCore.audit({ step: 'load', axe: module.exports });";

/// Defines `globalThis.__playhouseOverlay`: draws the actions and the chapters of a video over a document.
pub(crate) const OVERLAY: &str = include_str!("../injected/dist/overlay.js");

/// A bundle that defines a function, which the core calls with functions of its own as second argument.
#[derive(Debug)]
pub(crate) struct Bundle {
    /// The name of the global function that the script defines.
    pub(crate) name: &'static str,
    /// The script.
    pub(crate) script: &'static str,
}

/// Reads the DOM of a document for the trace viewer of Playwright.
pub(crate) const DOM_SNAPSHOT: Bundle = Bundle {
    name: "__playhouseDomSnapshot",
    script: include_str!("../injected/dist/dom_snapshot.js"),
};

/// Observes the Core Web Vitals of its document. A second evaluation has no effect.
pub(crate) const VITALS: Bundle = Bundle {
    name: "__playhouseVitals",
    script: include_str!("../injected/dist/vitals.js"),
};

/// Loads a resource with a size limit and a time limit.
pub(crate) const RESOURCE: Bundle = Bundle {
    name: "__playhouseResource",
    script: include_str!("../injected/dist/resource.js"),
};

/// Records in the page's world what an action causes.
const TIMERS: &str = include_str!("../injected/dist/timers.js");

/// Returns the script that records which timers of at most `limit` an action causes, for each new document before its own scripts. Its first
/// evaluation in a window counts.
pub(crate) fn timers(limit: Duration) -> String {
    TIMERS
        .replace("$EVENT$", causes_event())
        .replace("$LIMIT$", &limit.as_millis().to_string())
}

/// Returns the type of the events between that script and the core. Pages cannot know it.
pub(crate) fn causes_event() -> &'static str {
    static EVENT: OnceLock<String> = OnceLock::new();
    EVENT.get_or_init(|| Uuid::new_v4().to_string())
}

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
