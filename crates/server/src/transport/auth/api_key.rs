//! API keys from an option, from a file, or generated. Only their digests are kept.

use super::{AuthError, bearer};
use crate::access::principal::{Folders, Permission, Principal};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{HeaderMap, StatusCode};
use ring::rand::{SecureRandom as _, SystemRandom};
use sha2::{Digest as _, Sha256};
use std::path::{Path, PathBuf};
use subtle::{ConditionallySelectable as _, ConstantTimeEq as _};

/// The header for clients that use `Authorization` for another purpose.
pub(super) const OWN_HEADER: &str = "x-api-key";
const CHALLENGE: &str = "Bearer realm=\"playhouse\"";
const HELP: &str =
    "send the API key of this server as \"Authorization: Bearer KEY\" or \"X-Api-Key: KEY\"";

/// The valid keys.
pub(super) struct Keys {
    entries: Vec<Entry>,
}

struct Entry {
    digest: [u8; 32],
    principal: Principal,
}

/// Why the keys cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KeysError {
    /// The file cannot be read.
    #[error("cannot read the API keys of {}: {error}", path.display())]
    Unreadable {
        path: PathBuf,
        error: std::io::Error,
    },
    /// A line is not a valid key. The line is not shown, because it may contain a key.
    #[error("{}:{line}: {reason}", path.display())]
    Line {
        path: PathBuf,
        line: usize,
        reason: String,
    },
    /// The system returns no random numbers.
    #[error("cannot make an API key: the system gives no random numbers")]
    NoRandomness,
}

impl Keys {
    /// Loads the key of the option and those of the file; `None` if there are none.
    pub(super) fn new(key: Option<&str>, file: Option<&Path>) -> Result<Option<Self>, KeysError> {
        let single = key.map(|key| Entry {
            digest: Sha256::digest(key).into(),
            principal: Principal::named("key"),
        });
        let mut entries: Vec<_> = single.into_iter().collect();
        if let Some(path) = file {
            let text = std::fs::read_to_string(path).map_err(|error| KeysError::Unreadable {
                path: path.to_owned(),
                error,
            })?;
            let folder = path.parent().unwrap_or(path);
            let named = parse(&text, folder).map_err(|(line, reason)| KeysError::Line {
                path: path.to_owned(),
                line,
                reason,
            })?;
            entries.extend(named);
            exclude_others(&mut entries);
        }
        Ok((key.is_some() || file.is_some()).then_some(Self { entries }))
    }

    /// Generates a random key and returns its text.
    pub(super) fn generate() -> Result<(Self, String), KeysError> {
        let mut bytes = [0; 32];
        SystemRandom::new()
            .fill(&mut bytes)
            .map_err(|_| KeysError::NoRandomness)?;
        let key = URL_SAFE_NO_PAD.encode(bytes);
        let entries = vec![Entry {
            digest: Sha256::digest(&key).into(),
            principal: Principal::named("key"),
        }];
        Ok((Self { entries }, key))
    }

    pub(super) fn identify(&self, headers: &HeaderMap) -> Result<Principal, AuthError> {
        let own = headers
            .get(OWN_HEADER)
            .map(|key| key.to_str().unwrap_or_default().trim());
        let mut given = [bearer(headers), own]
            .into_iter()
            .flatten()
            .filter(|key| !key.is_empty());
        let Some(first) = given.next() else {
            return Err(AuthError {
                status: StatusCode::UNAUTHORIZED,
                message: format!("Authentication is required: {HELP}\n"),
                challenge: Some(CHALLENGE.to_owned()),
            });
        };
        // Some clients also send a token of another server.
        let found = self.find(first).or_else(|| self.find(given.next()?));
        found.cloned().ok_or_else(|| AuthError {
            status: StatusCode::FORBIDDEN,
            message: "This API key is none of this server's\n".to_owned(),
            challenge: None,
        })
    }

    /// Returns the principal of a key, in a time that does not depend on the key.
    fn find(&self, key: &str) -> Option<&Principal> {
        let digest: [u8; 32] = Sha256::digest(key).into();
        let mut found = u32::MAX;
        for (index, entry) in (0..).zip(&self.entries) {
            let same = entry.digest.ct_eq(&digest);
            found = u32::conditional_select(&found, &index, same);
        }
        let entry = self.entries.get(usize::try_from(found).ok()?)?;
        Some(&entry.principal)
    }
}

/// Adds the workspaces of the other principals to each principal.
fn exclude_others(entries: &mut [Entry]) {
    let all: Vec<_> = entries
        .iter()
        .filter_map(|entry| entry.principal.folders().workspace.clone())
        .collect();
    for entry in entries {
        let folders = entry.principal.folders().clone();
        let others = all
            .iter()
            .filter(|one| Some(*one) != folders.workspace.as_ref());
        entry.principal = entry.principal.clone().with_folders(Folders {
            others: others.cloned().collect(),
            ..folders
        });
    }
}

