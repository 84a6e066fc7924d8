"use strict";
// The list of runs, and a run that is watched. Both return a function that ends them.
const dashboard = (() => {
  const SCORES = { raw: "raw", duplicate: "duplicate", aivat: "AIVAT", aivat_duplicate: "AIVAT, duplicate", aivat_zero_sum: "AIVAT, zero-sum" };
  const content = document.getElementById("content"), title = document.getElementById("title");

  const share = (done, wanted) => wanted ? `${Math.floor(100 * done / wanted)} %` : "–";
  const duration = (seconds) => seconds < 90 ? `${Math.ceil(seconds)} s` : seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${number(seconds / 3600, 1)} h`;

  function showList() {
    title.textContent = document.title = "Runs";
    const parts = make("div");
    content.replaceChildren(parts);
    let timer, ended = false, before = "";
    const look = async () => {
      let text = "";
      try {
        const { runs } = await ask("/api/runs");
        if (ended) return;
        const now = JSON.stringify(runs);
        if (now !== before) {
          before = now;
          const held = document.activeElement?.getAttribute("href");
          parts.replaceChildren(listOf(runs));
          if (held) parts.querySelector(`a[href="${CSS.escape(held)}"]`)?.focus();
        }
      } catch (error) {
        text = error.message;
      }
      if (ended) return;
      notice(text);
      timer = setTimeout(look, text ? 1000 : 3000);
    };
    look();
    return () => { ended = true; clearTimeout(timer); };
  }

  function listOf(runs) {
    if (!runs.length) return sectionOf("No runs yet", "", make("p", "", "plurispiel tournament plays one. It appears here as soon as it begins."));
    const rows = runs.map((run) => {
      const link = make("a", "", run.name);
      link.href = `#run=${encodeURIComponent(run.name)}`;
      return [link, run.state, run.agents.join(", "), run.game, run.date, number(run.hands), share(run.hands, run.hands_wanted)];
    });
    const table = tableOf("Runs", ["run", "state", "agents", "game", "last write", "hands", "done"], rows, 5);
    table.classList.add("runs-table");
    return sectionOf("Runs of the folder", "The latest first. A run is watched by its name.", table);
  }

  function showRun(name, wanted, step) {
    title.textContent = document.title = name;
    const summary = make("div"), made = make("p", "made remark"), button = make("button", "", "Make report");
    const log = make("div");
    made.setAttribute("role", "status");
    button.type = "button";
    button.addEventListener("click", async () => {
      button.disabled = true;
      made.textContent = "The report is being made …";
      try {
        made.textContent = `The report is in ${(await ask("/api/report", { run: name })).report}`;
      } catch (error) {
        made.textContent = error.message;
      }
      button.disabled = false;
    });
    const report = sectionOf("Report", "One page with all tables, pictures and a hand viewer, written into the run's folder.", button, made);
    const leaving = new AbortController();
    const viewer = handsOf(name, wanted, step, leaving.signal);
    content.replaceChildren(summary, viewer, report, log);
    const narrow = matchMedia("(max-width: 640px)");
    let latest = null;
    const showLog = (lines) => {
      log.replaceChildren();
      if (lines.length) log.append(sectionOf("What agents printed", "The last lines of the log that was written last.", make("pre", "", lines.join("\n"))));
    };
    const show = (run) => {
      latest = run;
      summary.replaceChildren(progressOf(run), rankingOf(run), curvesOf(run), faultsOf(run));
    };
    const hear = (said) => {
      showLog(said.log);
      if (said.type === "figures") show(said);
    };
    const again = () => { if (latest) show(latest); };
    narrow.addEventListener("change", again);
    const end = listen("/watch", { run: name }, hear);
    return () => { leaving.abort(); narrow.removeEventListener("change", again); end(); };
  }

  // The hands of a run: a dozen that are chosen, and any other by its number.
  function handsOf(run, wanted, step, leaving) {
    const said = make("p", "remark"), place = make("div"), field = make("input"), label = make("label", "inline", "or hand ");
    let viewing = new AbortController();
    leaving.addEventListener("abort", () => viewing.abort());
    said.setAttribute("role", "status");
    field.placeholder = "0.17.3";
    field.size = 9;
    label.append(field);
    label.title = "LINEUP.DECK.ROTATION, each from 0";
    const show = async (hand, at) => {
      for (const button of [some, one]) button.disabled = true;
      said.textContent = "The hands are being replayed …";
      try {
        const found = await ask("/api/run-hands", { run, hand });
        if (leaving.aborted) return;
        said.textContent = found.remarks.join(" ");
        viewing.abort();
        viewing = new AbortController();
        place.replaceChildren();
        const address = (of, k) => `#run=${encodeURIComponent(run)}&hand=${of.name}&step=${k}`;
        if (found.data.hands.length)
          showHands(place, found.data, { address, step: at, leaving: viewing.signal, advice: advisersOf(found.data, viewing.signal) });
        else said.textContent ||= "The run holds no hand yet.";
      } catch (error) {
        said.textContent = error.message;
      }
      for (const button of [some, one]) button.disabled = false;
    };
    const some = buttonOf("Show hands", "", () => show("")), one = buttonOf("Show", "Show this hand", () => show(field.value.trim()));
    field.addEventListener("keydown", (event) => { if (event.key === "Enter") one.click(); });
    const choices = make("div", "viewer-bar");
    choices.append(some, label, one);
    const note = "Twelve hands with most decisions and chips, with the strategies of the agents, the luck that AIVAT takes out, and advisers at each decision.";
    const section = sectionOf("Hands", note, choices, said, place);
    if (wanted) show(wanted, step).then(() => section.scrollIntoView());
    return section;
  }

  function progressOf(run) {
    const bar = make("progress");
    bar.max = run.groups_wanted || 1;
    bar.value = run.groups;
    bar.setAttribute("aria-label", "groups played");
    const tiles = make("dl", "tiles");
    const add = (name, value) => { const tile = make("div"); tile.append(make("dt", "", name), make("dd", "", value)); tiles.append(tile); };
    add("hands", number(run.hands));
    add("groups", `${number(run.groups)} of ${number(run.groups_wanted)}`);
    add("seats", number(run.seats));
    add("hands/s", run.hands_per_second === null ? "–" : number(run.hands_per_second));
    if (run.seconds_left !== null) add("left", duration(run.seconds_left));
    return sectionOf(run.state[0].toUpperCase() + run.state.slice(1), `${run.game} · ${run.format}`, bar, tiles);
  }

  function rankingOf(run) {
    const rows = run.agents.map((agent) => [agent.name, signed(agent.mbb_per_hand), halfWidth(agent.ci95), halfWidth(agent.sequential_ci95),
      signed(agent.raw), halfWidth(agent.raw_ci95), number(agent.hands), number(agent.faults)]);
    const note = `mbb/hand by the score “${SCORES[run.score] || run.score}” with the half-width of a 95 % interval, and of one that holds however often one looks. Raw: no luck taken out.`;
    return sectionOf("Ranking", note, ratesOf(run.agents),
      tableOf("Ranking", ["agent", "mbb/hand", "95 %", "any time", "raw", "raw 95 %", "hands", "faults"], rows));
  }

  function curvesOf(run) {
    const box = make("div", "curves");
    for (const curve of run.curves) if (curve.points.length > 1) box.append(curveOf(curve));
    return box.childElementCount ? sectionOf("Win rate over hands", "mbb/hand with bands of 95 %: by the score in colour, raw in grey.", box) : make("div");
  }

  function curveOf(curve) {
    const width = 356, height = 220, left = 62, right = 10, top = 24, bottom = 28;
    const points = curve.points, last = points[points.length - 1];
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", `${curve.name}: ${signed(last.score)} ${halfWidth(last.score_ci95)} mbb/hand after ${number(last.hands)} hands, raw ${signed(last.raw)} ${halfWidth(last.raw_ci95)}`);
    const calm = points.filter((point) => point.hands >= 0.08 * last.hands);  // the first intervals are very wide
    const ends = calm.flatMap((point) => [point.score - point.score_ci95, point.score + point.score_ci95, point.raw - point.raw_ci95, point.raw + point.raw_ci95]);
    const low = Math.min(0, ...ends), high = Math.max(0, ...ends, low + 1);
    const x = (hands) => left + (width - left - right) * hands / last.hands;
    const y = (rate) => top + (height - top - bottom) * (high - Math.min(high, Math.max(low, rate))) / (high - low);
    draw(svg, "text", { x: left, y: 14, class: "title" }, curve.name.length > 34 ? curve.name.slice(0, 33) + "…" : curve.name);
    for (const rate of [low, high]) draw(svg, "text", { x: left - 6, y: y(rate) + 4, "text-anchor": "end", class: "tick" }, signed(Math.round(rate)).replace(/\.0$/, ""));
    draw(svg, "text", { x: width - right, y: height - 8, "text-anchor": "end", class: "tick" }, `${number(last.hands)} hands`);
    draw(svg, "line", { x1: left, x2: width - right, y1: y(0), y2: y(0), class: "zero" });
    for (const [rate, half, css] of [["raw", "raw_ci95", "raw"], ["score", "score_ci95", "c1"]]) {
      const upper = points.map((point) => `${x(point.hands).toFixed(1)},${y(point[rate] + point[half]).toFixed(1)}`);
      const lower = points.map((point) => `${x(point.hands).toFixed(1)},${y(point[rate] - point[half]).toFixed(1)}`).reverse();
      draw(svg, "polygon", { points: [...upper, ...lower].join(" "), class: `band ${css}` });
      draw(svg, "polyline", { points: points.map((point) => `${x(point.hands).toFixed(1)},${y(point[rate]).toFixed(1)}`).join(" "), class: `curve ${css}` });
    }
    return svg;
  }

  function faultsOf(run) {
    const rows = run.agents.filter((agent) => agent.faults).map((agent) => [agent.name,
      Object.entries(agent.faults_by_kind).map(([kind, count]) => `${kind} ${count}`).join(", "),
      agent.retired ? "only folds" : "plays on", agent.first_fault, number(agent.faults)]);
    return rows.length ? sectionOf("Faults", "", tableOf("Faults", ["agent", "kinds", "its seat", "first fault", "faults"], rows, 4))
      : sectionOf("Faults", "", make("p", "remark", "No agent committed a fault."));
  }

  return { showList, showRun };
})();
