"use strict";
// The token is a fragment of the address, which browsers do not send: it leaves the page in the body of one request.
(async () => {
  const notice = document.getElementById("notice");
  const found = /^#token=([\w-]+)$/.exec(location.hash);
  history.replaceState(null, "", "/enter");
  if (!found) {
    notice.textContent = "This address has no token: open the one that plurispiel web has printed.";
    return;
  }
  try {
    const answer = await fetch("/api/enter", { method: "POST", body: JSON.stringify({ token: found[1] }) });
    const said = await answer.json();
    if (answer.ok) {
      localStorage.setItem("plurispiel-key", said.key);
      location.replace("/");
    } else notice.textContent = said.error;
  } catch {
    notice.textContent = "The server does not answer: start plurispiel web again.";
  }
})();
