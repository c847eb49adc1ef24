//! Other users of the machine: what a server and its browsers leave where they could read it or connect to it. It needs root, which starts
//! programs as another user.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::json;
use testkit::{Engine, Site};

use crate::launch_on;

/// The user and the group `nobody`, who own nothing.
const NOBODY: u32 = 65_534;
const SECRET: &str = "hunter22-of-the-first-user";

/// Runs a program as another user.
#[expect(clippy::disallowed_methods, reason = "a test runs what ends by itself")]
fn as_nobody(program: &str, args: &[&str]) -> Output {
    let mut command = Command::new(program);
    command.args(args).uid(NOBODY).gid(NOBODY).current_dir("/");
    command
        .output()
        .unwrap_or_else(|error| panic!("{program}: {error}"))
}

/// Returns what another user can read, write or enter below a folder.
fn accessible_below(folder: &Path) -> Vec<String> {
    let folder = folder.display().to_string();
    let what = ["(", "-readable", "-o", "-writable", ")", "!", "-type", "l"];
    let found = as_nobody("find", &[&[&*folder, "-mindepth", "1"], &what[..]].concat());
    let found = String::from_utf8_lossy(&found.stdout).into_owned();
    found.lines().map(str::to_owned).collect()
}

/// Returns the process and its descendants.
fn family(pid: u32) -> Vec<u32> {
    let mut family = vec![pid];
    let mut next = 0;
    while let Some(parent) = family.get(next).copied() {
        next += 1;
        let threads = fs::read_dir(format!("/proc/{parent}/task"))
            .into_iter()
            .flatten();
        for thread in threads.flatten() {
            let children = fs::read_to_string(thread.path().join("children"));
            let children = children.unwrap_or_default();
            family.extend(children.split_whitespace().flat_map(str::parse::<u32>));
        }
    }
    family
}

/// Returns the inodes of the sockets of a process.
fn sockets_of(pid: u32) -> BTreeSet<String> {
    let open = fs::read_dir(format!("/proc/{pid}/fd"))
        .into_iter()
        .flatten();
    open.flatten()
        .filter_map(|entry| {
            let target = fs::read_link(entry.path()).ok()?.display().to_string();
            let inode = target.strip_prefix("socket:[")?.strip_suffix(']')?;
            Some(inode.to_owned())
        })
        .collect()
}

/// Returns the TCP ports on which a process listens.
fn ports(pid: u32) -> BTreeSet<u16> {
    let sockets = sockets_of(pid);
    let table = fs::read_to_string(format!("/proc/{pid}/net/tcp")).unwrap_or_default();
    let listening = table.lines().filter_map(|line| {
        let columns: Vec<_> = line.split_whitespace().collect();
        let [_, local, _, "0A", ..] = columns[..] else {
            return None;
        };
        let port = u16::from_str_radix(local.rsplit(':').next()?, 16).ok()?;
        sockets.contains(*columns.get(9)?).then_some(port)
    });
    listening.collect()
}

/// Returns the sockets of the X servers of a process.
fn displays(pid: u32) -> Vec<String> {
    let sockets = fs::read_to_string("/proc/net/unix").unwrap_or_default();
    let inodes: BTreeSet<_> = family(pid).into_iter().flat_map(sockets_of).collect();
    let listening = sockets.lines().filter_map(|line| {
        let mut columns = line.split_whitespace().skip(6);
        let inode = columns.next()?;
        let path = columns.next()?;
        (inodes.contains(inode) && path.starts_with("/tmp/.X11-unix/")).then(|| path.to_owned())
    });
    let paths: BTreeSet<_> = listening.collect();
    paths.into_iter().collect()
}

