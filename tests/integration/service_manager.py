# SPDX-License-Identifier: LGPL-2.1-or-later
"""A systemd of the test's own, as process 1 of its own namespaces; and one thread of a process, stopped."""
import ctypes
import os
import pathlib
import shutil
import signal
import socket
import subprocess

GIVE_UP_S = 120
SYSTEMD = "/lib/systemd/systemd"
UNITS = pathlib.PurePath("/run/systemd/system")
# Units need these; the machine's own would set up the machine.
STUBS = ("basic.target", "default.target", "multi-user.target", "shutdown.target", "sockets.target", "sysinit.target", "umount.target",
         "network.target")
STUB = "[Unit]\nDescription=of the test\nDefaultDependencies=no\n"

# Runs in the new namespaces. What systemd and units write goes to file systems in memory.
BOOT = """
set -e
mount --make-rprivate /
mount -t tmpfs -o mode=755 none /run
for folder in /var/lib /var/tmp /var/log; do mount -t tmpfs none $folder; done
umount -l /sys/fs/cgroup
mount -t cgroup2 none /sys/fs/cgroup
mount -t proc proc /proc
cp -r "$1"/run/. /run
exec env -i container=iris PATH="$PATH" NOTIFY_SOCKET="$2" SYSTEMD_UNIT_PATH=/run/systemd/system SYSTEMD_GENERATOR_PATH=/nowhere \
    SYSTEMD_ENVIRONMENT_GENERATOR_PATH=/nowhere \
    %s --system --unit=default.target --log-target=console --show-status=no --default-standard-output=null
""" % SYSTEMD


class CannotRun(Exception):
    """Why no systemd can run here."""


def control_groups():
    """Where version 2 of control groups is mounted."""
    for line in pathlib.Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines():
        fields, _, kind = line.partition(" - ")
        if kind.startswith("cgroup2 "):
            return pathlib.Path(fields.split()[4])
    raise CannotRun("no control groups of version 2")


def remove_group(group):
    """Groups are removed from the leaves up; their processes have ended."""
    for folder, _, _ in os.walk(group, topdown=False):
        os.rmdir(folder)


class Systemd:
    """`files`: what lies below /run when it starts, by path: text, or a path to copy."""

    def __init__(self, folder, files):
        if os.geteuid() != 0:
            raise CannotRun("not root")
        for program in (SYSTEMD, "unshare", "nsenter", "systemctl"):
            if shutil.which(program) is None:
                raise CannotRun("no " + program)
        self.group = None
        self.process = None
        self.pid = None
        self.root = pathlib.Path(folder)
        for stub in STUBS:
            files = {"systemd/system/" + stub: STUB, **files}
        for path, content in files.items():
            target = self.root / "run" / path
            target.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, str):
                target.write_text(content, encoding="utf-8")
            else:
                shutil.copy(content, target)
        try:
            self.start()
        except BaseException:
            self.stop()
            raise

    def start(self):
        name = "@iris-test-%d" % os.getpid()
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as notify, \
                open(self.root / "systemd.log", "wb") as log:
            notify.bind("\0" + name[1:])
            notify.settimeout(GIVE_UP_S)
            group = control_groups() / ("iris-test-%d" % os.getpid())
            try:
                group.mkdir()
                self.group = group
                script = 'echo $$ > "$0"/cgroup.procs && exec unshare --pid --mount --cgroup --uts --ipc --fork --kill-child ' \
                         'sh -c "$1" sh "$2" "$3"'
                self.process = subprocess.Popen(["sh", "-c", script, group, BOOT, self.root, name], stdin=subprocess.DEVNULL,
                                                stdout=log, stderr=log)
            except OSError as error:
                raise CannotRun("no control group: %s" % error) from error
            while not self.has_booted(notify):
                pass

    def has_booted(self, notify):
        notify.settimeout(1)
        try:
            text = notify.recv(4096).decode()
        except TimeoutError:
            if self.process.poll() is None and self.count_turn() < GIVE_UP_S:
                return False
            log = (self.root / "systemd.log").read_text(encoding="utf-8", errors="replace")
            raise CannotRun("systemd did not start: " + " ".join(log.split())[-200:]) from None
        if "READY=1" not in text.splitlines():
            return False
        children = pathlib.Path("/proc/%d/task/%d/children" % (self.process.pid, self.process.pid)).read_text(encoding="utf-8")
        self.pid = int(children.split()[0])
        return True

    turns = 0

    def count_turn(self):
        self.turns += 1
        return self.turns

    def run(self, *words, status=0, user=None):
        """Runs a program beside that systemd, and returns what it printed."""
        become = [] if user is None else ["setpriv", "--reuid=%d" % user, "--clear-groups"]
        done = subprocess.run(["nsenter", "--target=%d" % self.pid, "--mount", "--pid", "--uts", "--ipc", "--cgroup", "--", *become,
                               *map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=GIVE_UP_S, check=False)
        text = done.stdout.decode(errors="replace")
        if done.returncode != status:
            raise AssertionError("%s ended with %d: %s" % (" ".join(map(str, words)), done.returncode, text))
        return text

    def show(self, unit, key):
        return self.run("systemctl", "show", "--value", "-p", key, unit).strip()

    def find(self, inner):
        """The process that has the number `inner` beside that systemd."""
        for folder in pathlib.Path("/proc").iterdir():
            if folder.name.isdigit():
                try:
                    status = (folder / "status").read_text(encoding="utf-8", errors="replace")
                    same = (folder / "ns/pid").readlink() == pathlib.Path("/proc/%d/ns/pid" % self.pid).readlink()
                except OSError:
                    continue
                numbers = next(line for line in status.splitlines() if line.startswith("NSpid:")).split()[1:]
                if same and int(numbers[-1]) == inner:
                    return int(folder.name)
        raise AssertionError("process %d has gone" % inner)

    def stop(self):
        if self.pid is not None:
            # As process 1 it takes all others with it.
            os.kill(self.pid, signal.SIGKILL)
        elif self.process is not None:
            self.process.kill()
        if self.process is not None:
            self.process.wait()
        if self.group is not None:
            while (self.group / "cgroup.events").read_text(encoding="utf-8").startswith("populated 1"):
                pass
            remove_group(self.group)


class StoppedThread:
    """Stops one thread of a process, while the others go on."""

    SEIZE, INTERRUPT, DETACH = 0x4206, 0x4207, 17
    WALL = 0x40000000

    def __init__(self, pid, name):
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.tid = None
        while self.tid is None:
            self.tid = self.find(pathlib.Path("/proc/%d/task" % pid), name)

    @staticmethod
    def find(tasks, name):
        """None while the thread has no name yet: it sets its name itself, perhaps after the process has said that it is ready."""
        for task in tasks.iterdir():
            try:
                if (task / "comm").read_text(encoding="utf-8").strip() == name:
                    return int(task.name)
            except OSError:
                # This thread has ended since; if the whole process has, iterdir() tells.
                continue
        return None

    def call(self, request):
        if self.libc.ptrace(request, self.tid, None, None) != 0:
            raise OSError(ctypes.get_errno(), "ptrace: " + os.strerror(ctypes.get_errno()))

    def stop(self):
        self.call(self.SEIZE)
        self.call(self.INTERRUPT)
        os.waitpid(self.tid, self.WALL)

    def await_end(self):
        """Its process ends only when this has taken note of the thread's end."""
        os.waitpid(self.tid, self.WALL)

    def go_on(self):
        # A process that was killed meanwhile has no such thread any more.
        try:
            self.call(self.DETACH)
        except OSError:
            pass
