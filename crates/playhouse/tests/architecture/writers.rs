//! The places where bytes leave the server. Each masks secrets, or the table has the reason why it does not.

use std::collections::BTreeSet;

use crate::{assert_none, our_crates, root};

/// Calls that write files, streams, responses and messages.
const WRITING: [&str; 22] = [
    "fs::write(",
    "File::create",
    "OpenOptions",
    "fs::copy(",
    "io::copy(",
    "fs::rename(",
    "tempfile(",
    "write_all(",
    "write_vectored(",
    "stdout()",
    "stderr()",
    "print!(",
    "println!(",
    "write_parts(",
    "append_bytes(",
    "output.append(",
    "output.copy(",
    "create_file(",
    "Full::new(",
    "Full::from(",
    "Message::Text(",
    "Message::Binary(",
];

/// What a file that masks calls.
const MASKING: [&str; 2] = ["redacted", "masked("];

/// The file masks what it writes.
const MASKS: &str = "masks";
const ANSWERS: &str = "answers are masked in `server/dispatch`, resources in `server/resources`";
const BROWSER: &str = "to the browser, which has the values anyway";
const PROFILE: &str = "a profile or a temporary folder of the browser, for this user only";
const NETWORK: &str = "traffic of the browser, as it sent or received it";
const TERMINAL: &str =
    "for the user who started the command; answers of servers are masked by the server";
const OWN: &str = "texts of Playhouse only: no text of a page, no argument of a call";
const APP: &str = "from the app of the user, which has the values anyway, for this user only";

