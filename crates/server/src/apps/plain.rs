//! Plain commands, which are the app itself, such as `npm run dev`: how they are distinguished from server commands, and how `playhouse
//! app` runs them.

use crate::config::DevServerSettings;
use std::path::{Path, PathBuf};
use std::time::Duration;
use supervisor::processes::{Identity, table};
use tokio::time::Instant;

/// How long the command may listen on a port before it answers.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// How much shorter the timeout of `playhouse app` is, so that its error is reported.
const TIMEOUT_MARGIN: Duration = Duration::from_secs(5);

/// Programs that run the scripts of a package.
const PACKAGE_MANAGERS: [&str; 4] = ["npm", "pnpm", "yarn", "bun"];

/// Names of scripts that start an app by convention.
const SCRIPTS: [&str; 5] = ["dev", "start", "serve", "preview", "develop"];

/// Dev servers with their own command, and the arguments that start the server.
const DEV_SERVERS: [&[&str]; 10] = [
    &["vite"],
    &["next", "dev"],
    &["nuxt", "dev"],
    &["astro", "dev"],
    &["ng", "serve"],
    &["flask", "run"],
    &["rails", "server"],
    &["rails", "s"],
    &["php", "-S"],
    &["python3", "-m", "http.server"],
];

/// The program of a wrapped command. A path could be gone by the time the command runs, because of an upgrade.
const OWN_PROGRAM: &str = "{playhouse}";

/// Operators that require a shell.
const OPERATORS: [&str; 4] = ["&&", "||", "|", ";"];

/// Returns whether a command is known to be a plain command: running it with any option would start the app.
pub(super) fn is_known(command: &[String]) -> bool {
    let mut words: Vec<&str> = command.iter().map(String::as_str).collect();
    let Some(program) = words.first_mut() else {
        return false;
    };
    if is_for_shell(program) {
        return true;
    }
    *program = program_name(program, cfg!(windows));
    if matches!(words[0], "npx" | "bunx") {
        words.remove(0);
    }
    match &words[..] {
        [manager, "run", script, ..] | [manager, script, ..]
            if PACKAGE_MANAGERS.contains(manager) =>
        {
            SCRIPTS.contains(script)
        }
        words => DEV_SERVERS.iter().any(|server| words.starts_with(server)),
    }
}

/// Returns the name of a program: on Windows without its extension, such as that of `npm.cmd`.
fn program_name(program: &str, is_windows: bool) -> &str {
    let path = Path::new(program);
    let name = match is_windows {
        true => path.file_stem(),
        false => path.file_name(),
    };
    name.and_then(|name| name.to_str()).unwrap_or_default()
}

/// Returns whether a line that begins with this word requires a shell.
fn is_for_shell(program: &str) -> bool {
    program == "cd" || assignment(program).is_some()
}

/// Splits an assignment into the variable and its value.
fn assignment(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let plain = |char: char| char.is_ascii_alphanumeric() || char == '_';
    (!name.is_empty() && name.chars().all(plain)).then_some((name, value))
}

/// Returns the settings with the command wrapped in `playhouse app`.
pub(super) fn wrapped(settings: &DevServerSettings) -> DevServerSettings {
    let ready = settings
        .start
        .saturating_sub(TIMEOUT_MARGIN)
        .max(settings.start / 2);
    let mut command = vec![
        OWN_PROGRAM.to_owned(),
        "app".to_owned(),
        "--name".to_owned(),
        settings.name.clone(),
        "--ready-timeout".to_owned(),
        ready.as_millis().to_string(),
        "--".to_owned(),
    ];
    let words = &settings.command;
    let is_operator = |word: &String| OPERATORS.contains(&word.as_str());
    if words.first().is_some_and(|word| is_for_shell(word)) || words.iter().any(is_operator) {
        let words: Vec<String> = words.iter().map(|word| shell_word(word)).collect();
        command.push(words.join(" "));
    } else {
        command.extend(words.iter().cloned());
    }
    DevServerSettings {
        command,
        ..settings.clone()
    }
}

/// Returns the path of the program that a command names.
pub(super) fn program(name: &str) -> PathBuf {
    match name {
        OWN_PROGRAM => supervisor::processes::own_program(),
        name => name.into(),
    }
}

/// Returns a word of a line as a shell word, after its quotes were removed.
fn shell_word(word: &str) -> String {
    let quoted = |text: &str| {
        let needs = text.contains(|char: char| char.is_whitespace() || "'\"".contains(char));
        match shlex::try_quote(text).ok().filter(|_| needs) {
            Some(quoted) => quoted.into_owned(),
            None => text.to_owned(),
        }
    };
    match assignment(word) {
        Some((name, value)) => format!("{name}={}", quoted(value)),
        None => quoted(word),
    }
}

/// Resolves when the command has listened on a port for a while, as an app does and a server command does not.
pub(super) async fn serves_itself(command: Option<&Identity>) {
    let Some(command) = command else {
        return std::future::pending().await;
    };
    let mut since = None;
    loop {
        tokio::time::sleep(POLL_INTERVAL).await;
        let group = command.pid;
        let listens = tokio::task::spawn_blocking(move || listens(group)).await;
        match since {
            _ if !listens.unwrap_or_default() => since = None,
            None => since = Some(Instant::now()),
            Some(since) if since.elapsed() > ANSWER_TIMEOUT => return,
            Some(_) => {}
        }
    }
}

/// Returns whether a process of the group listens; `false` if that is unknown.
fn listens(group: u32) -> bool {
    let members = table::all().filter(|entry| entry.group == group && !entry.ended);
    let pids: Vec<u32> = members.map(|entry| entry.pid).collect();
    !table::ports(&pids).is_empty()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        shlex::split(line).expect("its quotes are closed")
    }

    #[test]
    fn common_dev_commands_are_recognized() {
        for app in [
            "npm run dev",
            "npm start",
            "pnpm dev --host",
            "/usr/bin/yarn serve",
            "npx vite --port {port}",
            "flask run",
            "PORT=3000 node server.js",
            "cd web && npm run dev",
        ] {
            assert!(is_known(&words(app)), "{app}");
        }
        for other in [
            "npm run e2e-server",
            "playhouse app -- npm run dev",
            "./server.sh",
            "node dev.mjs",
        ] {
            assert!(!is_known(&words(other)), "{other}");
        }
    }

    #[test]
    fn a_program_has_no_extension_on_windows() {
        for (program, on_windows, elsewhere) in [
            ("npm.cmd", "npm", "npm.cmd"),
            ("/tools/vite.exe", "vite", "vite.exe"),
            ("yarn", "yarn", "yarn"),
        ] {
            assert_eq!(program_name(program, true), on_windows);
            assert_eq!(program_name(program, false), elsewhere);
        }
    }

    #[test]
    fn a_shell_command_line_stays_one_argument() {
        let wrapped = |line: &str| {
            let settings = DevServerSettings {
                name: "web".into(),
                command: words(line),
                url: None,
                cwd: "/".into(),
                env: Vec::new(),
                requires: Vec::new(),
                start: Duration::from_secs(30),
                restart: Duration::ZERO,
                status: Duration::ZERO,
                shutdown: Duration::ZERO,
                idle: None,
            };
            wrapped(&settings).command[2..].to_vec()
        };
        let own = ["--name", "web", "--ready-timeout", "25000", "--"];
        assert_eq!(
            wrapped("npm run dev"),
            [&own[..], &["npm", "run", "dev"]].concat()
        );
        assert_eq!(
            wrapped("cd 'my web' && A='b c' npm run dev"),
            [&own[..], &["cd 'my web' && A='b c' npm run dev"]].concat()
        );
    }
}
