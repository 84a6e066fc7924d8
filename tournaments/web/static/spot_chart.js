"use strict";
// Exploitability against seconds; the scale of exploitability is logarithmic.
const exploitabilityChart = () => {
  const svg = draw(null, "svg", { role: "img" }), narrow = matchMedia("(max-width: 640px)");
  const left = 62, right = 12, top = 12, bottom = 28;
  let shown = [[], 0.5];
  narrow.addEventListener("change", () => show(...shown));
  function show(points, target) {
    shown = [points, target];
    const wide = narrow.matches ? 340 : 700;
    svg.replaceChildren();
    svg.setAttribute("viewBox", `0 0 ${wide} 200`);
    svg.setAttribute("class", narrow.matches ? "exploitability narrow" : "exploitability");
    const last = points[points.length - 1];
    svg.setAttribute("aria-label", last ? `Exploitability: ${figure(last.pct)} % of the pot after ${number(last.seconds, 1)} s` : "Exploitability: nothing yet");
    if (!last) return;
    const usable = points.filter((point) => point.pct > 0);
    const high = Math.ceil(Math.log10(Math.max(target, ...usable.map((point) => point.pct))) - 1e-9);
    const low = Math.min(high - 1, Math.floor(Math.log10(Math.min(target, ...usable.map((point) => point.pct)))));
    const width = wide - left - right, height = 200 - top - bottom, end = Math.max(last.seconds, 1e-3);
    const x = (seconds) => left + width * seconds / end;
    const y = (pct) => top + height * (high - Math.log10(pct)) / (high - low);
    for (let power = low; power <= high; power++) {
      const line = y(10 ** power);
      draw(svg, "line", { x1: left, x2: wide - right, y1: line, y2: line, class: "grid" });
      draw(svg, "text", { x: left - 8, y: line + 4, "text-anchor": "end", class: "tick" }, `${Number((10 ** power).toPrecision(1))} %`);
    }
    draw(svg, "line", { x1: left, x2: wide - right, y1: y(target), y2: y(target), class: "zero dashed" });
    draw(svg, "text", { x: wide - right, y: y(target) - 5, "text-anchor": "end", class: "tick" }, `target ${target} %`);
    draw(svg, "polyline", { points: usable.map((point) => `${x(point.seconds).toFixed(1)},${y(point.pct).toFixed(1)}`).join(" "), class: "curve c1" });
    draw(svg, "circle", { cx: x(last.seconds), cy: y(usable[usable.length - 1].pct), r: 4, class: "c1" });
    draw(svg, "text", { x: left, y: 192, class: "tick" }, "0 s");
    draw(svg, "text", { x: wide - right, y: 192, "text-anchor": "end", class: "tick" }, `${number(end, end < 10 ? 2 : 0)} s`);
  }
  return { svg, show };
};
const figure = (value) => value === null ? "–" : Math.abs(value) >= 100 ? number(value, 1) : Number(value.toPrecision(3)).toString();
// Chips: what is less than half a hundredth is 0, as single precision leaves such rests.
const chipsText = (value) => value === null ? "–" : Math.abs(value) < 0.005 ? "0" : number(value, Math.abs(value) < 10 ? 2 : 1).replace("-", "−");
