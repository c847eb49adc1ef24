import "prosemirror-view/style/prosemirror.css";
import "prosemirror-menu/style/menu.css";
import "prosemirror-example-setup/style/style.css";
import { exampleSetup } from "prosemirror-example-setup";
import { DOMParser, Schema } from "prosemirror-model";
import { schema as basic } from "prosemirror-schema-basic";
import { addListNodes } from "prosemirror-schema-list";
import { EditorState } from "prosemirror-state";
import { EditorView } from "prosemirror-view";

const root = document.querySelector("#root");
root.innerHTML = "<h1>ProseMirror</h1><div id=editor></div>";
const schema = new Schema({ nodes: addListNodes(basic.spec.nodes, "paragraph block*", "block"), marks: basic.spec.marks });
const content = document.createElement("div");
content.innerHTML = "<h2>Meeting</h2><p>The first <em>draft</em> of the minutes.</p><ul><li><p>Agenda</p></li></ul>";
const state = EditorState.create({ doc: DOMParser.fromSchema(schema).parse(content), plugins: exampleSetup({ schema }) });
new EditorView(document.querySelector("#editor"), { state });
