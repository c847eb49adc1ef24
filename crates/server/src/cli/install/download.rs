//! Chrome for Testing: selecting, downloading and unpacking a build.

use std::{
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use serde::Deserialize;
use std::collections::HashMap;

use crate::cli::terminal::ProgressLine;

/// Why a download failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum DownloadError {
    #[error("cannot download {url}: {error}")]
    Network {
        url: String,
        error: Box<ureq::Error>,
    },
    #[error("the download of {url} broke off: {received} of {expected} bytes")]
    BrokenOff {
        url: String,
        received: u64,
        expected: u64,
    },
    #[error("the index of builds cannot be read: {0}")]
    Index(serde_json::Error),
    #[error("the index has no build of {product} for {platform}")]
    NoBuild { product: String, platform: String },
    #[error("the downloaded archive is damaged: {0}")]
    Damaged(#[from] zip::result::ZipError),
    #[error("cannot write to {}: {error}", path.display())]
    Disk { path: PathBuf, error: io::Error },
}

/// The index of the newest stable builds that Chrome for Testing publishes.
#[derive(Deserialize)]
struct Index {
    channels: HashMap<String, Build>,
}

#[derive(Deserialize)]
struct Build {
    version: String,
    downloads: HashMap<String, Vec<Archive>>,
}

#[derive(Deserialize)]
struct Archive {
    platform: String,
    url: String,
}

/// Downloads and unpacks a build into `folder/PRODUCT/VERSION`, and returns that folder. An existing build is not changed. The folder
/// appears only when it is complete.
pub(super) fn unpack(
    index: &str,
    product: &str,
    platform: &str,
    folder: &Path,
) -> Result<PathBuf, DownloadError> {
    let network = |error| DownloadError::Network {
        url: index.to_owned(),
        error: Box::new(error),
    };
    let mut response = agent().get(index).call().map_err(network)?;
    let text = response.body_mut().read_to_string().map_err(network)?;
    let mut index: Index = serde_json::from_str(&text).map_err(DownloadError::Index)?;
    let build = index.channels.remove("Stable");
    let found = build.and_then(|mut build| {
        let archives = build.downloads.remove(product)?;
        let archive = archives
            .into_iter()
            .find(|archive| archive.platform == platform)?;
        Some((build.version, archive.url))
    });
    let (version, url) = found.ok_or_else(|| DownloadError::NoBuild {
        product: product.to_owned(),
        platform: platform.to_owned(),
    })?;
    let products = folder.join(product);
    let target = products.join(&version);
    if target.is_dir() {
        return Ok(target);
    }
    let disk = |error| DownloadError::Disk {
        path: products.clone(),
        error,
    };
    fs::create_dir_all(&products).map_err(disk)?;
    let mut archive = tempfile::tempfile_in(&products).map_err(disk)?;
    fetch(&url, &mut archive)?;
    let unpacked = tempfile::Builder::new()
        .prefix(".new-")
        .tempdir_in(&products)
        .map_err(disk)?;
    zip::ZipArchive::new(archive)?.extract(unpacked.path())?;
    // Another installer may have been faster; its build is equivalent.
    match fs::rename(unpacked.path(), &target) {
        Err(error) if !target.is_dir() => Err(disk(error)),
        _ => Ok(target),
    }
}

/// Downloads `url` into a file and prints the progress.
pub(super) fn fetch(url: &str, file: &mut File) -> Result<(), DownloadError> {
    let network = |error| DownloadError::Network {
        url: url.to_owned(),
        error: Box::new(error),
    };
    let response = agent().get(url).call().map_err(network)?;
    let expected = response.body().content_length();
    let mut body = ProgressReader {
        body: response.into_body().into_reader(),
        received: 0,
        expected,
        start: Instant::now(),
        line: ProgressLine::new(),
    };
    let copied = io::copy(&mut body, file);
    drop(body);
    let received = copied.map_err(|error| network(ureq::Error::Io(error)))?;
    match expected {
        Some(expected) if expected != received => Err(DownloadError::BrokenOff {
            url: url.to_owned(),
            received,
            expected,
        }),
        _ => Ok(()),
    }
}

/// A body whose size and rate are shown while it is read.
struct ProgressReader<R> {
    body: R,
    received: u64,
    expected: Option<u64>,
    start: Instant,
    line: ProgressLine,
}

impl<R: Read> Read for ProgressReader<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.body.read(into)?;
        self.received += count as u64;
        let (received, expected) = (self.received, self.expected);
        let start = self.start;
        self.line
            .update(|| progress_text(received, expected, start.elapsed()));
        Ok(count)
    }
}

fn progress_text(received: u64, expected: Option<u64>, elapsed: Duration) -> String {
    let tenths = |bytes: u64| format!("{}.{}", bytes / 1_000_000, bytes / 100_000 % 10);
    let rate = u128::from(received) * 1000 / elapsed.as_millis().max(1);
    let rate = tenths(u64::try_from(rate).unwrap_or(u64::MAX));
    match expected {
        Some(expected) => {
            let (received, expected) = (tenths(received), tenths(expected));
            format!("{received} of {expected} MB, {rate} MB/s")
        }
        None => format!("{} MB, {rate} MB/s", tenths(received)),
    }
}

