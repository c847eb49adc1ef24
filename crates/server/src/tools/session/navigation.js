function timing() {
  const entry = performance.getEntriesByType("navigation")[0];
  if (!entry) return {};
  const { responseStart, domContentLoadedEventEnd, loadEventEnd } = entry;
  return Object.fromEntries(
    Object.entries({ responseStart, domContentLoaded: domContentLoadedEventEnd, load: loadEventEnd })
      .filter(([, ms]) => ms > 0)
      .map(([name, ms]) => [name, Math.round(ms)]),
  );
}
