//! Videos: ffprobe and ffmpeg read the files.

use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use std::time::Instant;
use testkit::{Client, Engine, Launch, Processes, Resource, Site, eventually};

use crate::faults::kill;
use crate::{launch, launch_on, server, shared};

const RED: [u8; 3] = [255, 0, 0];
const BLUE: [u8; 3] = [0, 0, 255];

fn red_page(site: &Site) -> String {
    site.add_page(
        "/",
        "<!doctype html><title>Red</title><body style='background:red'><button style='position:fixed;top:0;left:0'>Go</button>",
    )
}

#[expect(clippy::disallowed_methods, reason = "a test runs the judge")]
fn run(program: &str, args: &[&str], file: &Path) -> Vec<u8> {
    let output = Command::new(program)
        .args(["-v", "error"])
        .args(args.iter().take_while(|arg| **arg != "-i"))
        .arg("-i")
        .arg(file)
        .args(args.iter().skip_while(|arg| **arg != "-i").skip(1))
        .output()
        .expect("it starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    output.stdout
}

/// Returns what ffprobe reports about a video: `streams`, `format`, `chapters`.
fn probed(file: &Path) -> Value {
    let shown = [
        "-of",
        "json",
        "-show_streams",
        "-show_format",
        "-show_chapters",
    ];
    serde_json::from_slice(&run("ffprobe", &shown, file)).expect("JSON")
}

/// Returns the colour of each frame of a video, in its centre.
fn colours(file: &Path) -> Vec<[u8; 3]> {
    let decoded = [
        "-i", "-vf", "crop=2:2", "-f", "rawvideo", "-pix_fmt", "rgb24", "pipe:1",
    ];
    let bytes = run("ffmpeg", &decoded, file);
    bytes
        .chunks(12)
        .map(|frame| [frame[0], frame[1], frame[2]])
        .collect()
}

fn shows(file: &Path, colour: [u8; 3]) -> bool {
    // The encoder is not exact.
    let is_near = |frame: &[u8; 3]| frame.iter().zip(colour).all(|(a, b)| a.abs_diff(b) < 40);
    colours(file).iter().any(is_near)
}

fn duration(facts: &Value) -> f64 {
    let duration = facts["format"]["duration"].as_str().expect("a duration");
    duration.parse().expect("a number")
}

/// Calls a tool, which must succeed.
async fn done(client: &Client, tool: &str, arguments: Value) -> String {
    let answer = client.call(tool, arguments).await;
    assert!(!answer.is_error, "{}", answer.text);
    answer.result().to_owned()
}

const DEVTOOLS: [&str; 2] = ["--caps", "devtools"];

#[testkit::test(chromium, firefox, webkit, ffmpeg, nightly(firefox, webkit))]
async fn a_video_shows_the_page_for_as_long_as_it_was_recorded(engine: Engine) {
    let site = Site::start().await;
    let client = shared(engine, &[]).await;
    done(
        &client,
        "browser_navigate",
        json!({ "url": red_page(&site) }),
    )
    .await;
    let started = Instant::now();
    let video = json!({ "filename": "v.webm", "size": { "width": 321, "height": 180 }, "fps": 10 });
    let result = done(&client, "browser_start_video", video).await;
    assert_eq!(result, "Video recording started.");
    let again = client.call("browser_start_video", json!({})).await;
    assert_eq!(
        again.error(),
        "Error: Video recording has already been started."
    );
    done(&client, "browser_wait_for", json!({ "time": 1 })).await;
    let chapter = json!({ "title": "Two; = \"two\"", "description": "Text", "duration": 10 });
    let result = done(&client, "browser_video_chapter", chapter).await;
    assert_eq!(result, "Chapter 'Two; = \"two\"' added.");
    let paint = json!({ "function": "() => { document.body.style.background = 'blue' }" });
    done(&client, "browser_evaluate", paint).await;
    done(&client, "browser_wait_for", json!({ "time": 4 })).await;
    let result = done(&client, "browser_stop_video", json!({})).await;
    let elapsed = started.elapsed().as_secs_f64();
    assert_eq!(result, "- [Video](./v.webm)");
    let result = done(&client, "browser_stop_video", json!({})).await;
    assert_eq!(result, "No videos were recorded.");
    let file = client.workspace().join("v.webm");
    let facts = probed(&file);
    let stream = &facts["streams"][0];
    assert_eq!(stream["codec_name"], "vp8");
    assert_eq!(
        (&stream["width"], &stream["height"]),
        (&json!(320), &json!(180))
    );
    assert_eq!(stream["r_frame_rate"], "10/1");
    let length = duration(&facts);
    assert!(
        length > 1.9 && length < elapsed + 0.2,
        "{length} of {elapsed}"
    );
    assert_eq!(facts["chapters"][0]["tags"]["title"], "Two; = \"two\"");
    let start = facts["chapters"][0]["start_time"].as_str().expect("a time");
    let start: f64 = start.parse().expect("a number");
    assert!(start > 0.9 && start < length, "{start}");
    assert!(
        shows(&file, RED) && shows(&file, BLUE),
        "{:?}",
        colours(&file)
    );
    // The frame rate is constant.
    let frames = colours(&file).len();
    assert!(
        (frames as f64 - length * 10.0).abs() <= 1.5,
        "{frames} in {length}"
    );
}

#[testkit::test(chromium, ffmpeg)]
async fn each_tab_has_a_video_also_when_it_is_closed() {
    let site = Site::start().await;
    let client = server(&DEVTOOLS).await;
    done(&client, "browser_start_video", json!({})).await;
    done(
        &client,
        "browser_navigate",
        json!({ "url": red_page(&site) }),
    )
    .await;
    done(&client, "browser_tabs", json!({ "action": "new" })).await;
    let server = client.pid().expect("it runs");
    // One for each tab.
    eventually(async || Processes::from(server).mentioning("ffmpeg").len() == 2).await;
    done(&client, "browser_tabs", json!({ "action": "close" })).await;
    let result = done(&client, "browser_stop_video", json!({})).await;
    let links: Vec<_> = result.lines().collect();
    assert_eq!(links.len(), 2, "{result}");
    assert!(links[1].ends_with("-1.webm)"), "{result}");
    for link in links {
        let (_, path) = link.trim_end_matches(')').split_once('(').expect("a link");
        let facts = probed(&client.workspace().join(path));
        assert_eq!(facts["streams"][0]["width"], 800);
    }
}

#[testkit::test(chromium, ffmpeg)]
async fn videos_are_completed_when_the_browser_or_the_server_ends() {
    let site = Site::start().await;
    // The folder of the client is removed at its end.
    let workspace = tempfile::tempdir().expect("a folder");
    let root = format!("file://{}", workspace.path().display());
    let client = launch(&DEVTOOLS).roots(&[&root]).start().await;
    let url = json!({ "url": red_page(&site) });
    done(
        &client,
        "browser_start_video",
        json!({ "filename": "closed.webm" }),
    )
    .await;
    done(&client, "browser_navigate", url.clone()).await;
    done(&client, "browser_close", json!({})).await;
    let result = done(&client, "browser_stop_video", json!({})).await;
    assert_eq!(result, "No videos were recorded.");
    done(
        &client,
        "browser_start_video",
        json!({ "filename": "ended.webm" }),
    )
    .await;
    done(&client, "browser_navigate", url).await;
    let pid = client.pid().expect("it runs");
    // The program starts with the first frame.
    let running = eventually(async || {
        let running = Processes::from(pid);
        (!running.mentioning("ffmpeg").is_empty()).then_some(running)
    })
    .await;
    assert!(client.end().await.success());
    running.gone().await;
    for name in ["closed.webm", "ended.webm"] {
        assert!(shows(&workspace.path().join(name), RED), "{name}");
    }
}

#[testkit::test(chromium, ffmpeg)]
async fn ffmpeg_ends_with_a_killed_server() {
    let site = Site::start().await;
    let mut client = server(&DEVTOOLS).await;
    done(&client, "browser_start_video", json!({})).await;
    done(
        &client,
        "browser_navigate",
        json!({ "url": red_page(&site) }),
    )
    .await;
    let server = client.pid().expect("it runs");
    let running = eventually(async || {
        let running = Processes::from(server);
        (!running.mentioning("ffmpeg").is_empty()).then_some(running)
    })
    .await;
    kill(server);
    client.exit_status().await;
    running.gone().await;
}

#[testkit::test(
    chromium,
    firefox,
    ffmpeg,
    not(webkit = "polled frames miss overlays at times"),
    nightly(firefox)
)]
async fn overlays_are_in_the_video_and_not_in_the_page(engine: Engine) {
    let site = Site::start().await;
    let client = shared(engine, &[]).await;
    done(
        &client,
        "browser_navigate",
        json!({ "url": red_page(&site) }),
    )
    .await;
    let listens =
        "() => { document.onclick = event => { document.title = event.target.localName } }";
    done(&client, "browser_evaluate", json!({ "function": listens })).await;
    let before = client.call("browser_snapshot", json!({})).await;
    done(
        &client,
        "browser_start_video",
        json!({ "filename": "v.webm", "cursor": true }),
    )
    .await;
    let style =
        json!({ "title": "inset:0;max-width:none;background:lime", "point": "background:blue" });
    let shown = json!({ "duration": 2000, "position": "bottom-left", "style": style });
    let result = done(&client, "browser_video_show_actions", shown).await;
    assert_eq!(result, "Action annotations enabled.");
    // The overlay covers the page while the action waits, and takes no click.
    done(&client, "browser_click", json!({ "target": "button" })).await;
    done(
        &client,
        "browser_mouse_click_xy",
        json!({ "x": 200, "y": 200 }),
    )
    .await;
    let title = done(
        &client,
        "browser_evaluate",
        json!({ "function": "() => document.title" }),
    )
    .await;
    assert_eq!(title, "\"html\"");
    let during = client.call("browser_snapshot", json!({})).await;
    let snapshot = |text: &str| {
        text.split("```yaml")
            .nth(1)
            .expect("a snapshot")
            .replace(" [active]", "")
    };
    assert_eq!(snapshot(&before.text), snapshot(&during.text));
    let result = done(&client, "browser_video_hide_actions", json!({})).await;
    assert_eq!(result, "Action annotations disabled.");
    done(&client, "browser_stop_video", json!({})).await;
    let left = "() => document.querySelectorAll('x-playhouse-overlay').length";
    assert_eq!(
        done(&client, "browser_evaluate", json!({ "function": left })).await,
        "0"
    );
    // A slow poll may see the overlay only while it fades in.
    let frames = colours(&client.workspace().join("v.webm"));
    assert!(frames.iter().any(|[_, green, _]| *green > 50), "{frames:?}");
}