fn agent() -> ureq::Agent {
    // No total timeout: a slow connection is not an error, a silent one is.
    let config = ureq::Agent::config_builder()
        .timeout_connect(Some(Duration::from_secs(30)))
        .timeout_recv_response(Some(Duration::from_secs(60)))
        .build();
    config.into()
}

#[cfg(test)]
mod tests {
    use std::{
        io::{BufRead, BufReader, Cursor, Write},
        net::TcpListener,
        thread,
    };

    use super::*;

    /// Serves these bodies by path; every `Content-Length` is `extra` larger than the body.
    fn serve(bodies: impl FnOnce(&str) -> Vec<(&'static str, Vec<u8>)>, extra: usize) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let origin = format!("http://{}", listener.local_addr().expect("bound"));
        let bodies = bodies(&origin);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let mut request = BufReader::new(&stream);
                let mut line = String::new();
                request.read_line(&mut line).expect("a request");
                while request.read_line(&mut String::new()).expect("a header") > 2 {}
                let path = line.split(' ').nth(1).unwrap_or_default();
                let body = bodies.iter().find(|(known, _)| *known == path);
                let (status, body) =
                    body.map_or(("404 Not Found", &[][..]), |(_, body)| ("200 OK", body));
                let length = body.len() + extra;
                let head = format!(
                    "HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
                );
                (&stream).write_all(head.as_bytes()).expect("written");
                (&stream).write_all(body).expect("written");
            }
        });
        origin
    }

    fn index(origin: &str) -> Vec<u8> {
        let archives = serde_json::json!([
            { "platform": "mac-x64", "url": "http://nowhere.invalid" },
            { "platform": "linux64", "url": format!("{origin}/chrome.zip") },
        ]);
        let build =
            serde_json::json!({ "version": "1.2.3.4", "downloads": { "chrome": archives } });
        serde_json::json!({ "channels": { "Stable": build } })
            .to_string()
            .into_bytes()
    }

    fn archive() -> Vec<u8> {
        let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
        let options = zip::write::SimpleFileOptions::default().unix_permissions(0o755);
        archive
            .start_file("chrome-linux64/chrome", options)
            .expect("started");
        archive.write_all(b"the program").expect("written");
        archive.finish().expect("finished").into_inner()
    }

    #[test]
    fn a_build_is_installed_where_it_is_searched() {
        let origin = serve(
            |origin| vec![("/index", index(origin)), ("/chrome.zip", archive())],
            0,
        );
        let folder = tempfile::tempdir().expect("a folder");
        let index = format!("{origin}/index");
        let target = unpack(&index, "chrome", "linux64", folder.path()).expect("unpacked");
        assert_eq!(target, folder.path().join("chrome/1.2.3.4"));
        let program = target.join("chrome-linux64/chrome");
        assert_eq!(fs::read(&program).expect("there"), b"the program");
        let entries = fs::read_dir(folder.path().join("chrome"))
            .expect("there")
            .count();
        assert_eq!(entries, 1, "something was left over");
        #[cfg(target_os = "linux")]
        {
            let search = engine::Search {
                ours: folder.path().to_owned(),
                ..Default::default()
            };
            let all = engine::find_all(&search);
            assert!(all.iter().any(|found| found.path == program), "{all:?}");
        }
        // Nothing is downloaded the second time, so the archive may be missing.
        let again = unpack(&index, "chrome", "linux64", folder.path()).expect("still there");
        assert_eq!(again, target);
    }

    #[test]
    fn the_progress_of_a_download_has_its_size_and_rate() {
        let (half, whole) = (85_150_000, Some(170_300_000));
        let text = progress_text(half, whole, Duration::from_millis(10_500));
        assert_eq!(text, "85.1 of 170.3 MB, 8.1 MB/s");
        assert_eq!(progress_text(0, None, Duration::ZERO), "0.0 MB, 0.0 MB/s");
    }

    #[test]
    fn an_interrupted_download_leaves_no_files() {
        let origin = serve(|_| vec![("/chrome.zip", archive())], 7);
        let mut file = tempfile::tempfile().expect("a file");
        let error = fetch(&format!("{origin}/chrome.zip"), &mut file).expect_err("too short");
        assert!(error.to_string().contains("/chrome.zip"), "{error}");
        let origin = serve(
            |origin| {
                vec![
                    ("/index", index(origin)),
                    ("/chrome.zip", b"no archive".to_vec()),
                ]
            },
            0,
        );
        let folder = tempfile::tempdir().expect("a folder");
        let error = unpack(
            &format!("{origin}/index"),
            "chrome",
            "linux64",
            folder.path(),
        )
        .expect_err("damaged");
        assert!(matches!(error, DownloadError::Damaged(_)), "{error}");
        assert_eq!(
            fs::read_dir(folder.path().join("chrome"))
                .expect("there")
                .count(),
            0
        );
    }

    #[test]
    fn a_missing_build_is_named() {
        let origin = serve(|origin| vec![("/index", index(origin))], 0);
        let folder = tempfile::tempdir().expect("a folder");
        let unpack = |platform| {
            unpack(
                &format!("{origin}/index"),
                "chrome",
                platform,
                folder.path(),
            )
        };
        let error = unpack("linux-riscv").expect_err("no build").to_string();
        assert_eq!(error, "the index has no build of chrome for linux-riscv");
        let error = unpack("linux64").expect_err("no archive").to_string();
        assert!(
            error.starts_with("cannot download http://127.0.0.1:"),
            "{error}"
        );
    }
}
