// SPDX-License-Identifier: LGPL-2.1-or-later
// The machine: its parts as hwloc sees them, the places on them, and what they steal from each other.
//
// Parts that hold the same places are one box with several names. The drawing is laid out anew only when the places or the
// room for it change; each state then changes what is there.
import { askTwice, count, draw, el, mayAct, openDialog, page, percent, rate, request, seconds, setAttributes, setMeter, setText,
  short, meter, Table } from "./ui.js";

const LEVELS = [["package", "Package"], ["numa", "NUMA node"], ["l3", "L3 cache"], ["l2", "L2 cache"],
  ["core", "Core"]];
// A large machine has small cards, which few and thin arrows leave readable.
const PAD = 12, HEAD = 22, MOST_ARROWS = 80, MOST_THIN_ARROWS = 24, MOST_NAMES = 12, MOST_SQUARES = 16;

/* --- parts --- */

// What holds these places, from a level on: places and boxes. Parts that hold one place are left out where there are many.
function group(places, single, level = 0) {
  if (level === LEVELS.length)
    return places.map(place => ({ place: place.id }));
  const [key, word] = LEVELS[level], parts = new Map(), nodes = [], loose = places.filter(place => place[key] < 0);

  if (loose.length > 0)
    nodes.push(...group(loose, single, level + 1));
  for (const place of places)
    if (place[key] < 0)
      continue;
    else if (parts.has(place[key]))
      parts.get(place[key]).push(place);
    else
      parts.set(place[key], [place]);
  for (const [number, inside] of parts) {
    const kids = group(inside, single, level + 1), label = word + " " + number;

    if (!single && inside.length === 1)
      nodes.push(...kids);
    else if (kids.length === 1 && kids[0].kids)
      nodes.push({ label: label + " · " + kids[0].label, kids: kids[0].kids });
    else
      nodes.push({ label, kids });
  }
  return nodes;
}

/* --- layout --- */

// Sets w and h of a node and of what is in it, and where each is within its box.
function measure(node, room, size) {
  if (!node.kids) {
    node.w = size.w;
    node.h = size.h;
    return;
  }
  const inside = flow(node.kids, room - 2 * PAD, size);
  // One place alone is as wide as the names of its part.
  if (node.kids.length === 1 && !node.kids[0].kids)
    inside.w = node.kids[0].w = Math.max(inside.w, Math.min(node.label.length * 6.2, room - 2 * PAD));
  node.w = Math.max(inside.w, node.label.length * 6.2) + 2 * PAD;
  node.h = inside.h + HEAD + PAD;
}

// Nodes in rows of the same length, at most as wide as there is room for.
function flow(nodes, room, size) {
  nodes.forEach(node => measure(node, room, size));
  const widest = Math.max(...nodes.map(node => node.w));
  const fit = Math.max(1, Math.floor((room + size.gap) / (widest + size.gap)));
  const perRow = Math.ceil(nodes.length / Math.ceil(nodes.length / fit));
  let x = 0, y = 0, w = 0, h = 0;

  nodes.forEach((node, i) => {
    if (i > 0 && i % perRow === 0) {
      x = 0;
      y = h + size.gap;
    }
    node.x = x;
    node.y = y;
    x += node.w + size.gap;
    w = Math.max(w, node.x + node.w);
    h = Math.max(h, node.y + node.h);
  });
  return { w, h };
}

// From where a node is within its box to where it is in the drawing.
function settle(nodes, dx, dy) {
  for (const node of nodes) {
    node.x += dx;
    node.y += dy;
    if (node.kids)
      settle(node.kids, node.x + PAD, node.y + HEAD);
  }
}

