#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What irisd-web costs: scrapes of /metrics with many places and services, and memory with pages open.

    scrape.py BUILD-DIRECTORY [--scrapes 200] [--places 64] [--services 1000] [--pages 10]

Prints the median and the worst scrape, the processor time that it took in irisd and in irisd-web, and irisd-web's memory (Pss)
without pages and with them. The hour of history is in memory from the start.
"""
import argparse
import json
import os
import pathlib
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'integration'))
import web as fixture  # noqa: E402  (the path above)


def processor_s(process):
    fields = pathlib.Path(f'/proc/{process.child.pid}/stat').read_text().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def pss_mb(process):
    text = pathlib.Path(f'/proc/{process.child.pid}/smaps_rollup').read_text()
    return int(text.split('\nPss:')[1].split()[0]) / 1024


def fill(machine, services):
    """One item that waits for each service, so that each has its series; and some that run."""
    path = machine.dir / 'items'
    path.write_text(''.join(json.dumps({'service': f'service-{i:04}', 'wait-for-service': True}) + '\n' for i in range(services)))
    machine.irisctl('submit', '--class', 'relaxed', '--detach', '--items', str(path))
    path.write_text(''.join(json.dumps({'service': 'echo', 'payload': 'x'}) + '\n' for _ in range(2000)))
    machine.irisctl('submit', '--class', 'relaxed', '--detach', '--items', str(path))


def measure_scrapes(web, irisd, n):
    times, before = [], (processor_s(irisd), processor_s(web))
    for _ in range(n):
        begin = time.monotonic()
        answer = fixture.get(web, '/metrics')
        times.append((time.monotonic() - begin) * 1e3)
        assert answer.status == 200
    spent = (processor_s(irisd) - before[0], processor_s(web) - before[1])
    lines = answer.body.count(b'\n')
    print(f'{n} scrapes of {lines} lines, {len(answer.body) / 1024:.0f} KiB: median {statistics.median(times):.2f} ms, '
          f'worst {max(times):.2f} ms; processor a scrape: irisd {spent[0] / n * 1e3:.2f} ms, '
          f'irisd-web {spent[1] / n * 1e3:.2f} ms')


def measure_pages(web, n):
    alone = pss_mb(web)
    pages = [fixture.Page(web) for _ in range(n)]
    for page in pages:
        page.wait_for(lambda state: state['web']['pages'] == n)
        page.next()
    size = len(json.dumps(pages[0].next()))
    print(f'memory of irisd-web: {alone:.1f} MiB without pages, {pss_mb(web):.1f} MiB with {n} that get {size / 1024:.0f} KiB a second')
    for page in pages:
        page.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('build', type=pathlib.Path)
    for name, value in (('scrapes', 200), ('places', 64), ('services', 1000), ('pages', 10)):
        parser.add_argument(f'--{name}', type=int, default=value)
    options = parser.parse_args()
    machine = fixture.Machine(*(str(options.build / name) for name in
                                ('daemon/irisd', 'clients/irisctl/irisctl', 'clients/web/irisd-web')))
    try:
        irisd = machine.start_irisd('--topology', f'package:{options.places} core:1 pu:1', '--places', 'package')
        fill(machine, options.services)
        web = machine.start_web()
        print('load of the machine: %.1f %.1f %.1f' % os.getloadavg())
        fixture.get(web, '/metrics')
        measure_scrapes(web, irisd, options.scrapes)
        measure_pages(web, options.pages)
    finally:
        machine.close()


if __name__ == '__main__':
    main()
