// The API of the notes app. Users and their notes are in the JSON file DATABASE, a copy of seed.json at first. The port is PORT.
import express from "express";
import { randomUUID } from "node:crypto";
import { copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const seed = fileURLToPath(new URL("seed.json", import.meta.url));
const database = process.env.DATABASE ?? fileURLToPath(new URL("database.json", import.meta.url));
if (!existsSync(database)) copyFileSync(seed, database);

const read = () => JSON.parse(readFileSync(database, "utf8"));
const write = (data) => writeFileSync(database, JSON.stringify(data, null, 2));
const sessions = new Map();
const sessionOf = (request) => /(?:^|; )session=([^;]*)/.exec(request.headers.cookie ?? "")?.[1];

const app = express();
app.use(express.json());
app.use((request, _response, next) => {
  console.log(`${request.method} ${request.url}`);
  next();
});

function enter(response, name) {
  const session = randomUUID();
  sessions.set(session, name);
  response.cookie("session", session, { httpOnly: true, sameSite: "lax" }).json({ name });
}

app.get("/", (_request, response) => response.json({ name: "notes-api" }));

app.post("/api/sign-up", (request, response) => {
  const { name, password } = request.body;
  const data = read();
  if (Object.hasOwn(data.users, name)) return response.status(409).json({ error: `${name} has signed up already` });
  data.users[name] = { password, notes: [] };
  write(data);
  console.log(`signed up: ${name}`);
  enter(response, name);
});

app.post("/api/login", (request, response) => {
  const { name, password } = request.body;
  const data = read();
  const user = Object.hasOwn(data.users, name) && data.users[name];
  if (!user || user.password !== password) return response.status(401).json({ error: "wrong name or password" });
  enter(response, name);
});

app.post("/api/log-out", (request, response) => {
  sessions.delete(sessionOf(request));
  response.clearCookie("session").json({});
});

app.use("/api", (request, response, next) => {
  request.user = sessions.get(sessionOf(request));
  if (!request.user) return response.status(401).json({ error: "no user is logged in" });
  next();
});

app.get("/api/notes", (request, response) => {
  response.json({ name: request.user, notes: read().users[request.user].notes });
});

app.post("/api/notes", (request, response) => {
  const data = read();
  data.users[request.user].notes.push(request.body.text);
  write(data);
  response.status(201).json({});
});

// A deliberate error: the settings do not exist.
app.post("/api/export", async (_request, response) => {
  const { settings } = read();
  response.json({ printer: settings.printer });
});

app.use((error, _request, response, next) => {
  console.error(error.stack);
  if (response.headersSent) return next(error);
  response.status(500).json({ error: "Internal Server Error" });
});

const server = app.listen(Number(process.env.PORT ?? 3000), "127.0.0.1", (error) => {
  if (error) throw error;
  console.log(`API on http://127.0.0.1:${server.address().port}`);
});
