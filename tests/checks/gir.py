#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What other languages are told of a library is complete, and what C says. TAP.

    gir.py GIR-FILE SOURCE-FOLDER FUNCTIONS [--plant]

FUNCTIONS is the least number of functions that it must describe, so that an empty description is no
good one. With --plant it checks a description of libiris with mistakes, one of each kind, and wants
all of them found.
"""
import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

CORE = '{http://www.gtk.org/introspection/core/1.0}'
C = '{http://www.gtk.org/introspection/c/1.0}'
GLIB = '{http://www.gtk.org/introspection/glib/1.0}'
CALLABLE = ('function', 'method', 'constructor')


class Interface:
    """The described functions, and the comment and body of each in the source."""

    def __init__(self, gir, folder):
        namespace = gir.getroot().find(CORE + 'namespace')
        self.callbacks = {e.get('name') for e in namespace.findall(CORE + 'callback')}
        self.callbacks |= {'Gio.AsyncReadyCallback'}
        self.functions = {}
        for kind in CALLABLE:
            for element in namespace.iter(CORE + kind):
                self.functions[element.get(C + 'identifier')] = element
        self.namespace = namespace
        self.comments, self.bodies = {}, {}
        for path in sorted(folder.glob('**/*.[ch]')):
            text = path.read_text()
            for match in re.finditer(r'/\*\*\n \* (\w+):(.*?)\*/', text, re.DOTALL):
                self.comments[match.group(1)] = match.group(2)
            for match in re.finditer(r'^(iris_\w+) \([^;{]*\)\n\{\n(.*?)^\}', text, re.DOTALL | re.MULTILINE):
                self.bodies[match.group(1)] = match.group(2)

    def parameters(self, element):
        parameters = element.find(CORE + 'parameters')
        return list(parameters) if parameters is not None else []

    def is_skipped(self, name):
        return '(skip)' in self.comments.get(name, '').split('\n', 1)[0]

    def annotations(self, function, parameter):
        """What the comment says of a parameter, annotations and words."""
        match = re.search(rf'^ \* @{re.escape(parameter)}:(.*?)(?=^ \* @|^ \*\n)',
                          self.comments.get(function, ''), re.DOTALL | re.MULTILINE)
        return ' '.join(match.group(1).replace(' *  ', '').split()) if match else ''


def type_of(element):
    """The name of a type and how C writes it."""
    described = element.find(CORE + 'type')
    if described is None:
        described = element.find(CORE + 'array')
    if described is None:
        return '', ''
    return described.get('name', 'array'), described.get(C + 'type', '')


def rule_described(interface):
    """every function is described: what it does, or what it returns"""
    for name, element in interface.functions.items():
        returned = element.find(CORE + 'return-value')
        if element.find(CORE + 'doc') is None and returned.find(CORE + 'doc') is None:
            yield f'{name}: no description'


def rule_types_described(interface):
    """every type and constant is described"""
    for kind in ('class', 'interface', 'record', 'enumeration', 'bitfield', 'callback', 'constant'):
        for element in interface.namespace.findall(CORE + kind):
            if element.get(GLIB + 'is-gtype-struct-for') is None and element.find(CORE + 'doc') is None:
                yield f'{element.get("name")}: no description'


def rule_members_described(interface):
    """every member of an enumeration, property and signal is described, here or as a field of the same name"""
    fields = {field.get('name').replace('_', '-') for field in interface.namespace.iter(CORE + 'field')
              if field.find(CORE + 'doc') is not None}
    for kind in ('member', 'property', GLIB + 'signal'):
        for element in interface.namespace.iter(kind if kind.startswith('{') else CORE + kind):
            if element.find(CORE + 'doc') is None and not (kind == 'property' and element.get('name') in fields):
                yield f'{element.get(C + "identifier") or element.get("name")}: no description'


def rule_for_c_alone(interface):
    """what other languages cannot call is so by intent"""
    for name, element in interface.functions.items():
        if element.get('introspectable') == '0' and not interface.is_skipped(name):
            owner = re.match(r'iris_[a-z]+', name).group().title().replace('_', '')
            if not interface.is_skipped(owner):
                yield f'{name}: cannot be called, and its comment does not say (skip)'


def rule_scope(interface):
    """every callback has a scope and data, and a notify where it is kept"""
    for name, element in interface.functions.items():
        if element.get('introspectable') == '0':
            continue
        for parameter in interface.parameters(element):
            if type_of(parameter)[0] not in interface.callbacks:
                continue
            which, scope = f'{name}: {parameter.get("name")}', parameter.get('scope')
            if scope is None:
                yield f'{which} has no (scope)'
            if parameter.get('closure') is None:
                yield f'{which} has no (closure)'
            if (scope == 'notified') != (parameter.get('destroy') is not None):
                yield f'{which}: (destroy) goes with (scope notified), and with no other'


def rule_callback_data(interface):
    """every type of callback says which of its parameters is its data"""
    for element in interface.namespace.findall(CORE + 'callback'):
        parameters = list(interface.parameters(element))
        if element.get('introspectable') != '0' and any(type_of(p)[0] == 'gpointer' for p in parameters) \
                and all(p.get('closure') is None for p in parameters):
            yield f'{element.get("name")}: no parameter is (closure)'


def rule_domains(interface):
    """every enumeration of errors belongs to a domain, whose name has no spaces"""
    for element in interface.namespace.findall(CORE + 'enumeration'):
        domain = element.get(GLIB + 'error-domain')
        if element.get('name').endswith('Error') and not re.fullmatch(r'iris-[a-z-]+-quark|Iris[A-Za-z]+Error', domain or ''):
            yield f'{element.get("name")}: its domain is {domain}'


def rule_transfer(interface):
    """what returns memory says whose it is"""
    for name, element in interface.functions.items():
        returned = element.find(CORE + 'return-value')
        if not type_of(returned)[1].endswith('*') or element.get('introspectable') == '0':
            continue
        said = re.search(r'^ \* Returns:((?: \([^)]*\))*)', interface.comments.get(name, ''), re.MULTILINE)
        if said is None or '(transfer ' not in said.group(1):
            yield f'{name}: its Returns: does not say (transfer)'


def rule_nullable(interface):
    """what may be %NULL is (nullable) or (optional), and what is refused when %NULL is not"""
    for name, element in interface.functions.items():
        for parameter in interface.parameters(element):
            which = parameter.get('name')
            if which == '...':
                continue
            said = interface.annotations(name, which)
            may = '(nullable)' in said or '(optional)' in said
            refused = re.search(rf'g_return(_val)?_if_fail \(({which} != NULL|IRIS_IS_\w+ \({which}\))[,)]',
                                interface.bodies.get(name, ''))
            if '%NULL' in said and not may and 'GError' not in type_of(parameter)[1] \
                    and not re.search(r'(then|until|without|not) [^;]*%NULL', said):
                yield f'{name}: {which} may be %NULL, and is not (nullable)'
            if may and refused:
                yield f'{name}: {which} is (nullable), and refused when %NULL'
        returned = element.find(CORE + 'return-value')
        said = re.search(r'^ \* Returns:(.*?)^ \*\n', interface.comments.get(name, '') + '\n *\n',
                         re.DOTALL | re.MULTILINE)
        if said and type_of(returned)[1].endswith('*') and '%NULL' in said.group(1) \
                and '(nullable)' not in said.group(1) and returned.get('nullable') != '1' \
                and element.get('throws') != '1':
            yield f'{name}: may return %NULL, and does not say (nullable)'


def rule_throws(interface):
    """what takes a GError throws it"""
    for name, element in interface.functions.items():
        if any(type_of(p)[1] == 'GError**' for p in interface.parameters(element)):
            yield f'{name}: its error is a parameter'


def rule_finish(interface):
    """what calls back when it is over has a function that ends it, which bindings call"""
    ends = {'iris_task_run_with_async_result': 'iris_task_await_finish'}  # iris/Iris-1.metadata says so
    for name, element in interface.functions.items():
        if any(type_of(p)[0] == 'Gio.AsyncReadyCallback' for p in interface.parameters(element)):
            end = ends.get(name, re.sub('_async$', '', name) + '_finish')
            if end not in interface.functions:
                yield f'{name}: there is no {end}'


def rule_errors_that_are_values(interface):
    """an error that a function hands out is not thrown in place of that"""
    for name, element in interface.functions.items():
        if element.get('throws') == '1' and element.get('introspectable') != '0' \
                and '(out)' in interface.annotations(name, 'error'):
            yield f'{name}: its error is (out), and would be thrown; return it, or (skip) the function'


def plant(gir):
    """Breaks a description once for each rule, and says which."""
    namespace = gir.getroot().find(CORE + 'namespace')
    find = {e.get(C + 'identifier'): e for e in namespace.iter() if e.get(C + 'identifier')}

    def drop_doc(element):
        element.remove(element.find(CORE + 'doc'))

    drop_doc(find['iris_scheduler_queue'])
    drop_doc(next(e for e in namespace if e.get('name') == 'Port'))
    drop_doc(find['IRIS_SHUTDOWN_DRAIN'])
    find['iris_port_post'].set('introspectable', '0')
    handler = next(p for p in find['iris_arbiter_receive'].iter(CORE + 'parameter') if p.get('scope') == 'notified')
    del handler.attrib['scope']
    callback = next(e for e in namespace.findall(CORE + 'callback') if e.get('name') == 'MessageHandler')
    for parameter in callback.iter(CORE + 'parameter'):
        parameter.attrib.pop('closure', None)
    errors = next(e for e in namespace.findall(CORE + 'enumeration') if e.get('name') == 'PlaceError')
    errors.set(GLIB + 'error-domain', 'iris - place - error - quark')
    post = find['iris_port_try_post']
    error = ElementTree.SubElement(post.find(CORE + 'parameters'), CORE + 'parameter', name='error')
    ElementTree.SubElement(error, CORE + 'type', {'name': 'GLib.Error', C + 'type': 'GError**'})
    ElementTree.SubElement(error, CORE + 'doc')
    find['iris_task_await_finish'].set(C + 'identifier', 'iris_task_await_end')
    find['iris_task_catch_fatal_error'].set('introspectable', '1')


def plant_comments(interface):
    comments = interface.comments
    comments['iris_port_new'] = comments['iris_port_new'].replace('(transfer full)', '')
    comments['iris_port_set_receiver'] = comments['iris_port_set_receiver'].replace(
        ' * @receiver', ' * @self: (nullable): a port\n * @receiver')


def main():
    path, folder, least, planted = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), '--plant' in sys.argv
    gir = ElementTree.parse(path)
    if planted:
        plant(gir)
    interface = Interface(gir, folder)
    if planted:
        plant_comments(interface)
    rules = [function for name, function in globals().items() if name.startswith('rule_')]
    print(f'1..{len(rules) + 1}')
    enough = len(interface.functions) >= least and len(interface.bodies) >= least
    print(f'{"ok" if enough else "not ok"} 1 - {len(interface.functions)} functions are described')
    bad = not enough
    for number, rule in enumerate(rules, 2):
        broken = list(rule(interface))
        for sentence in broken if not planted else []:
            print(f'# {sentence}')
        good = bool(broken) == planted
        print(f'{"ok" if good else "not ok"} {number} - {"planted: " if planted else ""}{rule.__doc__}')
        bad |= not good
    return bad


if __name__ == '__main__':
    sys.exit(main())
