# SPDX-License-Identifier: LGPL-2.1-or-later
"""A terminal that a test gives to a command, and what it shows."""
import codecs
import fcntl
import os
import pty
import re
import select
import struct
import termios
import time
import unicodedata

PATIENCE = 120  # seconds; only against hanging

SEQUENCE = re.compile(r"\x1b\[([?>!]?)([0-9;]*)([@-~])|\x1b[()][0-9A-B]|\x1b[ -/]*[0-~]|\x1b\][^\x07]*\x07")
UNFINISHED = re.compile(r"\x1b(\[[?>!]?[0-9;]*|[()]|\][^\x07]*)?$")


class Screen:
    """What is seen of what a program wrote: enough of a VT100 and of xterm for ncurses."""

    def __init__(self, columns, rows):
        self.columns, self.rows = columns, rows
        self.cells = [[" "] * columns for _ in range(rows)]
        self.y = self.x = 0
        self.saved = (0, 0)
        self.scrolls = (0, rows - 1)
        self.last = " "
        self.rest = ""
        self.coloured = False

    def text(self):
        return "\n".join("".join(line).rstrip() for line in self.cells)

    def lines(self):
        return self.text().split("\n")

    def feed(self, text):
        text, self.rest = self.rest + text, ""
        at = 0
        while at < len(text):
            match = SEQUENCE.match(text, at) if text[at] == "\x1b" else None
            if match:
                self.control(match)
                at = match.end()
            elif text[at] == "\x1b":
                if not UNFINISHED.match(text, at):
                    raise ValueError("unknown sequence %r" % text[at:at + 20])
                self.rest = text[at:]
                return
            else:
                self.character(text[at])
                at += 1

    def character(self, char):
        if char == "\r":
            self.x = 0
        elif char == "\n":
            self.line_feed()
        elif char == "\b":
            self.x = max(self.x - 1, 0)
        elif char == "\t":
            self.x = min((self.x // 8 + 1) * 8, self.columns - 1)
        elif char >= " ":
            self.put(char)

    def put(self, char):
        width = 2 if unicodedata.east_asian_width(char) in "WF" else 1
        if self.x + width > self.columns:
            self.x = 0
            self.line_feed()
        self.cells[self.y][self.x] = self.last = char
        for extra in range(1, width):
            self.cells[self.y][self.x + extra] = ""
        self.x += width

    def line_feed(self):
        if self.y == self.scrolls[1]:
            self.delete_lines(self.scrolls[0], 1)
        else:
            self.y = min(self.y + 1, self.rows - 1)

    def delete_lines(self, y, n):
        for _ in range(n):
            del self.cells[y]
            self.cells.insert(self.scrolls[1], [" "] * self.columns)

    def insert_lines(self, y, n):
        for _ in range(n):
            del self.cells[self.scrolls[1]]
            self.cells.insert(y, [" "] * self.columns)

    def blank(self, y, start, end):
        self.cells[y][start:end] = [" "] * (end - start)

    def control(self, match):
        if match.group(3) is None:
            what = match.group(0)[1:]
            if what == "7":
                self.saved = (self.y, self.x)
            elif what == "8":
                self.y, self.x = self.saved
            elif what == "M":
                if self.y == self.scrolls[0]:
                    self.insert_lines(self.y, 1)
                else:
                    self.y = max(self.y - 1, 0)
            elif what == "D":
                self.line_feed()
            return
        if match.group(1):
            return
        numbers = [int(number) if number else 0 for number in match.group(2).split(";")]
        count, what = max(numbers[0], 1), match.group(3)
        if what in "Hf":
            self.y = min(count, self.rows) - 1
            self.x = min(max(numbers[1] if len(numbers) > 1 else 1, 1), self.columns) - 1
        elif what == "d":
            self.y = min(count, self.rows) - 1
        elif what == "G":
            self.x = min(count, self.columns) - 1
        elif what == "A":
            self.y = max(self.y - count, 0)
        elif what == "B":
            self.y = min(self.y + count, self.rows - 1)
        elif what == "C":
            self.x = min(self.x + count, self.columns - 1)
        elif what == "D":
            self.x = max(self.x - count, 0)
        elif what == "J":
            self.erase(numbers[0])
        elif what == "K":
            start, end = ((self.x, self.columns), (0, self.x + 1), (0, self.columns))[numbers[0]]
            self.blank(self.y, start, end)
        elif what == "X":
            self.blank(self.y, self.x, min(self.x + count, self.columns))
        elif what == "P":
            line = self.cells[self.y]
            del line[self.x:self.x + count]
            line += [" "] * (self.columns - len(line))
        elif what == "@":
            line = self.cells[self.y]
            line[self.x:self.x] = [" "] * count
            del line[self.columns:]
        elif what == "L":
            self.insert_lines(self.y, count)
        elif what == "M":
            self.delete_lines(self.y, count)
        elif what == "S":
            self.delete_lines(self.scrolls[0], count)
        elif what == "T":
            self.insert_lines(self.scrolls[0], count)
        elif what == "b":
            for _ in range(count):
                self.put(self.last)
        elif what == "r":
            bottom = numbers[1] if len(numbers) > 1 and numbers[1] else self.rows
            self.scrolls = (count - 1, bottom - 1)
            self.y = self.x = 0
        elif what == "m":
            self.coloured |= any(30 <= number < 38 or 40 <= number < 48 for number in numbers)
        elif what not in "hltc":
            raise ValueError("unknown sequence %r" % match.group(0))

    def erase(self, how):
        if how == 2:
            self.cells = [[" "] * self.columns for _ in range(self.rows)]
            return
        start, end = (self.y + 1, self.rows) if how == 0 else (0, self.y)
        for y in range(start, end):
            self.blank(y, 0, self.columns)
        self.blank(self.y, *((self.x, self.columns) if how == 0 else (0, self.x + 1)))


class Terminal:
    """A command with a terminal of its own, which it leads."""

    def __init__(self, environment, *arguments, columns=80, rows=24):
        self.text = ""
        self.decoder = codecs.getincrementaldecoder("utf-8")()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            os.execve(arguments[0], arguments, environment)

    def read(self):
        """What has come; False at the end."""
        if not select.select([self.fd], [], [], PATIENCE)[0]:
            raise AssertionError("nothing comes any more behind %r" % self.text)
        try:
            data = os.read(self.fd, 65536)
        except OSError:  # EIO: the other side is closed
            return False
        self.text += self.decoder.decode(data)
        return bool(data)

    def expect(self, pattern, start=0):
        """The match of a pattern behind what was there at the start."""
        until = time.monotonic() + PATIENCE
        while True:
            found = re.search(pattern, self.text[start:])
            if found:
                return found
            if time.monotonic() > until or not self.read():
                raise AssertionError("no %r in %r" % (pattern, self.text[start:]))

    def resize(self, columns, rows):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def flags(self):
        return termios.tcgetattr(self.fd)[3]

    def write(self, text):
        os.write(self.fd, text.encode())

    def end(self):
        """Its exit status, and all that it wrote."""
        while self.read():
            pass
        status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        os.close(self.fd)
        return status, self.text


class Picture(Terminal):
    """The same, of a command that draws on its whole screen."""

    def __init__(self, environment, *arguments, columns=80, rows=24):
        super().__init__(environment, *arguments, columns=columns, rows=rows)
        self.screen = Screen(columns, rows)
        self.fed = 0

    def read(self):
        more = super().read()
        self.screen.feed(self.text[self.fed:])
        self.fed = len(self.text)
        return more

    def resize(self, columns, rows):
        coloured = self.screen.coloured
        self.screen = Screen(columns, rows)
        self.screen.coloured = coloured
        super().resize(columns, rows)

    def shows(self, pattern):
        """The match of a pattern with the screen, once there is one."""
        until = time.monotonic() + PATIENCE
        while True:
            found = re.search(pattern, self.screen.text(), re.M)
            if found:
                return found
            if time.monotonic() > until or not self.read():
                raise AssertionError("no %r on the screen:\n%s" % (pattern, self.screen.text()))

    def shows_not(self, pattern):
        until = time.monotonic() + PATIENCE
        while re.search(pattern, self.screen.text(), re.M):
            if time.monotonic() > until or not self.read():
                raise AssertionError("%r is on the screen:\n%s" % (pattern, self.screen.text()))
