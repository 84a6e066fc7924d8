"use strict";
// The advisers beside a hand: a row of them, the strategy of the one that is chosen, and the list of decisions.
// The server computes; a page says of which hand it wants which decisions, and in what order.
const advisersOf = (data, leaving) => {
  const ADVISERS = { blueprint: "Blueprint", search: "Search", continual: "Continual", spot: "Exact spot" };
  const ABOUT = {
    own: "The strategy that the agent itself has told.",
    blueprint: "The bundled blueprint that fits the table.",
    search: "The blueprint, with a search of the street by the time chosen.",
    continual: "Continual re-solving: heads-up hold’em from the flop on, and small games.",
    spot: "A turn or river of two players, solved exactly from the ranges that the blueprint would hold. It knows EVs.",
  };
  const STREETS = ["Preflop", "Flop", "Turn", "River"];
  const known = new Map();  // answers by hand, adviser, seconds and decision
  const asked = {};  // the question that the server has of each adviser
  const tellsOwn = data.hands.some((of) => of.steps.some((one) => one.grid));
  let chosen = tellsOwn ? "own" : "blueprint", seconds = 5, wantsAll = "";
  let hand = 0, step = 0, go = () => {}, again = () => {};

  const bar = make("div", "advisers"), cards = {};
  bar.setAttribute("role", "group");
  bar.setAttribute("aria-label", "Advisers");
  for (const [name, title] of [...(tellsOwn ? [["own", "Own strategy"]] : []), ...Object.entries(ADVISERS)]) {
    const card = buttonOf("", "", () => { chosen = name; wantsAll = ""; update(); again(); });
    card.className = "adviser";
    card.title = ABOUT[name];
    card.append(make("span", "adviser-name", title), make("span", "adviser-share"), make("span", "adviser-lost"));
    cards[name] = card;
    bar.append(card);
  }
  const time = make("select"), timed = make("label", "inline adviser-time", "Time ");
  for (const each of [1, 2, 5, 10, 30, 60]) {
    const option = make("option", "", `${each} s`);
    option.value = each;
    option.selected = each === seconds;
    time.append(option);
  }
  time.addEventListener("change", () => { seconds = Number(time.value); update(); again(); });
  timed.append(time);
  bar.append(timed);

  const list = make("div", "decisions");
  const end = listen("/advise", null, hear);
  leaving.addEventListener("abort", end);

  const secondsOf = (name) => name === "blueprint" ? 1 : seconds;
  const keyOf = (name, decision, at = secondsOf(name)) => [hand, name, at, decision].join(" ");
  const answerOf = (name, decision) => known.get(keyOf(name, decision));
  const stepsOf = (of) => of.steps.flatMap((one, k) => one.kind === "action" ? [k] : []);  // the step of each decision

  // The decision of a step: its own, or the last one before it; -1 if there is none.
  const decisionAt = (of, k) => stepsOf(of).filter((each) => each <= k).length - 1;

  function look(newHand, newStep, newGo, newAgain) {
    if (newHand !== hand) wantsAll = "";
    [hand, step, go, again] = [newHand, newStep, newGo, newAgain];
    update();
  }

  function hear(said) {
    if (said.type === "ready") { Object.values(asked).forEach(end.send); return; }  // also when the socket was lost
    const key = [said.hand, said.adviser, said.seconds, said.decision].join(" ");
    if (said.type === "thinking") known.set(key, { isThinking: true });
    else {
      known.set(key, said);
      const question = asked[said.adviser];
      if (question && question.hand === said.hand) question.decisions = question.decisions.filter((each) => each !== said.decision);
    }
    update();
    if (said.adviser === chosen && Number(said.hand) === hand && said.decision === decisionAt(data.hands[hand], step)) again();
  }

  function wanted(name) {
    const of = data.hands[hand], count = stepsOf(of).length, here = Math.max(0, decisionAt(of, step));
    const all = [here, ...Array.from({ length: count }, (_, k) => k).filter((k) => k !== here)];
    const decisions = name === "blueprint" || (name === chosen && (name === "spot" || wantsAll === name)) ? all : name === chosen ? [here] : [];
    return decisions.filter((each) => each < count && !isAnswered(name, each));
  }
  const isAnswered = (name, decision) => { const found = answerOf(name, decision); return found && !found.isThinking; };

  function ask() {
    const of = data.hands[hand];
    for (const name of Object.keys(ADVISERS)) {
      const question = {
        adviser: name, seconds: secondsOf(name), hand: String(hand), game: data.games[of.run],
        actions: of.steps.filter((one) => one.kind === "action").map((one) => one.action),
        cards: of.cards.map((each) => each.join("")), board: of.board.join(""), decisions: wanted(name),
      };
      if (JSON.stringify(question) === JSON.stringify(asked[name]) || (!asked[name] && !question.decisions.length)) continue;
      const first = question.decisions.length ? keyOf(name, question.decisions[0]) : "";
      for (const [key, found] of known) if (found.isThinking && key !== first && key.split(" ")[1] === name) known.delete(key);
      asked[name] = question;
      end.send(question);
    }
  }

  function update() {
    ask();
    const of = data.hands[hand], decision = decisionAt(of, step);
    for (const [name, card] of Object.entries(cards)) {
      card.setAttribute("aria-pressed", String(name === chosen));
      const [share, lost] = name === "own" ? ownWords(of) : wordsOf(answerOf(name, decision), asked[name]?.decisions.includes(decision));
      card.children[1].textContent = share;
      card.children[2].textContent = lost;
    }
    showList(of, decision);
  }

  function ownWords(of) {
    const grid = of.steps[step].grid;
    return [grid ? percent(grid.own ? grid.own[grid.played] : grid.totals[grid.played]) : "–", ""];
  }

  const chips = (value) => number(value, Math.abs(value) < 10 ? 2 : 1).replace("-", "−");
  function wordsOf(found, isAsked) {
    if (!found) return [isAsked ? "…" : "–", isAsked ? "waiting" : ""];
    if (found.isThinking) return ["…", "thinking"];
    if (!found.advice) return ["–", "no advice"];
    return [shareOf(found.advice), found.advice.lost === null || found.advice.lost === undefined ? "" : `lost ${chips(found.advice.lost)} bb`];
  }
  const shareOf = (advice) => advice.frequency !== null ? percent(advice.frequency) : `range ${percent(advice.range_frequency)}`;

  // The strategy of the chosen adviser, as the viewer takes it; null for the agent's own.
  function panel(atHand, atStep) {
    const of = data.hands[atHand], decision = decisionAt(of, atStep);
    if (chosen === "own") return null;
    const title = ADVISERS[chosen];
    if (decision < 0) return [[make("p", "empty", `Step forward (→) to the first decision: ${title} is asked there.`)], []];
    const k = stepsOf(of)[decision], one = of.steps[k], found = answerOf(chosen, decision);
    const held = of.cards[one.seat].map(cardsText).join(" ");
    const head = make("p", "range-head");
    head.append(make("strong", "", title), document.createTextNode(` as ${of.positions[one.seat]}${held ? ` with ${held}` : ""}; played: ${one.text}`));
    if (!found || found.isThinking) return [[head, make("p", "empty", chosen === "blueprint" ? "A moment …" : `${title} is thinking for up to ${seconds} s …`)], []];
    if (!found.advice) return [[head, make("p", "empty", found.trouble[0].toUpperCase() + found.trouble.slice(1) + ".")], []];
    const advice = found.advice;
    const [svg, readout] = drawGrid(advice.grid, data.cells[of.run], data.across[of.run], `Strategy of ${title}`, k !== atStep);
    const below = [choicesOf(advice.grid, held, advice.evs && advice.evs.map(chips))];
    const lines = [];
    if (advice.remark) lines.push(make("p", "remark", advice.remark));
    if (advice.lost !== null && advice.lost !== undefined)
      lines.push(make("p", "remark", `The action played lost ${chips(advice.lost)} bb against the best one, if both play on by this solution (exploitability ${chips(advice.accuracy)} bb).`));
    if (advice.words) {
      const more = make("details", "texts");
      more.append(make("summary", "", "How this was found"), make("pre", "", advice.words));
      lines.push(more);
    }
    return [[head, svg, readout], [...below, ...lines]];
  }

  function showList(of, here) {
    const steps = stepsOf(of);
    const names = Object.keys(ADVISERS).filter((name) => name === "blueprint" || name === chosen || steps.some((_, k) => answerOf(name, k)?.advice));
    const lostOf = (k) => answerOf("spot", k)?.advice?.lost ?? null;
    const order = steps.map((_, k) => k).sort((a, b) => (lostOf(b) ?? -1) - (lostOf(a) ?? -1) || a - b);
    const held = list.contains(document.activeElement) ? document.activeElement.dataset.decision : null;
    const rows = order.map((k) => {
      const one = of.steps[steps[k]];
      const link = buttonOf(`${STREETS[one.street] || `Street ${one.street + 1}`}: ${of.positions[one.seat]} ${one.text}`, "", () => go(steps[k]));
      link.className = "decision";
      link.dataset.decision = k;
      if (k === here) link.setAttribute("aria-current", "step");
      const lost = lostOf(k);
      return [link, ...names.map((name) => wordsOf(answerOf(name, k), false)[0]), lost === null ? "–" : `${chips(lost)} bb`];
    });
    const note = make("p", "remark", "How often each adviser takes the action that was played"
      + (of.cards.some((each) => !each.length) ? " (with the whole range where the hand is not known)" : "")
      + ". EV lost is known where the exact spot is: on turns and rivers that two players begin. The largest loss stands first.");
    const parts = [make("h3", "", "Decisions"), note, tableOf("Decisions", ["decision", ...names.map((name) => ADVISERS[name]), "EV lost"], rows)];
    if (chosen === "search" || chosen === "continual") {
      const more = buttonOf(wantsAll === chosen ? "Stop" : `Ask ${ADVISERS[chosen]} about every decision`, "", () => { wantsAll = wantsAll ? "" : chosen; update(); });
      more.dataset.decision = "all";
      parts.push(more);
    }
    list.replaceChildren(...parts);
    if (held !== null) list.querySelector(`[data-decision="${held}"]`)?.focus();
  }

  return { bar, list, look, panel };
};
