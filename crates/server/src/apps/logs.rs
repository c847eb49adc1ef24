//! The logs of a server: files that grow, are rotated, and are read in parts.

use std::fs::{File, Metadata};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

/// A position in a log, which stays valid when the file is renamed and a new one is created.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Position {
    file: u64,
    /// The offset, in bytes.
    offset: u64,
}

impl Position {
    /// Returns whether the position is the start of a file.
    pub(crate) fn is_start(self) -> bool {
        self.offset == 0
    }

    /// Returns the position so many bytes earlier in the same file, but not before `first` in that file.
    pub(crate) fn back(self, bytes: u64, first: Self) -> Self {
        let begin = if first.file == self.file {
            first.offset
        } else {
            0
        };
        Self {
            offset: self.offset.saturating_sub(bytes).max(begin),
            ..self
        }
    }
}

/// A part of a log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Excerpt {
    /// Text without colours and other escape sequences. Each line ends with a line feed, except possibly the last.
    pub(crate) text: String,
    /// The size of the omitted part before the text, in bytes.
    pub(crate) left_out: u64,
}

/// Returns the end of a log; for a missing file, its beginning.
pub(crate) fn end(path: &Path) -> Position {
    path.metadata().map_or_else(
        |_| Position::default(),
        |facts| Position {
            file: number(&facts),
            offset: facts.len(),
        },
    )
}

/// Returns the part after the position, at most its last `most` bytes. A log that was rotated or truncated is read from the start of the
/// new content.
pub(crate) fn since(path: &Path, position: Position, most: u64) -> io::Result<Excerpt> {
    let mut file = match opened(path) {
        // The file may be created later.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Excerpt::default()),
        file => file?,
    };
    let facts = file.metadata()?;
    if number(&facts) == position.file && facts.len() >= position.offset {
        return tail(&mut file, position.offset, most);
    }
    let newest = tail(&mut file, 0, most)?;
    let room = most.saturating_sub(newest.text.len() as u64);
    let rest = rotated(path, position)
        .and_then(|mut old| tail(&mut old, position.offset, room).ok())
        .unwrap_or_default();
    Ok(Excerpt {
        left_out: newest.left_out + rest.left_out,
        text: rest.text + &newest.text,
    })
}

/// Returns the part between two positions, at most its last `most` bytes. For a log that was rotated between them, everything after the
/// first position.
pub(crate) fn between(path: &Path, from: Position, to: Position, most: u64) -> io::Result<Excerpt> {
    if from.file != to.file {
        return since(path, from, most);
    }
    let newest = opened(path)?;
    let is_newest = number(&newest.metadata()?) == to.file;
    let file = is_newest.then_some(newest).or_else(|| rotated(path, to));
    let mut file = file.ok_or(io::ErrorKind::NotFound)?;
    part(&mut file, from.offset, to.offset, most)
}

/// Opens the file that had this name when the position was taken.
fn rotated(path: &Path, position: Position) -> Option<File> {
    let mut name = path.as_os_str().to_owned();
    name.push(".1");
    let file = opened(Path::new(&name)).ok()?;
    let facts = file.metadata().ok()?;
    (number(&facts) == position.file).then_some(file)
}

/// Returns the whole log, at most its last `most` bytes.
pub(crate) fn last(path: &Path, most: u64) -> io::Result<Excerpt> {
    tail(&mut opened(path)?, 0, most)
}

/// Returns at most `most` bytes of a log from `offset`, in whole lines unless they are longer than that, and the offset of the next page,
/// unless this is the end. `…` marks a line of which a part is on another page.
pub(crate) fn page(path: &Path, offset: u64, most: u64) -> io::Result<(Excerpt, Option<u64>)> {
    let mut file = opened(path)?;
    let length = file.metadata()?.len();
    let before = offset.saturating_sub(1);
    file.seek(SeekFrom::Start(before))?;
    let mut bytes = Vec::new();
    file.take(most + offset - before).read_to_end(&mut bytes)?;
    let begins_inside = offset > 0 && bytes.first().is_some_and(|byte| *byte != b'\n');
    bytes.drain(..bytes.len().min(usize::from(offset > 0)));
    let mut ends_inside = false;
    if offset + (bytes.len() as u64) < length {
        match bytes.iter().rposition(|byte| *byte == b'\n') {
            Some(at) => bytes.truncate(at + 1),
            None => ends_inside = true,
        }
    }
    let next = offset + bytes.len() as u64;
    let cut = |is_cut| if is_cut { "…" } else { "" };
    let excerpt = Excerpt {
        text: format!(
            "{}{}{}",
            cut(begins_inside && !bytes.is_empty()),
            readable(&bytes),
            cut(ends_inside)
        ),
        left_out: offset,
    };
    Ok((
        excerpt,
        (next < length && !bytes.is_empty()).then_some(next),
    ))
}

/// Reads from `offset` to the end, at most the last `most` bytes, then in whole lines.
fn tail(file: &mut File, offset: u64, most: u64) -> io::Result<Excerpt> {
    let length = file.metadata()?.len();
    part(file, offset, length, most)
}

/// Reads `length` bytes from `offset`, at most the last `most` bytes of them.
fn part(file: &mut File, offset: u64, length: u64, most: u64) -> io::Result<Excerpt> {
    let from = offset.max(length.saturating_sub(most));
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    // A process may continue to write.
    file.take(length.saturating_sub(from))
        .read_to_end(&mut bytes)?;
    let mut begin = 0;
    let mut cut = "";
    if from > offset {
        match bytes.iter().position(|byte| *byte == b'\n') {
            Some(at) => begin = at + 1,
            None => cut = "…",
        }
    }
    Ok(Excerpt {
        text: format!("{cut}{}", readable(&bytes[begin..])),
        left_out: from - offset + begin as u64,
    })
}

