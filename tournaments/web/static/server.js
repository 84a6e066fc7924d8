"use strict";
// All that is asked of the server. Each request holds the key, which is in this browser's store and nowhere else.
const keyOf = () => localStorage.getItem("plurispiel-key") || "";
const LOST = "The server does not answer. This page tries again every second; if it was ended, start plurispiel web again.";

const notice = (text) => {
  const place = document.getElementById("notice");
  if (place.textContent !== text) place.textContent = text;
  place.hidden = !text;
};

async function ask(path, message) {
  const request = { headers: { "x-plurispiel-key": keyOf() } };
  if (message) Object.assign(request, { method: "POST", body: JSON.stringify(message) });
  let answer;
  try {
    answer = await fetch(path, request);
  } catch {
    throw new Error(LOST);
  }
  const text = await answer.text();
  if (answer.ok) return JSON.parse(text);
  let reason = text;
  try { reason = JSON.parse(text).error; } catch { /* the gate's reasons are plain text */ }
  throw new Error(reason);
}

// Opens a socket, says the key and a message if there is one, and opens it again when it is lost: silence for `patience` ms is a loss.
// Returns a function that ends it, with a method `send`.
function listen(path, message, hear, { patience = 20000, lost: onLost = () => {} } = {}) {
  let socket, timer, silence, ended = false;
  const lost = () => { notice(LOST); onLost(""); socket.close(); };
  const open = () => {
    socket = new WebSocket(`ws://${location.host}${path}`);
    socket.addEventListener("open", () => {
      socket.send(JSON.stringify({ key: keyOf() }));
      if (message) socket.send(JSON.stringify(message));
    });
    socket.addEventListener("message", (event) => {
      clearTimeout(silence);
      silence = setTimeout(lost, patience);  // the server says each second that it is alive, but while it reads a long run
      notice("");
      const said = JSON.parse(event.data);
      if (said.type !== "alive") hear(said);
    });
    socket.addEventListener("close", (event) => {
      clearTimeout(silence);
      if (ended) return;
      onLost(event.code === 4400 ? event.reason : "");
      if (event.code === 4400) { notice(event.reason); return; }
      notice(event.code === 4403 ? "The key is wrong: open the address that plurispiel web has printed." : LOST);
      timer = setTimeout(open, 1000);
    });
  };
  open();
  const end = () => { ended = true; clearTimeout(timer); clearTimeout(silence); socket.close(); };
  end.send = (said) => { if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(said)); };
  return end;
}
