(function () {
"use strict";
// A click makes a box as wide as the drawing, one on the root shows all again.
var letter = 6.6, whole = 1200;
var boxes = Array.from(document.querySelectorAll("#boxes > g")).map(function (g) {
  var rects = g.querySelectorAll("rect"), r = rects[0], text = g.querySelector("text");
  return {g: g, rects: rects, text: text, x: +r.getAttribute("x"), w: +r.getAttribute("width"), y: +r.getAttribute("y"),
    name: g.querySelector("title").textContent.split("\n")[0], sign: {r: "+ ", b: "− "}[r.getAttribute("class")[0]] || ""};
});
function zoom(to) {
  var by = whole / to.w;
  boxes.forEach(function (b) {
    var above = b.y < to.y && b.x <= to.x + 0.1 && b.x + b.w >= to.x + to.w - 0.1;
    var inside = b.y >= to.y && b.x >= to.x - 0.1 && b.x + b.w <= to.x + to.w + 0.1;
    b.g.style.display = above || inside ? "" : "none";
    var x = above ? 0 : (b.x - to.x) * by, w = above ? whole : b.w * by;
    b.rects.forEach(function (r) { r.setAttribute("x", x); r.setAttribute("width", w); });
    var label = b.sign + b.name, room = Math.floor((w - 6) / letter);
    if (!b.text && room >= 3) {
      b.text = document.createElementNS("http://www.w3.org/2000/svg", "text");
      b.text.setAttribute("y", b.y + 12);
      b.g.appendChild(b.text);
    }
    if (b.text) {
      b.text.setAttribute("x", x + 3);
      b.text.textContent = room < 3 ? "" : room < label.length ? label.slice(0, room - 1) + "…" : label;
    }
  });
}
boxes.forEach(function (b) { b.g.style.cursor = "pointer"; b.g.addEventListener("click", function () { zoom(b); }); });
var search = document.getElementById("search");
search.textContent = "search";
search.addEventListener("click", function () {
  var word = prompt("part of a name; nothing ends the search", "") || "";
  boxes.forEach(function (b) { b.g.classList.toggle("find", word !== "" && b.name.toLowerCase().indexOf(word.toLowerCase()) >= 0); });
});
})();
