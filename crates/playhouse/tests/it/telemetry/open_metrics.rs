//! A strict parser of the text format of OpenMetrics. <https://prometheus.io/docs/specs/om/open_metrics_spec/>

use std::collections::{BTreeMap, BTreeSet};

/// The labels of a sample.
pub(super) type Labels = BTreeMap<String, String>;

/// A metric family with its samples.
#[derive(Debug, Default)]
pub(super) struct Family {
    kind: String,
    has_help: bool,
    samples: BTreeMap<(String, Labels), f64>,
}

/// All families of an exposition.
#[derive(Debug)]
pub(super) struct Exposition(BTreeMap<String, Family>);

impl Exposition {
    /// Parses an exposition.
    ///
    /// # Panics
    /// If the text violates the specification.
    pub(super) fn parse(text: &str) -> Self {
        let body = text.strip_suffix("# EOF\n").expect("it ends with # EOF");
        let mut families = BTreeMap::<String, Family>::new();
        let mut current = String::new();
        for line in body.lines() {
            let Some(comment) = line.strip_prefix("# ") else {
                let family = families.get_mut(&current).expect(line);
                family.add(&current, line);
                continue;
            };
            let mut words = comment.splitn(3, ' ');
            let mut word = || words.next().expect(line);
            let (keyword, name, value) = (word(), word(), word());
            assert!(is_name(name), "{line}");
            if name != current {
                let is_new = families.insert(name.to_owned(), Family::default());
                assert!(is_new.is_none(), "{name} is not contiguous");
                name.clone_into(&mut current);
            }
            let family = families.get_mut(name).expect("it was added");
            assert!(family.samples.is_empty(), "{line} follows samples");
            match keyword {
                "TYPE" => value.clone_into(&mut family.kind),
                "HELP" => family.has_help = !value.is_empty(),
                "UNIT" => assert!(name.ends_with(&format!("_{value}")), "{line}"),
                _ => panic!("{line}"),
            }
        }
        for (name, family) in &families {
            assert!(family.has_help, "{name} has no help");
            family.check(name);
        }
        Self(families)
    }

    /// Returns the value of a sample.
    ///
    /// # Panics
    /// If there is no such sample.
    pub(super) fn value(&self, name: &str, labels: &[(&str, &str)]) -> f64 {
        let labels: Labels = labels
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let key = (name.to_owned(), labels);
        let found = self.0.values().find_map(|family| family.samples.get(&key));
        *found.unwrap_or_else(|| panic!("no sample {key:?} in {self:?}"))
    }

    /// Returns the labels of all samples with that name.
    pub(super) fn labels(&self, name: &str) -> BTreeSet<Labels> {
        let samples = self.0.values().flat_map(|family| family.samples.keys());
        samples
            .filter(|(own, _)| own == name)
            .map(|(_, labels)| labels.clone())
            .collect()
    }
}

impl Family {
    fn add(&mut self, name: &str, line: &str) {
        let (series, value) = line.rsplit_once(' ').expect(line);
        let (sample, labels) = match series.split_once('{') {
            Some((sample, labels)) => (sample, labels_of(labels.strip_suffix('}').expect(line))),
            None => (series, Labels::new()),
        };
        let suffix = sample.strip_prefix(name).expect(line);
        let allowed: &[&str] = match &*self.kind {
            "gauge" => &[""],
            "counter" => &["_total", "_created"],
            "histogram" => &["_bucket", "_sum", "_count", "_created"],
            kind => panic!("{name} is a {kind}"),
        };
        assert!(allowed.contains(&suffix), "{line}");
        let value = value.parse().expect(line);
        let added = self.samples.insert((sample.to_owned(), labels), value);
        assert!(added.is_none(), "{line} is there twice");
    }

    /// Checks that buckets are cumulative and that the last one has all observations.
    fn check(&self, name: &str) {
        if self.kind != "histogram" {
            return;
        }
        let mut buckets = BTreeMap::<Labels, Vec<(f64, f64)>>::new();
        for ((sample, labels), count) in &self.samples {
            if sample.ends_with("_bucket") {
                let mut labels = labels.clone();
                let bound = labels.remove("le").expect("a bucket has a bound");
                let bound = bound.replace("+Inf", "inf").parse().expect("a number");
                buckets.entry(labels).or_default().push((bound, *count));
            }
        }
        for (labels, mut buckets) in buckets {
            buckets.sort_by(|one, other| one.0.total_cmp(&other.0));
            assert!(
                buckets.is_sorted_by(|one, other| one.1 <= other.1),
                "{name} {labels:?}"
            );
            let last = buckets.last().expect("a bucket");
            let count = self.samples.get(&(format!("{name}_count"), labels.clone()));
            assert_eq!(
                (last.0, Some(&last.1)),
                (f64::INFINITY, count),
                "{name} {labels:?}"
            );
            let sum = self.samples.get(&(format!("{name}_sum"), labels));
            assert!(sum.is_some_and(|sum| *sum >= 0.0), "{name}");
        }
    }
}

fn is_name(name: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    name.starts_with("playhouse_") && name.bytes().all(is_allowed)
}

/// Parses labels, whose values need no escapes here.
fn labels_of(text: &str) -> Labels {
    let mut labels = Labels::new();
    for label in text.split(',') {
        let (name, value) = label.split_once('=').expect(text);
        let value = value
            .strip_prefix('"')
            .and_then(|value| value.strip_suffix('"'));
        let value = value.expect(text);
        assert!(!value.contains(['"', '\\']), "{text}");
        let added = labels.insert(name.to_owned(), value.to_owned());
        assert!(added.is_none(), "{text}");
    }
    labels
}