#[testkit::test(chromium, firefox, webkit)]
async fn another_user_reads_and_reaches_nothing(engine: Engine) {
    // Only root can try as another user.
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let site = Site::start().await;
    let page = site.add_page(
        "/",
        &format!(
            "<script>document.cookie = 'key={SECRET}'; localStorage.key = '{SECRET}'</script>"
        ),
    );
    // The folders themselves can be entered.
    let folder = tempfile::tempdir().expect("a folder");
    let inside = |name: &str| -> PathBuf {
        let path = folder.path().join(name);
        fs::create_dir(&path).expect("writable");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("its owner");
        path
    };
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("its owner");
    let (temporary, output, logs) = (inside("temporary"), inside("output"), inside("logs"));
    let secrets = folder.path().join("secrets.env");
    fs::write(&secrets, format!("KEY={SECRET}")).expect("writable");
    fs::set_permissions(&secrets, fs::Permissions::from_mode(0o600)).expect("its owner");
    let client = launch_on(
        engine,
        &[
            "--allowed-domains=127.0.0.1",
            "--caps=devtools",
            "--log-level=trace",
            "--quarantine-downloads",
        ],
    )
    .args([
        format!("--output-dir={}", output.join("files").display()),
        format!("--log-file={}", logs.join("server.log").display()),
        format!("--secrets={}", secrets.display()),
    ])
    .env("TMPDIR", &temporary.display().to_string())
    .start()
    .await;
    client.success("navigate", json!({ "url": page })).await;
    client.success("browser_take_screenshot", json!({})).await;
    client.success("browser_start_tracing", json!({})).await;
    // A download that is under way.
    let download = json!({ "url": site.url("/download?name=tool.sh") });
    client.call("navigate", download).await;
    client.success("create_session", json!({})).await;

    for folder in [&temporary, &output, &logs] {
        let found = accessible_below(folder);
        assert!(found.is_empty(), "{engine:?}: {found:#?}");
    }
    let pid = client.pid().expect("it runs");
    for process in family(pid) {
        let shown = as_nobody("cat", &[&format!("/proc/{process}/cmdline")]).stdout;
        let shown = String::from_utf8_lossy(&shown).into_owned();
        assert!(!shown.contains(SECRET), "{shown}");
    }
    // The egress proxy of the browser contexts, and what browsers and their helpers listen on.
    let egress = ports(pid);
    assert!(!egress.is_empty(), "the egress proxy listens");
    let listening: BTreeSet<_> = family(pid).into_iter().flat_map(ports).collect();
    for port in listening {
        let script = format!(
            "exec 3<>/dev/tcp/127.0.0.1/{port}; printf 'GET {page} HTTP/1.1\\r\\nhost: 127.0.0.1\\r\\n\\r\\n' >&3; timeout 10 cat <&3"
        );
        let seen = site.requests().len();
        let answer = as_nobody("bash", &["-c", &script]);
        let text = String::from_utf8_lossy(&answer.stdout).into_owned();
        assert!(!text.contains(" 200 "), "{port}: {text}");
        assert_eq!(site.requests().len(), seen, "{port}: {text}");
        // Firefox accepts connections, and no second session.
        if engine == Engine::Webkit && !egress.contains(&port) {
            let error = String::from_utf8_lossy(&answer.stderr).into_owned();
            assert!(error.contains("refused"), "{engine:?}: {port}: {error}");
        }
    }
    let displays = displays(pid);
    assert!(engine != Engine::Webkit || !displays.is_empty());
    for display in displays {
        // The bytes order, the version 11.0, and no authorization. The first byte of the answer is 1 if the server accepts.
        let script = format!(
            "use Socket; socket(my $s, PF_UNIX, SOCK_STREAM, 0); connect($s, sockaddr_un('{display}')) or die; \
             syswrite($s, pack('a1 x v4 x2', 'l', 11, 0, 0, 0)); sysread($s, my $answer, 1); print ord($answer)"
        );
        let answer = as_nobody("perl", &["-e", &script]);
        let text = String::from_utf8_lossy(&answer.stdout).into_owned();
        assert_eq!(text, "0", "{engine:?}: {display}: {answer:?}");
    }
    client.end().await;
}
