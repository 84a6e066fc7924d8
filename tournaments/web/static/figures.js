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
