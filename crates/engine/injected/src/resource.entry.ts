// Defines `globalThis.__playhouseResource`, which loads a resource as the scripts of its document do: with its cookies and its rules.

interface Question {
  url: string;
  /** The largest size, in bytes. */
  maxSize: number;
  /** The time for the request, in milliseconds. */
  timeout: number;
}

/** Returns the text of a resource; null if it cannot be loaded, or if one of the limits is exceeded. Redirects are not followed. */
async function resource({ url, maxSize, timeout }: Question): Promise<{ text: string | null }> {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), timeout);
  try {
    const response = await fetch(url, { redirect: "manual", credentials: "same-origin", signal: abort.signal });
    const reader = response.ok ? response.body?.getReader() : undefined;
    if (!reader) return { text: null };
    const decoder = new TextDecoder();
    let text = "";
    let size = 0;
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      size += part.value.byteLength;
      if (size > maxSize) return { text: null };
      text += decoder.decode(part.value, { stream: true });
    }
    return { text: text + decoder.decode() };
  } catch {
    return { text: null };
  } finally {
    clearTimeout(timer);
    abort.abort();
  }
}

if (!("__playhouseResource" in globalThis))
  Object.defineProperty(globalThis, "__playhouseResource", { value: resource, configurable: true });
