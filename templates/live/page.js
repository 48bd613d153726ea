"use strict";
// Sliders over what symroof computed: a stop is a computed point, and nothing is worked out between two of them.
(() => {
  const byId = id => document.getElementById(id);
  const page = JSON.parse(byId("live-data").textContent), form = byId("live-form");
  const sliders = page.inputs.map(input => byId(`live-${input.name}`));

  function cell(text, className) {
    const made = document.createElement("td");
    made.textContent = text;
    if (className) made.className = className;
    return made;
  }

  function show() {
    const places = sliders.map(slider => Number(slider.value));
    const at = places.reduce((sum, place, i) => sum * page.inputs[i].stops.length + place, 0);
    page.inputs.forEach((input, i) => {
      byId(`live-value-${input.name}`).textContent = input.stops[places[i]];
      sliders[i].setAttribute("aria-valuetext", input.stops[places[i]]);
    });
    byId("live-rows").replaceChildren(...page.rows.map(row => {
      const line = document.createElement("tr");
      line.append(cell(row.label), cell(row.texts[at], "n"), cell(row.target, "n"), cell(page.words[row.marks[at] ?? ""]));
      return line;
    }));
  }

  function start() {
    sliders.forEach((slider, i) => {
      slider.max = page.inputs[i].stops.length - 1;
      slider.value = page.start[i];
    });
    show();
  }

  sliders.forEach(slider => slider.addEventListener("input", show));
  form.addEventListener("submit", event => event.preventDefault());
  form.addEventListener("reset", event => { event.preventDefault(); start(); });
  form.hidden = false;
  start();
})();
