import "@awesome.me/webawesome/dist/styles/webawesome.css";
import "@awesome.me/webawesome/dist/components/button/button.js";
import "@awesome.me/webawesome/dist/components/checkbox/checkbox.js";
import "@awesome.me/webawesome/dist/components/details/details.js";
import "@awesome.me/webawesome/dist/components/input/input.js";
import "@awesome.me/webawesome/dist/components/option/option.js";
import "@awesome.me/webawesome/dist/components/radio/radio.js";
import "@awesome.me/webawesome/dist/components/radio-group/radio-group.js";
import "@awesome.me/webawesome/dist/components/rating/rating.js";
import "@awesome.me/webawesome/dist/components/select/select.js";
import "@awesome.me/webawesome/dist/components/switch/switch.js";
import "@awesome.me/webawesome/dist/components/tab/tab.js";
import "@awesome.me/webawesome/dist/components/tab-group/tab-group.js";
import "@awesome.me/webawesome/dist/components/tab-panel/tab-panel.js";

document.querySelector("#root").innerHTML = `
<wa-input label="What is your name?" hint="Nickname"></wa-input>
<wa-select label="Favourite animal" value="cat"><wa-option value=cat>Cat</wa-option><wa-option value=dog>Dog</wa-option></wa-select>
<wa-checkbox checked>Newsletter</wa-checkbox>
<wa-switch>Dark mode</wa-switch>
<wa-radio-group label="Select an option" name=a value=1><wa-radio value=1>Option 1</wa-radio><wa-radio value=2>Option 2</wa-radio></wa-radio-group>
<wa-rating label="Rating" value=3></wa-rating>
<wa-button variant=brand>Save</wa-button>
<wa-details summary="Toggle me">More about it.</wa-details>
<wa-tab-group><wa-tab panel=general>General</wa-tab><wa-tab panel=custom>Custom</wa-tab>
<wa-tab-panel name=general>This is the general tab panel.</wa-tab-panel><wa-tab-panel name=custom>This is the custom tab panel.</wa-tab-panel></wa-tab-group>`;
