import { closestCenter, DndContext, KeyboardSensor, PointerSensor, useSensor, useSensors } from "@dnd-kit/core";
import { arrayMove, SortableContext, sortableKeyboardCoordinates, useSortable, verticalListSortingStrategy } from "@dnd-kit/sortable";
import { CSS } from "@dnd-kit/utilities";
import { useState } from "react";
import { createRoot } from "react-dom/client";

function Item({ id }) {
  const { attributes, listeners, setNodeRef, transform, transition } = useSortable({ id });
  const style = { transform: CSS.Transform.toString(transform), transition, border: "1px solid", padding: 10 };
  return (
    <div ref={setNodeRef} style={style} {...attributes} {...listeners}>
      {id}
    </div>
  );
}

function App() {
  const [items, setItems] = useState(["Write", "Review", "Publish"]);
  const sensors = useSensors(useSensor(PointerSensor), useSensor(KeyboardSensor, { coordinateGetter: sortableKeyboardCoordinates }));
  const move = ({ active, over }) => {
    if (over && active.id !== over.id) setItems((items) => arrayMove(items, items.indexOf(active.id), items.indexOf(over.id)));
  };
  return (
    <>
      <DndContext sensors={sensors} collisionDetection={closestCenter} onDragEnd={move}>
        <SortableContext items={items} strategy={verticalListSortingStrategy}>
          {items.map((id) => (
            <Item key={id} id={id} />
          ))}
        </SortableContext>
      </DndContext>
      <p>Order: {items.join(", ")}</p>
    </>
  );
}

createRoot(document.querySelector("#root")).render(<App />);
