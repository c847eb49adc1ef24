// Tasks in a file, changed by form actions.
import { readFile, writeFile } from "node:fs/promises";
import { fail } from "@sveltejs/kit";

const FILE = "tasks.json";

async function read() {
  const text = await readFile(FILE, "utf8").catch(() => "[]");
  return JSON.parse(text);
}

export const load = async () => ({ tasks: await read() });

export const actions = {
  add: async ({ request }) => {
    const form = await request.formData();
    const title = form.get("title").trim();
    if (!title) return fail(400, { error: "A task has a title" });
    await writeFile(FILE, JSON.stringify([...(await read()), { title, priority: form.get("priority"), done: false }]));
  },
  toggle: async ({ request }) => {
    const title = (await request.formData()).get("title");
    const tasks = await read();
    await writeFile(FILE, JSON.stringify(tasks.map((it) => (it.title === title ? { ...it, done: !it.done } : it))));
  },
};
