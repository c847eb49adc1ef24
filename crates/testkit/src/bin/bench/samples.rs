//! The measured values by metric, server and round, and their statistics.

use std::collections::{BTreeMap, BTreeSet};

/// The values of one browser.
#[derive(Debug, Default)]
pub(crate) struct Samples {
    /// The values of each round, by metric and server.
    rounds: BTreeMap<(&'static str, &'static str), BTreeMap<usize, Vec<f64>>>,
    /// The reasons of missing values, by metric and server.
    failures: BTreeMap<(&'static str, &'static str), BTreeSet<String>>,
}

impl Samples {
    pub(crate) fn add(
        &mut self,
        metric: &'static str,
        server: &'static str,
        round: usize,
        value: f64,
    ) {
        let rounds = self.rounds.entry((metric, server)).or_default();
        rounds.entry(round).or_default().push(value);
    }

    pub(crate) fn fail(&mut self, metric: &'static str, server: &'static str, why: String) {
        self.failures
            .entry((metric, server))
            .or_default()
            .insert(why);
    }

    /// Returns the median over the rounds of each round's median; `None` after any failure.
    pub(crate) fn median(&self, metric: &'static str, server: &'static str) -> Option<f64> {
        if self.failures.contains_key(&(metric, server)) {
            return None;
        }
        let rounds = self.rounds.get(&(metric, server))?;
        median(
            rounds
                .values()
                .filter_map(|samples| median(samples.iter().copied())),
        )
    }

    /// Returns the median over the rounds of the ratio of two servers in the same round.
    pub(crate) fn ratio(
        &self,
        metric: &'static str,
        server: &'static str,
        to: &'static str,
    ) -> Option<f64> {
        self.median(metric, server).and(self.median(metric, to))?;
        let (ours, theirs) = (
            self.rounds.get(&(metric, server))?,
            self.rounds.get(&(metric, to))?,
        );
        let both = ours.iter().filter_map(|(round, samples)| {
            let one = median(samples.iter().copied())?;
            let other = median(theirs.get(round)?.iter().copied())?;
            (other > 0.0).then_some(one / other)
        });
        median(both)
    }

    /// Returns the failures: metric, server, reason.
    pub(crate) fn failures(&self) -> impl Iterator<Item = (&'static str, &'static str, &str)> {
        self.failures.iter().flat_map(|(&(metric, server), why)| {
            why.iter().map(move |why| (metric, server, why.as_str()))
        })
    }
}

fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => None,
        odd if odd % 2 == 1 => Some(values[middle]),
        _ => Some((values[middle - 1] + values[middle]) / 2.0),
    }
}
