//! What to measure: the command line.

use std::path::{Path, PathBuf};

use testkit::Engine;

/// What was asked for.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) rounds: usize,
    /// Parts of metrics' names; none means all.
    only: Vec<String>,
    /// Servers' names; none means all.
    servers: Vec<String>,
    pub(crate) browsers: Vec<Browser>,
    /// A word about each engine that is not installed.
    pub(crate) missing: Vec<String>,
    /// Where the document goes; a run of everything says where.
    pub(crate) output: Option<PathBuf>,
    /// The arguments as they were given.
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
    /// Reads the arguments; `Err` is what is wrong with them.
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

    /// Whether this metric is asked for.
    pub(crate) fn wants(&self, metric: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| metric.contains(only.as_str()))
    }

    /// Whether any of these is.
    pub(crate) fn wants_any(&self, metrics: &[&str]) -> bool {
        metrics.iter().any(|metric| self.wants(metric))
    }

    /// Whether this server is asked for.
    pub(crate) fn takes(&self, server: &str) -> bool {
        self.servers.is_empty() || self.servers.iter().any(|name| name == server)
    }
}

impl Browser {
    /// The program's name says which engine it is.
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

    /// Whether it is a Chromium that has no windows at all.
    pub(crate) fn is_headless_shell(&self) -> bool {
        self.path.display().to_string().contains("headless")
    }
}

/// The browsers of an engine that are measured: a Chromium with windows and one without.
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
