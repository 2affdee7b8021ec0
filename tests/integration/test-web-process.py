#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""irisd --http starts irisd-web, starts it again, and ends it; irisd itself does not depend on it.

    test-web-process.py irisd irisctl irisd-web
"""
import os
import pathlib
import signal
import sys
import unittest

from web import Machine, get, wait_until

PROGRAMS = sys.argv[1:4]


def runs(pid):
    try:
        return pathlib.Path(f'/proc/{pid}/stat').read_text().rsplit(')', 1)[1].split()[0] != 'Z'
    except FileNotFoundError:
        return False


class Process(unittest.TestCase):
    def setUp(self):
        self.machine = Machine(*PROGRAMS)
        self.addCleanup(self.machine.close)
        self.machine.env['PATH'] = f'{pathlib.Path(PROGRAMS[2]).resolve().parent}:{self.machine.env["PATH"]}'

    def start(self, *args):
        irisd = self.machine.start_irisd('--http', '127.0.0.1:0', *args)
        self.find(irisd)
        return irisd

    def find(self, irisd):
        """The child that serves now."""
        irisd.wait_for('listening at')
        lines = [line for line in irisd.text().splitlines() if 'listening at' in line]
        irisd.port = int(lines[-1].rstrip('/').rsplit(':', 1)[1])
        children = pathlib.Path(f'/proc/{irisd.child.pid}/task').glob('*/children')
        return [int(pid) for path in children for pid in path.read_text().split()][0]

    def test_it_is_started_again_and_irisd_goes_on(self):
        irisd = self.start()
        self.assertEqual(get(irisd, '/readyz').text, 'ready\n')
        child = self.find(irisd)
        self.assertEqual(os.getpgid(child), child)
        os.kill(child, signal.SIGKILL)
        irisd.wait_for('irisd-web ended by signal 9; it is started again in 1 s')
        self.assertIn('irisd', self.machine.irisctl('status'))
        wait_until(lambda: irisd.text().count('listening at') == 2, 'irisd-web to be back')
        self.assertNotEqual(self.find(irisd), child)
        self.assertEqual(get(irisd, '/readyz').text, 'ready\n')

    def test_it_ends_with_irisd(self):
        for how in signal.SIGTERM, signal.SIGKILL:
            with self.subTest(how=how):
                irisd = self.start()
                child = self.find(irisd)
                irisd.end(how)
                wait_until(lambda pid=child: not runs(pid), 'the end of irisd-web')

    def test_its_options_and_mistakes_are_told(self):
        config = self.machine.dir / 'irisd.conf'
        config.write_text('[irisd]\nhttp=127.0.0.1:0\nhttp-options=--limit "pages=0"\n')
        irisd = self.machine.start_irisd('--config', str(config))
        irisd.wait_for('limit “pages”')
        irisd.wait_for('irisd-web ended with status 2; it is started again in 1 s')
        self.assertEqual(irisd.end(), 0)
        for text, message in (('http=nowhere', 'is no address for irisd-web'), ('http-options="', 'cannot be split')):
            config.write_text('[irisd]\n' + text + '\n')
            irisd = self.machine.start([PROGRAMS[0], '--config', str(config), '--check-config'])
            irisd.child.wait()
            self.assertIn(message, irisd.text())
            self.assertIn('line 2', irisd.text())


if __name__ == '__main__':
    unittest.main(argv=[sys.argv[0], *sys.argv[6:]])
