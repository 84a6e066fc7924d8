"use strict";
// The spot that is to be solved, as a form. `tell(kind, fields)` asks the desk; `changed()` is called after changes.
const spotForm = (tell, changed) => {
  const STREETS = ["flop", "turn", "river"], PLAYERS = ["oop", "ip"], NAMES = { oop: "OOP", ip: "IP" };
  let spot = null;  // in the form of a spot's file
  const box = make("div", "spot-form");

  // Board
  const slots = make("div", "spot-board"), picker = make("details", "picker"), map = make("div", "card-map");
  const cardButtons = new Map();
  for (const suit of "shdc") for (const rank of [...HOLE.RANKS].reverse()) {
    const card = buttonOf("", `${rank} of ${SUIT_NAMES[suit]}`, () => toggle(rank + suit));
    card.className = `card-button suit-${suit}`;
    card.append(make("span", "", rank), make("span", "", SUITS[suit]));
    cardButtons.set(rank + suit, card);
    map.append(card);
  }
  picker.append(make("summary", "", "Choose cards"), map);
  const boardCards = () => spot.board.match(/[2-9TJQKA][cdhs]/g) || [];
  function toggle(card) {
    const cards = boardCards(), place = cards.indexOf(card);
    if (place >= 0) cards.splice(place, 1); else if (cards.length < 5) cards.push(card);
    spot.board = cards.join(" ");
    showBoard();
    showSizes();
    changed();
  }
  function showBoard() {
    const cards = boardCards();
    for (const [card, button] of cardButtons) {
      button.setAttribute("aria-pressed", cards.includes(card));
      button.disabled = cards.length > 4 && !cards.includes(card);
    }
    const shown = cards.map((card) => {
      const face = buttonOf("", `Take ${card[0]} of ${SUIT_NAMES[card[1]]} off the board`, () => toggle(card));
      face.className = `card-face-button suit-${card[1]}`;
      face.append(make("span", "", card[0]), make("span", "", SUITS[card[1]]));
      return face;
    });
    while (shown.length < 5) shown.push(make("span", "card-empty", shown.length < 3 ? "flop" : shown.length < 4 ? "turn" : "river"));
    slots.replaceChildren(...shown);
  }

  // Chips, and when to stop
  const chips = make("div", "fields"), inputs = {};
  const addField = (place, key, label, hint, read) => {
    const name = make("label", "", label), input = make("input");
    input.id = `spot-${key}`;
    input.autocomplete = "off";
    input.title = hint;
    input.inputMode = "decimal";
    name.htmlFor = input.id;
    const part = make("div", "chip-field");
    part.append(name, input);
    place.append(part);
    inputs[key] = input;
    input.addEventListener("input", () => { read(input.value.trim()); changed(); });
  };
  const whole = (text) => /^\d+$/.test(text) ? Number(text) : text;
  addField(chips, "pot", "Pot", "chips in the middle", (text) => { spot.pot = whole(text); });
  addField(chips, "stacks", "Stacks", "chips left: one number, or one for OOP and one for IP", (text) => {
    const parts = text.split(/[\s,]+/).map(whole);
    spot.stacks = parts.length > 1 ? parts : parts[0];
  });
  addField(chips, "target", "Stop at, % of the pot", "exploitability at which solving ends", (text) => { spot.solve = { ...spot.solve, target_pct: Number(text) }; });
  addField(chips, "seconds", "At most, s", "time limit; empty for none", (text) => {
    const { max_seconds, ...rest } = spot.solve;
    spot.solve = text ? { ...rest, max_seconds: Number(text) } : rest;
  });

  // Ranges
  const editors = {}, tabs = make("div", "tabs"), places = make("div");
  tabs.setAttribute("role", "group");
  tabs.setAttribute("aria-label", "Player whose range is shown");
  for (const player of PLAYERS) {
    editors[player] = rangeEditor(player, `${NAMES[player]} range`, tell, (text) => { spot[player] = text; changed(); });
    tabs.append(buttonOf(`${NAMES[player]} range`, "", () => choose(player)));
    places.append(editors[player].box);
  }
  function choose(player) {
    PLAYERS.forEach((each, k) => {
      tabs.children[k].setAttribute("aria-pressed", each === player);
      editors[each].box.hidden = each !== player;
    });
  }
  const blueprint = blueprintRanges(tell, (ranges, pot, stacks) => {
    for (const player of PLAYERS) if (ranges[player] !== undefined) { spot[player] = ranges[player]; editors[player].set(ranges[player]); choose(player); }
    if (pot) { spot.pot = pot; spot.stacks = stacks; showChips(); }
    changed();
  });

  // Sizes: a row for each street and player; the same row serves both players while they have the same sizes
  const sizes = make("div", "spot-sizes"), both = make("label", "check"), shared = make("input");
  shared.type = "checkbox";
  both.append(shared, document.createTextNode(" the same sizes for both players"));
  shared.addEventListener("change", () => {
    for (const street of STREETS) {
      const table = spot.bets[street];
      if (!table) continue;
      if (shared.checked) spot.bets[street] = "oop" in table || "ip" in table ? { ...(table.oop || table.ip) } : table;
      else if (!("oop" in table) && !("ip" in table)) spot.bets[street] = { oop: { ...table }, ip: { ...table } };
    }
    showSizes();
    changed();
  });
  function showSizes() {
    const first = Math.max(0, boardCards().length - 3);
    const rows = STREETS.slice(first).flatMap((street) => (shared.checked ? [""] : PLAYERS).map((player) => {
      const row = make("div", "size-row"), name = `${street}${player ? ` ${NAMES[player]}` : ""}`;
      row.append(make("span", "street-name", name));
      for (const kind of ["bet", "raise"]) {
        const input = make("input"), table = spot.bets[street] || {}, own = player ? table[player] || {} : table;
        input.value = Array.isArray(own[kind]) ? own[kind].join("; ") : own[kind] || "";
        input.placeholder = "none";
        input.autocomplete = "off";
        input.spellcheck = false;
        input.dataset.kind = kind;
        input.setAttribute("aria-label", `${name}: sizes of ${kind === "bet" ? "the first bet" : "raises"}`);
        input.addEventListener("input", () => {
          const parts = input.value.split(";").map((part) => part.trim());
          const text = kind === "raise" && parts.length > 1 ? parts : input.value.trim();
          const before = spot.bets[street] || {};
          spot.bets[street] = player ? { ...before, [player]: { ...(before[player] || {}), [kind]: text } } : { ...before, [kind]: text };
          changed();
        });
        row.append(input);
      }
      return row;
    }));
    const head = make("div", "size-row size-head");
    head.append(make("span", "", ""), make("span", "", "bet"), make("span", "", "raise"));
    sizes.replaceChildren(head, ...rows);
  }

  // Locks
  const locks = make("ul", "locks");
  function showLocks() {
    locks.replaceChildren(...Object.keys(spot.lock).map((name) => {
      const entry = make("li");
      entry.append(make("span", "", name || "first decision"), buttonOf("Unlock", `Unlock ${name || "the first decision"}`, () => {
        delete spot.lock[name];
        showLocks();
        changed();
      }));
      return entry;
    }));
    lockPart.hidden = !Object.keys(spot.lock).length;
  }

  function showChips() {
    inputs.pot.value = spot.pot;
    inputs.stacks.value = Array.isArray(spot.stacks) ? spot.stacks.join(" ") : spot.stacks;
    inputs.target.value = spot.solve.target_pct ?? 0.5;
    inputs.seconds.value = spot.solve.max_seconds ?? "";
  }

  const part = (title, ...nodes) => { const piece = make("div", "part"); piece.append(make("h3", "", title), ...nodes); return piece; };
  const lockPart = part("Locked nodes", locks);
  box.append(part("Board", slots, picker), part("Chips", chips), part("Ranges", tabs, places, blueprint),
    part("Bet sizes", sizes, both, make("p", "remark", "Shares of the pot, as 50% or 0.5p, and allin. A semicolon separates the first raise from later ones.")), lockPart);

  return {
    box,
    get: () => structuredClone(spot),
    set(table) {
      spot = structuredClone(table);
      spot.lock ||= {};
      spot.bets ||= {};
      spot.solve ||= {};
      shared.checked = STREETS.every((street) => !("oop" in (spot.bets[street] || {})) && !("ip" in (spot.bets[street] || {})));
      showBoard();
      picker.open = boardCards().length < 3;
      showChips();
      showSizes();
      showLocks();
      for (const player of PLAYERS) editors[player].set(spot[player]);
      choose("oop");
    },
    lock(name, table) { spot.lock[name] = table; showLocks(); changed(); },
  };
};
const SUIT_NAMES = { c: "clubs", d: "diamonds", h: "hearts", s: "spades" };

