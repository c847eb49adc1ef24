// URL patterns: globs, regular expressions and predicates.

import { URL } from "./url";

export type UrlPattern = string | RegExp | ((url: URL) => boolean) | undefined;

/** Converts a glob to a regular expression. `*` matches within a path segment, `**` across segments, `?` only itself, `{a,b}` either. */
const glob = (pattern: string) => {
  let text = "";
  let group = 0;
  for (let at = 0; at < pattern.length; at += 1) {
    const char = pattern[at] as string;
    if (char === "\\") text += `\\${pattern[((at += 1))] ?? "\\"}`;
    else if (pattern.startsWith("**/", at) && (at === 0 || pattern[at - 1] === "/")) {
      text += "(?:.*/)?";
      at += 2;
    } else if (pattern.startsWith("**", at)) {
      text += ".*";
      at += 1;
    } else if (char === "*") text += "[^/]*";
    else if (char === "{") {
      text += "(?:";
      group += 1;
    } else if (char === "}" && group) {
      text += ")";
      group -= 1;
    } else if (char === "," && group) text += "|";
    else text += char.replace(/[$^+.()=!|?[\]{}]/, "\\$&");
  }
  return new RegExp(`^${text}$`);
};

/** Returns a predicate for URLs. Without a pattern, all URLs match. */
export const urlMatcher = (pattern: UrlPattern): ((url: string) => boolean) => {
  if (typeof pattern === "function") return (url) => pattern(new URL(url));
  if (pattern instanceof RegExp) return (url) => new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, "")).test(url);
  if (pattern === undefined || pattern === "") return () => true;
  const text = String(pattern);
  const regex = glob(text);
  const normal = URL.canParse(text) ? new URL(text).href : text;
  return (url) => url === text || url === normal || regex.test(url);
};
