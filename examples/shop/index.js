import { ask, toast } from "./shop.js";

const products = document.querySelector("#products");
const found = document.querySelector("#found");
const basket = document.querySelector("#basket");

function show(list) {
  products.replaceChildren(
    ...list.map((product) => {
      const item = document.createElement("li");
      const name = document.createElement("strong");
      name.textContent = product.name;
      const add = document.createElement("button");
      add.type = "button";
      add.textContent = "Add to basket";
      add.setAttribute("aria-label", `Add ${product.name} to basket`);
      add.dataset.testid = `add-${product.id}`;
      add.addEventListener("click", () => {
        basket.value = String(Number(basket.value) + 1);
        toast(`${product.name} is in your basket`);
      });
      item.append(name, ` ${product.price} € `, add);
      return item;
    }),
  );
  products.setAttribute("aria-busy", "false");
}

// Each keystroke cancels the search that the previous one scheduled.
let planned;
document.querySelector("#query").addEventListener("input", (event) => {
  clearTimeout(planned);
  const query = event.target.value;
  planned = setTimeout(async () => {
    const list = await ask(`api/products?delay=80&q=${encodeURIComponent(query)}`);
    found.textContent = `${list.length} of 12 products`;
    show(list);
  }, 200);
});

show(await ask("api/products?delay=120"));
