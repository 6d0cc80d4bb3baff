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
    const answer = await fetch(robot.dataset.state + "?" + words), found = await answer.json();
    refused.textContent = answer.ok ? "" : found.error;
    if (answer.ok) { draw(found.scene); numbers.innerHTML = found.numbers; said.replaceChildren(...found.notes.map((n) => Object.assign(document.createElement("p"), {textContent: n}))); }
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
document.getElementById("calibrated")?.addEventListener("change", renew);
