"use strict";
// The way to a decision, its actions, and the cards that may be dealt: `go(node)` walks on.
const spotTree = (tell, go) => {
  const box = make("div", "tree"), crumbs = make("nav", "crumbs"), actions = make("div", "actions"), map = make("div", "cards");
  crumbs.setAttribute("aria-label", "Way to this decision");
  map.setAttribute("role", "status");
  box.append(crumbs, actions, map);
  let dealing = null, view = null;

  function show(newView) {
    view = newView;
    dealing = null;
    map.replaceChildren();
    const parts = [buttonOf("Start", "Back to the first decision", () => go(""))];
    view.path.forEach((step, k) => {
      const isCard = !step.player, name = isCard ? cardsText(step.text) : `${SPOT_NAMES[step.player]} ${step.text}`;
      const to = view.path.slice(0, k + 1).map(({ word }) => word).join(" ");
      const after = view.path[k + 1];
      const crumb = buttonOf(name, "", () => after && !after.player ? go(step.node) : go(to));
      if (isCard) crumb.classList.add(`suit-${step.text[1]}`);
      if (k === view.path.length - 1) crumb.setAttribute("aria-current", "step");
      parts.push(crumb);
    });
    crumbs.replaceChildren(...parts);
    const seat = SPOT_PLAYERS.indexOf(view.player), css = actionsCss(view);
    const weights = view.combos.map((_, hand) => view.weight[hand][seat]), total = weights.reduce((a, b) => a + b, 0);
    actions.replaceChildren(...view.actions.map((action, a) => {
      const share = total ? weights.reduce((sum, weight, hand) => sum + (weight ? weight * view.strategy[hand][a] : 0), 0) / total : null;
      let pairs = 0, ev = 0;
      view.combos.forEach((_, hand) => {
        const taken = (view.pairs[hand][seat] || 0) * (view.strategy[hand][a] || 0);
        if (taken && view.action_ev[hand][a] !== null) { pairs += taken; ev += taken * view.action_ev[hand][a]; }
      });
      const button = buttonOf("", "", () => action.next === "cards" ? deal(action) : go(`${view.node} ${action.word}`.trim()));
      button.className = "action";
      button.dataset.word = action.word;
      button.disabled = action.next === "fold" || action.next === "showdown";
      const end = { fold: "ends the hand", showdown: "showdown", cards: "deals a card", decision: "" }[action.next];
      button.append(make("i", css[a]), make("span", "action-name", action.text), make("span", "action-figure", `${percent(share)} · EV ${pairs && share > 0.0005 ? chipsText(ev / pairs) : "–"}`), make("span", "action-end", end));
      return button;
    }));
  }

  function deal(action) {
    const node = view.node, board = view.board.match(/../g), street = ["", "", "", "turn", "river"][board.length], cards = new Map(), found = [];
    const seat = SPOT_PLAYERS.indexOf(view.player), grid = make("div", "card-map");
    const said = make("p", "remark", `Choose the ${street}. Cards are coloured as their EVs come in.`);
    for (const suit of "shdc") for (const rank of [...HOLE.RANKS].reverse()) {
      const card = buttonOf("", `${rank} of ${SUIT_NAMES[suit]}`, () => go(`${node} ${action.word} ${rank + suit}`.trim()));
      card.className = `card-button suit-${suit}`;
      card.disabled = board.includes(rank + suit);
      card.append(make("span", "", rank), make("span", "", SUITS[suit]), make("small"));
      cards.set(rank + suit, card);
      grid.append(card);
    }
    const colour = () => {
      const evs = found.map(({ ev }) => ev[seat]).filter((ev) => ev !== null), low = Math.min(...evs), span = Math.max(1e-9, Math.max(...evs) - low);
      for (const { card, ev } of found) {
        const button = cards.get(card);
        if (ev[seat] === null) continue;
        const part = (100 * (ev[seat] - low) / span).toFixed(0);
        button.style.backgroundColor = `color-mix(in srgb, color-mix(in srgb, var(--c3) ${part}%, var(--c2)) 32%, var(--card))`;
        button.lastChild.textContent = number(ev[seat], Math.abs(ev[seat]) < 100 ? 1 : 0);
        button.setAttribute("aria-label", `${card[0]} of ${SUIT_NAMES[card[1]]}: EV ${chipsText(ev[0])} OOP, ${chipsText(ev[1])} IP`);
      }
      said.textContent = `Choose the ${street}. The figures are ${SPOT_NAMES[view.player]}’s EVs${found.length + board.length < 52 ? "; more are coming" : ""}.`;
    };
    dealing = { node, word: action.word, hear: (event) => { found.push(event); colour(); } };
    map.replaceChildren(said, grid);
    tell("cards", { node, word: action.word }).catch((error) => { said.textContent = error.message; });
    grid.querySelector("button:not(:disabled)").focus();
  }

  return {
    box,
    show,
    hear(event) { if (dealing && event.node === dealing.node && event.word === dealing.word) dealing.hear(event); },
  };
};