// Ranges of a bundled blueprint before the flop: a line of actions is clicked, and a seat's hands are taken.
const blueprintRanges = (tell, take) => {
  const box = make("details", "blueprint"), place = make("div");
  let name = "headsup-refined", line = [];
  box.append(make("summary", "", "Take from a blueprint"), place);
  box.addEventListener("toggle", () => { if (box.open && !place.childElementCount) walk([]); });
  const bb = (word, big) => word === "f" ? "fold" : word === "c" ? "call" : `raise to ${number(Number(word.slice(1)) / big, 1).replace(/\.0$/, "")} bb`;

  async function walk(to) {
    place.replaceChildren(make("p", "remark", "The blueprint is being read …"));
    let found;
    try {
      found = await tell("preflop", { blueprint: name, line: to });
    } catch (error) {
      place.replaceChildren(make("p", "remark wrong", error.message));
      return;
    }
    line = found.line;
    const big = 100, choice = make("select");
    choice.setAttribute("aria-label", "Blueprint");
    for (const each of found.blueprints) { const option = make("option", "", each); option.selected = each === name; choice.append(option); }
    choice.addEventListener("change", () => { name = choice.value; walk([]); });
    const steps = make("div", "crumbs");
    steps.append(buttonOf("start", "Back to the blinds", () => walk([])), ...line.map((word, k) => buttonOf(bb(word, big), `Back to after ${bb(word, big)}`, () => walk(line.slice(0, k + 1)))));
    const rows = make("div", "takes");
    const offer = (text, range) => {
      const row = make("div", "take");
      row.append(make("span", "", text), buttonOf("as OOP", `Take as the OOP range: ${text}`, () => take({ oop: range })), buttonOf("as IP", `Take as the IP range: ${text}`, () => take({ ip: range })));
      if (range) rows.append(row);
    };
    if (found.actor >= 0) {
      const who = found.positions[found.actor], next = make("div", "actions");
      found.actions.forEach((word, k) => next.append(buttonOf(`${bb(word, big)} ${percent(found.frequencies[k])}`, `${who}: ${bb(word, big)}`, () => walk([...line, word]))));
      place.replaceChildren(choice, steps, make("p", "", `${who} to act:`), next, rows);
      const isFirstIn = !line.some((word) => word[0] === "r");
      offer(`${who} ${isFirstIn ? "raises first in" : "raises again"}`, found.raises);
      found.actions.forEach((word, k) => { if (word !== "f") offer(`${who}: ${bb(word, big)}`, found.choices[k]); });
    } else {
      place.replaceChildren(choice, steps, make("p", "", "The flop is dealt."), rows);
      const [first, second] = found.players;
      if (found.players.length) {
        const pot = found.contributions.reduce((a, b) => a + b, 0);
        place.append(buttonOf("Take both ranges, pot and stacks", "", () => take({ oop: found.ranges[first], ip: found.ranges[second] }, pot, [found.stacks[first], found.stacks[second]])));
      } else place.append(make("p", "remark", "A spot needs two players with chips left."));
    }
    found.positions.forEach((position, seat) => { if (!found.folded[seat] && seat !== found.actor && line.length) offer(`${position}, as it came here`, found.ranges[seat]); });
  }
  return box;
};
