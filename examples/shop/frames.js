// The other host name of the same server is another site for the browser.
const other = new URL("payment.html", location.href);
other.hostname = other.hostname === "localhost" ? "127.0.0.1" : "localhost";
document.querySelector("#cross").src = other.href;
addEventListener("message", (event) => {
  document.querySelector("#said").value = String(event.data);
});
