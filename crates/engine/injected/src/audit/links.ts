// The check of links: requests to the addresses of the same origin, as the browser sends them, with its cookies and rules.

import type { Handle } from "../handles";
import { core, shown, type Shown } from "./core";

/** The number of addresses that are requested. */
const MAX_LINKS = 50;
/** The number of requests at a time. */
const CONCURRENCY = 6;
/** The time for a request, and for all of them, in milliseconds. */
const REQUEST_TIMEOUT = 4_000;
const TIMEOUT = 10_000;
/** The time until the report of a violation of the policy, in milliseconds. */
const VIOLATION_DELAY = 100;
/** A word in an address or text of a link that may change something: some servers do that at GET, or handle HEAD like it. */
const UNSAFE =
  /(^|[^a-z])((log|sign)[-_ ]?(out|off)|delete|remove|destroy|cancel|unsubscribe|revoke|confirm|approve|reject|reset|purge|clear|disable|(de)?activate|unfollow|(down|up)vote|toggle|leave|quit|shut[-_ ]?down|restart|end[-_ ]?session)([^a-z]|$)/i;

/** A link whose address cannot be loaded. */
export interface BrokenLink {
  element: Shown | null;
  url: string;
  /** The status; 0 if there is no response. */
  status: number;
}

/** The result of the check of the links. */
interface Links {
  broken: BrokenLink[];
  /** The number of addresses that were requested. */
  checked: number;
  /** The number of addresses that were not requested because they may change something. */
  unsafe: number;
  /** The number of addresses that were not requested because of the limits or the policy of the page. */
  rest: number;
}

/** Requests the addresses of links to the origin of the document. */
export async function checkLinks({ marks }: { marks?: boolean }): Promise<Links> {
  const result: Links = { broken: [], checked: 0, unsafe: 0, rest: 0 };
  if (!/^https?:$/.test(location.protocol)) return result;
  const urls = new Map<string, Handle>();
  const seen = new Set([bare(new URL(location.href))]);
  for (const e of document.querySelectorAll("a[href], area[href]")) {
    const url = addressOf(e);
    if (!url || seen.has(bare(url))) continue;
    seen.add(bare(url));
    if (UNSAFE.test(decoded(url)) || UNSAFE.test(e.textContent ?? "") || e.hasAttribute("data-method")) result.unsafe++;
    else urls.set(bare(url), core.handle(e));
  }
  const queue = [...urls].slice(0, MAX_LINKS);
  const end = performance.now() + TIMEOUT;
  let isForbidden = false;
  const onViolation = (event: SecurityPolicyViolationEvent): void => {
    if (event.effectiveDirective === "connect-src") isForbidden = true;
  };
  document.addEventListener("securitypolicyviolation", onViolation);
  const next = async (): Promise<void> => {
    for (let entry = queue.shift(); entry; entry = queue.shift()) {
      const [url, handle] = entry;
      const left = end - performance.now();
      const status = left > 0 && !isForbidden ? await statusOf(url, Math.min(left, REQUEST_TIMEOUT)) : undefined;
      // A violation of the policy is reported a little later.
      if (status === 0) await new Promise((resolve) => setTimeout(resolve, VIOLATION_DELAY));
      if (status === undefined || isForbidden) continue;
      result.checked++;
      if (status === 0 || status >= 400) result.broken.push({ element: shown(core.element(handle), marks), url, status });
    }
  };
  // If the policy of the page forbids requests, the first one finds that out.
  const [head] = queue;
  if (head) queue.splice(0, 1);
  const rest = queue.splice(0);
  if (head) queue.push(head);
  await next();
  queue.push(...rest);
  await Promise.all(Array.from({ length: CONCURRENCY }, next));
  document.removeEventListener("securitypolicyviolation", onViolation);
  const order = [...urls.keys()];
  result.broken.sort((one, other) => order.indexOf(one.url) - order.indexOf(other.url));
  result.rest = urls.size - result.checked;
  return result;
}

/** Returns the address of a link if it has the origin of the document. */
function addressOf(e: Element): URL | undefined {
  try {
    const url = new URL(e.getAttribute("href") ?? "", document.baseURI);
    return url.origin === location.origin ? url : undefined;
  } catch {
    // An invalid address.
    return undefined;
  }
}

/** Returns the URL without its fragment. */
function bare({ href }: URL): string {
  return href.split("#", 1)[0] ?? href;
}

function decoded({ pathname, search }: URL): string {
  const text = pathname + search;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * Returns the status of an address, 0 if there is no response; undefined if that took too long. HEAD requests that fail are repeated as
 * GET, because some servers do not implement them. A redirect to another origin is not followed, and counts as a response.
 */
async function statusOf(url: string, limit: number): Promise<number | undefined> {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), limit);
  const { signal } = abort;
  const request = async (method: string, redirect: RequestRedirect): Promise<number> => {
    const response = await fetch(url, { method, redirect, signal, credentials: "same-origin", cache: "no-store" });
    return response.type === "opaqueredirect" ? 200 : response.status;
  };
  try {
    const status = await request("HEAD", "follow");
    return status < 400 ? status : await request("GET", "follow");
  } catch {
    if (signal.aborted) return undefined;
    try {
      return await request("GET", "manual");
    } catch {
      return signal.aborted ? undefined : 0;
    }
  } finally {
    clearTimeout(timer);
    // The body is not needed.
    abort.abort();
  }
}
