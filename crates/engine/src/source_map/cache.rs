//! The source maps of a page, with limits.

use super::MappedFile;
use std::collections::VecDeque;
use std::sync::Arc;

/// The largest number of scripts that are kept; the oldest are removed first.
const MAX_SCRIPTS: usize = 64;
/// The largest size of the kept scripts and maps, in bytes.
const MAX_SIZE: usize = 64 * 1024 * 1024;

/// The mapped scripts of a page by the numbers of their requests.
#[derive(Debug, Default)]
pub(crate) struct SourceMaps(VecDeque<(u64, Option<Arc<MappedFile>>)>);

impl SourceMaps {
    /// Returns what is known of a script: `Some(None)` if it has no map or its map could not be loaded.
    pub(crate) fn get(&self, request: u64) -> Option<Option<Arc<MappedFile>>> {
        let (_, script) = self.0.iter().find(|(number, _)| *number == request)?;
        Some(script.clone())
    }

    /// Records the script of a request.
    pub(crate) fn set(&mut self, request: u64, script: Option<Arc<MappedFile>>) {
        self.0.retain(|(number, _)| *number != request);
        self.0.push_back((request, script));
        while self.0.len() > MAX_SCRIPTS || (self.0.len() > 1 && self.size() > MAX_SIZE) {
            self.0.pop_front();
        }
    }

    fn size(&self) -> usize {
        let scripts = self.0.iter().filter_map(|(_, script)| script.as_ref());
        scripts.map(|script| script.size()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source_map::SourceMap;

    #[test]
    fn the_number_and_the_size_of_scripts_are_limited() {
        let mut maps = SourceMaps::default();
        for request in 0..100 {
            maps.set(request, None);
        }
        assert_eq!(maps.0.len(), MAX_SCRIPTS);
        assert!(maps.get(0).is_none() && maps.get(99).is_some());
        for request in 100..103 {
            let text = " ".repeat(MAX_SIZE / 3 + 1);
            let script = MappedFile::new(SourceMap::default(), text);
            maps.set(request, Some(Arc::new(script)));
        }
        let kept: Vec<_> = maps.0.iter().map(|(request, _)| *request).collect();
        assert_eq!(kept, [101, 102]);
    }
}
