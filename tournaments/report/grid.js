"use strict";
// A strategy as a grid of classes of hole cards (`hand_story.decision_grid`).
const actionColours = (kinds) => {
  const raises = kinds.filter((kind) => kind === 2).length;
  let number = 0;
  return kinds.map((kind) => {
    if (kind < 2) return kind === 0 ? "fold" : "call";
    const shade = raises === 1 ? 2 : 1 + Math.round(3 * number / (raises - 1));
    number += 1;
    return `raise-${shade}`;
  });
};

// Returns the picture, and the line that says what the pointer is on.
const drawGrid = (grid, names, across, label, isPast) => {
  const bytes = Uint8Array.from(atob(grid.shares), (letter) => letter.charCodeAt(0));
  const width = 1 + grid.actions.length, rows = Math.ceil(names.length / across);
  const cell = 34, css = actionColours(grid.kinds);
  const svg = draw(null, "svg", { viewBox: `0 0 ${across * cell} ${rows * cell}`, role: "group", "aria-label": label, class: isPast ? "range past" : "range" });
  svg.style.maxWidth = `${Math.min(470, 70 * across)}px`;
  let most = 0;
  for (let c = 0; c < names.length; c++) most = Math.max(most, bytes[c * width]);
  const readout = make("p", "readout", "Point at a cell for its numbers."), cells = [];
  names.forEach((name, c) => {
    const x = (c % across) * cell, y = Math.floor(c / across) * cell, share = bytes[c * width];
    const group = draw(svg, "g", { class: "cell", role: "button", tabindex: c === (grid.cell ?? 0) ? 0 : -1 });
    draw(group, "rect", { x: x + 0.5, y: y + 0.5, width: cell - 1, height: cell - 1, class: "cell-void" });
    const height = most ? (cell - 1) * share / most : 0;
    let total = 0;
    for (let a = 1; a < width; a++) total += bytes[c * width + a];
    let from = x + 0.5;
    for (let a = 1; a < width && total; a++) {
      const wide = (cell - 1) * bytes[c * width + a] / total;
      if (wide > 0 && height > 0) draw(group, "rect", { x: from, y: y + cell - 0.5 - height, width: wide, height, class: css[a - 1] });
      from += wide;
    }
    draw(group, "text", { x: x + 3, y: y + 12, class: share ? "cell-name" : "cell-name gone" }, name);
    const says = grid.actions.map((text, a) => `${text} ${percent(bytes[c * width + a + 1] / 255)}`).filter((_, a) => bytes[c * width + a + 1]);
    const text = total ? `${name}: ${says.join(", ")} · reach ${percent(share / 255)}` : `${name}: not possible with this board`;
    draw(group, "title", {}, text);
    group.setAttribute("aria-label", text);
    for (const kind of ["mouseenter", "focus", "click"]) group.addEventListener(kind, () => { readout.textContent = text; });
    cells.push(group);
  });
  // One cell is a stop of the Tab key, and the arrow keys lead from it to the others.
  svg.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -across, ArrowDown: across }[event.key];
    const from = cells.indexOf(event.target);
    if (!by || from < 0 || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    const next = cells[from + by];
    if (!next) return;
    cells[from].setAttribute("tabindex", -1);
    next.setAttribute("tabindex", 0);
    next.focus();
  });
  if (grid.cell !== null) {
    const x = (grid.cell % across) * cell + 1.5, y = Math.floor(grid.cell / across) * cell + 1.5;
    draw(svg, "rect", { x, y, width: cell - 3, height: cell - 3, class: "own" });
  }
  return [svg, readout];
};

// The actions of a grid with their probabilities; `held` is the hand as text, empty if it is not known.
const choicesOf = (grid, held, evs) => {
  const table = make("table", "choices"), css = actionColours(grid.kinds);
  const row = (tag, cells) => { const tr = make("tr"); cells.forEach((text, c) => tr.append(make(tag, c ? "figure" : "", text))); return tr; };
  const columns = (text, own, total, ev) => [text, ...(held ? [own] : []), total, ...(evs ? [ev] : [])];
  table.append(row("th", columns("action", `with ${held}`, "whole range", "EV, bb")));
  grid.actions.forEach((text, a) => {
    const tr = row("td", columns(text, held ? percent(grid.own[a]) : "", percent(grid.totals[a]), evs && evs[a]));
    tr.firstChild.prepend(make("i", css[a]));
    if (a === grid.played) tr.className = "played";
    table.append(tr);
  });
  return table;
};
