//! Measured values by metric, server and round, and their statistics.

use std::collections::{BTreeMap, BTreeSet};

type Key<'a> = (&'a str, &'a str);

/// The values of one browser.
#[derive(Default)]
pub(crate) struct Samples {
    /// The values of each round, by metric and server.
    rounds: BTreeMap<Key<'static>, BTreeMap<usize, Vec<f64>>>,
    /// The reasons of missing values: metric, server, reason.
    pub(crate) failures: BTreeSet<(&'static str, &'static str, String)>,
}

impl Samples {
    pub(crate) fn add(&mut self, key: Key<'static>, round: usize, value: f64) {
        let values = self.rounds.entry(key).or_default();
        values.entry(round).or_default().push(value);
    }

    /// Returns the median over the rounds of each round's median; `None` after any failure.
    pub(crate) fn median(&self, metric: &str, server: &str) -> Option<f64> {
        median(self.medians((metric, server))?.into_values())
    }

    /// Returns the median over the rounds of the ratio of two servers in the same round.
    pub(crate) fn ratio(&self, metric: &str, one: &str, other: &str) -> Option<f64> {
        let others = self.medians((metric, other))?;
        let ones = self.medians((metric, one))?.into_iter();
        let both = ones.filter_map(|(round, one)| Some((one, *others.get(&round)?)));
        let both = both.filter(|(_, other)| *other > 0.0);
        median(both.map(|(one, other)| one / other))
    }

    fn medians(&self, key: Key<'_>) -> Option<BTreeMap<usize, f64>> {
        let mut failures = self.failures.iter();
        let has_failed = failures.any(|failure| (failure.0, failure.1) == key);
        let rounds = self.rounds.get(&key).filter(|_| !has_failed)?.iter();
        let medians = rounds.map(|(round, values)| Some((*round, median(values.iter().copied())?)));
        medians.collect()
    }
}

fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    let upper = *values.get(middle)?;
    match values.len() % 2 {
        1 => Some(upper),
        _ => Some((values[middle - 1] + upper) / 2.0),
    }
}
