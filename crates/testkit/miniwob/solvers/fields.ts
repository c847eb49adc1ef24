// Tasks that are solved by typing: text, dates, numbers, sliders, tables, forms.
import { match, type Page, quoted, type Solver } from "../page";
import type { Node } from "../snapshot";

const textbox = async (page: Page, index = 0): Promise<Node> => {
  const field = (await page.snapshot()).all("textbox|spinbutton")[index];
  if (!field) throw new Error(`the snapshot has no field ${index}`);
  return field;
};

/** Types an answer into the only field and submits. */
const answer = async (page: Page, text: string): Promise<void> => {
  await page.type(await textbox(page), text);
  await page.submit();
};

const enterQuoted: Solver = async (page) => answer(page, quoted(await page.query())[0] ?? "");

const enterCase: Solver = async (page) => {
  const query = await page.query();
  const [text = ""] = quoted(query);
  await answer(page, query.includes("upper case") ? text.toUpperCase() : text.toLowerCase());
};

const password: Solver = async (page) => {
  const [text = ""] = quoted(await page.query());
  const [first, second] = (await page.snapshot()).all("textbox");
  if (!first || !second) throw new Error("the snapshot has not two fields");
  await page.type(first, text);
  await page.type(second, text);
  await page.submit();
};

const login: Solver = async (page) => {
  const texts = quoted(await page.query());
  for (const [i, text] of texts.entries()) {
    await page.click(await textbox(page, i));
    const cancel = (await page.snapshot()).all("button", "Cancel")[0];
    if (cancel) await page.click(cancel);
    await page.type(await textbox(page, i), text);
  }
  await page.click((await page.snapshot()).first("button"));
};

const enterDate: Solver = async (page) => {
  const [month, day, year] = match(await page.query(), /(\d+)\/(\d+)\/(\d+)/);
  await page.type("#tt", `${year}-${month}-${day}`);
  await page.submit();
};

const enterTime: Solver = async (page) => {
  const [hour = "", minute = "", half = ""] = match(await page.query(), /Enter (\d+):(\d+)\s?([AP]M)?/);
  const hours = half ? (Number(hour) % 12) + (half === "PM" ? 12 : 0) : Number(hour);
  await page.type("#tt", `${String(hours).padStart(2, "0")}:${minute}`);
  await page.submit();
};

/** Goes back to the month in a calendar and clicks the day. */
export async function pickDate(page: Page, field: string, date: string): Promise<void> {
  const [month = "", day = ""] = match(date, /(\d+)\/(\d+)\/\d+/);
  const name = new Date(Date.UTC(2016, Number(month) - 1, 1)).toLocaleString("en", { month: "long", timeZone: "UTC" });
  await page.click(field);
  for (let i = 0; i < 12; i++) {
    const snapshot = await page.snapshot();
    if ([...snapshot].some((node) => node.label.includes(`${name} 2016`))) {
      return page.click(snapshot.first("link", String(Number(day))));
    }
    await page.click(snapshot.first("generic", "Prev"));
  }
}

const chooseDate: Solver = async (page) => {
  const [date = ""] = match(await page.query(), /Select (\S+) as the date/);
  await pickDate(page, "#datepicker", date);
  await page.submit();
};

const focus: Solver = async (page) => page.click(await textbox(page));

const POSITIONS = ["1st", "2nd", "3rd"];

const focusPosition: Solver = async (page) => {
  const query = await page.query();
  await page.click(
    await textbox(
      page,
      POSITIONS.findIndex((position) => query.includes(position)),
    ),
  );
};

const findWord: Solver = async (page) => {
  const [position = "1"] = match(await page.query(), /the (\d+)/);
  const words = (await page.snapshot()).first("paragraph").label.split(/\s+/);
  await answer(page, (words[Number(position) - 1] ?? "").replace(/[^a-zA-Z]/g, ""));
};

const lastWord: Solver = async (page) => {
  const words = (await textbox(page)).label.split(/\s+/);
  await page.type(await textbox(page, 1), (words.at(-1) ?? "").replace(/\W/g, ""));
  await page.submit();
};

/** Copies with the keyboard. */
const copyPaste: Solver = async (page) => {
  const query = await page.query();
  const index = Math.max(
    0,
    POSITIONS.findIndex((position) => query.includes(position)),
  );
  await page.click(`#area textarea >> nth=${index}`);
  await page.key("Control+a");
  await page.key("Control+c");
  await page.click("#answer-input");
  await page.key("Control+v");
  await page.submit();
};

const arithmetic: Solver = async (page) => {
  const text = [...(await page.snapshot())].map((node) => node.text).find((line) => /^\d+ [-+x] \d+ =/.test(line)) ?? "";
  const [a, sign, b] = match(text, /^(\d+) ([-+x]) (\d+)/);
  await answer(page, String(sign === "+" ? Number(a) + Number(b) : sign === "-" ? Number(a) - Number(b) : Number(a) * Number(b)));
};

