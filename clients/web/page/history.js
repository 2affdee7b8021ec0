// SPDX-License-Identifier: LGPL-2.1-or-later
// One hour of history: a line for each figure, with a cross that is moved by mouse or by arrow keys, and a table.
//
// The hour is fetched when the view is opened first; the page appends its own steps from the states that come.
import { bytes, clock, draw, el, percent, rate, request, seconds, setAttributes, setText, short, Table } from "./ui.js";

const WIDTH = 720, HEIGHT = 120, ROW_S = 300, LEAST_S = 300;

const CHARTS = [
  { key: "ended", title: "Items ended a second", text: rate },
  { key: "accepted", title: "Items accepted a second", text: rate },
  { key: "in_flight", title: "Items not ended", text: short },
  { key: "load", title: "Load of all workers", text: percent, most: 1 },
  { key: "stolen", title: "Items stolen a second", text: rate, kind: "steal-line" },
  { key: "failed", title: "Items failed a second", text: rate, kind: "bad-line" },
  { key: "refused", title: "Items refused a second", text: rate, kind: "bad-line" },
  { key: "queue_p99_s", title: "Wait of 99 % of the items", text: seconds },
  { key: "memory_bytes", title: "Memory", text: bytes },
];

// What a state says for each series, as irisd-web itself reckons its steps.
function valuesOf(state) {
  const { daemon, places } = state, workers = places.reduce((sum, place) => sum + place.workers, 0);
  const waits = places.map(place => place.queue_p99_s).filter(value => value !== null && value !== undefined);

  return { ...daemon.rates, in_flight: daemon.in_flight, memory_bytes: daemon.memory_bytes ?? null,
           queue_p99_s: waits.length ? Math.max(...waits) : null,
           load: workers ? places.reduce((sum, place) => sum + place.load * place.workers, 0) / workers : 0 };
}

const known = values => values.filter(value => value !== null && value !== undefined);
const mean = values => values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null;

class Chart {
  constructor({ key, title, text, most, kind }) {
    Object.assign(this, { key, title, text, most, values: [], at: -1 });
    this.line = draw("path", { class: "line" });
    this.area = draw("path", { class: "area" });
    this.cross = draw("line", { class: "cross", y1: 0, y2: HEIGHT, visibility: "hidden" });
    this.svg = draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", tabindex: "0", role: "img", "aria-label": title },
      ...[0, .5, 1].map(part => draw("line", { class: "grid", x1: 0, x2: WIDTH, y1: HEIGHT * part, y2: HEIGHT * part })),
      this.area, this.line, this.cross);
    this.now = el("output");
    this.top = el("span");
    this.begin = el("span");
    this.element = el("figure", { class: "panel chart " + (kind || ""), "data-chart": key },
      el("figcaption", {}, el("span", {}, title), this.now), this.svg,
      el("div", { class: "axis" }, this.begin, this.top, el("span", {}, "now")));
    this.svg.addEventListener("mousemove", event => {
      const box = this.svg.getBoundingClientRect();
      this.point(Math.round((event.clientX - box.left) / box.width * (this.values.length - 1)));
    });
    this.svg.addEventListener("mouseleave", () => this.point(-1));
    this.svg.addEventListener("blur", () => this.point(-1));
    this.svg.addEventListener("keydown", event => this.press(event));
  }

  press(event) {
    const last = this.values.length - 1, step = { ArrowLeft: -12, ArrowRight: 12 }[event.key];

    if (step)
      this.point((this.at < 0 ? last : this.at) + step);
    else if (event.key === "Home" || event.key === "End")
      this.point(event.key === "Home" ? 0 : last);
    else
      return;
    event.preventDefault();
  }

  point(at) {
    this.at = at < 0 ? -1 : Math.min(at, this.values.length - 1);
    this.show();
  }

  // A step without a value is a gap.
  paths(most) {
    const n = this.values.length, x = i => (i * WIDTH / Math.max(n - 1, 1)).toFixed(1);
    let line = "", area = "", start = -1;

    this.values.forEach((value, i) => {
      const there = value !== null && value !== undefined;
      if (there) {
        line += (start < 0 ? "M" : "L") + x(i) + " " + (HEIGHT - 4 - (HEIGHT - 10) * value / most).toFixed(1);
        start = start < 0 ? i : start;
      }
      if (start >= 0 && (!there || i === n - 1)) {
        const end = there ? i : i - 1;
        // One value alone is a point.
        line += start === end ? "h0" : "";
        area += line.slice(line.lastIndexOf("M")) + `L${x(end)} ${HEIGHT}L${x(start)} ${HEIGHT}Z`;
        start = -1;
      }
    });
    return { line, area };
  }

  update(values, stepS, endMs) {
    this.values = values;
    Object.assign(this, { stepS, endMs });
    const most = this.most || Math.max(...known(values), 1e-9), { line, area } = this.paths(most);
    setAttributes(this.line, { d: line });
    setAttributes(this.area, { d: area });
    setText(this.top, known(values).length ? "top " + this.text(most === 1e-9 ? 0 : most) : "no figures yet");
    setText(this.begin, seconds(stepS * values.length) + " ago");
    this.show();
  }

  show() {
    const at = this.at < 0 ? this.values.length - 1 : this.at, value = this.values[at];
    const when = this.at < 0 ? "now" : "at " + clock(this.endMs - (this.values.length - 1 - at) * this.stepS * 1000);
    const there = value !== null && value !== undefined;
    const text = known(this.values).length === 0 ? `figures come within ${seconds(this.stepS)}` : (there ? this.text(value) : "not known") + " " + when;

    setText(this.now, text);
    setAttributes(this.svg, { "aria-label": `${this.title}: ${text}. Arrow keys move through the hour.` });
    setAttributes(this.cross, { visibility: this.at < 0 ? "hidden" : "visible",
                                x1: at * WIDTH / Math.max(this.values.length - 1, 1), x2: at * WIDTH / Math.max(this.values.length - 1, 1) });
  }
}

