// What the page does beyond standing there: tabs for the scorecard, charts over
// time, and the rows as a file. Without it everything can still be read.
"use strict";

// --- The scorecard's layers become tabs. ---

for (const box of document.querySelectorAll(".layers")) {
  const layers = [...box.querySelectorAll(".layer")];
  const tabs = document.createElement("div");
  tabs.className = "tabs";
  tabs.setAttribute("role", "tablist");
  const show = (chosen) => layers.forEach((layer, i) => {
    layer.hidden = i !== chosen;
    tabs.children[i].setAttribute("aria-selected", String(i === chosen));
    tabs.children[i].tabIndex = i === chosen ? 0 : -1;
  });
  layers.forEach((layer, i) => {
    const tab = document.createElement("button");
    tab.type = "button";
    tab.id = "tab-" + i;
    tab.setAttribute("role", "tab");
    tab.textContent = layer.dataset.name;
    tab.onclick = () => show(i);
    tab.onkeydown = (e) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
      if (!step) return;
      const next = (i + step + layers.length) % layers.length;
      show(next);
      tabs.children[next].focus();
    };
    layer.setAttribute("role", "tabpanel");
    layer.setAttribute("aria-labelledby", tab.id);
    tabs.append(tab);
  });
  box.classList.add("tabbed");
  box.prepend(tabs);
  show(0);
}

// --- Charts over time. ---

const dashes = [[], [7, 3], [2, 3], [9, 3, 2, 3], [12, 4], [4, 2], [1, 2], [9, 2, 2, 2, 2, 2]];
const borders = ["solid", "dashed", "dotted", "dashed", "dashed", "dashed", "dotted", "dashed"];
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const colour = (index) => css("--t" + (index % dashes.length));
const short = (v) => v == null ? "–" : Math.abs(v) >= 100 ? Math.round(v).toLocaleString("en") : String(+v.toPrecision(3));

// shadeStalls tints the stretches in which a target stood still.
function shadeStalls(data) {
  return (u) => {
    for (const s of data.stalls || []) {
      const from = u.valToPos(s.from, "x", true), to = u.valToPos(s.to, "x", true);
      u.ctx.save();
      u.ctx.globalAlpha = 0.16;
      u.ctx.fillStyle = colour(s.index);
      u.ctx.fillRect(from, u.bbox.top, Math.max(1, to - from), u.bbox.height);
      u.ctx.restore();
    }
  };
}

function options(data, chart, width) {
  const axis = { stroke: css("--soft"), grid: { stroke: css("--rule"), width: 1 }, ticks: { stroke: css("--rule"), width: 1 } };
  const values = (u, ticks) => ticks.map((t) => t == null ? "" : short(t));
  return {
    width, height: 220,
    cursor: { sync: { key: data.key }, drag: { x: true, y: false } },
    scales: { x: { time: false, range: (u, min, max) => [min, max] },
      y: chart.log ? { distr: 3 } : { range: (u, min, max) => [0, max > 0 ? max * 1.08 : 1] } },
    legend: { markers: { width: 2, dash: (u, i) => borders[data.targets[i - 1].index % borders.length] } },
    axes: [{ ...axis, values: (u, ticks) => ticks.map((t) => short(t) + " s") }, { ...axis, size: 72, values }],
    series: [
      { label: "time", value: (u, v) => v == null ? "–" : short(v) + " s" },
      ...data.targets.map((t) => ({
        label: t.name, stroke: colour(t.index), width: 1.6, dash: dashes[t.index % dashes.length],
        points: { show: data.points < 3 }, value: (u, v) => short(v),
      })),
    ],
    hooks: { drawClear: [shadeStalls(data)] },
  };
}

const drawings = new Map(); // box -> its charts

function draw(box) {
  if (drawings.has(box)) return;
  const data = JSON.parse(box.querySelector("script").textContent);
  data.key = box.closest("section").id;
  const x = Array.from({ length: data.points }, (_, i) => (i + 0.5) * data.width);
  box.classList.add("drawn");
  const charts = data.charts.map((chart) => {
    const place = document.createElement("div");
    place.className = "chart";
    const head = document.createElement("h4");
    head.textContent = chart.title;
    place.append(head);
    box.append(place);
    return { place, chart, plot: new uPlot(options(data, chart, place.clientWidth), [x, ...chart.lines], place) };
  });
  drawings.set(box, charts);
}

function erase(box) {
  for (const c of drawings.get(box) || []) {
    c.plot.destroy();
    c.place.remove();
  }
  drawings.delete(box);
}

const boxes = [...document.querySelectorAll(".charts")];
// Charts are drawn when they come near, so that a long page opens at once.
const near = new IntersectionObserver((entries) => entries.forEach((e) => e.isIntersecting && draw(e.target)), { rootMargin: "800px" });
boxes.forEach((box) => near.observe(box));
addEventListener("beforeprint", () => boxes.forEach(draw));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  for (const box of [...drawings.keys()]) { erase(box); draw(box); }
});

let resizing = 0;
addEventListener("resize", () => {
  cancelAnimationFrame(resizing);
  resizing = requestAnimationFrame(() => {
    for (const charts of drawings.values()) {
      for (const c of charts) c.plot.setSize({ width: c.place.clientWidth, height: 220 });
    }
  });
});

// --- The rows as a file. ---

const button = document.getElementById("download");
button.hidden = false;
button.onclick = () => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([document.getElementById("rows").textContent], { type: "application/json" }));
  link.download = "rows.json";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
};
