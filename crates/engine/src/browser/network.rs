//! The network connection of a context: directly, or through an egress proxy, which enforces its rules, connects to its upstream proxy, and
//! throttles it if the browser has no command for that.

use crate::addresses::AddressRules;
use crate::backend::{Capabilities, ContextOptions, Proxy, Throttling};
use crate::egress::{Egress, EgressOptions};
use crate::error::{Error, Result};
use crate::launch::LaunchOptions;
use crate::origins::OriginRules;
use std::sync::{Arc, Mutex, PoisonError};

/// The network state that the contexts of a browser share.
#[derive(Default)]
pub(super) struct Network {
    /// Whether the browser is remote, so that it cannot connect to an egress proxy, which listens on the loopback interface.
    is_remote: bool,
    /// Whether the browser does not connect past the proxies of its contexts.
    is_confined: bool,
    /// The proxy of contexts without one of their own.
    proxy: Option<Proxy>,
    /// The requirements at the launch.
    required: Requirements,
    /// The egress proxy that meets them; contexts without one of their own use it, so it lives as long as the browser.
    egress: Option<Arc<Egress>>,
    /// Whether a context uses it.
    is_taken: Mutex<bool>,
}

/// The kind of a context with regard to its egress proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ContextKind {
    /// The default context, whose proxy was set at the launch.
    Initial,
    /// A context that has a browser of its own; the first one is the default context.
    WithBrowser,
    /// A further context.
    New,
}

/// The requirements on an egress proxy.
#[derive(Debug, Clone, Default, PartialEq)]
struct Requirements {
    origins: OriginRules,
    addresses: AddressRules,
    upstream: Option<Proxy>,
    throttles: bool,
    /// Whether to accept any certificate of an upstream proxy.
    ignore_https_errors: bool,
}

impl Network {
    /// Creates the state of a browser that is launched, and its options, which use an egress proxy if necessary.
    pub(super) async fn of_launch(options: &LaunchOptions) -> Result<(Self, LaunchOptions)> {
        options.check_network(options.kind.capabilities())?;
        let mut options = options.clone();
        let proxy = options.proxy.take();
        let required = Requirements {
            origins: options.origins.clone(),
            addresses: options.addresses.clone(),
            throttles: options.can_throttle && !options.kind.capabilities().throttles,
            ..Requirements::upstream(proxy.clone(), options.ignore_https_errors)
        };
        options.is_confined |= required.confines();
        let egress = required
            .egress(options.is_confined, false, Throttling::default())
            .await?;
        options.proxy = egress.as_deref().map(as_proxy);
        let network = Self {
            is_remote: false,
            is_confined: options.is_confined,
            proxy,
            required,
            egress,
            is_taken: Mutex::default(),
        };
        Ok((network, options))
    }

    /// Creates the state of a remote browser.
    pub(super) fn remote() -> Self {
        Self {
            is_remote: true,
            ..Self::default()
        }
    }

    /// Returns the egress proxy of a context, if it needs one. The options are changed to use it, without the rules that it enforces.
    pub(super) async fn route(
        &self,
        which: ContextKind,
        capabilities: &Capabilities,
        options: &mut ContextOptions,
    ) -> Result<Option<Arc<Egress>>> {
        if self.is_remote {
            return Ok(None);
        }
        let own = options.proxy.take();
        let throttles = options.can_throttle || options.throttling != Throttling::default();
        let upstream = own.or_else(|| self.proxy.clone());
        let required = Requirements {
            origins: std::mem::take(&mut options.origins),
            addresses: std::mem::take(&mut options.addresses),
            throttles: throttles && !capabilities.throttles,
            ..Requirements::upstream(upstream, options.ignore_https_errors)
        };
        if required.confines() && !self.is_confined {
            return Err(Error::InvalidOption {
                option: "proxy",
                message: "The browser was not started for contexts with rules about the network or with a proxy: it could connect past them".to_owned(),
            });
        }
        let is_given = required == self.required
            && match which {
                ContextKind::Initial => true,
                ContextKind::WithBrowser => self.take_prepared(),
                ContextKind::New => false,
            };
        if is_given {
            if let Some(egress) = &self.egress {
                egress.set_offline(options.offline);
                if required.throttles {
                    egress.set_throttling(options.throttling);
                }
            }
            return Ok(self.egress.clone());
        }
        if which == ContextKind::Initial {
            return Err(Error::InvalidOption {
                option: "proxy",
                message: "The context that a browser starts with has the rules and the proxy that the browser was started with: name them there, or open another context".to_owned(),
            });
        }
        let throttling = match required.throttles {
            true => options.throttling,
            false => Throttling::default(),
        };
        let egress = required
            .egress(self.is_confined, options.offline, throttling)
            .await?;
        options.proxy = egress.as_deref().map(as_proxy);
        Ok(egress)
    }

    /// Returns whether no context used the prepared egress proxy, and marks it as used.
    fn take_prepared(&self) -> bool {
        let mut is_taken = self.is_taken.lock().unwrap_or_else(PoisonError::into_inner);
        !std::mem::replace(&mut is_taken, true)
    }
}

impl Requirements {
    fn upstream(upstream: Option<Proxy>, ignore_https_errors: bool) -> Self {
        let is_secure = upstream.as_ref().is_some_and(Proxy::is_secure);
        Self {
            ignore_https_errors: ignore_https_errors && is_secure,
            upstream,
            ..Self::default()
        }
    }

    /// Returns whether the context may only connect to allowed destinations, or only to its proxy.
    fn confines(&self) -> bool {
        !self.origins.is_empty() || !self.addresses.is_empty() || self.upstream.is_some()
    }

    /// Starts the egress proxy, if there is anything to enforce or the browser can connect to nothing else.
    async fn egress(
        &self,
        is_confined: bool,
        offline: bool,
        throttling: Throttling,
    ) -> Result<Option<Arc<Egress>>> {
        if !is_confined && !self.throttles {
            return Ok(None);
        }
        let egress = Egress::start(EgressOptions {
            origins: self.origins.clone(),
            addresses: self.addresses.clone(),
            upstream: self.upstream.clone(),
            offline,
            throttling,
            ignore_https_errors: self.ignore_https_errors,
        });
        Ok(Some(Arc::new(egress.await?)))
    }
}

/// Returns an egress proxy in the form of a browser's proxy.
fn as_proxy(egress: &Egress) -> Proxy {
    Proxy {
        server: format!("http://{}", egress.address()),
        ..Proxy::default()
    }
}
