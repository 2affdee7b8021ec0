# SPDX-License-Identifier: LGPL-2.1-or-later
"""Worker processes from the command line.

    python3 -m irisd_client serve NAME=MODULE:FUNCTION...   serves functions that take a Job
    python3 -m irisd_client calls NAME                      serves pickled calls, for Executor(service=NAME)
"""
from __future__ import annotations

import argparse
import importlib
import logging
import signal
import sys
import threading
from typing import List, Optional, Tuple

from .calls import serve_call
from .errors import IrisdError
from .worker import Handler, Worker


def _find(text: str) -> Tuple[str, Handler]:
    name, found, target = text.partition("=")
    module, colon, function = target.partition(":")
    if not (name and found and module and colon and function):
        raise argparse.ArgumentTypeError("“%s” is not of the form NAME=MODULE:FUNCTION" % text)
    try:
        handler = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise argparse.ArgumentTypeError("%s: %s" % (text, error)) from None
    if not callable(handler):
        raise argparse.ArgumentTypeError("%s: it is not a function" % text)
    return name, handler


def _parse(argv: Optional[List[str]]) -> argparse.Namespace:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--endpoint", help="of irisd; its front door if not given")
    common.add_argument("--capacity", type=int, help="items at once; as many as there are cpus if not given")
    common.add_argument("--place", type=int, help="the place that the worker works at")
    common.add_argument("--name", help="as irisctl workers shows it")
    common.add_argument("--say-ready", action="store_true", help="print “ready” when irisd knows the services")
    common.add_argument("--until-end-of-input", action="store_true", help="stop when standard input ends")
    parser = argparse.ArgumentParser(prog="python3 -m irisd_client", description="Serves items of irisd.")
    commands = parser.add_subparsers(dest="command", required=True)
    serve = commands.add_parser("serve", parents=[common], help="serve functions that take a Job")
    serve.add_argument("services", nargs="+", type=_find, metavar="NAME=MODULE:FUNCTION")
    calls = commands.add_parser("calls", parents=[common], help="serve pickled calls, for Executor")
    calls.add_argument("service", metavar="NAME")
    return parser.parse_args(argv)


def _stop_at_end_of_input(worker: Worker) -> None:
    def watch() -> None:
        while sys.stdin.buffer.read(4096):
            pass
        worker.stop()

    threading.Thread(target=watch, daemon=True).start()


def main(argv: Optional[List[str]] = None) -> int:
    sys.path.insert(0, "")
    options = _parse(argv)
    logging.basicConfig(format="%(name)s: %(message)s")
    worker = Worker(options.endpoint, name=options.name, capacity=options.capacity, place=options.place)
    if options.command == "calls":
        worker.add(options.service, serve_call, "calls of Python functions")
    else:
        for name, handler in options.services:
            worker.add(name, handler, (handler.__doc__ or "").strip().split("\n")[0])
    if options.say_ready:
        worker.on_ready = lambda: print("ready", flush=True)
    if options.until_end_of_input:
        _stop_at_end_of_input(worker)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: worker.stop())
    try:
        worker.run()
    except IrisdError as error:
        print("irisd_client: %s" % error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
