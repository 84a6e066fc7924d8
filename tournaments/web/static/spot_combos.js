"use strict";
// The list of hands of a decision, with filters; columns are sorted by a click.
const comboList = () => {
  const box = make("div", "combos"), filters = make("div", "filters"), place = make("div"), said = make("p", "remark");
  const STEP = 20;
  let view = null, seat = 0, chosen = -1, sort = { key: "ev", isUp: false }, shown = STEP;
  const choiceOf = (label, first) => {
    const choice = make("select");
    choice.setAttribute("aria-label", label);
    choice.append(make("option", "", first));
    choice.addEventListener("change", again);
    filters.append(choice);
    return choice;
  };
  const made = choiceOf("Made hand", "every made hand"), draws = choiceOf("Draw", "every draw"), suits = choiceOf("Suit", "every suit");
  for (const [letter, name] of Object.entries(SUIT_NAMES)) for (const count of ["one", "two"]) {
    const option = make("option", "", `${count} of ${name}`);
    option.value = letter + count;
    suits.append(option);
  }
  const lost = make("input"), lostLabel = make("label", "soft", "EV loss from ");
  Object.assign(lost, { type: "number", min: 0, step: "any", className: "short", placeholder: "0" });
  lost.addEventListener("input", again);
  lostLabel.append(lost);
  const all = buttonOf("Every class", "Show the hands of every class", () => { chosen = -1; again(); });
  all.className = "clear";
  filters.append(lostLabel, all);
  function again() { shown = STEP; list(); }

  const lossOf = (hand) => view.action_ev[hand].some((ev) => ev === null) ? null
    : Math.max(...view.action_ev[hand]) - view.action_ev[hand].reduce((sum, ev, a) => sum + ev * view.strategy[hand][a], 0);

  function fill(choice, values, first) {
    const before = choice.value;
    choice.replaceChildren(make("option", "", first), ...values.map((value) => make("option", "", value)));
    choice.value = values.includes(before) ? before : first;
  }

  function list() {
    const acts = view.player === SPOT_PLAYERS[seat], css = actionsCss(view), least = Number(lost.value) || 0, hasDraws = view.draw.some((draw) => draw !== "no draw");
    const columns = [["hand", "hand"], ["ev", "EV"], ["equity", "equity"], ...(acts ? view.actions.map((action, a) => [a, action.text]) : []),
      ...(acts ? [["loss", "EV loss"]] : []), ["weight", "reach"], ["made", "made hand"], ...(hasDraws ? [["draw", "draw"]] : [])];
    const value = (hand, key) => key === "hand" ? HOLE.comboNumber(view.combos[hand]) : key === "made" ? -MADE.indexOf(view.made[hand]) : key === "draw" ? view.draw[hand]
      : key === "loss" ? lossOf(hand) ?? -1 : typeof key === "number" ? view.strategy[hand][key] : view[key][hand][seat] ?? -Infinity;
    const hands = [...view.combos.keys()].filter((hand) => view.weight[hand][seat] > 0
      && (chosen < 0 || HOLE.classOf[HOLE.comboNumber(view.combos[hand])] === chosen)
      && (made.selectedIndex < 1 || view.made[hand] === made.value) && (draws.selectedIndex < 1 || view.draw[hand] === draws.value)
      && (suits.selectedIndex < 1 || view.combos[hand].split(suits.value[0]).length - 1 >= (suits.value.endsWith("two") ? 2 : 1))
      && (!acts || !least || (lossOf(hand) ?? 0) >= least));
    const key = columns.some(([each]) => each === sort.key) ? sort.key : "ev";
    hands.sort((a, b) => { const x = value(a, key), y = value(b, key); return (x < y ? -1 : x > y ? 1 : 0) * (sort.isUp ? 1 : -1) || a - b; });
    const table = make("table"), head = make("tr"), wide = make("div", "wide");
    wide.tabIndex = 0;
    wide.setAttribute("role", "region");
    wide.setAttribute("aria-label", "Hands");
    columns.forEach(([each, text]) => {
      const cell = make("th", ["hand", "made", "draw"].includes(each) ? "" : "figure"), button = buttonOf(text, "", () => { sort = { key: each, isUp: sort.key === each && !sort.isUp }; list(); });
      button.className = "sorter";
      if (typeof each === "number") button.prepend(make("i", css[each]));
      cell.scope = "col";
      if (key === each) cell.setAttribute("aria-sort", sort.isUp ? "ascending" : "descending");
      cell.append(button);
      head.append(cell);
    });
    const top = make("thead"), body = make("tbody");
    top.append(head);
    for (const hand of hands.slice(0, shown)) {
      const tr = make("tr"), loss = acts ? lossOf(hand) : null, equity = view.equity[hand][seat];
      tr.dataset.hand = view.combos[hand];
      const name = make("td");
      for (const card of [view.combos[hand].slice(0, 2), view.combos[hand].slice(2)]) name.append(make("span", `hand-card suit-${card[1]}`, cardsText(card)));
      tr.append(name, make("td", "figure", chipsText(view.ev[hand][seat])), make("td", "figure", equity === null ? "–" : percent(equity)));
      if (acts) view.actions.forEach((_, a) => {
        const cell = make("td", "figure", percent(view.strategy[hand][a])), ev = view.action_ev[hand][a];
        cell.append(make("small", "", ev === null ? "" : `EV ${chipsText(ev)}`));
        tr.append(cell);
      });
      if (acts) tr.append(make("td", "figure", loss === null ? "–" : number(loss, 2)));
      tr.append(make("td", "figure", percent(view.weight[hand][seat])), make("td", "", view.made[hand]));
      if (hasDraws) tr.append(make("td", "", view.draw[hand] === "no draw" ? "" : view.draw[hand]));
      body.append(tr);
    }
    table.append(top, body);
    wide.append(table);
    place.replaceChildren(wide);
    if (hands.length > shown) place.append(buttonOf(`Show ${Math.min(STEP, hands.length - shown)} more`, "", () => { shown += STEP; list(); }));
    said.textContent = `${number(hands.length)} ${hands.length === 1 ? "hand" : "hands"}${chosen < 0 ? "" : ` of ${HOLE.names[chosen]}`}. Below each frequency stands the EV of the action.`;
    all.hidden = chosen < 0;
    lostLabel.hidden = !acts;
    draws.hidden = !hasDraws;
  }
  box.append(filters, said, place);
  return {
    box,
    show(newView, newSeat, newChosen) {
      [view, seat, chosen, shown] = [newView, newSeat, newChosen, STEP];
      fill(made, MADE.filter((kind) => view.made.includes(kind)), "every made hand");
      fill(draws, [...new Set(view.draw)].sort(), "every draw");
      list();
    },
  };
};
