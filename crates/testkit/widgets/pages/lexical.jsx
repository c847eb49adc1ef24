import { useLexicalComposerContext } from "@lexical/react/LexicalComposerContext";
import { LexicalComposer } from "@lexical/react/LexicalComposer";
import { ContentEditable } from "@lexical/react/LexicalContentEditable";
import { LexicalErrorBoundary } from "@lexical/react/LexicalErrorBoundary";
import { HistoryPlugin } from "@lexical/react/LexicalHistoryPlugin";
import { RichTextPlugin } from "@lexical/react/LexicalRichTextPlugin";
import { FORMAT_TEXT_COMMAND, UNDO_COMMAND } from "lexical";
import { createRoot } from "react-dom/client";

const icon = { display: "inline-block", width: 16, height: 16, background: "gray" };

function Toolbar() {
  const [editor] = useLexicalComposerContext();
  return (
    <div className="toolbar">
      <button type="button" aria-label="Undo" onClick={() => editor.dispatchCommand(UNDO_COMMAND)}>
        <i style={icon} />
      </button>
      <button type="button" aria-label="Format Bold" onClick={() => editor.dispatchCommand(FORMAT_TEXT_COMMAND, "bold")}>
        <i style={icon} />
      </button>
    </div>
  );
}

createRoot(document.querySelector("#root")).render(
  <LexicalComposer initialConfig={{ namespace: "page", theme: { text: { bold: "bold" } }, onError: console.error }}>
    <Toolbar />
    <RichTextPlugin
      contentEditable={<ContentEditable aria-placeholder="Enter some rich text..." placeholder={<div>Enter some rich text...</div>} />}
      ErrorBoundary={LexicalErrorBoundary}
    />
    <HistoryPlugin />
  </LexicalComposer>,
);