// The largest cards with which the whole drawing fits a screen; if none do, those that take the least height.
function layOut(places, room) {
  const n = places.length, compact = n > 24, most = Math.max(560, window.innerHeight - 330);
  const gap = Math.min(n <= 8 ? 58 : n <= 16 ? 34 : 14, room / 7);
  let best = null;

  for (const width of compact ? [210, 180, 150, 132] : [330, 300, 270, 240, 215, 190]) {
    const nodes = group(places, !compact), size = { w: width, h: compact ? 78 : 116, gap, compact }, { w, h } = flow(nodes, room, size);

    if (best === null || (w <= room && (best.w > room || h < best.h)))
      best = { nodes, w, h, size };
    // A few pixels less for each card are worth a lower drawing, but not more than that.
    if (best.w <= room && best.h <= most && width <= (compact ? 180 : 270))
      break;
  }
  settle(best.nodes, 0, 0);
  return best;
}

/* --- drawing --- */

const squares = (place, size) => Math.min(place.workers, size.compact ? 8 : MOST_SQUARES);

function makeCard(place, node, size, open) {
  const { x, y, w, h } = node, parts = { load: draw("rect", { class: "load", x: x + 1, y: y + 1, width: 0, height: h - 2, rx: 8 }) };
  const text = (kind, tx, ty, anchor) => draw("text", { class: kind, x: x + tx, y: y + ty, "text-anchor": anchor || null });
  const right = w - 12;

  parts.name = text("name", 12, 21);
  parts.side = text("faint small-text", right, 21, "end");
  parts.rate = text("rate", 12, size.compact ? 43 : 58);
  parts.percent = text("small-text", right, size.compact ? 43 : 58, "end");
  parts.queue = text("small-text", right, h - 12, "end");
  parts.tag = text("tag", right, size.compact ? 21 : 38, "end");
  parts.squares = Array.from({ length: squares(place, size) }, (_, i) =>
    draw("rect", { class: "worker", x: x + 12 + i * 11, y: y + h - 20, width: 8, height: 8, rx: 2 }));
  const kind = size.compact ? "place small" : "place";
  parts.group = draw("g", { class: kind, onclick: () => open(place.id) },
    draw("rect", { class: "card", x, y, width: w, height: h, rx: 9 }), parts.load, draw("title"));
  parts.words = draw("g", { class: kind + " words" }, parts.name, parts.side, parts.rate, parts.percent, parts.queue, parts.tag,
    ...parts.squares);
  parts.full = w - 2;
  return parts;
}

function updateCard(parts, place, size) {
  // As many as were at work on average; a drained place has none.
  const works = Math.min(Math.round(place.load * place.workers), place.active);

  setText(parts.name, place.name);
  setText(parts.side, place.drained && size.compact ? "" : (size.compact ? "" : "cpus ") + (place.cpus.length > 18 ? place.cpus.slice(0, 17) + "…" : place.cpus));
  setText(parts.rate, rate(place.rate) + "/s");
  // A narrow card has no room for the word; its bar shows it.
  setText(parts.percent, (size.w < 160 ? "" : "load ") + percent(place.load));
  setText(parts.queue, "queue " + short(place.backlog));
  setText(parts.tag, place.drained ? "drained" : "");
  setAttributes(parts.load, { width: Math.max(parts.full * Math.min(place.load, 1), 0) });
  parts.group.classList.toggle("drained", place.drained);
  parts.squares.forEach((square, i) => setAttributes(square,
    { class: i < works ? "worker works" : i < place.active ? "worker" : "worker parked" }));
  setText(parts.group.querySelector("title"), place.name + ": " + rate(place.rate) + " items a second, load " + percent(place.load)
    + ", queue " + place.backlog + ", " + place.active + " of " + place.workers + " workers active");
}

// Where the line from the middle of a card to a point leaves the card.
function leave(node, tx, ty, beyond) {
  const cx = node.x + node.w / 2, cy = node.y + node.h / 2, dx = tx - cx, dy = ty - cy;
  const scale = Math.min((node.w / 2 + beyond) / Math.max(Math.abs(dx), 1e-6), (node.h / 2 + beyond) / Math.max(Math.abs(dy), 1e-6));

  return [cx + dx * Math.min(scale, 1), cy + dy * Math.min(scale, 1)];
}

