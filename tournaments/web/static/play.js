"use strict";
// The lobby: a new table, tables that are open, and earlier sessions.
const lobby = (() => {
  const HELP = { off: "none", after: "strategies after the hand", range: "ranges while I think", advice: "ranges and advice" };
  const PACES = { "at once": "at once", quick: "0.3 s between actions", calm: "1 s between actions" };
  const content = document.getElementById("content"), title = document.getElementById("title");
  const KEPT = "plurispiel-lobby";

  const selectOf = (options, names = {}) => {
    const select = make("select");
    for (const value of options) {
      const option = make("option", "", names[value] || value);
      option.value = value;
      select.append(option);
    }
    return select;
  };
  const fieldOf = (label, control, note) => {
    const box = make("label", "field");
    box.append(make("span", "", label), control);
    if (note) box.append(make("small", "", note));
    return box;
  };
  const inputOf = (mode) => {
    const input = make("input");
    input.inputMode = mode;
    input.autocomplete = "off";
    return input;
  };
  const choose = (select, value) => { if ([...select.options].some((option) => option.value === value)) select.value = value; };

  function show() {
    title.textContent = document.title = "Play";
    const parts = make("div");
    content.replaceChildren(parts);
    let ended = false;
    ask("/api/lobby").then((found) => {
      if (!ended) parts.replaceChildren(...openOf(found), formOf(found), ...sessionsOf(found));
    }, (error) => { if (!ended) notice(error.message); });
    parts.append(make("p", "remark", "The lobby is being opened …"));
    return () => { ended = true; };
  }

  const enter = (session) => { location.hash = `#table=${session}`; };

  function openOf(found) {
    if (!found.open.length) return [];
    const row = make("div", "row");
    for (const session of found.open) row.append(buttonOf(`Table ${session}`, `Back to table ${session}`, () => enter(session)));
    return [sectionOf("Open tables", "Your hand is where you left it.", row)];
  }

  function formOf(found) {
    let kept = {};
    try { kept = JSON.parse(localStorage.getItem(KEPT)) || {}; } catch { /* begin with the usual choices */ }
    const form = make("form", "choices-form"), said = make("p", "remark"), sit = make("button", "primary", "Sit down");
    const game = selectOf(found.games.map((each) => each.key), Object.fromEntries(found.games.map((each) => [each.key, each.title])));
    const seats = make("select"), stack = inputOf("numeric"), seed = inputOf("numeric");
    const pace = selectOf(found.paces, PACES), assist = selectOf(found.assists, HELP), adviser = make("select");
    const rivals = make("fieldset", "rivals"), table = make("fieldset"), rest = make("fieldset");
    choose(game, kept.game);
    pace.value = "quick";
    choose(pace, kept.pace);
    choose(assist, kept.assist);
    seed.placeholder = "secret";
    const stackField = fieldOf("Stacks, in big blinds", stack);
    table.append(make("legend", "", "Table"), fieldOf("Game", game), fieldOf("Seats, with yours", seats), stackField);
    rest.append(make("legend", "", "While you play"), fieldOf("Pace of the agents", pace), fieldOf("Help", assist, "Hands with help during the hand are counted apart."),
      fieldOf("Adviser", adviser), fieldOf("Seed of the cards", seed, "Empty: nobody knows the cards."));
    const chosen = () => found.games.find((each) => each.key === game.value);
    const place = () => chosen().seats.indexOf(Number(seats.value));
    const refill = (select, options, value) => {
      select.replaceChildren(...selectOf(options).children);
      choose(select, value);
    };
    function fillSeats() {
      refill(seats, chosen().seats.map(String), seats.value || String(kept.seats));
      fillAgents();
    }
    function fillAgents() {
      const one = chosen(), k = place(), before = [...rivals.querySelectorAll("select")].map((select) => select.value);
      const old = before.length ? before : kept.agents || [];
      rivals.replaceChildren(make("legend", "", "Opponents, clockwise"));
      for (let seat = 1; seat < Number(seats.value); seat++) {
        const select = selectOf(one.agents[k]);
        choose(select, one.usual[k]);
        choose(select, old[seat - 1]);
        rivals.append(fieldOf(`Seat ${seat + 1}`, select));
      }
      refill(adviser, one.agents[k], one.usual[k]);
      choose(adviser, kept.adviser);
      stack.value = one.stacks[k] || "";
      stackField.hidden = !one.stacks[k];
    }
    game.addEventListener("change", fillSeats);
    seats.addEventListener("change", fillAgents);
    fillSeats();
    said.setAttribute("role", "status");
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const usual = chosen().stacks[place()], wanted = Number(stack.value);
      const message = { game: game.value, seats: Number(seats.value), stack: usual && wanted !== usual ? wanted : 0,
        agents: [...rivals.querySelectorAll("select")].map((select) => select.value), seed: seed.value.trim(), pace: pace.value, assist: assist.value, adviser: adviser.value };
      localStorage.setItem(KEPT, JSON.stringify(message));
      await open(sit, said, "/api/sit", message);
    });
    const foot = make("div", "row");
    foot.append(sit, said);
    form.append(table, rivals, rest, foot);
    return sectionOf("New table", "", form);
  }

  // Asks for a table, and goes there.
  async function open(button, said, path, message) {
    button.disabled = true;
    said.textContent = "The agents take their seats …";
    const slow = setTimeout(() => { said.textContent += " An agent’s first game on a machine begins after a minute or two, in which its kernels are compiled."; }, 6000);
    try {
      enter((await ask(path, message)).session);
    } catch (error) {
      said.textContent = error.message;
      button.disabled = false;
    } finally {
      clearTimeout(slow);
    }
  }

  const rate = (mean, half) => mean === null ? "–" : `${signed(mean)} ${halfWidth(half)}`;

  function sessionsOf(found) {
    if (!found.sessions.length) return [];
    const said = make("p", "remark");
    said.setAttribute("role", "status");
    const rows = found.sessions.map((one) => {
      const when = new Date(1000 * one.begun).toLocaleString("en", { dateStyle: "medium", timeStyle: "short" });
      const game = found.games.find((each) => each.key === one.sit.game);
      const result = one.result.unaided, buttons = make("span", "row");
      buttons.append(
        buttonOf("Continue", `Continue session ${one.session}`, (event) => open(event.currentTarget, said, "/api/continue", { session: one.session })),
        buttonOf("Export", `Export the hands of session ${one.session}`, () => save(one.session, said)));
      const hands = number(one.hands) + (one.assisted ? ` (${number(one.assisted)} with help)` : "") + (one.void ? `, ${number(one.void)} void` : "");
      return [String(one.session), when, `${game ? game.title : one.sit.game}, ${one.sit.seats} seats`, one.sit.agents.join(", "), hands,
        result ? rate(result.mbb_per_hand, result.ci95) : "–", result ? rate(result.aivat_mbb_per_hand, result.aivat_ci95) : "–", buttons];
    });
    const note = "mbb/hand with the half-width of a 95 % interval, without hands in which you had help. A void hand was not over when its table ended, and does not count.";
    return [sectionOf("Sessions", note, tableOf("Sessions", ["session", "begun", "game", "opponents", "hands", "won", "luck removed (AIVAT)", ""], rows, 5), said)];
  }

  async function save(session, said) {
    try {
      const { name, text } = await ask("/api/export", { session });
      const link = make("a");
      link.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
      link.download = name;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
      said.textContent = `The hands are saved as ${name}; plurispiel replay reads them.`;
    } catch (error) {
      said.textContent = error.message;
    }
  }

  return { show, HELP, PACES, selectOf, fieldOf };
})();
