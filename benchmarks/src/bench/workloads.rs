//! The rows of the report with their targets, and how those that are durations of steps are measured: the table of `workloads.txt`.

use std::sync::LazyLock;

/// A row of the report.
pub(crate) struct Metric {
    /// The name for `--only`.
    pub(crate) key: &'static str,
    pub(crate) title: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) goal: &'static str,
    /// What measures it, if not [`super::warm`].
    pub(crate) group: &'static str,
    /// The page that is opened first (empty if the steps open one), the number of values in a round, the steps, and what proves their
    /// effect. `$n` is the number of the value, from one.
    pub(crate) timed: Option<[&'static str; 4]>,
}

/// The metric that is also measured with a rule about domains, with which all requests use the egress proxy.
pub(crate) const MANY_REQUESTS: &str = "navigate-requests";

pub(crate) static METRICS: LazyLock<Vec<Metric>> = LazyLock::new(|| {
    let metrics = rows(include_str!("workloads.txt")).map(|cells| Metric {
        key: cells[0],
        title: cells[1],
        unit: cells[2],
        goal: cells[3],
        group: cells[4],
        timed: cells[4..].try_into().ok(),
    });
    metrics.collect()
});

/// Returns the cells of each row of a table.
pub(crate) fn rows(table: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    let rows = table.lines().filter(|line| !line.starts_with('#'));
    rows.map(|row| row.split('|').map(str::trim).collect())
}
