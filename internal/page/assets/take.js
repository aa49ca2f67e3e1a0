// Taking pictures and tables away: each has a button that copies or saves it.
"use strict";

// --- Pictures: drawings that are complete without the page. ---

function svgNode(tag, attributes = {}, ...children) {
  const e = set(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes);
  e.append(...children);
  return e;
}
const round = (v) => +v.toFixed(2);

const pixel = make("canvas", { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });

// paint returns the attributes for a style sheet's colour, which may be of a kind
// that only browsers know; null if it cannot be seen.
function paint(name, value) {
  pixel.clearRect(0, 0, 1, 1);
  pixel.fillStyle = value;
  pixel.fillRect(0, 0, 1, 1);
  const [r, g, b, a] = pixel.getImageData(0, 0, 1, 1).data;
  return a ? { [name]: "#" + [r, g, b].map((v) => v.toString(16).padStart(2, "0")).join(""), ...(a < 255 && { [name + "-opacity"]: a / 255 }) } : null;
}

// The styles that drawings have, with their values where there is no style.
const usual = { fill: "rgb(0, 0, 0)", stroke: "none", "stroke-width": "1px", "stroke-dasharray": "none", "stroke-linejoin": "miter",
  opacity: "1", "text-anchor": "start", "font-size": "", "font-weight": "400" };

// inlined copies a node of a drawing, with its styles as attributes.
function inlined(node, outer) {
  if (node.nodeType !== 1) return node.cloneNode();
  const style = getComputedStyle(node);
  if (style.display === "none") return "";
  const copy = svgNode(node.localName === "a" ? "g" : node.localName);
  for (const { name, value } of node.attributes) if (!(name in usual) && !/^(class|role|href|data-|aria-)/.test(name)) copy.setAttribute(name, value);
  for (const name in usual) {
    const value = style.getPropertyValue(name), before = name === "opacity" ? "1" : outer.getPropertyValue?.(name) ?? usual[name];
    if (value === before) continue;
    if ((name === "fill" || name === "stroke") && !/^(none|url)/.test(value)) {
      set(copy, paint(name, value === "currentcolor" ? style.color : value) || { [name]: "none" });
    } else set(copy, { [name]: value.replaceAll("px", "") });
  }
  copy.append(...[...node.childNodes].map((n) => inlined(n, style)));
  return copy;
}

// pattern draws the stripes and dots of a box, each layer on top of it.
function pattern(style, at, to) {
  for (const layer of style.backgroundImage.split(/(?<=\)), (?=[a-z-]+-gradient)/)) {
    const stops = [...layer.matchAll(/((?:rgb|color)a?\([^)]*\))(?: ([\d.]+)(px|%))?/g)].map(([, colour, n]) => ({ fill: paint("fill", colour), n: +n }));
    const size = parseFloat(style.backgroundSize), thin = /% ([\d.]+)px/.exec(style.backgroundSize)?.[1];
    const angle = /^repeating-linear-gradient\(([\d.]+)deg/.exec(layer);
    if (!stops.length) continue;
    if (thin) { // a line through the middle
      to.append(svgNode("rect", { x: at.x, y: at.y + (at.height - thin) / 2, width: at.width, height: +thin, ...stops[0].fill }));
      continue;
    }
    const id = "pattern-" + to.querySelectorAll("pattern").length, period = angle ? stops.at(-1).n : size;
    const tile = svgNode("pattern", { id, width: period, height: period, patternUnits: "userSpaceOnUse", ...(angle && { patternTransform: `rotate(${angle[1] - 90})` }) });
    if (angle) {
      stops.slice(1).forEach((s, i) => s.fill && stops[i].fill && tile.append(svgNode("rect", { x: stops[i].n, width: s.n - stops[i].n, height: period, ...s.fill })));
    } else if (layer.startsWith("radial") && size) tile.append(svgNode("circle", { cx: size / 2, cy: size / 2, r: stops[0].n / 100 * size * Math.SQRT1_2, ...stops[0].fill }));
    to.append(tile, svgNode("rect", { ...at, fill: `url(#${id})` }));
  }
}

