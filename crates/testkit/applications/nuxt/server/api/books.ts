import { readFile, writeFile } from "node:fs/promises";

const FILE = "books.json";

export default defineEventHandler(async (event) => {
  const text = await readFile(FILE, "utf8").catch(() => '[{"title":"Weather","kind":"science","read":false}]');
  const books = JSON.parse(text);
  if (event.method === "GET") return books;
  const book = await readBody(event);
  if (!book.title) throw createError({ statusCode: 422, statusMessage: "A book has a title" });
  const others = books.filter((it) => it.title !== book.title);
  await writeFile(FILE, JSON.stringify([...others, book]));
  return book;
});
