//! Checks that a browser starts, by launching it and opening a page.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use engine::{
    Browser, BrowserChoice, BrowserKind, Channel, ConnectOptions, ContextOptions, FoundBrowser,
    Progress,
};

use futures_util::future::{join, join_all};

use super::{Finding, Health, webkit};
use crate::{
    cli::{
        install::plan,
        platform::{Packages, Platform},
        process,
    },
    config::{BrowserSettings, Settings},
};

/// The browsers that a session can request by another name than the server's own.
const FAMILIES: [Channel; 2] = [Channel::Firefox, Channel::Webkit];
/// The timeout of a program that is run for its output.
const PROGRAM_TIMEOUT: Duration = Duration::from_secs(10);

/// Checks whether the browser of these settings works, and the installed browsers of other kinds. `verbose`: include the log of a browser
/// that does not work.
pub(super) async fn check(settings: &Settings, platform: &Platform, verbose: bool) -> Vec<Finding> {
    if let Some(options) = settings.browser.connect_options() {
        return vec![connects(settings, &options).await];
    }
    // Headless, so that the check works on any machine.
    let mut browser = settings.browser.clone();
    browser.headless = true;
    // A finding of its own reports this.
    browser
        .sandbox
        .get_or_insert(!engine::sandbox_unavailable());
    let found = match browser.find() {
        Ok(found) => found,
        Err(error) => return vec![missing(&error)],
    };
    let mut findings = vec![Finding::good("found", named(&found))];
    for other in engine::find_all(&browser.search) {
        if other.path != found.path {
            findings.push(Finding::good("found too", named(&other)));
        }
    }
    let will_do = browser.search.headless_shell;
    findings.extend(lighter(&browser.choice, will_do, &found));
    let libraries = missing_libraries(&found.path).await;
    if !libraries.is_empty() {
        let text = format!("missing: {}", libraries.join(", "));
        findings.push(repaired_by_packages(
            Finding::bad("libraries", text),
            platform,
        ));
    }
    let others = FAMILIES
        .into_iter()
        .filter(|channel| channel.kind() != browser.kind);
    let others = others.map(|channel| also(&browser, channel, verbose));
    let (own, others) = join(works(&browser, found, "browser", verbose), join_all(others)).await;
    findings.extend(own);
    findings.extend(others.into_iter().flatten());
    findings
}

/// Checks a browser of another kind, which sessions may request by its name. A missing or broken browser is not a failure.
async fn also(browser: &BrowserSettings, channel: Channel, verbose: bool) -> Vec<Finding> {
    let browser = browser.of_channel(channel);
    let Ok(found) = browser.find() else {
        return Vec::new();
    };
    let there = Finding::good("found too", named(&found));
    let mut findings = vec![there];
    findings.extend(works(&browser, found, channel.name(), verbose).await);
    for finding in &mut findings {
        if finding.health == Health::Bad {
            finding.health = Health::Note;
        }
    }
    findings
}

/// Returns whether the browser starts, and what it lacks.
async fn works(
    browser: &BrowserSettings,
    found: FoundBrowser,
    topic: &'static str,
    verbose: bool,
) -> Vec<Finding> {
    let mut findings = match browser.kind {
        BrowserKind::Webkit => webkit::parts(browser),
        _ => Vec::new(),
    };
    if findings.iter().all(|part| part.health != Health::Bad) {
        findings.push(launches(browser, found, topic, verbose).await);
    }
    findings
}

fn missing(error: &engine::Error) -> Finding {
    let finding = Finding::bad("browser", error.to_string());
    match error {
        engine::Error::BrowserNotFound { install, .. } => finding.repaired_by(install),
        _ => finding,
    }
}

/// Suggests a lighter browser that suffices, if Playhouse chose the browser.
fn lighter(choice: &BrowserChoice, will_do: bool, found: &FoundBrowser) -> Option<Finding> {
    let open = matches!(
        choice,
        BrowserChoice::Any | BrowserChoice::Channel(Channel::Chromium)
    );
    let helps = open && will_do && !found.headless_shell;
    helps.then(|| {
        Finding::note(
            "lighter",
            "chromium-headless-shell needs half of the memory and starts twice as fast",
        )
        .repaired_by("playhouse install chromium-headless-shell")
    })
}

fn named(found: &FoundBrowser) -> String {
    let name = match (found.headless_shell, found.channel) {
        (true, _) => "chromium-headless-shell",
        (_, Some(channel)) => channel.name(),
        (_, None) => "the program that was named",
    };
    format!("{name} at {}", found.path.display())
}

