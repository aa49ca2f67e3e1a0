// What the page does beyond standing there: another base, filters, sorting, numbers in full, and the rows as a file; charts.js draws
// the charts over time. Without them everything can still be read.
"use strict";

// --- The rows: see “about” in them. They are read when they are first needed. ---

const page = {
  get rows() { return this.read ||= JSON.parse(byId("rows").textContent); },
  get judgements() { return this.judged ||= JSON.parse(byId("judgements").textContent); },
  get numbers() {
    return this.counted ||= this.rows.runs.flatMap((run) =>
      this.rows.shapes[run.shape].map((kind, i) => ({ run, i, ...this.rows.kinds[kind] })));
  },
};
const targets = all("#targets li").map((li) => li.querySelector("strong").textContent);

// numberOf is what a cell shows: the trials of a number, and their median.
function numberOf(cell) {
  const parts = cell.dataset.n.split(" ").map((n) => page.numbers[n]);
  const trials = parts.flatMap(({ run, i }) => run.trials.filter((t) => !t.left_out && t.values[i] != null)
    .map((t) => ({ trial: t.trial, value: t.values[i], n: t.n[i], disturbed: !!t.disturbed?.includes(i), few: !!t.few?.includes(i), warnings: (t.warnings?.[i] || []).map((w) => page.rows.warnings[w]) })));
  const sorted = trials.map((t) => t.value).sort((a, b) => a - b);
  const half = sorted.length >> 1;
  const median = sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  return { ...parts[0], id: +cell.dataset.n.split(" ")[0], trials, median, all: parts[0].run.trials.length,
    warnings: [...new Set(trials.flatMap((t) => t.warnings))] };
}

// exact is a number as it was computed, if it is the one that the cell shows.
exact = (cell, text) => {
  const shown = parsed(text);
  if (!shown || !cell.dataset.n || cell.closest(".relative")) return null; // there it is a ratio
  const { median: value, unit } = numberOf(cell), to = shown.unit ? factors[shown.unit] / factors[unit] : 1;
  return Math.abs(shown.value * to - value) <= 0.51 * shown.digit * to ? { value, unit: ["count", "ratio", "bool", "1/s"].includes(unit) ? "" : unit } : null;
};

const grouped = (v) => v.toLocaleString("en", { maximumFractionDigits: 0 });
function decimal(v) {
  const a = Math.abs(v);
  if (a === 0) return "0";
  if (a >= 99.95) return grouped(v);
  if (a >= 9.995) return v.toFixed(1);
  if (a >= 0.9995) return v.toFixed(2);
  if (a >= 0.0009995) return v.toFixed(3);
  return v.toExponential(1);
}
const times = (r) => decimal(r) + "×";

// judged is the verdict on a number against a base, if there is one.
function judged(base, of, id) {
  const j = page.judgements;
  const pair = j.pairs.find((p) => p.base === base && p.of === of);
  if (!pair) return null;
  const i = base === 0 ? id - j.from[of] : j.score[of].indexOf(id);
  const verdict = j.verdicts[pair.verdict[i]];
  return verdict ? { ...verdict, low: pair.low?.[i], high: pair.high?.[i] } : null;
}

// --- Another base: ratios are computed anew. ---

let base = 0;
const first = new Map(); // cell -> what it was against the first target
const marks = ["better", "worse", "unsure", "same", "unclear", "unstable"];

// restored is the cell as it was against the first target.
function restored(cell) {
  if (!first.has(cell)) first.set(cell, { html: cell.innerHTML, name: cell.className });
  const was = first.get(cell);
  cell.innerHTML = was.html;
  cell.className = was.name;
  if (cell.dataset.n) cell.removeAttribute("title");
  return cell;
}

// alike reports whether two numbers are of targets that did the same work in their
// step, and promised the same, and are the same percentile, or none; and of
// enough samples.
function alike(a, b) {
  const x = numberOf(a), y = numberOf(b), classes = page.judgements.apart?.[x.run.step];
  const of = (n) => classes?.[targets.indexOf(n.run.target)];
  return x.metric === y.metric && of(x) === of(y) && ![...x.trials, ...y.trials].some((t) => t.few);
}

// comparable reports whether two cells can be compared, as far as the page knows.
function comparable(a, b) {
  if (!a?.dataset.n || !b?.dataset.n || a.classList.contains("hatch") || b.classList.contains("hatch")) return false;
  return alike(a, b) && ![...numberOf(a).trials, ...numberOf(b).trials].some((t) => t.disturbed);
}

