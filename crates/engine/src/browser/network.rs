//! The network connection of a context: directly, or through an egress proxy, which enforces its rules, connects to its upstream proxy, and
//! throttles it if the browser has no command for that.

use crate::addresses::AddressRules;
use crate::backend::{Capabilities, ContextOptions, Feature, Proxy, Throttling, TlsOptions};
use crate::egress::{Egress, EgressOptions, own_public_key_hash};
use crate::error::{Error, Result};
use crate::launch::{BrowserKind, LaunchOptions};
use crate::origins::OriginRules;
use std::sync::{Arc, Mutex, PoisonError};

/// The network state that the contexts of a browser share.
#[derive(Default)]
pub(super) struct Network {
    /// Whether the browser is remote, so that it cannot connect to an egress proxy, which listens on the loopback interface.
    is_remote: bool,
    /// Whether the browser does not connect past the proxies of its contexts.
    is_confined: bool,
    /// Whether the browser accepts the key of the egress proxies. Otherwise a context whose egress proxy verifies servers accepts any certificate.
    accepts_own_key: bool,
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
    tls: TlsOptions,
    /// Whether to accept any certificate of an upstream proxy, and of servers that the egress proxy verifies.
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
            ..Requirements::tls(&options.tls, proxy.clone(), options.ignore_https_errors)
        };
        options.is_confined |= required.confines();
        let accepts_own_key = options.kind == BrowserKind::Chromium && !required.tls.is_empty();
        if accepts_own_key {
            options.accept_public_key(own_public_key_hash());
        }
        let egress = required
            .egress(options.is_confined, false, Throttling::default())
            .await?;
        options.proxy = egress.as_deref().map(as_proxy);
        let network = Self {
            is_remote: false,
            is_confined: options.is_confined,
            accepts_own_key,
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
            ..Requirements::tls(&options.tls, upstream, options.ignore_https_errors)
        };
        if !required.tls.is_empty() && !self.accepts_own_key {
            if which == ContextKind::Initial {
                capabilities.require(Feature::IgnoreCertificatesInProfile)?;
            }
            // The egress proxy verifies all servers instead.
            options.ignore_https_errors = true;
        }
        let lacks_certificates = !required.tls.is_empty() && self.required.tls.is_empty();
        if required.confines() && !self.is_confined || lacks_certificates {
            return Err(Error::InvalidOption {
                option: "proxy",
                message: "The browser was not started for contexts with rules about the network, with a proxy or with certificates: it could connect past them".to_owned(),
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
    fn tls(tls: &TlsOptions, upstream: Option<Proxy>, ignore_https_errors: bool) -> Self {
        let is_secure = upstream.as_ref().is_some_and(Proxy::is_secure) || !tls.is_empty();
        Self {
            ignore_https_errors: ignore_https_errors && is_secure,
            tls: tls.clone(),
            upstream,
            ..Self::default()
        }
    }

    /// Returns whether the context may only connect to allowed destinations, or only through its egress proxy.
    fn confines(&self) -> bool {
        let has_rules = !self.origins.is_empty() || !self.addresses.is_empty();
        has_rules || self.upstream.is_some() || !self.tls.is_empty()
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
            tls: self.tls.clone(),
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
