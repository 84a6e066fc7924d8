"use strict";
// The spot explorer: a spot as a form, its solution, and what can be done with both. Returns a function that ends it.
const spots = (() => {
  let kept = null;  // the form stays when the user looks at a run and comes back
  let shownView = null;
  const FIRST = { board: "Qs Jh 2h 7c 3d", pot: 100, stacks: 950, oop: "random", ip: "random", bets: { river: { bet: "0.5p 1p allin", raise: "0.5p 1p allin" } }, solve: { target_pct: 0.5 } };
  const bytes = (count) => count >= 1e9 ? `${number(count / 1e9, 1)} GB` : `${number(Math.max(1, count / 1e6))} MB`;

  function show() {
    document.getElementById("title").textContent = document.title = "Spots";
    document.body.classList.add("several", "explorer");
    const content = document.getElementById("content");
    let desk = "", end = () => {}, timer, checks = 0, checked = { toml: "", problem: "" }, state = "idle", gone = false, isReady = false;
    let points = [], target = 0.5, view = null, seat = 0, mode = "strategy", chosen = -1, paint = null, solvedSpot = null, solves = [], asked = "", openedAs = "", openedSpot = "";
    const tell = (kind, fields) => ask(`/api/spot/${kind}`, { desk, ...fields });

    // The form and what it costs
    const size = make("p", "size"), solve = buttonOf("Solve", "", begin), stop = buttonOf("Stop", "", () => { state = "stopping"; tell("stop", {}); buttons(); });
    const more = buttonOf("Go on", "Go on to the target, or to half of the exploitability", goOn), drop = buttonOf("End at once", "End the solver without its solution", restart);
    const said = make("p", "remark"), chart = exploitabilityChart(), figures = make("dl", "tiles");
    size.setAttribute("role", "status");
    said.setAttribute("role", "status");
    solve.className = "main";
    const form = spotForm(tell, () => { clearTimeout(timer); timer = setTimeout(check, 250); });
    const openList = make("div", "files"), text = make("textarea"), saveName = make("input");
    const bar = make("div", "actions");
    const asFile = make("details", "as-file"), command = make("code");
    text.readOnly = true;
    text.rows = 8;
    text.setAttribute("aria-label", "The spot as a TOML file");
    const copied = make("p", "remark");
    copied.setAttribute("role", "status");
    const copyOf = (label, read) => buttonOf(label, "", (event) => {
      const field = make("textarea");  // a selection can be copied without asking for a permission
      field.value = read();
      copies.append(field);
      field.select();
      copied.textContent = document.execCommand("copy") ? "Copied." : "This browser does not let the page copy: mark the text, and copy it.";
      field.remove();
      event.target.focus();
    });
    const copies = make("div", "actions");
    copies.append(copyOf("Copy as TOML", () => text.value), copyOf("Copy command", () => command.textContent));
    asFile.append(make("summary", "", "As a file and as a command"), text, command, copies, copied);
    const open = buttonOf("Open", "Open a saved solution, a spot file or an example", listFiles);
    open.setAttribute("aria-expanded", "false");
    saveName.setAttribute("aria-label", "Name of the saved solution");
    saveName.value = "my spot";
    const save = buttonOf("Save", "Save the solution", saveIt);
    bar.append(solve, open);

    async function check() {
      if (!desk) return;
      const number = ++checks, spot = form.get();
      kept = spot;
      try {
        const found = await tell("check", { spot });
        if (number !== checks || gone) return;
        checked = found;
        if (found.toml) text.value = found.toml;
        commandText();
        const nodes = (found.nodes || []).map(([street, count]) => `${street} ${count.toLocaleString("en")} nodes`).join(", ");
        size.textContent = found.problem || `${nodes} · ${bytes(found.memory)} of ${bytes(found.available)} free`;
        size.classList.toggle("wrong", Boolean(found.problem));
      } catch (error) {
        if (number !== checks || gone) return;
        checked = { problem: error.message };
        size.textContent = error.message;
        size.classList.add("wrong");
      }
      buttons();
    }
    const commandText = () => {
      const isSame = openedAs && JSON.stringify(form.get()) === openedSpot;
      const file = isSame ? openedAs : "spot.toml";
      command.textContent = `plurispiel spot "${file}"${view && view.node ? ` --node "${view.node}"` : ""} --json`;
    };

    function buttons() {
      const busy = state === "solving" || state === "stopping" || state === "opening";
      solve.disabled = !desk || busy || Boolean(checked.problem);
      solve.hidden = busy;
      stop.hidden = state !== "solving" && state !== "stopping";
      stop.disabled = state === "stopping";
      drop.hidden = !busy;
      more.hidden = state !== "solved" && state !== "stopped";
      more.disabled = !solves.length || !solves[solves.length - 1].can_go_on;
      save.disabled = saveName.disabled = state !== "solved" && state !== "stopped";
      open.disabled = busy || !desk;
      lockAll.disabled = paintIt.disabled = busy;
    }
    async function begin() {
      clearTimeout(timer);
      await check();
      if (checked.problem) return;
      solvedSpot = form.get();
      target = solvedSpot.solve.target_pct ?? 0.5;
      points = [];
      run("solving", "solve", { spot: solvedSpot });
    }
    function goOn() {
      const reached = solves[solves.length - 1].exploitability_pct;  // a solution that was stopped goes on to its target
      if (reached <= target) target = Number((reached / 2).toPrecision(2));
      run("solving", "go_on", { target_pct: target });
    }
    async function run(newState, kind, fields) {
      const before = state;
      state = newState;
      said.textContent = `${newState === "opening" ? "The solution is being read" : "Solving"} …${isReady ? "" : " The solver is being loaded first. After an installation this takes a minute."}`;
      result.hidden = false;
      hint.hidden = true;
      strategy.hidden = play.box.hidden = true;
      chart.show(points, target);
      buttons();
      try {
        return await tell(kind, fields);
      } catch (error) {
        state = before;
        said.textContent = error.message;
        buttons();
        return null;
      }
    }
    function restart() { end(); desk = ""; connect(); state = "idle"; said.textContent = "The solver was ended."; strategy.hidden = play.box.hidden = true; buttons(); }

    // Files
    async function listFiles() {
      if (open.getAttribute("aria-expanded") === "true") { open.setAttribute("aria-expanded", "false"); openList.replaceChildren(); return; }
      open.setAttribute("aria-expanded", "true");
      const { files } = await tell("listed", {});
      const kinds = { solution: "saved solution", file: "spot file", example: "example" };
      openList.replaceChildren(...files.map((file) => {
        const entry = buttonOf("", `Open ${file.name}, ${kinds[file.kind]}`, () => openIt(file));
        entry.append(make("strong", "", file.name), make("span", "soft", kinds[file.kind]), make("span", "soft", cardsText(file.board.replace(/\s/g, ""))));
        return entry;
      }));
      openList.firstChild?.focus();
    }
    async function openIt(file) {
      open.setAttribute("aria-expanded", "false");
      openList.replaceChildren();
      points = [];
      const found = file.kind === "solution" ? await run("opening", "open", { name: file.name, kind: file.kind }) : await tell("open", { name: file.name, kind: file.kind });
      if (!found) return;
      form.set(found.spot);
      solvedSpot = form.get();
      [openedAs, openedSpot] = [file.kind === "example" ? file.name : found.path, JSON.stringify(solvedSpot)];
      check();
    }
    async function saveIt() {
      try {
        const found = await tell("save", { name: saveName.value });
        said.textContent = `Saved in ${found.path}`;
        [openedAs, openedSpot] = [found.path, JSON.stringify(solvedSpot)];
        commandText();
      } catch (error) {
        said.textContent = error.message;
      }
    }

    // The solution
    const play = spotPlay(tell), tree = spotTree(tell, look), list = comboList();
    const grid = strategyGrid((place) => { chosen = place === chosen ? -1 : place; showHands(); }, paintCell);
    const result = make("section", "result"), strategy = make("section", "strategy"), compared = make("div"), summary = make("div");
    const solvingBar = make("div", "actions"), files = make("div", "actions");
    solvingBar.append(stop, more, drop);
    files.append(saveName, save);
    result.append(make("h2", "", "Solution"), said, solvingBar, chart.svg, figures, compared, files);
    const choiceBar = (label, entries, choose) => {
      const group = make("div", "tabs");
      group.setAttribute("role", "group");
      group.setAttribute("aria-label", label);
      for (const [value, name] of entries) { const button = buttonOf(name, "", () => choose(value)); button.dataset.value = value; group.append(button); }
      return group;
    };
    const modes = choiceBar("What the grid shows", [["strategy", "Strategy"], ["ev", "EV"], ["equity", "Equity"], ["reach", "Reach"]], (value) => { mode = value; showHands(); });
    const seats = choiceBar("Player shown", [["0", "OOP"], ["1", "IP"]], (value) => { seat = Number(value); showHands(); });
    const lockAll = buttonOf("Lock as shown", "Lock this node as shown, to solve again", () => lock(view.combos.map((_, hand) => view.strategy[hand])));
    const paintIt = buttonOf("Paint a lock", "Paint a strategy for this node, and lock it", startPainting), painting = make("div", "painting");
    const lockBar = make("div", "actions"), lockSaid = make("p", "remark"), tools = make("div", "grid-tools"), board = make("p", "facts");
    lockSaid.setAttribute("role", "status");
    lockBar.append(lockAll, paintIt);
    tools.append(seats, modes);
    const columns = make("div", "strategy-columns"), left = make("div"), right = make("div");
    left.append(tools, grid.grid, grid.readout, lockBar, painting, lockSaid);
    right.append(summary);
    columns.append(left, right);
    const heading = make("h2", "", "Strategy");
    strategy.append(heading, board, tree.box, columns, list.box);

    async function look(node) {
      const number = asked = {};
      lockSaid.textContent = "";
      stopPainting();
      strategy.setAttribute("aria-busy", "true");
      try {
        const found = await tell("look", { node });
        if (gone || number !== asked) return;
        view = shownView = found;
        seat = SPOT_PLAYERS.indexOf(view.player);
        chosen = -1;
        strategy.hidden = play.box.hidden = false;
        heading.textContent = `${SPOT_NAMES[view.player]} to act`;
        board.replaceChildren(...view.board.match(/../g).map((card) => make("span", `hand-card suit-${card[1]}`, cardsText(card))), ` pot ${view.pot.toLocaleString("en")}${view.to_call ? `, ${view.to_call.toLocaleString("en")} to call` : ""}${view.locked ? ", locked" : ""}`);
        tree.show(view);
        commandText();
        showHands();
      } catch (error) {
        said.textContent = error.message;
      } finally {
        strategy.removeAttribute("aria-busy");
      }
    }
    function showHands() {
      for (const [group, value] of [[modes, mode], [seats, String(seat)]]) for (const button of group.children) button.setAttribute("aria-pressed", button.dataset.value === value);
      grid.show(paint ? { ...view, strategy: paint.strategy } : view, seat, mode, chosen, Boolean(paint));
      list.show(view, seat, chosen);
      summary.replaceChildren(rangeSummary(view, seat));
      lockBar.hidden = view.player !== SPOT_PLAYERS[seat];
    }
    async function lock(rows) {
      try {
        const found = await tell("lock", { node: view.node, probabilities: rows.flatMap((row) => row.map((share) => share === null || share < 0 ? -1 : Math.min(1, Number(share.toFixed(7))))) });
        form.lock(found.name, found.lock);
        lockSaid.textContent = `Locked: ${found.name || "the first decision"}${found.name.includes("*") ? ", on every card" : ""}. Press Solve to solve again.`;
        stopPainting();
        showHands();
        solve.scrollIntoView({ block: "nearest" });
      } catch (error) {
        lockSaid.textContent = error.message;
      }
    }
    function startPainting() {
      if (paint) { stopPainting(); showHands(); return; }
      paint = { action: 0, share: 1, hands: new Set(), strategy: view.strategy.map((row) => row && [...row]) };
      seat = SPOT_PLAYERS.indexOf(view.player);
      mode = "strategy";
      const choice = make("select"), share = make("input"), css = actionsCss(view);
      choice.setAttribute("aria-label", "Action of the brush");
      view.actions.forEach((action, a) => { const option = make("option", css[a], action.text); option.value = a; choice.append(option); });
      choice.addEventListener("change", () => { paint.action = Number(choice.value); });
      Object.assign(share, { type: "number", min: 0, max: 100, value: 100, className: "short" });
      share.setAttribute("aria-label", "Frequency of the action in percent");
      share.addEventListener("input", () => { paint.share = Math.min(100, Math.max(0, Number(share.value))) / 100; });
      const done = buttonOf("Lock painted hands", "", () => lock(view.combos.map((_, hand) => paint.hands.has(hand) ? paint.strategy[hand] : view.actions.map(() => -1))));
      painting.replaceChildren(make("span", "soft", "Drag over the hands that"), choice, share, make("span", "soft", "%"), done);
      paintIt.textContent = "Stop painting";
      showHands();
    }
    function stopPainting() { paint = null; painting.replaceChildren(); paintIt.textContent = "Paint a lock"; }
    function paintCell(place) {
      if (place < 0) { showHands(); return; }
      for (const combo of HOLE.members[place]) {
        const hand = view.combos.indexOf(HOLE.texts[combo]);
        if (hand < 0 || !view.weight[hand][seat]) continue;
        const before = view.strategy[hand], rest = 1 - before[paint.action];
        // The other actions share what is left as they did before.
        paint.strategy[hand] = before.map((old, a) => a === paint.action ? paint.share : (1 - paint.share) * (rest > 1e-9 ? old / rest : 1 / Math.max(1, before.length - 1)));
        if (before.length === 1) paint.strategy[hand] = [1];
        paint.hands.add(hand);
      }
      grid.show({ ...view, strategy: paint.strategy }, seat, mode, chosen, true);
    }

    const sizesOf = (spot) => Object.entries(spot.bets).map(([street, table]) => `${street}: ${"oop" in table || "ip" in table ? SPOT_PLAYERS.map((player) => `${SPOT_NAMES[player]} ${table[player]?.bet || "none"}`).join(", ") : table.bet || "none"}`).join("; ");
    function solved(event) {
      state = event.stopped ? "stopped" : "solved";
      const summaryOf = { ...event, spot: solvedSpot, name: `${sizesOf(solvedSpot) || "no bets"}${Object.keys(solvedSpot.lock || {}).length ? ", locked" : ""}` };
      const before = solves[solves.length - 1];
      if (before && JSON.stringify(before.spot) === JSON.stringify(solvedSpot)) solves.pop();
      solves.push(summaryOf);
      said.textContent = `${event.stopped ? "Stopped" : "Solved"}: exploitability ${figure(event.exploitability_pct)} % of the pot after ${event.iterations.toLocaleString("en")} iterations, ${number(event.seconds, 1)} s.`;
      figures.replaceChildren(...[["EV OOP", event.ev[0]], ["EV IP", event.ev[1]], ["equity OOP", 100 * event.equity[0]], ["exploitability, %", event.exploitability_pct]].map(([name, value]) => {
        const tile = make("div"), shown = make("dd", "", name.startsWith("equity") ? `${number(value, 2)} %` : name.startsWith("EV") ? chipsText(value) : figure(value));
        shown.dataset.value = value;
        tile.append(make("dt", "", name), shown);
        return tile;
      }));
      const rows = solves.map((each, k) => {
        const again = buttonOf(String(k + 1), `Take spot ${k + 1} into the form`, () => { form.set(each.spot); check(); });
        return [again, each.name, chipsText(each.ev[0]), chipsText(each.ev[1]), figure(each.exploitability_pct)];
      });
      compared.replaceChildren(...(solves.length > 1 ? [make("h3", "", "Solved in this page"), tableOf("Solved in this page", ["", "sizes of the first bet", "EV OOP", "EV IP", "exploitability, %"], rows, 2)] : []));
      play.clear();
      buttons();
      look("");
      if (matchMedia("(max-width: 940px)").matches) result.scrollIntoView();
    }
    function hear(event) {
      if (event.type === "desk") {
        const isAnother = Boolean(desk) || state !== "idle";
        desk = event.desk;
        isReady = false;
        if (isAnother) { state = "idle"; said.textContent = "The solver had ended, and its solution with it."; strategy.hidden = play.box.hidden = true; }
        size.textContent = "The solver is starting …";
        form.set(kept || FIRST);
        check();
      } else if (event.type === "ready") isReady = true;
      else if (event.type === "progress") {
        points.push(event);
        said.textContent = `Exploitability ${figure(event.pct)} % of the pot after ${event.iterations.toLocaleString("en")} iterations, ${number(event.seconds, 1)} s.`;
        chart.show(points, target);
      } else if (event.type === "solved") solved(event);
      else if (event.type === "failed") { state = "idle"; said.textContent = event.text; buttons(); }
      else if (event.type === "card") tree.hear(event);
    }
    function connect() { end = listen("/desk", {}, hear); }

    const setup = make("section", "setup"), page = make("div", "explorer-columns"), results = make("div", "results");
    setup.append(make("h2", "", "Spot"), bar, size, openList, form.box, asFile);
    result.hidden = strategy.hidden = play.box.hidden = true;
    const hint = sectionOf("Two players, one board", "Set the spot on the left, or open an example, and press Solve. The strategies, EVs and equities of every hand appear here.");
    hint.className = "welcome";
    results.append(hint, result, strategy, play.box);
    page.append(setup, results);
    content.replaceChildren(page);
    buttons();
    connect();
    return () => { gone = true; clearTimeout(timer); end(); shownView = null; document.body.classList.remove("several", "explorer"); };
  }
  return { show, view: () => shownView };
})();
