// Reads a trace with the loader of Playwright's trace viewer, and writes what it found as JSON: node read-trace.mjs TRACE.zip
import { mkdtemp, rm } from "node:fs/promises";
import { createHash } from "node:crypto";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

const { iso, tools } = createRequire(import.meta.url)("playwright-core/lib/coreBundle");

const folder = await mkdtemp(join(tmpdir(), "trace-"));
try {
  await tools.extractTrace(process.argv[2], folder);
  const backend = new tools.DirTraceLoaderBackend(folder);
  const loader = new iso.TraceLoader();
  await loader.load(backend);
  const [context] = loader.contextEntries;
  const storage = loader.storage();
  const model = new iso.TraceModel(folder, loader.contextEntries);
  const html = (call, phase, frame) => {
    const snapshot = storage.snapshotForCall(call, phase, frame);
    if (!snapshot) return null;
    // Without the style and the script of the viewer.
    return snapshot.render().html.replace(/<style>[\s\S]*?<\/script>/, "");
  };
  const framesIn = (call) => {
    const ids = new Set(html(call, "after")?.match(/(?<=\/snapshot\/)frame@[\w-]+/g));
    return [...ids].map((frame) => html(call, "after", frame));
  };
  const text = async (file) => (file ? await (await loader.resourceEntry(file))?.text() : undefined);
  const actions = model.actions.map(({ callId, method, params, title, error, point, parentId, stack, startTime, endTime }) => ({
    callId,
    method,
    params,
    title,
    error: error?.message,
    point,
    parentId,
    line: stack?.[0]?.line,
    isEnded: endTime >= startTime,
    before: html(callId, "before"),
    input: html(callId, "action"),
    after: html(callId, "after"),
    frames: framesIn(callId),
  }));
  const resources = [];
  for (const { request, response, _monotonicTime: at } of context.resources) {
    resources.push({
      method: request.method,
      url: request.url,
      headers: Object.fromEntries(response.headers.map(({ name, value }) => [name.toLowerCase(), value])),
      posted: await text(request.postData?._file),
      status: response.status,
      type: response.content.mimeType,
      body: await text(response.content._file),
      comment: response.content.comment,
      at,
    });
  }
  const images = [];
  for (const { file, width, height } of context.pages.flatMap(({ screencastFrames }) => screencastFrames)) {
    const bytes = new Uint8Array((await (await backend.readBlob(file))?.arrayBuffer()) ?? []);
    images.push({ width, height, isJpeg: bytes[0] === 0xff && bytes[1] === 0xd8 });
  }
  // The viewer finds the source of a call by the hash of the file's name.
  const file = context.actions.find(({ stack }) => stack)?.stack[0].file ?? "";
  const source = await text(`resources/src@${createHash("sha1").update(file).digest("hex")}.txt`);
  const events = context.events.map(({ type, method, messageType, text, params, location }) => ({
    type,
    method,
    messageType,
    text,
    params,
    location,
  }));
  const { browserName, sdkLanguage } = context;
  console.log(JSON.stringify({ browserName, sdkLanguage, actions, resources, events, images, source: source?.split("\n") }));
} finally {
  await rm(folder, { recursive: true });
}