const widthOf = perSecond => Math.min(2 + 1.6 * Math.log2(1 + perSecond), 18);

// A curve that leans to the left of its direction, so that the two directions between two cards lie apart.
function route(from, to, width, gap) {
  const x1 = from.x + from.w / 2, y1 = from.y + from.h / 2, x2 = to.x + to.w / 2, y2 = to.y + to.h / 2;
  const length = Math.hypot(x2 - x1, y2 - y1) || 1, lean = Math.min(22 + length * .08, 70);
  const mx = (x1 + x2) / 2 + (y2 - y1) / length * lean, my = (y1 + y2) / 2 - (x2 - x1) / length * lean;
  // Where cards are close to each other, arrows begin and end inside of them.
  const inside = Math.min(gap - 40, 0), [sx, sy] = leave(from, mx, my, 2 + inside), [ex, ey] = leave(to, mx, my, 3 + inside);
  const tipLength = 7 + width, bend = Math.hypot(ex - mx, ey - my) || 1, ux = (ex - mx) / bend, uy = (ey - my) / bend;
  const bx = ex - ux * tipLength, by = ey - uy * tipLength, half = 4 + width * .7;

  return { path: `M${sx} ${sy}Q${mx} ${my} ${bx} ${by}`,
           tip: `M${ex} ${ey}L${bx - uy * half} ${by + ux * half}L${bx + uy * half} ${by - ux * half}Z`,
           at: [.25 * sx + .5 * mx + .25 * bx, .25 * sy + .5 * my + .25 * by] };
}

class Drawing {
  constructor(open) {
    this.open = open;
    this.arrows = new Map();
    this.svg = draw("svg", { role: "img", "aria-label": "Drawing of the machine" });
    this.note = el("p", { class: "faint" });
    this.element = el("div", { class: "drawing" }, this.svg);
  }

  rebuild(places, room) {
    const { nodes, w, h, size } = layOut(places, room), byId = new Map(places.map(place => [place.id, place]));
    const boxes = [], cards = [], words = [];

    this.size = size;
    this.nodes = new Map();
    this.cards = new Map();
    this.arrows.clear();
    const walk = (node, level) => {
      if (!node.kids) {
        const parts = makeCard(byId.get(node.place), node, size, this.open);
        this.nodes.set(node.place, node);
        this.cards.set(node.place, parts);
        cards.push(parts.group);
        words.push(parts.words);
        return;
      }
      boxes.push(draw("rect", { class: level % 2 ? "part deep" : "part", x: node.x, y: node.y, width: node.w, height: node.h, rx: 11 }));
      words.push(draw("text", { class: "part-name", x: node.x + PAD, y: node.y + 15 }, node.label));
      node.kids.forEach(kid => walk(kid, level + 1));
    };
    nodes.forEach(node => walk(node, 1));
    // Words lie above the arrows, so that a long arrow hides none.
    this.layer = draw("g");
    this.names = draw("g", { class: "words" });
    this.svg.replaceChildren(...boxes, ...cards, this.layer, ...words, this.names);
    setAttributes(this.svg, { viewBox: `-2 -2 ${w + 4} ${h + 4}`, width: w + 4, height: h + 4 });
  }

  update(state) {
    const places = state.places, room = Math.max(this.element.clientWidth, 260);
    const shape = JSON.stringify([room, window.innerHeight, places.map(place => [place.id, place.workers, ...LEVELS.map(level => place[level[0]])])]);

    if (shape !== this.shape) {
      this.shape = shape;
      this.rebuild(places, room);
    }
    for (const place of places)
      updateCard(this.cards.get(place.id), place, this.size);
    this.updateArrows(state.steals || []);
    const busiest = places.reduce((one, other) => other.load > one.load ? other : one);
    setAttributes(this.svg, { "aria-label": `Drawing of the machine with ${count(places.length, "place")}: `
      + `busiest is ${busiest.name}, load ${percent(busiest.load)}. The table beside it has all figures.` });
  }