function compareCell(cell, other, of) {
  restored(cell);
  if (base === 0) return;
  cell.querySelector("small:not(.per, .tag)")?.remove();
  cell.classList.remove(...marks);
  if (of === base || !comparable(cell, other)) return;
  const a = numberOf(cell), b = numberOf(other);
  const verdict = judged(base, of, a.id);
  const ratio = b.median !== 0 ? times(a.median / b.median) : a.median !== 0 && verdict?.class ? "from 0" : "";
  if (verdict?.class) cell.classList.add(...verdict.class.split(" "));
  if (ratio) (cell.querySelector("sup") || cell.firstChild).after(make("small", { textContent: ratio + (verdict?.sign ? " " + verdict.sign : "") }));
}

// compareRatios does the same in the relative table, whose columns are targets.
function compareRatios(table) {
  const columns = columnsOf.get(table).map((c) => c.target);
  for (const body of table.tBodies) {
    const logs = columns.map(() => []);
    for (const row of [...body.rows].filter((r) => !r.classList.contains("group"))) {
      const name = wordsOf(row.cells[0]);
      columns.forEach((target, i) => {
        if (target < 0) return;
        const cell = restored(row.cells[i + 1]), other = row.cells[columns.indexOf(base) + 1];
        if (base === 0 || cell.classList.contains("absent")) return;
        const sign = cell.querySelector(".sign");
        let text = "–";
        if (name === "geometric mean") {
          if (logs[i].length) text = Math.exp(logs[i].reduce((sum, v) => sum + v, 0) / logs[i].length).toFixed(2);
        } else if (other?.dataset.n && cell.dataset.n) {
          const ratio = numberOf(cell).median / numberOf(other).median;
          if (Number.isFinite(ratio) && alike(cell, other)) text = ratio.toFixed(2);
          if (ratio > 0 && comparable(cell, other)) logs[i].push(Math.log(ratio));
        }
        cell.classList.remove(...marks);
        cell.firstChild.nodeValue = text;
        if (!sign) return;
        const verdict = cell.dataset.n && target !== base && comparable(cell, other) ? judged(base, target, numberOf(cell).id) : null;
        const sure = ["better", "worse", "same"].includes(verdict?.class);
        sign.textContent = sure ? verdict.sign : "";
        if (sure) cell.classList.add(verdict.class);
      });
    }
  }
}

function setBase(chosen) {
  base = chosen;
  for (const body of all("main > section:not(#published) tbody")) {
    const rows = all(":scope > tr[data-t]", body);
    if (!rows.some((r) => r.querySelector("td[data-n]"))) continue;
    const baseRow = rows.find((r) => +r.dataset.t === base);
    for (const row of rows) {
      [...row.cells].forEach((cell, i) => {
        if (cell.dataset.n && !numberOf(cell).metric.startsWith("sla_")) compareCell(cell, baseRow?.cells[i], +row.dataset.t);
      });
      row.cells[0].querySelector("small.base")?.remove();
      if (row === baseRow) row.cells[0].append(" ", make("small", { className: "base", textContent: "base" }));
    }
  }
  for (const head of all("#relative h3")) {
    if (!head.textContent.startsWith("Ratios to ")) continue;
    head.textContent = "Ratios to " + targets[base];
    let next = head.nextElementSibling;
    if (next.matches(".about")) next.textContent = next.textContent.replace(/÷ that of .*, the base/, `÷ that of ${targets[base]}, the base`);
    while (!next.matches(".scroll")) next = next.nextElementSibling;
    compareRatios(next.querySelector("table"));
  }
  for (const name of all(".base-name")) name.textContent = targets[base];
  rebased.hidden = base === 0;
  const known = page.judgements.some
    ? `Verdicts are known against ${targets[0]} only: the targets are too many to judge each pair of them, and rumbench report --base takes another one for the base`
    : "Their verdicts are known for the numbers, the first table of each step and the space; elsewhere there are no marks";
  rebased.textContent = `Ratios are to ${targets[base]}. ${known}, and means have no intervals. The first screen, “What changed most” and published figures still compare with ${targets[0]}.`;
  hideCard();
}

// --- Filters. ---

const hiddenSteps = new Set();
const svgStyle = new CSSStyleSheet(); // an element with styles is not allowed
document.adoptedStyleSheets.push(svgStyle);

