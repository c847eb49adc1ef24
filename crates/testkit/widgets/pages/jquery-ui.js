import "jquery-ui/themes/base/all.css";
import "../support/jquery.js";
import "jquery-ui/dist/jquery-ui.js";

const $ = window.jQuery;
document.querySelector("#root").innerHTML = `
<div id=tabs style="width:500px"><ul><li><a href="#tabs-1">Nunc tincidunt</a></li><li><a href="#tabs-2">Proin dolor</a></li></ul>
<div id=tabs-1><p>Proin elit arcu.</p></div><div id=tabs-2><p>Morbi tincidunt.</p></div></div>
<p>Date: <input id=date></p>
<p><label for=tags>Tags: </label><input id=tags></p>
<p><label for=spinner>Select a value:</label> <input id=spinner value=5></p>
<div id=slider style="width:300px;margin:20px"></div>
<fieldset><legend>Bed type: </legend><label for=one>2 Double</label><input type=checkbox id=one class=check checked><label for=two>1 King</label><input type=checkbox id=two class=check></fieldset>
<label for=speed>Select a speed</label> <select id=speed><option>Slower<option selected>Medium<option>Faster</select>
<ul id=sortable style="width:200px"><li class=ui-state-default>Item 1</li><li class=ui-state-default>Item 2</li><li class=ui-state-default>Item 3</li></ul>
<ol id=selectable style="width:200px"><li class=ui-widget-content>First</li><li class=ui-widget-content>Second</li></ol>
<div id=accordion style="width:400px"><h3>Section 1</h3><div><p>Mauris mauris ante.</p></div><h3>Section 2</h3><div><p>Sed non urna.</p></div></div>
<div id=dialog title="Basic dialog"><p>This is the default dialog.</p></div><button id=open>Open dialog</button>`;
$("#tabs").tabs();
$("#date").datepicker({ defaultDate: new Date(2026, 2, 10) });
$("#tags").autocomplete({ source: ["ActionScript", "AppleScript", "BASIC", "Java", "JavaScript"] });
$("#spinner").spinner();
$("#slider").slider({ value: 30 });
$(".check").checkboxradio();
$("#speed").selectmenu();
$("#sortable").sortable();
$("#selectable").selectable();
$("#accordion").accordion({ heightStyle: "content" });
$("#dialog").dialog({ autoOpen: false });
$("#open")
  .button()
  .on("click", () => $("#dialog").dialog("open"));
