"use strict";
// how long work stands: asked for four times a second, and the page is fetched again when it has ended
const job = document.querySelector(".job[data-active='yes']");
const ask = async () => {
  let state = null;
  try { const answer = await fetch(job.dataset.job); state = answer.ok ? await answer.json() : null; } catch { state = null; }
  if (state === null) { job.querySelector(".sentence").textContent = "The studio does not answer. The work goes on; start the studio again to see it."; setTimeout(ask, 2000); return; }
  if (!state.active) { location.replace(location.pathname + location.search); return; }
  job.querySelector(".sentence").textContent = state.sentence;
  job.querySelector("progress").value = state.share;
  job.querySelector(".stages").replaceChildren(...state.stages.map((s) => Object.assign(document.createElement("li"), {textContent: s})));
  setTimeout(ask, 250);
};
if (job) setTimeout(ask, 150);

// whoever ticks an effect of the model wants to choose them
for (const word of document.querySelectorAll("input[name=word]")) word.addEventListener("change", () => { document.querySelector("input[name=automatic][value='']").checked = true; });

// a report in a page is as tall as it says, so that there is one thing to scroll; its links lead where it says
const report = document.querySelector("iframe.report");
addEventListener("message", (event) => {
  if (!report || event.source !== report.contentWindow) return;
  const {height, top} = event.data;
  if (height > 0) report.style.height = `${Math.min(height, 50000)}px`;
  if (top > 0) scrollTo(0, scrollY + report.getBoundingClientRect().top + Math.min(top, 50000));
});

// a file may be dropped on the label of its field
for (const zone of document.querySelectorAll(".drop")) {
  const field = zone.querySelector("input[type=file]");
  const over = (on) => (event) => { event.preventDefault(); zone.classList.toggle("over", on); };
  zone.addEventListener("dragover", over(true));
  zone.addEventListener("dragleave", over(false));
  zone.addEventListener("drop", (event) => { over(false)(event); field.files = event.dataTransfer.files; field.dispatchEvent(new Event("change")); });
}
