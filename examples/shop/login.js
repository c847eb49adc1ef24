if (new URLSearchParams(location.search).has("wrong")) {
  const problem = document.querySelector("#problem");
  problem.textContent = "Wrong email or password.";
  problem.hidden = false;
}
