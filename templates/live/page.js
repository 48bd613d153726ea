"use strict";
// Sliders over numbers that symroof computed: a stop is a computed point, and nothing is worked out between two of them.
(() => {
  const byId = id => document.getElementById(id);
  const page = JSON.parse(byId("live-data").textContent), form = byId("live-form"), chooser = byId("live-case");
  const fields = page.inputs.map(input => ({
    ...input, typed: byId(`live-${input.name}`), slider: byId(`live-slider-${input.name}`), fault: byId(`live-fault-${input.name}`),
  }));
  let chosen = 0, places = [];

  function element(tag, text, className) {
    const made = document.createElement(tag);
    made.textContent = text;
    if (className) made.className = className;
    return made;
  }

  const grouped = text => text.replace(/^\d+/, digits => digits.replace(/\B(?=(\d{3})+$)/g, ","));

  // Without an exponent; zeros at the end only where something was rounded away.
  function written(number, digits) {
    const rounded = Number(number.toPrecision(digits));
    if (rounded === 0) return "0";
    const places = Math.max(0, digits - 1 - Math.floor(Math.log10(Math.abs(rounded))));
    return grouped(rounded === number ? String(rounded) : rounded.toFixed(Math.min(places, 20)));
  }

  // Where a row has the number of the point that the sliders are at.
  function placeIn([first, second]) {
    const wide = page.cases[chosen].stops[1]?.length ?? 1;
    return (first ? places[0] * (second ? wide : 1) : 0) + (second ? places[1] ?? 0 : 0);
  }

  // The value, and its range, in three digits.
  function shown(row) {
    const at = placeIn(row.along), value = row.value[at], low = row.low?.[at], high = row.high?.[at];
    if (value === null) return [row.nowhere ?? page.unknown, ""];
    const text = number => row.counted && Number.isInteger(number) ? grouped(String(number)) : written(number, Math.min(3, row.digits));
    const unit = row.unit ? ` ${row.unit}` : "";
    if (row.low && (low === null || high === null)) return [text(value) + unit, page.part];
    return [text(value) + unit, row.low && low !== high ? `${text(low)} to ${text(high)}${unit}` : ""];
  }

  function verdict(rows, marks) {
    const named = sign => rows.filter((row, i) => marks[i] === sign && !row.memory).map(row => row.label).join(", ");
    const memory = marks[rows.findIndex(row => row.memory)], missed = named(page.signs.missed), partly = named(page.signs.partly);
    if (memory === page.signs.missed) return "Does not fit in memory: no latency, rate or cost below can be reached.";
    const fits = memory === page.signs.partly ? "Fits in a part of the ranges only" : memory ? "Fits" : "Whether it fits is not known";
    if (missed) return `${fits}; misses its target: ${missed}.`;
    if (partly) return `${fits}; meets its target in a part of the ranges only: ${partly}.`;
    const unknown = page.cases[chosen].unknown;
    if (unknown) return `${fits}; not known whether it meets its target: ${unknown}.`;
    return `${fits}${page.cases[chosen].targets ? "; meets every target" : ""}.`;
  }

  function show() {
    const {stops, rows} = page.cases[chosen], width = stops[1]?.length ?? 1;
    const marks = rows.map(row => row.marks?.[places[0] * width + (places[1] ?? 0)] ?? "");
    fields.forEach((field, i) => {
      field.slider.max = stops[i].length - 1;
      field.slider.value = places[i];
      field.slider.setAttribute("aria-valuetext", grouped(String(stops[i][places[i]])));
    });
    const where = fields.map((field, i) => `${field.label} ${grouped(String(stops[i][places[i]]))} ${field.unit}`).join(", ");
    byId("live-says").replaceChildren(element("strong", `${where}:`), ` ${verdict(rows, marks)}`);
    byId("live-rows").replaceChildren(...rows.map((row, i) => {
      const [value, range] = shown(row), line = document.createElement("tr"), cell = element("td", value, "n");
      if (range) cell.append(" ", element("small", `(${range})`));
      line.append(element("td", row.label), cell, element("td", row.target ?? "", "n"), element("td", marks[i]));
      return line;
    }));
  }

  function tell(field, text, wrong) {
    field.fault.textContent = text;
    field.typed.setAttribute("aria-invalid", String(wrong));
  }

  function settle(i) {
    fields[i].typed.value = grouped(String(page.cases[chosen].stops[i][places[i]]));
    tell(fields[i], "", false);
  }

  function start() {
    places = [...page.cases[chosen].start];
    fields.forEach((_, i) => settle(i));
    show();
  }

  // A number that was typed goes to the nearest computed point; what is no number of the range is refused, and nothing changes.
  function read(i) {
    const field = fields[i], stops = page.cases[chosen].stops[i], text = field.typed.value.replace(/[\s,]/g, "");
    const value = text === "" ? NaN : Number(text), least = stops[0], most = stops.at(-1);
    if (!(value >= least && value <= most) || (field.whole && !Number.isInteger(value))) {
      const ends = [least, most].map(end => grouped(String(end))).join(" to ");
      tell(field, `Not applied: give a ${field.whole ? "whole " : ""}number from ${ends}.`, true);
      return;
    }
    places[i] = stops.reduce((best, stop, at) => Math.abs(stop - value) < Math.abs(stops[best] - value) ? at : best, 0);
    settle(i);
    if (stops[places[i]] !== value) tell(field, `The computed point nearest to ${grouped(String(value))}.`, false);
    show();
  }

  fields.forEach((field, i) => {
    field.slider.addEventListener("input", () => { places[i] = Number(field.slider.value); settle(i); show(); });
    field.typed.addEventListener("change", () => read(i));
  });
  chooser?.addEventListener("change", () => { chosen = Number(chooser.value); start(); });
  form.addEventListener("submit", event => event.preventDefault());
  form.addEventListener("reset", event => { event.preventDefault(); chosen = 0; if (chooser) chooser.value = 0; start(); });
  form.hidden = false;
  start();
})();
