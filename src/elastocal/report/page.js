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
  d.data.filter((t) => t.mode === "text").forEach((t) => { t.textfont.color = colour("ink"); });
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
const ROUND = 12, TILTS = [-60, -30, 0, 0, 30, 60];  // corners around a capsule, and its rings from one end to the other, deg
const solid = (trace) => {  // capsules (two ends and a radius) as triangles
  for (const [ax, ay, az, bx, by, bz, r] of (trace.meta || {}).capsules || []) {
    const along = [bx - ax, by - ay, bz - az], length = Math.hypot(...along), w = length ? along.map((v) => v / length) : [0, 0, 1];
    const flat = w.map(Math.abs).indexOf(Math.min(...w.map(Math.abs))), e = [0, 1, 2].map((i) => +(i === flat));
    const cross = (p, q) => [p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]];
    let u = cross(w, e); u = u.map((v) => v / Math.hypot(...u)); const v = cross(w, u), first = trace.x.length;
    const put = (p) => { trace.x.push(p[0]); trace.y.push(p[1]); trace.z.push(p[2]); };
    put([ax - r * w[0], ay - r * w[1], az - r * w[2]]);
    TILTS.forEach((t, n) => { const c = n < 3 ? [ax, ay, az] : [bx, by, bz], tilt = t * Math.PI / 180;
      for (let k = 0; k < ROUND; k++) { const a = 2 * Math.PI * k / ROUND;
        put(c.map((o, i) => o + r * (Math.cos(tilt) * (Math.cos(a) * u[i] + Math.sin(a) * v[i]) + Math.sin(tilt) * w[i]))); } });
    put([bx + r * w[0], by + r * w[1], bz + r * w[2]]);
    const face = (i, j, k) => { trace.i.push(first + i); trace.j.push(first + j); trace.k.push(first + k); };
    const last = 1 + TILTS.length * ROUND, ring = last - ROUND;
    for (let k = 0; k < ROUND; k++) { const m = (k + 1) % ROUND;
      face(0, 1 + m, 1 + k); face(last, ring + k, ring + m);
      for (let n = 0; n < TILTS.length - 1; n++) { const p = 1 + n * ROUND; face(p + k, p + m, p + m + ROUND); face(p + k, p + m + ROUND, p + k + ROUND); } }
  }
};
const turn = (scene) => {
  const d = drawings[scene.dataset.number], live = scene.querySelector(".live");
  scene.classList.add("turned");
  fitted(d, live.clientWidth);
  d.data.filter((t) => t.type === "mesh3d").forEach(solid);
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
