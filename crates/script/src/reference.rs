//! Generates `docs/run-code.md` from the API.

use super::runtime;
use std::fmt::Write as _;

const BEFORE: &str = "\
# Code that drives the page

<!-- Generated from the code; `make update` writes it. -->

`browser_run_code_unsafe` runs a function of yours against the current page, as `@playwright/mcp` does, and answers with what it returns as JSON in one line:

```js run-code
async (page) => {
  await page.getByRole('button', { name: 'Buy' }).click();
  return page.locator('li').allTextContents();
}
```

`code` is one expression whose value is a function; `filename` names a file with such an expression, below the folders that tools may read. Both are plain JavaScript (ES2024).

`--init-page` runs modules with each page when it opens, before any call gets hold of it:

```js init-page
export default async ({ page }) => {
  await page.context().grantPermissions(['geolocation']);
  await page.setViewportSize({ width: 640, height: 480 });
  page.on('dialog', (dialog) => dialog.accept());
};
```

`exports.default = …` does as well. Of TypeScript such a module may have `import type …`, imports of Playwright that serve types, and the types of the default export's parameters and result; other types, and other imports, are an error that says so. While a module fails, the calls of its tab do, with its name and the reason; the file is read anew for each tab. What it listens to it hears for as long as the tab is open.

## Rules

- The code runs in an engine of its own (QuickJS), not in Node: no `require`, no `import`, no `process`, no files, no network. What it reaches are the pages of this browser context, and through `setInputFiles`, `screenshot`, `pdf` and `saveAs` the files that tools may touch. To fetch something, `page.evaluate(() => fetch(…))`.
- Elements are waited for, as by Playwright; actions have the time limit of `--timeout-action`, navigations that of `--timeout-navigation`, unless a call has a `timeout` of its own. `timeout: 0` means as long as the whole call may take.
- The code and its data have 64 MB. Code that computes for longer than `--timeout-action` without waiting for anything is stopped. Code that is stopped, and code that throws, does not harm the session.
- What functions in the page get and return is JSON, with dates, patterns, maps and sets as arguments. There are no handles: `$`, `$$` and `waitForSelector` return locators, which `page.evaluate(fn, element)` takes as its one argument.
- A dialog that no listener answers ends the call, and `browser_handle_dialog` answers it.
- Listeners and routes go on after the call, until they are removed or the browser is closed; timers too. At most 16 calls may leave some; then the oldest end.
- `await page.pause()` pauses the code until `browser_resume` (`--caps devtools`; without it, it does nothing).
- `console.log`, `console.error` and so on add lines to the result. An unhandled rejection is reported in the answer, beside the result.
- `setInputFiles` takes paths, or `{ name, mimeType, buffer }`. `postData()` is known of the newest requests, where it is text.
- What is not in this list fails with a message that says so, and so do options that would change something. Those that change nothing here (`noWaitAfter`, `animations`, `caret`, …) are ignored.

## Objects
";

const AFTER: &str = "
## Events

`page.on`, `once`, `waitForEvent`: close, console, crash, dialog, domcontentloaded, download, filechooser, frameattached, framedetached, framenavigated, load, pageerror, popup, request, requestfailed, requestfinished, response. `context.on`: page.

## Globals

The language's own, and Buffer (a Uint8Array with `toString('base64' | 'hex' | 'utf8')`), TextDecoder, TextEncoder, URL, URLSearchParams, atob, btoa, clearInterval, clearTimeout, console, expect (of a page or a locator, with `not` and the assertions above), setImmediate, setInterval, setTimeout, structuredClone. There is no `Intl`, and no `toLocaleString` with a language.
";

/// Returns the text of `docs/run-code.md`.
pub fn reference() -> String {
    let mut text = BEFORE.to_owned();
    for (name, members) in runtime::surface().unwrap_or_default() {
        let shown: Vec<_> = members.iter().map(|member| format!("`{member}`")).collect();
        let _ = write!(text, "\n**{name}**: {}\n", shown.join(", "));
    }
    text + AFTER
}
