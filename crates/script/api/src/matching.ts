// Strings, patterns and functions that URLs must match.

import { URL } from "./url";

export type UrlPattern = string | RegExp | ((url: URL) => boolean) | undefined;

/** `*` stays within a path segment, `**` does not, `?` is itself, `{a,b}` is either. */
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

/** A predicate for URLs. */
export const urlMatcher = (wanted: UrlPattern): ((url: string) => boolean) => {
  if (typeof wanted === "function") return (url) => wanted(new URL(url));
  if (wanted instanceof RegExp) return (url) => new RegExp(wanted.source, wanted.flags.replace(/[gy]/g, "")).test(url);
  if (wanted === undefined || wanted === "") return () => true;
  const text = String(wanted);
  const pattern = glob(text);
  const normal = URL.canParse(text) ? new URL(text).href : text;
  return (url) => url === text || url === normal || pattern.test(url);
};
