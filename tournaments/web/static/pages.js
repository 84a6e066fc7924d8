"use strict";
// The address names what is shown: nothing for the list of runs, #run=NAME, #hands, #play for the lobby, #table=NUMBER.
(() => {
  const PAGES = [
    [/^#hands$/, "#hands", () => analyzer.show()],
    [/^#play$/, "#play", () => lobby.show()],
    [/^#table=(\d{1,9})$/, "#play", (number) => playTable.show(Number(number))],
    [/^#run=(.+)$/, "", (name) => dashboard.showRun(decodeURIComponent(name))],
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
      leave = show(form.exec(location.hash)[1]);
    } catch (error) {
      if (!(error instanceof URIError)) throw error;
      leave = dashboard.showList();  // a broken address
    }
  }
  addEventListener("hashchange", route);
  route();
})();
