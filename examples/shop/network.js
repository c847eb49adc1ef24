import { ask } from "./shop.js";

const answer = document.querySelector("#answer");
const on = (id, act) => document.querySelector(id).addEventListener("click", act);

on("#stock", async () => {
  const { count } = await ask("api/stock?delay=150");
  answer.value = `${count} items in stock`;
});
on("#chain", async () => {
  for (let step = 1; step <= 3; step += 1) {
    await ask("api/stock?delay=60");
    answer.value = `step ${step}`;
  }
});
on("#missing", async () => {
  const { status } = await fetch("../status/404");
  answer.value = `status ${status}`;
});
on("#socket", () => {
  const socket = new WebSocket(new URL("../ws", location.href.replace(/^http/, "ws")));
  socket.onopen = () => socket.send("two teas");
  socket.onmessage = ({ data }) => {
    answer.value = `the kitchen heard: ${data}`;
    socket.close();
  };
});
on("#log", () => {
  console.log("stock checked");
  console.info("three shelves", { shelves: 3 });
  console.warn("flour runs low");
  console.error("the oven is cold");
  console.debug("oven sensor 17");
});
on("#throw", () => {
  throw new Error("the till is stuck");
});
on("#popup", () => open("receipt.html", "receipt", "popup,width=400,height=300"));
