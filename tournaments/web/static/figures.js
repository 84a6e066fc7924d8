"use strict";
// Numbers as text, tables of figures, and sections of a page.
const number = (value, digits = 0) => value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
const signed = (value) => value === null ? "–" : (value > 0 ? "+" : "") + number(value, 1).replace("-", "−");
const halfWidth = (value) => value === null || value === undefined ? "" : `± ${number(value, 1)}`;
const tableOf = (caption, head, rows, numTexts = 1) => {
  const wide = make("div", "wide"), table = make("table"), top = make("thead"), body = make("tbody");
  wide.tabIndex = 0;  // so that the keyboard can move a table that is wider than the window
  wide.setAttribute("role", "region");
  wide.setAttribute("aria-label", caption);
  const line = make("tr");
  head.forEach((text, k) => { const cell = make("th", k < numTexts ? "" : "figure", text); cell.scope = "col"; line.append(cell); });
  top.append(line);
  for (const row of rows) {
    const tr = make("tr");
    row.forEach((cell, k) => {
      const td = make("td", k < numTexts ? "" : "figure");
      if (cell instanceof Node) td.append(cell); else td.textContent = cell;
      tr.append(td);
    });
    body.append(tr);
  }
  table.append(top, body);
  wide.append(table);
  return wide;
};
const sectionOf = (title, note, ...parts) => {
  const section = make("section");
  section.append(make("h2", "", title));
  if (note) section.append(make("p", "note", note));
  section.append(...parts);
  return section;
};
// Each agent's `mbb_per_hand`, `ci95`, `raw` and `raw_ci95`: the rate with its interval, and below it in grey the raw one.
const ratesOf = (agents, narrow = matchMedia("(max-width: 640px)").matches) => {
  const known = agents.filter((agent) => agent.mbb_per_hand !== null && agent.ci95 !== null);
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  if (!known.length) return svg;
  const width = narrow ? 330 : 700, left = narrow ? 96 : 150, right = narrow ? 8 : 20, room = narrow ? 13 : 22, line = 34, height = known.length * line + 30;
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("class", "rates");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", "Rates and 95 % intervals; the table below has the numbers");
  const ends = known.flatMap((agent) => [[agent.mbb_per_hand, agent.ci95], [agent.raw ?? 0, agent.raw_ci95 ?? 0]].flatMap(([rate, half]) => [rate - half, rate + half]));
  const low = Math.min(0, ...ends), high = Math.max(0, ...ends, low + 1);
  const x = (rate) => left + (width - left - right) * (rate - low) / (high - low);
  draw(svg, "line", { x1: x(0), x2: x(0), y1: 0, y2: height - 22, class: "zero" });
  for (const [rate, anchor] of [[low, "start"], [high, "end"]]) draw(svg, "text", { x: x(rate), y: height - 6, "text-anchor": anchor, class: "tick" }, signed(Math.round(rate)).replace(/\.0$/, ""));
  known.forEach((agent, k) => {
    const y = line * k + 13;
    draw(svg, "text", { x: 0, y: y + 4, class: "label" }, agent.name.length > room ? agent.name.slice(0, room - 1) + "…" : agent.name);
    for (const [rate, half, css, down] of [[agent.mbb_per_hand, agent.ci95, "c1", 0], [agent.raw, agent.raw_ci95, "raw", 11]]) {
      if (rate === null || half === null) continue;
      draw(svg, "line", { x1: x(rate - half), x2: x(rate + half), y1: y + down, y2: y + down, class: `curve ${css}` });
      draw(svg, "circle", { cx: x(rate), cy: y + down, r: down ? 3 : 4.5, class: css });
    }
  });
  return svg;
};
