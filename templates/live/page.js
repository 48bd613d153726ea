// The page itself: reads its controls and the address, asks the programs, writes texts and draws. Texts are set as text, never as markup.
// Of the two sides one has a batch that is always full, the other requests that arrive at a rate.
const byId = id => document.getElementById(id);
const page = JSON.parse(byId("live-data").textContent), REACH = "reach";
let side = page.sides[0];
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
  const units = side.units, [head, tail] = unit.split("/"), sign = units.signs[head];
  if (!sign || unit === "FLOP/byte") return [value, unit];
  const small = head === "s" || head === "J" ? [["n", 1e-9], ["µ", 1e-6], ["m", 1e-3]] : [], steps = [...small, ["", 1], ...(head === "s" ? [] : units.prefixes)];
  const [prefix, scale] = value ? steps.findLast(step => Math.abs(value) >= step[1] * 0.99995) ?? steps[0] : ["", 1];
  return [value / scale, `${prefix}${prefix ? sign : head}${tail ? "/" + tail : ""}`];
}
const quantity = (value, unit, digits) => { const [number, text] = prefixed(value, unit); return `${significant(number, digits)} ${text}`.trim(); };
function shown(name, value, digits = 4, limit = false) {
  const units = side.units;
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
  if (!ends.length) return `${text} (${page.no_range})`;
  const [low, high] = ends.map(end => shown(name, end, digits)), gap = low.indexOf(" "), unit = gap < 0 ? "" : low.slice(gap);
  return `${text} (${unit && high.endsWith(unit) ? low.slice(0, gap) : low} to ${high})`;
}

// Two digits where the range is wide, else three.
const briefly = (value, ends) => ends?.length && ends[1] > ends[0] && ends[1] - ends[0] >= page.wide * Math.abs(value) ? 2 : 3;
const brief = (name, value, ends) => ranged(name, value, ends, briefly(value, ends));

