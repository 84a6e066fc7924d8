"use strict";
// Hands that the user pastes, in the viewer of the report, with advisers.
const analyzer = (() => {
  let kept = "";  // the text stays when the user looks at a run and comes back

  // A hand's text as a part of an address, which browsers do not send.
  const packed = (text) => btoa(String.fromCharCode(...new TextEncoder().encode(text))).replace(/[+]/g, "-").replace(/[/]/g, "_").replace(/=+$/, "");
  const unpacked = (code) => {
    const letters = atob(code.replace(/-/g, "+").replace(/_/g, "/"));
    return new TextDecoder().decode(Uint8Array.from(letters, (letter) => letter.charCodeAt(0)));
  };

  // `code` is a packed hand from the address, and `step` its step.
  function show(code, step) {
    document.getElementById("title").textContent = document.title = "Hands";
    let leaving = new AbortController();
    const label = make("label", "", "Hands as text");
    const field = make("textarea"), said = make("p", "remark"), troubles = make("ul", "troubles");
    const viewer = make("section");
    viewer.hidden = true;
    field.id = "hands-text";
    label.htmlFor = field.id;
    field.rows = 8;
    field.spellcheck = false;
    if (code) try { kept = unpacked(code); } catch { said.textContent = "The address holds no hand."; }
    field.value = kept;
    field.addEventListener("input", () => { kept = field.value; });
    said.setAttribute("role", "status");
    const read = async (at) => {
      button.disabled = true;
      said.textContent = "The hands are being read …";
      try {
        const found = await ask("/api/hands", { hands: field.value });
        const count = found.data.hands.length;
        leaving.abort();
        leaving = new AbortController();
        viewer.hidden = !count;
        viewer.replaceChildren(make("h2", "", "Hand"), make("div"));
        const address = (of, k) => of.text ? `#hand=${packed(of.text)}&step=${k}` : "";
        if (count)
          showHands(viewer.lastChild, found.data, { address, step: at, leaving: leaving.signal, advice: advisersOf(found.data, leaving.signal) });
        said.textContent = `${number(count)} ${count === 1 ? "hand is" : "hands are"} shown below` + (found.left_out ? ", and later ones are left out." : ".");
        troubles.replaceChildren(...found.troubles.map((text) => make("li", "", text)));
      } catch (error) {
        said.textContent = error.message;
      }
      button.disabled = false;
    };
    const button = buttonOf("Show hands", "", () => read());
    const note = "PHH, or lines of an ACPC dealer’s log (after its first comment, which names the game), at most 256 KiB and 100 hands. The text goes to your own machine only.";
    document.getElementById("content").replaceChildren(sectionOf("Paste hands", note, label, field, button, said, troubles), viewer);
    if (code && kept) read(step).then(() => viewer.scrollIntoView());
    return () => leaving.abort();
  }
  return { show };
})();
