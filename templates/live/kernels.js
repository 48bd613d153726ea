// The functions that formulas are printed with, and where they find their names. NaN stands for no value.
// fixed and most mirror symroof/symbolic/searches.py, the others symroof/symbolic/kernels.py; tests/report/test_live.py holds both to the same numbers.
const max = Math.max, min = Math.min, log = x => x > 0 ? Math.log(x) : NaN, exp = Math.exp;
const HALVINGS = 200, MOST_TERMS = 20000, NEAR = 1e-13;
const whole = x => { const near = Math.round(x); return Math.abs(x - near) <= NEAR * max(1, Math.abs(x)) ? near : null; };
const ceil = x => whole(x) ?? Math.ceil(x);
const floor = x => whole(x) ?? Math.floor(x);
const div = (over, under) => under === 0 ? NaN : over / under;
const pow = (base, exponent) => base === 0 && exponent < 0 ? NaN : Math.pow(base, exponent);
const product = (first, second) => first === 0 ? 0 : first * second();
const guard = (holds, value) => holds ? value() : NaN;
const ofLargest = (...pairs) => {
  let best = pairs[0];
  for (const pair of pairs) if (pair[0] > best[0]) best = pair;
  return pairs.some(pair => Number.isNaN(pair[0])) ? NaN : best[1]();
};
const largest = (...arms) => {
  let best = arms[0];
  for (const arm of arms) if (arm[1] > best[1]) best = arm;
  return arms.some(arm => Number.isNaN(arm[1])) ? null : best[0];
};
const geometric = (ratio, first, last) => {
  if (!(first <= last)) return first > last ? 0 : NaN;
  const count = last - first + 1;
  return ratio === 1 ? count : div(pow(ratio, first) * (1 - pow(ratio, count)), 1 - ratio);
};

class Theory {
  constructor(program) {
    this.numbers = program.numbers;
    this.functions = program.functions;
    this.reached = new Map();
  }
  reach(name) {
    if (!this.reached.has(name)) {
      const seen = new Set([name]);
      for (const inner of seen)
        for (const key of Object.keys(this.functions))
          if (key === inner || key.startsWith(inner + "|")) for (const next of this.functions[key][0]) seen.add(next);
      this.reached.set(name, seen);
    }
    return this.reached.get(name);
  }
  moves(name, keys) { const reach = this.reach(name); return keys.some(key => reach.has(key)); }
  find(name, mode) {
    const entry = (mode && this.functions[name + "|" + mode]) || this.functions[name];
    return entry && entry[1];
  }
}

class Case {
  constructor(theory, own, parent = null, mode = "") {
    Object.assign(this, {theory, own, parent, mode, keys: Object.keys(own), memo: new Map()});
  }
  v(name) {
    if (Object.hasOwn(this.own, name)) return this.own[name] ?? NaN;
    let value = this.memo.get(name);
    if (value === undefined) {
      value = this.parent && !this.theory.moves(name, this.keys) ? this.parent.v(name) : this.work(name);
      this.memo.set(name, value);
    }
    return value;
  }
  work(name) {
    for (let each = this.parent; each; each = each.parent) if (Object.hasOwn(each.own, name)) return each.own[name] ?? NaN;
    const found = this.theory.find(name, this.mode);
    return found ? found(this) : this.theory.numbers[name] ?? NaN;
  }
  changed(own, index = false) {
    const keys = index ? [] : Object.keys(own), mode = keys.length ? [...new Set([...this.mode.split(",").filter(Boolean), ...keys])].sort().join(",") : this.mode;
    return new Case(this.theory, own, this, mode);
  }
  at(name, changes) { return this.changed(changes).v(name); }
  sum(index, first, last, body) {
    const start = whole(first), end = whole(last);
    if (start === null || end === null || Number.isNaN(first + last) || end - start >= MOST_TERMS) return NaN;
    let total = 0;
    for (let j = start; j <= end; j++) total += body(this.changed({[index]: j}, true));
    return total;
  }
  fixed(unknown, body, high) {
    const at = x => body(this.changed({[unknown]: x}));
    if (at(high) >= high) return high;
    let low = 0, top = high;
    for (let i = 0; i < HALVINGS; i++) {
      const middle = (low + top) / 2;
      if (middle <= low || middle >= top) break;
      if (at(middle) > middle) low = middle; else top = middle;
    }
    return Number.isNaN(at(top)) ? NaN : top;
  }
  most(unknown, meets, high) {
    if (Number.isNaN(high)) return NaN;
    let fails = floor(high) + 1, passes = 0, met = 0;
    while (fails - passes > 1) {
      const middle = Math.floor((passes + fails) / 2), value = meets(this.changed({[unknown]: middle}));
      if (value === 1) passes = met = middle;
      else if (Number.isNaN(value)) passes = middle;
      else fails = middle;
    }
    return met === passes ? met : 0;
  }
}
