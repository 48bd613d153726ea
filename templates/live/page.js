// The page itself: reads its inputs, asks the programs, writes texts and draws. Texts are set as text, never as markup.
const byId = id => document.getElementById(id);
const data = JSON.parse(byId("live-data").textContent), units = data.units, REACH = "reach";
const words = Object.fromEntries([...byId("live-words").children].map(each => [each.dataset.words, each.textContent.trim().replace(/\s+/g, " ")]));
const say = (name, values) => words[name].replace(/\{(\w+)\}/g, (_, key) => values[key]);

const grouped = text => text.replace(/^(-?\d+)/, head => head.replace(/\B(?=(\d{3})+$)/g, ","));
function significant(value, digits = 4) {
  if (value === 0) return "0";
  const [mantissa, power] = value.toExponential(digits - 1).split("e"), exponent = Number(power);
  if (exponent < -5 || exponent >= 15) return `${mantissa}e${power}`;
  const rounded = Number(`${mantissa}e${power}`), fixed = rounded.toFixed(max(0, digits - 1 - exponent));
  return grouped(Math.abs(rounded - value) <= 1e-12 * Math.abs(value) && fixed.includes(".") ? fixed.replace(/\.?0+$/, "") : fixed);
}
function prefixed(value, unit) {
  const [head, tail] = unit.split("/"), sign = units.signs[head];
  if (!sign || unit === "FLOP/byte") return [value, unit];
  const small = head === "s" || head === "J" ? [["n", 1e-9], ["µ", 1e-6], ["m", 1e-3]] : [], steps = [...small, ["", 1], ...(head === "s" ? [] : units.prefixes)];
  const [prefix, scale] = value ? steps.findLast(step => Math.abs(value) >= step[1] * 0.99995) ?? steps[0] : ["", 1];
  return [value / scale, `${prefix}${prefix ? sign : head}${tail ? "/" + tail : ""}`];
}
const quantity = (value, unit, digits) => { const [number, text] = prefixed(value, unit); return `${significant(number, digits)} ${text}`.trim(); };
function shown(name, value, digits = 4, limit = false) {
  if (!limit) digits = Math.min(digits, units.digits[name] ?? digits);
  if (value === null || value === undefined || Number.isNaN(value)) return words.unknown;
  if (typeof value !== "number") return value === true ? "yes" : value === false ? "no" : value;
  const written = units.written[name], unit = units.of[name] ?? "";
  if (written) return `${significant(value / written[1], digits)} ${written[0]}`;
  if (units.counted.includes(name) && Number.isInteger(value)) return `${grouped(String(value))} ${unit && value !== 1 && units.plural.includes(unit) ? unit + "s" : unit}`.trim();
  return quantity(value, unit, digits);
}

function ranged(name, value, ends, digits) {
  const text = shown(name, value, digits);
  if (!ends) return text;
  if (!ends.length) return `${text} (${data.no_range})`;
  const [low, high] = ends.map(end => shown(name, end, digits)), gap = low.indexOf(" "), unit = gap < 0 ? "" : low.slice(gap);
  return `${text} (${unit && high.endsWith(unit) ? low.slice(0, gap) : low} to ${high})`;
}

