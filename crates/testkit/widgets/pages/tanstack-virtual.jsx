import { useVirtualizer } from "@tanstack/react-virtual";
import { useRef, useState } from "react";
import { createRoot } from "react-dom/client";

function App() {
  const parent = useRef(null);
  const [chosen, setChosen] = useState(null);
  const rows = useVirtualizer({ count: 1000, getScrollElement: () => parent.current, estimateSize: () => 35, overscan: 2 });
  return (
    <>
      <p>Chosen: {chosen ?? "none"}</p>
      <div ref={parent} style={{ height: 400, width: 400, overflow: "auto" }}>
        <div style={{ height: rows.getTotalSize(), position: "relative" }}>
          {rows.getVirtualItems().map((row) => (
            <div
              key={row.key}
              onClick={() => setChosen(row.index)}
              style={{ position: "absolute", top: 0, width: "100%", height: row.size, transform: `translateY(${row.start}px)` }}
            >
              Row {row.index}
            </div>
          ))}
        </div>
      </div>
    </>
  );
}

createRoot(document.querySelector("#root")).render(<App />);