  updateArrows(steals) {
    const compact = this.size.compact, all = steals.filter(steal => steal.rate > 0 && this.nodes.has(steal.from) && this.nodes.has(steal.to));
    const live = all.sort((a, b) => b.rate - a.rate).slice(0, compact ? MOST_THIN_ARROWS : MOST_ARROWS), seen = new Set();

    setText(this.note, all.length > live.length ? `The ${live.length} widest of ${all.length} arrows are drawn; the table of steals has all.` : "");
    this.layer.setAttribute("class", compact ? "thin" : "");

    live.forEach((steal, i) => {
      const key = steal.from + ">" + steal.to, width = widthOf(steal.rate) * (compact ? .4 : 1);
      let arrow = this.arrows.get(key);

      if (!arrow) {
        arrow = { line: draw("path", { class: "arrow" }), flow: draw("path", { class: "flow" }), tip: draw("path", { class: "tip" }),
                  name: draw("text", { class: "arrow-name" }) };
        arrow.group = draw("g", { "data-steal": key }, draw("title"), arrow.line, arrow.flow, arrow.tip);
        this.arrows.set(key, arrow);
        this.layer.append(arrow.group);
        this.names.append(arrow.name);
      }
      seen.add(key);
      const { path, tip, at } = route(this.nodes.get(steal.from), this.nodes.get(steal.to), width, this.size.gap);
      setAttributes(arrow.line, { d: path, "stroke-width": width.toFixed(1) });
      setAttributes(arrow.flow, { d: path });
      setAttributes(arrow.tip, { d: tip });
      setAttributes(arrow.name, { x: at[0], y: at[1] + 4 });
      setText(arrow.name, i < MOST_NAMES ? rate(steal.rate) + "/s" : "");
      setText(arrow.group.firstElementChild, `${rate(steal.rate)} items a second stolen, ${short(steal.items)} in all`);
    });
    for (const [key, arrow] of this.arrows)
      if (!seen.has(key)) {
        arrow.group.remove();
        arrow.name.remove();
        this.arrows.delete(key);
      }
  }
}

/* --- a place in words --- */

export const facts = pairs => el("dl", { class: "facts" }, ...pairs.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, String(value))]));
const find = id => page.state.places.find(place => place.id === id);

function askDrain(place) {
  const drained = !place.drained;

  askTwice({
    title: drained ? "Drain " + place.name : "Let " + place.name + " take items again",
    what: drained ? `${place.name} takes no more items; the ${place.backlog} that it has go on or move to other places. Items bound to it wait.`
      : `${place.name} is drained and will take items again.`,
    first: drained ? "Drain it" : "Open it", last: drained ? "Yes, drain " + place.name : "Yes, open " + place.name,
    act: async () => (await request(`/places/${place.id}/drain`, { drained })).changed ? `${place.name} is ${drained ? "drained" : "open"}.`
      : `${place.name} was ${drained ? "drained" : "open"} already.`,
  });
}

function askWorkers(place) {
  const input = el("input", { type: "number", min: 1, max: place.workers, value: place.active, required: true });

  askTwice({
    title: "Workers of " + place.name, what: `${place.active} of the ${place.workers} workers of ${place.name} are active.`,
    fields: [el("label", {}, "Active workers ", input)], first: "Set them", last: "Yes, set the workers of " + place.name,
    act: async () => {
      const workers = Number(input.value);
      await request(`/places/${place.id}/workers`, { workers });
      return `${place.name} has ${count(workers, "active worker")}.`;
    },
  });
}

