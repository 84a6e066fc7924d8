"use strict";
// The hands of a decision as 13 x 13 classes: by strategy, EV, equity or reach. `view` is the server's `node_view`.
const SPOT_PLAYERS = ["oop", "ip"], SPOT_NAMES = { oop: "OOP", ip: "IP" };
const actionsCss = (view) => actionColours(view.actions.map(({ word }) => word === "f" ? 0 : word === "c" ? 1 : 2));

// Means over the hands of each class: weight is the mean over the combos that the board leaves, the others are weighted by pairs of hands.
const classMeans = (view, seat) => {
  const acts = view.player === SPOT_PLAYERS[seat];
  const board = view.board.match(/../g);
  const classes = HOLE.names.map(() => ({ weight: 0, pairs: 0, ev: 0, equity: 0, strategy: view.actions.map(() => 0), hands: [] }));
  view.combos.forEach((text, hand) => {
    const weight = view.weight[hand][seat], pairs = view.pairs[hand][seat] || 0;
    if (!weight) return;
    const mean = classes[HOLE.classOf[HOLE.comboNumber(text)]];
    mean.hands.push(hand);
    mean.weight += weight;
    if (pairs) {
      mean.pairs += pairs;
      mean.ev += pairs * view.ev[hand][seat];
      mean.equity += pairs * view.equity[hand][seat];
    }
    if (acts) view.strategy[hand].forEach((share, a) => { mean.strategy[a] += weight * share; });
  });
  classes.forEach((mean, place) => {
    mean.strategy = mean.strategy.map((sum) => mean.weight ? sum / mean.weight : 0);
    mean.ev = mean.pairs ? mean.ev / mean.pairs : null;
    mean.equity = mean.pairs ? mean.equity / mean.pairs : null;
    mean.weight /= Math.max(1, HOLE.members[place].filter((combo) => !board.some((card) => HOLE.texts[combo].includes(card))).length);
  });
  return classes;
};

// Returns the grid; `choose(place)` is called for a clicked cell. While painting, `painted` is called
// instead, and with -1 at the end of a stroke.
const strategyGrid = (choose, painted) => {
  let current = null;
  const { grid, cells } = classGrid("Hands, as classes", (place, isFirst) => {
    if (current.paints) painted(place, isFirst); else if (isFirst) choose(place);
  }, () => { if (current.paints) painted(-1, false); });
  const readout = make("p", "readout", "Choose a cell to list its hands.");
  grid.addEventListener("pointerover", (event) => {
    const cell = event.target.closest?.(".class-cell");
    if (cell) readout.textContent = cell.getAttribute("aria-label");
  });
  function show(view, seat, mode, chosen, paints) {
    current = { paints };
    const classes = classMeans(view, seat), acts = view.player === SPOT_PLAYERS[seat], css = actionsCss(view);
    const most = Math.max(1e-12, ...classes.map((mean) => mean.weight));
    const evs = classes.map((mean) => mean.ev).filter((ev) => ev !== null);
    const low = Math.min(...evs), span = Math.max(1e-9, Math.max(...evs) - low);
    cells.forEach((cell, place) => {
      const mean = classes[place], text = [];
      let parts = [], height = mean.weight / most, small = "";
      if (mode === "strategy" && acts) parts = mean.strategy.map((share, a) => [`var(--${css[a]})`, share]);
      else if (mode === "strategy") parts = [["var(--painted)", 1]];
      else if (mode === "reach") { parts = [["var(--painted)", 1]]; small = percent(mean.weight); }
      else {
        const value = mode === "ev" ? mean.ev === null ? null : (mean.ev - low) / span : mean.equity;
        if (value !== null) parts = [[`color-mix(in srgb, color-mix(in srgb, var(--c3) ${(100 * value).toFixed(0)}%, var(--c2)) 55%, var(--card))`, 1]];
        height = mean.hands.length ? 1 : 0;
        small = value === null ? "" : mode === "ev" ? number(mean.ev, Math.abs(mean.ev) < 10 ? 1 : 0) : (100 * mean.equity).toFixed(0);
      }
      fillCell(cell, parts, height);
      cell.lastChild.textContent = mean.hands.length ? small : "";
      cell.classList.toggle("gone", !mean.hands.length);
      if (!mean.hands.length) text.push("not in the range");
      else {
        if (acts) view.actions.forEach((action, a) => { if (mean.strategy[a] >= 0.0005) text.push(`${action.text} ${percent(mean.strategy[a])}`); });
        text.push(`EV ${chipsText(mean.ev)}, equity ${mean.equity === null ? "–" : percent(mean.equity)}, reach ${percent(mean.weight)}`);
      }
      cell.setAttribute("aria-label", `${HOLE.names[place]}: ${text.join(", ")}`);
      cell.setAttribute("aria-pressed", place === chosen);
    });
  }
  return { grid, readout, show };
};

// Frequencies and EVs of the whole range, and bars by made hand.
const rangeSummary = (view, seat) => {
  const box = make("div", "summary"), acts = view.player === SPOT_PLAYERS[seat], css = actionsCss(view);
  const sum = (read, hands = view.combos.keys()) => [...hands].reduce((total, hand) => total + (read(hand) || 0), 0);
  const weights = (hand) => view.weight[hand][seat], pairs = (hand) => view.pairs[hand][seat];
  const total = sum(weights), met = sum(pairs);
  const bar = (shares, label) => {
    const line = make("div", "share-bar");
    line.setAttribute("role", "img");
    line.setAttribute("aria-label", label);
    shares.forEach((share, a) => { if (share > 0.0005) { const piece = make("i", css[a]); piece.style.width = `${100 * share}%`; line.append(piece); } });
    return line;
  };
  if (acts && total) {
    const shares = view.actions.map((_, a) => sum((hand) => weights(hand) * view.strategy[hand][a]) / total);
    box.append(bar(shares, view.actions.map((action, a) => `${action.text} ${percent(shares[a])}`).join(", ")));
  }
  const kinds = [...new Set(view.made)].map((kind) => ({ kind, hands: [...view.made.keys()].filter((hand) => view.made[hand] === kind && weights(hand)) }))
    .filter(({ hands }) => hands.length).sort((a, b) => MADE.indexOf(a.kind) - MADE.indexOf(b.kind));
  const rows = kinds.map(({ kind, hands }) => {
    const share = sum(weights, hands), faced = sum(pairs, hands);
    const shares = acts ? view.actions.map((_, a) => sum((hand) => weights(hand) * view.strategy[hand][a], hands) / share) : [];
    const label = view.actions.map((action, a) => `${action.text} ${percent(shares[a] || 0)}`).join(", ");
    return [kind, percent(share / total), acts ? bar(shares, `${kind}: ${label}`) : "", faced ? chipsText(sum((hand) => pairs(hand) * view.ev[hand][seat], hands) / faced) : "–"];
  });
  const mean = (values) => met ? sum((hand) => pairs(hand) && pairs(hand) * values[hand][seat]) / met : null;
  const equity = mean(view.equity);
  box.append(make("p", "remark", `${SPOT_NAMES[SPOT_PLAYERS[seat]]} here: ${number(total, 1)} combos, EV ${chipsText(mean(view.ev))} of a pot of ${number(view.pot)}, equity ${equity === null ? "–" : percent(equity)}.`));
  box.append(tableOf("Range by made hand", ["hand", "share", acts ? "strategy" : "", "EV"], rows));
  return box;
};
const MADE = ["straight flush", "quads", "full house", "flush", "straight", "set", "trips", "two pair", "overpair", "top pair", "second pair", "low pair", "pocket pair", "ace high", "no pair"];
