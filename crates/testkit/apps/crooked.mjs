// A small web app with the faults that its arguments select. It listens on 127.0.0.1 on the port PORT, or on a free one if PORT is not set,
// and prints `listening on URL`. It only requires Node.
//
//   --crash            prints a stack trace and exits with code 3 before it listens
//   --exit-0           exits with code 0 before it listens
//   --hang             never listens
//   --slow MS          listens after that time
//   --own-port         listens on a random port, whatever PORT is
//   --taken FILE       reports that the port is in use (EADDRINUSE) and exits with code 1, unless the file exists; creates the file
//   --flood            prints endlessly on stdout and stderr
//   --ignore-term      prints that it received SIGTERM, and continues
//   --slow-term MS     exits that time after SIGTERM, with a last line
//   --fail-after N     responds with status 500 after N requests
//   --hang-after N     does not respond after N requests
//   --crash-after N    exits with a stack trace and code 7 at request N
//   --grandchild       a child process listens, and this process waits
//   --orphan           a child process listens, and this process exits
//   --leave-group      with one of those: the child has its own process group
//
// Paths: `/` (a page with buttons), `/save` (500, with a stack trace on stderr), `/die` (exits with a stack trace and code 7),
// `/never` (no response), `/hang` (no response to later requests), `/slow?ms=`, `/log?line=` and `/log?line=&stream=stderr` (prints the line), `/pid`, `/count`.
import { spawn } from "node:child_process";
import { existsSync, writeFileSync, writeSync } from "node:fs";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";

const words = process.argv.slice(2);
const has = (name) => words.includes(name);
const value = (name) => words[words.indexOf(name) + 1];
const number = (name, otherwise) => (has(name) ? Number(value(name)) : otherwise);

if (has("--crash")) {
  console.log("starting");
  throwAway(new Error("cannot read the configuration"), 3);
}
if (has("--exit-0")) {
  console.log("nothing to do");
  process.exit(0);
}
if (has("--taken") && !existsSync(value("--taken"))) {
  writeFileSync(value("--taken"), "");
  console.error(`Error: listen EADDRINUSE: address already in use 127.0.0.1:${process.env.PORT}`);
  process.exit(1);
}
if (has("--ignore-term")) process.on("SIGTERM", () => console.log("SIGTERM? not now"));
if (has("--slow-term")) {
  process.on("SIGTERM", () => {
    console.log("closing");
    setTimeout(() => {
      console.log("closed");
      process.exit(0);
    }, number("--slow-term"));
  });
}
if (has("--flood")) flood();

if (has("--hang")) {
  console.log("compiling");
  setInterval(() => {}, 1 << 30);
} else if (has("--grandchild") || has("--orphan")) {
  const rest = words.filter((word) => !["--grandchild", "--orphan", "--leave-group"].includes(word));
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), ...rest], {
    stdio: "inherit",
    detached: has("--leave-group"),
  });
  if (has("--orphan")) child.unref();
} else {
  setTimeout(serve, number("--slow", 0));
}

function serve() {
  let count = 0;
  let isHung = false;
  const server = createServer((request, response) => {
    const url = new URL(request.url, "http://localhost");
    const answer = (status, type, text) => response.writeHead(status, { "content-type": type }).end(text);
    count += 1;
    if (count === number("--crash-after")) throwAway(new Error(`cannot answer request ${count}`), 7);
    if (isHung || count > number("--hang-after", Infinity)) return;
    if (count > number("--fail-after", Infinity)) {
      console.error(`Error: no connection to the database (request ${count})`);
      answer(500, "text/plain", "Internal Server Error");
      return;
    }
    switch (url.pathname) {
      case "/":
        answer(200, "text/html", page);
        break;
      case "/save":
        console.error(new Error('cannot save: the table "orders" does not exist').stack);
        answer(500, "application/json", '{"error":"cannot save"}');
        break;
      case "/die":
        throwAway(new Error("killed by a request"), 7);
        break;
      case "/never":
        break;
      case "/hang":
        isHung = true;
        console.error("Error: the worker has exited");
        answer(200, "text/plain", "It was the last response");
        break;
      case "/slow":
        setTimeout(() => answer(200, "text/plain", "at last"), Number(url.searchParams.get("ms")));
        break;
      case "/log":
        console[url.searchParams.get("stream") === "stderr" ? "error" : "log"](url.searchParams.get("line"));
        answer(200, "text/plain", "printed");
        break;
      case "/pid":
        answer(200, "application/json", JSON.stringify({ pid: process.pid, parent: process.ppid }));
        break;
      case "/count":
        answer(200, "application/json", JSON.stringify({ count }));
        break;
      default:
        answer(404, "text/plain", "Not Found");
    }
  });
  const port = has("--own-port") ? 0 : Number(process.env.PORT ?? 0);
  server.listen(port, "127.0.0.1", () => console.log(`listening on http://127.0.0.1:${server.address().port}/`));
}

function flood() {
  const line = `${"all work and no play ".repeat(48)}\n`;
  const print = () => {
    process.stderr.write(line);
    // Prints at the rate at which stdout is read.
    process.stdout.write(line.repeat(32), () => setImmediate(print));
  };
  print();
}

function throwAway(error, code) {
  // An asynchronous write would be lost at exit.
  writeSync(2, `${error.stack}\n`);
  process.exit(code);
}

// `var` is hoisted, so that the functions above can use it.
var page = `<!doctype html>
<title>Crooked</title>
<h1>Crooked</h1>
<button onclick="ask('/save')">Save</button>
<button onclick="ask('/die')">Die</button>
<button onclick="ask('/never')">Wait</button>
<output></output>
<script>
  async function ask(path) {
    const output = document.querySelector('output');
    output.textContent = 'asking';
    try {
      const answer = await fetch(path);
      output.textContent = 'answered ' + answer.status;
    } catch (error) {
      output.textContent = 'no answer';
    }
  }
</script>`;