// columnsOf returns which columns of a table stand for a target or a step.
const columnsOf = new Map(all("main table").map((table) => [table, [...table.tHead.rows[0].cells].slice(1).map((th) => {
  const link = th.querySelector("a[href^='#s']");
  const section = link && byId(link.hash.slice(1));
  return { target: targets.indexOf(wordsOf(th)), step: section?.classList.contains("step") ? section.id : "" };
})]));

function applyFilters() {
  for (const e of all("[data-t]")) e.hidden = hiddenTargets.has(+e.dataset.t);
  for (const e of all("section.step")) e.hidden = hiddenSteps.has(e.id);
  for (const a of all("nav a[data-step]")) a.hidden = hiddenSteps.has(a.hash.slice(1));
  for (const [table, columns] of columnsOf) {
    if (!columns.some((c) => c.target >= 0 || c.step)) continue;
    columns.forEach((c, i) => {
      const hide = hiddenTargets.has(c.target) || hiddenSteps.has(c.step);
      for (const row of table.rows) if (row.cells[i + 1]) row.cells[i + 1].hidden = hide;
    });
  }
  // Drawings know sixteen styles: one is hidden when all of its targets are.
  const styles = [...targets.keys()].filter((i) => i < signs.length && ![...targets.keys()].some((k) => k % signs.length === i && !hiddenTargets.has(k)));
  svgStyle.replaceSync(styles.map((i) => `svg .t${i % dashes.length}${i < dashes.length ? ":not(.u)" : ".u"} { display: none; }`).join("\n"));
  for (const charts of drawings.values()) {
    for (const c of charts) c.data.targets.forEach((t, i) => c.plot.setSeries(i + 1, { show: !hiddenTargets.has(t.index) }));
  }
  findRows(find.value);
}

// findRows shows only the rows with the text in their head: of counters,
// settings, objects and facts, which can be many.
function findRows(text) {
  const wanted = text.trim().toLowerCase();
  for (const table of columnsOf.keys()) {
    const rows = all(":scope > tbody > tr:not(.group, [data-t])", table);
    if (!rows.length) continue;
    for (const row of rows) row.hidden = wanted !== "" && !row.cells[0].textContent.toLowerCase().includes(wanted);
    for (const head of all("tr.group", table)) {
      const own = all(":scope > tr:not(.group)", head.parentElement);
      head.hidden = own.length > 0 && own.every((r) => r.hidden);
    }
    if (wanted && rows.some((r) => !r.hidden)) open(table);
  }
  const hits = wanted ? foundRows() : [];
  found.textContent = wanted ? `${hits.length} found${hits.length ? ", Enter goes there" : ""}` : "";
}

const foundRows = () => all("main table > tbody > tr:not(.group, [data-t])").filter((r) => !r.hidden && r.cells[0].textContent.toLowerCase().includes(find.value.trim().toLowerCase()));

// nextFound shows the next row that was found.
let shown = 0;
function nextFound() {
  const hits = foundRows();
  if (hits.length) hits[shown++ % hits.length].scrollIntoView({ block: "center" });
}

// --- What the glossary says of the heads that are linked to it. ---

for (const a of all("main table a[href^='#m-']")) {
  const term = document.getElementById(a.hash.slice(1)), head = a.closest("th");
  if (term && head && !head.title) head.title = [...term.children].map((e) => e.textContent).join(": ");
}

// --- The bar with all that. ---

const find = set(make("input", { type: "search", placeholder: "Find a counter, a setting…", oninput: () => { shown = 0; findRows(find.value); }, onkeydown: (e) => { if (e.key === "Enter") nextFound(); } }), { "aria-label": "Find rows by their names" });
const found = set(make("small", { className: "about" }), { role: "status" });
const rebased = make("p", { className: "about", hidden: true });

function menu(title, ...content) {
  const box = make("details", { className: "menu" }, make("summary", { textContent: title }), make("div", {}, ...content));
  box.onkeydown = (e) => { if (e.key === "Escape") { box.open = false; box.firstChild.focus(); } };
  return box;
}

// choices are boxes to tick for things that can be hidden.
function choices(list, hidden) {
  return list.map(({ id, name }) => {
    const tick = make("input", { type: "checkbox", checked: true });
    tick.onchange = () => {
      if (tick.checked) hidden.delete(id); else hidden.add(id);
      applyFilters();
    };
    return make("label", {}, tick, " " + name);
  });
}