/// The files that write, and why what they write contains no secret.
const WRITERS: &[(&str, &str)] = &[
    ("wire/src/webdriver/remote.rs", BROWSER),
    ("wire/src/webkit/connection.rs", BROWSER),
    ("wire/src/extension/transport.rs", BROWSER),
    ("wire/src/transport/pipe.rs", BROWSER),
    ("wire/src/transport/no_delay.rs", BROWSER),
    ("wire/src/transport/websocket.rs", BROWSER),
    (
        "engine/src/video.rs",
        "images, in a file that `features/video` copies",
    ),
    ("engine/src/backend/image.rs", "images"),
    (
        "engine/src/backend/profiling.rs",
        "a file without a name, which `files/writing` masks",
    ),
    (
        "engine/src/backend/webkit/downloads.rs",
        "a download, which is the file of the site; its name is masked in `files/names`",
    ),
    ("engine/src/egress/socks.rs", NETWORK),
    ("engine/src/egress/tls.rs", NETWORK),
    ("engine/src/egress/tunnel.rs", NETWORK),
    ("engine/src/launch/chromium.rs", PROFILE),
    ("engine/src/launch/display.rs", "a random cookie"),
    ("engine/src/launch/firefox.rs", PROFILE),
    ("engine/src/launch/webkit.rs", PROFILE),
    ("engine/src/launch/profile.rs", PROFILE),
    ("engine/src/launch/profile/files.rs", PROFILE),
    ("engine/src/launch/profile/startup_cache.rs", PROFILE),
    ("engine/src/launch/ffmpeg.rs", "images"),
    ("engine/src/video/webm.rs", "images"),
    (
        "engine/src/launch/upload.rs",
        "a file that the client uploads",
    ),
    ("engine/src/testing/network.rs", "only tests use it"),
    ("supervisor/src/list.rs", APP),
    ("supervisor/src/logs.rs", APP),
    ("supervisor/src/readiness.rs", APP),
    ("supervisor/src/state.rs", APP),
    ("supervisor/src/supervisor.rs", APP),
    (
        "server/src/access/audit.rs",
        "entries are masked in `access/audit/arguments`",
    ),
    ("server/src/apps/lease.rs", APP),
    (
        "server/src/files/beneath.rs",
        "opens files for `files/writing`",
    ),
    ("server/src/files/output_folder.rs", OWN),
    ("server/src/files/writing.rs", MASKS),
    (
        "server/src/sessions/downloads.rs",
        "a download, which is the file of the site; its name is masked in `files/names`",
    ),
    (
        "server/src/features/tracing/files.rs",
        "events and bodies are masked in `tracing/events` and `tracing/har`",
    ),
    ("server/src/sessions/session/console_file.rs", MASKS),
    ("server/src/features/har.rs", MASKS),
    ("server/src/features/journal.rs", MASKS),
    (
        "server/src/features/video.rs",
        "images; the name is chosen by the client or by Playhouse",
    ),
    (
        "server/src/dashboard/uploads.rs",
        "files of the user, for the page",
    ),
    ("server/src/dashboard/view.rs", MASKS),
    ("server/src/transport/http.rs", OWN),
    ("server/src/transport/listener.rs", OWN),
    ("server/src/transport/serve.rs", OWN),
    ("server/src/transport/serve/http.rs", OWN),
    ("server/src/transport/serve/stdio.rs", ANSWERS),
    ("server/src/transport/serve/workspace.rs", ANSWERS),
    ("server/src/transport/stdio.rs", ANSWERS),
    ("server/src/transport/websocket.rs", ANSWERS),
    ("server/src/transport/workspace_socket.rs", OWN),
    ("server/src/transport/mcp/streamable.rs", ANSWERS),
    (
        "server/src/transport/dashboard/logins.rs",
        "the link of the dashboard, for the user",
    ),
    (
        "server/src/transport/dashboard/socket.rs",
        "messages of `dashboard/view`, which masks them",
    ),
    ("server/src/cli.rs", TERMINAL),
    ("server/src/cli/app.rs", TERMINAL),
    ("server/src/cli/arguments.rs", TERMINAL),
    ("server/src/cli/audit.rs", TERMINAL),
    ("server/src/cli/background.rs", TERMINAL),
    (
        "server/src/cli/background/client.rs",
        "the arguments of the command, to the server",
    ),
    ("server/src/cli/call.rs", TERMINAL),
    ("server/src/cli/doctor.rs", TERMINAL),
    ("server/src/cli/install.rs", TERMINAL),
    (
        "server/src/cli/install/download.rs",
        "a browser that is installed",
    ),
    ("server/src/cli/log.rs", MASKS),
    (
        "server/src/cli/log/file.rs",
        "entries of `cli/log`, which masks them",
    ),
    ("server/src/cli/setup.rs", TERMINAL),
    (
        "server/src/cli/setup/file.rs",
        "the configuration of a client",
    ),
    ("server/src/cli/terminal.rs", TERMINAL),
    ("server/src/cli/tools.rs", TERMINAL),
    ("server/src/cli/try_command.rs", TERMINAL),
];

#[test]
fn every_writer_masks_secrets_or_has_a_reason() {
    let mut broken = Vec::new();
    let mut listed: BTreeSet<&str> = WRITERS.iter().map(|(path, _)| *path).collect();
    let crates = root().join("crates");
    for krate in our_crates() {
        for file in krate.files.iter().filter(|file| !file.is_test) {
            let path = file.path.strip_prefix(&crates).expect("a file of a crate");
            let path = path.display().to_string().replace('\\', "/");
            let Some(call) = WRITING.iter().find(|call| file.code().contains(*call)) else {
                continue;
            };
            let Some((_, reason)) = WRITERS.iter().find(|(writer, _)| *writer == path) else {
                broken.push(format!("{path}: `{call}` is not in the table"));
                continue;
            };
            listed.remove(path.as_str());
            let masks = MASKING.iter().any(|mask| file.code().contains(mask));
            if *reason == MASKS && !masks {
                broken.push(format!("{path}: does not mask"));
            }
        }
    }
    broken.extend(listed.iter().map(|path| format!("{path}: does not write")));
    assert_none(
        broken,
        "Write through `files/writing`, or mask what is written and add the file to the table in `writers.rs`.",
    );
}
