// Charts over time, with uPlot, in the place of the page's drawings.
"use strict";

const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const make = (tag, props = {}, ...children) => {
  const e = Object.assign(document.createElement(tag), props);
  e.append(...children);
  return e;
};
const height = 220; // of a chart
const byId = (id) => document.getElementById(id);
const joined = (texts, by = " ") => texts.filter(Boolean).join(by);
const set = (e, attributes) => {
  for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
  return e;
};
const hiddenTargets = new Set(); // by their indexes

const dashes = [[], [7, 3], [2, 3], [9, 3, 2, 3], [12, 4], [4, 2], [1, 2], [9, 2, 2, 2, 2, 2]];
const signs = ["●", "■", "▲", "◆", "▼", "★", "○", "□", "◎", "▣", "△", "◇", "▽", "☆", "✚", "✖"];
const borders = ["solid", "dashed", "dotted", "dashed", "dashed", "dashed", "dotted", "dashed"];
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const colour = (index) => css("--t" + (index % dashes.length));
const dash = (index) => (index % dashes.length + (index % signs.length < dashes.length ? 0 : 3)) % dashes.length;
const short = (v) => v == null ? "–" : Math.abs(v) >= 100 ? Math.round(v).toLocaleString("en") : String(+v.toPrecision(3));

// stretches are where a line has values, as pairs of places.
function stretches(line) {
  const out = [];
  for (let k = 0; k < line.length; k++) {
    const from = k;
    while (k < line.length && line[k] != null) k++;
    if (k > from + 1) out.push([from, k]);
  }
  return out;
}

// shade tints what lies behind the lines: stalls, bands over the clients, and
// ticks where an engine made a checkpoint.
function shade(data, chart) {
  return (u) => {
    const at = (v, scale) => u.valToPos(v, scale, true);
    const shown = (index) => !hiddenTargets.has(index);
    const { ctx, bbox } = u, ratio = devicePixelRatio;
    ctx.save();
    ctx.textAlign = "center";
    ctx.font = `${10 * ratio}px system-ui`;
    for (const s of (data.stalls || []).filter((s) => shown(s.index))) {
      const from = at(s.from, "x"), to = at(s.to, "x");
      ctx.fillStyle = colour(s.index);
      ctx.globalAlpha = 0.16;
      ctx.fillRect(from, bbox.top, Math.max(1, to - from), bbox.height);
      ctx.globalAlpha = 1;
      if (from >= bbox.left && to <= bbox.left + bbox.width) ctx.fillText(signs[s.index % signs.length], (from + to) / 2, bbox.top + bbox.height - 4 * ratio);
    }
    const lanes = new Map();
    for (const m of (data.marks || []).filter((m) => shown(m.index))) {
      if (!lanes.has(m.index)) lanes.set(m.index, bbox.top + 6 * ratio * lanes.size);
      ctx.fillStyle = colour(m.index);
      if (at(m.at, "x") >= bbox.left) ctx.fillRect(at(m.at, "x"), lanes.get(m.index), 1.5 * ratio, 5 * ratio);
    }
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.globalAlpha = 0.16;
    (chart.low || []).forEach((low, i) => {
      if (!low || !shown(data.targets[i].index)) return;
      ctx.fillStyle = colour(data.targets[i].index);
      const middle = (k) => at((k + 0.5) * data.width, "x");
      for (const [from, k] of stretches(low)) {
        ctx.beginPath();
        for (let j = from; j < k; j++) ctx.lineTo(middle(j), at(chart.high[i][j], "y"));
        for (let j = k - 1; j >= from; j--) ctx.lineTo(middle(j), at(low[j], "y"));
        ctx.fill();
      }
    });
    ctx.restore();
  };
}

function options(data, chart, width) {
  const axis = { stroke: css("--soft"), grid: { stroke: css("--rule"), width: 1 }, ticks: { stroke: css("--rule"), width: 1 } };
  const values = (u, ticks) => ticks.map((t) => t == null ? "" : short(t));
  const top = Math.max(0, ...(chart.high || []).flatMap((h) => h || []).filter((v) => v != null));
  return {
    width, height,
    cursor: { sync: { key: data.key }, drag: { x: true, y: false } },
    scales: { x: { time: false, range: (u, min, max) => [min, max] },
      y: chart.log ? { distr: 3 } : { range: (u, min, max) => [0, Math.max(max, top) * 1.08 || 1] } },
    legend: { markers: { width: 2, dash: (u, i) => borders[dash(data.targets[i - 1].index)] } },
    axes: [{ ...axis, values: (u, ticks) => ticks.map((t) => short(t) + " s") }, { ...axis, size: 72, values }],
    series: [
      { label: "time", value: (u, v) => v == null ? "–" : short(v) + " s" },
      ...data.targets.map((t) => ({
        label: t.name, stroke: colour(t.index), width: 1.6, dash: dashes[dash(t.index)], show: !hiddenTargets.has(t.index),
        points: { show: data.points < 3 }, value: (u, v) => short(v),
      })),
    ],
    hooks: { drawClear: [shade(data, chart)] },
  };
}

const drawings = new Map(); // box -> its charts

// Charts keep the width of their places, also when a fold opens or a scroll bar
// appears.
const sizes = new ResizeObserver(() => requestAnimationFrame(() => {
  for (const { place, plot } of [...drawings.values()].flat()) {
    const width = place.clientWidth;
    if (width && width !== plot.width) plot.setSize({ width, height });
  }
}));

function draw(box) {
  if (drawings.has(box)) return;
  const data = JSON.parse(box.querySelector("script").textContent);
  data.key = box.closest("section").id;
  const x = Array.from({ length: data.points }, (_, i) => (i + 0.5) * data.width);
  box.classList.add("drawn");
  box.classList.toggle("many", data.targets.length > 5); // legends show on hover or touch, and there is one above all charts
  // A chart has its width only when all of its neighbours have their places.
  const places = data.charts.map((chart) => make("div", { className: "chart", tabIndex: -1 }, make("h4", { textContent: chart.title })));
  box.append(...places);
  const widths = places.map((place) => place.clientWidth);
  const charts = data.charts.map((chart, i) => ({ place: places[i], chart, data, plot: new uPlot(options(data, chart, widths[i]), [x, ...chart.lines], places[i]) }));
  for (const place of places) {
    sizes.observe(place);
    offer(place, place.firstChild);
  }
  drawings.set(box, charts);
}

function erase(box) {
  for (const c of drawings.get(box) || []) {
    sizes.unobserve(c.place);
    c.plot.destroy();
    c.place.remove();
  }
  drawings.delete(box);
}

const boxes = all(".charts");
// Charts are drawn when they come near, so that a long page opens at once.
const near = new IntersectionObserver((entries) => entries.forEach((e) => e.isIntersecting && e.target.clientWidth && draw(e.target)), { rootMargin: "800px" });
boxes.forEach((box) => near.observe(box));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  for (const box of [...drawings.keys()]) { erase(box); draw(box); }
});