// written draws a text, line by line, where it stands.
function written(node, from, to) {
  const style = getComputedStyle(node.parentNode), range = document.createRange(), lines = [];
  for (const { 0: word, index } of node.data.matchAll(/\S+/g)) {
    range.setStart(node, index);
    range.setEnd(node, index + word.length);
    const r = range.getBoundingClientRect(), line = lines.at(-1);
    if (line && Math.abs(line.y - r.y) < 2) Object.assign(line, { text: line.text + " " + word, right: r.right });
    else lines.push({ text: word, x: r.x, y: r.y, height: r.height, right: r.right });
  }
  const end = /right|end/.test(style.textAlign), look = { "font-size": parseFloat(style.fontSize), "font-weight": style.fontWeight, ...(end && { "text-anchor": "end" }), ...paint("fill", style.color) };
  for (const l of lines) to.append(svgNode("text", { x: round((end ? l.right : l.x) - from.x), y: round(l.y + 0.79 * l.height - from.y), ...look }, l.text));
}

// outlined draws an element of the page, and all in it.
function outlined(e, from, to) {
  if (e.nodeType === 3) return written(e, from, to);
  const style = e.nodeType === 1 && getComputedStyle(e);
  if (!style || style.display === "none" || style.visibility === "hidden") return;
  const { x, y, width, height } = e.getBoundingClientRect(), at = { x: round(x - from.x), y: round(y - from.y), width: round(width), height: round(height) };
  if (e.localName === "svg") return to.append(set(inlined(e, usual), at));
  const fill = paint("fill", style.backgroundColor);
  if (fill) to.append(svgNode("rect", { ...at, ...fill }));
  if (style.backgroundImage !== "none") pattern(style, at, to);
  for (const side of ["Left", "Right"]) { // no picture has other borders
    const w = parseFloat(style[`border${side}Width`]), middle = at.x + (side === "Left" ? w / 2 : width - w / 2);
    const dash = style[`border${side}Style`] === "dashed" && { "stroke-dasharray": 2 * w };
    if (w) to.append(svgNode("path", { d: `M${middle} ${at.y}v${height}`, "stroke-width": w, ...dash, ...paint("stroke", style[`border${side}Color`]) }));
  }
  if (style.overflowX !== "visible" && e.scrollWidth > e.clientWidth) return; // it has no room for its label
  for (const child of e.childNodes) outlined(child, from, to);
}

const seriesStyle = (index) => `t${index % dashes.length}` + (index % signs.length < dashes.length ? "" : " u");

// figureOf draws a chart over time as svg.go draws plots, with what is shown of it.
function figureOf({ plot, chart, data }) {
  const { offsetLeft: left, offsetTop: top, offsetWidth: width, offsetHeight: height } = plot.over;
  const x = (v) => round(left + plot.valToPos(v, "x")), y = (v) => round(top + plot.valToPos(v, "y")), bottom = top + height;
  const svg = svgNode("svg", { viewBox: `0 0 ${plot.width} ${plot.height}` });
  const area = svgNode("svg", { x: left, y: top, width, height, viewBox: `${left} ${top} ${width} ${height}` });
  plot.axes.forEach(({ _splits: at, _values: texts }, vertical) => at.forEach((v, i) => {
    svg.append(svgNode("path", { class: "grid", d: vertical ? `M${left} ${y(v)}h${width}` : `M${x(v)} ${top}v${height}` }));
    if (texts[i]) svg.append(svgNode("text", vertical ? { x: left - 8, y: y(v) + 4, "text-anchor": "end" } : { x: x(v), y: bottom + 18, "text-anchor": "middle" }, texts[i]));
  }));
  const points = (values) => values.map((v, i) => v == null ? null : [x((i + 0.5) * data.width), y(v)]);
  const path = (list) => list.map((p, i) => p ? `${list[i - 1] ? "L" : "M"}${p.join(" ")}` : "").join("");
  const add = (tag, kind, index, attributes, ...text) => hiddenTargets.has(index) || area.append(svgNode(tag, { class: `${kind} ${seriesStyle(index)}`, ...attributes }, ...text));
  for (const s of data.stalls || []) add("path", "stall", s.index, { d: `M${x(s.from)} ${top}H${Math.max(x(s.to), x(s.from) + 1)}V${bottom}H${x(s.from)}z` });
  const lanes = [...new Set((data.marks || []).map((m) => m.index))];
  for (const m of data.marks || []) add("path", "tick", m.index, { d: `M${x(m.at)} ${top + 6 * lanes.indexOf(m.index)}v5` });
  data.targets.forEach(({ index }, i) => {
    const low = chart.low?.[i], line = points(chart.lines[i]), known = line.filter(Boolean), every = Math.max(1, known.length >> 2);
    for (const [from, to] of stretches(low || [])) {
      add("path", "band", index, { d: path([...points(chart.high[i]).slice(from, to), ...points(low).slice(from, to).reverse()]) + "z" });
    }
    add("path", "line", index, { d: path(line) });
    for (let k = Math.floor(index * every / 3) % every; k < known.length; k += every) {
      add("text", "mark", index, { x: known[k][0], y: known[k][1] + 4, "text-anchor": "middle" }, signs[index % signs.length]);
    }
  });
  svg.append(area);
  return make("figure", { className: "plot" }, make("figcaption", { textContent: chart.title }), svg);
}

