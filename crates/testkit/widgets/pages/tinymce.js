import tinymce from "tinymce";
import "tinymce/models/dom";
import "tinymce/themes/silver";
import "tinymce/icons/default";
import "tinymce/skins/ui/oxide/skin.js";
import "tinymce/skins/ui/oxide/content.js";
import "tinymce/skins/content/default/content.js";
import "tinymce/plugins/lists";
import "tinymce/plugins/link";
import "tinymce/plugins/table";

document.querySelector("#root").innerHTML = "<h1>Letter</h1><textarea id=text>&lt;p&gt;Dear Sir or Madam&lt;/p&gt;</textarea>";
tinymce.init({
  selector: "#text",
  license_key: "gpl",
  plugins: "lists link table",
  toolbar: "undo redo | styles | bold italic | alignleft aligncenter | bullist numlist | link table",
});
