import { AllCommunityModule, createGrid, ModuleRegistry } from "ag-grid-community";

ModuleRegistry.registerModules([AllCommunityModule]);
document.querySelector("#root").innerHTML = '<h1>Cars</h1><div id=grid style="width:700px;height:300px"></div>';
createGrid(document.querySelector("#grid"), {
  columnDefs: [{ field: "make" }, { field: "model" }, { field: "price" }, { field: "electric" }],
  defaultColDef: { flex: 1, editable: true },
  rowSelection: { mode: "multiRow" },
  rowData: [
    { make: "Tesla", model: "Model Y", price: 64950, electric: true },
    { make: "Ford", model: "F-Series", price: 33850, electric: false },
    { make: "Toyota", model: "Corolla", price: 29600, electric: false },
  ],
});
