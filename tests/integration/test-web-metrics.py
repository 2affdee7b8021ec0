#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The metrics of irisd-web: both formats, what they count, the dashboard and the alerts that are made of them.

    test-web-metrics.py irisd irisctl irisd-web SOURCE-DIRECTORY BUILD-DIRECTORY
"""
import functools
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import time
import unittest

from web import Machine, get, wait_until

PROGRAMS = sys.argv[1:4]
SOURCE, BUILD = (pathlib.Path(path).resolve() for path in sys.argv[4:6])
ALERTS = SOURCE / 'clients/web/alerts/irisd.rules.yml'
DASHBOARD = SOURCE / 'clients/web/grafana/irisd.json'
OPEN = {'Accept': 'application/openmetrics-text; version=1.0.0,text/plain;version=0.0.4;q=0.5'}

SAMPLE = re.compile(r'([a-z_]+)(?:\{(.*)\})? (\S+)')
LABEL = re.compile(r'([a-z_]+)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)')
# What each type may append to the name of its family, in OpenMetrics and in the classic format.
SUFFIXES = {'gauge': ({''}, {''}), 'counter': ({'_total'}, {''}), 'info': ({'_info'}, set()),
            'histogram': ({'_bucket', '_sum', '_count'},) * 2}


@functools.cache
def promtool():
    run = subprocess.run([SOURCE / 'tests/checks/promtool.sh', BUILD / 'promtool'], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         encoding='utf-8', check=False)
    if run.returncode == 77:
        print(f'# skipped: {run.stderr.strip()}')
        return None
    return run.stdout.strip()


def check_with_promtool(test, args, text=None):
    if promtool() is None:
        test.skipTest('there is no promtool; the parts without it were checked')
    run = subprocess.run([promtool(), *args], input=text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding='utf-8', check=False)
    test.assertEqual(run.returncode, 0, run.stdout)


def parse(text, is_open):
    """Families by name: type and samples by name and labels. Raises AssertionError for what is against the format."""
    families, current, seen = {}, None, set()
    lines = text.split('\n')
    assert lines.pop() == '', 'the last line has no end'
    if is_open:
        assert lines.pop() == '# EOF', 'there is no end'
    for line in lines:
        words = line.split(' ', 3)
        if words[:2] == ['#', 'HELP']:
            assert words[2] not in families, f'{words[2]} comes twice'
            current = families[words[2]] = {'help': words[3], 'samples': {}}
            current['name'] = words[2]
        elif words[:2] == ['#', 'TYPE']:
            assert words[2] == current['name'] and 'type' not in current, line
            current['type'] = words[3]
        else:
            name, labels, value = SAMPLE.fullmatch(line).groups()
            suffix = name[len(current['name']):]
            assert name.startswith(current['name']) and suffix in SUFFIXES[current['type']][0 if is_open else 1], line
            pairs = LABEL.findall(labels or '')
            assert ''.join(f'{k}="{v}",' for k, v in pairs).rstrip(',') == (labels or ''), line
            key = (name, tuple(sorted(pairs)))
            assert key not in seen, f'{line} comes twice'
            seen.add(key)
            current['samples'][key] = float(value)
    for family in families.values():
        check_family(family)
    return families


def check_family(family):
    assert family['help'] and 'type' in family, family['name']
    if family['type'] == 'counter':
        assert all(value >= 0 for value in family['samples'].values()), family['name']
    if family['type'] != 'histogram':
        return
    groups = {}
    for (name, pairs), value in family['samples'].items():
        rest = tuple(pair for pair in pairs if pair[0] != 'le')
        groups.setdefault(rest, {}).setdefault(name[len(family['name']):], []).append((dict(pairs).get('le'), value))
    for group in groups.values():
        bounds = [float(le) for le, _ in group['_bucket']]
        counts = [value for _, value in group['_bucket']]
        assert bounds == sorted(bounds) and bounds[-1] == math.inf, family['name']
        assert counts == sorted(counts) and counts[-1] == group['_count'][0][1], family['name']


def names_of(families):
    return {name for family in families.values() for name, _ in family['samples']}


def find(families, name, **labels):
    """The sum of the samples with these labels."""
    wanted = set(labels.items())
    return sum(value for family in families.values() for (sample, pairs), value in family['samples'].items()
               if sample == name and wanted <= set(pairs))


class MetricsTest(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.machine = Machine(*PROGRAMS)
        cls.addClassCleanup(cls.machine.close)
        cls.machine.start_irisd('--topology', 'package:2 core:2 pu:1', '--places', 'package')
        cls.web = cls.machine.start_web()
        for i in range(20):
            cls.machine.irisctl('run', '--', 'true')
        cls.machine.irisctl('wait', str(cls.machine.submit('echo', 'x')))

    def scrape(self, is_open=False):
        answer = get(self.web, '/metrics', headers=OPEN if is_open else {})
        self.assertEqual(answer.headers['Content-Type'].split(';')[0],
                         'application/openmetrics-text' if is_open else 'text/plain')
        return answer.text


class Formats(MetricsTest):
    def test_both_formats_tell_the_same(self):
        classic, opened = parse(self.scrape(), False), parse(self.scrape(True), True)
        self.assertEqual(names_of(classic), names_of(opened))
        self.assertEqual({name.removesuffix('_total').removesuffix('_info') for name in classic}, set(opened))
        for name, family in opened.items():
            with self.subTest(name=name):
                self.assertRegex(name, r'^irisd(_[a-z]+)*$')
                self.assertFalse(name.endswith(('_ns', '_ms', '_milliseconds', '_count', '_total')))

    def test_the_classic_one_passes_promtool(self):
        check_with_promtool(self, ['check', 'metrics'], self.scrape())

    def test_accept_chooses(self):
        for accept, is_open in (('*/*', False), ('text/plain', False), ('application/openmetrics-text', True),
                                ('text/plain;q=0.9,application/openmetrics-text;q=0.1', False), ('text/html', False), (';;,', False)):
            with self.subTest(accept=accept):
                text = get(self.web, '/metrics', headers={'Accept': accept}).text
                self.assertEqual(text.endswith('# EOF\n'), is_open)

    def test_nothing_is_told_of_an_irisd_that_is_not_there(self):
        machine = Machine(*PROGRAMS)
        self.addCleanup(machine.close)
        web = machine.start_web()
        families = parse(get(web, '/metrics').text, False)
        self.assertEqual(find(families, 'irisd_up'), 0)
        self.assertNotIn('irisd_ready', families)
        check_with_promtool(self, ['check', 'metrics'], get(web, '/metrics').text)


ALONE = 'node n1 is not in its cluster: '


@unittest.skipUnless(os.environ.get('IRIS_HAVE_CLUSTER') == 'yes', 'irisd was built without clusters')
class Alone(unittest.TestCase):
    """A node whose cluster is not there: what it says of itself, and that local work goes on."""

    @classmethod
    def setUpClass(cls):
        cls.machine = Machine(*PROGRAMS)
        cls.addClassCleanup(cls.machine.close)
        cls.machine.start_irisd_alone('--topology', 'package:2 core:2 pu:1', '--places', 'package')
        cls.web = cls.machine.start_web()

    def test_metrics_tell_it_in_both_formats(self):
        for is_open in False, True:
            families = parse(get(self.web, '/metrics', headers=OPEN if is_open else {}).text, is_open)
            self.assertEqual(find(families, 'irisd_cluster_info', node='n1'), 1)
            self.assertEqual(find(families, 'irisd_cluster_connected'), 0)
            self.assertEqual(find(families, 'irisd_cluster_state', state='joining'), 1)
            self.assertEqual(find(families, 'irisd_cluster_state'), 1)
            for name, family in families.items():
                self.assertRegex(name, r'^irisd(_[a-z]+)*$')
                if family['type'] == 'counter' and 'bytes' in name:
                    self.assertTrue(name.removesuffix('_total').endswith('_bytes'), name)
        check_with_promtool(self, ['check', 'metrics'], get(self.web, '/metrics').text)

    def test_readyz_is_ready_and_says_it(self):
        answer = get(self.web, '/readyz')
        self.assertEqual(answer.status, 200)
        first, second = answer.text.splitlines()
        self.assertEqual(first, 'ready')
        self.assertTrue(second.startswith(ALONE), second)
        self.assertIn('there is no connection', second)
        self.assertNotIn('sesame', second)

    def test_irisctl_status_and_nodes_say_it_and_work_goes_on(self):
        status = self.machine.irisctl('status')
        self.assertRegex(status, r'\ncluster: node n1, joining since \S+.*\n  .*there is no connection')
        self.assertNotIn('sesame', status)
        told = json.loads(self.machine.irisctl('status', '--json'))['cluster']
        self.assertEqual((told['state'], told['away'], told['dead_letters'], told['stolen_by_distance']), ('joining', 0, 0, [0, 0, 0]))
        self.assertEqual(self.machine.irisctl('send', 'echo', 'hello'), 'hello')
        nodes = json.loads(self.machine.irisctl('nodes', '--json'))
        self.assertEqual((nodes['node'], nodes['state']), ('n1', 1))

    def test_the_state_has_the_cluster(self):
        def cluster():
            return get(self.web, '/statistics').json.get('cluster', {})

        # The first step may have come before irisd had tried.
        wait_until(lambda: 'there is no connection' in cluster().get('why', ''), 'the reason')
        told = cluster()
        self.assertEqual(told['state'], 'joining')
        self.assertEqual((told['node'], told['away'], told['stolen'], told['nodes']), ('n1', 0, [0, 0, 0], []))
        self.assertNotIn('servers', told)
        token = self.machine.new_token('anna', 'observe')
        self.assertNotIn('sesame', get(self.web, '/statistics', token=token).text)
        self.assertIn('127.0.0.1', get(self.web, '/statistics', token=token).json['cluster']['servers'])


@unittest.skipUnless(os.environ.get('IRIS_HAVE_CLUSTER') == 'yes', 'irisd was built without clusters')
class NeverJoined(unittest.TestCase):
    """A node that has not reached its cluster within join-ms: it is no longer said to be joining."""

    def test_it_says_that_it_is_alone_since_when_and_why(self):
        machine = Machine(*PROGRAMS)
        self.addCleanup(machine.close)
        before = time.time()
        machine.start_irisd_alone(join_ms=1000)
        after = time.time()
        web = machine.start_web()

        def told():
            return json.loads(machine.irisctl('status', '--json'))['cluster']

        wait_until(lambda: told()['state'] == 'alone', 'it is alone')
        # Since its start, not since it gave joining up.
        self.assertTrue(before - 1 <= told()['since_ms'] / 1000 <= after + 1, told())
        self.assertIn('cannot join', told()['reason'])
        self.assertRegex(machine.irisctl('status'), r'\ncluster: node n1, alone since \S+.*\n  cannot join.*there is no connection')
        wait_until(lambda: 'alone since' in get(web, '/readyz').text, 'readyz says it')
        self.assertRegex(get(web, '/readyz').text, r'\Aready\nnode n1 is not in its cluster, but alone since 20\S+Z: cannot join.*there is no connection')
        nodes = subprocess.run([machine.programs['irisctl'], 'nodes'], env=machine.env, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               stdout=subprocess.DEVNULL, encoding='utf-8', check=True)
        self.assertRegex(nodes.stderr, r'not in the cluster, but alone since 20.*: cannot join')


class Counts(MetricsTest):
    def test_items_are_counted_by_outcome_class_service_and_place(self):
        before = parse(self.scrape(), False)
        for i in range(10):
            self.machine.irisctl('send', 'echo', 'hello')
        self.assertRaises(subprocess.CalledProcessError, self.machine.irisctl, 'run', '--', 'false')
        waiting = self.machine.submit('--delay', '1h', 'echo', 'x')

        def difference(name, **labels):
            return find(after, name, **labels) - find(before, name, **labels)

        after = parse(self.scrape(), False)
        self.assertEqual(difference('irisd_items_accepted_total'), 12)
        self.assertEqual(difference('irisd_items_ended_total', **{'class': 'volatile', 'outcome': 'done'}), 11)
        self.assertEqual(difference('irisd_service_items_ended_total', service='echo', outcome='done'), 10)
        self.assertEqual(difference('irisd_place_executed_items_total'), 11)
        self.assertEqual(difference('irisd_place_run_time_seconds_count'), 11)
        self.assertGreater(difference('irisd_place_run_time_seconds_sum'), 0)
        self.assertEqual(difference('irisd_commands_started_total'), 1)
        self.assertEqual(difference('irisd_items', state='delayed'), 1)
        self.assertGreater(difference('irisd_journal_sync_seconds_count'), 0)
        self.assertGreater(difference('irisd_journal_rows_written_total'), 0)
        self.machine.irisctl('cancel', str(waiting))

        # A persistent item has ended when the journal has its end, which is after the answer.
        def is_counted():
            name, labels = 'irisd_items_ended_total', {'class': 'durable', 'outcome': 'cancelled'}
            return find(parse(self.scrape(), False), name, **labels) - find(before, name, **labels) == 1

        wait_until(is_counted, 'the end of the cancelled item')

    def test_every_subject_has_its_series(self):
        families = parse(self.scrape(), False)
        for name in ('irisd_items', 'irisd_items_ended_total', 'irisd_service_items_ended_total', 'irisd_place_steals_tried_total',
                     'irisd_place_steals_made_total', 'irisd_place_steals_refused_total', 'irisd_place_steals_lapsed_total',
                     'irisd_stolen_items_total', 'irisd_place_queue_delay_seconds', 'irisd_place_run_time_seconds',
                     'irisd_place_parks_total', 'irisd_place_wakes_total', 'irisd_journal_sync_seconds', 'irisd_journal_rows_written_total',
                     'irisd_journal_written_bytes_total', 'irisd_connections', 'irisd_credit_items', 'irisd_limit_busy_total',
                     'irisd_commands_running', 'irisd_worker_processes', 'irisd_resident_memory_bytes'):
            with self.subTest(name=name):
                self.assertTrue(families[name]['samples'], name)

    def test_labels_are_escaped(self):
        families = parse(self.scrape(), False)
        places = {dict(pairs)['place'] for _, pairs in families['irisd_place_workers']['samples']}
        self.assertEqual(places, {'package:0', 'package:1'})


def expressions():
    """The queries of the dashboard, and what they are for."""
    dashboard = json.loads(DASHBOARD.read_text())
    for panel in dashboard['panels']:
        for target in panel.get('targets', []):
            yield panel['title'], target['expr'].replace('$instance', 'x')
    for annotation in dashboard['annotations']['list']:
        yield annotation['name'], annotation['expr'].replace('$instance', 'x')


def rules():
    """Name and expression of each alert; the file is YAML of a simple form."""
    text = re.sub(r'expr: >-\n\s+', 'expr: ', ALERTS.read_text())
    text = re.sub(r'\n\s+/ sum', ' / sum', text)
    return re.findall(r'- alert: (\w+)\n\s+expr: (.*)', text)


class Consumers(MetricsTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.has_cluster = os.environ.get('IRIS_HAVE_CLUSTER') == 'yes'
        node = Machine(*PROGRAMS)
        cls.addClassCleanup(node.close)
        if cls.has_cluster:
            node.start_irisd_alone('--topology', 'package:2 core:2 pu:1', '--places', 'package')
        cls.node_web = node.start_web()

    def test_without_a_cluster_there_is_none_of_its_series(self):
        self.assertNotIn('irisd_cluster', self.scrape())
        self.assertNotIn('cluster', get(self.web, '/statistics').json)
        self.assertEqual(get(self.web, '/readyz').text, 'ready\n')

    def check_names(self, what, expression):
        families = parse(self.scrape(), False)
        if 'irisd_cluster_' in expression:
            if not self.has_cluster:
                return
            families.update(parse(get(self.node_web, '/metrics').text, False))
        known = names_of(families)
        for name, matchers in re.findall(r'\b(irisd_\w+|ALERTS)(?:\{([^}]*)\})?', expression):
            self.assertIn(name, known, what)
            labels = {key for family in families.values() for sample, pairs in family['samples'] for key, _ in pairs if sample == name}
            for key in re.findall(r'(\w+)=~?"', matchers):
                self.assertIn(key, labels | {'instance'}, f'{what}: {name}')

    def test_every_query_of_the_dashboard_has_its_series(self):
        queries = list(expressions())
        self.assertGreater(len(queries), 40)
        for what, expression in queries:
            self.check_names(what, expression)
        ids = [panel['id'] for panel in json.loads(DASHBOARD.read_text())['panels']]
        self.assertEqual(len(ids), len(set(ids)))

    def test_every_query_of_the_dashboard_is_promql(self):
        path = self.machine.dir / 'dashboard.json'
        path.write_text(json.dumps({'groups': [{'name': 'x', 'rules': [
            {'record': f'x:{i}', 'expr': expression} for i, (_, expression) in enumerate(expressions())]}]}))
        check_with_promtool(self, ['check', 'rules', str(path)])

    def test_every_alert_has_its_series(self):
        found = rules()
        self.assertEqual(len(found), ALERTS.read_text().count('- alert:'))
        for what, expression in found:
            self.check_names(what, expression)
        check_with_promtool(self, ['check', 'rules', str(ALERTS)])

    # For each alert a series that makes it fire within two hours, the labels that it then has, and one that does not.
    CASES = {
        'IrisdDown': ('irisd_up', '', '1x10 0x120', '1x120'),
        'IrisdNotReady': ('irisd_ready', '', '1x10 0x120', '1x120'),
        'IrisdRestarts': ('irisd_start_time_seconds', '', '1+1x120', '1x120'),
        'IrisdJournalFailed': ('irisd_journal_state', 'state="failed"', '0x60 1x60', '0x120'),
        'IrisdJournalFull': ('irisd_journal_state', 'state="full"', '0x60 1x60', '0x120'),
        'IrisdJournalDiskNearlyFull': ('irisd_journal_free_bytes', '', '2e9x60 9e8x60', '2e9x120'),
        'IrisdJournalSlow': ('irisd_journal_sync_seconds_bucket', 'le="0.5"', '0+10x120', '0x120'),
        'IrisdJournalDamaged': ('irisd_journal_damaged_items', '', '1x120', '0x120'),
        'IrisdBusy': ('irisd_busy_total', '', '0+120x120', '0+6x120'),
        'IrisdLimitNear': ('irisd_limit_used', 'limit="total-items"', '95x120', '50x120'),
        'IrisdItemsFail': ('irisd_items_ended_total', 'class="volatile",outcome="failed"', '0+20x120', '0+1x120'),
        'IrisdItemsBuried': ('irisd_items_buried_total', 'class="durable"', '0x110 1x10', '1x120'),
        'IrisdItemsWait': ('irisd_place_queue_delay_seconds_bucket', 'le="100",place="a"', '0+10x120', '0x120'),
        'IrisdPlaceDrained': ('irisd_place_drained', 'place="a"', '1x120', '0x60 1x60'),
        'IrisdAlone': ('irisd_cluster_connected', '', '1x110 0x10', '1x120'),
        'IrisdNodeGone': ('irisd_cluster_nodes', 'state="gone"', '0x60 1x60', '0x60 1x4 0x60'),
        'IrisdDeadLetters': ('irisd_cluster_dead_letters_total', '', '0x110 1x10', '5x120'),
    }
    # What else an expression reads.
    OTHERS = [('irisd_draining', '', '0x120'), ('irisd_limit', 'limit="total-items"', '100x120'),
              ('irisd_items_ended_total', 'class="volatile",outcome="done"', '0+100x120'),
              ('irisd_journal_sync_seconds_bucket', 'le="0.1"', '0x120'), ('irisd_journal_sync_seconds_bucket', 'le="+Inf"', '0+10x120'),
              ('irisd_place_queue_delay_seconds_bucket', 'le="10",place="a"', '0x120'),
              ('irisd_place_queue_delay_seconds_bucket', 'le="+Inf",place="a"', '0+10x120')]
    # Labels of the series that the alert has too.
    KEPT = {'IrisdJournalFailed': 'state="failed"', 'IrisdJournalFull': 'state="full"', 'IrisdLimitNear': 'limit="total-items"',
            'IrisdItemsBuried': 'class="durable"', 'IrisdNodeGone': 'state="gone"', 'IrisdPlaceDrained': 'place="a"'}

    def test_every_alert_fires_and_stays_silent(self):
        self.assertEqual(set(self.CASES), {name for name, _ in rules()})
        severities = dict(re.findall(r'- alert: (\w+)\n.*?severity: (\w+)', ALERTS.read_text(), re.S))
        tests = []
        for name, (series, labels, firing, silent) in self.CASES.items():
            for values in firing, silent:
                inputs = self.OTHERS if values is firing or 'Slow' not in name and 'Wait' not in name else \
                    [other for other in self.OTHERS if other[0] != series]
                joined = [{'series': s + '{%s}' % ','.join(filter(None, ('instance="i"', l))), 'values': v}
                          for s, l, v in [(series, labels, values), *inputs]]
                kept = ','.join(filter(None, ('instance="i"', self.KEPT.get(name), f'severity="{severities[name]}"')))
                tests.append({'interval': '1m', 'input_series': joined, 'promql_expr_test': [{
                    'expr': f'ALERTS{{alertname="{name}",alertstate="firing"}}', 'eval_time': '2h',
                    'exp_samples': [{'labels': f'ALERTS{{alertname="{name}",alertstate="firing",{kept}}}', 'value': 1}]
                    if values is firing else []}]})
        path = self.machine.dir / 'alerts.json'
        path.write_text(json.dumps({'rule_files': [str(ALERTS)], 'evaluation_interval': '1m', 'tests': tests}))
        check_with_promtool(self, ['test', 'rules', str(path)])


class Reader(unittest.TestCase):
    """The reader above finds mistakes."""

    def test_it_refuses(self):
        head = '# HELP a x\n# TYPE a gauge\n'
        for text in ('a 1\n', head + 'b 1\n', head + 'a 1\na 1\n', head + 'a 1', head + 'a{x="\\y"} 1\n', head + head + 'a 1\n',
                     '# HELP a_total x\n# TYPE a_total counter\na_total -1\n', head + 'a{x="1"y="2"} 1\n',
                     '# HELP h x\n# TYPE h histogram\nh_bucket{le="1"} 2\nh_bucket{le="+Inf"} 1\nh_sum 1\nh_count 1\n'):
            with self.subTest(text=text), self.assertRaises((AssertionError, AttributeError, TypeError)):
                parse(text, False)
        parse(head + 'a{x="\\"\\n\\\\"} 1\n', False)
        self.assertRaises(AssertionError, parse, head + 'a 1\n', True)


if __name__ == '__main__':
    unittest.main(argv=[sys.argv[0], *sys.argv[6:]])
