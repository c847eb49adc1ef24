//! Chrome for Testing: which build there is, downloading it, and putting it where it is found.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressStyle};
use serde::Deserialize;
use std::collections::HashMap;

/// Why a download did not arrive.
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

/// The index of the newest good builds, as Chrome for Testing publishes it.
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

/// Downloads and unpacks a build into `folder/PRODUCT/VERSION`, and gives that folder. A build that
/// is there already is left alone. Nothing is seen there before all of it is.
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
    // Another installer may have been faster; its build is as good.
    match fs::rename(unpacked.path(), &target) {
        Err(error) if !target.is_dir() => Err(disk(error)),
        _ => Ok(target),
    }
}

/// Downloads `url` into a file, showing how far it is.
pub(super) fn fetch(url: &str, file: &mut File) -> Result<(), DownloadError> {
    let network = |error| DownloadError::Network {
        url: url.to_owned(),
        error: Box::new(error),
    };
    let response = agent().get(url).call().map_err(network)?;
    let expected = response.body().content_length();
    let bar = expected.map_or_else(ProgressBar::no_length, ProgressBar::new);
    if let Ok(style) =
        ProgressStyle::with_template("{bar:30} {bytes}/{total_bytes} {bytes_per_sec}, {eta}")
    {
        bar.set_style(style);
    }
    let mut body = bar.wrap_read(response.into_body().into_reader());
    let copied = io::copy(&mut body, file);
    bar.finish_and_clear();
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

fn agent() -> ureq::Agent {
    // No limit for the whole: a slow line is no error, a silent one is.
    let config = ureq::Agent::config_builder()
        .timeout_connect(Some(Duration::from_secs(30)))
        .timeout_recv_response(Some(Duration::from_secs(60)))
        .build();
    config.into()
}
