//! The rules which origins may be requested, enforced: each request of the browser stops by us.
//!
//! The browser's own session sees what every page, frame and worker asks for, redirects too. It does not see
//! WebSockets: those a script refuses where they are opened, beside the rules that a browser has from its start.

use crate::origins::OriginRules;
use serde_json::json;
use wire::Session;
use wire::cdp::{fetch, network};

/// Lets a request go on, or fails it.
pub(super) fn decide(root: &Session, rules: &[OriginRules], paused: fetch::RequestPaused) {
    let request_id = paused.request_id;
    // A browser that goes leaves nobody to answer to.
    if rules.iter().all(|rules| rules.allow(&paused.request.url)) {
        drop(root.send(&fetch::ContinueRequest {
            request_id,
            ..Default::default()
        }));
    } else {
        drop(root.send(&fetch::FailRequest {
            request_id,
            error_reason: network::ErrorReason::BlockedByClient,
        }));
    }
}

/// What refuses connections that are no requests, in a page or a worker.
pub(super) fn guard(rules: &OriginRules) -> String {
    let (allowed, blocked) = rules.expressions();
    format!("{GUARD}({}, {})", json!(allowed), json!(blocked))
}

const GUARD: &str = "((allowed, blocked) => {
  const some = (patterns, origins) => patterns.some(p => origins.some(o => new RegExp(p).test(o)));
  const refused = address => {
    let url;
    try { url = new URL(address, globalThis.location?.href); } catch { return false; }
    const scheme = url.protocol.slice(0, -1);
    const origins = [scheme, scheme.replace('ws', 'http')].map(s => s + '://' + url.host);
    return some(blocked, origins) || (allowed !== null && !some(allowed, origins));
  };
  for (const name of ['WebSocket', 'WebSocketStream', 'WebTransport']) {
    const real = globalThis[name];
    if (!real) continue;
    const guarded = new Proxy(real, {
      construct(target, args, newTarget) {
        const address = String(args[0]);
        if (args.length && refused(address))
          throw new DOMException('net::ERR_BLOCKED_BY_CLIENT at ' + address, 'SecurityError');
        return Reflect.construct(target, [address, ...args.slice(1)], newTarget);
      },
    });
    real.prototype.constructor = guarded;
    Object.defineProperty(globalThis, name, { value: guarded, writable: true, configurable: true });
  }
})";