#[testkit::test(chromium, ffmpeg)]
async fn the_configuration_records_each_page() {
    let site = Site::start().await;
    let folder = tempfile::tempdir().expect("a folder");
    let config = folder.path().join("config.json");
    let record =
        json!({ "dir": folder.path().join("videos"), "size": { "width": 160, "height": 90 } });
    let options = json!({ "browser": { "contextOptions": { "recordVideo": record } } });
    std::fs::write(&config, options.to_string()).expect("it is written");
    let config = config.display().to_string();
    let output = folder.path().join("output");
    let flags = [
        "--save-video",
        "320x180",
        "--output-dir",
        &output.display().to_string(),
    ];
    let client = launch(&["--config", &config]).args(flags).start().await;
    done(
        &client,
        "browser_navigate",
        json!({ "url": red_page(&site) }),
    )
    .await;
    assert!(client.end().await.success());
    for (folder, prefix, width) in [
        (output, "video-", 320),
        (folder.path().join("videos"), "page@", 160),
    ] {
        let files = crate::faults::files_in(&folder);
        let video = files.iter().find(|file| {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(prefix) && name.ends_with(".webm")
        });
        let video = video.unwrap_or_else(|| panic!("no video in {files:?}"));
        assert_eq!(probed(video)["streams"][0]["width"], width);
        assert!(shows(video, RED));
    }
}

