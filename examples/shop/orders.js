import { ask, toast } from "./shop.js";

const table = document.querySelector("#orders");
const rows = table.querySelector("tbody");
const [previous, next, where, size] = ["#previous", "#next", "#where", "#size"].map((id) => document.querySelector(id));
const view = { page: 1, sort: "number", descending: false };

async function load() {
  table.setAttribute("aria-busy", "true");
  const { orders, page, pages } = await ask(
    `api/orders?delay=100&page=${view.page}&size=${size.value}&sort=${view.sort}&descending=${view.descending}`,
  );
  rows.replaceChildren(
    ...orders.map((order) => {
      const row = document.createElement("tr");
      for (const text of [order.number, order.customer, `${order.total.toFixed(2)} €`, order.state]) {
        row.insertCell().textContent = text;
      }
      const cancel = document.createElement("button");
      cancel.type = "button";
      cancel.textContent = "Cancel";
      cancel.setAttribute("aria-label", `Cancel order ${order.number}`);
      cancel.disabled = order.state !== "open";
      cancel.addEventListener("click", () => {
        row.cells[3].textContent = "cancelled";
        cancel.disabled = true;
        toast(`Order ${order.number} is cancelled`);
      });
      row.insertCell().append(cancel);
      return row;
    }),
  );
  where.textContent = `Page ${page} of ${pages}`;
  previous.disabled = page <= 1;
  next.disabled = page >= pages;
  table.setAttribute("aria-busy", "false");
}

function turn(change) {
  Object.assign(view, change);
  return load();
}

previous.addEventListener("click", () => turn({ page: view.page - 1 }));
next.addEventListener("click", () => turn({ page: view.page + 1 }));
size.addEventListener("change", () => turn({ page: 1 }));
for (const header of table.querySelectorAll("[data-column]")) {
  header.addEventListener("click", () => {
    const sort = header.dataset.column;
    const descending = view.sort === sort && !view.descending;
    for (const cell of table.querySelectorAll("[aria-sort]")) cell.removeAttribute("aria-sort");
    header.closest("th").setAttribute("aria-sort", descending ? "descending" : "ascending");
    return turn({ sort, descending, page: 1 });
  });
}
await load();