/// Parses one key per line: a name, the key or `sha256:` and its digest, and in any order its scopes (default: all), `workspace=FOLDER`,
/// and `readable=FOLDER` any number of times. A line that begins with `#` is a comment. A relative workspace is relative to `folder`.
fn parse(text: &str, folder: &Path) -> Result<Vec<Entry>, (usize, String)> {
    let mut entries: Vec<Entry> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let entry = entry(line, folder).map_err(|reason| (number, reason))?;
        let wrong = |reason: &str| Err((number, reason.to_owned()));
        if entries
            .iter()
            .any(|known| known.principal == entry.principal)
        {
            return wrong("there are two keys of that name");
        }
        if entries.iter().any(|known| known.digest == entry.digest) {
            return wrong("this key has a name already");
        }
        let workspace = &entry.principal.folders().workspace;
        let is_same = |known: &Entry| known.principal.folders().workspace == *workspace;
        if workspace.is_some() && entries.iter().any(is_same) {
            return wrong(
                "another key has this workspace; files for several are shared with readable=FOLDER",
            );
        }
        entries.push(entry);
    }
    match entries.is_empty() {
        true => Err((1, "there are no keys".to_owned())),
        false => Ok(entries),
    }
}

/// Parses the key of one line, or returns the error.
fn entry(line: &str, folder: &Path) -> Result<Entry, String> {
    let mut words = line.split_whitespace();
    let (Some(name), Some(key)) = (words.next(), words.next()) else {
        return Err("a line has a name, a key, and perhaps scopes".to_owned());
    };
    if !name
        .chars()
        .all(|c| c.is_alphanumeric() || "-_.@".contains(c))
    {
        return Err("names are letters, digits, and - _ . @".to_owned());
    }
    if !key.chars().all(|c| c.is_ascii_graphic()) {
        return Err("a key has visible ASCII characters only, as headers have".to_owned());
    }
    let digest = match key.strip_prefix("sha256:") {
        Some(hex) => {
            digest(hex).ok_or_else(|| "sha256: is followed by 64 hexadecimal digits".to_owned())?
        }
        None => Sha256::digest(key).into(),
    };
    let mut folders = Folders::default();
    let mut scopes = Vec::new();
    for word in words {
        match word.split_once('=') {
            Some((_, "")) => return Err(format!("{word} names no folder")),
            Some(("workspace", path)) if folders.workspace.is_none() => {
                // Without `.`, so that two spellings of one folder are equal.
                folders.workspace = Some(folder.join(path).components().collect());
            }
            Some(("workspace", _)) => return Err("a key has one workspace".to_owned()),
            Some(("readable", path)) => folders.readable.push(PathBuf::from(path)),
            _ if Permission::of_scopes([word]).is_some() => scopes.push(word),
            _ => {
                let known = Permission::ALL.map(Permission::scope).join(", ");
                return Err(format!("unknown scope {word:?}; there are: {known}"));
            }
        }
    }
    let permission = Permission::of_scopes(scopes).unwrap_or(Permission::Admin);
    let principal = Principal::named(&format!("key:{name}"));
    Ok(Entry {
        digest,
        principal: principal.with(permission).with_folders(folders),
    })
}

