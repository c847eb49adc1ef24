// The guests, in a file.
import { readFile, writeFile } from "node:fs/promises";

const FILE = "guests.json";

export async function readGuests() {
  const text = await readFile(FILE, "utf8").catch(() => "[]");
  return JSON.parse(text);
}

export async function writeGuests(guests) {
  await writeFile(FILE, JSON.stringify(guests));
}
