# SPDX-License-Identifier: LGPL-2.1-or-later
"""Functions that worker processes of the tests run."""
import os
import signal
import time


def square(number):
    return number * number


def process_id(_number):
    return os.getpid()


def explode(number):
    raise LookupError("nothing at %d" % number)


def die_once(path):
    """Kills its process, unless `path` is there: the next attempt does better."""
    if not os.path.exists(path):
        with open(path, "w", encoding="ascii"):
            pass
        os.kill(os.getpid(), signal.SIGKILL)
    return os.getpid()


def shout(job):
    """The payload in capitals."""
    return job.payload.upper()


def tell_and_wait(job):
    """Writes its process id into the file that the payload names, then works until it is told to stop."""
    with open(job.payload, "a", encoding="ascii") as out:
        out.write("%d\n" % os.getpid())
    job.wait_stopped()


def slow_square(job):
    """Takes long enough to be killed meanwhile."""
    time.sleep(0.3)
    return str(int(job.payload) ** 2)


def in_parts(job):
    """Gives the numbers below that in the payload, one in each part, and how many there are as the result."""
    numbers = int(job.payload)
    for number in range(numbers):
        job.send_part(b"%d\n" % number if number % 100 else b"%d\n" % number + b"." * 3000 + b"\n")
    return str(numbers)


async def in_large_parts(job):
    """The same in one part of a megabyte, from the event loop."""
    job.send_part(b"x" * (1 << 20))
    await job.drain()
    job.send_part(b"y")
    return b"done"
