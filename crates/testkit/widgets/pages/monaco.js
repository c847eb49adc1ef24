import * as monaco from "monaco-editor";

document.querySelector("#root").innerHTML =
  '<h1>Settings</h1><div id=container style="width:800px;height:300px;border:1px solid grey"></div>';
self.MonacoEnvironment = { getWorker: () => new Worker(URL.createObjectURL(new Blob([""], { type: "text/javascript" }))) };
monaco.editor.create(document.querySelector("#container"), { value: "color = red\nsize = 12\n", language: "plaintext" });
