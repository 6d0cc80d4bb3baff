const panes = [...document.querySelectorAll(".pane")], tabs = [...document.querySelectorAll("nav button")];
const choose = (n) => {
  tabs.forEach((t, i) => t.setAttribute("aria-selected", i === n));
  panes.forEach((p, i) => { p.classList.toggle("chosen", i === n); p.classList.toggle("tabbed-away", i !== n); });
  tabs[n].scrollIntoView({block: "nearest", inline: "nearest"});
};
tabs.forEach((t, i) => t.addEventListener("click", () => choose(i)));

const NARROW = 640, LOWEST = 0.7;  // px: a telephone; height of a narrow scene over its width
const canTurn = () => typeof Plotly !== "undefined" && document.createElement("canvas").getContext("webgl") !== null;
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
const fitted = (d, width) => {  // a narrow scene is as low as its box of axes lets it be, below the buttons and above the names
  const named = d.data.filter((t) => t.showlegend && t.visible).map((t) => 50 + 7.5 * t.name.length);
  const rows = Math.ceil(named.length / Math.max(1, Math.floor(width / Math.max(...named, 1))));
  const beside = d.layout.margin.t + d.layout.margin.b + 30 * rows, widest = width / d.layout.meta.aspect;
  const high = Math.min(d.layout.height - beside, Math.max(widest, LOWEST * width));
  d.layout.height = high + beside;
  const {eye, center} = d.layout.scene.camera, farther = Math.max(1, high / widest) * (width < NARROW ? 1.1 : 1);
  for (const c of "xyz") eye[c] = center[c] + farther * (eye[c] - center[c]);
  d.layout.font.color = colour("ink");
  for (const c of "xyz") {
    const axis = d.layout.scene[c + "axis"];
    Object.assign(axis, {gridcolor: colour("line"), zerolinecolor: colour("soft")});
    if (width < NARROW) {  // small and few, or numbers of one axis run into those of another
      Object.assign(axis, {tickfont: {size: 9}, nticks: Math.max(3, Math.ceil(axis.nticks / 2))});
      axis.title.font = {size: 11};
    }
  }
  (d.layout.updatemenus || []).forEach((m) => Object.assign(m, {bgcolor: colour("paper"), bordercolor: colour("soft")}));
};
const turn = (scene) => {
  const d = drawings[scene.dataset.number], live = scene.querySelector(".live");
  scene.classList.add("turned");
  fitted(d, live.clientWidth);
  Plotly.newPlot(live, d.data, d.layout, {responsive: true, displaylogo: false, ...d.options});
};
const scenes = [...document.querySelectorAll(".scene")];
if (scenes.length && canTurn()) {  // each when it comes into sight: a browser holds few of them at a time
  const watch = new IntersectionObserver((seen) => seen.filter((e) => e.isIntersecting).forEach((e) => { watch.unobserve(e.target); turn(e.target); }));
  scenes.forEach((s) => watch.observe(s));
} else scenes.forEach((s) => {
  const why = typeof Plotly === "undefined" ? bundle + " does not lie beside this file" : "this browser offers no WebGL";
  s.insertAdjacentHTML("beforeend", '<p class="notes missing"></p>');
  s.lastElementChild.textContent = "A still picture: " + why + ". In the JSON of the same command are its numbers.";
});
