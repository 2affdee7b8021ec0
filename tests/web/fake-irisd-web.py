#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the page needs of irisd-web, with a machine and items of its own: for tests of the page, and for looking at it.

    fake-irisd-web.py DIRECTORY-OF-THE-PAGE [--places N] [--port PORT]

prints its address. It answers as doc/web-interface.md says; the token is "control", or "observe". POST /fake with a JSON
object changes it: {"connected": false}, {"steals": [[0, 1, 20.0]]}, {"ready": false}, {"interval_s": 0.1}.
"""
import argparse
import http.server
import json
import math
import pathlib
import threading
import time
import urllib.parse

TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8"}
STATES = ("queued", "running", "done", "failed", "cancelled", "delayed", "leased", "buried", "suspended")
POLICY = ("default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; "
          "worker-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")


class Machine:
    """An irisd that never was: its figures go up and down like waves."""

    def __init__(self, n_places):
        self.lock = threading.Condition()
        self.n_places, self.seq, self.connected, self.ready, self.interval_s = n_places, 0, True, True, 1.0
        self.steals = [(i, (i + 1) % n_places, 0.0) for i in range(n_places)] if n_places > 1 else []
        self.begin_ms = int(time.time() * 1000)
        self.drained, self.active = set(), [4] * n_places
        self.items = {number: self.make_item(number) for number in range(1, 181)}
        self.streams = 0
        # How many nodes its cluster has, and why it is alone; 0: there is none.
        self.nodes, self.alone, self.dead_letters = 0, "", 0

    def make_item(self, number):
        state = ("running", "queued", "delayed", "buried", "done", "queued", "failed", "leased", "cancelled")[number % 9]
        ended = state in ("done", "failed", "cancelled")
        started = self.begin_ms - 61000 if state in ("running", "leased") or ended else 0
        return {"number": number, "state": state, "class": "durable", "service": "command" if number % 3 else "resize",
                "key": "nightly/%d" % number if number % 4 == 0 else "", "attempts": number % 3, "crashes": 0, "bytes": 10 * number,
                "owner": 1000, "owner_name": "", "place": number % self.n_places, "accepted_ms": self.begin_ms - 90000, "started_ms": started,
                "ended_ms": self.begin_ms - 30000 if ended else 0, "due_ms": self.begin_ms + 7200000 if state == "delayed" else 0,
                "expires_ms": 0, "error": "service-failed" if state == "buried" else "",
                "message": "the command ended with status 3" if state == "buried" else "",
                "exit_status": 7 if state == "done" and number % 18 == 4 else 0, "signal": 0,
                "args": [] if ended else ["sh", "-c", "convert 'picture %d.png' -resize 50%% out.png" % number]}

    def state(self, role):
        wave = [0.5 + 0.45 * math.sin(self.seq / 7 + 1.7 * i) for i in range(self.n_places)]
        state = {"seq": self.seq, "time_ms": int(time.time() * 1000), "interval_s": self.interval_s, "connected": self.connected,
                 "why": "" if self.connected else "no irisd listens at ipc:///run/iris/front", "ready": self.connected and self.ready,
                 "not_ready": [] if self.ready else ["the journal's disk is full"], "role": role, "web": {"pages": self.streams, "requests": self.seq}}
        if not self.connected:
            return state
        places = [self.place(i, wave[i]) for i in range(self.n_places)]
        ended = sum(place["rate"] for place in places)
        state.update({
            "daemon": {"version": "0.1.0", "pid": 4711, "uptime_s": 93784.5 + self.seq, "scheduler": "places", "draining": False,
                       "connections": 12, "pending_connections": 0, "accepted": 1000000 + int(ended) * self.seq, "ended": 999000, "failed": 17,
                       "in_flight": 412 + self.seq % 50, "refused": 3, "malformed": 0, "held_back": 0, "memory_bytes": 20000000 + self.seq * 1000,
                       "payload_bytes": 4096, "credits": 12000, "credits_used": 410, "byte_credits": 100000000, "byte_credits_used": 4096,
                       "spilled": 0, "commands_running": 3, "commands_started": 123, "cpu_s": 100.5,
                       "states": {name: sum(item["state"] == name for item in self.items.values()) for name in STATES},
                       "outcomes": [],
                       "rates": {"accepted": ended * 1.02, "ended": ended, "failed": 0.1 if self.seq % 5 == 0 else 0.0, "refused": 0.0,
                                 "stolen": sum(rate for _, _, rate in self.steals)}},
            "journal": {"state": "ready", "why": "", "items": 180, "ended": 50, "damaged": 0},
            "places": places,
            "steals": [{"from": a, "to": b, "items": 500 + int(rate) * self.seq, "rate": rate, "distance": 10} for a, b, rate in self.steals],
            "services": [{"name": name, "accepted": n, "done": n - 4, "failed": 1, "cancelled": 1, "retried": 2, "buried": 0, "run_s": n / 900,
                          "waiting": n % 7, "leased": n % 3, "rate": n / 100} for name, n in (("echo", 120000), ("command", 124), ("resize", 4021), ("sha256", 90))],
            "limits": [{"name": name, "value": value, "refused": refused, **({} if used is None else {"used": used})} for name, value, used, refused in
                       (("total-items", 1000000, 412, 0), ("in-flight-items", 1000, 990, 3), ("max-peers", 1024, 12, 0), ("max-body", 8388608, None, 0),
                        ("memory-items", 500000, 410000, 0))]})
        if self.nodes:
            state["cluster"] = self.cluster(wave)
        if role != "sums":
            state["near"] = [{"client": "user 1000", "limit": "in-flight-items", "value": 1000, "used": 990},
                             {"client": "resize", "limit": "worker-leases", "value": 64, "used": 12}]
            state["processes"] = [{"name": "resize", "services": ["resize", "thumbnail"], "place": i % self.n_places, "capacity": 4, "leased": i % 5,
                                   "done": 1000 + i, "failed": i, "lost": 0, "silent_s": 0.4 * i} for i in range(3)]
        return state

    def place(self, i, load):
        node = 2 if self.n_places > 3 else 1
        part = max(self.n_places // node, 1)
        load = 0.0 if i in self.drained else load
        return {"id": i, "name": "l2:%d" % i, "cpus": "%d-%d" % (4 * i, 4 * i + 3), "workers": 4, "active": self.active[i],
                "drained": i in self.drained, "package": i // part, "numa": i // part,
                "l3": i // max(part // 2, 1), "l2": i, "core": -1, "rate": 1200 * load, "load": load, "backlog": int(40 * load * load),
                "hinted": 10 * i, "failed": i, "executed": 100000 + i,
                "stolen_in": 500 * i, "stolen_out": 300, "bytes": 1000, "busy_s": 12.5, "parks": 10, "wakes": 10,
                "steals": {"tried": 2000, "made": 500, "lapsed": 0,
                           "refused": {"backlog": 0, "size": 4, "distance": 0, "apart": 1}},
                "queue_p50_s": 0.0001 * (1 + load), "queue_p99_s": 0.01 * load or None, "run_p50_s": 0.001, "run_p99_s": 0.1}

    def cluster(self, wave):
        nodes = [self.node(i, wave[i % self.n_places]) for i in range(self.nodes)]
        return {"node": "n1", "state": "alone" if self.alone else "joined", "since_ms": self.begin_ms, "why": self.alone,
                "promise": "An accepted item is on the disk of at least 2 of 3 servers: it survives the loss of 1 server, and a power failure of all servers.",
                "takes_durable": True, "draining": False, "away": 120 + self.seq % 9, "held": 7 if self.alone else 0, "guests": 12, "published": 4000,
                "away_ended": 3880, "delivered": 900, "redelivered": 3, "guests_ended": 888, "late_ends": 1, "given_back": 2,
                "dead_letters": self.dead_letters, "not_stored": 4, "sent_bytes": 4200000, "received_bytes": 900000, "rescued": 14,
                "stolen": [40, 12, 1], "servers": "nats://192.0.2.1:4222", "nodes": nodes}

    def node(self, i, load):
        """The third is gone, the fourth drains, the fifth was removed, the sixth has said nothing yet."""
        state = {2: "gone", 3: "draining", 4: "removed", 5: "gone"}.get(i, "here")
        told = i != 5
        return {"name": ("n%d" if i < 6 else "a-node-with-a-long-name-%d") % (i + 1), "state": state, "own": i == 0, "since_ms": self.begin_ms - 60000 * i,
                "silent_s": 0.02 if i == 0 else (94.5 if state == "gone" else 1.4 + 0.1 * (i % 9)) if told else 0, "version": "0.1.0" if told else "",
                "workers": 8 if told else 0, "running": int(8 * load) if told else 0, "backlog": int(60 * load * load) if told else 0,
                "away": 120 if i == 0 else 3 * i, "guests": 12 if i == 0 else i, "distance": 0 if i == 0 else (1, 2, 3)[i % 3],
                "labels": ["rack=r%d" % (i // 3), "zone=%s" % "ab"[i % 2]] if told else [], "services": ["command", "echo", "resize", "sha256"] if told else [],
                "n_services": 4 if told else 0, "endpoints": ["ipc:///run/iris/front.ipc"] if told else [],
                "places": [{"name": "l3:%d" % p, "cpus": "%d-%d" % (4 * p, 4 * p + 3), "workers": 4, "backlog": int(6 * load) * (p + 1)} for p in range(2)] if told else [],
                "n_places": 2 if told else 0}

    def history(self):
        wave = [0.5 + 0.3 * math.sin(i / 40) + 0.1 * math.sin(i / 3) for i in range(720)]
        gap = range(200, 240)
        scale = {"accepted": 2500, "ended": 2400, "failed": 0.4, "refused": 0, "stolen": 60, "in_flight": 800, "memory_bytes": 2e7,
                 "queue_p99_s": 0.02, "load": 1}
        return {"step_s": 5, "end_ms": int(time.time() * 1000), "points": 720, "series":
                {name: [None if i in gap else factor * value for i, value in enumerate(wave)] for name, factor in scale.items()}}

    def act(self, path, body):
        """The answer to an action, or None if there is no such path."""
        kind, number, action = path.strip("/").split("/")
        number = int(number)
        if kind == "places" and action == "drain":
            before = number in self.drained
            (self.drained.add if body["drained"] else self.drained.discard)(number)
            return {"changed": int(before != body["drained"])}
        if kind == "places" and action == "workers":
            self.active[number] = body["workers"]
            return {"changed": 1}
        item = self.items.get(number)
        wanted = {"cancel": "cancelled", "kick": "queued", "bury": "buried"}[action]
        if item is None:
            return None
        changed = item["state"] not in ("done", "failed", "cancelled", wanted)
        if changed:
            item["state"], item["message"] = wanted, body.get("reason", "")
        return {"changed": int(changed)}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    machine = page = None

    def log_message(self, *_):
        pass

    def role(self):
        cookie = self.headers.get("Cookie", "")
        return next((role for role in ("control", "observe") if "iris-session=" + role in cookie), "sums")

    def session(self):
        role = self.role()
        return {"role": role, "name": "" if role == "sums" else "anna", "expires_ms": 0, "tokens": True}

    def answer(self, value, status=200, kind="application/json", headers=()):
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        for name, text in (("Content-Type", kind), ("Content-Length", str(len(body))), ("Content-Security-Policy", POLICY), *headers):
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(body)

    def refuse(self, status, name, message):
        self.answer({"error": {"name": name, "message": message}}, status)

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        machine = self.machine
        if url.path == "/" or url.path.startswith("/page/"):
            file = self.page / (url.path[6:] or "index.html")
            if file.parent == self.page and file.is_file():
                self.answer(file.read_bytes(), kind=TYPES.get(file.suffix, "text/plain"))
            else:
                self.refuse(404, "not-found", "there is no " + url.path)
        elif url.path == "/events":
            self.stream()
        elif url.path == "/session":
            self.answer(self.session())
        elif url.path == "/history":
            self.answer(machine.history())
        elif url.path == "/statistics":
            self.answer(machine.state(self.role()))
        elif self.role() == "sums":
            self.refuse(403, "not-permitted", "items are not shown: this needs the role observe; log in with such a token")
        elif url.path == "/items":
            self.list(query)
        else:
            self.item(url.path.split("/")[2:], query)

    def list(self, query):
        items = [item for item in self.machine.items.values()
                 if ("state" not in query or item["state"] in query["state"].split(","))
                 and query.get("service", item["service"]) == item["service"] and item["key"].startswith(query.get("key", ""))
                 and query.get("search", "").lower() in json.dumps([item["number"], item["service"], item["key"], item["args"], item["message"]]).lower()]
        items.sort(key=lambda item: item["number"], reverse=query.get("order") != "oldest")
        if "behind" in query:
            numbers = [item["number"] for item in items]
            items = items[numbers.index(int(query["behind"])) + 1:]
        count = int(query.get("count", 50))
        self.answer({"items": items[:count], "next": items[:count][-1]["number"] if items else 0, "more": len(items) > count})

    def item(self, path, query):
        item = self.machine.items.get(int(path[0]))
        if item is None:
            self.refuse(404, "not-found", "there is no item " + path[0])
        elif path[1:] == ["output"]:
            text = "line %d\n" % self.machine.seq
            ended = item["state"] in ("done", "failed", "cancelled")
            start = int(query.get("from", 0))
            self.answer({"number": item["number"], "ended": ended, "live": item["state"] == "running", "state": item["state"], "exit_status": 0, "signal": 0,
                         "truncated": False, "error": "", "message": "", "content_type": "", "queue_s": 0.001, "run_s": 0.5,
                         "output": "all is well\n" if ended else text if item["state"] == "running" else "", "errors": "a warning\n" if ended else "",
                         "next": start + len(text)})
        else:
            self.answer(item)

    def stream(self):
        machine, role = self.machine, self.role()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        with machine.lock:
            machine.streams += 1
        try:
            while True:
                with machine.lock:
                    data = json.dumps(machine.state(role))
                    seq = machine.seq
                self.wfile.write(("retry: 300\nevent: state\ndata: %s\n\n" % data).encode())
                with machine.lock:
                    machine.lock.wait_for(lambda: machine.seq != seq)
        except OSError:
            pass
        finally:
            self.close_connection = True
            with machine.lock:
                machine.streams -= 1

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
        machine = self.machine
        if self.path == "/fake":
            with machine.lock:
                vars(machine).update(body)
                machine.seq += 1
                machine.lock.notify_all()
            self.answer({"streams": machine.streams})
        elif self.path == "/login" and body["token"] in ("control", "observe"):
            self.answer(dict(self.session(), role=body["token"], name="anna"),
                        headers=[("Set-Cookie", "iris-session=%s; Path=/; HttpOnly; SameSite=Strict" % body["token"])])
        elif self.path == "/login":
            self.refuse(401, "login-required", "the token is unknown or has expired")
        elif self.path == "/logout":
            self.answer({"role": "sums", "name": "", "expires_ms": 0, "tokens": True},
                        headers=[("Set-Cookie", "iris-session=; Path=/; Max-Age=0")])
        elif self.role() != "control":
            self.refuse(403, "not-permitted", "this needs the role control; log in with such a token")
        else:
            with machine.lock:
                answer = machine.act(self.path, body)
            if answer is None:
                self.refuse(404, "not-found", "there is no " + self.path)
            else:
                self.answer(answer)


def tick(machine):
    with machine.lock:
        while True:
            machine.lock.wait(machine.interval_s)
            machine.seq += 1
            machine.lock.notify_all()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("--places", type=int, default=4)
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    Handler.machine, Handler.page = Machine(options.places), options.page
    server = http.server.ThreadingHTTPServer(("127.0.0.1", options.port), Handler)
    server.daemon_threads = True
    threading.Thread(target=tick, args=(Handler.machine,), daemon=True).start()
    print("http://127.0.0.1:%d" % server.server_port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
