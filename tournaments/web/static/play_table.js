"use strict";
// A table: the server pushes whole views, and this page shows the latest one. Every move names the view that it answers.
const playTable = (() => {
  const KEYS = [["f", "fold"], ["c", "check or call"], ["r", "choose an amount"], ["1 2 3", "half the pot, the pot, all-in"], ["↑ ↓ ← →", "a big blind more or less"],
    ["Enter", "bet or raise the chosen amount; next hand"], ["?", "this list"]];
  const RANKS = { 2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine", T: "ten", J: "jack", Q: "queen", K: "king", A: "ace" };
  const SUIT_NAMES = { c: "clubs", d: "diamonds", h: "hearts", s: "spades" };
  const spoken = (cards) => cards.map((card) => `${RANKS[card[0]]} of ${SUIT_NAMES[card[1]]}`).join(", ");
  const chips = (value) => Number.isInteger(value) ? number(value) : number(value, 2);
  const net = (value) => (value > 0 ? "+" : value < 0 ? "−" : "±") + chips(Math.abs(value));

  function show(session) {
    const title = document.getElementById("title");
    title.textContent = document.title = `Table ${session}`;
    let facts = null, view = null, amount = null, isArmed = false, isWaiting = false, isLost = false, lostText = "", reviewed = null, isReviewOpen = false;
    let leavingReview = new AbortController();
    const leaving = new AbortController();

    // The parts of the page are made once, so that the focus stays where it is.
    const picture = make("div", "felt-place"), caption = make("p", "turn"), heard = make("p", "unseen"), trouble = make("p", "trouble");
    heard.setAttribute("role", "status");
    trouble.setAttribute("role", "alert");
    const fold = keyed("f", () => act("f")), call = keyed("c", () => act("c")), raise = keyed("r ↵", () => raiseTo());
    const next = keyed("Enter", () => send("next", ""));
    next.classList.add("primary");
    const field = make("input", "amount"), slider = make("input", "slider"), marks = make("div", "row marks");
    field.inputMode = "numeric";
    field.autocomplete = "off";
    field.setAttribute("aria-label", "Amount to bet or raise to, in chips of this street");
    slider.type = "range";
    slider.min = 0;
    slider.max = 1000;
    slider.setAttribute("aria-label", "Amount");
    const sizes = make("div", "sizes"), recap = make("p", "recap"), moves = make("div", "moves"), controls = make("div", "controls");
    sizes.append(slider, field, marks);
    moves.append(fold, call, raise, next);
    controls.setAttribute("role", "group");
    controls.setAttribute("aria-label", "Your action");
    controls.append(trouble, caption, sizes, recap, moves);
    const assist = lobby.selectOf(Object.keys(lobby.HELP), lobby.HELP), pace = lobby.selectOf(Object.keys(lobby.PACES), lobby.PACES);
    assist.addEventListener("change", () => send("assist", assist.value));
    pace.addEventListener("change", () => send("pace", pace.value));
    const keys = keysOf(), bar = make("div", "table-bar"), head = make("div", "table-head"), game = make("p", "note");
    const leave = buttonOf("Leave", "Leave the table", () => leaveTable());
    head.append(game, buttonOf("Keys ?", "Keys, a list", () => keys.showModal()), leave);
    bar.append(lobby.fieldOf("Help", assist), lobby.fieldOf("Pace", pace));
    const help = make("section", "help"), luck = make("section", "luck"), log = make("section", "log"), review = make("section", "review");
    const table = make("section", "play-table"), side = make("div", "play-side"), columns = make("div", "play-columns");
    table.setAttribute("aria-label", "Table");
    table.tabIndex = -1;
    table.append(head, bar, picture, heard, controls, keys);
    side.append(help, luck, log);
    columns.append(table, side);
    document.getElementById("content").replaceChildren(columns, review);
    for (const part of [help, review]) part.hidden = true;
    refresh();
    document.body.classList.add("at-table");

    const narrow = matchMedia("(max-width: 560px)");
    narrow.addEventListener("change", () => { if (view) drawSeats(); }, { signal: leaving.signal });
    document.addEventListener("keydown", onKey, { signal: leaving.signal });
    slider.addEventListener("input", () => setAmount(amountAt(Number(slider.value))));
    field.addEventListener("input", () => { isArmed = true; raise.disabled = !isLegal(typed()); nameRaise(typed()); });
    field.addEventListener("change", () => { if (isLegal(typed())) setAmount(typed()); });
    const end = listen("/table", { session }, hear, { patience: 10000, lost: (reason) => { isLost = true; lostText = reason; refresh(); } });

    function keyed(key, press) {
      const button = buttonOf("", "", press);
      button.append(make("span"), make("kbd", "", key));
      button.setAttribute("aria-keyshortcuts", key);
      return button;
    }

    function keysOf() {
      const dialog = make("dialog"), list = make("dl", "keys"), close = buttonOf("Close", "", () => dialog.close());
      for (const [key, words] of KEYS) list.append(make("dt", "", key), make("dd", "", words));
      dialog.setAttribute("aria-label", "Keys");
      dialog.append(make("h2", "", "Keys"), list, close);
      return dialog;
    }

    function hear(said) {
      isLost = false;
      if (said.type === "error") {
        trouble.textContent = said.text;
        isWaiting = false;
      } else if (said.type === "table") {
        facts = said.facts;
        game.textContent = facts.title;
      } else {
        const isNew = !view || view.number !== said.number;
        view = said;
        isWaiting = false;
        trouble.textContent = "";
        if (isNew) isArmed = false;
        if (isNew && view.legal && view.legal.raise) setAmount(view.legal.raise[0], false);
        drawSeats();
        say();
        drawLog();
        drawLuck();
        drawHelp();
        drawReview();
      }
      refresh();
    }

    function send(type, action) {
      if (!view || isLost) return;
      if (type === "act" || type === "next") {
        if (isWaiting || view.wants !== type) return;
        isWaiting = true;
      }
      trouble.textContent = "";
      end.send({ type, number: view.number, action });
      refresh();
    }
    const act = (action) => send("act", action);

    // ---- amounts: in chips of the street, always legal
    const isLegal = (value) => {
      const legal = view && view.legal;
      return Boolean(legal && legal.raise && Number.isInteger(value) && (legal.menu ? legal.menu.includes(value) : value >= legal.raise[0] && value <= legal.raise[1]));
    };
    const typed = () => Number(field.value.replace(/[\s,.]/g, "") || NaN);
    function raiseTo() {
      const value = document.activeElement === field ? typed() : amount;
      if (isLegal(value)) act(`r${value}`);
    }
    function amountAt(share) {
      const [low, high] = view.legal.raise;
      const value = Math.round(low * (high / low) ** (share / 1000));
      const step = value > 20 * facts.bb ? facts.bb : Math.max(1, Math.round(facts.bb / 20));
      return share >= 1000 ? high : Math.min(high, Math.max(low, Math.round(value / step) * step));
    }
    function setAmount(value, arms = true) {
      const legal = view.legal;
      const [low, high] = legal.raise;
      amount = Math.min(high, Math.max(low, Math.round(value)));
      if (legal.menu) amount = legal.menu.reduce((best, each) => Math.abs(each - amount) < Math.abs(best - amount) ? each : best);
      isArmed = isArmed || arms;
      field.value = amount;
      slider.value = high > low ? Math.round(1000 * Math.log(amount / low) / Math.log(high / low)) : 1000;
      slider.setAttribute("aria-valuetext", `${chips(amount)} chips`);
      raise.disabled = false;
      nameRaise(amount);
    }
    function nameRaise(value) {
      if (!view || !view.legal || !view.legal.raise) return;
      const isAll = view.stacks && value === view.legal.raise[1] && !view.legal.menu;
      raise.firstChild.textContent = `${view.legal.bet ? "Bet" : "Raise to"} ${Number.isInteger(value) ? chips(value) : "…"}${isAll ? " (all-in)" : ""}`;
    }

    function onKey(event) {
      const target = event.target;
      if (event.altKey || event.ctrlKey || event.metaKey) return;
      if (event.key === "?") { if (keys.open) keys.close(); else keys.showModal(); event.preventDefault(); return; }
      if (keys.open || !view) return;
      if (target.matches("select, textarea")) return;
      const legal = view.wants === "act" ? view.legal : null, isField = target === field;
      const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
      if (key === "Enter") {
        if (target.closest("button, a, summary, input:not(.amount):not(.slider)")) return;
        if (view.wants === "next") send("next", ""); else if (legal && isArmed) raiseTo();
        event.preventDefault();
        return;
      }
      if (!legal || event.repeat && !key.startsWith("Arrow")) return;
      if (key === "f" && legal.fold) act("f");
      else if (key === "c") act("c");
      else if (key === "r" && legal.raise && legal.raise[0] === legal.raise[1]) act(`r${legal.raise[0]}`);
      else if (key === "r" && legal.raise) { isArmed = true; field.focus(); field.select(); }
      else if (!isField && /^[123]$/.test(key) && legal.marks[key - 1]) setAmount(legal.marks[key - 1][1]);
      else if (!isField && legal.menu && /^[1-9]$/.test(key) && legal.menu[key - 1]) setAmount(legal.menu[key - 1]);
      else if (legal.raise && (key === "ArrowUp" || (!isField && key === "ArrowRight"))) setAmount(amount + facts.bb);
      else if (legal.raise && (key === "ArrowDown" || (!isField && key === "ArrowLeft"))) setAmount(amount - facts.bb);
      else if (!isField || /^[a-z]$/.test(key) === false) return;
      event.preventDefault();
    }

    // ---- what is shown
    function refresh() {
      const isMine = Boolean(view && view.wants === "act" && !isLost && !isWaiting), legal = isMine ? view.legal : null;
      const isOver = Boolean(view && view.end);
      fold.disabled = !(legal && legal.fold);
      call.disabled = !legal;
      raise.disabled = !(legal && legal.raise);
      next.disabled = !isOver || view.wants !== "next" || isLost || isWaiting;
      next.hidden = !isOver;
      for (const button of [fold, call, raise]) button.hidden = isOver;
      fold.firstChild.textContent = "Fold";
      next.firstChild.textContent = "Next hand";
      if (legal) call.firstChild.textContent = legal.call ? `Call ${chips(legal.call)}` : "Check";
      else if (!call.firstChild.textContent) call.firstChild.textContent = "Check";
      if (!raise.firstChild.textContent) raise.firstChild.textContent = "Raise";
      const hasSizes = Boolean(legal && legal.raise && legal.raise[0] < legal.raise[1]);
      sizes.classList.toggle("idle", !hasSizes);
      sizes.hidden = isOver || Boolean(view && !view.stacks && !hasSizes);
      recap.hidden = !isOver;
      if (isOver) recap.textContent = recapText();
      slider.disabled = field.disabled = !hasSizes;
      const wanted = hasSizes ? legal.menu ? legal.menu.map((each, k) => [chips(each), each, k + 1]) : legal.marks.map(([words, each], k) => [words, each, k + 1]) : [];
      if (hasSizes) {
        marks.replaceChildren(...wanted.map(([words, each, key]) => {
          const button = buttonOf("", `${words}: ${chips(each)} chips`, () => { setAmount(each); });
          button.append(make("span", "", words), make("kbd", "", String(key)));
          return button;
        }));
      } else for (const button of marks.children) button.disabled = true;
      for (const select of [assist, pace]) select.disabled = isLost || !view;
      if (view && document.activeElement !== assist) assist.value = view.assist;
      if (view && document.activeElement !== pace) pace.value = view.pace;
      if (document.activeElement && document.activeElement.disabled) table.focus({ preventScroll: true });
      caption.textContent = turnText();
      table.classList.toggle("mine", isMine);
      if (view) Object.assign(table.dataset, { number: view.number, wants: isWaiting || isLost ? "" : view.wants || "" });
    }

    const who = (seat) => seat === view.you ? "you" : view.names[seat];
    function turnText() {
      if (isLost) return lostText || "The connection to the server is lost. If the server has ended, this hand does not count.";
      if (!view) return "The cards are being dealt …";
      if (view.end) return endText();
      if (isWaiting) return "…";
      if (view.wants === "act") return view.legal.call ? `Your turn: ${chips(view.legal.call)} to call` : "Your turn";
      return view.turn === null ? "" : `${who(view.turn)} ${view.turn === view.you ? "…" : "thinks …"}`;
    }
    function endText() {
      const won = view.end.payoffs[view.you];
      const made = view.end.made[view.you];
      return `Hand ${number(view.hand)} is over: ${won > 0 ? `you win ${chips(won)}` : won < 0 ? `you lose ${chips(-won)}` : "you break even"}` + (made && made !== "folded" ? `, ${made}` : "");
    }

    function recapText() {
      const found = view.end.luck;
      if (!found) return "The luck of this hand is being computed …";
      const [by, played] = [found.luck, found.played].map((value) => net(Math.round(100 * value) / 100));
      return `Luck ${by}, luck removed ${played}` + (view.assisted ? "; with help, counted apart." : ".");
    }

    function lastText() {
      const last = view.actions[view.actions.length - 1];
      return last ? `${view.positions[last.seat]} ${who(last.seat)}: ${last.text}` : "";
    }

    // The whole situation for those who listen; the picture has no text for them.
    function say() {
      const board = view.end ? view.end.board : view.board, parts = [];
      if (!view.actions.length && !view.end) parts.push(`Hand ${view.hand}. You are ${view.positions[view.you]} with ${spoken(view.cards[view.you])}.`);
      if (view.actions.length && !view.end) parts.push(`${lastText()}.`);
      if (view.end) {
        parts.push(`${endText()}.`);
        view.names.forEach((_, seat) => { if (seat !== view.you) parts.push(`${view.names[seat]} had ${spoken(view.end.cards[seat])}.`); });
      } else if (view.wants === "act") parts.push(`${turnText()}. You hold ${spoken(view.cards[view.you])}.`);
      if (board.length) parts.push(`Board: ${spoken(board)}.`);
      if (!view.end) parts.push(`Pot ${chips(view.pot)}.`);
      const text = parts.join(" ");
      if (heard.textContent !== text) heard.textContent = text;
    }

    function drawSeats() {
      const n = view.names.length, end = view.end, order = [...Array(n).keys()].map((k) => (view.you + k) % n);
      const seats = order.map((seat) => {
        const isOut = view.folded[seat] && !end, cards = end ? end.cards[seat] : view.cards[seat] || [];
        const behind = view.stacks ? view.stacks[seat] : null;
        const bet = view.bets[seat] ? `bet ${chips(view.bets[seat])}` : "";
        const state = isOut ? "folded" : [bet, behind === 0 ? "all-in" : ""].filter(Boolean).join(", ");
        return { name: `${view.positions[seat]} ${who(seat)}`, cards, backs: end || view.cards[seat] || isOut ? 0 : facts.hole_cards, isOut, acts: !end && view.turn === seat,
          stack: behind === null ? "" : chips(behind), note: end ? net(end.payoffs[seat]) : state, css: end ? end.payoffs[seat] > 0 ? "plus" : end.payoffs[seat] < 0 ? "minus" : "" : "" };
      });
      picture.replaceChildren(drawTable({ seats, board: end ? end.board : view.board, boardSize: facts.board_size, pot: `pot ${chips(view.pot)}`, caption: end ? (end.showdown ? "showdown" : "all others folded") : lastText(), label: "The table; what it shows is also read out" }, narrow.matches));
    }

    function drawLog() {
      const parts = [make("h2", "", view.end ? "What everybody held and did" : `Hand ${number(view.hand)}`)];
      if (view.end) {
        const rows = view.names.map((_, seat) => [`${view.positions[seat]} ${who(seat)}`, cardsText(view.end.cards[seat].join("")), view.end.made[seat], net(view.end.payoffs[seat])]);
        parts.push(tableOf("What everybody held", ["player", "cards", "hand", "chips"], rows, 3));
      }
      for (const text of view.end && view.end.troubles || []) parts.push(make("p", "warning", text));
      const streets = facts.streets.map((name, street) => [name, view.actions.filter((each) => each.street === street)]).filter(([, each]) => each.length);
      for (const [name, actions] of streets) {
        const list = make("ol");
        for (const each of actions) {
          const item = make("li", each.seat === view.you ? "own-action" : "");
          item.append(make("b", "", `${view.positions[each.seat]} ${who(each.seat)}`), ` ${each.text}`);
          list.append(item);
        }
        parts.push(make("h3", "", name), list);
      }
      log.replaceChildren(...parts);
    }

    function drawLuck() {
      const { unaided, assisted } = view.results, parts = [make("h2", "", "Result")];
      if (view.end && view.end.luck) {
        const { won, luck: by, played } = view.end.luck, list = make("dl", "tiles");
        for (const [name, value] of [["this hand", won], ["luck", by], ["luck removed", played]]) list.append(pair(name, net(Math.round(100 * value) / 100)));
        parts.push(list);
      }
      for (const [name, result] of [["you", unaided], ["you, with help", assisted]]) {
        if (!result.hands) continue;
        const chipsText = `${number(result.hands)} ${result.hands === 1 ? "hand" : "hands"}, ${net(Math.round(100 * result.chips) / 100)} chips`;
        parts.push(make("p", "sum", name === "you" ? chipsText : `With help: ${chipsText}`));
        if (result.ci95 !== null) parts.push(ratesOf([{ name: "AIVAT", mbb_per_hand: result.aivat_mbb_per_hand, ci95: result.aivat_ci95, raw: result.mbb_per_hand, raw_ci95: result.ci95 }], true));
        parts.push(make("p", "rate", `AIVAT ${signed(result.aivat_mbb_per_hand)} ${halfWidth(result.aivat_ci95)} mbb/hand`),
          make("p", "rate raw-rate", `won ${signed(result.mbb_per_hand)} ${halfWidth(result.ci95)} mbb/hand`));
      }
      parts.push(make("p", "remark", unaided.hands + assisted.hands ? "Intervals of 95 %. AIVAT removes the luck of the cards and of the agents’ choices, as the agents tell their strategies; you tell none, so the intervals stay wide after few hands."
        : "Your win rate appears here after the first hand, as played and with the luck removed."));
      luck.replaceChildren(...parts);
    }
    function pair(name, text) {
      const box = make("div");
      box.append(make("dt", "", name), make("dd", "", text));
      return box;
    }

    let watched = null;  // the opponent whose range is shown
    function drawHelp() {
      help.hidden = !view.help || Boolean(view.end);
      if (help.hidden) return;
      const { advice, ranges } = view.help, parts = [make("h2", "", "Help")];
      if (view.assist === "advice" && !advice) parts.push(make("p", "remark", `${facts.adviser} is asked …`));
      if (advice) {
        const list = make("ul", "shares");
        for (const [words, share] of advice.shares) {
          const item = make("li"), meter = make("meter");
          meter.value = share;
          meter.setAttribute("aria-hidden", "true");
          item.append(make("span", "", words), meter, make("b", "", percent(share)));
          list.append(item);
        }
        parts.push(make("h3", "", `${advice.name} would`), advice.trouble ? make("p", "remark", advice.trouble) : list);
      }
      if (!ranges) parts.push(make("p", "remark", "The agents are asked for their ranges …"));
      else if (ranges.length) {
        const raiser = view.actions.findLast((each) => each.seat !== view.you && /^(bet|raise)/.test(each.text));
        const one = ranges.find((each) => each.seat === watched) || ranges.find((each) => raiser && each.seat === raiser.seat) || ranges[0];
        const select = lobby.selectOf(ranges.map((each) => String(each.seat)), Object.fromEntries(ranges.map((each) => [each.seat, `${view.positions[each.seat]} ${view.names[each.seat]}`])));
        select.value = one.seat;
        select.addEventListener("change", () => { watched = Number(select.value); drawHelp(); help.querySelector("select").focus(); });
        parts.push(lobby.fieldOf("Range of", select));
        if (one.trouble) parts.push(make("p", "remark", one.trouble));
        else parts.push(...drawGrid({ ...one.grid, totals: [null] }, facts.cells, facts.across, `Range of ${view.names[one.seat]}`, false));
      }
      help.replaceChildren(...parts);
    }

    function drawReview() {
      const data = view.end && view.end.data;
      if (data && reviewed === view.hand) return;
      leavingReview.abort();
      review.hidden = !data;
      reviewed = data ? view.hand : null;
      if (!data) { review.replaceChildren(); return; }
      const details = make("details"), place = make("div"), now = view.end.data;
      leavingReview = new AbortController();
      const signal = leavingReview.signal;
      details.append(make("summary", "", "Step by step, with the luck of every card"), place);
      const open = () => { if (!place.childElementCount && details.open) showHands(place, now, { keepsAddress: false, leaving: signal }); };
      details.addEventListener("toggle", () => { isReviewOpen = details.open; open(); });
      details.open = isReviewOpen;
      review.replaceChildren(details);
      open();
    }

    async function leaveTable() {
      if (view && !view.end && !confirm("Leave now? This hand is not over, and would not count.")) return;
      try {
        await ask("/api/leave", { session });
        location.hash = "#play";
      } catch (error) {
        notice(error.message);
      }
    }

    return () => { document.body.classList.remove("at-table"); leaving.abort(); leavingReview.abort(); end(); };
  }
  return { show };
})();
