# SPDX-License-Identifier: LGPL-2.1-or-later
"""Finds every atomic operation of a core that is stronger than relaxed, and weakens one of them.

A site is an operation or a fence inside a function, named FUNCTION KIND:OBJECT, as in
`iris_abpqueue_push store:bottom`. The second one of that name in the same function gets #2; the
order of a compare-and-swap that fails ends in /failure.
"""
import dataclasses
import re

OPERATION = re.compile(
    r'\b(?:atomic_(load|store|exchange|fetch_\w+|compare_exchange)(?:_weak|_strong)?_explicit'
    r'|iris_fork_(load|store|exchange|swap)) \(')
FENCE = re.compile(r'\b(?:iris_fence_(full|light|heavy)|iris_fork_fence_(compiler)) \(\)')
IMPLICIT = re.compile(r'\batomic_(?:load|store|exchange|fetch|compare_exchange|flag)\w*(?<!_explicit) \(')
ORDER = re.compile(r'\b(?:memory_order_|__ATOMIC_)([a-zA-Z_]+)')

KINDS = {'load': 'load', 'store': 'store', 'exchange': 'swap', 'compare_exchange': 'cas',
         'swap': 'cas'}
# The next weaker orders; an operation only has those that C11 allows it.
WEAKER = {
    'load': {'seq_cst': ['acquire'], 'acquire': ['relaxed']},
    'store': {'seq_cst': ['release'], 'release': ['relaxed']},
    'update': {'seq_cst': ['acq_rel'], 'acq_rel': ['acquire', 'release'],
               'acquire': ['relaxed'], 'release': ['relaxed']},
    'fence': {'fence': ['none']},
}


@dataclasses.dataclass(frozen=True)
class Site:
    function: str
    name: str
    order: str
    start: int  # of the text that a weakening replaces
    end: int

    @property
    def kind(self):
        kind = self.name.split(':')[0]
        if self.name.partition('#')[0].endswith('/failure'):
            return 'load'
        return kind if kind in WEAKER else 'update'

    def next_weaker(self, order):
        return WEAKER[self.kind].get(order, [])


def blank_comments(text):
    """The same length, so that positions stay."""
    return re.sub(r'/\*.*?\*/', lambda match: re.sub(r'[^\n]', ' ', match[0]), text, flags=re.S)


def closing(code, start):
    """Where the parenthesis ends that opens in front of @start."""
    depth = 1
    for at in range(start, len(code)):
        depth += {'(': 1, ')': -1}.get(code[at], 0)
        if depth == 0:
            return at
    raise ValueError('a parenthesis is not closed')


def functions(code):
    """Start, end and name of each function, as GNU style has them: braces in column 0."""
    end = 0
    for match in re.finditer(r'^\{$.*?^\}', code, flags=re.S | re.M):
        heads = re.findall(r'^(\w+) \(', code[end:match.start()], flags=re.M)
        end = match.end()
        if heads:
            yield match.start(), match.end(), heads[-1]


def object_of(argument):
    """The last name of what is operated on: `bottom` of `&self->bottom`; of a call its function."""
    if (call := re.match(r'(\w+) \(', argument)):
        return call[1]
    names = re.findall(r'\w+', re.sub(r'\[[^]]*\]', '', argument))
    return names[-1] if names else '?'


def operation_sites(code, start, end):
    for match in OPERATION.finditer(code, start, end):
        stop = closing(code, match.end())
        arguments = code[match.end():stop]
        kind = (match[1] or match[2]).removesuffix('_weak').removesuffix('_strong')
        name = KINDS.get(kind, 'update') + ':' + object_of(arguments.split(',')[0])
        # Of nested operations only the orders outside: the inner ones come by themselves.
        for inner in OPERATION.finditer(code, match.end(), stop):
            close = closing(code, inner.end())
            arguments = (arguments[:inner.end() - match.end()]
                         + ' ' * (close - inner.end()) + arguments[close - match.end():])
        for number, order in enumerate(ORDER.finditer(arguments)):
            yield (name + ('/failure' if number else ''), order[1].lower(),
                   match.end() + order.start(1), match.end() + order.end(1))


def fence_sites(code, start, end):
    for match in FENCE.finditer(code, start, end):
        yield f'fence:{match[1] or match[2]}', 'fence', match.start(), match.end()


def sites_of(text):
    """Every site of a core, in its order; those that are relaxed are left out."""
    code = blank_comments(text)
    sites = []
    for start, end, function in functions(code):
        if function.startswith('iris_fence_'):
            continue
        seen = {}
        found = [*operation_sites(code, start, end), *fence_sites(code, start, end)]
        for name, order, at, stop in sorted(found, key=lambda site: site[2]):
            if order == 'relaxed':
                continue
            seen[name] = seen.get(name, 0) + 1
            number = f'#{seen[name]}' if seen[name] > 1 else ''
            sites.append(Site(function, name + number, order, at, stop))
    return sites


def implicit_operations(text):
    """Operations whose order is not written down."""
    return [match[0][:-2] for match in IMPLICIT.finditer(blank_comments(text))]


def plant(text, site, weaker):
    """The text with that site weakened."""
    if site.kind == 'fence':
        return text[:site.start] + '((void) 0)' + text[site.end:]
    old = text[site.start:site.end]
    return text[:site.start] + (weaker.upper() if old.isupper() else weaker) + text[site.end:]


def expected(site, is_caught):
    """The weakenings that the list must name for a site: the next weaker orders, and from each that
    no driver catches the next ones again. @is_caught: (order) to True, False, or None if not named.
    """
    wanted, orders = [], list(site.next_weaker(site.order))
    while orders:
        order = orders.pop(0)
        if order in wanted:
            continue
        wanted.append(order)
        if is_caught(order) is False:
            orders += site.next_weaker(order)
    return wanted
