//! What to measure: the command line.

use std::path::PathBuf;

/// What was asked for.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) rounds: usize,
    /// Parts of metrics' names; none means all.
    only: Vec<String>,
    /// Servers' names; none means all.
    servers: Vec<String>,
    pub(crate) browsers: Vec<PathBuf>,
    /// Where the document goes; a run of everything says where.
    pub(crate) output: Option<PathBuf>,
    /// The arguments as they were given.
    pub(crate) command: String,
}

pub(crate) const USAGE: &str = "usage: bench [--rounds N] [--only METRIC,…] [--servers NAME,…] [--browser PATH]… [--output FILE]";

impl Plan {
    /// Reads the arguments; `Err` is what is wrong with them.
    pub(crate) fn read(args: impl Iterator<Item = String>) -> Result<Self, String> {
        let args: Vec<String> = args.collect();
        let mut plan = Self {
            rounds: 5,
            only: Vec::new(),
            servers: Vec::new(),
            browsers: Vec::new(),
            output: None,
            command: args.join(" "),
        };
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
                "--browser" => plan.browsers.push(value.into()),
                "--output" => plan.output = Some(value.into()),
                _ => return Err(format!("unknown option {flag}")),
            }
        }
        if plan.browsers.is_empty() {
            let known =
                ["/usr/bin/chromium", "/usr/bin/chromium-headless-shell"].map(PathBuf::from);
            plan.browsers
                .extend(known.into_iter().filter(|path| path.is_file()));
        }
        if plan.browsers.is_empty() {
            return Err(
                "there is neither chromium nor chromium-headless-shell; name one with --browser"
                    .to_owned(),
            );
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
