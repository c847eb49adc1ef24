import Aura from "@primeuix/themes/aura";
import Button from "primevue/button";
import Checkbox from "primevue/checkbox";
import PrimeVue from "primevue/config";
import Column from "primevue/column";
import DataTable from "primevue/datatable";
import DatePicker from "primevue/datepicker";
import FileUpload from "primevue/fileupload";
import InputText from "primevue/inputtext";
import MultiSelect from "primevue/multiselect";
import RadioButton from "primevue/radiobutton";
import Rating from "primevue/rating";
import Select from "primevue/select";
import SelectButton from "primevue/selectbutton";
import ToggleSwitch from "primevue/toggleswitch";
import { createApp, ref } from "vue";

const template = `<div style="max-width: 600px">
<label for="username">Username</label> <InputText id="username" v-model="name" />
<Select v-model="city" :options="['New York', 'Rome', 'London']" placeholder="Select a City" aria-label="City" />
<MultiSelect v-model="cities" :options="['New York', 'Rome', 'London']" placeholder="Select Cities" />
<DatePicker v-model="date" showIcon inputId="day" /><label for="day">Day</label>
<div><Checkbox v-model="checked" inputId="cheese" binary /><label for="cheese"> Cheese </label></div>
<div><RadioButton v-model="size" inputId="s" value="S" /><label for="s"> Small </label><RadioButton v-model="size" inputId="l" value="L" /><label for="l"> Large </label></div>
<ToggleSwitch v-model="on" aria-label="Wi-Fi" />
<SelectButton v-model="mode" :options="['Off', 'On']" />
<Rating v-model="stars" />
<Button label="Submit" icon="pi pi-check" /> <Button icon="pi pi-times" aria-label="Cancel" />
<FileUpload mode="basic" name="demo[]" customUpload />
<DataTable v-model:selection="row" selectionMode="single" dataKey="code" :value="[{ code: 'f230', name: 'Bamboo Watch' }, { code: 'nvk', name: 'Black Watch' }]">
<Column field="code" header="Code" sortable></Column><Column field="name" header="Name" sortable></Column></DataTable></div>`;

const app = createApp({
  template,
  setup: () => ({
    name: ref("ada"),
    city: ref(),
    cities: ref(["Rome"]),
    date: ref(new Date(2026, 2, 10)),
    checked: ref(true),
    size: ref("S"),
    on: ref(false),
    mode: ref("Off"),
    stars: ref(2),
    row: ref(),
  }),
});
app.use(PrimeVue, { theme: { preset: Aura } });
const components = {
  Button,
  Checkbox,
  Column,
  DataTable,
  DatePicker,
  FileUpload,
  InputText,
  MultiSelect,
  RadioButton,
  Rating,
  Select,
  SelectButton,
  ToggleSwitch,
};
for (const [name, component] of Object.entries(components)) app.component(name, component);
app.mount("#root");
