//! Checks of the system requirements of a browser.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::Finding;
use crate::{
    cli::{install::plan, platform::Platform},
    config::Settings,
};
use engine::Feature;

/// A megabyte, in bytes.
#[cfg(unix)]
const MEGABYTE: u64 = 1024 * 1024;

pub(super) async fn machine(settings: &Settings, platform: &Platform) -> Vec<Finding> {
    let mut findings = vec![display(settings)];
    if cfg!(target_os = "linux") {
        findings.push(sandbox(settings));
        findings.extend(shared_memory());
        findings.push(fonts(settings, platform));
    }
    findings.push(output(settings));
    findings.push(videos(settings, platform).await);
    findings
}

async fn videos(settings: &Settings, platform: &Platform) -> Finding {
    let program = &settings.files.video.ffmpeg;
    match engine::Ffmpeg::find(program).await {
        Ok(_) => Finding::good("ffmpeg", "records videos"),
        Err(engine::Error::FfmpegUnavailable { reason }) => {
            let lacks = match settings
                .browser
                .kind
                .capabilities()
                .has(Feature::VideoFrames)
            {
                true => "videos are not padded and larger",
                false => "no videos",
            };
            let finding = Finding::note("ffmpeg", format!("{lacks}: {reason}"));
            match plan::packages(platform, &["ffmpeg"]) {
                Some(step) => finding.repaired_by(step.to_string()),
                None => finding.repaired_by("brew install ffmpeg, or --ffmpeg PATH"),
            }
        }
        Err(error) => Finding::note("ffmpeg", error.to_string()),
    }
}

fn display(settings: &Settings) -> Finding {
    match (settings.browser.headless, settings.browser.display) {
        (false, false) => Finding::bad(
            "display",
            "there is none, but --headless=false opens windows",
        )
        .repaired_by("playhouse --headless, or: xvfb-run -a playhouse"),
        (false, true) => Finding::good("display", "browsers have a window"),
        (true, false) => Finding::good("display", "none; browsers run headless"),
        (true, true) => Finding::good("display", "not used; browsers run headless"),
    }
}

fn sandbox(settings: &Settings) -> Finding {
    let read = |path: &str| {
        fs::read_to_string(path)
            .unwrap_or_default()
            .trim()
            .to_owned()
    };
    if settings.browser.sandbox == Some(false) {
        Finding::note("sandbox", "turned off: code of pages is isolated less")
    } else if crate::cli::platform::is_root() {
        Finding::note("sandbox", "off, because Chromium refuses it to root")
            .repaired_by("run playhouse as an ordinary user")
    } else if engine::sandbox_unavailable() {
        Finding::note("sandbox", "off, because there are no user namespaces").repaired_by(
            "sudo sysctl -w kernel.unprivileged_userns_clone=1 user.max_user_namespaces=10000",
        )
    } else if read("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1" {
        Finding::note(
            "sandbox",
            "AppArmor may refuse user namespaces to a downloaded browser",
        )
        .repaired_by(
            "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, or --no-sandbox",
        )
    } else {
        Finding::good("sandbox", "works")
    }
}

fn shared_memory() -> Option<Finding> {
    #[cfg(unix)]
    {
        let size = rustix::fs::statvfs("/dev/shm").ok()?;
        let size = size.f_blocks * size.f_frsize / MEGABYTE;
        Some(if size < 128 {
            Finding::note(
                "/dev/shm",
                format!("{size} MB, too small for Chromium, which uses /tmp instead"),
            )
            .repaired_by("docker run --shm-size=1g … (or --ipc=host)")
        } else {
            Finding::good("/dev/shm", format!("{size} MB"))
        })
    }
    #[cfg(not(unix))]
    None
}

fn fonts(settings: &Settings, platform: &Platform) -> Finding {
    let home = &settings.browser.search.home;
    let folders = [
        PathBuf::from("/usr/share/fonts"),
        PathBuf::from("/usr/local/share/fonts"),
        home.join(".fonts"),
        home.join(".local/share/fonts"),
    ];
    let count: usize = folders.iter().map(|folder| fonts_below(folder, 4)).sum();
    if count > 0 {
        return Finding::good("fonts", format!("{count}"));
    }
    let finding = Finding::note("fonts", "none: pages show boxes instead of letters");
    let package = match platform.packages {
        Some(crate::cli::platform::Packages::Dnf) => "liberation-fonts",
        Some(crate::cli::platform::Packages::Pacman) => "ttf-liberation",
        _ => "fonts-liberation",
    };
    match plan::packages(platform, &[package]) {
        Some(step) => finding.repaired_by(step.to_string()),
        None => finding.repaired_by(format!("install {package}")),
    }
}

fn fonts_below(folder: &Path, depth: u8) -> usize {
    let entries = folder.read_dir().into_iter().flatten().flatten();
    entries
        .map(|entry| {
            let path = entry.path();
            if path.is_dir() && depth > 0 {
                return fonts_below(&path, depth - 1);
            }
            let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
            usize::from(["ttf", "otf", "ttc"].iter().any(|font| extension == *font))
        })
        .sum()
}

fn output(settings: &Settings) -> Finding {
    let folder = settings
        .files
        .output_dir
        .as_ref()
        .unwrap_or(&settings.files.cwd);
    // The folder may be created later: the nearest existing one decides.
    let there = folder
        .ancestors()
        .find(|folder| folder.is_dir())
        .unwrap_or(folder);
    match tempfile::tempfile_in(there) {
        Ok(_) => Finding::good("files", format!("can be written below {}", there.display())),
        Err(error) => Finding::note(
            "files",
            format!("cannot be written below {}: {error}", there.display()),
        )
        .repaired_by("playhouse --output-dir FOLDER"),
    }
}
