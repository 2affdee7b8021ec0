// SPDX-License-Identifier: LGPL-2.1-or-later
// The nodes of the cluster: a card for each machine with its places, a table, and what went between them and this one.
//
// Each irisd knows its own figures to the second; those of the others are what they told last, each three seconds.
import { facts } from "./machine.js";
import { bytes, count, el, moment, openDialog, page, percent, seconds, setAttributes, setMeter, setText, short, meter, Table } from "./ui.js";

const TONES = { here: "good", draining: "warn", gone: "bad", removed: "faint", joined: "good", joining: "warn", alone: "bad", refused: "bad" };
const DISTANCES = ["this one", "same rack", "same zone", "far"];
// A large cell is read in the table; cards are for as many machines as one can look at.
const MOST_CARDS = 60, MOST_PLACES = 16;

const tells = node => node.state === "here" || node.state === "draining";
const loadOf = node => tells(node) && node.workers > 0 ? node.running / node.workers : 0;
const heard = node => node.own ? "now" : node.silent_s > 0 ? seconds(node.silent_s) : "–";
const whereIs = node => node.labels.map(label => label.replace("=", " ")).join(", ");
const figure = (node, value) => tells(node) ? short(value) : "–";

// What a cluster is in, in words that need no glossary; also for the head of the page.
export function describeCluster(cluster) {
  const why = cluster.why || "it joins just now";

  if (cluster.state === "alone")
    return `Node ${cluster.node} is alone, without the other nodes: ${why}. Its own items run; items for others wait here.`;
  return `Node ${cluster.node} is not in its cluster: ${why}. Its own items run.`;
}

/* --- cards --- */

class Card {
  constructor(name) {
    this.state = el("span", { class: "badge" });
    this.load = meter();
    this.words = el("p", { class: "faint" });
    this.places = el("div", { class: "node-places", role: "img" });
    this.bars = [];
    this.element = el("li", { class: "node", "data-node": name },
      el("div", { class: "node-head" }, el("button", { type: "button", class: "link", onclick: () => openNode(name) }, name), this.state),
      this.load, this.words, this.places);
  }

  update(node) {
    const places = node.places.slice(0, MOST_PLACES);

    setText(this.state, node.state + (node.own ? ", this one" : ""));
    this.state.className = "badge " + (TONES[node.state] || "faint");
    this.element.classList.toggle("away", !tells(node));
    this.element.classList.toggle("own", node.own);
    setMeter(this.load, loadOf(node), `${short(node.running)} of ${count(node.workers, "worker")} work`, true);
    setText(this.words, tells(node)
      ? `${short(node.running)} of ${count(node.workers, "worker")} work, ${short(node.backlog)} queued`
      : node.state === "removed" ? "An operator has removed it." : `Not heard${node.silent_s > 0 ? ` for ${seconds(node.silent_s)}` : " since irisd was started"}.`);
    while (this.bars.length < places.length) {
      const bar = el("i");
      this.bars.push(bar);
      this.places.append(el("span", { class: "node-place" }, bar));
    }
    while (this.bars.length > places.length)
      this.bars.pop().parentElement.remove();
    places.forEach((place, i) => {
      this.bars[i].style.height = (tells(node) ? 100 * Math.min(place.backlog / Math.max(place.workers, 1), 1) : 0) + "%";
      setAttributes(this.bars[i].parentElement, { title: `${place.name}: ${short(place.backlog)} queued or running, ${count(place.workers, "worker")}` });
    });
    setAttributes(this.places, { "aria-label": `${count(node.n_places, "place")}: ${places.map(place => `${place.name} ${short(place.backlog)}`).join(", ")}` });
  }
}

/* --- one node --- */

function openNode(name) {
  const node = page.seen.cluster.nodes.find(other => other.name === name);

  if (!node)
    return;
  const places = new Table("Places", [
    { title: "place", head: true, text: place => place.name },
    { title: "cpus", text: place => place.cpus },
    { title: "workers", number: true, by: place => place.workers, text: place => place.workers },
    { title: "queue", number: true, by: place => place.backlog, text: place => short(place.backlog) },
  ], place => place.name, { none: "It has told nothing of its places." });
  const more = node.n_services - node.services.length;
  const list = [["state", `${node.state} since ${moment(node.since_ms)}`], ["last heard", heard(node) + (node.own || node.silent_s <= 0 ? "" : " ago")], ["distance", DISTANCES[node.distance] ?? "far"],
    ["labels", whereIs(node) || "none"], ["version", node.version || "–"],
    ["services", node.services.join(" ") + (more > 0 ? ` and ${more} more` : "") || "none"],
    ["workers", `${figure(node, node.running)} of ${node.workers} work`], ["queue", figure(node, node.backlog)],
    ["away", figure(node, node.away)], ["guests", figure(node, node.guests)]];
  if (node.endpoints)
    list.push(["front door", node.endpoints.join(" ") || "–"]);
  const dialog = openDialog("Node " + node.name, facts(list), el("div", { style: "margin-top:14px" }, places.element),
    el("div", { class: "buttons" }, el("button", { type: "button", autofocus: true, onclick: () => dialog.close() }, "Close")));
  places.update(node.places);
}