/// Returns a folder for PATH, and the server that finds no other programs than those in it.
fn without_ffmpeg() -> (tempfile::TempDir, Launch) {
    let programs = tempfile::tempdir().expect("a folder");
    let path = programs.path().display().to_string();
    let flags = [
        "--caps",
        "devtools",
        "--executable-path",
        "/usr/bin/chromium",
    ];
    let server = launch(&flags).env("PATH", &path);
    (programs, server)
}

/// The browser plays the file, and ffmpeg reads it.
#[testkit::test(chromium, ffmpeg)]
async fn without_ffmpeg_chromium_encodes_the_video_itself() {
    let site = Site::start().await;
    let (_programs, server) = without_ffmpeg();
    let client = server.start().await;
    let url = json!({ "url": red_page(&site) });
    done(&client, "browser_navigate", url).await;
    let started = Instant::now();
    let video = json!({ "filename": "v.webm", "size": { "width": 320, "height": 320 } });
    done(&client, "browser_start_video", video).await;
    done(&client, "browser_wait_for", json!({ "time": 1 })).await;
    let chapter = json!({ "title": "Two", "duration": 10 });
    done(&client, "browser_video_chapter", chapter).await;
    let paint = json!({ "function": "() => { document.body.style.background = 'blue' }" });
    done(&client, "browser_evaluate", paint).await;
    done(&client, "browser_wait_for", json!({ "time": 1 })).await;
    let result = done(&client, "browser_stop_video", json!({})).await;
    let elapsed = started.elapsed().as_secs_f64();
    assert_eq!(result, "- [Video](./v.webm)");
    let file = client.workspace().join("v.webm");
    let facts = probed(&file);
    let stream = &facts["streams"][0];
    assert_eq!(stream["codec_name"], "vp8");
    assert_eq!(stream["width"], 320);
    let length = duration(&facts);
    assert!(
        length > 1.9 && length < elapsed + 0.2,
        "{length} of {elapsed}"
    );
    assert_eq!(facts["chapters"][0]["tags"]["title"], "Two");
    assert!(
        shows(&file, RED) && shows(&file, BLUE),
        "{:?}",
        colours(&file)
    );

    let bytes = std::fs::read(&file).expect("the video");
    site.add("/v.webm", Resource::new("video/webm", bytes));
    let player = "<!doctype html><title>Player</title><video muted></video>";
    let url = json!({ "url": site.add_page("/player", player) });
    done(&client, "browser_navigate", url).await;
    let play = "async () => {
        const video = document.querySelector('video');
        const canvas = document.createElement('canvas');
        video.src = URL.createObjectURL(await (await fetch('/v.webm')).blob());
        const colour = async (time) => {
            video.currentTime = time;
            await new Promise((resolve) => video.onseeked = resolve);
            const context = canvas.getContext('2d');
            context.drawImage(video, 0, 0, 10, 10);
            const [red, , blue] = context.getImageData(5, 5, 1, 1).data;
            return red > blue ? 'red' : 'blue';
        };
        if (!video.readyState) await new Promise((resolve) => video.onloadeddata = resolve);
        return [await colour(0.2), await colour(video.duration - 0.1), video.duration > 1.9].join();
    }";
    let played = done(&client, "browser_evaluate", json!({ "function": play })).await;
    assert_eq!(played, "\"red,blue,true\"");
}

#[testkit::test(chromium)]
async fn without_ffmpeg_nothing_begins_and_the_error_says_how_to_install_it() {
    let missing = ["--ffmpeg", "/nowhere/ffmpeg"];
    let client = launch(&DEVTOOLS).args(missing).start().await;
    let answer = client
        .call("browser_start_video", json!({ "filename": "v.webm" }))
        .await;
    assert_eq!(
        answer.raw["structuredContent"]["errorCode"],
        "FFMPEG_UNAVAILABLE"
    );
    let error = answer.error();
    assert!(
        error.contains("\"/nowhere/ffmpeg\" cannot be run"),
        "{error}"
    );
    assert!(
        error.contains("apt-get install ffmpeg") && error.contains("brew install ffmpeg"),
        "{error}"
    );
    let result = done(&client, "browser_stop_video", json!({})).await;
    assert_eq!(result, "No videos were recorded.");
    assert!(!client.workspace().join("v.webm").exists());
    let client = launch_on(Engine::Chromium, &["--save-video", "320x180"])
        .args(missing)
        .start()
        .await;
    let answer = client.call("browser_snapshot", json!({})).await;
    assert!(answer.error().contains("ffmpeg"), "{}", answer.text);
}
