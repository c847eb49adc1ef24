//! nginx in front of a server, with the configurations of the documents and of `deploy`.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use testkit::{HttpServer, Launch, Site, unused_port};

use crate::blocks::{Use, blocks};
use crate::root;

const KEY: &str = "a-key-behind-nginx-0123456789";

#[testkit::test(chromium, nginx)]
async fn nginx_passes_calls_streams_and_logins_on() {
    let site = Site::start().await;
    let page = site.add_page("/behind", "<title>Behind nginx</title>");
    let server = Launch::new(env!("CARGO_BIN_EXE_playhouse")).args(["--headless", "--isolated"]);
    let server = server.args(["--api-key", KEY, "--allowed-hosts", "localhost"]);
    let server = HttpServer::start_guarded(server).await;
    let compose = fs::read_to_string(root().join("deploy/nginx.conf")).expect("a configuration");
    let mut configurations = vec![("deploy/nginx.conf".to_owned(), compose)];
    for block in blocks(|block_use| block_use == Use::Nginx) {
        configurations.push((
            block.place,
            format!("events {{}}\nhttp {{\n{}}}\n", block.text),
        ));
    }
    for (place, configuration) in configurations {
        let folder = tempfile::tempdir().expect("a folder");
        let port = unused_port();
        let scheme = match configuration.contains(" ssl;") {
            true => "https",
            false => "http",
        };
        let configuration = local(&configuration, server.authority(), port, folder.path());
        let _nginx = Nginx::start(&configuration, folder.path());
        let url = format!("{scheme}://localhost:{port}");
        let (_, health) = curl(&[
            "--retry",
            "20",
            "--retry-connrefused",
            &format!("{url}/health"),
        ]);
        assert!(health.contains("\"ok\""), "{place}: {health}");
        let call = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"browser_navigate","arguments":{{"url":"{page}"}}}}}}"#
        );
        let json = "Content-Type: application/json";
        let (_, answer) = curl(&["-H", json, "-d", &call, &format!("{url}/message")]);
        assert!(answer.contains("Behind nginx"), "{place}: {answer}");
        // The stream is open when its first event arrives: 28 is the timeout of curl.
        let (code, events) = curl(&["--no-buffer", "--max-time", "3", &format!("{url}/sse")]);
        assert!(
            code == 28 && events.contains("event: endpoint"),
            "{place}: {code} {events}"
        );
        let upgrade = [
            "--include",
            "--http1.1",
            "--max-time",
            "3",
            "-H",
            "Connection: Upgrade",
            "-H",
            "Upgrade: websocket",
            "-H",
            "Sec-WebSocket-Version: 13",
            "-H",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        ];
        let (_, switched) = curl(&[&upgrade[..], &[&format!("{url}/ws")]].concat());
        assert!(switched.starts_with("HTTP/1.1 101"), "{place}: {switched}");
        let origin = format!("Origin: {url}");
        let form = ["--include", "-H", &origin, "-d", &format!("key={KEY}")];
        let (_, login) = curl(&[&form[..], &[&format!("{url}/dashboard/login")]].concat());
        assert!(
            login.starts_with("HTTP/1.1 303") && login.contains("HttpOnly"),
            "{place}: {login}"
        );
    }
}

/// Replaces the addresses, certificates and folders of a configuration by those of the test.
fn local(configuration: &str, server: &str, port: u16, folder: &Path) -> String {
    let (certificate, key) = testkit::tls_files();
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .iter()
        .map(|name| format!("{name}_temp_path {}/{name};\n", folder.display()))
        .collect();
    let http = format!("http {{\naccess_log off;\n{temporary}");
    let replacements = [
        ("playhouse:8931", server.to_owned()),
        ("127.0.0.1:8931", server.to_owned()),
        ("127.0.0.1:8932", server.to_owned()),
        ("listen 80;", format!("listen 127.0.0.1:{port};")),
        ("listen 443 ssl;", format!("listen 127.0.0.1:{port} ssl;")),
        ("/etc/ssl/tools.pem", certificate.display().to_string()),
        ("/etc/ssl/tools.key", key.display().to_string()),
        ("http {\n", http),
    ];
    let replace = |text: String, (from, to): &(&str, String)| text.replace(from, to);
    replacements.iter().fold(configuration.to_owned(), replace)
}

/// A running nginx, which ends when this is dropped.
struct Nginx(Child);

impl Nginx {
    #[expect(clippy::disallowed_methods, reason = "it ends with the test")]
    fn start(configuration: &str, folder: &Path) -> Self {
        let path = folder.join("nginx.conf");
        fs::write(&path, configuration).expect("writable");
        let global = format!(
            "daemon off; master_process off; pid {0}/pid; error_log {0}/errors;",
            folder.display()
        );
        let mut command = Command::new(testkit::nginx().expect("it is installed"));
        let command = command
            .arg("-p")
            .arg(folder)
            .arg("-c")
            .arg(&path)
            .args(["-g", &global]);
        Self(
            command
                .stdin(Stdio::null())
                .spawn()
                .expect("it is installed"),
        )
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs curl with the key. Returns its exit status and what it received.
#[expect(clippy::disallowed_methods, reason = "it ends with the test")]
fn curl(words: &[&str]) -> (i32, String) {
    let mut command = Command::new("curl");
    let key = format!("Authorization: Bearer {KEY}");
    let command = command
        .args(["--silent", "--insecure", "-H", &key])
        .args(words);
    let output = command.output().expect("curl is installed");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    (output.status.code().unwrap_or(-1), text)
}
