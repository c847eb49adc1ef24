import { show } from "./title.js";

const find = (selector) => document.querySelector(selector);
const status = (text) => (find("[role=status]").textContent = text);

async function ask(method, path, body) {
  const answer = await fetch(`/api/${path}`, {
    method,
    headers: body && { "content-type": "application/json" },
    body: body && JSON.stringify(body),
  });
  const data = await answer.json();
  if (!answer.ok) throw new Error(`${answer.status}: ${data.error}`);
  return data;
}

/** Returns an event handler that performs an action and shows its error. */
function attempt(action) {
  return async (event) => {
    event.preventDefault();
    status("");
    try {
      await action(event);
    } catch (error) {
      console.error(error);
      status(`That failed (${error.message})`);
    }
  };
}

async function refresh() {
  const { name, notes } = await ask("GET", "notes");
  find("#sign-in").hidden = true;
  find("#notes").hidden = false;
  find("#notes h2").textContent = `Notes of ${name}`;
  const items = notes.map((note) => Object.assign(document.createElement("li"), { textContent: note }));
  find("#notes ul").replaceChildren(...items);
}

find("#sign-in").addEventListener(
  "submit",
  attempt(async (event) => {
    await ask("POST", event.submitter.value, Object.fromEntries(new FormData(event.target)));
    event.target.reset();
    await refresh();
  }),
);

find("#add").addEventListener(
  "submit",
  attempt(async (event) => {
    await ask("POST", "notes", Object.fromEntries(new FormData(event.target)));
    event.target.reset();
    await refresh();
  }),
);

// The server responds with a deliberate error.
find("#export").addEventListener(
  "click",
  attempt(() => ask("POST", "export")),
);

find("#log-out").addEventListener(
  "click",
  attempt(async () => {
    await ask("POST", "log-out");
    find("#notes").hidden = true;
    find("#sign-in").hidden = false;
  }),
);

show();
refresh().catch(() => {});
