// docs/miniwob.md, from the results of all browsers.
import { existsSync, readFileSync, writeFileSync } from "node:fs";

export interface Result {
  task: string;
  isSolved: boolean;
  /** Why episodes failed, one sentence for each seed. */
  failures: string[];
  /** Per episode, with the calls that start it and read its reward. */
  calls: number;
  tokens: number;
}

export interface Run {
  browser: string;
  results: Result[];
}

const ENGINES: Record<string, string> = { chromium: "Chromium", firefox: "Firefox", webkit: "WebKit" };

/** Tasks that no solver or only a lucky one solves. */
const REASONS: Record<string, string> = {
  "button-delay": "A timer of the page; the calls were too slow on this machine.",
  "circle-center":
    "The page ignores a margin of half a pixel in its own geometry, and the position of a click is an integer: at most 0.98.",
  "chase-circle": "The pointer must be on a moving circle within 0.1 s of the start and stay there for 99 % of ten seconds.",
  "click-pie":
    "On Chromium, the page inserts the item under the pointer anew at each `mouseover`, without end, so that the button goes down on the drawing.",
  "click-pie-nodelay":
    "On Chromium, the page inserts the item under the pointer anew at each `mouseover`, without end, so that the button goes down on the drawing.",
  "daily-calendar": "The scroll bar of WebKitGTK narrows the calendar, so that its half hours wrap and are drawn beside their events.",
  "email-inbox-forward": "Seed 2 has two mails of the same sender; the instruction does not say which one.",
  "email-inbox-noscroll": "Seed 2 has two mails of the same sender; the instruction does not say which one.",
  "email-inbox": "The mail is below the others, and the wheel did not scroll the list on WebKitGTK.",
  "find-midpoint": "The position of a click is an integer; the reward exceeds 0.99 only if the midpoint has integers, too.",
  "hover-shape": "The page never rewards: its score is computed and dropped, so the episode ends with the time limit. Not attempted.",
  "login-user-popup":
    "Seed 3 has the same password as in `login-user`. Playhouse masks typed passwords in all later answers, so the instruction reads “•••••”.",
  "moving-items": "A timer of the page; the calls were too slow on this machine.",
  "sign-agreement":
    "The page waits for a `scroll` event of a disabled text area, which Firefox scrolls without one and the wheel did not scroll on WebKitGTK.",
  "stock-market": "A timer of the page; the calls were too slow on this machine.",
  "tic-tac-toe": "The opponent cannot be beaten in each game; a draw is a loss.",
};

export function readRun(path: string): Run | undefined {
  return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as Run) : undefined;
}

/** Writes a run. Results of tasks that did not run again stay. */
export function writeRun(path: string, run: Run): Run {
  const merged = new Map([...(readRun(path)?.results ?? []), ...run.results].map((result) => [result.task, result]));
  const results = [...merged.values()].sort((a, b) => (a.task < b.task ? -1 : 1));
  const complete = { browser: run.browser, results };
  writeFileSync(path, JSON.stringify(complete, undefined, 1));
  return complete;
}

/** A failure as the text of a cell: without ports and delimiters of page content, which differ in each run. */
const cell = (text: string) =>
  text
    .replace(/http:\/\/127\.0\.0\.1:\d+|<\/?page\d+> ?/g, "")
    .slice(0, 200)
    .replaceAll("|", "\\|")
    .replaceAll("<", "&lt;");

/** Writes the document, if each browser has run. */
export function writeTable(path: string, folder: string, seeds: string[]): void {
  const runs = Object.keys(ENGINES).flatMap((engine) => {
    const run = readRun(`${folder}/${engine}.json`);
    return run ? [{ name: ENGINES[engine] ?? engine, ...run, byTask: new Map(run.results.map((result) => [result.task, result])) }] : [];
  });
  const [first] = runs;
  if (!first || runs.length < Object.keys(ENGINES).length) return;
  const counts = runs.map((run) => `${run.results.filter((result) => result.isSolved).length} on ${run.name}`);
  const rows = first.results.map(({ task, calls, tokens }) => {
    const solved = runs.map((run) => (run.byTask.get(task)?.isSolved ? "✓" : "–"));
    return `| ${task} | ${solved.join(" | ")} | ${calls || ""} | ${tokens || ""} |`;
  });
  const unsolved = first.results.flatMap(({ task }) => {
    const reasons = runs.flatMap((run) => {
      const result = run.byTask.get(task);
      if (!result || result.isSolved) return [];
      return [`${run.name}: ${result.failures.length ? result.failures.map(cell).join("; ") : "not attempted"}`];
    });
    return reasons.length ? [`| ${task} | ${REASONS[task] ?? ""} | ${reasons.join("<br>")} |`] : [];
  });
  const text = `# MiniWoB++

Written by \`make miniwob\`. [MiniWoB++](https://miniwob.farama.org) 1.1.0 (PyPI \`miniwob\`) has ${first.results.length} small tasks on pages that we did not write. Scripted solvers (\`crates/testkit/miniwob\`) read each instruction and act only through MCP tools of Playhouse with \`--caps vision --snapshot-mode none --answers playwright\`. Where a page has no name for a control, or draws it, they read its geometry with \`browser_evaluate\`, and they use CSS selectors of the page; they never act with \`browser_evaluate\`, and never read the solution. They are not agents: the table shows that the tools reach what a task requires, not that a model would choose them.

**Solved: ${counts.join(", ")}.** A task is solved if its raw reward exceeds 0.99 with the seeds ${seeds.join(", ")}, without a second attempt. (With \`TASKS\`, some tasks run again and the others keep their results.) The time limit of an episode is raised to ten minutes (\`core.EPISODE_MAX_TIME\`), because the limits of 5 to 30 seconds would measure the machine; timers inside a page (\`button-delay\`, \`chase-circle\`, \`moving-items\`, \`simon-says\`, \`stock-market\`) are as they are, so that these tasks may fail on a busy machine. Calls and tokens are those of an episode on ${first.name}, with the three calls that start it and read its reward. Tokens are an estimate: the characters of all answers, divided by four.

Browsers: ${runs.map((run) => run.browser).join("; ")}.

| task | ${runs.map((run) => run.name).join(" | ")} | calls | tokens (estimate) |
|---|${runs.map(() => ":---:|").join("")}---:|---:|
${rows.join("\n")}

## Not solved

| task | reason | outcome |
|---|---|---|
${unsolved.join("\n")}
`;
  writeFileSync(path, text);
}
