import "bootstrap/dist/css/bootstrap.css";
import "bootstrap-icons/font/bootstrap-icons.css";
import "bootstrap";

document.querySelector("#root").innerHTML = `
<nav class="navbar navbar-expand"><a class=navbar-brand href="#">Navbar</a>
<ul class=navbar-nav><li class=nav-item><a class="nav-link active" aria-current=page href="#home">Home</a></li>
<li class="nav-item dropdown"><a class="nav-link dropdown-toggle" href="#" role=button data-bs-toggle=dropdown aria-expanded=false>Dropdown</a>
<ul class=dropdown-menu><li><a class=dropdown-item href="#action">Action</a></li></ul></li></ul></nav>
<div class="form-floating mb-3"><input type=email class=form-control id=mail placeholder="name@example.com"><label for=mail>Email address</label></div>
<div class=input-group><span class=input-group-text>@</span><input class=form-control placeholder=Username aria-label=Username>
<button class="btn btn-outline-secondary" type=button><i class="bi bi-search"></i></button></div>
<div class="form-check form-switch"><input class=form-check-input type=checkbox role=switch id=switch><label class=form-check-label for=switch>Default switch</label></div>
<div class=btn-group role=group aria-label="Radio toggle button group">
<input type=radio class=btn-check name=size id=small checked><label class="btn btn-outline-primary" for=small>Small</label>
<input type=radio class=btn-check name=size id=large><label class="btn btn-outline-primary" for=large>Large</label></div>
<select class=form-select aria-label="Default select"><option selected>Open this menu<option value=1>One<option value=2>Two</select>
<input type=range class=form-range aria-label="Example range">
<button type=button class="btn btn-primary"><span><i class="bi bi-bell"></i> <span>Notifications</span></span> <span class="badge text-bg-secondary">4</span></button>
<button type=button class="btn btn-danger" title="Remove item"><i class="bi bi-trash"></i></button>
<div class=accordion id=accordion><div class=accordion-item><h2 class=accordion-header>
<button class="accordion-button collapsed" type=button data-bs-toggle=collapse data-bs-target="#one" aria-expanded=false aria-controls=one>Accordion Item</button></h2>
<div id=one class="accordion-collapse collapse"><div class=accordion-body>This is the body.</div></div></div></div>
<button class="btn btn-secondary" data-bs-toggle=modal data-bs-target="#modal">Launch demo modal</button>
<div class="modal fade" id=modal tabindex=-1><div class=modal-dialog><div class=modal-content><div class=modal-header><h1 class=modal-title>Modal title</h1>
<button class=btn-close data-bs-dismiss=modal aria-label=Close></button></div><div class=modal-body>Woo-hoo</div></div></div></div>
<table class="table table-hover"><thead><tr><th>#<th>First<th>Handle</thead><tbody><tr role=button><td>1<td>Mark<td>@mdo<tr role=button><td>2<td>Jacob<td>@fat</tbody></table>
<div class=list-group><button type=button class="list-group-item list-group-item-action active" aria-current=true>The current button</button>
<button type=button class="list-group-item list-group-item-action"><div class="d-flex justify-content-between"><h5>Heading</h5><small>3 days ago</small></div><p>Some text.</p></button></div>
<label class="btn btn-outline-dark mt-2">Upload CV <input type=file hidden></label> <output></output>`;
document.querySelector("input[type=file]").onchange = (event) => {
  document.querySelector("output").textContent = `Chosen: ${event.target.files[0].name}`;
};
