import "quill/dist/quill.snow.css";
import Quill from "quill";

document.querySelector("#root").innerHTML = "<div id=editor><p>Hello World!</p><p>Some initial <strong>bold</strong> text</p></div>";
const toolbar = [
  [{ header: [1, 2, false] }, { font: [] }],
  ["bold", "italic", "underline", "link"],
  [{ list: "ordered" }, { list: "bullet" }],
  [{ color: [] }, { align: [] }],
  ["image", "code-block", "clean"],
];
new Quill("#editor", { theme: "snow", placeholder: "Compose an epic...", modules: { toolbar } });
