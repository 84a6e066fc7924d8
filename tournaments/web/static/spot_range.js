"use strict";
// Hole cards as the explorer counts them, and a grid of the 169 classes whose cells are buttons.
const HOLE = (() => {
  const RANKS = "23456789TJQKA", SUIT_LETTERS = "cdhs";
  const cardNumber = (text) => 4 * RANKS.indexOf(text[0]) + SUIT_LETTERS.indexOf(text[1]);
  const cardText = (card) => RANKS[card >> 2] + SUIT_LETTERS[card & 3];
  const comboNumber = (text) => {
    const first = cardNumber(text.slice(0, 2)), second = cardNumber(text.slice(2));
    const high = Math.max(first, second), low = Math.min(first, second);
    return high * (high - 1) / 2 + low;
  };
  const names = [], members = Array.from({ length: 169 }, () => []), classOf = [], texts = [];
  for (let row = 0; row < 13; row++) for (let column = 0; column < 13; column++) {
    const high = RANKS[12 - Math.min(row, column)], low = RANKS[12 - Math.max(row, column)];
    names.push(high + low + (row === column ? "" : column > row ? "s" : "o"));
  }
  for (let high = 1; high < 52; high++) for (let low = 0; low < high; low++) {
    const first = 12 - (high >> 2), second = 12 - (low >> 2);
    const place = (high & 3) === (low & 3) ? 13 * first + second : 13 * second + first;
    members[place].push(texts.length);
    classOf.push(place);
    texts.push(cardText(high) + cardText(low));
  }
  return { RANKS, SUIT_LETTERS, names, members, classOf, texts, cardText, comboNumber };
})();

// A grid of 13 x 13 buttons. `enter(place, isFirst)` is called for cells that are clicked or dragged over, `leave()` at
// the end. The arrow keys move between cells, of which one is in the order of tabs.
const classGrid = (label, enter, leave = () => {}) => {
  const grid = make("div", "classes");
  grid.setAttribute("role", "group");
  grid.setAttribute("aria-label", label);
  const cells = HOLE.names.map((name, place) => {
    const cell = make("button", "class-cell");
    cell.type = "button";
    cell.tabIndex = place ? -1 : 0;
    cell.dataset.place = place;
    cell.append(make("span", "class-name", name), make("span", "class-figure"));
    cell.addEventListener("click", (event) => { if (!event.detail) { enter(place, true); leave(); } });  // by the keyboard
    return cell;
  });
  grid.append(...cells);
  let last = -1;
  const over = (event) => {
    const cell = document.elementFromPoint(event.clientX, event.clientY)?.closest(".class-cell");
    if (!cell || !grid.contains(cell)) return;
    const place = Number(cell.dataset.place);
    if (place !== last) enter(place, last < 0);
    last = place;
  };
  grid.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    last = -1;
    grid.setPointerCapture(event.pointerId);
    over(event);
  });
  grid.addEventListener("pointermove", (event) => {
    if (!grid.hasPointerCapture(event.pointerId)) return;
    const merged = event.getCoalescedEvents?.() || [];  // a busy browser tells several moves as one
    for (const move of merged.length ? merged : [event]) over(move);
  });
  for (const kind of ["pointerup", "pointercancel"]) grid.addEventListener(kind, () => { if (last >= 0) leave(); last = -1; });
  grid.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -13, ArrowDown: 13 }[event.key];
    const place = Number(event.target.dataset.place) + step;
    if (!step || !cells[place]) return;
    event.preventDefault();
    event.target.tabIndex = -1;
    cells[place].tabIndex = 0;
    cells[place].focus();
  });
  return { grid, cells };
};

// Fills a cell from below: `parts` are [colour, share of the width], `height` is the share of the height.
const fillCell = (cell, parts, height) => {
  let from = 0;
  const stops = parts.filter(([, share]) => share > 0).map(([colour, share]) => {
    const stop = `${colour} ${(100 * from).toFixed(2)}% ${(100 * (from + share)).toFixed(2)}%`;
    from += share;
    return stop;
  });
  cell.style.backgroundImage = stops.length && height > 0 ? `linear-gradient(to right, ${stops.join(", ")})` : "none";
  cell.style.backgroundSize = `100% ${(100 * height).toFixed(1)}%`;
};

// A range that is painted or typed. `changed(text)` is told every new text.
const rangeEditor = (player, label, tell, changed) => {
  const box = make("div", "range-editor");
  const field = make("textarea"), share = make("input"), exact = make("input"), said = make("p", "remark");
  let weights = new Float64Array(1326), brush = 1, painted = 1, changes = 0, timer;
  const { grid, cells } = classGrid(`${label}, as classes of hands`, (place, isFirst) => {
    if (isFirst) painted = HOLE.members[place].every((combo) => weights[combo] === brush) ? 0 : brush;
    for (const combo of HOLE.members[place]) weights[combo] = painted;
    show();
  }, write);

  function show() {
    cells.forEach((cell, place) => {
      const own = HOLE.members[place], mean = own.reduce((sum, combo) => sum + weights[combo], 0) / own.length;
      fillCell(cell, [["var(--painted)", 1]], mean);
      cell.setAttribute("aria-label", `${HOLE.names[place]}: ${percent(mean)}`);
      cell.setAttribute("aria-pressed", mean > 0);
    });
    const combos = weights.reduce((sum, weight) => sum + weight, 0);
    said.textContent = `${number(combos, combos % 1 ? 1 : 0)} of 1,326 combos, ${percent(combos / 1326)}`;
    said.classList.remove("wrong");
  }
  async function write() {
    const asked = ++changes;
    const { text } = await tell("write_range", { weights: Array.from(weights) });
    if (asked !== changes) return;  // answers may come in another order
    field.value = text;
    changed(text);
  }
  async function read() {
    const asked = ++changes;
    const found = await tell("read_range", { text: field.value });
    if (asked !== changes) return;
    if (found.problem) {
      said.textContent = found.problem;
      said.classList.add("wrong");
      return;
    }
    weights = Float64Array.from(found.weights);
    show();
  }
  field.id = `range-${player}`;
  field.rows = 3;
  field.spellcheck = false;
  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => { read(); changed(field.value); }, 300);
  });
  Object.assign(share, { type: "range", min: 0, max: 100, value: 100 });
  share.setAttribute("aria-label", `${label}: weight of the brush in percent`);
  Object.assign(exact, { type: "number", min: 0, max: 100, step: "any", value: 100, className: "short" });
  exact.setAttribute("aria-label", `${label}: weight of the brush, exactly`);
  share.addEventListener("input", () => { exact.value = share.value; brush = share.value / 100; });
  exact.addEventListener("input", () => { share.value = exact.value; brush = Math.min(100, Math.max(0, Number(exact.value))) / 100; });
  const all = buttonOf("All", `${label}: all hands`, () => { weights.fill(1); show(); write(); });
  const none = buttonOf("None", `${label}: no hands`, () => { weights.fill(0); show(); write(); });
  const tools = make("div", "brush");
  tools.append(make("span", "soft", "Weight"), share, exact, make("span", "soft", "%"), all, none);
  const name = make("label", "", `${label} as text`);
  name.htmlFor = field.id;
  box.append(tools, grid, said, name, field);
  return {
    box,
    set(text) { field.value = text; read(); },
  };
};
