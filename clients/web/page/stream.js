// SPDX-License-Identifier: LGPL-2.1-or-later
// The stream of states: one connection to irisd-web for all pages of a browser.
//
// A browser opens six connections to a server at most, so ten pages that each had a stream of their own would block each
// other. A SharedWorker has the stream and passes on what comes; the same file is the worker and what a page uses. A browser
// without SharedWorker gives each page a stream.

const RETRY_MS = 2000;

// Calls told({state}) for each state and told({lost: true}) when irisd-web does not answer.
function openStream(told) {
  let source = null, timer = 0;

  function again() {
    clearTimeout(timer);
    if (source)
      source.close();
    source = new EventSource("/events");
    source.addEventListener("state", event => told({ state: event.data }));
    source.onerror = () => {
      told({ lost: true });
      // An answer such as 503 ends an EventSource for good.
      if (source.readyState === EventSource.CLOSED)
        timer = setTimeout(again, RETRY_MS);
    };
  }

  again();
  return { again };
}

// As a worker. A page that is closed does not say so, but its port then only drops messages.
function serve() {
  const ports = new Set();
  let last = null;
  const stream = openStream(message => {
    last = message;
    for (const port of ports)
      port.postMessage(message);
  });

  self.onconnect = event => {
    const port = event.ports[0];
    ports.add(port);
    port.onmessage = message => {
      if (message.data === "again")
        stream.again();
      else if (message.data === "bye")
        ports.delete(port);
    };
    if (last)
      port.postMessage(last);
  };
}

// As a page: the same calls. Returns an object whose again() begins anew, as after a login.
export function listen(told) {
  let worker;

  try {
    worker = new SharedWorker("/page/stream.js", { type: "module", name: "irisd-states" });
  } catch (error) {
    return openStream(told);
  }
  worker.port.onmessage = event => told(event.data);
  worker.port.start();
  window.addEventListener("pagehide", () => worker.port.postMessage("bye"));
  // A page that is shown again from the browser's memory has said bye.
  window.addEventListener("pageshow", event => event.persisted && location.reload());
  return { again: () => worker.port.postMessage("again") };
}

if (typeof SharedWorkerGlobalScope !== "undefined" && self instanceof SharedWorkerGlobalScope)
  serve();
