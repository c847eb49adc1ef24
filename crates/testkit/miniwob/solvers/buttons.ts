// Tasks that are solved by clicking: buttons, links, boxes, tabs, menus, dialogs.
import { center, match, type Page, quoted, type Solver } from "../page";

/** Clicks the boxes with the names that the query lists. */
const checkboxes: Solver = async (page) => {
  const [list = ""] = match(await page.query(), /^Select (.*) and click Submit/);
  const snapshot = await page.snapshot();
  for (const name of list === "nothing" ? [] : list.split(", ")) await page.click(snapshot.first("checkbox", name));
  await page.submit();
};

/** Words that mean about the same. */
const SYNONYMS = `big large huge enormous gigantic|small tiny little mini petite|red scarlet crimson vermillion
happy cheerful joyful gleeful delighted|sad unhappy sorrowful miserable tragic|angry mad furious irritated
evil wicked immoral sinful corrupt depraved|wrong incorrect mistaken erroneous|real genuine actual|strange odd peculiar unusual weird
stop cease halt end finish|scared terrified panicked fearful frightened afraid|quiet calm peaceful serene mild|old aged archaic
love like adore favor|kill murder assassinate|keep retain preserve sustain maintain|hide conceal camouflage
hate despise loathe detest dislike|funny humorous amusing comical laughable|fat fleshy plump chubby|stupid dumb dull unwise
delicious savory delectable appetizing|cut slice carve chop|brave courageous fearless|begin start initiate launch|answer reply response
television televisions TV TVs|house home houses homes|fire flame fires flames|pig pork swine|rabbit rabbits bunny bunnies
car cars automobile automobiles vehicle vehicles|water`
  .split(/[|\n]/)
  .map((line) => line.split(" "));

const similarCheckboxes: Solver = async (page) => {
  const [list = ""] = match(await page.query(), /similar to (.*) and click Submit/);
  const groups = list.split(", ").map((word) => SYNONYMS.find((group) => group.includes(word)) ?? [word]);
  for (const box of (await page.snapshot()).all("checkbox")) {
    if (groups.some((group) => group.includes(box.name))) await page.click(box);
  }
  await page.submit();
};

/** Clicks the button whose name the query quotes. */
const namedButton: Solver = async (page) => {
  const [name = ""] = quoted(await page.query());
  await page.press(name);
};

const buttonOne: Solver = async (page) => {
  await page.press(match(await page.query(), /Click button (\w+)/)[0] ?? "");
};

const buttonSequence: Solver = async (page) => {
  const snapshot = await page.snapshot();
  await page.click(snapshot.first("button", "ONE"));
  await page.click(snapshot.first("button", "TWO"));
};

/** The time between the clicks includes the calls; it may differ by 15 %. */
const buttonDelay: Solver = async (page) => {
  const [seconds = "1"] = match(await page.query(), /wait (\d) seconds/);
  const snapshot = await page.snapshot();
  const started = Date.now();
  await page.click(snapshot.first("button", "ONE"));
  const elapsed = Date.now() - started;
  await page.wait(Math.max(0.1, Number(seconds) - (1.2 * elapsed) / 1000));
  await page.click(snapshot.first("button", "TWO"));
};

/** The snapshot merges a clickable word into the text around it, so the word is found by its text. */
async function clickWord(page: Page, word: string): Promise<boolean> {
  const index = await page.read<number>(`() => [...document.querySelectorAll('#area span')]
    .findIndex((element) => element.textContent === ${JSON.stringify(word)} && element.checkVisibility())`);
  if (index >= 0) await page.click(`#area span >> nth=${index}`);
  return index >= 0;
}

const link: Solver = async (page) => {
  await clickWord(page, quoted(await page.query())[0] ?? "");
};

/** Opens one section after the other until the link is visible. */
const linkInTabs: Solver = async (page) => {
  const [word = ""] = quoted(await page.query());
  const openers = (await page.snapshot()).all("tab");
  for (let i = 0; !(await clickWord(page, word)); i++) {
    const opener = openers[i];
    if (!opener) return;
    await page.click(opener);
    // An animation opens the section.
    await page.wait(0.6);
  }
};

const expand: Solver = async (page) => {
  await page.click((await page.snapshot()).first("tab"));
  await page.wait(0.6);
  await page.submit();
};

