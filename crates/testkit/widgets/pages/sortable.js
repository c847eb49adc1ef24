import Sortable from "sortablejs";

document.querySelector("#root").innerHTML = `
<h2>Simple list</h2><ul id=simple><li>First task</li><li>Second task</li><li>Third task</li></ul>
<h2>With handles</h2><div id=handles style="width:300px"><div><span class=handle style="cursor:move">☰</span>&nbsp;Alpha</div><div><span class=handle style="cursor:move">☰</span>&nbsp;Beta</div></div>
<p id=order></p>`;
const list = document.querySelector("#simple");
const show = () => {
  document.querySelector("#order").textContent = `Order: ${[...list.children].map((item) => item.textContent).join(", ")}`;
};
Sortable.create(list, { animation: 150, onEnd: show });
Sortable.create(document.querySelector("#handles"), { handle: ".handle" });
show();
