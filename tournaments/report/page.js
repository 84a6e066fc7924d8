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

  // The right edge of a box fades while some of its content lies beyond.
  const fade = (box) => box.classList.toggle("more", box.scrollWidth - box.clientWidth - box.scrollLeft > 2);
  const sizes = new ResizeObserver((entries) => entries.forEach((entry) => fade(entry.target)));
  for (const box of document.querySelectorAll(".wide")) {
    box.addEventListener("scroll", () => fade(box), { passive: true });
    sizes.observe(box);
  }
})();