// Nothing reads weights faster than they are multiplied: an MFU that is set limits an MBU that is measured.
function limited(table, ends, limit, {mfu, mbu}) {
  if (mfu === undefined || mbu !== undefined || !limit.length) return [table, ends];
  const [share, ...measured] = limit, [low, value, high] = share * mfu < measured[2] ? measured.map(each => min(each, share * mfu)) : measured;
  return [{...table, mbu: value}, {...ends, mbu: [low, high]}];
}
function caseOf(key, inputs) {
  side = page.sides[page.sides.length > 1 && "arrival_rate" in inputs ? 1 : 0];
  const [group, own, spans, prices, limit] = side.settings[key], [table, ends] = limited(own, spans, limit, inputs), links = side.links[inputs.tp] ?? {values: {}, ends: {}};
  const at = new Case(PROGRAMS[group].theory, {...table, ...links.values, ...inputs}), fixed = Object.keys(links.values).filter(name => !(name in links.ends));
  at.prices = prices;
  return {group, at, corners: cornersOf(at, {...ends, ...links.ends}, {...Object.fromEntries(fixed.map(name => [name, null])), ...inputs})};
}
// The case at every corner of the ranges that are not set to a number; those that end together, the slow ends and the fast ones.
function cornersOf(at, ends, set) {
  const names = Object.keys(ends).filter(name => !(name in set)), together = names.filter(name => name in side.together);
  const axes = names.filter(name => !(name in side.together)).map(name => ends[name].map(end => ({[name]: end})));
  if (together.length) axes.push([0, 1].map(fast => Object.fromEntries(together.map(name => [name, ends[name][side.together[name] ? 1 - fast : fast]]))));
  const points = axes.reduce((points, axis) => points.flatMap(point => axis.map(end => ({...point, ...end}))), [{}]);
  return names.length ? points.map(point => new Case(at.theory, {...at.own, ...point})) : [];
}
const EQUAL = 1e-12;
// The extremes of a quantity; null where it does not move, no numbers where they may lie inside the ranges.
function spread(name, corners, known = side.ranged) {
  if (!corners.length) return null;
  const values = corners.map(corner => corner.v(name)), low = Math.min(...values), high = max(...values);
  return high - low > EQUAL * Math.abs(high) ? (known.includes(name) ? [low, high] : []) : null;
}
// The same over the list prices too, which a cost is in proportion to.
function reach(name, at, prices = [], corners, known) {
  const own = spread(name, corners, known), value = at.v(name);
  if (!prices.length || !side.priced.includes(name) || Number.isNaN(value) || (own && !own.length)) return own;
  const [low, high] = own ?? [value, value], [least, most] = prices.map(price => price / at.v("price"));
  return [low * least, high * most];
}
function atPeak(at, corners) {
  const slower = Object.entries(side.peak).some(([name, peak]) => name in at.own && at.own[name] !== peak), peak = each => new Case(each.theory, {...each.own, ...side.peak});
  return slower ? {at: peak(at), corners: corners.map(peak)} : null;
}
const possible = (name, at, corners) => [...new Set((corners.length ? corners : [at]).map(each => each.v(name)))];
// A threshold: the least closed form whose conditions hold, its last digits from two secant steps on the equation itself.
function solved(group, at, i) {
  const {unknown} = page.thresholds[group][i], {branches, difference} = PROGRAMS[group].thresholds[i];
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
const targets = (at, corners) => side.targets.map(target => {
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
  const cell = (text, i, tag = "td") => {
    const [, value, range] = (i ? text.match(/^(.*?)( \([^()]+\))$/) : null) ?? [null, text, ""], made = element(tag, value, numeric.includes(i) ? "n" : "");
    if (range) made.append(" ", element("small", range.trim()));
    return made;
  };
  byId(id).querySelector("tbody").replaceChildren(...lines.map(cells => {
    const row = element("tr");
    row.append(...cells.map((text, i) => cell(text, i)));
    return row;
  }));
}

const form = byId("live-form");
function labelOf(name, at, corners) {
  const values = (corners.length ? corners : [at]).map(each => each.v(name)), [low, high] = [Math.min(...values), max(...values)].map(value => grouped(String(value)));
  return low === high ? low : `${low} to ${high}`;
}
function verdict(at, corners, checks) {
  const read = name => brief(name, at.v(name), reach(name, at, at.prices, corners)), count = at.v("instance_devices"), device = page.devices[form.elements.device.value];
  const parts = [`${page.model} on ${count > 1 ? `${count} × ` : ""}${device}`, ...["batch", "prompt", "output"].filter(name => form.elements[name]).map(name => `${name} ${labelOf(name, at, corners)}`)];
  const title = parts.join(", "), fits = possible("fits", at, corners), missed = checks.filter(check => check.met === false), partly = checks.filter(check => check.met === null);
  const each = (name, check) => say(check.name === "load" ? `${name}_load` : name, {metric: words[`metric-${check.name}`], value: read(check.metric), limit: shown(check.metric, check.limit, 4, true) + (check.straddles ? page.not_at[check.met ? "met" : "missed"] : "")});
  const memory = {case: title, needed: read("memory_bytes"), usable: read("usable_memory"), short: quantity(-at.v("free_memory"), "byte", 3)};
  if (fits.includes(false)) return say(fits.includes(true) ? "fits_partly" : "does_not_fit", memory);
  if (missed.length) return say("missed", {case: title, targets: [...missed.map(check => each("one_missed", check)), ...partly.map(check => each("one_partly", check))].join(" and ")});
  const waits = checks.some(check => check.name === "load" && check.slack <= 0);  // a wait without end is judged by the load
  const open = side.targets.filter(target => !checks.some(check => check.name === target.name) && !(waits && target.name === "ttft")).map(target => words[`metric-${target.name}`]);
  if (open.length) return say("not_known", {case: title, targets: open.join(" and ")});
  if (partly.length) return say("partly", {case: title, targets: partly.map(check => each("one_partly", check)).join(" and ")});
  if (checks.length) return say(side.targets.length > 1 ? "met_all" : "met", {case: title, targets: checks.map(check => each("one_met", check)).join(", ")});
  return say("no_targets", {case: title, spare: read("free_memory")});
}
const listed = texts => texts.length > 1 ? `${texts.slice(0, -1).join(", ")} or ${texts.at(-1)}` : texts[0];
function limits(at, corners) {
  const bounds = step => listed(possible(`${step}_bound`, at, corners).map(bound => words[`bound-${bound}`])), read = name => brief(name, at.v(name), spread(name, corners));
  return say("limits", {prefill: bounds("prefill"), prefill_intensity: read("prefill_intensity"), ridge: read("effective_ridge"), decode: bounds("decode"), decode_intensity: read("decode_intensity")});
}
function numbers(at, corners, checks) {
  const roof = atPeak(at, corners), value = name => brief(name, at.v(name), reach(name, at, at.prices, corners)), copies = at.own.dp ?? side.dp;
  const bound = name => roof && side.bounded.includes(name) && !Number.isNaN(roof.at.v(name)) ? brief(name, roof.at.v(name), reach(name, roof.at, at.prices, roof.corners, side.ranged_at_peak)) : "";
  const named = (name, label) => label + (copies > 1 && page.per_replica.includes(name) ? words.per_replica : "");
  const tested = checks.map(check => {
    const digits = briefly(check.value, reach(check.metric, at, at.prices, corners)), slack = `${check.slack < 0 ? "-" : ""}${shown(check.metric, Math.abs(check.slack), digits)}`;
    return [named(check.metric, check.label), value(check.metric), bound(check.metric), shown(check.metric, check.limit, 4, true), slack + (check.met === null ? page.in_part : check.straddles ? page.at_median : "")];
  });
  const waits = side.targets.find(target => target.name === "ttft" && !checks.some(check => check.name === "ttft"));
  if (checks.some(check => check.name === "load" && check.slack <= 0)) {
    const name = page.waiting, label = side.numbers.find(each => each.name === name)?.label ?? waits?.label;
    if (label) tested.splice(1, 0, [label, page.unbounded, bound(name), waits ? shown(name, at.v(waits.limit), 4, true) : "", ""]);
  }
  const others = side.numbers.filter(each => !tested.some(row => row[0] === named(each.name, each.label)) && !Number.isNaN(at.v(each.name))).map(each => [named(each.name, each.label), value(each.name), bound(each.name), "", ""]);
  const size = name => brief(name, at.v(name), reach(name, at, [], corners)), memory = [named("memory_bytes", words.memory), size("memory_bytes"), "", size("usable_memory"), size("free_memory")];
  const head = byId("live-numbers").querySelector("thead tr"), mark = possible("fits", at, corners).includes(false) ? " †" : "";
  head?.replaceChildren(...words.header.split("|").map((text, i) => element("th", text + (i === 1 ? mark : ""), i ? "n" : "")));
  rows("live-numbers", [memory, ...tested, ...others].slice(0, page.most), [1, 2, 3, 4]);
}
function thresholds(group, at) {
  const lines = [];
  page.thresholds[group].forEach((each, i) => {
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
// Round values from zero to an end: steps of 1, 2 or 5 times a power of ten.
function ticks(end, most) {
  const size = 10 ** Math.floor(Math.log10(end / most)), step = [1, 2, 5, 10].map(factor => factor * size).find(step => end / step <= most), marks = [];
  for (let i = 0; i * step <= end * (1 + 1e-9); i++) marks.push(Number((i * step).toPrecision(12)));
  return marks;
}
const APART = 28;
function memoryPicture(at) {
  const usable = at.v("usable_memory_per_device"), needed = at.v("memory_bytes_per_device"), end = 1.08 * max(usable, needed), px = bytes => 20 + 560 * bytes / end, parts = [];
  let sum = 0, line = 0;
  for (const mark of ticks(end, 6)) parts.push(["line", {x1: px(mark), x2: px(mark), y1: 40, y2: 110, class: "grid"}], ["text", {x: px(mark), y: 128, "text-anchor": "middle"}, mark ? quantity(mark, "byte", 3) : "0"]);
  parts.push(["line", {x1: 20, x2: 580, y1: 110, y2: 110, class: "axis"}]);
  Object.keys(page.memory).forEach((name, i) => {
    const bytes = at.v(name);
    if (!(bytes > 0)) return;
    parts.push(["rect", {x: px(sum), y: 48, width: 560 * bytes / end, height: 50, class: `part${i}`}]);
    parts.push(["rect", {x: 20, y: 158 + 24 * line, width: 13, height: 13, class: `part${i}`}], ["text", {x: 42, y: 170 + 24 * line}, `${page.memory[name]}: ${quantity(bytes, "byte", 3)}`]);
    sum += bytes; line++;
  });
  parts.push(["line", {x1: px(usable), x2: px(usable), y1: 34, y2: 110, class: "limit"}], ["text", {x: px(usable) - 5, y: 28, "text-anchor": "end"}, `${words.usable} ${quantity(usable, "byte", 3)}`]);
  draw("live-memory", parts);
}
function curvePicture(at) {
  const {itl, rate} = side.curve, now = at.v("batch"), most = max(at.v("concurrency") || 0, now, 4), batches = [];
  for (let b = 1; b < most; b *= 2) batches.push(b);
  const points = [...batches, most].map(batch => { const there = at.changed({batch}); return {batch, x: there.v(itl), y: there.v(rate), fits: there.v("fits")}; }).filter(p => p.x > 0 && p.y > 0);
  const here = {x: at.v(itl), y: at.v(rate)}, limit = side.targets.find(target => target.name === "itl");
  if (!points.length) { draw("live-curve", [["text", {x: 20, y: 40}, words.unknown]]); return; }
  const reached = max(...points.map(p => p.x), here.x || 0), goal = limit ? at.v(limit.limit) : NaN, right = 1.08 * (goal < 3 * reached ? max(goal, reached) : reached), top = 1.12 * max(...points.map(p => p.y), here.y || 0);
  const px = x => 64 + 516 * x / right, py = y => 250 - 215 * y / top, parts = [];
  for (const mark of ticks(right, 6)) parts.push(["line", {x1: px(mark), x2: px(mark), y1: 35, y2: 250, class: "grid"}], ["text", {x: px(mark), y: 267, "text-anchor": "middle"}, mark ? quantity(mark, "s", 3) : "0"]);
  for (const mark of ticks(top, 5)) parts.push(["line", {x1: 64, x2: 580, y1: py(mark), y2: py(mark), class: "grid"}], ["text", {x: 58, y: py(mark) + 4, "text-anchor": "end"}, significant(mark, 3)]);
  parts.push(["path", {d: "M64 35V250H580", class: "axis"}], ["text", {x: 2, y: 20}, words.rate_axis], ["text", {x: 580, y: 290, "text-anchor": "end"}, words.itl_axis]);
  if (goal < right) { parts.push(["line", {x1: px(goal), x2: px(goal), y1: 35, y2: 250, class: "limit"}], ["text", {x: px(goal) - 4, y: 48, "text-anchor": "end"}, `${words.target} ${shown(limit.limit, goal, 4, true)}`]); }
  const path = list => list.map((p, i) => `${i ? "L" : "M"}${px(p.x).toFixed(2)} ${py(p.y).toFixed(2)}`).join("");
  const last = points.findLastIndex(p => p.fits);
  parts.push(["path", {d: path(points.slice(0, last + 1)), class: "curve"}], ["path", {d: path(points.slice(max(last, 0))), class: "curve beyond"}]);
  let labelled = null;
  for (const p of [...points].reverse()) {
    parts.push(["circle", {cx: px(p.x), cy: py(p.y), r: 2.5, class: p.fits ? "dot" : "dot beyond"}]);
    if (labelled && Math.hypot(px(p.x) - px(labelled.x), py(p.y) - py(labelled.y)) < APART) continue;
    const late = px(p.x) > 520;
    parts.push(["text", {x: px(p.x) + (late ? -8 : 7), y: py(p.y) + (late ? -8 : 15), "text-anchor": late ? "end" : "start", class: "small"}, labelled ? String(p.batch) : `${words.batch} ${grouped(String(p.batch))}`]);
    labelled = p;
  }
  if (here.x > 0) parts.push(["circle", {cx: px(here.x), cy: py(here.y), r: 7, class: "here"}]);
  draw("live-curve", parts);
}

const edited = new Set(), CHOICES = ["device", "weights", "cache"], STEPS = 200;
const sliders = Object.fromEntries([...form.querySelectorAll("[data-for]")].map(slider => [slider.dataset.for, slider]));
const keyOf = () => CHOICES.map(name => form.elements[name].value).join("|");
const linear = control => control.most <= 1;
// Of a slider: its place for a value, and the round value at a place; an input that may be left out is not set at the left end.
function placeOf(control, value) {
  if (!(value > 0)) return 0;
  return STEPS * (linear(control) ? (value - control.least) / (control.most - control.least) : Math.log(value / control.least) / Math.log(control.most / control.least));
}
function valueAt(control, place) {
  if (place <= 0 && page.optional.includes(control.name)) return "";
  const share = place / STEPS, value = linear(control) ? control.least + share * (control.most - control.least) : control.least * (control.most / control.least) ** share;
  const round = Number(linear(control) ? value.toFixed(2) : value.toPrecision(2));
  return String(min(max(control.whole ? Math.round(round) : round, control.least), control.most));
}
// What a control holds that is not applied, by its name: said under it, and nothing else changes.
const unread = new Set();
function tell(faults) {
  for (const name of [...CHOICES, ...page.controls.map(control => control.name)]) {
    const place = byId(`live-fault-${name}`), fault = faults[name];
    place.textContent = fault ?? "";
    place.hidden = !fault;
    form.elements[name].setAttribute("aria-invalid", String(Boolean(fault)));
  }
}
function refusal(control) {
  if (control.options) return say("fault_choice", {choices: listed(control.options.map(String))});
  return say(control.whole ? "fault_whole" : "fault_range", {least: grouped(String(control.least)), most: grouped(String(control.most))});
}
// The inputs, null where one is refused, and why.
function read() {
  const inputs = {}, faults = {}, arrives = form.elements.arrival_rate?.value !== "", table = page.sides[page.sides.length > 1 && arrives ? 1 : 0].settings[keyOf()];
  for (const control of page.controls) {
    const field = form.elements[control.name];
    if (table && table[1][control.name] !== undefined && !edited.has(control.name)) { field.value = Number(table[1][control.name].toPrecision(control.least >= 1 ? 15 : 4)); continue; }
    if (page.optional.includes(control.name) && control.name !== "arrival_rate") field.disabled = sliders[control.name].disabled = !arrives;
    const misread = field.validity?.badInput || unread.has(control.name);  // a text, which the browser gives out as nothing
    if (!misread && page.optional.includes(control.name) && (field.value === "" || !arrives)) {
      if (arrives) inputs[control.name] = control.least;
      continue;
    }
    const value = misread || field.value === "" ? NaN : Number(field.value);
    const valid = control.options ? control.options.includes(value) : value >= control.least && value <= control.most && (!control.whole || Number.isInteger(value));
    if (valid) inputs[control.name] = value; else faults[control.name] = refusal(control);
  }
  if (!table) faults[CHOICES.findLast(name => edited.has(name)) ?? "device"] = words.fault_device;
  tell(faults);
  return [Object.keys(faults).length ? null : inputs, faults];
}
const heading = byId("heading"), recommended = heading?.textContent;
function update() {
  const [inputs, faults] = read();
  byId("live-refused").hidden = inputs !== null;
  for (const [name, slider] of Object.entries(sliders)) if (!faults[name]) slider.value = placeOf(page.controls.find(control => control.name === name), Number(form.elements[name].value));
  if (inputs === null) return false;
  byId("live-results").hidden = false;
  byId("live-changed").hidden = !edited.size;
  if (heading) heading.textContent = edited.size ? words.changed : recommended;
  const {group, at, corners} = caseOf(keyOf(), inputs), checks = targets(at, corners);
  byId("live-verdict").textContent = verdict(at, corners, checks);
  byId("live-limits").textContent = limits(at, corners);
  numbers(at, corners, checks);
  memoryPicture(at);
  curvePicture(at);
  thresholds(group, at);
  return true;
}
// The address holds what was changed: after "#", as in a query.
const stateOf = () => new URLSearchParams([...edited].map(name => [name, form.elements[name].value])).toString();
function remember() {
  try { history.replaceState(null, "", edited.size ? `#${stateOf()}` : location.pathname + location.search); } catch { /* a frame without an address of its own */ }
}
function restore(text) {
  form.reset();
  edited.clear();
  unread.clear();
  update();  // so that an address that is refused leaves the case as studied
  for (const [name, value] of new URLSearchParams(text.replace(/^#/, ""))) {
    const field = CHOICES.includes(name) || page.controls.some(control => control.name === name) ? form.elements[name] : null;
    if (field) { field.value = value; edited.add(name); }
    if (field && field.value !== value) unread.add(name);
  }
  if (edited.size) update();
}
form.addEventListener("input", event => {
  const name = event.target.dataset.for ?? event.target.name, control = page.controls.find(each => each.name === name);
  if (event.target.dataset.for) form.elements[name].value = valueAt(control, Number(event.target.value));
  edited.add(name);
  unread.delete(name);
  requestAnimationFrame(() => { if (update()) remember(); });
});
form.addEventListener("reset", () => { edited.clear(); unread.clear(); requestAnimationFrame(() => { if (update()) remember(); }); });
form.addEventListener("submit", event => event.preventDefault());
addEventListener("hashchange", () => { if (location.hash.includes("=")) restore(location.hash); else if (edited.size) remember(); });  // a link to a section keeps the state
byId("live").hidden = false;
restore(location.hash.includes("=") ? location.hash : "");
globalThis.symroof = {
  table: (key, inputs, names) => {
    const {at, corners} = caseOf(key, inputs), roof = atPeak(at, corners);
    return names.map(name => [at.v(name), ...(spread(name, corners)?.length ? spread(name, corners) : [at.v(name), at.v(name)]), roof ? roof.at.v(name) : NaN]);
  },
  values: (key, inputs, names) => { const {at} = caseOf(key, inputs); return names.map(name => at.v(name)); },
  thresholds: (key, inputs) => { const {group, at} = caseOf(key, inputs); return page.thresholds[group].map((each, i) => [each.name, solved(group, at, i).value]); },
  shown, update, restore, state: stateOf,
};
