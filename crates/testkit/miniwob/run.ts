// Solves the tasks of MiniWoB++ through Playhouse and writes the table of docs/miniwob.md.
// run.mjs ENGINE HTML_FOLDER SERVER MODULES [TASKS…]
import { mkdirSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { resolve } from "node:path";
import { Client } from "./client";
import { Page, type Solver } from "./page";
import { serve } from "./site";
import { buttons } from "./solvers/buttons";
import { drawings } from "./solvers/drawings";
import { fields } from "./solvers/fields";
import { sites } from "./solvers/sites";
import { type Result, writeRun, writeTable } from "./table";

const SOLVERS: Record<string, Solver> = { ...buttons, ...drawings, ...fields, ...sites };
const SEEDS = ["1", "2", "3"];
/** The pages grant 5 to 30 seconds, which a loaded machine may need for a few calls. */
const EPISODE_MAX_TIME = 600_000;
const MIN_REWARD = 0.99;
const MIN_SOLVED: Record<string, number> = { chromium: 100, firefox: 90, webkit: 90 };
const OUTPUT = "target/miniwob";
const DOCUMENT = "docs/miniwob.md";

async function episode(page: Page, url: string, seed: string, solver: Solver): Promise<string | undefined> {
  const attempt = async () => {
    await page.navigate(url);
    await page.read(
      `() => { core.EPISODE_MAX_TIME = ${EPISODE_MAX_TIME}; Math.seedrandom(${JSON.stringify(seed)}); core.startEpisodeReal(); }`,
    );
    await solver(page);
  };
  let error = "";
  await attempt().catch((reason: Error) => {
    error = reason.message
      .replace(/<\/?page\d+>/g, "")
      .split("\n")
      .slice(0, 6)
      .join(" ")
      .slice(0, 300);
  });
  const outcome = () =>
    page.read<[boolean, number]>("() => (typeof core === 'undefined' ? [false, 0] : [WOB_DONE_GLOBAL, WOB_RAW_REWARD_GLOBAL])");
  const deadline = Date.now() + 2_000;
  let [isDone, reward] = await outcome();
  while (!isDone && Date.now() < deadline) {
    await page.wait(0.1);
    [isDone, reward] = await outcome();
  }
  if (isDone && reward > MIN_REWARD) return undefined;
  return `seed ${seed}: ${isDone ? `reward ${Math.round(reward * 100) / 100}` : "the episode did not end"}${error ? `: ${error}` : ""}`;
}

async function main(): Promise<number> {
  const [engine = "chromium", html = "", command = "", modules = "", ...only] = process.argv.slice(2);
  const folder = resolve(OUTPUT, "workspace");
  mkdirSync(folder, { recursive: true });
  const { server, origin } = await serve(html);
  const args = ["--browser", engine, "--headless", "--isolated", "--caps", "vision", "--snapshot-mode", "none", "--answers", "playwright"];
  const client = await Client.start(resolve(modules), resolve(command), args, folder);
  const page = new Page(client);
  const tasks = (await readdir(`${html}/miniwob`)).map((file) => file.replace(".html", "")).sort();
  const results: Result[] = [];
  for (const task of tasks.filter((name) => only.length === 0 || only.some((part) => name.includes(part)))) {
    const solver = SOLVERS[task];
    client.reset();
    const failures: string[] = [];
    for (const seed of solver ? SEEDS : []) {
      const failure = await episode(page, `${origin}/miniwob/${task}.html`, seed, solver as Solver);
      if (failure) failures.push(failure);
    }
    const isSolved = solver !== undefined && failures.length === 0;
    const episodes = SEEDS.length;
    results.push({ task, isSolved, failures, calls: Math.round(client.calls / episodes), tokens: Math.round(client.tokens / episodes) });
    console.log(`${isSolved ? "solved" : solver ? "FAILED" : "-     "} ${task} ${failures.join("; ")}`);
  }
  const browser = (await page.read<string>("() => navigator.userAgent")).replace(/^Mozilla\/5\.0 /, "");
  await client.close();
  server.close();
  const complete = writeRun(`${OUTPUT}/${engine}.json`, { browser, results });
  writeTable(DOCUMENT, OUTPUT, SEEDS);
  const solved = complete.results.filter((result) => result.isSolved).length;
  const required = MIN_SOLVED[engine] ?? 0;
  console.log(`${engine}: ${solved} of ${complete.results.length} tasks are solved, at least ${required} must be`);
  return solved < required ? 1 : 0;
}

process.exitCode = await main();
