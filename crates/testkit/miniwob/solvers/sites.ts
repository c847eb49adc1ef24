// Tasks on small sites: mail, search, contacts, social media, flights, food, a calendar.
import { center, match, type Page, quoted, type Solver } from "../page";
import { pickDate } from "./fields";

interface Mail {
  action: "reply" | "forward" | "delete" | "star";
  sender: string;
  to: string;
  text: string;
}

/** Words that begin a sentence as a name does. */
const NO_NAMES = /^(The|Give|Send|Please|Forward|Find)$/;

/** What an instruction in natural language requires. A quoted text is a reply; of a forward, the other person is the receiver. */
function understand(query: string, senders: string[]): Mail {
  const text = /"+(.*?)"+[\s,.?]*(?:\S.*)?$/.exec(query)?.[1] ?? "";
  const rest = text ? query.replace(text, "") : query;
  const action = text
    ? "reply"
    : /star|important|flag/i.test(rest) && !/forward/i.test(rest)
      ? "star"
      : /delete|trash|remove|erase|get rid/i.test(rest)
        ? "delete"
        : "forward";
  const known = senders.filter((name) => new RegExp(`\\b${name}(s|\\b)`).test(rest));
  const wrote = (name: string) =>
    new RegExp(`(from|by) (?:\\w+ )?${name}\\b|${name}'?s? (?:latest |last )?(?:e-?mail|message|mail|wrote|sent)|${name}'s`, "i").test(
      rest,
    ) && !new RegExp(`\\bto ${name}\\b(?!'s)`).test(rest);
  const sender = known.find(wrote) ?? known[0] ?? "";
  if (action !== "forward") return { action, sender, to: "", text };
  const receives = (name: string) =>
    new RegExp(`(?:to|send|give|forward|let|want) ${name}\\b|^${name} (?:wants|is|needs|must)`, "i").test(rest) && !NO_NAMES.test(name);
  const others = [...rest.replace(sender, "").matchAll(/\b([A-Z][a-z]+(?:-[A-Z][a-z]+)?)(?='s\b|\b)/g)].map((found) => found[1] ?? "");
  const to = others.find((name) => name !== sender && receives(name)) ?? known.find((name) => name !== sender) ?? "";
  return { action, sender, to, text };
}

/** Clicks the left edge of an icon in the list of mails: on WebKitGTK the scroll bar covers the rest. */
async function clickIcon(page: Page, index: number, icon: string): Promise<void> {
  const list = await page.box("#main");
  for (let i = 0; i < 5; i++) {
    const box = (await page.boxes(`#main .email-thread .${icon}`))[index];
    if (!box) throw new Error(`mail ${index} has no icon`);
    if (box.y + box.height < list.y + list.height) return page.clickAt({ x: box.x + 2, y: center(box).y });
    await page.moveTo(center(list));
    await page.wheel(80);
    await page.wait(0.5);
  }
}

const mail: Solver = async (page) => {
  const query = await page.query();
  const senders = await page.read<string[]>(
    "() => [...document.querySelectorAll('#main .email-sender')].map((element) => element.innerText.trim())",
  );
  const { action, sender, to, text } = understand(query, senders);
  const index = senders.indexOf(sender);
  if (index < 0) throw new Error(`no mail of the sender in "${query}"`);
  // The icons are pictures without a name, which the snapshot does not have.
  const icons: Record<string, string> = { delete: "trash", star: "star" };
  if (icons[action]) return clickIcon(page, index, icons[action]);
  const row = (await page.snapshot()).all("generic").filter((node) => node.isClickable && node.children[0]?.label === sender)[0];
  if (!row) throw new Error(`the snapshot has no mail from ${sender}`);
  await page.click(row);
  const button = (await page.snapshot()).all("generic", action === "reply" ? "Reply" : "Forward")[0];
  if (!button) throw new Error(`the mail has no ${action}`);
  await page.click(button);
  if (action === "reply") {
    await page.type((await page.snapshot()).first("textbox"), text);
    await page.click("#send-reply");
  } else {
    await page.type((await page.snapshot()).first("textbox"), to);
    await page.click("#send-forward");
  }
};

const NEXT = ">";

const search: Solver = async (page) => {
  const query = await page.query();
  const [text = ""] = quoted(query);
  const position = Number(match(query, /the (\d)\S* search result/)[0]) - 1;
  await page.type((await page.snapshot()).first("textbox"), text);
  await page.press("Search");
  for (let i = 0; i < Math.floor(position / 3); i++) await page.click((await page.snapshot()).first("link", NEXT));
  const links = (await page.snapshot()).all("link").filter((node) => !/^[<>\d]$|^(First|Last)$/.test(node.label));
  const found = links[position % 3];
  if (!found) throw new Error(`the page has no result ${position}`);
  await page.click(found);
};

const contact: Solver = async (page) => {
  const [name = "", property = ""] = match(await page.query(), /Find (.*) in the contact book and click on their (\w+)/);
  for (let i = 0; i < 5; i++) {
    const snapshot = await page.snapshot();
    if (snapshot.all("heading", name)[0]) return page.click(`#contact a.${property}`);
    await page.click(snapshot.first("link", NEXT));
  }
};

/** The user of each post. */
const users = (page: Page) =>
  page.read<string[]>("() => [...document.querySelectorAll('.media .username')].map((element) => element.innerText.trim())");

const ICONS: Record<string, string> = { Reply: "reply", Retweet: "retweet", Like: "like", Share: "share" };

const socialMedia: Solver = async (page) => {
  const query = await page.query();
  const [user = ""] = match(query, /the user (@\S+?),/);
  const action = quoted(query)[0] ?? "";
  const post = `.media >> nth=${(await users(page)).indexOf(user)}`;
  const icon = ICONS[action];
  const button = `${post} >> .${icon ?? "more"}`;
  await page.click(button);
  if (icon) return;
  const item = (await page.snapshot()).all("listitem").find((node) => node.label.startsWith(action));
  if (!item) throw new Error(`the menu has no "${action}"`);
  await page.click(item);
};

const socialMediaMany: Solver = async (page) => {
  const query = await page.query();
  const [count = "", user] = match(query, /on (all|\d+) posts? by (@\S+)/);
  const posts = (await users(page)).flatMap((name, i) => (name === user ? [i] : []));
  for (const i of count === "all" ? posts : posts.slice(0, Number(count))) {
    await page.click(`.media >> nth=${i} >> .${ICONS[quoted(query)[0] ?? ""]}`);
  }
  await page.submit();
};

interface Flight {
  price: number;
  minutes: number;
}

/** The flights of the page, from the text of each. */
const flights = async (page: Page): Promise<Flight[]> => {
  const texts = await page.read<string[]>("() => [...document.querySelectorAll('.flight')].map((element) => element.innerText)");
  return texts.map((text) => {
    const [hours, minutes] = match(text, /(\d+)h (\d+)m/);
    return { price: Number(match(text, /\$(\d+)/)[0]), minutes: Number(hours) * 60 + Number(minutes) };
  });
};

async function book(page: Page, wish: string): Promise<void> {
  const all = await flights(page);
  const key = /cheap|expensive|cost/.test(wish) ? "price" : "minutes";
  const values = all.map((flight) => flight[key]);
  const value = /longest|expensive/.test(wish) ? Math.max(...values) : Math.min(...values);
  await page.click(`.flight >> nth=${values.indexOf(value)} >> button`);
}

const buyTicket: Solver = async (page) => book(page, match(await page.query(), /with the (.*)\.$/)[0] ?? "");

const bookFlight: Solver = async (page) => {
  const [wish = "", from = "", to = "", date = ""] = match(
    await page.query(),
    /Book the (\w+) one-way flight from: (.*) to: (.*) on (\S+)\.$/,
  );
  for (const [field, city] of [
    ["#flight-from", from],
    ["#flight-to", to],
  ] as const) {
    await page.type(field, city, { slowly: true });
    await page.wait(0.6);
    const items = (await page.snapshot()).all("menuitem|option|listitem");
    const item =
      items.find((node) => node.label.startsWith(`${city} (`) || node.label.endsWith(`(${city})`)) ??
      items.find((node) => node.label.includes(city));
    if (!item) throw new Error(`no airport for "${city}"`);
    await page.click(item);
  }
  await pickDate(page, "#datepicker", date);
  await page.wait(0.5);
  await page.press("Search");
  await book(page, wish);
};

const TAGS = ["dairy", "gluten-free", "meat", "peanuts", "vegan"];

const orderFood: Solver = async (page) => {
  const query = await page.query();
  const kind = TAGS.find((tag) => query.endsWith(`items that are ${tag}`));
  const menu = await page.read<{ name: string; tags: string[] }[]>(`() => [...document.querySelectorAll('.food-item')].map((item) =>
    ({ name: item.querySelector('.item-name').innerText.trim(), tags: [...item.querySelectorAll('img')].map((image) => image.alt) }))`);
  const names = match(query, /(?:Order one of each item: (.*)|Order .*)/)[0] ?? "";
  const indexes = menu.flatMap((item, i) => ((kind ? item.tags.includes(kind) : names.includes(item.name)) ? [i] : []));
  const count = kind ? Number(match(query, /Order (\d)/)[0]) : indexes.length;
  for (let i = 0; i < count; i++) await page.click(`.food-item >> nth=${indexes[i % indexes.length]} >> .add`);
  await page.press("Order!");
};

const agreement: Solver = async (page) => {
  const query = await page.query();
  const [name = "", button = "Cancel"] = quoted(query);
  if (/Scroll/.test(query)) {
    await page.moveTo(center(await page.box("#text-area")));
    for (let i = 0; i < 10 && (await page.read<boolean>("() => document.getElementById('name').disabled")); i++) {
      await page.wheel(5000);
      await page.wait(0.5);
    }
    await page.type("#name", name);
  }
  await page.press(button);
};

/** Drags over free half hours inside the window, then names the event. */
const calendar: Solver = async (page) => {
  const [length = "", unit = "", name = "", from = "", to = ""] = match(
    await page.query(),
    /Create a ([\d.]+) (\w+) event named "(.*)", between (\w+) and (\w+)/,
  );
  const count = unit.startsWith("min") ? Number(length) / 30 : Number(length) * 2;
  const half = (time: string) => ((Number.parseInt(time, 10) % 12) + (time.endsWith("PM") ? 12 : 0)) * 2;
  const events = await page.boxes(".event");
  const slots = await page.boxes(".half-hour");
  const isFree = (index: number) => {
    const slot = slots[index];
    return slot && !events.some((event) => event.y < slot.y + slot.height + 3 && event.y + event.height > slot.y - 3);
  };
  let start = half(from);
  const range = Array.from({ length: count + 1 }, (_, i) => i);
  while (start + count < half(to) && !range.every((i) => isFree(start + i))) start++;
  const area = await page.box("#area");
  const slot = slots[start];
  if (!slot) throw new Error("the calendar has no such time");
  await page.moveTo(center(area));
  await page.wheel(slot.y - area.y - 40);
  await page.wait(0.5);
  const now = await page.boxes(".half-hour");
  const points = Array.from({ length: count }, (_, i) => now[start + i]).flatMap((box) => (box ? [center(box)] : []));
  const [first] = points;
  if (!first) throw new Error("the calendar has no such time");
  // The event may be drawn beside the half hours; the page ends the drag where the button is released over it.
  await page.grab(first);
  for (const point of [{ x: first.x + 2, y: first.y }, ...points.slice(1)]) await page.moveTo(point);
  await page.moveTo(center(await page.box("#newEvent")));
  await page.release();
  await page.type("#event-name", name);
  await page.press("Create");
};

export const sites: Record<string, Solver> = {
  "book-flight": bookFlight,
  "book-flight-nodelay": bookFlight,
  "buy-ticket": buyTicket,
  "daily-calendar": calendar,
  "email-inbox": mail,
  "email-inbox-delete": mail,
  "email-inbox-forward": mail,
  "email-inbox-forward-nl": mail,
  "email-inbox-forward-nl-turk": mail,
  "email-inbox-important": mail,
  "email-inbox-nl-turk": mail,
  "email-inbox-noscroll": mail,
  "email-inbox-reply": mail,
  "email-inbox-star-reply": mail,
  "order-food": orderFood,
  "phone-book": contact,
  "search-engine": search,
  "sign-agreement": agreement,
  "social-media": socialMedia,
  "social-media-all": socialMediaMany,
  "social-media-some": socialMediaMany,
};
