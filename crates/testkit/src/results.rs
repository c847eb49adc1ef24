//! Results of runs on one browser each, from which a document is written when all browsers have theirs.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::engine::Engine;

/// Reads the results of a browser; none if there was no run.
pub(crate) fn read<R: DeserializeOwned>(of: &str, engine: Engine) -> BTreeMap<String, R> {
    let text = fs::read_to_string(path(of, engine)).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

/// Stores the results of a browser.
pub(crate) fn save<R: Serialize>(of: &str, engine: Engine, results: &BTreeMap<String, R>) {
    let path = path(of, engine);
    // The document is written when all browsers have results.
    let _ = path.parent().map(fs::create_dir_all);
    let _ = fs::write(
        path,
        serde_json::to_string_pretty(results).unwrap_or_default(),
    );
}

fn path(of: &str, engine: Engine) -> PathBuf {
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target");
    target.join(format!("{of}-results/{}.json", engine.name()))
}