/* --- the view --- */

const TILES = [
  ["Nodes here", cluster => [short(cluster.nodes.filter(node => tells(node) && (node.own || cluster.state === "joined")).length), ` of ${cluster.nodes.filter(node => node.state !== "removed").length}`]],
  ["Away", cluster => [short(cluster.away), cluster.held > 0 ? ` ${short(cluster.held)} held here` : ""]],
  ["Guests", cluster => [short(cluster.guests), ` ${short(cluster.guests_ended)} ended`]],
  ["Taken from others", cluster => [short(cluster.stolen.reduce((sum, n) => sum + n, 0)), cluster.rescued > 0 ? ` ${short(cluster.rescued)} rescued` : ""]],
  ["Sent", cluster => [bytes(cluster.sent_bytes), ""]],
  ["Dead letters", cluster => [short(cluster.dead_letters), ""], cluster => cluster.dead_letters > 0],
];

export class NodesView {
  constructor(section) {
    this.tiles = TILES.map(([title, text, isBad]) => ({ node: el("dd", {}), title, text, isBad }));
    this.old = el("p", { class: "warn" });
    this.promise = el("p", { class: "faint" });
    this.key = el("p", { class: "faint" }, "A box for each place: as full as items wait or run for each of its workers.");
    this.cards = new Map();
    this.list = el("ul", { class: "nodes" });
    this.cut = el("p", { class: "faint" });
    this.table = new Table("Nodes", [
      { title: "node", head: true, text: node => node.name, node: node => el("button", { type: "button", class: "link", onclick: () => openNode(node.name) }),
        update: (button, node) => setText(button, node.name) },
      { title: "state", text: node => node.state, node: () => el("span"),
        update: (span, node) => { setText(span, node.state); span.className = TONES[node.state] || "faint"; } },
      { title: "load", number: true, low: true, by: loadOf, node: meter, update: (bar, node) => setMeter(bar, loadOf(node), "load " + percent(loadOf(node)), true) },
      { title: "workers", number: true, low: true, by: node => node.workers, text: node => node.workers },
      { title: "places", number: true, low: true, by: node => node.n_places, text: node => node.n_places },
      { title: "running", number: true, low: true, by: node => node.running, text: node => figure(node, node.running) },
      { title: "queue", number: true, by: node => node.backlog, text: node => figure(node, node.backlog) },
      { title: "away", long: "its items that the cluster has", number: true, by: node => node.away, text: node => figure(node, node.away) },
      { title: "guests", long: "items of the cluster that are there", number: true, low: true, by: node => node.guests, text: node => figure(node, node.guests) },
      { title: "distance", low: true, by: node => node.distance, text: node => DISTANCES[node.distance] ?? "far" },
      { title: "services", number: true, low: true, by: node => node.n_services, text: node => node.n_services, title_of: node => node.services.join(" ") },
      { title: "version", low: true, text: node => node.version || "–" },
      { title: "heard", long: "how long ago it told of itself", number: true, by: node => node.own ? -1 : node.silent_s, text: heard },
    ], node => node.name, { sort: { column: 0, down: false }, most: 100, none: "No node is known yet." });
    section.replaceChildren(el("dl", { class: "tiles" }, ...this.tiles.map(tile => el("div", { class: "tile" }, el("dt", {}, tile.title), tile.node))),
      el("div", { class: "stack" }, el("section", { class: "panel", "aria-label": "Machines" }, el("h2", {}, "All machines"), this.old, this.list, this.cut, this.key, this.promise),
        el("section", { class: "panel" }, this.table.element)));
  }

  update(state) {
    const cluster = state.cluster;

    if (!cluster)
      return;
    const nodes = cluster.nodes || [], whole = { ...cluster, nodes }, shown = nodes.filter(node => node.state !== "removed").slice(0, MOST_CARDS);
    const seen = new Set(shown.map(node => node.name));

    setText(this.old, cluster.state !== "joined" && nodes.length > 1 ? "What is shown of the others is as they told it last." : "");
    for (const tile of this.tiles) {
      const [large, small] = tile.text(whole);
      if (tile.node.dataset.text !== large + small) {
        tile.node.dataset.text = large + small;
        tile.node.replaceChildren(large, el("small", {}, small));
        tile.node.className = tile.isBad?.(whole) ? "bad" : "";
      }
    }
    shown.forEach((node, i) => {
      if (!this.cards.has(node.name))
        this.cards.set(node.name, new Card(node.name));
      const card = this.cards.get(node.name);
      card.update(node);
      if (this.list.children[i] !== card.element)
        this.list.insertBefore(card.element, this.list.children[i] || null);
    });
    for (const [name, card] of this.cards)
      if (!seen.has(name)) {
        card.element.remove();
        this.cards.delete(name);
      }
    this.list.classList.toggle("old", cluster.state !== "joined");
    this.key.hidden = shown.length === 0;
    setText(this.cut, nodes.length > MOST_CARDS ? `The first ${MOST_CARDS} of ${nodes.length}; the table has all.` : "");
    setText(this.promise, cluster.promise + (cluster.promise && !cluster.takes_durable ? " So durable items stay at their node." : ""));
    this.table.update(nodes);
  }
}
