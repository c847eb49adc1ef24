//! The versions of the browsers that tests run on, and what only some versions do.

use std::path::Path;
use std::process::Output;
use std::sync::OnceLock;

use crate::engine::Engine;

impl Engine {
    /// Returns product and version of the browser, such as `Chromium 156.0.8078.108`.
    pub fn product(self) -> &'static str {
        static PRODUCTS: [OnceLock<String>; 3] = [const { OnceLock::new() }; 3];
        PRODUCTS[self as usize].get_or_init(|| {
            let found = self.find().and_then(|program| match self {
                // It prints none without a display.
                Self::Webkit => version_of_package("libwebkit2gtk-4.1-0"),
                _ => output_of(&program, &["--version"]),
            });
            found.unwrap_or_else(|| format!("{} of an unknown version", self.name()))
        })
    }
}

/// Prints the products of these engines, as far as they are installed.
#[expect(clippy::print_stderr, reason = "the results depend on the versions")]
pub(crate) fn print_products(engines: impl IntoIterator<Item = Engine>) {
    for engine in engines {
        if let Some(program) = engine.find() {
            let name = engine.name();
            eprintln!("{name}: {} ({})", engine.product(), program.display());
        }
    }
}

/// Returns entries of a list of known failures that do not hold, as failures of a nightly run. Another run only prints them, because other
/// versions of the browser may need them.
#[expect(clippy::print_stderr, reason = "notes of tests that pass")]
pub fn outdated_entries(engine: Engine, entries: Vec<String>) -> Vec<String> {
    if crate::harness::is_nightly() {
        return entries;
    }
    for entry in entries {
        eprintln!("note: not with {}: {entry}", engine.product());
    }
    Vec::new()
}

fn version_of_package(package: &str) -> Option<String> {
    let show = ["--show", "--showformat=WebKitGTK ${Version}", package];
    output_of(Path::new("dpkg-query"), &show)
}

/// Returns the first words of a program's output, up to the version.
fn output_of(program: &Path, arguments: &[&str]) -> Option<String> {
    #[expect(clippy::disallowed_methods, reason = "it ends at once")]
    let output = std::process::Command::new(program).args(arguments).output();
    let Output { status, stdout, .. } = output.ok()?;
    let text = String::from_utf8_lossy(&stdout);
    let mut words = Vec::new();
    for word in text.split_whitespace() {
        words.push(word);
        if word.starts_with(|first: char| first.is_ascii_digit()) {
            return status.success().then(|| words.join(" "));
        }
    }
    None
}