function caseOf(key, inputs) {
  const [group, table, ends, prices] = data.settings[key], links = data.links[inputs.tp] ?? {values: {}, ends: {}};
  const at = new Case(PROGRAMS[group].theory, {...table, ...links.values, ...inputs}), fixed = Object.keys(links.values).filter(name => !(name in links.ends));
  at.prices = prices;
  return {group, at, corners: cornersOf(at, {...ends, ...links.ends}, {...Object.fromEntries(fixed.map(name => [name, null])), ...inputs})};
}
// The case at every corner of the ranges that are not set to a number.
function cornersOf(at, ends, set) {
  const names = Object.keys(ends).filter(name => !(name in set));
  const points = names.reduce((points, name) => points.flatMap(point => ends[name].map(end => ({...point, [name]: end}))), [{}]);
  return names.length ? points.map(point => new Case(at.theory, {...at.own, ...point})) : [];
}
const EQUAL = 1e-12;
// The extremes of a quantity; null where it does not move, no numbers where they may lie inside the ranges.
function spread(name, corners, known = data.ranged) {
  if (!corners.length) return null;
  const values = corners.map(corner => corner.v(name)), low = Math.min(...values), high = max(...values);
  return high - low > EQUAL * Math.abs(high) ? (known.includes(name) ? [low, high] : []) : null;
}
// The same over the list prices too, which a cost is in proportion to.
function reach(name, at, prices = [], corners, known) {
  const own = spread(name, corners, known), value = at.v(name);
  if (!prices.length || !data.priced.includes(name) || Number.isNaN(value) || (own && !own.length)) return own;
  const [low, high] = own ?? [value, value], [least, most] = prices.map(price => price / at.v("price"));
  return [low * least, high * most];
}
function atPeak(at, corners) {
  const slower = Object.entries(data.peak).some(([name, peak]) => name in at.own && at.own[name] !== peak), peak = each => new Case(each.theory, {...each.own, ...data.peak});
  return slower ? {at: peak(at), corners: corners.map(peak)} : null;
}
const possible = (name, at, corners) => [...new Set((corners.length ? corners : [at]).map(each => each.v(name)))];
// A threshold: the least closed form whose conditions hold, its last digits from two secant steps on the equation itself.
function solved(group, at, i) {
  const {unknown} = data.thresholds[group][i], {branches, difference} = PROGRAMS[group].thresholds[i];
  const there = x => at.changed({[unknown]: x}), values = [];
  for (const branch of branches) {
    const value = branch.value(at);
    if (value > 0 && branch.conditions.every(condition => condition(there(value)))) values.push(value);
  }
  if (!values.length) return {value: null, above: difference(there(1)) > 0};
  let x = min(...values), gap = difference(there(x));
  for (let step = 0; step < 2 && gap; step++) {
    const beside = x * (1 + 1e-7), slope = (difference(there(beside)) - gap) / (beside - x), next = x - gap / slope;
    if (!(Math.abs(next - x) < 1e-6 * x)) break;
    const left = difference(there(next));
    if (!(Math.abs(left) < Math.abs(gap))) break;
    x = next; gap = left;
  }
  return {value: x};
}
const targets = (at, corners) => data.targets.map(target => {
  const metric = target.metrics.find(name => !Number.isNaN(at.v(name))), value = metric ? at.v(metric) : NaN, limit = typeof target.limit === "number" ? target.limit : at.v(target.limit);
  const [low = value, high = value] = spread(metric, corners) ?? [], meets = x => target.below ? x < limit : x <= limit;
  const met = meets(high) ? true : meets(low) ? null : false, [least = low, most = high] = reach(metric, at, at.prices, corners) ?? [];
  return {...target, metric, value, limit, met, straddles: met !== null && least <= limit && limit < most, slack: limit - value};
}).filter(target => target.metric);

function element(tag, text, kind) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (kind) made.className = kind;
  return made;
}
function rows(id, lines, numeric) {
  byId(id).tBodies[0].replaceChildren(...lines.map(cells => {
    const row = element("tr");
    row.append(...cells.map((cell, i) => {
      const [, value, range] = cell.match(/^(.*?)( \([^()]+\))$/) ?? [null, cell, ""], made = element("td", value, numeric.includes(i) ? "n" : "");
      if (range) made.append(" ", element("small", range.trim()));
      return made;
    }));
    return row;
  }));
}

