// The same server under its other name is another site to the browser.
const other = new URL("payment.html", location.href);
other.hostname = other.hostname === "localhost" ? "127.0.0.1" : "localhost";
document.querySelector("#cross").src = other.href;
addEventListener("message", (event) => {
  document.querySelector("#said").value = String(event.data);
});
