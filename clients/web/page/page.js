// SPDX-License-Identifier: LGPL-2.1-or-later
// The live page: which view is shown, the head with the state of irisd, the session, and the stream that feeds all views.
import { HistoryView } from "./history.js";
import { ItemsView } from "./items.js";
import { LimitsView, WorkersView } from "./lists.js";
import { MachineView } from "./machine.js";
import { describeCluster, NodesView } from "./nodes.js";
import { listen } from "./stream.js";
import { clock, el, maySee, openDialog, page, request, seconds, setText, tell } from "./ui.js";

const SILENT_MS = 6000;
const byId = id => document.getElementById(id);
const sections = Object.fromEntries(["machine", "nodes", "history", "items", "workers", "limits"].map(name => [name, byId("view-" + name)]));
const views = {};
let stream = null, lost = false, heardMs = Date.now(), wasAway = false;

// Views are made when irisd has been heard, as the frame is all that there is to see before that.
function getView(name) {
  const makers = { machine: MachineView, nodes: NodesView, history: HistoryView, items: ItemsView, workers: WorkersView, limits: LimitsView };

  return views[name] ||= new makers[name](sections[name]);
}

/* --- which view --- */

// Until the first state it is not known.
const hasNodes = () => page.seen === undefined || page.seen.cluster !== undefined;

function route() {
  const [name, rest] = location.hash.slice(1).split("/"), shown = sections[name] && (name !== "nodes" || hasNodes()) ? name : "machine";

  for (const [other, section] of Object.entries(sections))
    section.hidden = other !== shown;
  for (const link of document.querySelectorAll("nav a"))
    if (link.hash === "#" + shown)
      link.setAttribute("aria-current", "page");
    else
      link.removeAttribute("aria-current");
  document.title = sections[shown].getAttribute("aria-label") + " – irisd";
  if (page.state?.connected) {
    getView(shown).open?.(rest);
    show();
  }
}

function show() {
  for (const [name, view] of Object.entries(views))
    if (!sections[name].hidden)
      view.update?.(page.state);
}

/* --- the head --- */

function setBanner(text, kind) {
  const banner = byId("banner");

  setText(banner, text);
  banner.hidden = text === "";
  banner.className = "banner " + kind;
}

function setBadge(text, kind) {
  setText(byId("state"), text);
  byId("state").className = "badge " + kind;
}

function showHead() {
  const state = page.state, d = page.seen?.daemon, when = page.seen ? `What is shown was seen at ${clock(page.seen.time_ms)}.` : "";
  const silent = Date.now() - heardMs > SILENT_MS;

  document.body.classList.toggle("stale", lost || silent || (state !== null && !state.connected));
  if (d)
    setText(byId("about"), `${page.seen.cluster ? `node ${page.seen.cluster.node}, ` : ""}${d.version}, up ${seconds(d.uptime_s)}, process ${d.pid}, scheduler ${d.scheduler}`);
  if (lost || silent) {
    setBadge("irisd-web is away", "bad");
    setBanner(`irisd-web does not answer; the page tries again by itself. ${when}`, "bad");
  } else if (state && !state.connected) {
    setBadge("irisd is away", "bad");
    setBanner(`irisd does not answer: ${state.why || "no reason is known"}. irisd-web tries again by itself. ${when}`, "bad");
  } else if (state?.daemon.draining) {
    setBadge("draining", "warn");
    setBanner("irisd is stopping: it finishes what it has and takes nothing more.", "warn");
  } else if (state && !state.ready) {
    setBadge("not ready", "warn");
    setBanner(`irisd is not ready: ${state.not_ready.join("; ")}.`, "warn");
  } else if (state?.cluster && state.cluster.state !== "joined") {
    setBadge(state.cluster.state, "warn");
    setBanner(describeCluster(state.cluster), "warn");
  } else if (state) {
    setBadge("live", "good");
    setBanner("", "");
  }
}

/* --- the session --- */

function showSession() {
  const { role, name, tokens } = page.session, button = byId("login");

  setText(byId("who"), role === "sums" ? (tokens ? "sums only" : "sums only: irisd-web has no tokens") : `${name || "logged in"}, ${role}`);
  button.hidden = role === "sums" && !tokens;
  setText(button, role === "sums" ? "Log in" : "Log out");
  // What a role has seen is not left for the next one.
  delete views.items;
  route();
}

async function askSession() {
  try {
    page.session = await request("/session");
  } catch (error) {
    page.session = { role: "sums", name: "", tokens: false };
  }
  showSession();
}

async function changeSession(path, body) {
  page.session = await request(path, body);
  stream.again();
  showSession();
}

function askToken() {
  const input = el("input", { type: "password", name: "token", autocomplete: "current-password", required: true, autofocus: true, style: "width:100%" });
  const why = el("p", { class: "bad", role: "alert" });
  const form = el("form", { method: "dialog" }, el("label", {}, "Token ", input), why,
    el("div", { class: "buttons" }, el("button", { class: "strong" }, "Log in"), el("button", { type: "button", onclick: () => dialog.close() }, "Stay with sums")));
  const dialog = openDialog("Log in", el("p", {}, "A token with the role observe shows items, worker processes and clients; one with control also has buttons. "
    + "irisctl makes tokens."), form);

  form.addEventListener("submit", async event => {
    event.preventDefault();
    try {
      await changeSession("/login", { token: input.value });
      dialog.close();
    } catch (error) {
      why.textContent = error.message;
      input.select();
    }
  });
}

byId("login").onclick = async () => {
  if (page.session.role === "sums")
    askToken();
  else
    try {
      await changeSession("/logout", {});
      tell("Logged out.");
    } catch (error) {
      tell(error.message);
    }
};

/* --- the stream --- */

function takeState(text) {
  const state = JSON.parse(text), first = page.seen === undefined;

  lost = false;
  heardMs = Date.now();
  page.state = state;
  if (!state.connected) {
    wasAway = true;
    showHead();
    return;
  }
  const joins = first || Boolean(page.seen.cluster) !== Boolean(state.cluster);
  page.seen = state;
  document.querySelector('nav a[href="#nodes"]').hidden = !state.cluster;
  if (wasAway)
    views.history?.forget();
  views.machine?.note(state);
  views.history?.note(state);
  // A state is of the role sums or observe: a session has ended, or another page of this browser has logged in.
  if ((state.role === "sums") === maySee())
    askSession();
  if (joins || wasAway)
    route();
  else
    show();
  wasAway = false;
  if (first)
    performance.mark("figures");
  showHead();
}

function takeMessage(message) {
  if (message.lost) {
    lost = wasAway = true;
    showHead();
  } else
    takeState(message.state);
}

window.addEventListener("hashchange", route);
setInterval(showHead, 1000);
route();
askSession();
stream = listen(takeMessage);
