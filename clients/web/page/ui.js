// SPDX-License-Identifier: LGPL-2.1-or-later
// What the views share: elements, numbers in words, requests, tables that change in place, questions.

const SVG = "http://www.w3.org/2000/svg";

// What the page knows: the newest state, and what the user may do.
export const page = { state: null, session: { role: "sums", name: "", tokens: false } };

export const maySee = () => page.session.role !== "sums";
export const mayAct = () => page.session.role === "control";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes))
    if (name.startsWith("on"))
      node.addEventListener(name.slice(2), value);
    else if (value === true)
      node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined)
      node.setAttribute(name, value);
  node.append(...children.filter(child => child !== null && child !== undefined));
  return node;
}

export const el = (name, attributes = {}, ...children) => fill(document.createElement(name), attributes, children);
export const draw = (name, attributes = {}, ...children) => fill(document.createElementNS(SVG, name), attributes, children);

// Sets what has changed, so that nothing is announced or laid out for the same text.
export function setText(node, text) {
  if (node.textContent !== text)
    node.textContent = text;
}

export function setAttributes(node, attributes) {
  for (const [name, value] of Object.entries(attributes))
    if (node.getAttribute(name) !== String(value))
      node.setAttribute(name, value);
}

/* --- numbers and times --- */

export function short(number) {
  const units = ["", "k", "M", "G", "T", "P"];
  let unit = 0;

  if (number < 99999.5)
    return Math.round(number).toString();
  while (number >= 999.5 && unit + 1 < units.length) {
    number /= 1000;
    unit++;
  }
  return number.toFixed(number < 9.995 ? 2 : number < 99.95 ? 1 : 0) + units[unit];
}

export const rate = number => number > 0 && number < 9.95 ? number.toFixed(number < .095 ? 2 : 1) : short(number || 0);
export const percent = part => Math.round(100 * (part || 0)) + " %";
export const count = (n, noun) => n + " " + noun + (n === 1 ? "" : "s");

export function seconds(s) {
  if (s === null || s === undefined)
    return "–";
  if (s < 1e-9)
    return "0 s";
  if (s < 1e-3)
    return (s * 1e6).toFixed(s < 1e-5 ? 1 : 0) + " µs";
  if (s < 1)
    return (s * 1e3).toFixed(s < 1e-2 ? 1 : 0) + " ms";
  if (s < 60)
    return s.toFixed(s < 10 ? 1 : 0) + " s";
  const pad = n => String(Math.floor(n)).padStart(2, "0");
  if (s < 3600)
    return Math.floor(s / 60) + "m" + pad(s % 60) + "s";
  if (s < 86400)
    return Math.floor(s / 3600) + "h" + pad(s % 3600 / 60) + "m";
  return Math.floor(s / 86400) + "d" + pad(s % 86400 / 3600) + "h";
}

export function bytes(n) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;

  while (n >= 1000 && unit + 1 < units.length) {
    n /= 1000;
    unit++;
  }
  return (unit === 0 || n >= 100 ? Math.round(n) : n.toFixed(1)) + " " + units[unit];
}

export const clock = ms => new Date(ms).toLocaleTimeString([], { hour12: false });
export const moment = ms => ms > 0 ? new Date(ms).toLocaleString([], { hour12: false }) : "–";

/* --- requests --- */

// The answer of irisd-web, or an Error with its sentence.
export async function request(path, body) {
  const options = body === undefined ? {}
    : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  let answer, value = null;

  try {
    answer = await fetch(path, { credentials: "same-origin", ...options });
  } catch (error) {
    throw new Error("irisd-web does not answer: start it again, or look at its log");
  }
  try {
    value = await answer.json();
  } catch (error) {
    value = null;
  }
  if (!answer.ok) {
    const failure = new Error(value?.error?.message || "irisd-web answered with status " + answer.status);
    failure.status = answer.status;
    throw failure;
  }
  return value;
}

let toldTimer = 0;

export function tell(text) {
  const node = document.getElementById("told");

  node.textContent = text;
  clearTimeout(toldTimer);
  toldTimer = setTimeout(() => { node.textContent = ""; }, 6000);
}

/* --- dialogs --- */

// A dialog with a title, which is gone from the document when it is closed.
export function openDialog(title, ...content) {
  const node = el("dialog", { "aria-label": title }, el("h2", {}, title), ...content);

  node.addEventListener("close", () => node.remove());
  document.body.append(node);
  node.showModal();
  return node;
}