function addTools() {
  const contents = byId("contents").cloneNode(true);
  contents.removeAttribute("id");
  const bar = set(make("div", { className: "tools" }, menu("Contents", contents)), { role: "group", "aria-label": "What to show" });
  if (targets.length > 1) {
    const choice = make("select", { onchange: () => setBase(+choice.value) }, ...targets.map((name, i) => make("option", { value: i, textContent: name })));
    bar.append(make("label", {}, "Base ", choice), menu("Targets", ...choices(targets.map((name, i) => ({ id: i, name })), hiddenTargets)));
  }
  const steps = all("section.step").map((s) => ({ id: s.id, name: wordsOf(s.querySelector("h2")) }));
  if (steps.length > 1) bar.append(menu("Steps", ...choices(steps, hiddenSteps)));
  const notes = make("input", { type: "checkbox", checked: true });
  notes.onchange = () => document.body.classList.toggle("no-notes", !notes.checked);
  // Following a mark to its remark shows the remarks again.
  addEventListener("hashchange", () => {
    if (byId(location.hash.slice(1))?.closest(".notes")) {
      notes.checked = true;
      notes.onchange();
    }
  });
  bar.append(make("label", {}, notes, " Remarks"), find, found);
  document.querySelector("main").before(bar, rebased);
  // What the address names is not scrolled below the bar.
  const fit = () => document.documentElement.style.setProperty("--bar", (getComputedStyle(bar).position === "sticky" ? bar.offsetHeight : 0) + "px");
  fit();
  new ResizeObserver(fit).observe(bar);
  addEventListener("click", (e) => { for (const box of all(".menu[open]")) if (!box.contains(e.target) || e.target.tagName === "A") box.open = false; });
}

// --- Sorting. ---

const factors = { "%": 1, B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40, PiB: 2 ** 50, "µs": 1, ms: 1e3, s: 1e6 };

// keyOf is what a cell is sorted by: a number if it shows one, else its text;
// what is unknown comes last.
function keyOf(cell) {
  if (!cell || cell.classList.contains("absent")) return null;
  if (cell.dataset.n) return numberOf(cell).median;
  const shown = wordsOf(cell).replace(/^≈ ?/, ""), number = parsed(shown);
  return number && (!number.unit || factors[number.unit]) ? number.value * (factors[number.unit] || 1) : shown;
}

function sortTable(table, column, direction) {
  for (const body of table.tBodies) {
    const rows = [...body.rows].filter((r) => !r.classList.contains("group"));
    rows.forEach((r, i) => { r.place ??= i; });
    const keys = new Map(rows.map((r) => [r, keyOf(r.cells[column])]));
    rows.sort((a, b) => {
      if (!direction) return a.place - b.place;
      const x = keys.get(a), y = keys.get(b);
      if (x === null || y === null) return (x === null) - (y === null) || a.place - b.place;
      const order = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y), "en", { numeric: true });
      return direction * order || a.place - b.place;
    });
    body.append(...rows); // the head of the group stays in front
  }
}

for (const table of columnsOf.keys()) {
  if (![...table.tBodies].some((b) => b.rows.length > 2 || b.rows.length === 2 && !b.rows[0].classList.contains("group"))) continue;
  if (table.closest("#published")) continue; // its pairs of rows belong together
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((th, i) => {
    const button = make("button", { type: "button", className: "sort", textContent: "↕" });
    set(button, { "aria-label": `sort by ${wordsOf(th)}` }).onclick = () => {
      const now = th.getAttribute("aria-sort");
      const next = now === null ? "descending" : now === "descending" ? "ascending" : "";
      for (const h of heads) {
        h.removeAttribute("aria-sort");
        h.querySelector(".sort").textContent = "↕";
      }
      if (next) set(th, { "aria-sort": next });
      button.textContent = next ? { descending: "↓", ascending: "↑" }[next] : "↕";
      sortTable(table, i, { descending: -1, ascending: 1 }[next] || 0);
    };
    (th.querySelector("a") || th.firstChild)?.after(button);
  });
}

// --- Numbers in full: on hover, and on a card that stays. ---

