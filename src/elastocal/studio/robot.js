"use strict";
// joints and load by dragging or typing: the server answers with the picture and the numbers
const robot = document.getElementById("robot"), numbers = document.getElementById("numbers"), said = document.getElementById("said"), refused = document.getElementById("refused");
const values = (kind) => [...robot.querySelectorAll("." + kind)].map((i) => i.value === "" ? "0" : i.value).join(",");
let waiting = false, again = false;
const renew = async () => {
  if (waiting) { again = true; return; }
  waiting = true;
  const calibrated = document.getElementById("calibrated");
  const words = new URLSearchParams({at: values("joint-value"), load: values("load-value"), calibrated: calibrated && calibrated.checked ? "yes" : ""});
  try {
    const answer = await fetch(robot.dataset.state + "?" + words), state = await answer.json();
    refused.textContent = answer.ok ? "" : state.error;
    if (answer.ok) { draw(state.scene); tool = state.tool; scale = state.scale; numbers.innerHTML = state.numbers; said.replaceChildren(...state.notes.map((n) => Object.assign(document.createElement("p"), {textContent: n}))); }
  } catch { refused.textContent = "The studio does not answer."; }
  waiting = false;
  if (again) { again = false; renew(); }
};
const draw = (d) => {
  const live = robot.querySelector(".scene .live");
  if (!live || !live.data) return;
  fitted(d, live.clientWidth);
  d.data.filter((t) => t.type === "mesh3d").forEach(solid);
  const seen = live._fullLayout.scene;
  d.layout.scene.camera = seen.camera;
  d.layout.height = live._fullLayout.height;
  Plotly.react(live, d.data, d.layout, {responsive: true, displaylogo: false, ...d.options});
};
for (const range of robot.querySelectorAll("input[type=range]")) {
  const typed = document.getElementById(range.dataset.for);
  range.addEventListener("input", () => { typed.value = Math.round(10 * range.value) / 10; renew(); });
  typed.addEventListener("input", () => { range.value = typed.value; renew(); });
}
for (const typed of robot.querySelectorAll(".load-value")) typed.addEventListener("input", renew);

// the load: a ring at the end of its arrow is pulled in the plane of the screen
let tool = JSON.parse(robot.dataset.tool), scale = Number(robot.dataset.scale);
const ring = Object.assign(document.createElement("div"), {className: "ring", title: "pull: force on the tool", ariaHidden: "true"});
const forces = [...robot.querySelectorAll(".load-value")].slice(0, 3);
const end = () => tool.map((x, i) => x + scale * (Number(forces[i].value) || 0));
const scene = () => robot.querySelector(".scene .live")?._fullLayout?.scene?._scene;
const times = (m, v) => [0, 1, 2, 3].map((r) => m[r] * v[0] + m[r + 4] * v[1] + m[r + 8] * v[2] + m[r + 12] * v[3]);
const seen = (p) => {  // pixels of a point of the scene
  const {glplot: {cameraParams: c}, dataScale, container: {clientWidth: w, clientHeight: h}} = scene();
  const v = [c.model, c.view, c.projection].reduce((u, m) => times(m, u), [...p.map((x, i) => x * dataScale[i]), 1]);
  return [(1 + v[0] / v[3]) * w / 2, (1 - v[1] / v[3]) * h / 2];
};
const follow = () => {
  if (scene()?.glplot?.cameraParams) {
    const box = scene().container;
    if (ring.parentElement !== box.parentElement) box.parentElement.append(ring);
    const [x, y] = seen(end());
    ring.style.transform = `translate(${box.offsetLeft + x}px, ${box.offsetTop + y}px)`;
  }
  requestAnimationFrame(follow);
};
follow();
ring.addEventListener("pointerdown", (e) => { ring.setPointerCapture(e.pointerId); e.preventDefault(); });
ring.addEventListener("pointermove", (e) => {
  if (!ring.hasPointerCapture(e.pointerId)) return;
  const at = end(), from = seen(at), box = scene().container.getBoundingClientRect(), h = 1e-3;
  const by = [e.clientX - box.left - from[0], e.clientY - box.top - from[1]];
  const slope = [0, 1, 2].map((i) => seen(at.map((x, k) => x + h * (k === i))).map((s, k) => (s - from[k]) / h));
  const dot = (j, k) => slope.reduce((sum, row) => sum + row[j] * row[k], 0), det = dot(0, 0) * dot(1, 1) - dot(0, 1) ** 2;
  const a = (dot(1, 1) * by[0] - dot(0, 1) * by[1]) / det, b = (dot(0, 0) * by[1] - dot(0, 1) * by[0]) / det;
  const digits = Math.max(0, Math.ceil(Math.log10(200 * scale)));
  forces.forEach((field, i) => { field.value = ((Number(field.value) || 0) + (slope[i][0] * a + slope[i][1] * b) / scale).toFixed(digits); });
  renew();
});

document.getElementById("calibrated")?.addEventListener("change", renew);

// a parameter that is chosen to be changed brings its value; where the new one is from must be said
const parameter = document.querySelector("select[name=parameter]"), field = parameter.form.elements;
const begin = () => { const {value, unit, shown, source} = parameter.selectedOptions[0].dataset; field.value.value = value; field.unit.value = unit; document.getElementById("unit").textContent = shown ? `in ${shown}` : "a number without unit"; field.source.placeholder = `so far: ${source}`; };
parameter.addEventListener("change", begin);
if (parameter.selectedOptions.length) begin();
