import "select2/dist/css/select2.css";
import "../support/jquery.js";
import select2 from "select2/dist/js/select2.js";

const $ = window.jQuery;
select2(window, $);
document.querySelector("#root").innerHTML = `
<label for=state>State</label> <select id=state style="width:300px"><option value=AL>Alabama<option value=CA>California<option value=WY>Wyoming</select>
<p>Colours</p><select id=colours multiple style="width:300px"><option selected>Red<option>Green<option>Blue</select>`;
$("#state").select2();
$("#colours").select2({ placeholder: "Select colours" });
