"use strict";
// A person plays hands of the solved spot against the solution; each decision shows the EV that it lost.
const spotPlay = (tell) => {
  const box = make("section", "spot-play"), seat = make("select"), start = buttonOf("Deal a hand", "", () => ask("deal", { seat: seat.value }));
  const table = make("div"), told = make("p", "remark"), sums = { hands: 0, won: 0, lost: 0 };
  seat.setAttribute("aria-label", "Your seat");
  for (const [value, text] of [["random", "either seat"], ["oop", "out of position"], ["ip", "in position"]]) { const option = make("option", "", text); option.value = value; seat.append(option); }
  told.setAttribute("role", "status");
  const bar = make("div", "actions");
  bar.append(seat, start);
  box.append(make("h2", "", "Play this spot"), make("p", "note", "You hold a hand of one range, the solution plays the other. EV lost: the EV of the best action with your hand, less that of yours."), bar, told, table);
  let isAsking = false;
  async function ask(kind, fields) {
    if (isAsking) return;  // an action is taken once
    isAsking = true;
    try {
      show(await tell(kind, fields));
    } catch (error) {
      told.textContent = error.message;
    }
    isAsking = false;
  }
  const cards = (text) => { const line = make("span", "cards-line"); for (const card of text.match(/../g) || []) line.append(make("span", `hand-card suit-${card[1]}`, cardsText(card))); return line; };
  function show(hand) {
    const lines = make("ol", "lines"), actions = make("div", "actions");
    for (const line of hand.lines) lines.append(make("li", "", line.player ? `${line.player === hand.seat ? "You" : SPOT_NAMES[line.player]}: ${line.text}` : cardsText(line.text)));
    for (const action of hand.actions) { const button = buttonOf(action.text, "", () => ask("act", { word: action.word })); button.dataset.word = action.word; actions.append(button); }
    const facts = make("p", "facts");
    facts.append(`You are ${SPOT_NAMES[hand.seat]} with `, cards(hand.hand), " on ", cards(hand.board), `, pot ${number(hand.pot)}`);
    const rows = hand.decisions.map((decision) => {
      const best = decision.ev.reduce((k, ev, a) => ev !== null && (decision.ev[k] === null || ev > decision.ev[k]) ? a : k, 0);
      const taken = decision.actions.findIndex(({ word }) => word === decision.word);
      return [decision.actions[taken].text, percent(decision.frequencies[taken]), chipsText(decision.ev[taken]), `${decision.actions[best].text}: ${chipsText(decision.ev[best])}`, decision.lost === null ? "–" : number(decision.lost, 2)];
    });
    table.replaceChildren(facts, lines, actions);
    if (rows.length) table.append(tableOf("Your decisions", ["you", "solution", "EV", "best EV", "EV lost"], rows));
    if (hand.end) {
      sums.hands += 1;
      sums.won += hand.end.won;
      sums.lost += hand.decisions.reduce((sum, { lost }) => sum + (lost || 0), 0);
      told.textContent = `${hand.end.folded ? (hand.end.folded === hand.seat ? "You folded" : "The solution folded") : "Showdown"}; the solution held ${cardsText(hand.end.shown)}. Your share of the pot less your bets: ${chipsText(hand.end.won)}. `
        + `In ${sums.hands} ${sums.hands === 1 ? "hand" : "hands"}: ${chipsText(sums.won)}, EV lost ${number(sums.lost, 2)}.`;
      start.textContent = "Deal the next hand";
    } else told.textContent = "Your turn.";
    (actions.firstChild || start).focus();
  }
  return { box, clear() { table.replaceChildren(); told.textContent = ""; start.textContent = "Deal a hand"; } };
};
