const answer = await fetch("api/session");
if (answer.ok) {
  const { name } = await answer.json();
  document.querySelector("#who").textContent = `Welcome back, ${name}.`;
} else {
  location.replace("login.html");
}
document.querySelector("#sign-out").addEventListener("click", async () => {
  await fetch("api/logout", { method: "POST" });
  location.assign("login.html");
});
