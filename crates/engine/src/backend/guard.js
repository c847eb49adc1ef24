function guard(allowed, blocked) {
  const some = (patterns, origins) => patterns.some((p) => origins.some((o) => new RegExp(p).test(o)));
  const refused = (address) => {
    let url;
    try {
      url = new URL(address, globalThis.location?.href);
    } catch {
      return false;
    }
    const scheme = url.protocol.slice(0, -1);
    const origins = [scheme, scheme.replace("ws", "http")].map((s) => s + "://" + url.host);
    return some(blocked, origins) || (allowed !== null && !some(allowed, origins));
  };
  for (const name of ["WebSocket", "WebSocketStream", "WebTransport"]) {
    const real = globalThis[name];
    if (!real) continue;
    const guarded = new Proxy(real, {
      construct(target, args, newTarget) {
        const address = String(args[0]);
        if (args.length && refused(address)) throw new DOMException("net::ERR_BLOCKED_BY_CLIENT at " + address, "SecurityError");
        return Reflect.construct(target, [address, ...args.slice(1)], newTarget);
      },
    });
    real.prototype.constructor = guarded;
    Object.defineProperty(globalThis, name, { value: guarded, writable: true, configurable: true });
  }
}
