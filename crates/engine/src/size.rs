//! Whether a value is large, found out without going through all of it.

use serde::Serialize;
use std::io::{self, Write};

/// What has more bytes as JSON is large.
const LARGE: usize = 64 * 1024;

/// Whether the value is so large that going through it would hold up the thread that serves clients. Reads no more of it than that takes.
pub fn is_large<T: Serialize + ?Sized>(value: &T) -> bool {
    serde_json::to_writer(Room(LARGE), value).is_err()
}

/// Takes so many bytes and keeps none.
struct Room(usize);

impl Write for Room {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self
            .0
            .checked_sub(bytes.len())
            .ok_or(io::ErrorKind::StorageFull)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Serializer;
    use serde_json::json;
    use std::cell::Cell;

    #[test]
    fn what_has_much_text_or_many_values_is_large() {
        assert!(!is_large(
            &json!({ "text": "x".repeat(1_000), "list": [1, 2.5, null, true] })
        ));
        assert!(is_large(&json!({ "text": "x".repeat(LARGE) })));
        assert!(is_large(&json!({ "x".repeat(LARGE): 1 })));
        assert!(is_large(&json!([vec![0; LARGE]])));
        assert!(is_large(&vec![Some(()); LARGE]));
    }

    #[test]
    fn no_more_is_read_than_is_needed() {
        struct Counted<'a>(&'a Cell<usize>);
        impl Serialize for Counted<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.0.set(self.0.get() + 1);
                serializer.serialize_bool(true)
            }
        }
        let seen = Cell::new(0);
        let many: Vec<_> = (0..LARGE).map(|_| Counted(&seen)).collect();
        assert!(is_large(&many));
        assert!(seen.get() <= LARGE / "true,".len() + 1);
    }
}
