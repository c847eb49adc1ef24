//! Resolves where traces are exported to, from the option and from the variables that OpenTelemetry specifies.
//!
//! <https://opentelemetry.io/docs/specs/otel/protocol/exporter/>

use std::num::NonZeroU32;
use std::time::Duration;

use url::Url;

use crate::config::{
    environment::Environment, error::ConfigError, options::Options, settings::TraceSettings,
};

/// The path of traces below the endpoint.
const PATH: &str = "v1/traces";

/// The longest time of a request without a variable.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

/// The protocol that is supported.
const PROTOCOL: &str = "http/protobuf";

/// Returns where traces are exported to; `None` if nothing requests it.
pub(super) fn traces(
    options: &Options,
    environment: &Environment,
    notices: &mut Vec<String>,
) -> Result<Option<TraceSettings>, ConfigError> {
    let is = |name, value: &str| {
        environment
            .get(name)
            .is_some_and(|set| set.eq_ignore_ascii_case(value))
    };
    if is("OTEL_SDK_DISABLED", "true") {
        return Ok(None);
    }
    let url = match options.otlp_endpoint.value() {
        Some(endpoint) => Some(url_of_traces(&endpoint).ok_or(ConfigError::NotHttp {
            option: "--otlp-endpoint",
            text: endpoint,
        })?),
        None if is("OTEL_TRACES_EXPORTER", "none") => return Ok(None),
        None => None,
    };
    let variables = [
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
        "OTEL_EXPORTER_OTLP_ENDPOINT",
    ];
    let is_set = |name: &&str| environment.get(name).is_some();
    if url.is_none() && !variables.iter().any(is_set) {
        return Ok(None);
    }
    let names = [
        "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
        "OTEL_EXPORTER_OTLP_PROTOCOL",
    ];
    let protocol = names
        .into_iter()
        .find_map(|name| Some((name, environment.get(name)?)));
    if let Some((name, other)) = protocol.filter(|(_, protocol)| *protocol != PROTOCOL) {
        notices.push(format!(
            "{name} is {other}. Traces are exported with {PROTOCOL}: the endpoint must accept that."
        ));
    }
    let timeout = timeout(environment, notices);
    Ok(Some(TraceSettings { url, timeout }))
}

/// Returns the longest time of a request, which a variable has in milliseconds.
fn timeout(environment: &Environment, notices: &mut Vec<String>) -> Duration {
    let names = [
        "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT",
        "OTEL_EXPORTER_OTLP_TIMEOUT",
    ];
    for name in names {
        let Some(text) = environment.get(name) else {
            continue;
        };
        if let Ok(milliseconds) = text.parse::<NonZeroU32>() {
            return Duration::from_millis(milliseconds.get().into());
        }
        notices.push(format!(
            "{name} is {text}. It must be a positive number of milliseconds, and is ignored."
        ));
    }
    DEFAULT_TIMEOUT
}

/// Returns the URL of traces below an endpoint, if that is a URL of HTTP.
fn url_of_traces(endpoint: &str) -> Option<String> {
    let url = Url::parse(endpoint).ok()?;
    let is_http = matches!(url.scheme(), "http" | "https") && url.has_host();
    is_http.then(|| format!("{}/{PATH}", endpoint.trim_end_matches('/')))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::layered::Source;

    fn resolved(
        endpoint: Option<&str>,
        variables: &[(&str, &str)],
    ) -> (Option<Option<String>>, usize) {
        let mut options = Options::default();
        if let Some(endpoint) = endpoint {
            let source = Source::Default;
            options.otlp_endpoint.apply(source, endpoint.to_owned());
        }
        let environment = variables.iter().copied().collect();
        let mut notices = Vec::new();
        let traces = traces(&options, &environment, &mut notices).expect("valid");
        (traces.map(|traces| traces.url), notices.len())
    }

    #[test]
    fn traces_are_exported_on_request_only() {
        let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318");
        let own = Some(Some("http://localhost:4318/v1/traces".to_owned()));
        for (option, variables, expected) in [
            (None, &[][..], (None, 0)),
            (None, &[endpoint], (Some(None), 0)),
            (None, &[endpoint, ("OTEL_SDK_DISABLED", "true")], (None, 0)),
            (
                None,
                &[endpoint, ("OTEL_TRACES_EXPORTER", "none")],
                (None, 0),
            ),
            (
                None,
                &[endpoint, ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")],
                (Some(None), 1),
            ),
            (Some("http://localhost:4318/"), &[endpoint], (own, 0)),
        ] {
            assert_eq!(
                resolved(option, variables),
                expected,
                "{option:?} {variables:?}"
            );
        }
        assert_eq!(url_of_traces("localhost:4318"), None);
        assert_eq!(url_of_traces("grpc://localhost:4317"), None);
    }

    #[test]
    fn a_request_has_the_timeout_of_the_variables() {
        let (all, own) = (
            "OTEL_EXPORTER_OTLP_TIMEOUT",
            "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT",
        );
        for (variables, expected) in [
            (&[][..], (10_000, 0)),
            (&[(all, "2000")], (2_000, 0)),
            (&[(all, "2000"), (own, "3000")], (3_000, 0)),
            (&[(all, "2000"), (own, "0")], (2_000, 1)),
            (&[(all, "2s")], (10_000, 1)),
        ] {
            let mut notices = Vec::new();
            let timeout = timeout(&variables.iter().copied().collect(), &mut notices);
            assert_eq!((timeout.as_millis(), notices.len()), expected);
        }
    }
}