function openPlace(id) {
  const place = find(id), steals = place.steals || {}, refused = Object.entries(steals.refused || {});
  const parts = LEVELS.filter(([key]) => place[key] >= 0).map(([key, word]) => word + " " + place[key]).join(", ");
  const dialog = openDialog("Place " + place.name,
    facts([["cpus", place.cpus], ["inside", parts || "the whole machine"], ["workers", `${place.active} active of ${place.workers}`], ["state", place.drained ? "drained" : "open"],
      ["items", `${rate(place.rate)} a second, ${short(place.executed)} in all`], ["queue", place.backlog],
      ["wait", `half within ${seconds(place.queue_p50_s)}, 99 % within ${seconds(place.queue_p99_s)}`],
      ["run", `half within ${seconds(place.run_p50_s)}, 99 % within ${seconds(place.run_p99_s)}`],
      ["hinted here", short(place.hinted)], ["stolen in, out", short(place.stolen_in) + ", " + short(place.stolen_out)],
      ["steals", `${short(steals.tried || 0)} tried, ${short(steals.made || 0)} made, ${short(steals.lapsed || 0)} lapsed`],
      ["steals refused", refused.map(([why, n]) => why + " " + short(n)).join(", ") || "none"],
      ["parks, wakes", short(place.parks) + ", " + short(place.wakes)], ["worked for", seconds(place.busy_s)]]));
  const close = el("button", { type: "button", onclick: () => dialog.close() }, "Close");
  const actions = mayAct() ? [el("button", { type: "button", onclick: () => { dialog.close(); askDrain(find(id)); } },
    place.drained ? "Take items again…" : "Drain…"),
  el("button", { type: "button", onclick: () => { dialog.close(); askWorkers(find(id)); } }, "Workers…")] : [];

  dialog.append(el("div", { class: "buttons" }, close, ...actions));
}

/* --- the view --- */

const TILES = [
  ["ended", "Items/s", state => [rate(state.daemon.rates.ended), ""], state => state.daemon.rates.ended],
  ["flight", "Not ended", state => [short(state.daemon.in_flight), ""], state => state.daemon.in_flight],
  ["load", "Load", state => [percent(loadOf(state)), ""], loadOf],
  ["stolen", "Stolen/s", state => [rate(state.daemon.rates.stolen), ""], state => state.daemon.rates.stolen],
  ["failed", "Failed/s", state => [rate(state.daemon.rates.failed), ` ${short(state.daemon.failed)} in all`], state => state.daemon.rates.failed],
  ["memory", "Memory", state => [bytesOf(state), ""], state => state.daemon.memory_bytes || 0],
];

function loadOf(state) {
  const workers = state.places.reduce((sum, place) => sum + place.workers, 0);
  return workers ? state.places.reduce((sum, place) => sum + place.load * place.workers, 0) / workers : 0;
}

const bytesOf = state => state.daemon.memory_bytes === undefined ? "–" : Math.round(state.daemon.memory_bytes / 1e6) + " MB";