// legendOf names the series of a picture whose texts do not.
function legendOf(place, copy) {
  if (place.previousElementSibling?.matches(".roles")) return place.previousElementSibling.cloneNode(true);
  const used = all("svg [class*=t]", copy).filter((e) => getComputedStyle(e).display !== "none").map((e) => e.getAttribute("class").replace(/^\S+ /, ""));
  const texts = new Set(all("text", copy).map((e) => e.textContent));
  const legend = (place.closest("section:has(.legend > [data-t])") || document).querySelector(".legend:has([data-t])")?.cloneNode(true);
  const nameOf = (li) => (li.querySelector("strong") || li.childNodes[1]).textContent.trim();
  if (!legend) return "";
  for (const e of all("li, small", legend)) if (!used.includes(seriesStyle(e.dataset.t))) e.remove();
  const named = all("li", legend).map(nameOf);
  legend.className = "legend small";
  return named.length && !named.some((name) => texts.has(name)) ? legend : "";
}

// svgOf returns a picture as a file. Its copy in the page is never shown.
function svgOf(place) {
  const chart = [...drawings.values()].flat().find((c) => c.place === place), copy = chart ? figureOf(chart) : place.cloneNode(true);
  copy.classList.add("taken", "light");
  copy.style.width = Math.max(600, (copy.querySelector("svg")?.viewBox.baseVal.width || 0) + 32) + "px";
  place.after(copy);
  try {
    const source = joined([...new Set([document.title, sectionOf(place)])], " · ");
    copy.append(legendOf(place, copy), make("p", { className: "about", textContent: source }));
    const from = copy.getBoundingClientRect(), { width, height } = from;
    const svg = svgNode("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "font-family": getComputedStyle(copy).fontFamily }, svgNode("title", {}, titleOf(place)));
    outlined(copy, from, svg);
    return new XMLSerializer().serializeToString(svg);
  } finally { copy.remove(); }
}

async function pngOf(svg) {
  const image = make("img", { src: "data:image/svg+xml;charset=utf-8," + encodeURIComponent(svg) });
  await image.decode();
  const canvas = make("canvas", { width: 2 * image.width, height: 2 * image.height });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => canvas.toBlob(done));
}

// --- Tables: what is shown of them, in the order in which it is shown. ---

// exact returns a cell's number in full as { value, unit }, where a script knows it.
let exact = () => null;

// wordsOf is what an element says itself, without small print and buttons.
function wordsOf(e) {
  const copy = e.cloneNode(true);
  for (const extra of all("small, sup, b, button, .sign, .anchor", copy)) extra.remove();
  return copy.textContent.trim().replace(/\s+/g, " ");
}

// parsed is a shown number, its unit, and the value of its last digit.
function parsed(text) {
  const m = /^(-?[\d,]+(?:\.(\d+))?(?:e([-+]?\d+))?)(?: (\S+))?$/.exec(text);
  return m && { value: parseFloat(m[1].replaceAll(",", "")), unit: m[4] || "", digit: 10 ** ((m[3] || 0) - (m[2] || "").length) };
}

const noteOf = (id) => byId(id)?.textContent.replace(/^⚠ ?/, "");

const textsOf = (selector, e) => joined(all(selector, e).map((part) => part.textContent.trim()));