async fn launches(
    browser: &BrowserSettings,
    found: FoundBrowser,
    topic: &'static str,
    verbose: bool,
) -> Finding {
    let path = found.path.display().to_string();
    let started = Instant::now();
    let progress = Progress::new(browser.launch_timeout);
    let options = browser.launch_options(found, None);
    let opened = async {
        let browser = Browser::launch(&progress, &options).await?;
        let context = browser
            .new_context(&progress, ContextOptions::default())
            .await?;
        context.new_page(&progress).await?;
        let product = browser.product().to_owned();
        browser.close(&progress).await?;
        Ok::<_, engine::Error>(product)
    };
    match opened.await {
        Ok(product) => {
            let ms = started.elapsed().as_millis();
            Finding::good(
                topic,
                format!("{product} starts and opens a page ({ms} ms)"),
            )
        }
        Err(error) => {
            let error = error.to_string();
            let error = match verbose {
                true => &*error,
                false => error.split("\nBrowser logs:").next().unwrap_or_default(),
            };
            let install = match browser.kind {
                BrowserKind::Webkit => webkit::INSTALL,
                BrowserKind::Firefox => "playhouse install firefox",
                BrowserKind::Chromium => "playhouse install --with-deps",
            };
            let log = match verbose {
                true => "",
                false => "; its log: playhouse doctor --verbose",
            };
            Finding::bad(topic, format!("{path} does not work: {error}")).repaired_by(format!(
                "{install}, or name another one with --executable-path{log}"
            ))
        }
    }
}

async fn connects(settings: &Settings, options: &ConnectOptions) -> Finding {
    let progress = Progress::new(settings.browser.launch_timeout);
    let (place, mend) = match options {
        ConnectOptions::Cdp(cdp) => (
            cdp.endpoint.as_str(),
            "start that browser with --remote-debugging-port, or leave --cdp-endpoint out",
        ),
        // A check must not open a page in the user's browser.
        ConnectOptions::Extension(_) => {
            return Finding::note(
                "browser",
                "your own, through its extension, which the first call connects to",
            );
        }
        ConnectOptions::WebDriver(_) => (
            "the WebDriver end",
            "see that it runs and has room for this browser, or leave --webdriver-endpoint out",
        ),
    };
    match Browser::connect(&progress, options).await {
        Ok(browser) => {
            let answers = format!("{} answers at {place}", browser.product());
            // A profile that was created for this check must be removed.
            let closed = browser.close(&progress).await;
            tracing::debug!(?closed, "closed the browser");
            Finding::good("browser", answers)
        }
        Err(error) => {
            Finding::bad("browser", format!("{place} does not answer: {error}")).repaired_by(mend)
        }
    }
}

/// Returns the libraries that the loader does not find; empty if that is unknown.
async fn missing_libraries(program: &Path) -> Vec<String> {
    if !cfg!(target_os = "linux") {
        return Vec::new();
    }
    let program = behind_script(program).unwrap_or_else(|| program.to_owned());
    let program = program.display().to_string();
    let listing = process::output(Path::new("ldd"), &[&program], PROGRAM_TIMEOUT).await;
    let listing = listing.unwrap_or_default();
    let missing = listing.lines().filter(|line| line.contains("=> not found"));
    missing
        .filter_map(|line| Some(line.split_whitespace().next()?.to_owned()))
        .collect()
}

/// Returns the program that a wrapper script starts, such as Debian's `/usr/bin/chromium`.
fn behind_script(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?;
    let likely = [
        Path::new("/usr/lib/chromium").join(name),
        Path::new("/usr/lib64/chromium-browser").join(name),
    ];
    let start = std::fs::read(path).ok()?;
    start
        .starts_with(b"#!")
        .then(|| likely.into_iter().find(|path| path.is_file()))?
}

pub(super) fn repaired_by_packages(finding: Finding, platform: &Platform) -> Finding {
    let libraries = plan::libraries(platform);
    match plan::packages(platform, &libraries) {
        Some(step) if !libraries.is_empty() => finding.repaired_by(step.to_string()),
        _ if platform.packages == Some(Packages::Brew) => finding,
        _ => finding.repaired_by("install them with this system's package manager, as root"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_headless_shell_is_recommended_where_it_will_do_and_is_not_there() {
        let recommended = |choice: BrowserChoice, will_do, headless_shell| {
            let found = FoundBrowser {
                path: "/browser".into(),
                channel: None,
                headless_shell,
            };
            lighter(&choice, will_do, &found).is_some()
        };
        assert!(recommended(BrowserChoice::Any, true, false));
        assert!(recommended(
            BrowserChoice::Channel(Channel::Chromium),
            true,
            false
        ));
        assert!(!recommended(BrowserChoice::Any, true, true));
        assert!(!recommended(BrowserChoice::Any, false, false));
        let chrome = BrowserChoice::Channel(Channel::Chrome);
        assert!(!recommended(chrome, true, false));
    }
}
