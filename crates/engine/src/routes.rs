//! Routes: rules that abort, fulfill or change requests and their responses.

mod changes;
mod failure;
mod har;
mod mock;
mod pattern;
mod request;

use std::sync::Arc;
use task::{compute, spawn};

pub use changes::{RequestChanges, ResponseChanges};
pub use failure::FailureReason;
pub use har::HarReplay;
pub use mock::Mock;
pub use pattern::UrlPattern;
pub(crate) use request::RoutedRequest;

/// A rule about requests.
#[derive(Debug, Clone, PartialEq)]
pub struct Route {
    /// The pattern of URLs; default: all.
    pub url: Option<UrlPattern>,
    /// The resource type in Playwright's words; default: all.
    pub resource_type: Option<String>,
    /// The effect on matching requests.
    pub answer: RouteAnswer,
    /// The text in lists; `None`: derived from the effect.
    pub details: Option<String>,
}

/// The effect of a route on a request.
#[derive(Debug, Clone, PartialEq)]
pub enum RouteAnswer {
    /// Abort the request with an error.
    Abort(FailureReason),
    /// Fulfill the request with a mock response.
    Mock(Arc<Mock>),
    /// Continue the request with changes, and change its response.
    Rewrite(Arc<RequestChanges>),
    /// Fulfill the request with the response that a HAR has for it.
    Har(Arc<HarReplay>),
}

/// The routes of a context, oldest first. Cheap to clone.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Routes(Arc<Vec<Route>>);

impl From<Vec<Route>> for Routes {
    fn from(routes: Vec<Route>) -> Self {
        Self(Arc::new(routes))
    }
}

impl Routes {
    /// Returns whether there are no routes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the routes.
    pub fn iter(&self) -> impl Iterator<Item = &Route> {
        self.0.iter()
    }

    /// Returns whether a decision about a request may depend on its body.
    pub(crate) fn needs_bodies(&self) -> bool {
        let is_har = |route: &Route| matches!(route.answer, RouteAnswer::Har(_));
        self.0.iter().any(is_har)
    }

    /// Returns whether a route changes the URL or the body of requests.
    pub(crate) fn rewrites_requests(&self) -> bool {
        self.changes()
            .any(|changes| changes.url.is_some() || changes.body.is_some())
    }

    /// Returns whether a route changes responses.
    pub(crate) fn changes_responses(&self) -> bool {
        self.changes().any(|changes| changes.response.is_some())
    }

    fn changes(&self) -> impl Iterator<Item = &RequestChanges> {
        self.0.iter().filter_map(|route| match &route.answer {
            RouteAnswer::Rewrite(changes) => Some(&**changes),
            _ => None,
        })
    }

    /// Passes the decision of the newest matching route to a callback: at once if matching is fast, otherwise from a task. The decision is
    /// never [`RouteAnswer::Har`].
    pub(crate) fn decide(
        &self,
        request: RoutedRequest,
        then: impl FnOnce(Option<RouteAnswer>) + Send + 'static,
    ) {
        let is_slow = |route: &Route| {
            let mut pattern = route.url.iter();
            matches!(route.answer, RouteAnswer::Har(_))
                || pattern.any(|it| it.is_slow(&request.url))
        };
        if !self.0.iter().any(is_slow) {
            return then(self.answer_to(&request));
        }
        let routes = self.clone();
        spawn("matching a URL", async move {
            then(compute(move || routes.answer_to(&request)).await);
        })
        .detach();
    }

    fn answer_to(&self, request: &RoutedRequest) -> Option<RouteAnswer> {
        for route in self.0.iter().rev() {
            let kind = route.resource_type.as_deref();
            if kind.is_some_and(|kind| kind != request.resource_type) {
                continue;
            }
            let is_match = route
                .url
                .as_ref()
                .map_or(Ok(true), |url| url.matches(&request.url));
            match is_match {
                Ok(true) => match &route.answer {
                    RouteAnswer::Har(har) => match har.response_to(request) {
                        Some(response) => return Some(RouteAnswer::Mock(response)),
                        None if har.falls_back() => {}
                        None => return Some(RouteAnswer::Abort(FailureReason::Failed)),
                    },
                    answer => return Some(answer.clone()),
                },
                Ok(false) => {}
                // The route may be intended to keep the request from a server.
                Err(error) => {
                    tracing::warn!(%error, "a request is refused, as no rule decides about it");
                    return Some(RouteAnswer::Abort(FailureReason::BlockedByClient));
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[tokio::test]
    async fn a_long_url_is_matched_in_linear_time_and_a_slow_expression_blocks() {
        let long = format!("http://a/{}", "a".repeat(1_000_000));
        for glob in [
            "*ads*",
            "**/*ads*/**",
            "*{a,aa,{aaa,b}*}*c*",
            "http://a/**/a*b",
        ] {
            assert!(
                !UrlPattern::new(glob).unwrap().matches(&long).unwrap(),
                "{glob}"
            );
        }
        let slow = Routes::from(vec![Route {
            url: Some(UrlPattern::new("/(a+)+$/").unwrap()),
            resource_type: None,
            details: None,
            answer: RouteAnswer::Mock(Arc::new(Mock {
                status: 200,
                headers: vec![],
                body: vec![],
                delay: Duration::ZERO,
            })),
        }]);
        let decided = async |url: String| {
            let (tell, answered) = tokio::sync::oneshot::channel();
            let request = RoutedRequest {
                url,
                ..RoutedRequest::default()
            };
            slow.decide(request, |answer| tell.send(answer).unwrap());
            answered.await.unwrap()
        };
        assert!(matches!(
            decided("http://a/aaa".into()).await,
            Some(RouteAnswer::Mock(_))
        ));
        assert_eq!(decided("http://a/x".into()).await, None);
        let bad = format!("http://a/{}!", "a".repeat(64));
        assert_eq!(
            decided(bad).await,
            Some(RouteAnswer::Abort(FailureReason::BlockedByClient))
        );
        // It is not evaluated again for any URL.
        assert_eq!(
            decided("http://a/x".into()).await,
            Some(RouteAnswer::Abort(FailureReason::BlockedByClient))
        );
    }

    #[test]
    fn the_newest_route_wins() {
        let rule = |url: Option<&str>, kind: Option<&str>, status| Route {
            url: url.map(|url| UrlPattern::new(url).unwrap()),
            resource_type: kind.map(str::to_owned),
            details: None,
            answer: match status {
                None => RouteAnswer::Abort(FailureReason::BlockedByClient),
                Some(status) => RouteAnswer::Mock(Arc::new(Mock {
                    status,
                    headers: vec![],
                    body: vec![],
                    delay: Duration::ZERO,
                })),
            },
        };
        let routes = Routes::from(vec![
            rule(Some("/api"), None, Some(200)),
            rule(None, Some("image"), None),
            rule(Some("/api/new"), None, Some(201)),
        ]);
        let request = |url: &str, resource_type| RoutedRequest {
            url: url.to_owned(),
            resource_type,
            ..RoutedRequest::default()
        };
        let status = |url: &str, kind| match routes.answer_to(&request(url, kind)) {
            Some(RouteAnswer::Mock(mock)) => Some(mock.status),
            Some(RouteAnswer::Abort(_)) => Some(0),
            _ => None,
        };
        assert_eq!(status("http://a/api/new", "image"), Some(201));
        assert_eq!(status("http://a/api", "image"), Some(0));
        assert_eq!(status("http://a/api", "fetch"), Some(200));
        assert_eq!(status("http://a/", "fetch"), None);
    }
}
