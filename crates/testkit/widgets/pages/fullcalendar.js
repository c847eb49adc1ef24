import { Calendar } from "@fullcalendar/core";
import dayGridPlugin from "@fullcalendar/daygrid";
import interactionPlugin from "@fullcalendar/interaction";
import timeGridPlugin from "@fullcalendar/timegrid";

document.querySelector("#root").innerHTML = '<div id=calendar style="width:900px"></div><p id=chosen></p>';
const calendar = new Calendar(document.querySelector("#calendar"), {
  plugins: [dayGridPlugin, timeGridPlugin, interactionPlugin],
  initialDate: "2026-03-10",
  now: "2026-03-10",
  headerToolbar: { left: "prev,next today", center: "title", right: "dayGridMonth,timeGridWeek" },
  editable: true,
  selectable: true,
  navLinks: true,
  dateClick: ({ dateStr }) => {
    document.querySelector("#chosen").textContent = `Chosen: ${dateStr}`;
  },
  events: [
    { title: "All Day Event", start: "2026-03-01" },
    { title: "Conference", start: "2026-03-11", end: "2026-03-13" },
    { title: "Meeting", start: "2026-03-12T10:30:00" },
    { title: "Open site", url: "#site", start: "2026-03-28" },
  ],
});
calendar.render();
