import { javascript } from "@codemirror/lang-javascript";
import { basicSetup, EditorView } from "codemirror";

const parent = document.querySelector("#root");
parent.innerHTML = "<h1>Script</h1>";
new EditorView({ doc: "function hello(name) {\n  return 'Hello ' + name;\n}\n", extensions: [basicSetup, javascript()], parent });