function inFull(cell) {
  const n = numberOf(cell);
  const unit = (n.unit && n.unit !== "bool" && n.unit !== "ratio" ? " " + n.unit : "") + (n.per ? " per " + n.per : "");
  const about = joined([n.run.target, n.run.step, joined([n.op, n.group && n.group !== n.op ? "group " + n.group : ""], ", ")], " · ");
  const lines = [about, `${n.metric} = ${n.median}${unit}`];
  if (n.all > 1) lines.push(`median of ${n.trials.length === n.all ? "" : n.trials.length + " of "}${n.all} trials: ` + n.trials.map((t) => `${t.value} (trial ${t.trial})`).join(", "));
  const made = n.trials.reduce((sum, t) => sum + (t.n || 0), 0);
  if (made) lines.push("made of " + grouped(made));
  if (n.source) lines.push("source: " + n.source);
  const of = targets.indexOf(n.run.target);
  const verdict = of >= 0 && of !== base ? judged(base, of, n.id) : null;
  if (verdict) {
    const bounds = verdict.low != null && verdict.high != null ? `95 % interval of the ratio ${times(verdict.low)} to ${times(verdict.high)}; ` : "";
    lines.push(`against ${targets[base]}: ${bounds}${joined([verdict.word, verdict.why], ", ")}`);
  }
  return [...lines, ...n.warnings.map((w) => "⚠ " + w)];
}

addEventListener("mouseover", (e) => {
  const cell = e.target.closest?.("[data-n]");
  if (cell && !cell.title) cell.title = inFull(cell).join("\n");
});

let card;
function hideCard() {
  card?.remove();
  for (const e of all(".picked")) e.classList.remove("picked");
}

function showCard(cell) {
  hideCard();
  cell.classList.add("picked");
  const id = cell.dataset.n?.split(" ")[0];
  const close = set(make("button", { type: "button", textContent: "×", onclick: hideCard }), { "aria-label": "close" });
  card = set(make("aside", { className: "card" }, close, ...saidOf(cell).map((line) => make("p", { textContent: line })),
    ...id ? [make("p", {}, make("a", { href: "#n" + id, textContent: "link to this number" }))] : []), { role: "status" });
  document.body.append(card);
}

// saidOf is what a pointer that hovers is shown, for those who have none: of a
// bar, what is said of its marks, which are too thin to be touched.
const saidOf = (e) => e.dataset.n ? inFull(e) : (e.title || e.querySelector(":scope > title")?.textContent || all("[title]", e).map((mark) => mark.title).join("\n")).split("\n");

addEventListener("click", (e) => {
  if (e.target.closest("a, button, summary, label, input, select")) return;
  const cell = e.target.closest("[data-n], [title], svg :has(> title), .bar:has([title])") || e.target.closest(".bar")?.querySelector("[data-n]");
  if (cell) showCard(cell);
});
addEventListener("keydown", (e) => { if (e.key === "Escape") hideCard(); });

// reveal shows the cell that the address names.
function reveal() {
  const id = /^#n(\d+)$/.exec(location.hash)?.[1];
  if (!id) return;
  const folded = (cell) => !!cell.closest("details:not([open])");
  const cell = all(`[data-n~="${id}"]`).sort((a, b) => folded(a) - folded(b) || (a.tagName === "SPAN") - (b.tagName === "SPAN"))[0];
  if (!cell) return;
  open(cell);
  cell.scrollIntoView({ block: "center", inline: "center" });
  showCard(cell);
}
addEventListener("hashchange", reveal);

// open opens all that an element is folded into, and what it folds itself.
function open(e) {
  for (let box = e.closest("details"); box; box = box.parentElement.closest("details")) box.open = true;
  if (e.matches("section.folded")) e.firstElementChild.open = true;
}

// unfold opens and shows what the address names.
function unfold() {
  const e = byId(location.hash.slice(1));
  if (!e) return;
  open(e);
  e.scrollIntoView();
}
addEventListener("hashchange", unfold);

// --- The rows as a file, an object per number. ---

function plainRows() {
  const { kinds, shapes, warnings, warning_codes: codes, runs } = page.rows;
  return runs.flatMap((run) => run.trials.flatMap((t) => shapes[run.shape].flatMap((kind, i) => t.values[i] == null ? [] : [{
    target: run.target, trial: t.trial, step: run.step, ...kinds[kind], value: t.values[i], n: t.n[i],
    ...(t.warnings?.[i] && { warnings: t.warnings[i].map((w) => ({ ...(codes[w] && { code: codes[w] }), text: warnings[w] })) }),
  }])));
}

const button = byId("download");
button.hidden = false;
button.onclick = () => save(JSON.stringify(plainRows(), null, 1), "application/json", "rows.json");

addTools();
reveal();
unfold();