const algebra: Solver = async (page) => {
  const text = [...(await page.snapshot())].map((node) => node.text).find((line) => /[-+] \S+ = -?\d+$/.test(line)) ?? "";
  const [left, sign, right, result] = match(text, /(\S+) ([-+]) (\S+) = (-?\d+)/);
  const total = Number(result);
  const x = sign === "+" ? total - Number(left === "x" ? right : left) : left === "x" ? total + Number(right) : Number(left) - total;
  await answer(page, String(x));
};

const addition: Solver = async (page) => answer(page, String((await page.boxes(".addition-block")).length));

const captcha: Solver = async (page) => {
  const letters = (await page.snapshot()).all("generic").filter((node) => node.text.length === 1);
  await answer(page, letters.map((node) => node.text).join(""));
};

const guessNumber: Solver = async (page) => {
  for (let low = 0, high = 9; low <= high; ) {
    const guess = Math.floor((low + high) / 2);
    await answer(page, String(guess));
    const texts = [...(await page.snapshot())].map((node) => node.label).join("\n");
    if (texts.includes(`lower than ${guess}`)) high = guess - 1;
    else if (texts.includes(`higher than ${guess}`)) low = guess + 1;
    else return;
  }
};

const spinner: Solver = async (page) => {
  const value = Number(match(await page.query(), /Select (-?\d+)/)[0]);
  for (let i = 0; i < Math.abs(value); i++) await page.click(value > 0 ? ".ui-spinner-up" : ".ui-spinner-down");
  await page.submit();
};

/** Sets a slider with the keyboard. */
async function setSlider(page: Page, slider: string, output: string, value: number): Promise<void> {
  const current = () => page.read<number>(`() => Number(document.querySelector('${output}').textContent)`);
  await page.click(`${slider} .ui-slider-handle`);
  for (let i = 0; i < 40; i++) {
    const now = await current();
    if (now === value) return;
    await page.key(now < value ? "PageUp" : "PageDown");
    const after = await current();
    const step = Math.abs(after - now);
    if (step === 0 || Math.abs(after - value) < step) {
      await page.key(after < value ? "ArrowRight" : "ArrowLeft", Math.abs(after - value));
      return;
    }
  }
}

const slider: Solver = async (page) => {
  await setSlider(page, "#slider", "#val", Number(match(await page.query(), /Select (-?\d+)/)[0]));
  await page.submit();
};

const sliders: Solver = async (page) => {
  const values = match(await page.query(), /\[([^\]]*)\]/)[0]?.split(",") ?? [];
  for (const [i, value] of values.entries()) await setSlider(page, `#slider-${i + 1}`, `#val-${i + 1}`, Number(value));
  await page.submit();
};

const formSequence: Solver = async (page) => {
  const [value, position] = match(await page.query(), /Select (-?\d+) .* the (\d)/);
  await setSlider(page, "#slider", "#val", Number(value));
  const box = (await page.snapshot()).all("checkbox")[Number(position) - 1];
  if (box) await page.click(box);
  await page.submit();
};

const formSequence2: Solver = async (page) => {
  const [radio, value = "", field] = match(await page.query(), /the (\d)\S* radio .* number "(-?\d+)" into the (\d)/);
  const snapshot = await page.snapshot();
  const button = snapshot.all("radio")[Number(radio) - 1];
  if (button) await page.click(button);
  await page.type(await textbox(page, Number(field) - 1), value);
  await page.submit();
};

const formSequence3: Solver = async (page) => {
  const query = await page.query();
  const [option = ""] = match(query, /Choose (.*) from the dropdown/);
  await page.click(".selectric");
  await page.wait(0.5);
  const item = (await page.snapshot()).first("listitem", option);
  await page.click(item);
  await page.press(quoted(query)[0] ?? "");
};

/** Types the colour in hexadecimal digits; a canvas resolves its name. */
const colorWheel: Solver = async (page) => {
  const [name = ""] = match(await page.query(), /^Select (?:the following color|(\w+) with)/);
  const hex = await page.read<string>(`() => {
    const box = document.querySelector('#query .cc');
    const context = document.createElement('canvas').getContext('2d');
    context.fillStyle = box ? getComputedStyle(box).backgroundColor : ${JSON.stringify(name)};
    return context.fillStyle.slice(1);
  }`);
  await page.type("#col", hex.toUpperCase());
  await page.key("Tab");
  await page.submit();
};

const autocomplete: Solver = async (page) => {
  const [start = "", end = ""] = quoted(await page.query());
  await page.type("#tags", start, { slowly: true });
  await page.wait(0.6);
  const items = (await page.snapshot())
    .all("menuitem|option|listitem")
    .filter((node) => node.label.startsWith(start) && node.label.endsWith(end));
  if (!items[0]) throw new Error(`no suggestion begins with "${start}" and ends with "${end}"`);
  await page.click(items[0]);
  await page.submit();
};

/** The rows of the table as keys and values. */
async function table(page: Page): Promise<Map<string, string>> {
  const rows = (await page.snapshot()).all("row").map((row) => row.all("cell").map((cell) => cell.label));
  return new Map(rows.map(([key = "", value = ""]) => [key, value]));
}

