use super::chain::{self, Flaw};
use super::*;
use proptest::prelude::*;
use std::fs;
use std::sync::OnceLock;

fn record(number: usize) -> Map<String, Value> {
    let record = json!({ "tool": format!("tool_{number}"), "arguments": { "text": "ä\n\"" } });
    record.as_object().cloned().expect("an object")
}

fn verdict(log: &[u8]) -> Verdict {
    verify(log, None).expect("memory can be read")
}

fn intact(log: &[u8]) -> Intact {
    match verdict(log) {
        Verdict::Intact(intact) => intact,
        flawed => panic!("{flawed:?}\n{}", String::from_utf8_lossy(log)),
    }
}

/// A log of seven records, of which the fifth reports an unfinished one.
fn log() -> &'static [u8] {
    static LOG: OnceLock<Vec<u8>> = OnceLock::new();
    LOG.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("audit.jsonl");
        let log = AuditLog::open(&path).expect("a log");
        for number in 1..=4 {
            log.append(record(number)).expect("written");
        }
        drop(log);
        let mut bytes = fs::read(&path).expect("a log");
        bytes.extend(b"{\"seq\":5,\"tool\":\"tool_5\",\"arg");
        fs::write(&path, bytes).expect("written");
        let log = AuditLog::open(&path).expect("a log");
        for number in 6..=7 {
            log.append(record(number)).expect("written");
        }
        fs::read(&path).expect("a log")
    })
}

#[test]
fn records_are_chained_over_restarts_and_unfinished_ones_are_recorded() {
    let Intact {
        records,
        unfinished,
        hash,
        ..
    } = intact(log());
    assert_eq!((records, unfinished), (7, vec![5]));
    let text = String::from_utf8_lossy(log());
    let lines: Vec<_> = text.lines().collect();
    let first: Value = serde_json::from_str(lines[0]).expect("JSON");
    assert_eq!(first["prev"], chain::GENESIS);
    let last: Value = serde_json::from_str(lines[7]).expect("JSON");
    assert_eq!(last["hash"], hash);
    let found = verify(log(), first["hash"].as_str()).expect("memory can be read");
    assert!(matches!(found, Verdict::Intact(found) if found.has_expected));
    // The hash can be verified with standard tools.
    let (body, _) = lines[0].rsplit_once(",\"hash\"").expect("a hash");
    let hash = hex(&Sha256::digest(format!("{body}}}")));
    assert_eq!(first["hash"], hash);
}

proptest! {
    #[test]
    fn a_byte_that_was_changed_is_found(at in 0..log().len(), byte: u8) {
        let mut changed = log().to_vec();
        prop_assume!(changed[at] != byte);
        changed[at] = byte;
        let line = log()[..at].iter().filter(|&&byte| byte == b'\n').count() as u64 + 1;
        match verdict(&changed) {
            // The record about the unfinished line no longer matches it.
            Verdict::Flawed { line: found, .. } => prop_assert!(found == line || (line, found) == (6, 5)),
            Verdict::Intact(_) => prop_assert!(false, "a change of line {line} was not found"),
        }
    }

    #[test]
    fn bytes_that_were_removed_or_added_are_found(at in 0..log().len(), count in 1usize..300, byte: u8) {
        let mut shorter = log().to_vec();
        shorter.drain(at..log().len().min(at + count));
        // Complete records that were removed at the end are not detected.
        let is_cut = log().starts_with(&shorter) && shorter.last().is_none_or(|&byte| byte == b'\n');
        prop_assert!(is_cut || !matches!(verdict(&shorter), Verdict::Intact(_)));
        let mut longer = log().to_vec();
        longer.insert(at, byte);
        prop_assert!(!matches!(verdict(&longer), Verdict::Intact(_)));
    }
}