function cellOf(cell, sub = "") {
  const of = (selector) => textsOf(selector, cell);
  const text = wordsOf(cell), per = of("small.per"), versus = of("small:not(.per, .tag)"), notes = all("sup a", cell).map((a) => a.hash.slice(1));
  const number = cell.classList.contains("x") ? null : exact(cell, text) || parsed(text);
  const [, ratio, sign] = /^(.*?)(?: ?([^\w\s×.]+))?$/.exec(versus);
  return {
    value: cell.classList.contains("absent") ? "" : String(number ? number.value : text), unit: number ? joined([number.unit, per || sub]) : "",
    ratio: ratio.replace("×", ""), sign: sign || of(".sign"), notes,
    remark: joined([of(".tag"), ...notes.map(noteOf)], "; "),
    line: joined([(cell.querySelector("b") ? "≠ " : "") + text + of(".sign"), of("sup"), per, versus && `(${versus})`, of(".tag") && "⚠ " + of(".tag")]),
  };
}

// contentOf returns a table's heads, and its groups with their rows of cells.
function contentOf(table) {
  const shown = (e) => e && e.getClientRects().length > 0;
  const heads = [...table.tHead.rows[0].cells].map((th, i) => shown(th) && { i, name: wordsOf(th), sub: textsOf("small", th), number: th.classList.contains("n") }).filter(Boolean);
  const groups = [...table.tBodies].map((body) => {
    const head = [...body.rows].find((r) => r.classList.contains("group"));
    const subs = heads.map((h) => h.i && head?.cells[h.i]?.textContent.trim() || "");
    const rows = [...body.rows].filter((r) => r !== head && shown(r));
    const named = (cell) => ({ value: wordsOf(cell), line: wordsOf(cell) });
    return { name: head ? wordsOf(head.cells[0]) : "", subs, rows: rows.map((r) => heads.map((h, k) => h.i ? cellOf(r.cells[h.i], subs[k]) : named(r.cells[0]))) };
  });
  return { heads, groups: groups.filter((g) => g.rows.length) };
}