export class HistoryView {
  constructor(section) {
    this.section = section;
    this.charts = CHARTS.map(chart => new Chart(chart));
    this.step = [];
    this.table = new Table("The hour in steps of five minutes, means", [
      { title: "until", head: true, text: row => clock(row.ms), by: row => row.ms },
      ...CHARTS.map(chart => ({ title: chart.title, number: true, by: row => row[chart.key] ?? -1,
                                text: row => row[chart.key] === null ? "–" : chart.text(row[chart.key]) })),
    ], row => row.index, { none: "Nothing was recorded yet." });
    section.replaceChildren(el("div", { class: "charts" }, ...this.charts.map(chart => chart.element)),
      el("details", { class: "panel" }, el("summary", {}, "The same as a table"), this.table.element));
    section.style.display = "";
  }

  // For each state: what the page has not fetched.
  note(state) {
    if (!this.hour)
      return;
    this.step.push(valuesOf(state));
    if (state.time_ms - this.hour.end_ms < this.hour.step_s * 1000)
      return;
    const missed = Math.min(Math.floor((state.time_ms - this.hour.end_ms) / 1000 / this.hour.step_s), this.hour.points);
    for (const { key } of CHARTS) {
      const series = this.hour.series[key] ||= new Array(this.hour.points).fill(null);
      for (let i = 1; i < missed; i++)
        series.push(null);
      series.push(mean(known(this.step.map(values => values[key]))));
      series.splice(0, series.length - this.hour.points);
    }
    this.hour.end_ms += missed * this.hour.step_s * 1000;
    this.step = [];
    this.show();
  }

  async open() {
    if (!this.hour)
      try {
        this.hour = await request("/history");
        this.failed = "";
      } catch (error) {
        this.charts.forEach(chart => setText(chart.now, error.message));
        return;
      }
    this.show();
  }

  // irisd was away: irisd-web knows what this page has missed.
  forget() {
    this.hour = null;
  }

  show() {
    if (this.section.hidden)
      return;
    const { series, step_s: stepS, end_ms: endMs, points } = this.hour;
    // A short history takes all of the width.
    const first = Math.min(...Object.values(series).map(values => values.findIndex(value => value !== null)).map(i => i < 0 ? points : i));
    const shown = Math.min(points, Math.max(points - first, Math.round(LEAST_S / stepS)));
    for (const chart of this.charts)
      chart.update((series[chart.key] || new Array(points).fill(null)).slice(points - shown), stepS, endMs);
    this.showTable(Math.round(ROW_S / stepS));
  }

  showTable(perRow) {
    const { series, step_s: stepS, end_ms: endMs, points } = this.hour, rows = [];

    for (let end = points; end >= perRow; end -= perRow) {
      const row = { index: end, ms: endMs - (points - end) * stepS * 1000 };
      for (const { key } of CHARTS)
        row[key] = mean(known((series[key] || []).slice(end - perRow, end)));
      if (CHARTS.some(({ key }) => row[key] !== null))
        rows.push(row);
    }
    this.table.update(rows);
  }
}
