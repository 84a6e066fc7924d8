"use strict";
// Shows hands in a place of the page. The report's page keeps the step in its address; `leaving` ends a viewer elsewhere.
const showHands = (place, data, { keepsAddress = true, leaving } = {}) => {
  const listening = leaving ? { signal: leaving } : {};
  const hands = data.hands;
  const SVG = "http://www.w3.org/2000/svg";
  const STREETS = ["Preflop", "Flop", "Turn", "River"];
  const SUITS = { c: "♣", d: "♦", h: "♥", s: "♠" };
  let hand = 0, step = 0;

  const make = (tag, css, text) => {
    const node = document.createElement(tag);
    if (css) node.className = css;
    if (text !== undefined) node.textContent = text;
    return node;
  };
  const draw = (parent, tag, attributes, text) => {
    const node = document.createElementNS(SVG, tag);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (text !== undefined) node.textContent = text;
    parent.append(node);
    return node;
  };
  const bb = (chips, of) => {
    const value = chips / of.bb;
    return value.toLocaleString("en", { maximumFractionDigits: Math.abs(value) < 10 ? 2 : 1 });
  };
  const signed = (chips, of) => (chips > 0 ? "+" : "") + bb(chips, of).replace("-", "−");
  const percent = (share) => share === null ? "–" : (100 * share).toFixed(share > 0 && share < 0.1 ? 1 : 0) + " %";
  const nameOf = (of, seat) => data.names[of.run][of.agents[seat]];

  const narrowWindow = matchMedia("(max-width: 560px)");
  narrowWindow.addEventListener("change", () => show(hand, step, true), listening);

  const bar = make("div", "viewer-bar");
  const choice = make("select");
  choice.setAttribute("aria-label", "Hand");
  hands.forEach((of, k) => {
    const option = make("option", "", title(of));
    option.value = k;
    choice.append(option);
  });
  function title(of) {
    const best = of.payoffs.indexOf(Math.max(...of.payoffs));
    const board = of.board.length ? of.board.join(" ") : "no board";
    return `${of.name} · ${board} · ${nameOf(of, best)} wins ${bb(of.payoffs[best], of)} bb`;
  }
  choice.addEventListener("change", () => show(Number(choice.value), 0));
  const button = (text, label, act) => {
    const node = make("button", "", text);
    node.type = "button";
    node.setAttribute("aria-label", label);
    node.addEventListener("click", act);
    return node;
  };
  const back = button("←", "Step back", () => move(-1));
  const forth = button("→", "Step forward", () => move(1));
  const counter = make("span", "counter");
  bar.append(choice, back, forth, counter, make("span", "hint", "← → steps, ↑ ↓ hands"));
  const line = make("div", "steps");
  const remark = make("p", "remark");
  const missing = make("p", "warning missing");
  missing.setAttribute("role", "status");
  missing.hidden = true;
  const columns = make("div", "viewer-columns");
  const left = make("div", "viewer-left"), right = make("div", "viewer-right");
  const ledger = make("div", "ledger"), ledgerHead = make("div"), ledgerTable = make("div", "wide"), ledgerNotes = make("div");
  ledger.append(ledgerHead, ledgerTable, ledgerNotes);
  columns.append(left, right);
  place.tabIndex = 0;
  place.setAttribute("aria-label", "Hand viewer");
  place.append(missing, bar, line, remark, columns, ledger);

  function move(by) {
    const next = step + by;
    if (next >= 0 && next < hands[hand].steps.length) show(hand, next);
  }

  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target === choice || event.target.matches("textarea, input")) return;
    const box = place.getBoundingClientRect();
    if (!place.contains(event.target) && (box.bottom < 60 || box.top > innerHeight - 60)) return;
    if (event.key === "ArrowLeft") move(-1);
    else if (event.key === "ArrowRight") move(1);
    else if (event.key === "ArrowUp" && hand > 0) show(hand - 1, 0);
    else if (event.key === "ArrowDown" && hand + 1 < hands.length) show(hand + 1, 0);
    else if (event.key === "Home") show(hand, 0);
    else if (event.key === "End") show(hand, hands[hand].steps.length - 1);
    else if (!event.key.startsWith("Arrow")) return;
    event.preventDefault();
  }, listening);

  function show(newHand, newStep, keep) {
    hand = newHand;
    step = newStep;
    const of = hands[hand];
    choice.value = hand;
    back.disabled = step === 0;
    forth.disabled = step === of.steps.length - 1;
    counter.textContent = `${step + 1} / ${of.steps.length}`;
    remark.textContent = of.remark;
    remark.hidden = !of.remark;
    showSteps(of);
    const [grid, choices] = rangeOf(of);
    left.replaceChildren(tableOf(of), ...choices);
    right.replaceChildren(...grid);
    const [head, terms, notes] = ledgerOf(of);
    ledgerHead.replaceChildren(...head);
    ledgerTable.replaceChildren(...terms);
    ledgerNotes.replaceChildren(...notes);
    if (!keep && keepsAddress) {
      missing.hidden = true;
      history.replaceState(null, "", `#hand=${of.name}&step=${step}`);
    }
  }

  function showSteps(of) {
    const parts = [];
    let street = -1, group;
    of.steps.forEach((one, k) => {
      if (one.street !== street || !group) {
        street = one.street;
        group = make("div", "street");
        group.append(make("span", "street-name", STREETS[street] || `Street ${street + 1}`));
        parts.push(group);
      }
      const label = one.kind === "action" ? `${of.positions[one.seat]} ${one.text}`
        : one.kind === "board" ? cardsText(one.text) : one.text;
      const chip = make("button", `chip ${one.kind}${k === step ? " now" : ""}`, label);
      chip.type = "button";
      if (k === step) chip.setAttribute("aria-current", "step");
      chip.addEventListener("click", () => show(hand, k));
      group.append(chip);
    });
    line.replaceChildren(...parts);
  }

  const cardsText = (text) => text.replace(/(.)([cdhs])/g, (_, rank, suit) => rank + SUITS[suit] + " ").trim();

  function card(parent, x, y, text, faded) {
    const group = draw(parent, "g", { opacity: faded ? 0.35 : 1 });
    draw(group, "rect", { x, y, width: 27, height: 36, rx: 4, class: "card-face" });
    draw(group, "text", { x: x + 13.5, y: y + 16, "text-anchor": "middle", class: `card-text suit-${text[1]}` }, text[0]);
    draw(group, "text", { x: x + 13.5, y: y + 31, "text-anchor": "middle", class: `card-text suit-${text[1]}` }, SUITS[text[1]]);
  }

  function tableOf(of) {
    const now = of.steps[step], n = of.positions.length;
    const svg = document.createElementNS(SVG, "svg");
    const narrow = narrowWindow.matches;
    const width = narrow ? 380 : 600, height = narrow ? 500 : 430;
    const centre = width / 2, middle = narrow ? 245 : 207;
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", "The table");
    const felt = narrow ? { x: 55, y: 95, width: 270, height: 300, rx: 112 } : { x: 95, y: 95, width: 410, height: 225, rx: 112 };
    draw(svg, "rect", { ...felt, class: "felt" });
    const seen = of.board.slice(0, now.board);
    const start = centre - (of.board_size * 32 - 5) / 2;
    for (let k = 0; k < of.board_size; k++) {
      if (k < seen.length) card(svg, start + 32 * k, middle - 35, seen[k], false);
      else draw(svg, "rect", { x: start + 32 * k, y: middle - 35, width: 27, height: 36, rx: 4, class: "card-void" });
    }
    const pot = now.paid.reduce((a, b) => a + b, 0);
    draw(svg, "text", { x: centre, y: middle + 29, "text-anchor": "middle", class: "pot" }, `pot ${bb(pot, of)} bb`);
    const caption = now.kind === "action" ? `${of.positions[now.seat]} ${now.text}`
      : now.kind === "board" ? cardsText(now.text) : now.text;
    draw(svg, "text", { x: centre, y: middle + 49, "text-anchor": "middle", class: "caption" }, caption);
    for (let seat = 0; seat < n; seat++) {
      const angle = Math.PI / 2 + 2 * Math.PI * seat / n;
      const x = centre + (narrow ? 125 : 232) * Math.cos(angle), y = middle + (narrow ? 195 : 157) * Math.sin(angle);
      const acts = now.seat === seat, out = now.folded[seat] === 1;
      const box = draw(svg, "g", {});
      draw(box, "rect", { x: x - 62, y: y - 24, width: 124, height: 70, rx: 8, class: acts ? "seat acts" : "seat" });
      const cards = of.cards[seat];
      cards.forEach((text, k) => card(box, x + (k - cards.length / 2) * 31 + 2, y - 44, text, out));
      draw(box, "text", { x, y: y + 10, "text-anchor": "middle", class: out ? "who out" : "who" },
        cut(`${of.positions[seat]} ${nameOf(of, seat)}`, 16));
      const left = of.stacks ? `${bb(of.stacks[seat] - now.paid[seat], of)} bb` : "";
      draw(box, "text", { x, y: y + 25, "text-anchor": "middle", class: "stack" }, left);
      const ended = step === of.steps.length - 1;
      const text = ended ? `${signed(of.payoffs[seat], of)} bb` : now.paid[seat] ? `in: ${bb(now.paid[seat], of)} bb` : "";
      const css = ended ? (of.payoffs[seat] > 0 ? "paid plus" : of.payoffs[seat] < 0 ? "paid minus" : "paid") : "paid";
      draw(box, "text", { x, y: y + 40, "text-anchor": "middle", class: css }, text);
    }
    return svg;
  }

  const cut = (text, length) => text.length > length ? text.slice(0, length - 1) + "…" : text;

  function colours(grid) {
    const raises = grid.kinds.filter((kind) => kind === 2).length;
    let number = 0;
    return grid.kinds.map((kind) => {
      if (kind < 2) return kind === 0 ? "fold" : "call";
      const shade = raises === 1 ? 2 : 1 + Math.round(3 * number / (raises - 1));
      number += 1;
      return `raise-${shade}`;
    });
  }

  const empty = (text) => [[make("p", "empty", text)], []];

  function rangeOf(of) {
    let k = step;
    while (k >= 0 && !of.steps[k].grid) k -= 1;
    const now = of.steps[step];
    if (now.kind === "action" && !now.grid)
      return empty(`${of.positions[now.seat]} ${nameOf(of, now.seat)}: the strategy for its other hands is not known.`);
    if (!of.steps.some((one) => one.grid)) return empty("The seats’ strategies are not known.");
    if (k < 0) return empty("Step forward (→) to see the seats’ strategies.");
    const one = of.steps[k], grid = one.grid, names = data.cells[of.run];
    const bytes = Uint8Array.from(atob(grid.shares), (letter) => letter.charCodeAt(0));
    const width = 1 + grid.actions.length, across = data.across[of.run];
    const rows = Math.ceil(names.length / across);
    const cell = 34, css = colours(grid);
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("viewBox", `0 0 ${across * cell} ${rows * cell}`);
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", `Strategy of ${nameOf(of, one.seat)}`);
    svg.setAttribute("class", k === step ? "range" : "range past");
    svg.style.maxWidth = `${Math.min(470, 70 * across)}px`;
    let most = 0;
    for (let c = 0; c < names.length; c++) most = Math.max(most, bytes[c * width]);
    const readout = make("p", "readout");
    names.forEach((name, c) => {
      const x = (c % across) * cell, y = Math.floor(c / across) * cell, share = bytes[c * width];
      const group = draw(svg, "g", { class: "cell" });
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
      group.addEventListener("mouseenter", () => { readout.textContent = text; });
    });
    const own = { x: (grid.cell % across) * cell + 1.5, y: Math.floor(grid.cell / across) * cell + 1.5, width: cell - 3, height: cell - 3, class: "own" };
    draw(svg, "rect", own);
    const held = of.cards[one.seat].map(cardsText).join(" ");
    const head = make("p", "range-head");
    head.append(make("strong", "", `${of.positions[one.seat]} ${nameOf(of, one.seat)}`),
      document.createTextNode(k === step ? ` with ${held}: ${one.text}` : ` with ${held}, at its last decision: ${one.text}`));
    const table = make("table", "choices");
    const row = (tag, cells) => { const tr = make("tr"); cells.forEach((text, c) => tr.append(make(tag, c ? "figure" : "", text))); return tr; };
    table.append(row("th", ["action", `with ${held}`, "whole range"]));
    grid.actions.forEach((text, a) => {
      const tr = row("td", [text, percent(grid.own[a]), percent(grid.totals[a])]);
      tr.firstChild.prepend(make("i", css[a]));
      if (a === grid.played) tr.className = "played";
      table.append(tr);
    });
    readout.textContent = "Point at a cell for its numbers.";
    return [[head, svg, readout], [table]];
  }

  function ledgerOf(of) {
    if (!of.forms.some(Boolean)) return [[], [], []];
    const table = make("table", "terms");
    if (narrowWindow.matches) table.style.minWidth = `${130 + 58 * of.positions.length}px`;
    const head = make("tr");
    head.append(make("th", "", "bb"));
    of.positions.forEach((position, seat) => {
      const cell = make("th", "figure");
      cell.title = nameOf(of, seat);
      cell.append(make("span", "", position), make("span", "", nameOf(of, seat) + (of.forms[seat] === "full" ? "" : " *")));
      head.append(cell);
    });
    table.append(head);
    const strongest = Math.max(1e-9, ...of.steps.flatMap((one) => one.terms.map(Math.abs)));
    const add = (css, label, values, shade) => {
      const tr = make("tr", css);
      tr.append(make("td", "", label));
      values.forEach((chips) => {
        const td = make("td", "figure", chips === null ? "–" : Math.abs(chips) < of.bb * 0.005 ? (shade ? "·" : "0") : signed(chips, of));
        if (shade && chips) {
          const colour = chips > 0 ? "--gain" : "--loss";
          const part = Math.min(45, 45 * Math.sqrt(Math.abs(chips) / strongest));
          td.style.background = `color-mix(in srgb, var(${colour}) ${part.toFixed(0)}%, transparent)`;
        }
        tr.append(td);
      });
      table.append(tr);
      return tr;
    };
    of.steps.forEach((one, k) => {
      const label = one.kind === "action" ? `${of.positions[one.seat]} ${one.text}`
        : one.kind === "board" ? cardsText(one.text) : one.kind === "deal" ? "the others’ cards" : "own other hands";
      const tr = add(k === step ? "now" : "", label, one.terms, true);
      tr.addEventListener("click", () => show(hand, k));
    });
    add("sum", "won", of.payoffs, false);
    add("sum", "luck taken out", of.payoffs.map((won, seat) => of.estimates[seat] === null ? null : of.estimates[seat] - won), false);
    add("sum total", "AIVAT", of.estimates, false);
    const notes = [make("p", "remark", data.values[of.run])];
    if (of.forms.some((form) => form !== "full"))
      notes.push(make("p", "remark", "* corrected with the true cards, for chance and for choices of an opponent from this package: the seat’s own strategy is not known or not trusted."));
    return [[make("h3", "", "Luck taken out by AIVAT, in big blinds")], [table], notes];
  }

  function fromHash() {
    const found = /^#hand=([^&]*)(?:&step=(\d+))?$/.exec(location.hash);
    missing.hidden = true;
    if (!found) return false;
    const number = hands.findIndex((of) => of.name === found[1]);
    if (number < 0) {
      missing.textContent = `This page does not hold the hand ${found[1]}: it shows ${hands.length} hands. `
        + `plurispiel report RUN --hand LINEUP.DECK.ROTATION makes a page that does.`;
      missing.hidden = false;
    } else show(number, Math.min(Number(found[2] || 0), hands[number].steps.length - 1), true);
    document.getElementById("hands").scrollIntoView();
    return number >= 0;
  }
  if (keepsAddress) addEventListener("hashchange", fromHash, listening);
  if (!keepsAddress || !fromHash()) show(...data.opening, true);
};
if (document.getElementById("viewer")) showHands(document.getElementById("viewer"), JSON.parse(document.getElementById("hands-data").textContent));
