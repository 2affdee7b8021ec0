// SPDX-License-Identifier: LGPL-2.1-or-later
// The persistent items: a list with filters and a search, and all of one item with its output as it comes.
import { askTwice, bytes, el, mayAct, maySee, moment, openDialog, page, request, seconds, setText, Table, tell } from "./ui.js";
import { facts } from "./machine.js";

const LIST_MS = 2000, OUTPUT_MS = 1000, MOST_OUTPUT = 1 << 20;
const STATES = { "": "open and buried", "all": "all", "queued,delayed,leased,running": "open", "running,leased": "running",
  "queued": "queued", "delayed": "delayed", "suspended": "suspended", "buried": "buried", "done,failed,cancelled": "ended",
  "done": "done", "failed": "failed", "cancelled": "cancelled" };
const OPEN = "queued,delayed,leased,running,suspended,buried";
const TONES = { running: "good", leased: "good", failed: "bad", buried: "bad", delayed: "warn", suspended: "warn" };
const ENDED = ["done", "failed", "cancelled"];
const howOf = item => item.signal ? "signal " + item.signal : item.exit_status > 0 ? "exit " + item.exit_status : item.state;
const toneOf = item => item.signal || item.exit_status > 0 ? "bad" : TONES[item.state] || "";

const shellWord = word => /^[\w@%+=:,./-]+$/.test(word) ? word : word.includes("'") && !/["$`\\!]/.test(word) ? `"${word}"`
  : "'" + word.replaceAll("'", "'\\''") + "'";
const commandOf = item => (item.args || []).map(shellWord).join(" ");
const placeName = id => page.state?.places?.find(place => place.id === id)?.name ?? (id < 0 ? "–" : String(id));

function timeOf(item, now) {
  if (!ENDED.includes(item.state) && item.due_ms > now)
    return "in " + seconds((item.due_ms - now) / 1000);
  if (item.started_ms > 0 && (item.state === "running" || item.state === "leased"))
    return "for " + seconds((now - item.started_ms) / 1000);
  if (item.started_ms > 0 && item.ended_ms > 0)
    return "took " + seconds((item.ended_ms - item.started_ms) / 1000);
  return "–";
}

/* --- actions --- */

const changed = (answer, done, already) => answer.changed ? done : already;

function askCancel(item) {
  const runs = item.state === "running" || item.state === "leased";

  askTwice({
    title: "Cancel item " + item.number,
    what: `Item ${item.number} (${commandOf(item) || item.service}) ${runs ? "is running and will be told to stop" : "will not run"}. This cannot be undone.`,
    first: "Cancel it", last: "Yes, cancel item " + item.number,
    act: async () => changed(await request(`/items/${item.number}/cancel`, {}), `Item ${item.number} is cancelled.`, `Item ${item.number} had ended already.`),
  });
}

function askKick(item) {
  askTwice({
    title: "Kick item " + item.number, what: `Item ${item.number} (${commandOf(item) || item.service}) will be queued now.`,
    first: "Kick it", last: "Yes, kick item " + item.number,
    act: async () => changed(await request(`/items/${item.number}/kick`, {}), `Item ${item.number} is queued.`, `Item ${item.number} was neither buried nor delayed.`),
  });
}

function askBury(item) {
  const reason = el("input", { type: "text", maxlength: 200, placeholder: "why" });

  askTwice({
    title: "Bury item " + item.number, what: `Item ${item.number} (${commandOf(item) || item.service}) is set aside until it is kicked or cancelled.`,
    fields: [el("label", {}, "Reason ", reason)], first: "Bury it", last: "Yes, bury item " + item.number,
    act: async () => changed(await request(`/items/${item.number}/bury`, reason.value ? { reason: reason.value } : {}),
      `Item ${item.number} is buried.`, `Item ${item.number} does not wait.`),
  });
}

function actionsOf(item) {
  const button = (text, ask) => el("button", { type: "button", onclick: ask }, text);

  if (!mayAct() || ENDED.includes(item.state))
    return [];
  return [["delayed", "buried"].includes(item.state) && button("Kick…", () => askKick(item)),
    ["queued", "delayed"].includes(item.state) && button("Bury…", () => askBury(item)),
    button("Cancel…", () => askCancel(item))].filter(Boolean);
}

/* --- one item --- */

// A part of some output in bytes; a character may be divided between two parts.
const bytesOf = (part, name) => part[name] !== undefined ? new TextEncoder().encode(part[name])
  : Uint8Array.from(atob(part[name + "_base64"] || ""), letter => letter.charCodeAt(0));

// An item in a dialog, asked again until it has ended and all of its output is there.
function ownerOf(item) {
  if (item.owner_name || item.owner > 4294967295) return "key " + (item.owner_name || item.owner);
  return item.owner < 0 ? "no user of this machine" : "user " + item.owner;
}

class ItemDialog {
  constructor(number) {
    this.number = number;
    this.facts = el("div");
    this.output = el("pre", { tabindex: "0", hidden: true, role: "log", "aria-label": "Output" });
    this.errors = el("pre", { tabindex: "0", hidden: true, "aria-label": "Errors" });
    this.note = el("p", { class: "faint" });
    this.buttons = el("div", { class: "buttons" });
    this.dialog = openDialog("Item " + number, this.facts, el("h2", { style: "margin-top:14px" }, "Output"), this.note, this.output, this.errors, this.buttons);
    this.dialog.dataset.item = number;
    this.dialog.addEventListener("close", () => {
      clearTimeout(this.timer);
      this.gone = true;
      if (location.hash === "#items/" + number)
        history.replaceState(null, "", "#items");
    });
    this.ask();
  }

  async ask() {
    let again = true;

    try {
      this.item = await request("/items/" + this.number);
      this.showFacts();
      again = await this.askOutput();
    } catch (error) {
      setText(this.note, error.message);
      again = error.status !== 404;
    }
    if (again && !this.gone)
      this.timer = setTimeout(() => this.ask(), OUTPUT_MS);
  }

  showFacts() {
    const item = this.item, state = el("span", { class: toneOf(item) || null }, howOf(item)), list = facts([["state", ""],
      ["service", item.service], ...(item.args?.length ? [["command", commandOf(item)]] : []), ...(item.key ? [["key", item.key]] : []),
      ["class", item.class], ["owner", ownerOf(item)], ["place", placeName(item.place)], ["time", timeOf(item, Date.now())],
      ["accepted", moment(item.accepted_ms)], ...(item.due_ms ? [["due", moment(item.due_ms)]] : []), ["started", moment(item.started_ms)],
      ["ended", moment(item.ended_ms)], ["attempts", item.attempts + (item.crashes ? ", and " + item.crashes + " ended by a crash" : "")],
      ["payload", bytes(item.bytes)], ...(item.message ? [[item.state === "buried" ? "buried for" : "message", item.message + (item.error ? ` (${item.error})` : "")]] : [])]);

    list.children[1].append(state);
    this.facts.replaceChildren(list);
    const focused = this.buttons.contains(document.activeElement), key = item.state + mayAct();
    if (this.shown !== key) {
      this.shown = key;
      this.buttons.replaceChildren(el("button", { type: "button", onclick: () => this.dialog.close() }, "Close"), ...actionsOf(item));
      if (focused)
        this.buttons.firstElementChild.focus();
    }
  }

  // Live output begins anew with each attempt, and the result of an item that has ended is told as a whole.
  begin(attempts) {
    this.from = 0;
    this.attempts = attempts;
    this.decoders = { output: new TextDecoder(), errors: new TextDecoder() };
    this.output.textContent = this.errors.textContent = "";
  }

  // Whether there may be more.
  async askOutput() {
    if (this.attempts !== this.item.attempts)
      this.begin(this.item.attempts);
    const part = await request(`/items/${this.number}/output?from=${this.from}`);
    const keep = part.ended && part.truncated && this.from > 0;

    if (part.ended && !keep)
      this.begin(this.item.attempts);
    for (const name of keep ? [] : ["output", "errors"]) {
      const node = this[name], bottom = node.scrollTop + node.clientHeight >= node.scrollHeight - 4;
      setText(node, (node.textContent + this.decoders[name].decode(bytesOf(part, name), { stream: true })).slice(-MOST_OUTPUT));
      node.hidden = !node.textContent;
      if (bottom && !part.ended)
        node.scrollTop = node.scrollHeight;
    }
    this.from = part.live ? part.next : this.from;
    setText(this.note, this.describe(part));
    return !part.ended;
  }

  describe(part) {
    const more = part.truncated ? " There is more than is shown." : "", empty = this.output.hidden && this.errors.hidden;

    if (!part.ended)
      return part.live ? (empty ? "It has written nothing yet." : "It writes:") + more
        : ENDED.includes(this.item.state) ? "" : "It is shown when the item has ended.";
    const how = part.signal ? "ended by signal " + part.signal : part.exit_status > 0 ? "ended with status " + part.exit_status : part.message || part.state;
    return `${how}, after ${seconds(part.queue_s)} in the queue and ${seconds(part.run_s)} of work.${empty ? " It wrote nothing." : ""}${more}`;
  }
}

/* --- the list --- */

export class ItemsView {
  constructor(section) {
    this.section = section;
    const select = (name, label, options) => el("label", {}, label, el("select", { name }, ...Object.entries(options).map(([value, text]) => el("option", { value }, text))));
    const input = (name, label, hint) => el("label", {}, label, el("input", { name, type: "search", placeholder: hint, autocomplete: "off" }));

    this.form = el("form", { class: "filters", role: "search", "aria-label": "Filters" }, select("state", "State", STATES), input("service", "Service", "exact name"),
      input("key", "Key", "its beginning"), select("class", "Class", { "": "any", relaxed: "relaxed", durable: "durable" }),
      input("search", "Search", "number, key, arguments, message"), select("order", "Order", { newest: "newest first", oldest: "oldest first" }));
    this.form.addEventListener("submit", event => event.preventDefault());
    for (const event of ["input", "change"])
      this.form.addEventListener(event, () => {
        clearTimeout(this.typing);
        this.typing = setTimeout(() => this.list(), 250);
      });
    this.table = new Table("Persistent items", [
      { title: "item", head: true, number: true, by: item => item.number, node: (item, now) => el("a", { href: "#items/" + now().number }, String(item.number)) },
      { title: "state", by: howOf, node: () => el("span"), update: (node, item) => { setText(node, howOf(item)); node.className = toneOf(item); } },
      { title: "time", kind: "whole", text: item => timeOf(item, Date.now()) },
      { title: "place", low: true, text: item => placeName(item.place) },
      { title: "service", low: true, text: item => item.service },
      { title: "key", low: true, text: item => item.key },
      { title: "work", kind: "cut", text: item => commandOf(item) || item.service, title_of: item => commandOf(item) || item.service },
      { title: "attempts", number: true, low: true, text: item => item.attempts },
    ], item => item.number, { none: "No item is selected by these filters." });
    this.more = el("button", { type: "button", hidden: true, onclick: () => this.list(this.next) }, "More items");
    this.note = el("p", { class: "faint" });
    this.body = el("div", { class: "panel" }, this.form, this.table.element, this.more, this.note);
    this.locked = el("div", { class: "panel" }, el("h2", {}, "Items need a role"),
      el("p", {}, "Items, their arguments and output are shown to those who log in with a token that has the role observe or control."));
    section.replaceChildren(this.body, this.locked);
    this.items = [];
  }

  open(number) {
    this.body.hidden = !maySee();
    this.locked.hidden = maySee();
    if (!maySee())
      return;
    this.list();
    if (number && !document.querySelector(`dialog[data-item="${number}"]`))
      new ItemDialog(Number(number));
  }

  query(behind) {
    const fields = Object.fromEntries(new FormData(this.form)), query = new URLSearchParams();

    fields.state = fields.state === "all" ? "" : fields.state || OPEN;
    for (const [name, value] of Object.entries(fields))
      if (value.trim() !== "")
        query.set(name, value.trim());
    if (behind !== undefined)
      query.set("behind", behind);
    return query;
  }

  // The first page anew, or the one behind a number. irisd looks at a bounded number of items for each answer, so a page may
  // be short although there is more.
  async list(behind) {
    const asked = this.asked = {};
    let answer;

    clearTimeout(this.timer);
    try {
      answer = await request("/items?" + this.query(behind));
    } catch (error) {
      if (asked === this.asked)
        setText(this.note, error.message);
      this.again();
      return;
    }
    if (asked !== this.asked)
      return;
    this.items = behind === undefined ? answer.items : [...this.items, ...answer.items];
    this.paged = behind !== undefined;
    this.next = answer.next;
    this.more.hidden = !answer.more;
    this.table.update(this.items);
    setText(this.note, answer.more && answer.items.length === 0 ? "None of those looked at so far; there are more." : "");
    this.again();
  }

  // A list of several pages stays as it is: it would jump.
  again() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.section.hidden || document.hidden || this.paged || !maySee() ? this.again() : this.list(), LIST_MS);
  }
}