// Asks twice before something is done that cannot be undone; what it does is in both questions.
export function askTwice({ title, what, first, last, fields = [], act }) {
  const explanation = el("p", {}, what);
  const go = el("button", { class: "strong", type: "button" }, first);
  const keep = el("button", { type: "button", autofocus: true }, "Leave it");
  const dialog = openDialog(title, explanation, ...fields, el("div", { class: "buttons" }, keep, go));
  let asked = 0;

  keep.onclick = () => dialog.close();
  go.onclick = async () => {
    if (++asked === 1) {
      explanation.textContent = "Asked again: " + what;
      go.textContent = last;
      go.className = "danger";
      keep.focus();
      return;
    }
    go.disabled = true;
    try {
      tell(await act());
    } catch (error) {
      tell(error.message);
    }
    dialog.close();
  };
}

/* --- tables --- */

// A table whose rows stay the same elements while their key is the same, so that focus and selection last.
//
// A column has a title; text(row) or node(row), which is made once for each row; number, for alignment; low, for what a
// narrow screen leaves out; by(row), by which it is sorted. Of a long table the first rows are shown until all are asked for.
export class Table {
  constructor(caption, columns, key, options = {}) {
    this.columns = columns;
    this.key = key;
    this.options = options;
    this.rows = new Map();
    this.sort = options.sort || { column: -1, down: false };
    this.body = el("tbody");
    this.heads = columns.map((column, i) => this.makeHead(column, i));
    this.head = el("thead", {}, el("tr", {}, ...this.heads));
    this.table = el("table", {}, el("caption", {}, caption), this.head, this.body);
    this.most = options.most || Infinity;
    this.all = el("button", { type: "button", hidden: true, onclick: () => this.showAll() });
    this.none = el("p", { class: "none", hidden: true }, options.none || "none");
    this.element = el("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": caption }, this.table, this.none, this.all);
    this.showSort();
  }

  makeHead(column, i) {
    const kind = [column.number && "number", column.low && "low"].filter(Boolean).join(" ");
    const sortable = column.by || column.text;

    return el("th", { scope: "col", class: kind || null },
      sortable ? el("button", { type: "button", onclick: () => this.sortBy(i), title: column.long || null }, column.title) : column.title);
  }

  sortBy(i) {
    const same = this.sort.column === i;

    this.sort = { column: i, down: same ? !this.sort.down : Boolean(this.columns[i].number) };
    this.showSort();
    this.update(this.last || []);
  }

  showSort() {
    this.heads.forEach((head, i) => {
      if (i === this.sort.column)
        head.setAttribute("aria-sort", this.sort.down ? "descending" : "ascending");
      else
        head.removeAttribute("aria-sort");
    });
  }

  showAll() {
    this.most = Infinity;
    this.update(this.last);
    this.element.focus();
  }

  makeRow(row) {
    const cells = this.columns.map(column => el(column.head ? "th" : "td", {
      scope: column.head ? "row" : null,
      class: [column.number && "number", column.low && "low", column.kind].filter(Boolean).join(" ") || null,
    }));
    return { element: el("tr", {}, ...cells), cells, row };
  }

  update(rows) {
    const column = this.columns[this.sort.column], seen = new Set();

    this.last = rows;
    if (column) {
      const by = column.by || column.text, sign = this.sort.down ? -1 : 1;
      const order = (a, b) => a < b ? -sign : a > b ? sign : 0;
      rows = [...rows].sort((a, b) => order(by(a), by(b)));
    }
    this.all.hidden = rows.length <= this.most;
    setText(this.all, `Show all ${rows.length} rows`);
    rows = rows.slice(0, this.most);
    rows.forEach((row, i) => {
      const key = this.key(row);
      let entry = this.rows.get(key);

      if (!entry) {
        entry = this.makeRow(row);
        this.rows.set(key, entry);
        this.columns.forEach((one, j) => one.node && entry.cells[j].append(one.node(row, () => entry.row)));
      }
      entry.row = row;
      seen.add(key);
      this.columns.forEach((one, j) => {
        if (one.node)
          one.update?.(entry.cells[j].firstElementChild, row);
        else
          setText(entry.cells[j], String(one.text(row)));
        if (one.title_of)
          setAttributes(entry.cells[j], { title: one.title_of(row) });
      });
      if (this.body.children[i] !== entry.element)
        this.body.insertBefore(entry.element, this.body.children[i] || null);
    });
    for (const [key, entry] of this.rows)
      if (!seen.has(key)) {
        entry.element.remove();
        this.rows.delete(key);
      }
    this.none.hidden = rows.length > 0;
    this.head.hidden = rows.length === 0;
  }
}

// A bar for a part of a whole, which says it in words, too.
export const meter = () => el("span", { class: "meter", role: "img" }, el("i"));

export function setMeter(node, part, words, plain = false) {
  const bar = node.firstElementChild, clamped = Math.min(Math.max(part || 0, 0), 1);

  bar.style.width = 100 * clamped + "%";
  bar.className = plain ? "" : clamped >= .98 ? "full" : clamped >= .8 ? "high" : "";
  setAttributes(node, { "aria-label": words, title: words });
}
