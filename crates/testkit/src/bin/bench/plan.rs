//! The command line of the benchmark.

use std::path::{Path, PathBuf};

use testkit::Engine;

/// The selected measurements.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) rounds: usize,
    /// Parts of names of metrics; none selects all.
    only: Vec<String>,
    /// Names of servers; none selects all.
    servers: Vec<String>,
    pub(crate) browsers: Vec<Browser>,
    /// A remark about each engine that is not installed.
    pub(crate) missing: Vec<String>,
    /// The file of the report; a complete run requires it.
    pub(crate) output: Option<PathBuf>,
    /// The arguments.
    pub(crate) command: String,
}

/// A browser to measure on.
#[derive(Clone, Debug)]
pub(crate) struct Browser {
    pub(crate) engine: Engine,
    pub(crate) path: PathBuf,
}

pub(crate) const USAGE: &str = "usage: bench [--rounds N] [--only METRIC,…] [--servers NAME,…] [--browser chromium|firefox|webkit|PATH]… [--output FILE]";

impl Plan {
    /// Parses the arguments.
    pub(crate) fn read(args: impl Iterator<Item = String>) -> Result<Self, String> {
        let args: Vec<String> = args.collect();
        let mut plan = Self {
            rounds: 5,
            only: Vec::new(),
            servers: Vec::new(),
            browsers: Vec::new(),
            missing: Vec::new(),
            output: None,
            command: args.join(" "),
        };
        let mut asked = Vec::new();
        let mut args = args.into_iter();
        while let Some(flag) = args.next() {
            let (flag, value) = match flag.split_once('=') {
                Some((flag, value)) => (flag.to_owned(), Some(value.to_owned())),
                None => (flag, args.next()),
            };
            let value = value.ok_or_else(|| format!("{flag} needs a value"))?;
            let list = || value.split(',').map(str::to_owned);
            match flag.as_str() {
                "--rounds" => {
                    plan.rounds = value
                        .parse()
                        .map_err(|_| format!("{value} is not a number"))?
                }
                "--only" => plan.only.extend(list()),
                "--servers" => plan.servers.extend(list()),
                "--browser" => asked.push(value),
                "--output" => plan.output = Some(value.into()),
                _ => return Err(format!("unknown option {flag}")),
            }
        }
        if asked.is_empty() {
            asked.extend(Engine::ALL.map(|engine| engine.name().to_owned()));
        }
        for asked in &asked {
            let engine = Engine::ALL.iter().find(|engine| engine.name() == asked);
            let found = match engine {
                Some(engine) => installed(*engine),
                None => vec![PathBuf::from(asked)],
            };
            if found.is_empty() {
                plan.missing.push(format!("{asked} is not installed"));
            }
            plan.browsers.extend(found.into_iter().map(Browser::at));
        }
        if plan.browsers.is_empty() {
            return Err(plan.missing.join(", "));
        }
        Ok(plan)
    }

    /// Returns whether this metric is selected.
    pub(crate) fn wants(&self, metric: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| metric.contains(only.as_str()))
    }

    /// Returns whether any of these metrics is selected.
    pub(crate) fn wants_any(&self, metrics: &[&str]) -> bool {
        metrics.iter().any(|metric| self.wants(metric))
    }

    /// Returns whether this server is selected.
    pub(crate) fn takes(&self, server: &str) -> bool {
        self.servers.is_empty() || self.servers.iter().any(|name| name == server)
    }
}

impl Browser {
    /// Creates the browser of a program, whose name determines the engine.
    fn at(path: PathBuf) -> Self {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let engine = if name.contains("firefox") {
            Engine::Firefox
        } else if name.contains("MiniBrowser") {
            Engine::Webkit
        } else {
            Engine::Chromium
        };
        Self { engine, path }
    }

    /// Returns whether it is a Chromium without support for windows.
    pub(crate) fn is_headless_shell(&self) -> bool {
        self.path.display().to_string().contains("headless")
    }
}

/// Returns the installed browsers of an engine: a full Chromium and a headless shell.
fn installed(engine: Engine) -> Vec<PathBuf> {
    if engine != Engine::Chromium {
        return engine.find().into_iter().collect();
    }
    ["/usr/bin/chromium", "/usr/bin/chromium-headless-shell"]
        .map(Path::new)
        .into_iter()
        .filter(|path| path.is_file())
        .map(Path::to_owned)
        .collect()
}
