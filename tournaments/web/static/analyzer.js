"use strict";
// Hands that the user pastes, in the viewer of the report.
const analyzer = (() => {
  let kept = "";  // the text stays when the user looks at a run and comes back

  function show() {
    document.getElementById("title").textContent = document.title = "Hands";
    let leaving = new AbortController();
    const label = make("label", "", "Hands as text");
    const field = make("textarea"), button = make("button", "", "Show hands"), said = make("p", "remark"), troubles = make("ul", "troubles");
    const viewer = make("section");
    viewer.hidden = true;
    field.id = "hands-text";
    label.htmlFor = field.id;
    field.rows = 8;
    field.spellcheck = false;
    field.value = kept;
    field.addEventListener("input", () => { kept = field.value; });
    button.type = "button";
    said.setAttribute("role", "status");
    button.addEventListener("click", async () => {
      button.disabled = true;
      said.textContent = "The hands are being read …";
      try {
        const found = await ask("/api/hands", { hands: field.value });
        const count = found.data.hands.length;
        leaving.abort();
        leaving = new AbortController();
        viewer.hidden = !count;
        viewer.replaceChildren(make("h2", "", "Hand"), make("div"));
        if (count) showHands(viewer.lastChild, found.data, { keepsAddress: false, leaving: leaving.signal });
        said.textContent = `${number(count)} ${count === 1 ? "hand is" : "hands are"} shown below` + (found.left_out ? ", and later ones are left out." : ".");
        troubles.replaceChildren(...found.troubles.map((text) => make("li", "", text)));
      } catch (error) {
        said.textContent = error.message;
      }
      button.disabled = false;
    });
    const note = "PHH, or lines of an ACPC dealer’s log (after its first comment, which names the game), at most 256 KiB and 100 hands. The text goes to your own machine only.";
    document.getElementById("content").replaceChildren(sectionOf("Paste hands", note, label, field, button, said, troubles), viewer);
    return () => leaving.abort();
  }
  return { show };
})();