fn digest(hex: &str) -> Option<[u8; 32]> {
    let mut digest = [0; 32];
    if hex.len() != 64 || !hex.is_ascii() {
        return None;
    }
    for (byte, at) in digest.iter_mut().zip((0..64).step_by(2)) {
        *byte = u8::from_str_radix(&hex[at..at + 2], 16).ok()?;
    }
    Some(digest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;
    use http::header::AUTHORIZATION;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let pair = |(name, value): &(&'static str, &str)| {
            let value = HeaderValue::from_str(value).expect("a value");
            (http::HeaderName::from_static(name), value)
        };
        pairs.iter().map(pair).collect()
    }

    fn status_of(keys: &Keys, pairs: &[(&'static str, &str)]) -> String {
        match keys.identify(&headers(pairs)) {
            Ok(principal) => principal.to_string(),
            Err(denied) => denied.status.as_str().to_owned(),
        }
    }

    #[test]
    fn a_key_comes_in_one_of_two_headers() {
        let keys = Keys::new(Some("mysecretkey"), None)
            .expect("keys")
            .expect("one");
        let authorization = AUTHORIZATION.as_str();
        assert_eq!(authorization, "authorization");
        for (pairs, expected) in [
            (&[][..], "401"),
            (&[("authorization", "Bearer mysecretkey")], "key"),
            (&[("authorization", "bearer  mysecretkey ")], "key"),
            (&[("x-api-key", "mysecretkey")], "key"),
            (&[("authorization", "Bearer mysecretke")], "403"),
            (&[("authorization", "Bearer mysecretkeyy")], "403"),
            (&[("x-api-key", "MYSECRETKEY")], "403"),
            (&[("authorization", "Basic bXlzZWNyZXRrZXk=")], "401"),
            (&[("authorization", "mysecretkey")], "401"),
            (&[("authorization", "Bearer")], "401"),
            (&[("authorization", "Bearer "), ("x-api-key", "")], "401"),
            (
                &[
                    ("authorization", "Bearer other"),
                    ("x-api-key", "mysecretkey"),
                ],
                "key",
            ),
            (&[("authorization", "Bearer a"), ("x-api-key", "b")], "403"),
        ] {
            assert_eq!(status_of(&keys, pairs), expected, "{pairs:?}");
        }
    }

    #[test]
    fn a_refusal_contains_a_suggestion_and_no_credential() {
        let keys = Keys::new(Some("mysecretkey"), None)
            .expect("keys")
            .expect("one");
        let missing = keys
            .identify(&headers(&[]))
            .expect_err("nothing")
            .response();
        assert!(missing.body().contains("Authentication is required"));
        assert_eq!(missing.headers()["www-authenticate"], CHALLENGE);
        let wrong = keys
            .identify(&headers(&[("x-api-key", "guess")]))
            .expect_err("wrong");
        assert!(!format!("{wrong:?}{:?}", wrong.response()).contains("guess"));
    }

    #[test]
    fn a_generated_key_is_long_and_unique() {
        let (keys, key) = Keys::generate().expect("a key");
        let (_, other) = Keys::generate().expect("a key");
        assert_ne!(key, other);
        assert_eq!(
            URL_SAFE_NO_PAD.decode(&key).map(|bytes| bytes.len()),
            Ok(32)
        );
        assert_eq!(status_of(&keys, &[("x-api-key", &key)]), "key");
        assert_eq!(status_of(&keys, &[("x-api-key", &other)]), "403");
    }

    #[test]
    fn a_key_file_names_keys_and_sets_scopes() {
        let digest: String = Sha256::digest("bobs")
            .iter()
            .map(|b| format!("{b:02x}"))
            .collect();
        let text = format!(
            "# ours\nada adas\n\n bob sha256:{digest} browser:read\neve eves browser:read browser:act\n"
        );
        let keys = Keys {
            entries: parse(&text, Path::new("/etc")).expect("keys"),
        };
        let of = |key| {
            let principal = keys.find(key).expect(key);
            (principal.to_string(), principal.permission())
        };
        assert_eq!(of("adas"), ("key:ada".to_owned(), Permission::Admin));
        assert_eq!(of("bobs"), ("key:bob".to_owned(), Permission::Read));
        assert_eq!(of("eves"), ("key:eve".to_owned(), Permission::Act));
        assert!(keys.find(&digest).is_none() && keys.find("").is_none());
    }

    #[test]
    fn a_key_file_sets_folders_and_excludes_those_of_other_keys() {
        let text = "ada adas browser:act workspace=ada readable=/srv/a readable=fixtures\nbob bobs workspace=/srv/bob\neve eves\n";
        let mut entries = parse(text, Path::new("/etc")).expect("keys");
        exclude_others(&mut entries);
        let folders: Vec<_> = entries
            .iter()
            .map(|entry| entry.principal.folders().clone())
            .collect();
        let paths = |paths: &[&str]| paths.iter().map(PathBuf::from).collect::<Vec<_>>();
        assert_eq!(
            folders,
            [
                Folders {
                    workspace: Some("/etc/ada".into()),
                    readable: paths(&["/srv/a", "fixtures"]),
                    others: paths(&["/srv/bob"]),
                },
                Folders {
                    workspace: Some("/srv/bob".into()),
                    readable: Vec::new(),
                    others: paths(&["/etc/ada"]),
                },
                Folders {
                    workspace: None,
                    readable: Vec::new(),
                    others: paths(&["/etc/ada", "/srv/bob"]),
                },
            ]
        );
        assert_eq!(entries[0].principal.permission(), Permission::Act);
    }

    #[test]
    fn an_error_in_the_key_file_has_its_line_and_no_key() {
        for (text, expected) in [
            ("", (1, "there are no keys")),
            (
                "a b\nsecret",
                (2, "a line has a name, a key, and perhaps scopes"),
            ),
            ("a/b secret", (1, "names are letters, digits, and - _ . @")),
            ("a secret\na other", (2, "there are two keys of that name")),
            ("a secret\nb secret", (2, "this key has a name already")),
            (
                "a sha256:12",
                (1, "sha256: is followed by 64 hexadecimal digits"),
            ),
            (
                "a secret read",
                (
                    1,
                    "unknown scope \"read\"; there are: browser:read, browser:act, browser:admin",
                ),
            ),
            ("a secret workspace=", (1, "workspace= names no folder")),
            (
                "a secret workspace=/a workspace=/b",
                (1, "a key has one workspace"),
            ),
            (
                "a secret workspace=a\nb other workspace=/etc/a",
                (
                    2,
                    "another key has this workspace; files for several are shared with readable=FOLDER",
                ),
            ),
        ] {
            let wrong = parse(text, Path::new("/etc")).err().expect(text);
            assert_eq!((wrong.0, &*wrong.1), expected);
        }
    }
}
