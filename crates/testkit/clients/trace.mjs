// Prints what the trace engine of Chrome DevTools finds in a trace: node trace.mjs FILE.
import { readFileSync } from "node:fs";
import { Processor } from "@paulirish/trace_engine";

const { traceEvents, metadata } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const processor = Processor.TraceProcessor.createWithAllHandlers();
await processor.parse(traceEvents, { metadata, isCPUProfile: false, isFreshRecording: true });
const { model } = [...processor.insights.values()].findLast(({ navigation }) => navigation);
const { LCPBreakdown: lcp, RenderBlocking: blocking, CLSCulprits: cls, INPBreakdown: inp } = model;
const millis = (micros) => (micros === undefined ? undefined : micros / 1000);
const { ttfb, loadDelay, loadDuration, renderDelay } = lcp.subparts;
const longest = inp.longestInteractionEvent;
console.log(
  JSON.stringify({
    lcp: lcp.lcpMs,
    ttfb: millis(ttfb.range),
    loadDelay: millis(loadDelay?.range),
    loadDuration: millis(loadDuration?.range),
    renderDelay: millis(renderDelay.range),
    blocking: blocking.renderBlockingRequests.map(({ args }) => args.data.url),
    cls: cls.worstCluster?.clusterCumulativeScore ?? 0,
    inp: longest && {
      duration: millis(longest.dur),
      inputDelay: millis(longest.inputDelay),
      processing: millis(longest.mainThreadHandling),
      presentation: millis(longest.presentationDelay),
    },
  }),
);
