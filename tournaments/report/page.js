"use strict";
(() => {
  const root = document.documentElement;
  const button = document.createElement("button");
  const isDark = () => root.dataset.dress
    ? root.dataset.dress === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const name = () => { button.textContent = isDark() ? "Light" : "Dark"; };
  button.addEventListener("click", () => { root.dataset.dress = isDark() ? "light" : "dark"; name(); });
  name();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", name);
  document.querySelector("nav .inner").append(button);
})();