/// Opens a regular file only: reading from a pipe takes data from its other readers, and blocks.
fn opened(path: &Path) -> io::Result<File> {
    match path.metadata()?.is_file() {
        true => File::open(path),
        false => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "It is not a file",
        )),
    }
}

/// Identifies a file independently of its name.
#[cfg(unix)]
fn number(facts: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(facts)
}

#[cfg(not(unix))]
fn number(_: &Metadata) -> u64 {
    0
}

/// Replaces bytes that are not text.
const REPLACEMENT: char = char::REPLACEMENT_CHARACTER;

/// Returns bytes as text without escape sequences (ECMA-48) and carriage returns.
pub(crate) fn readable(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut plain = String::with_capacity(text.len());
    // Replacements must not become longer than the bytes, and a hole in a file becomes short.
    let mut push = |char: char| match char {
        REPLACEMENT if plain.ends_with(REPLACEMENT) => {}
        char if char.is_control() && !matches!(char, '\n' | '\t') => {
            if !plain.ends_with(' ') {
                plain.push(' ');
            }
        }
        char => plain.push(char),
    };
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\u{1b}' => match chars.next() {
                // A control sequence ends with a final byte.
                Some('[') => {
                    while chars
                        .next()
                        .is_some_and(|char| !('@'..='~').contains(&char))
                    {}
                }
                // An operating system command ends with a bell or a string terminator.
                Some(']') => {
                    while let Some(char) = chars.next() {
                        match char {
                            '\u{7}' => break,
                            '\u{1b}' => {
                                chars.next();
                                break;
                            }
                            _ => {}
                        }
                    }
                }
                _ => {}
            },
            '\r' if chars.peek() == Some(&'\n') => {}
            char => push(char),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, OpenOptions};
    use std::io::Write as _;

    fn append(path: &Path, text: &str) {
        let file = OpenOptions::new().create(true).append(true).open(path);
        file.unwrap().write_all(text.as_bytes()).unwrap();
    }

    #[test]
    fn new_text_is_read_once_across_a_rotation() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("app.log");
        let before = end(&path);
        append(&path, "one\n");
        assert_eq!(since(&path, before, 100).unwrap().text, "one\n");
        let position = end(&path);
        append(&path, "two\n");
        fs::rename(&path, folder.path().join("app.log.1")).unwrap();
        append(&path, "three\n");
        assert_eq!(since(&path, position, 100).unwrap().text, "two\nthree\n");
        // Truncated, and written again.
        let position = end(&path);
        fs::write(&path, "4\n").unwrap();
        assert_eq!(since(&path, position, 100).unwrap().text, "4\n");
    }

    #[test]
    fn text_between_two_positions_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("app.log");
        append(&path, "one\n");
        let from = end(&path);
        append(&path, "two\n");
        let to = end(&path);
        append(&path, "three\n");
        assert_eq!(between(&path, from, to, 100).unwrap().text, "two\n");
        fs::rename(&path, folder.path().join("app.log.1")).unwrap();
        append(&path, "four\n");
        assert_eq!(between(&path, from, to, 100).unwrap().text, "two\n");
    }

    #[test]
    fn a_long_log_is_truncated_at_the_start() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("app.log");
        append(&path, "first\nsecond\nthird\n");
        let excerpt = last(&path, 9).unwrap();
        assert_eq!((&*excerpt.text, excerpt.left_out), ("third\n", 13));
        let (excerpt, next) = page(&path, 0, 14).unwrap();
        assert_eq!((&*excerpt.text, next), ("first\nsecond\n", Some(13)));
        let (excerpt, next) = page(&path, 13, 14).unwrap();
        assert_eq!((&*excerpt.text, next), ("third\n", None));
    }

    #[test]
    fn a_line_that_is_cut_is_marked() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("app.log");
        append(&path, "one long line\n2\n");
        let text = |offset, most| page(&path, offset, most).unwrap().0.text;
        assert_eq!(text(0, 8), "one long…");
        assert_eq!(text(8, 8), "… line\n2\n");
        assert_eq!(text(4, 4), "…long…");
        assert_eq!(text(14, 8), "2\n");
        assert_eq!(text(16, 8), "");
        assert_eq!(last(&path, 1).unwrap().text, "");
        append(&path, "another line");
        assert_eq!(last(&path, 4).unwrap().text, "…line");
    }

    #[test]
    fn binary_data_is_shortened() {
        assert_eq!(readable(b"a\xff\xfe\xfdb\xff\n"), "a\u{fffd}b\u{fffd}\n");
        // The content of a file that was truncated while a process continues to write at its old offset.
        assert_eq!(readable(b"\0\0\0\0ready\n"), " ready\n");
    }

    #[cfg(unix)]
    #[test]
    fn only_regular_files_are_read() {
        // Opening a pipe would block until a process writes to it.
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        let made = rustix::fs::mknodat(
            rustix::fs::CWD,
            &path,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RWXU,
            0,
        );
        made.unwrap();
        assert!(last(&path, 10).is_err() && page(&path, 0, 10).is_err());
        assert!(since(&path, Position::default(), 10).is_err());
    }

    #[test]
    fn escape_sequences_are_removed() {
        let bytes =
            b"\x1b[32m\xe2\x9e\x9c\x1b[39m  Local: \x1b]8;;http://a\x07link\x1b]8;;\x1b\\ \xff\r\n";
        assert_eq!(readable(bytes), "\u{279c}  Local: link \u{fffd}\n");
    }
}