const tab: Solver = async (page) => {
  const [name = ""] = match(await page.query(), /Click on (Tab #\d)/);
  await page.click((await page.snapshot()).first("tab", name));
};

const option: Solver = async (page) => {
  const [name = ""] = match(await page.query(), /^Select (.*) and click Submit/);
  await page.click((await page.snapshot()).first("radio", name));
  await page.submit();
};

const WIDGETS: Record<string, string> = { radio: "radio", checkbox: "checkbox", button: "button" };

const widget: Solver = async (page) => {
  const [kind = ""] = quoted(await page.query());
  const role = WIDGETS[kind];
  if (role) return page.click((await page.snapshot()).first(role));
  // The snapshot calls both kinds of fields textbox.
  await page.click(kind === "textarea" ? "#area textarea >> nth=0" : "#area input[data-type=text] >> nth=0");
};

const closeDialog: Solver = async (page) => page.press("Close");

const dialogButton: Solver = async (page) => {
  const [name = ""] = quoted(await page.query());
  await page.press(name === "x" ? "Close" : name);
};

const list: Solver = async (page) => {
  const [names = ""] = match(await page.query(), /^Select (.*) from the (?:scroll )?list and click Submit/);
  const snapshot = await page.snapshot();
  const options = snapshot.all("option").map((node) => node.label);
  // Names of countries may contain commas.
  const values = options.includes(names) ? [names] : names.split(", ");
  await page.select(snapshot.first("combobox|listbox"), values);
  await page.submit();
};

/** A canvas writes the name of a colour as the style of a box does. */
const color: Solver = async (page) => {
  const name = /^Click on the (\w+) colored box/.exec(await page.query())?.[1] ?? "";
  const index = await page.read<number>(`() => {
    const context = document.createElement('canvas').getContext('2d');
    const canonical = (color) => { context.fillStyle = color; return context.fillStyle; };
    const background = (element) => canonical(getComputedStyle(element).backgroundColor);
    const sample = document.querySelector('#query div');
    const wanted = sample ? background(sample) : canonical(${JSON.stringify(name)});
    return [...document.querySelectorAll('#area .color')].findIndex((box) => background(box) === wanted);
  }`);
  await page.click(`#area .color >> nth=${index}`);
};

const shades: Solver = async (page) => {
  const [name = ""] = match(await page.query(), /shades of (\w+)/);
  const colors = await page.read<number[][]>(`() => [...document.querySelectorAll('#area span')]
    .map((element) => getComputedStyle(element).backgroundColor.match(/[\\d.]+/g).map(Number))`);
  const channel = ["red", "green", "blue"].indexOf(name);
  for (const [i, rgb] of colors.entries()) {
    if (rgb.slice(0, 3).every((value) => value <= (rgb[channel] ?? 0))) await page.click(`#area span >> nth=${i}`);
  }
  await page.submit();
};

/** Hovers each parent in turn, which opens its submenu, then clicks the leaf. */
const menu: Solver = async (page) => {
  const path = match(await page.query(), /^Select (.*)/)[0]?.split(">") ?? [];
  for (const [i, name] of path.entries()) {
    const item = (await page.snapshot()).all("menuitem").find((node) => node.label === name || node.name.split(" ")[0] === name);
    if (!item) throw new Error(`the menu has no "${name}"`);
    if (i === path.length - 1) return page.click(item);
    await page.hover(item);
    await page.wait(0.7);
  }
};

const iconMenu: Solver = async (page) => {
  const label = quoted(await page.query())[1];
  const name =
    label ??
    (await page.read<string>(`() => {
      const position = (icon) => getComputedStyle(icon).backgroundPosition;
      const wanted = position(document.querySelector('#query .ui-icon'));
      return [...document.querySelectorAll('#menu .ui-icon')].find((icon) => !icon.classList.contains('ui-menu-icon')
        && position(icon) === wanted).parentElement.textContent.trim();
    }`));
  await page.press("Menu");
  if (["Prev", "Stop", "Play", "Next"].includes(name)) {
    await page.hover((await page.snapshot()).first("menuitem", "Playback"));
    await page.wait(0.7);
  }
  await page.click((await page.snapshot()).first("menuitem", name));
};

/** The page draws an item anew when the pointer enters it, so the pointer rests there before the click. */
const pie: Solver = async (page) => {
  const [name = ""] = quoted(await page.query());
  await page.click((await page.snapshot()).first("generic", "+"));
  await page.wait(1);
  const item = (await page.snapshot()).first("img").first("generic", name);
  await page.hover(item);
  await page.wait(0.3);
  await page.click(item);
};

const tree: Solver = async (page) => {
  const [name = ""] = quoted(await page.query());
  for (let i = 0; i < 9; i++) {
    const labels = (await page.snapshot()).all("listitem").flatMap((node) => [...node]);
    const found = labels.find((node) => node.label === name && node.children.length === 0);
    if (found) return page.click(found);
    const closed = await page.boxes("#tree .expandable > .hitarea");
    if (!closed.length) throw new Error(`the tree has no "${name}"`);
    await page.click("#tree .expandable > .hitarea >> nth=0");
  }
};

const oddOrEven: Solver = async (page) => {
  const numbers = (await page.snapshot()).all("generic").filter((node) => /^-?\d+$/.test(node.text));
  for (const number of numbers) {
    let row = number.parent;
    while (row && row.all("button").length < 2) row = row.parent;
    const buttons = row?.all("button") ?? [];
    const index = buttons.length > 2 ? numbers.indexOf(number) * 2 : 0;
    const button = buttons[index + (Number(number.text) % 2 === 0 ? 1 : 0)];
    if (button) await page.click(button);
  }
  await page.submit();
};

const generateNumber: Solver = async (page) => {
  const query = await page.query();
  const limit = Number(/than (\d+)/.exec(query)?.[1]);
  const fits = (n: number) =>
    query.includes("less") ? n < limit : query.includes("greater") ? n > limit : query.includes("odd") ? n % 2 === 1 : n % 2 === 0;
  for (let i = 0; i < 60; i++) {
    await page.press("Generate");
    const shown = (await page.snapshot()).all("generic").find((node) => /^\d+$/.test(node.text));
    if (shown && fits(Number(shown.text))) return page.submit();
  }
};

/** Turns each card over, and then the greatest once more. */
const findGreatest: Solver = async (page) => {
  const values: number[] = [];
  for (let i = 0; i < 3; i++) {
    await page.click(`#cardholder .card >> nth=${i}`);
    values.push(await page.read<number>(`() => Number(document.querySelectorAll('#cardholder .card')[${i}].innerText)`));
  }
  await page.click(`#cardholder .card >> nth=${values.indexOf(Math.max(...values))}`);
  await page.submit();
};

/** Buttons flash one after the other; their colours are observed until none has changed for two seconds. */
const simonSays: Solver = async (page) => {
  const order = await page.read<number[]>(`() => new Promise((resolve) => {
    const buttons = [...document.querySelectorAll('#area button')];
    const colors = () => buttons.map((button) => getComputedStyle(button).backgroundColor);
    const first = colors();
    const order = [];
    let before = first, quiet = 0;
    const timer = setInterval(() => {
      const now = colors();
      now.forEach((color, i) => { if (color !== before[i] && color !== first[i]) { order.push(i); quiet = 0; } });
      before = now;
      if (++quiet > 100) { clearInterval(timer); resolve(order); }
    }, 20);
  })`);
  for (const index of order) await page.click(`#area button >> nth=${index}`);
};

/** Buys when the price is a little lower than required, because it changes ten times a second; less and less so, because it ends soon. */
const stockMarket: Solver = async (page) => {
  const [limit = "0"] = match(await page.query(), /less than \$([\d.]+)/);
  await page.hover("#buy");
  await page.read(`() => new Promise((resolve) => {
    const price = document.getElementById('stock-price');
    const started = Date.now();
    const timer = setInterval(() => {
      const margin = 2 - 1.6 * (Date.now() - started) / 9000;
      if (price.textContent && Number(price.textContent.slice(1)) <= ${Number(limit)} - margin) { clearInterval(timer); resolve(); }
    }, 5);
    setTimeout(() => { clearInterval(timer); resolve(); }, 9000);
  })`);
  await page.clickAt(center(await page.box("#buy")));
};

export const buttons: Record<string, Solver> = {
  "button-delay": buttonDelay,
  "choose-list": list,
  "click-button": namedButton,
  "click-button-sequence": buttonSequence,
  "click-checkboxes": checkboxes,
  "click-checkboxes-large": checkboxes,
  "click-checkboxes-soft": similarCheckboxes,
  "click-checkboxes-transfer": checkboxes,
  "click-collapsible": expand,
  "click-collapsible-2": linkInTabs,
  "click-collapsible-2-nodelay": linkInTabs,
  "click-collapsible-nodelay": expand,
  "click-color": color,
  "click-dialog": closeDialog,
  "click-dialog-2": dialogButton,
  "click-link": link,
  "click-menu": menu,
  "click-menu-2": iconMenu,
  "click-option": option,
  "click-pie": pie,
  "click-pie-nodelay": pie,
  "click-scroll-list": list,
  "click-shades": shades,
  "click-tab": tab,
  "click-tab-2": linkInTabs,
  "click-tab-2-easy": linkInTabs,
  "click-tab-2-hard": linkInTabs,
  "click-tab-2-medium": linkInTabs,
  "click-test": (page) => page.press("Click Me!"),
  "click-test-2": buttonOne,
  "click-test-transfer": buttonOne,
  "click-widget": widget,
  "find-greatest": findGreatest,
  "generate-number": generateNumber,
  "navigate-tree": tree,
  "odd-or-even": oddOrEven,
  "simon-says": simonSays,
  "stock-market": stockMarket,
  "unicode-test": namedButton,
};
