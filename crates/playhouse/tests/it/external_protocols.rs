//! A page starts no program: no handler of an external protocol is asked, and the answer names the scheme.

use crate::launch_on;
use serde_json::json;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use testkit::harness::input_step;
use testkit::{Engine, Launch, Site};

/// The programs that browsers and desktops start for an external protocol.
const PROGRAMS: &[&str] = &[
    "xdg-open",
    "xdg-email",
    "xdg-settings",
    "xdg-mime",
    "gio",
    "gio-launch-desktop",
    "gvfs-open",
    "gnome-open",
    "kde-open",
    "kde-open5",
    "exo-open",
    "sensible-browser",
];

/// Schemes of which browsers open some without asking, and others not at all.
const SCHEMES: &[&str] = &[
    "mailto",
    "news",
    "snews",
    "tel",
    "sms",
    "magnet",
    "web+own",
    "playhouse-test",
];

/// Ways in which a page opens `{url}`. A click on "Go" opens it unless the page does by itself.
const WAYS: &[(&str, &str)] = &[
    ("link", "<a href='{url}'>Go</a>"),
    ("new tab", "<a href='{url}' target=_blank>Go</a>"),
    ("script", "<button onclick='location = `{url}`'>Go</button>"),
    (
        "load",
        "<button>Go</button><script>onload = () => setTimeout(() => location = '{url}')</script>",
    ),
    ("popup", "<button onclick='open(`{url}`)'>Go</button>"),
    ("form", "<form action='{url}'><button>Go</button></form>"),
    ("redirect", "<a href='/redirect?to={encoded}'>Go</a>"),
    ("frame", "<button>Go</button><iframe src='{url}'></iframe>"),
    (
        "redirected frame",
        "<button>Go</button><iframe src='/redirect?to={encoded}'></iframe>",
    ),
    (
        "refresh",
        "<button>Go</button><meta http-equiv=refresh content='0;url={url}'>",
    ),
];

/// What each engine reports in time for the answer: the first scheme, and this one of the ways.
const REPORTED: (&str, &str) = ("mailto", "redirect");
const REPORTED_WAY: usize = 6;

/// Returns a server for whose browser every program of the desktop writes its name to the file `started` in this folder.
fn with_desktop(folder: &Path, launch: Launch) -> Launch {
    let log = folder.join("started");
    let bin = folder.join("bin");
    let applications = folder.join("data/applications");
    for folder in [&bin, &applications] {
        std::fs::create_dir_all(folder).unwrap();
    }
    let script = |name: &str| format!("#!/bin/sh\necho \"{name} $*\" >> '{}'\n", log.display());
    for name in PROGRAMS {
        let path = bin.join(name);
        std::fs::write(&path, script(name)).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let types: String = SCHEMES
        .iter()
        .map(|scheme| format!("x-scheme-handler/{scheme};"))
        .collect();
    let entry = format!(
        "[Desktop Entry]\nType=Application\nName=Handler\nExec={} %u\nMimeType={types}\n",
        bin.join("xdg-open").display()
    );
    std::fs::write(applications.join("handler.desktop"), entry).unwrap();
    let defaults: String = SCHEMES
        .iter()
        .map(|scheme| format!("x-scheme-handler/{scheme}=handler.desktop\n"))
        .collect();
    let list = format!("[Default Applications]\n{defaults}");
    std::fs::write(applications.join("mimeapps.list"), list).unwrap();
    #[expect(
        clippy::disallowed_methods,
        reason = "the browser also needs the programs of the machine"
    )]
    let path = std::env::var("PATH").expect("a PATH");
    launch
        .env("PATH", &format!("{}:{path}", bin.display()))
        .env("XDG_DATA_HOME", &folder.join("data").display().to_string())
}

async fn assert_nothing_is_started(engine: Engine, launch: Launch) {
    let folder = tempfile::tempdir().unwrap();
    let site = Site::start().await;
    let client = with_desktop(folder.path(), launch).start().await;
    let mut complaints = Vec::new();
    for (number, scheme) in SCHEMES.iter().enumerate() {
        // Outside of `make nightly`, each scheme has some of the ways.
        let step = input_step(4);
        let first = number + REPORTED_WAY;
        for (way, html) in WAYS.iter().skip(first % step).step_by(step) {
            let url = format!("{scheme}:a@b.example");
            let html = html.replace("{url}", &url).replace("{encoded}", &url);
            let page = site.add_page("/", &format!("<title>Way</title>{html}"));
            let mut answer = client.navigate(&page).await.text;
            let link = json!({ "target": "text=Go", "element": "Go" });
            answer += &client.call("browser_click", link).await.text;
            answer += &client.call("browser_snapshot", json!({})).await.text;
            if (*scheme, *way) == REPORTED && !answer.contains(&format!("'{url}'")) {
                complaints.push(format!("{way}: {answer}"));
            }
        }
    }
    client.end().await;
    let started = std::fs::read_to_string(folder.path().join("started")).unwrap_or_default();
    assert!(started.is_empty(), "{}: {started}", engine.name());
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// The headless shell of other tests knows no external protocols.
#[testkit::test(extensions)]
async fn a_page_starts_no_program_with_a_complete_chromium() {
    let engine = Engine::Chromium;
    let launch = launch_on(engine, &["--executable-path=/usr/bin/chromium"]);
    assert_nothing_is_started(engine, launch).await;
}
