"use strict";
// Shows hands in a place of the page. The report's page keeps the hand and the step in its address. Elsewhere `address`
// gives the address of a hand and a step, `step` is the first one shown, `leaving` ends the viewer, and `advice` has
// elements beside the table (`bar`, `list`), is told each step (`look`), and may have a strategy to show (`panel`).
const showHands = (place, data, { address, step: firstStep, leaving, advice } = {}) => {
  const listening = leaving ? { signal: leaving } : {};
  const hands = data.hands;
  const STREETS = ["Preflop", "Flop", "Turn", "River"];
  let hand = 0, step = 0;

  const bb = (chips, of) => {
    const value = chips / of.bb;
    return value.toLocaleString("en", { maximumFractionDigits: Math.abs(value) < 10 ? 2 : 1 });
  };
  const signed = (chips, of) => (chips > 0 ? "+" : "") + bb(chips, of).replace("-", "−");
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
  const back = buttonOf("←", "Step back", () => move(-1));
  const forth = buttonOf("→", "Step forward", () => move(1));
  const counter = make("span", "counter");
  bar.append(choice, back, forth, counter, make("span", "hint", "← → steps, ↑ ↓ hands"));
  const line = make("div", "steps");
  const remark = make("p", "remark");
  const missing = make("p", "warning missing");
  missing.setAttribute("role", "status");
  missing.hidden = true;
  const keepsAddress = !address;
  const columns = make("div", "viewer-columns");
  const left = make("div", "viewer-left"), right = make("div", "viewer-right");
  const ledger = make("div", "ledger"), ledgerHead = make("div"), ledgerTable = make("div", "wide"), ledgerNotes = make("div");
  ledger.append(ledgerHead, ledgerTable, ledgerNotes);
  columns.append(left, right);
  place.tabIndex = 0;
  place.setAttribute("aria-label", "Hand viewer");
  place.append(missing, bar, line, remark, ...(advice ? [advice.bar] : []), columns, ...(advice ? [advice.list] : []), ledger);

  function move(by) {
    const next = step + by;
    if (next >= 0 && next < hands[hand].steps.length) show(hand, next);
  }

  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target.matches("select, textarea, input")) return;
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
    if (advice) advice.look(hand, step, (k) => show(hand, k), () => showRange(of));
    showRange(of);
    const [head, terms, notes] = ledgerOf(of);
    ledgerHead.replaceChildren(...head);
    ledgerTable.replaceChildren(...terms);
    ledgerNotes.replaceChildren(...notes);
    if (!keep || !keepsAddress) {
      missing.hidden = true;
      const now = keepsAddress ? `#hand=${of.name}&step=${step}` : address(of, step);
      if (now) history.replaceState(null, "", now);
    }
  }

  function showRange(of) {
    const [grid, choices] = advice?.panel(hand, step) || rangeOf(of);
    left.replaceChildren(tableOf(of), ...choices);
    right.replaceChildren(...grid);
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

  function tableOf(of) {
    const now = of.steps[step], hasEnded = step === of.steps.length - 1;
    const caption = now.kind === "action" ? `${of.positions[now.seat]} ${now.text}`
      : now.kind === "board" ? cardsText(now.text) : now.text;
    const seats = of.positions.map((position, seat) => ({
      name: `${position} ${nameOf(of, seat)}`,
      cards: of.cards[seat],
      backs: of.cards[seat].length ? 0 : of.hole_size,
      isOut: now.folded[seat] === 1,
      acts: now.seat === seat,
      stack: of.stacks ? `${bb(of.stacks[seat] - now.paid[seat], of)} bb` : "",
      note: hasEnded ? `${signed(of.payoffs[seat], of)} bb` : now.paid[seat] ? `in: ${bb(now.paid[seat], of)} bb` : "",
      css: !hasEnded || !of.payoffs[seat] ? "" : of.payoffs[seat] > 0 ? "plus" : "minus",
    }));
    const pot = `pot ${bb(now.paid.reduce((a, b) => a + b, 0), of)} bb`;
    return drawTable({ seats, board: of.board.slice(0, now.board), boardSize: of.board_size, pot, caption }, narrowWindow.matches);
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
    const one = of.steps[k], grid = one.grid;
    const held = of.cards[one.seat].map(cardsText).join(" "), by = held ? ` with ${held}` : "";
    const [svg, readout] = drawGrid(grid, data.cells[of.run], data.across[of.run], `Strategy of ${nameOf(of, one.seat)}`, k !== step);
    const head = make("p", "range-head");
    head.append(make("strong", "", `${of.positions[one.seat]} ${nameOf(of, one.seat)}`),
      document.createTextNode(k === step ? `${by}: ${one.text}` : `${by}, at its last decision: ${one.text}`));
    return [[head, svg, readout], [choicesOf(grid, held)]];
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
        : one.kind === "board" ? cardsText(one.text) : one.kind === "deal" ? "the others’ cards" : "possible hands";
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
  const opening = [data.opening[0], firstStep === undefined ? data.opening[1] : Math.min(firstStep, hands[data.opening[0]].steps.length - 1)];
  if (!keepsAddress || !fromHash()) show(...opening, true);
};
if (document.getElementById("viewer")) showHands(document.getElementById("viewer"), JSON.parse(document.getElementById("hands-data").textContent));