#[test]
fn records_that_are_missing_doubled_or_moved_are_found() {
    let text = String::from_utf8_lossy(log());
    let lines: Vec<_> = text.lines().collect();
    let found = |lines: &[&str]| verdict((lines.join("\n") + "\n").as_bytes());
    let gap = |line, found, expected| Verdict::Flawed {
        line,
        flaw: Flaw::Gap { found, expected },
    };
    let without = |index: usize| [&lines[..index], &lines[index + 1..]].concat();
    assert_eq!(found(&without(0)), gap(1, 2, 1));
    assert_eq!(found(&without(2)), gap(3, 4, 3));
    assert_eq!(found(&without(6)), gap(7, 7, 6));
    let doubled = [&lines[..3], &lines[2..]].concat();
    assert_eq!(found(&doubled), gap(4, 3, 4));
    let mut moved = lines.clone();
    moved.swap(1, 2);
    assert_eq!(found(&moved), gap(2, 3, 2));
    // Without the unfinished line, its record has no subject; without the record, the line is unexplained.
    assert!(matches!(
        found(&without(4)),
        Verdict::Flawed {
            line: 5,
            flaw: Flaw::Broken
        }
    ));
    assert!(matches!(
        found(&without(5)),
        Verdict::Flawed { line: 5, .. }
    ));
    // Only a hash that was stored elsewhere detects a truncated end.
    assert_eq!(intact((lines[..4].join("\n") + "\n").as_bytes()).records, 4);
    let last: Value = serde_json::from_str(lines[7]).expect("JSON");
    let cut = lines[..7].join("\n") + "\n";
    let found = verify(cut.as_bytes(), last["hash"].as_str()).expect("memory can be read");
    assert!(matches!(found, Verdict::Intact(found) if !found.has_expected));
}

#[test]
fn a_record_of_another_log_does_not_fit() {
    let (mine, other) = (Link::default(), Link::default());
    let (first, after_mine) = mine.seal(&record(1));
    let (_, after_other) = other.seal(&record(2));
    let (fits, _) = after_mine.seal(&record(3));
    let (strange, _) = after_other.seal(&record(3));
    let log = |second: &str| format!("{first}\n{second}\n");
    assert_eq!(intact(log(&fits).as_bytes()).records, 2);
    assert_eq!(
        verdict(log(&strange).as_bytes()),
        Verdict::Flawed {
            line: 2,
            flaw: Flaw::Broken
        }
    );
}

#[test]
fn what_is_no_log_is_not_continued() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("file");
    for text in ["root:x:0:0", "root:x:0:0\n", "{\"seq\":1}\n", "\n"] {
        fs::write(&path, text).expect("written");
        assert!(
            matches!(AuditLog::open(&path), Err(OpenError::Flawed(_))),
            "{text:?}"
        );
        assert_eq!(fs::read_to_string(&path).expect("it"), text);
    }
    let mut changed = log().to_vec();
    let at = changed.len() - 100;
    changed[at] ^= 1;
    fs::write(&path, &changed).expect("written");
    assert!(matches!(AuditLog::open(&path), Err(OpenError::Flawed(_))));
    assert!(matches!(
        AuditLog::open(folder.path()),
        Err(OpenError::Unusable { .. })
    ));
}

#[test]
fn a_first_record_may_be_unfinished_and_so_may_the_record_of_that() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("audit.jsonl");
    fs::write(&path, "{\"se").expect("written");
    drop(AuditLog::open(&path).expect("a log"));
    let mut bytes = fs::read(&path).expect("it");
    bytes.truncate(bytes.len() - 20);
    fs::write(&path, &bytes).expect("written");
    let log = AuditLog::open(&path).expect("a log");
    log.append(record(2)).expect("written");
    let Intact {
        records,
        unfinished,
        ..
    } = intact(&fs::read(&path).expect("it"));
    assert_eq!((records, unfinished), (2, vec![1]));
}

#[cfg(unix)]
#[test]
fn a_log_has_one_writer_and_one_reader() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("logs/audit.jsonl");
    let first = AuditLog::open(&path).expect("a log");
    let mode = || fs::metadata(&path).expect("it").permissions().mode() & 0o777;
    assert_eq!(mode(), 0o600);
    let second = AuditLog::open(&path);
    assert!(matches!(second, Err(OpenError::InUse(_))));
    drop(first);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("ours");
    drop(AuditLog::open(&path).expect("a log"));
    assert_eq!(mode(), 0o600);
}

#[tokio::test]
async fn what_cannot_be_written_is_written_before_anything_else() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("audit.jsonl");
    let log = Arc::new(AuditLog::open(&path).expect("a log"));
    log.append(record(1)).expect("written");
    let closed = File::open(&path).expect("a log");
    let open = std::mem::replace(&mut log.state().file, closed);
    assert!(log.append(record(2)).is_err());
    assert!(log.ready().await.is_err());
    assert!(log.append(record(3)).is_err());
    log.state().file = open;
    assert!(log.ready().await.is_ok());
    log.append(record(4)).expect("written");
    let bytes = fs::read(&path).expect("it");
    assert_eq!(intact(&bytes).records, 4);
    for (number, line) in String::from_utf8_lossy(&bytes).lines().enumerate() {
        let line: Value = serde_json::from_str(line).expect("JSON");
        assert_eq!(line["tool"], format!("tool_{}", number + 1));
    }
}