const form = byId("live-form");
function labelOf(name, at, corners) {
  const values = (corners.length ? corners : [at]).map(each => each.v(name)), [low, high] = [Math.min(...values), max(...values)].map(value => grouped(String(value)));
  return low === high ? low : `${low} to ${high}`;
}
function verdict(at, corners, checks) {
  const read = name => ranged(name, at.v(name), reach(name, at, at.prices, corners), 3), count = at.v("instance_devices"), device = data.devices[form.elements.device.value];
  const parts = [`${data.model} on ${count > 1 ? `${count} × ` : ""}${device}`, ...["batch", "prompt", "output"].filter(name => form.elements[name]).map(name => `${name} ${labelOf(name, at, corners)}`)];
  const title = parts.join(", "), fits = possible("fits", at, corners), missed = checks.filter(check => check.met === false), partly = checks.filter(check => check.met === null);
  const each = (name, check) => say(check.name === "load" ? `${name}_load` : name, {metric: words[`metric-${check.name}`], value: read(check.metric), limit: shown(check.metric, check.limit, 4, true) + (check.straddles ? data.not_at[check.met ? "met" : "missed"] : "")});
  const memory = {case: title, needed: read("memory_bytes"), usable: read("usable_memory"), short: quantity(-at.v("free_memory"), "byte", 3)};
  if (fits.includes(false)) return say(fits.includes(true) ? "fits_partly" : "does_not_fit", memory);
  if (missed.length) return say("missed", {case: title, targets: [...missed.map(check => each("one_missed", check)), ...partly.map(check => each("one_partly", check))].join(" and ")});
  const open = data.targets.filter(target => !checks.some(check => check.name === target.name)).map(target => words[`metric-${target.name}`]);
  if (open.length) return say("not_known", {case: title, targets: open.join(" and ")});
  if (partly.length) return say("partly", {case: title, targets: partly.map(check => each("one_partly", check)).join(" and ")});
  if (checks.length) return say("met", {case: title, targets: checks.map(check => each("one_met", check)).join(", ")});
  return say("no_targets", {case: title, spare: read("free_memory")});
}
function limits(at, corners) {
  const bounds = step => possible(`${step}_bound`, at, corners).map(bound => words[`bound-${bound}`]).join(" or "), read = name => ranged(name, at.v(name), spread(name, corners), 3);
  return say("limits", {prefill: bounds("prefill"), prefill_intensity: read("prefill_intensity"), ridge: read("effective_ridge"), decode: bounds("decode"), decode_intensity: read("decode_intensity")});
}
function numbers(at, corners, checks) {
  const roof = atPeak(at, corners), value = name => ranged(name, at.v(name), reach(name, at, at.prices, corners));
  const bound = name => roof && data.bounded.includes(name) && !Number.isNaN(roof.at.v(name)) ? ranged(name, roof.at.v(name), reach(name, roof.at, at.prices, roof.corners, data.ranged_at_peak)) : "";
  const tested = checks.map(check => [check.label, value(check.metric), bound(check.metric), shown(check.metric, check.limit, 4, true), `${check.slack < 0 ? "-" : ""}${shown(check.metric, Math.abs(check.slack))}${check.met === null ? data.in_part : check.straddles ? data.at_median : ""}`]);
  const others = data.numbers.filter(each => !checks.some(check => check.metric === each.name)).map(each => [each.label, value(each.name), bound(each.name), "", ""]);
  const memory = [words.memory, value("memory_bytes"), "", value("usable_memory"), value("free_memory")];
  rows("live-numbers", [memory, ...tested, ...others].slice(0, data.most), [1, 2, 3, 4]);
}
function thresholds(group, at) {
  const lines = [];
  data.thresholds[group].forEach((each, i) => {
    const {value, above} = solved(group, at, i), unknown = each.unknown;
    if (value === null) { lines.push([above ? each.above : each.below, "–", ""]); return; }
    const near = Math.round(value), exact = Math.abs(value - near) < 1e-9 * max(1, value);
    const whole_ = exact ? near : each.kind === REACH ? Math.ceil(value) : Math.floor(value), answer = each.counted ? whole_ : value;
    const there = ["batch", "prompt", "output", "context"].includes(unknown) && answer > 0 ? at.changed({[unknown]: answer}).v("fits") : null;
    lines.push([each.means, shown(unknown, answer), there === null ? "" : shown("fits", there)]);
  });
  rows("live-thresholds", lines, [1]);
}

