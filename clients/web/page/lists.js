// SPDX-License-Identifier: LGPL-2.1-or-later
// Worker processes and services; limits, and the clients that are near one.
import { bytes, count, el, maySee, meter, page, percent, rate, seconds, setMeter, setText, short, Table } from "./ui.js";

const placeName = id => page.state?.places?.find(place => place.id === id)?.name ?? (id < 0 ? "–" : String(id));

const panel = (...content) => el("section", { class: "panel" }, ...content);
const number = (title, get, more = {}) => ({ title, number: true, by: get, text: row => short(get(row)), ...more });

export class WorkersView {
  constructor(section) {
    this.processes = new Table("Worker processes", [
      { title: "name", head: true, text: row => row.name },
      { title: "services", kind: "text", text: row => row.services.join(" ") },
      { title: "place", low: true, text: row => placeName(row.place) },
      { title: "in use", number: true, low: true, by: row => row.leased / row.capacity, node: meter,
        update: (node, row) => setMeter(node, row.leased / row.capacity, `${row.leased} of ${row.capacity} items`) },
      number("has", row => row.leased), number("done", row => row.done, { low: true }), number("failed", row => row.failed),
      number("lost", row => row.lost, { low: true }),
      { title: "silent", number: true, by: row => row.silent_s, text: row => seconds(row.silent_s) },
    ], row => row.key, { none: "No worker process is connected." });
    this.locked = el("p", { class: "none" }, "Worker processes are shown to those who log in with a token that has the role observe or control.");
    this.services = new Table("Services", [
      { title: "service", head: true, text: row => row.name },
      { title: "items/s", number: true, by: row => row.rate, text: row => rate(row.rate) },
      number("waiting", row => row.waiting), number("leased", row => row.leased, { low: true }), number("done", row => row.done),
      number("failed", row => row.failed), number("retried", row => row.retried, { low: true }),
      number("cancelled", row => row.cancelled, { low: true }), number("buried", row => row.buried, { low: true }),
      { title: "mean time", number: true, low: true, by: row => row.run_s / Math.max(row.done + row.failed, 1),
        text: row => row.done + row.failed > 0 ? seconds(row.run_s / (row.done + row.failed)) : "–" },
    ], row => row.name, { sort: { column: 1, down: true }, most: 50, none: "No service has had an item yet." });
    this.commands = el("p", { class: "faint" });
    section.replaceChildren(el("div", { class: "stack" }, panel(this.processes.element, this.locked), panel(this.services.element, this.commands)));
  }

  update(state) {
    const seen = new Map();
    // Two processes may have one name.
    const rows = (state.processes || []).map(row => {
      const nth = (seen.get(row.name) || 0) + 1;
      seen.set(row.name, nth);
      return { ...row, key: row.name + "#" + nth };
    });

    this.processes.element.hidden = !maySee();
    this.locked.hidden = maySee();
    this.processes.update(rows);
    // The rest is told even if there is none.
    this.services.update((state.services || []).filter(row => row.name !== "other" || row.waiting + row.leased + row.done + row.failed + row.cancelled > 0));
    setText(this.commands, `${count(state.daemon.commands_running, "command")} running, ${short(state.daemon.commands_started)} started in all.`);
  }
}

// A value in the unit that its name says; 0 is no limit.
function valueOf(name, value) {
  if (/-(ms|us)$/.test(name))
    return seconds(value / (name.endsWith("-ms") ? 1e3 : 1e6));
  return /-bytes$|-output$|^max-(body|header|string)$|-credit$|-reserve$/.test(name) ? bytes(value) : short(value);
}

export class LimitsView {
  constructor(section) {
    const part = row => row.value > 0 && row.used !== undefined ? row.used / row.value : -1;
    const refused = number("refused", row => row.refused, { long: "how often irisd answered BUSY for it" });

    this.limits = new Table("Limits", [
      { title: "limit", head: true, text: row => row.name },
      { title: "in use", number: true, low: true, by: part, node: meter, update: (node, row) => {
        node.style.visibility = part(row) < 0 ? "hidden" : "visible";
        setMeter(node, part(row), part(row) < 0 ? "not counted" : percent(part(row)) + " in use");
      } },
      { title: "used", number: true, by: row => row.used ?? -1, text: row => row.used === undefined ? "–" : valueOf(row.name, row.used) },
      { title: "value", number: true, by: row => row.value, text: row => valueOf(row.name, row.value) },
      refused,
    ], row => row.name, { sort: { column: 1, down: true }, none: "irisd tells nothing of its limits yet." });
    this.others = new Table("Limits of which no use is counted", [
      { title: "limit", head: true, text: row => row.name },
      { title: "value", number: true, by: row => row.value, text: row => row.value > 0 ? valueOf(row.name, row.value) : "none" },
      refused,
    ], row => row.name, { sort: { column: 0, down: false }, most: 12 });
    this.near = new Table("Clients nearest to a limit", [
      { title: "client", head: true, text: row => row.client },
      { title: "limit", text: row => row.limit },
      { title: "in use", number: true, by: row => row.used / row.value, node: meter,
        update: (node, row) => setMeter(node, row.used / row.value, percent(row.used / row.value) + " in use") },
      number("used", row => row.used), number("value", row => row.value),
    ], row => row.client + " " + row.limit, { none: "No client has used anything of a limit." });
    this.locked = el("p", { class: "none" }, "Clients are shown to those who log in with a token that has the role observe or control.");
    this.rest = el("p", { class: "faint" });
    section.replaceChildren(el("div", { class: "two" }, el("div", { class: "stack" }, panel(this.limits.element, this.rest), panel(this.near.element, this.locked)),
      panel(this.others.element)));
  }

  update(state) {
    const d = state.daemon;

    const counted = row => row.value > 0 && (row.used !== undefined || row.refused > 0), limits = state.limits || [];
    this.limits.update(limits.filter(counted));
    this.others.update(limits.filter(row => !counted(row)));
    this.near.element.hidden = !maySee();
    this.locked.hidden = maySee();
    this.near.update(state.near || []);
    setText(this.rest, [count(d.connections ?? 0, "connection"),
      d.credits !== undefined && `${short(d.credits_used)} of ${short(d.credits)} credits in use`,
      `${short(d.refused)} requests refused for a limit`, d.held_back !== undefined && `${short(d.held_back)} items wait for others of their client or service`]
      .filter(Boolean).join(", ") + ".");
  }
}
