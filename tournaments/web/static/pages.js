"use strict";
// The address names what is shown: nothing for the list of runs, #run=NAME for a run, #hands for hands as text.
(() => {
  let leave = () => {};
  function route() {
    leave();
    notice("");
    const found = /^#run=(.+)$/.exec(location.hash);
    let name = "";
    try { name = found ? decodeURIComponent(found[1]) : ""; } catch { /* a broken address shows the list */ }
    for (const link of document.querySelectorAll("nav a")) {
      const isHere = location.hash === "#hands" ? link.hash === "#hands" : !link.hash;
      if (isHere) link.setAttribute("aria-current", "page"); else link.removeAttribute("aria-current");
    }
    leave = location.hash === "#hands" ? analyzer.show() : name ? dashboard.showRun(name) : dashboard.showList();
  }
  addEventListener("hashchange", route);
  route();
})();
