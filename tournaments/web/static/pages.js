"use strict";
// The address names what is shown: nothing for the list of runs, #run=NAME for a run, #run=NAME&hand=HAND&step=N for a
// hand of it, #hands for hands as text, #hand=CODE&step=N for one hand as text, #spots, #play for the lobby, #table=NUMBER.
(() => {
  const numberOf = (text) => text === undefined ? undefined : Number(text);
  const PAGES = [
    [/^#hands$/, "#hands", () => analyzer.show()],
    [/^#hand=([\w-]+)(?:&step=(\d{1,4}))?$/, "#hands", (code, step) => analyzer.show(code, numberOf(step))],
    [/^#spots$/, "#spots", () => spots.show()],
    [/^#play$/, "#play", () => lobby.show()],
    [/^#table=(\d{1,9})$/, "#play", (number) => playTable.show(Number(number))],
    [/^#run=([^&]+)(?:&hand=([\w.]+))?(?:&step=(\d{1,4}))?$/, "", (name, hand, step) => dashboard.showRun(decodeURIComponent(name), hand, numberOf(step))],
    [/^/, "", () => dashboard.showList()],
  ];
  let leave = () => {};
  function route() {
    leave();
    notice("");
    const [form, here, show] = PAGES.find(([each]) => each.test(location.hash));
    for (const link of document.querySelectorAll("nav a")) {
      if (link.hash === here) link.setAttribute("aria-current", "page"); else link.removeAttribute("aria-current");
    }
    try {
      leave = show(...form.exec(location.hash).slice(1));
    } catch (error) {
      if (!(error instanceof URIError)) throw error;
      leave = dashboard.showList();  // a broken address
    }
  }
  addEventListener("hashchange", route);
  route();
})();
