import "@material/web/button/filled-button.js";
import "@material/web/checkbox/checkbox.js";
import "@material/web/chips/chip-set.js";
import "@material/web/chips/filter-chip.js";
import "@material/web/iconbutton/icon-button.js";
import "@material/web/list/list.js";
import "@material/web/list/list-item.js";
import "@material/web/radio/radio.js";
import "@material/web/select/outlined-select.js";
import "@material/web/select/select-option.js";
import "@material/web/slider/slider.js";
import "@material/web/switch/switch.js";
import "@material/web/tabs/primary-tab.js";
import "@material/web/tabs/tabs.js";
import "@material/web/textfield/outlined-text-field.js";

document.querySelector("#root").innerHTML = `
<md-tabs><md-primary-tab>Video</md-primary-tab><md-primary-tab>Photos</md-primary-tab></md-tabs>
<div><md-outlined-text-field label="First name" value="Ada"></md-outlined-text-field></div>
<div><md-outlined-select label="Country"><md-select-option value=de><div slot=headline>Germany</div></md-select-option><md-select-option value=it><div slot=headline>Italy</div></md-select-option></md-outlined-select></div>
<div><label><md-checkbox touch-target=wrapper checked></md-checkbox> Checkbox one</label></div>
<div><label>Wi-Fi <md-switch></md-switch></label></div>
<div role=radiogroup aria-label=Animals><md-radio id=cats name=animals value=cats></md-radio><label for=cats>Cats</label>
<md-radio id=dogs name=animals value=dogs checked></md-radio><label for=dogs>Dogs</label></div>
<div><md-slider min=0 max=100 value=30 aria-label=Brightness></md-slider></div>
<md-chip-set><md-filter-chip label="Docs"></md-filter-chip><md-filter-chip label="Slides" selected></md-filter-chip></md-chip-set>
<div><md-icon-button aria-label="Open menu"><svg width=20 height=20><path d="M0 4h20M0 10h20" stroke=black /></svg></md-icon-button>
<md-filled-button>Complete</md-filled-button></div>
<md-list style="max-width:300px"><md-list-item type=button>Apple</md-list-item><md-list-item type=link href="#banana">Banana</md-list-item></md-list>`;