const SPACE = "http://www.w3.org/2000/svg";
function draw(id, parts) {
  byId(id).replaceChildren(...parts.map(([tag, attributes, text]) => {
    const made = document.createElementNS(SPACE, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    if (text !== undefined) made.textContent = text;
    return made;
  }));
}
function memoryPicture(at) {
  const usable = at.v("usable_memory_per_device"), needed = at.v("memory_bytes_per_device"), wide = 560 / (1.05 * max(usable, needed)), parts = [];
  let x = 20, line = 0;
  Object.keys(data.memory).forEach((name, i) => {
    const bytes = at.v(name);
    if (!(bytes > 0)) return;
    parts.push(["rect", {x, y: 20, width: bytes * wide, height: 46, class: `part${i}`}]);
    parts.push(["rect", {x: 20, y: 92 + 20 * line, width: 12, height: 12, class: `part${i}`}], ["text", {x: 40, y: 103 + 20 * line}, `${data.memory[name]}: ${quantity(bytes, "byte", 3)}`]);
    x += bytes * wide; line++;
  });
  const edge = 20 + usable * wide;
  parts.push(["line", {x1: edge, x2: edge, y1: 10, y2: 76, class: "limit"}], ["text", {x: edge - 4, y: 86, "text-anchor": "end"}, `${words.usable} ${quantity(usable, "byte", 3)}`]);
  draw("live-memory", parts);
}
function curvePicture(at) {
  const {itl, rate} = data.curve, now = at.v("batch"), most = max(at.v("concurrency") || 0, now, 4), batches = [];
  for (let b = 1; b < most; b *= 2) batches.push(b);
  const points = [...batches, most].map(batch => { const there = at.changed({batch}); return {batch, x: there.v(rate), y: there.v(itl), fits: there.v("fits")}; }).filter(p => p.x > 0 && p.y > 0);
  const here = {x: at.v(rate), y: at.v(itl)}, limit = data.targets.find(target => target.name === "itl");
  if (!points.length) { draw("live-curve", [["text", {x: 20, y: 40}, words.unknown]]); return; }
  const right = 1.1 * max(...points.map(p => p.x), here.x || 0), top = 1.15 * max(...points.map(p => p.y), here.y || 0);
  const px = x => 60 + 500 * x / right, py = y => 190 - 170 * y / top, parts = [];
  parts.push(["path", {d: "M60 15V190H565", class: "axis"}]);
  for (const share of [0.25, 0.5, 0.75, 1]) {
    parts.push(["text", {x: px(share * right), y: 206, "text-anchor": "middle"}, significant(Number((share * right).toPrecision(2)), 3)]);
    parts.push(["text", {x: 55, y: py(share * top) + 4, "text-anchor": "end"}, quantity(Number((share * top).toPrecision(2)), "s", 2)]);
  }
  if (limit && at.v(limit.limit) < top) { const y = py(at.v(limit.limit)); parts.push(["line", {x1: 60, x2: 565, y1: y, y2: y, class: "limit"}], ["text", {x: 565, y: y - 4, "text-anchor": "end"}, words.target]); }
  const path = list => list.map((p, i) => `${i ? "L" : "M"}${px(p.x)} ${py(p.y)}`).join("");
  const last = points.findLastIndex(p => p.fits);
  parts.push(["path", {d: path(points.slice(0, last + 1)), class: "curve"}], ["path", {d: path(points.slice(max(last, 0))), class: "curve beyond"}]);
  for (const p of points) parts.push(["circle", {cx: px(p.x), cy: py(p.y), r: 2.5, class: p.fits ? "dot" : "dot beyond"}], ["text", {x: px(p.x), y: py(p.y) - 7, "text-anchor": "middle", class: "small"}, String(p.batch)]);
  if (here.x > 0) parts.push(["circle", {cx: px(here.x), cy: py(here.y), r: 6, class: "here"}]);
  parts.push(["text", {x: 565, y: 224, "text-anchor": "end"}, words.axes]);
  draw("live-curve", parts);
}

const edited = new Set();
const keyOf = () => [form.elements.device.value, form.elements.weights.value, form.elements.cache.value].join("|");
function read() {
  const inputs = {}, table = data.settings[keyOf()];
  for (const control of data.controls) {
    const field = form.elements[control.name];
    if (table && table[1][control.name] !== undefined && !edited.has(control.name)) { field.value = Number(table[1][control.name].toPrecision(control.least >= 1 ? 15 : 4)); continue; }
    const value = field.value === "" ? NaN : Number(field.value), whole_ = control.least === undefined || control.least >= 1;
    const valid = control.options ? control.options.includes(value) : value >= control.least && value <= control.most && (!whole_ || Number.isInteger(value));
    field.setAttribute("aria-invalid", String(!valid));
    if (!valid) return null;
    inputs[control.name] = value;
  }
  return table ? inputs : null;
}
function update() {
  const inputs = read(), known = inputs !== null;
  byId("live-results").hidden = !known;
  byId("live-refused").hidden = known;
  if (!known) return;
  const {group, at, corners} = caseOf(keyOf(), inputs), checks = targets(at, corners);
  byId("live-verdict").textContent = verdict(at, corners, checks);
  byId("live-limits").textContent = limits(at, corners);
  byId("live-mark").hidden = !possible("fits", at, corners).includes(false);
  numbers(at, corners, checks);
  memoryPicture(at);
  curvePicture(at);
  thresholds(group, at);
}
form.addEventListener("input", event => { edited.add(event.target.name); requestAnimationFrame(update); });
form.addEventListener("reset", () => { edited.clear(); requestAnimationFrame(update); });
form.addEventListener("submit", event => event.preventDefault());
byId("live").hidden = false;
const link = element("a", document.querySelector("#live h2").textContent), entry = element("li");
link.href = "#live";
entry.append(link);
document.querySelector("nav li")?.after(entry);
update();
globalThis.symroof = {
  table: (key, inputs, names) => {
    const {at, corners} = caseOf(key, inputs), roof = atPeak(at, corners);
    return names.map(name => [at.v(name), ...(spread(name, corners)?.length ? spread(name, corners) : [at.v(name), at.v(name)]), roof ? roof.at.v(name) : NaN]);
  },
  values: (key, inputs, names) => { const {at} = caseOf(key, inputs); return names.map(name => at.v(name)); },
  thresholds: (key, inputs) => { const {group, at} = caseOf(key, inputs); return data.thresholds[group].map((each, i) => [each.name, solved(group, at, i).value]); },
  shown, update,
};