const escaped = (text) => text.replace(/[\\|<*`[\]&]/g, "\\$&");

// markdown writes a group as a table, as the report in Markdown does.
function markdown(table) {
  const { heads, groups } = contentOf(table), row = (cells) => `| ${cells.map(escaped).join(" | ")} |`;
  const notes = new Set(groups.flatMap((g) => g.rows.flat().flatMap((c) => c.notes || [])));
  const out = groups.map((g) => [
    row(heads.map((h, k) => !h.i ? g.name || h.name : joined([h.name, g.subs[k] || h.sub]))),
    `|${heads.map((h) => h.number ? "---:|" : "---|").join("")}`,
    ...g.rows.map((cells) => row(cells.map((c) => c.line))),
  ].join("\n"));
  if (notes.size) out.push([...notes].map((id) => `- ⚠${byId(id)?.value} ${escaped(noteOf(id) || "")}`).join("\n"));
  return out.join("\n\n") + "\n";
}

// fields returns rows of texts: numbers in full, and what is said of them in
// columns beside them.
function fields(table) {
  const { heads, groups } = contentOf(table), rows = groups.flatMap((g) => g.rows), named = groups.some((g) => g.name);
  const columns = heads.map((h, k) => {
    const cells = rows.map((r) => r[k]), units = new Set(cells.filter((c) => c.unit || parsed(c.value)).map((c) => c.unit || ""));
    const name = joined([h.name, h.sub]), [unit] = units, extra = ["unit", "ratio", "sign", "remark"];
    return { k, name, value: units.size === 1 && unit && unit !== h.sub && !name.split(" ").includes(unit) ? `${name} (${unit})` : name,
      extra: extra.filter((f) => f === "unit" ? units.size > 1 : cells.some((c) => c[f])) };
  });
  return [
    [...(named ? ["group"] : []), ...columns.flatMap((c) => [c.value, ...c.extra.map((f) => `${c.name} ${f}`)])],
    ...groups.flatMap((g) => g.rows.map((r) => [...(named ? [g.name] : []), ...columns.flatMap((c) => [r[c.k].value, ...c.extra.map((f) => r[c.k][f] || "")])])),
  ];
}

// plainCell returns a cell that a spreadsheet does not compute: names come from others.
const plainCell = (f) => /^\s*[=+\-@＝＋－＠]./s.test(f) && !/^[+\-][\d.,]+(e[+\-]?\d+)? ?%?$/i.test(f) ? "'" + f : f;

// A list as text has commas between its parts.
const csv = (table) => fields(table).map((r) => r.map(plainCell).map((f) => /[",\n]/.test(f) ? `"${f.replaceAll('"', '""')}"` : f) + "\n").join("");
const tsv = (table) => fields(table).map((r) => r.map((f) => plainCell(f.replace(/\s+/g, " "))).join("\t") + "\n").join("");

// --- The buttons, and what they open. ---

const sectionOf = (e) => e.closest("section")?.querySelector("h2")?.firstChild.textContent.trim() || "";

// titleOf is the title of a picture, or the heading that a table stands below.
function titleOf(what) {
  const own = what.querySelector("figcaption, h4");
  if (own) return wordsOf(own);
  for (let e = what; e && e.tagName !== "SECTION"; e = e.previousElementSibling || e.parentElement) if (/^(H[34]|SUMMARY)$/.test(e.tagName)) return wordsOf(e);
  return "";
}

function save(content, type, name) {
  const link = make("a", { href: URL.createObjectURL(new Blob([content], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1e4);
}

// copyText copies a text also where pages opened from a file have no clipboard.
async function copyText(text) {
  try { await navigator.clipboard.writeText(text); } catch {
    const field = make("textarea", { value: text, className: "taken" });
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    return done;
  }
  return true;
}

// ways are the forms in which something can be taken: name, ending, type, content.
const ways = (what) => what.matches("table")
  ? [["Markdown", "md", "text/markdown", markdown], ["CSV", "csv", "text/csv", csv], ["TSV", "tsv", "text/tab-separated-values", tsv]]
  : [["PNG", "png", "image/png", (e) => pngOf(svgOf(e))], ["SVG", "svg", "image/svg+xml", svgOf]];

async function take(what, [, ending, type, content], copying) {
  const made = content(what), title = [...new Set([sectionOf(what), titleOf(what)])].join(" ");
  const name = title.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "") || "table";
  try {
    if (copying && ending !== "png" && await copyText(made)) return "Copied";
    if (copying && ending === "png") {
      await navigator.clipboard.write([new ClipboardItem({ [type]: made })]);
      return "Copied";
    }
  } catch { /* this browser copies no pictures */ }
  save(await made, type, `${name}.${ending}`);
  return copying ? "Saved: copying failed" : "Saved";
}

// One box serves all buttons; the browser closes it, and gives the focus back.
const takes = make("div", { className: "takes", popover: "auto" });
document.body.append(takes);

function fillTakes(button, what) {
  const act = async (way, verb) => {
    const said = set(make("p", { textContent: await take(what, way, verb === "Copy") }), { role: "status" });
    takes.replaceChildren(said);
    setTimeout(() => said.isConnected && takes.hidePopover(), 1500);
  };
  const choice = (way, textContent) => set(make("button", { type: "button", textContent, onclick: () => act(way, textContent) }), { "aria-label": `${textContent} as ${way[0]}` });
  takes.replaceChildren(...ways(what).flatMap((way) => [make("span", { textContent: way[0] }), choice(way, "Copy"), choice(way, "Save")]));
  takes.querySelector("button").autofocus = true;
  const { left, top, bottom } = button.getBoundingClientRect(), width = 230, height = 150; // at most
  takes.style.left = scrollX + Math.min(left, innerWidth - width) + "px";
  takes.style.top = scrollY + (bottom + height < innerHeight ? bottom + 4 : top - height) + "px";
}

// offer puts a button for a picture or a table into its title or first head.
function offer(what, place) {
  const button = make("button", { type: "button", className: "take", textContent: "⋯", popoverTargetElement: takes, onclick: () => fillTakes(button, what) });
  place.append(" ", set(button, { "aria-label": `Copy or save: ${titleOf(what) || wordsOf(place)}` }));
}

for (const figure of all("figure")) if (figure.querySelector("figcaption")) offer(figure, figure.querySelector("figcaption"));
for (const table of all("table")) if (table.tHead) offer(table, table.tHead.rows[0].cells[0]);
