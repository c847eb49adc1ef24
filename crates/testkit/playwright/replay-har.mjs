// Replays a HAR with Playwright's `routeFromHAR`, and writes what a function returns in a page: node replay-har.mjs CHROMIUM HAR URL FUNCTION
import { chromium } from "playwright-core";

const [executablePath, archive, url, text] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
try {
  const page = await browser.newPage();
  await page.routeFromHAR(archive, { notFound: "abort" });
  await page.goto(url);
  console.log(JSON.stringify(await page.evaluate(`(${text})()`)));
} finally {
  await browser.close();
}
