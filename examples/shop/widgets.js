import { toast } from "./shop.js";

class Rating extends HTMLElement {
  connectedCallback() {
    const root = this.attachShadow({ mode: "open" });
    const group = document.createElement("div");
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", this.getAttribute("label"));
    const state = document.createElement("output");
    state.value = "not rated";
    for (const stars of [1, 2, 3]) {
      const star = document.createElement("button");
      star.textContent = "★".repeat(stars);
      star.setAttribute("aria-label", `${stars} of 3 stars`);
      star.addEventListener("click", () => {
        state.value = `rated ${stars}`;
      });
      group.append(star);
    }
    root.append(group, state);
  }
}

class Card extends HTMLElement {
  connectedCallback() {
    const root = this.attachShadow({ mode: "open" });
    const title = document.createElement("h2");
    title.append(document.createElement("slot"));
    title.firstChild.name = "title";
    const rating = document.createElement("shop-rating");
    rating.setAttribute("label", "Rate the hours");
    root.append(title, rating);
  }
}

customElements.define("shop-rating", Rating);
customElements.define("shop-card", Card);

document.querySelector("#later").addEventListener("click", () => {
  setTimeout(() => {
    const offer = document.createElement("button");
    offer.type = "button";
    offer.textContent = "Take the offer";
    offer.addEventListener("click", () => toast("Offer taken"));
    document.querySelector("#slow").append(offer);
  }, 300);
});
document.querySelector("#moving").addEventListener("click", () => toast("Caught"));