export class MachineView {
  constructor(section) {
    this.tiles = TILES.map(([name, title, text, value]) => {
      const line = draw("polyline", { class: "spark" }), node = el("dd", { "data-tile": name });
      return { node, line, text, value, seen: [], element: el("div", { class: "tile" }, el("dt", {}, title), node,
        draw("svg", { viewBox: "0 0 60 24", preserveAspectRatio: "none", "aria-hidden": "true" }, line)) };
    });
    this.drawing = new Drawing(openPlace);
    this.places = new Table("Places", [
      { title: "place", head: true, by: place => place.id, node: (place, now) => el("button", { type: "button", class: "link", onclick: () => openPlace(now().id) }),
        update: (node, place) => setText(node, place.name) },
      { title: "cpus", low: true, text: place => place.cpus },
      { title: "state", text: place => place.drained ? "drained" : "open", low: true },
      { title: "load", number: true, by: place => place.load, node: meter, update: (node, place) => setMeter(node, place.load, "load " + percent(place.load), true) },
      { title: "items/s", number: true, by: place => place.rate, text: place => rate(place.rate) },
      { title: "queue", number: true, by: place => place.backlog, text: place => short(place.backlog) },
      { title: "in", long: "stolen from other places, in all", number: true, low: true, by: place => place.stolen_in, text: place => short(place.stolen_in) },
      { title: "out", long: "stolen by other places, in all", number: true, low: true, by: place => place.stolen_out, text: place => short(place.stolen_out) },
      { title: "wait 99 %", long: "99 % of the items that ended in the last interval had waited at most this long", number: true, low: true,
        by: place => place.queue_p99_s ?? -1, text: place => seconds(place.queue_p99_s) },
    ], place => place.id, { sort: { column: 0, down: false }, most: 32 });
    this.steals = new Table("Steals", [
      { title: "from", head: true, by: steal => steal.from, text: steal => this.name(steal.from) },
      { title: "to", by: steal => steal.to, text: steal => this.name(steal.to) },
      { title: "items/s", number: true, by: steal => steal.rate, text: steal => rate(steal.rate) },
      { title: "in all", number: true, by: steal => steal.items, text: steal => short(steal.items) },
      { title: "distance", number: true, low: true, by: steal => steal.distance ?? 0, text: steal => steal.distance ?? "–" },
    ], steal => steal.from + ">" + steal.to, { sort: { column: 2, down: true }, most: 16, none: "No place has stolen from another yet." });
    const sign = (kind) => draw("svg", { width: 10, height: 10, "aria-hidden": "true" }, draw("rect", { class: kind, x: 1, y: 1, width: 8, height: 8, rx: 2 }));
    section.replaceChildren(el("dl", { class: "tiles" }, ...this.tiles.map(tile => tile.element)),
      this.parts = el("div", { class: "two" },
        el("section", { class: "panel", "aria-label": "Drawing" }, el("h2", {}, "The machine and its places"), this.drawing.element, this.drawing.note,
          el("ul", { class: "legend" }, el("li", {}, sign("worker works"), "a worker that works"), el("li", {}, sign("worker"), "has no work"),
            el("li", {}, sign("worker parked"), "is not active"), el("li", {}, draw("svg", { width: 26, height: 10, "aria-hidden": "true" },
              draw("path", { class: "arrow", d: "M2 5H17", "stroke-width": 4 }), draw("path", { class: "tip", d: "M25 5L15 0V10Z" })),
            "stealing: from the victim to the thief, wider for more items a second"))),
        el("div", { class: "stack" }, el("section", { class: "panel" }, this.places.element), el("section", { class: "panel" }, this.steals.element))));
    new ResizeObserver(() => page.state?.connected && !section.hidden && this.drawing.update(page.state)).observe(this.drawing.element);
  }

  name(id) {
    return page.state.places.find(place => place.id === id)?.name ?? String(id);
  }

  // Called for each state, seen or not: the lines of the tiles go on.
  note(state) {
    for (const tile of this.tiles) {
      tile.seen.push(tile.value(state));
      tile.seen.splice(0, tile.seen.length - 61);
    }
  }

  update(state) {
    for (const tile of this.tiles) {
      const [large, small] = tile.text(state), most = Math.max(...tile.seen, 1e-9);
      if (tile.node.dataset.text !== large + small) {
        tile.node.dataset.text = large + small;
        tile.node.replaceChildren(large, el("small", {}, small));
      }
      setAttributes(tile.line, { points: tile.seen.map((value, i) => `${60 - tile.seen.length + 1 + i},${(23 - 21 * value / most).toFixed(1)}`).join(" ") });
    }
    // A large machine takes the width of the page.
    this.parts.className = state.places.length > 24 ? "stack" : "two";
    this.drawing.update(state);
    this.places.update(state.places);
    this.steals.update(state.steals || []);
  }
}
