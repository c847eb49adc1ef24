import { EditorContent, useEditor, useEditorState } from "@tiptap/react";
import StarterKit from "@tiptap/starter-kit";
import { createRoot } from "react-dom/client";

function Toolbar({ editor }) {
  const { isBold, isItalic } = useEditorState({
    editor,
    selector: ({ editor }) => ({ isBold: editor.isActive("bold"), isItalic: editor.isActive("italic") }),
  });
  return (
    <div>
      <button type="button" aria-pressed={isBold} onClick={() => editor.chain().focus().toggleBold().run()}>
        Bold
      </button>
      <button type="button" aria-pressed={isItalic} onClick={() => editor.chain().focus().toggleItalic().run()}>
        Italic
      </button>
      <button type="button" onClick={() => editor.chain().focus().toggleBulletList().run()}>
        Bullet list
      </button>
    </div>
  );
}

function App() {
  const article = useEditor({ extensions: [StarterKit], content: "<h2>Title</h2><p>Some text.</p>" });
  const empty = useEditor({ extensions: [StarterKit], content: "" });
  return (
    <>
      <Toolbar editor={article} />
      <EditorContent editor={article} style={{ border: "1px solid" }} />
      <p>Comment</p>
      <EditorContent editor={empty} style={{ border: "1px solid" }} />
    </>
  );
}

createRoot(document.querySelector("#root")).render(<App />);
