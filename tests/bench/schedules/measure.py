#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What many schedules cost irisd while none is due: memory, start, processor time and wake-ups.

    measure.py PATH-OF-irisd [N]

Makes N schedules (100,000 if absent) that are due once a year, starts irisd anew, and watches it for ten seconds.
Prints the figures of doc/decisions/0149-named-schedules.md. For a quiet machine; no test runs it.
"""
import asyncio
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "clients/python"))
from irisd_client import Client  # noqa: E402

ON_THE_WAY = 500  # requests without an answer
SETTLE, WATCH = 4, 10  # seconds


class Irisd:
    def __init__(self, program, folder):
        self.folder = folder
        self.run = os.path.join(folder, "run")
        self.journal = os.path.join(folder, "journal")
        config = os.path.join(folder, "irisd.conf")
        for path in (self.run, self.journal):
            os.mkdir(path, 0o700)
        with open(config, "w", encoding="ascii") as out:
            out.write("[limits]\nmax-schedules = 10000000\n")
        self.command = [program, "--config", config, "--dir", self.run, "--journal", self.journal]
        self.endpoint = "ipc://%s/front.ipc" % self.run

    def start(self):
        """Returns how many seconds it took until it was ready."""
        read, write = os.pipe()
        began = time.monotonic()
        self.process = subprocess.Popen(self.command + ["--ready-fd", str(write)], pass_fds=[write],
                                        stderr=subprocess.DEVNULL)
        os.close(write)
        with os.fdopen(read, "rb") as ready:
            if not ready.readline():
                sys.exit("measure.py: irisd did not start: see what it says without --ready-fd")
        return time.monotonic() - began

    def stop(self):
        self.process.terminate()
        if self.process.wait() != 0:
            sys.exit("measure.py: irisd ended with status %d" % self.process.returncode)

    def live(self, seconds):
        """So long it has to."""
        try:
            sys.exit("measure.py: irisd ended with status %d" % self.process.wait(seconds))
        except subprocess.TimeoutExpired:
            pass

    def read(self, name):
        with open("/proc/%d/%s" % (self.process.pid, name), encoding="utf-8") as file:
            return file.read()

    def cpu_seconds(self):
        fields = self.read("stat").rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def switches(self):
        threads = os.listdir("/proc/%d/task" % self.process.pid)
        return sum(int(line.split()[1]) for thread in threads for line in self.read("task/%s/status" % thread).splitlines()
                   if "ctxt_switches" in line)

    def resident_mb(self):
        return next(int(line.split()[1]) for line in self.read("status").splitlines() if line.startswith("VmRSS")) / 1024


async def make(irisd, count):
    """Returns how many seconds it took."""
    async with Client(irisd.endpoint) as client:
        free = asyncio.Semaphore(ON_THE_WAY)

        async def one(number):
            async with free:
                await client.set_schedule("job-%07d" % number, "echo", zone="Europe/Berlin",
                                          calendar="%d %d 23 12 *" % (number % 60, number // 60 % 24))

        began = time.monotonic()
        for first in range(0, count, 10 * ON_THE_WAY):
            await asyncio.gather(*(one(number) for number in range(first, min(count, first + 10 * ON_THE_WAY))))
        return time.monotonic() - began


def watch(irisd, what):
    irisd.live(SETTLE)
    cpu, switches = irisd.cpu_seconds(), irisd.switches()
    irisd.live(WATCH)
    print("%s: %.2f s of processor time and %d context switches in %d s; %.1f MB resident"
          % (what, irisd.cpu_seconds() - cpu, irisd.switches() - switches, WATCH, irisd.resident_mb()))


def main():
    if len(sys.argv) not in (2, 3) or (len(sys.argv) == 3 and not sys.argv[2].isdigit()):
        sys.exit(__doc__)
    count = int(sys.argv[2]) if len(sys.argv) == 3 else 100000
    with tempfile.TemporaryDirectory(prefix="irisd-schedules-") as folder:
        irisd = Irisd(sys.argv[1], folder)
        try:
            print("start with none: %.2f s" % irisd.start())
            watch(irisd, "none")
            print("one client makes %d, %d at once: %.1f s" % (count, ON_THE_WAY, asyncio.run(make(irisd, count))))
            irisd.stop()
            print("start with %d: %.2f s" % (count, irisd.start()))
            watch(irisd, str(count))
            irisd.stop()
            size = os.path.getsize(os.path.join(irisd.journal, "items.sqlite"))
            print("the database has %.1f MB" % (size / 1e6))
        finally:
            irisd.process.kill()
            irisd.process.wait()


if __name__ == "__main__":
    main()