const readTable: Solver = async (page) => {
  const [key = ""] = match(await page.query(), /value of (.*) into/);
  await answer(page, (await table(page)).get(key) ?? "");
};

const readTable2: Solver = async (page) => {
  const values = await table(page);
  const labels = [...(await page.snapshot())].flatMap((node) => (/^[A-Z][\w ]*:$/.test(node.text) ? [node.text.slice(0, -1)] : []));
  for (const [i, label] of labels.entries()) await page.type(await textbox(page, i), values.get(label) ?? "");
  await page.submit();
};

const movie: Solver = async (page) => {
  const [genre = "", director = "", year = ""] = match(await page.query(), /for (.*) movies directed by (.*) from year (\d+)/);
  const nodes = [...(await page.snapshot())];
  const kinds: [RegExp, string][] = [
    [/Genre/, genre],
    [/Director/, director],
    [/Year|Date/, year],
  ];
  const isLabel = (node: Node) => /^(Movie |Director |Released )?(Genre|Director|Name|Year|Date):?$/.test(node.text || node.name);
  const labels = nodes.filter((node) => isLabel(node) && node.role !== "textbox" && node.role !== "row");
  const fields = nodes.filter((node) => node.role === "textbox");
  for (const [i, field] of fields.entries()) {
    const label = labels[i];
    const value = kinds.find(([pattern]) => label && pattern.test(label.text || label.name))?.[1];
    if (value === undefined) throw new Error("a field has no label");
    await page.type(field, value);
  }
  const button = nodes.find((node) => ["Submit", "Search", "Go!"].includes(node.label) && node.children.length === 0);
  if (!button) throw new Error("the form has no button");
  await page.click(button);
};

const terminal: Solver = async (page) => {
  const extension = /extension (\.\S+)$/.exec(await page.query())?.[1];
  const run = async (command: string) => {
    await page.click("#terminal");
    for (const key of command) await page.key(key === " " ? "Space" : key);
    await page.key("Enter");
  };
  await run("ls");
  const files = (await page.snapshot())
    .all("generic")
    .map((node) => node.text)
    .filter((text) => text && !/user\$|Welcome|Last login|terminal/.test(text))
    .at(-1);
  const file = files?.split(" ").find((name) => (extension ? name.endsWith(extension) : !name.includes(".")));
  if (!file) throw new Error(`no file fits among "${files}"`);
  await run(`rm ${file}`);
};

const EDITOR_STYLES: Record<string, string> = { bold: "bold", italics: "italic", underlined: "underline" };

const textEditor: Solver = async (page) => {
  const query = await page.query();
  const [word = "", style = "", color = ""] = match(query, /(?:give the text |give |make )(.*?) the (?:style (\w+)|color (\w+))/);
  const text = await page.read<string>("() => document.querySelector('.ql-editor').innerText.trim()");
  const start = word === "everything" ? 0 : text.split(" ").indexOf(word) >= 0 ? ` ${text}`.indexOf(` ${word}`) : text.indexOf(word);
  const length = word === "everything" ? text.length : word.length;
  await page.click(".ql-editor");
  await page.key("Control+Home");
  await page.key("ArrowRight", start);
  await page.key("Shift+ArrowRight", length);
  // The editor reads the selection a moment later.
  await page.wait(0.3);
  if (style) await page.click(`.ql-${EDITOR_STYLES[style]}`);
  else {
    await page.click(".ql-color .ql-picker-label");
    const rgb = { red: "#e60000", orange: "#ff9900", yellow: "#ffff00", green: "#008a00", blue: "#0066cc", purple: "#9933ff" }[color];
    await page.click(`.ql-color .ql-picker-item[data-value="${rgb}"]`);
  }
  await page.submit();
};

export const fields: Record<string, Solver> = {
  "choose-date": chooseDate,
  "choose-date-easy": chooseDate,
  "choose-date-medium": chooseDate,
  "choose-date-nodelay": chooseDate,
  "copy-paste": copyPaste,
  "copy-paste-2": copyPaste,
  "enter-date": enterDate,
  "enter-password": password,
  "enter-text": enterQuoted,
  "enter-text-2": enterCase,
  "enter-text-dynamic": enterQuoted,
  "enter-time": enterTime,
  "find-word": findWord,
  "focus-text": focus,
  "focus-text-2": focusPosition,
  "form-sequence": formSequence,
  "form-sequence-2": formSequence2,
  "form-sequence-3": formSequence3,
  "guess-number": guessNumber,
  "login-user": login,
  "login-user-popup": login,
  "multi-layouts": movie,
  "multi-orderings": movie,
  "read-table": readTable,
  "read-table-2": readTable2,
  "scroll-text": lastWord,
  "simple-algebra": algebra,
  "simple-arithmetic": arithmetic,
  terminal,
  "text-editor": textEditor,
  "text-transform": captcha,
  "use-autocomplete": autocomplete,
  "use-autocomplete-nodelay": autocomplete,
  "use-colorwheel": colorWheel,
  "use-colorwheel-2": colorWheel,
  "use-slider": slider,
  "use-slider-2": sliders,
  "use-spinner": spinner,
  "visual-addition": addition,
};
