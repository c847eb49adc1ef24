import "leaflet/dist/leaflet.css";
import L from "leaflet";
import icon from "leaflet/dist/images/marker-icon.png";

document.querySelector("#root").innerHTML = '<h1>Map</h1><div id=map style="width:700px;height:400px"></div>';
const map = L.map("map").setView([51.505, -0.09], 13);
const draw = (title, place) => L.marker(place, { title, alt: title, icon: L.icon({ iconUrl: icon, iconSize: [25, 41] }) }).addTo(map);
draw("City hall", [51.5, -0.09]).bindPopup("<b>City hall</b><br>Open until 18:00.");
draw("Library", [51.51, -0.08]).bindPopup("Library");
L.circle([51.508, -0.11], { radius: 500 }).addTo(map).bindPopup("I am a circle.");
