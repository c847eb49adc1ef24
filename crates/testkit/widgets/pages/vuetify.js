import "vuetify/styles";
import { createApp, ref } from "vue";
import { createVuetify } from "vuetify";
import * as components from "vuetify/components";
import * as directives from "vuetify/directives";

const template = `<v-app><v-container style="max-width: 600px">
<v-text-field label="First name" clearable v-model="name"></v-text-field>
<v-select label="Select" :items="['California', 'Colorado', 'Florida']" v-model="state"></v-select>
<v-autocomplete label="Autocomplete" :items="['Alpha', 'Beta']"></v-autocomplete>
<v-checkbox label="Checkbox" v-model="checked"></v-checkbox>
<v-switch label="Switch"></v-switch>
<v-radio-group inline label="Radios" v-model="radio"><v-radio label="One" value="1"></v-radio><v-radio label="Two" value="2"></v-radio></v-radio-group>
<v-slider label="Slider" v-model="level"></v-slider>
<v-file-input label="File input"></v-file-input>
<v-tabs v-model="tab"><v-tab value="one">Item One</v-tab><v-tab value="two">Item Two</v-tab></v-tabs>
<v-chip closable>Closable</v-chip>
<v-list><v-list-item title="Home" subtitle="Main page" @click="clicked += 1"></v-list-item></v-list>
<p>Clicked {{ clicked }}</p>
<v-expansion-panels><v-expansion-panel title="Panel title" text="Some content"></v-expansion-panel></v-expansion-panels>
<v-data-table :headers="[{ title: 'Plant', key: 'name' }, { title: 'Height', key: 'height' }]" :items="[{ name: 'Fern', height: 20 }, { name: 'Orchid', height: 12 }]"></v-data-table>
</v-container></v-app>`;

createApp({
  template,
  setup: () => ({
    name: ref("John"),
    state: ref("Florida"),
    checked: ref(true),
    radio: ref("1"),
    level: ref(30),
    tab: ref("one"),
    clicked: ref(0),
  }),
})
  .use(createVuetify({ components, directives }))
  .mount("#root");
