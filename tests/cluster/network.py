# SPDX-License-Identifier: LGPL-2.1-or-later
"""Networks of their own for servers and nodes, and cuts between them; a small disk. Needs root.

leave_the_machine() moves this process into a network and a mount namespace that end with it: nothing of what is made here is
seen from outside, and nothing of it can be left behind, not even by kill -9. The process itself is the hub: a bridge, with
one address, to which each Network is joined by a pair of interfaces.
"""
import ctypes
import os
import shutil
import socket
import subprocess

from processes import libc, patience, wait_until
from tap import Skipped

CLONE_NEWNS, CLONE_NEWNET = 0x00020000, 0x40000000
HUB, PREFIX = '10.77.0.254', '10.77.0.'
left = False


def run(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=patience())
    if done.returncode != 0:
        raise AssertionError(f'{" ".join(command)}: {done.stdout.strip()}')
    return done.stdout


def leave_the_machine():
    """Once, before any thread is started."""
    global left
    if left:
        return
    if os.geteuid() != 0:
        raise Skipped('only root makes networks')
    for tool in ('ip', 'nsenter', 'mount'):
        if not shutil.which(tool):
            raise Skipped(f'there is no {tool} on this machine')
    if libc.unshare(CLONE_NEWNET | CLONE_NEWNS) != 0:
        raise Skipped(f'no network can be made here: {os.strerror(ctypes.get_errno())}')
    run('mount', '--make-rprivate', '/')
    run('ip', 'link', 'set', 'lo', 'up')
    run('ip', 'link', 'add', 'rig0', 'type', 'bridge')
    run('ip', 'address', 'add', HUB + '/24', 'dev', 'rig0')
    run('ip', 'link', 'set', 'rig0', 'up')
    left = True


class Network:
    """The network of one server, and of the irisd beside it."""

    def __init__(self, folder, number):
        self.address, self.number = f'{PREFIX}{number}', number
        self.holder = folder.process(f'network{number}')
        # The namespace lives as long as a process of it.
        self.holder.spawn(['unshare', '--net', 'tail', '-f', '/dev/null'])
        self.command = ['nsenter', f'--net=/proc/{self.holder.child.pid}/ns/net']
        own, here = os.readlink('/proc/self/ns/net'), f'/proc/{self.holder.child.pid}/ns/net'
        wait_until(lambda: os.readlink(here) != own, 'the namespace is made')
        # That of the case before goes with its namespace, which the kernel ends when it has time.
        wait_until(lambda: f'hub{number}' not in [name for _, name in socket.if_nameindex()], f'the last hub{number} is gone')
        run('ip', 'link', 'add', f'hub{number}', 'type', 'veth', 'peer', 'name', 'eth0', 'netns', str(self.holder.child.pid))
        run('ip', 'link', 'set', f'hub{number}', 'master', 'rig0', 'up')
        self.run('ip', 'link', 'set', 'lo', 'up')
        self.run('ip', 'address', 'add', self.address + '/24', 'dev', 'eth0')
        self.run('ip', 'link', 'set', 'eth0', 'up')

    def run(self, *command):
        return run(*self.command, *command)

    def cut(self, *others):
        """Nothing of ours reaches the others, and so no connection of theirs gets an answer; the rest goes on."""
        for other in others:
            self.run('ip', 'route', 'replace', 'blackhole', other.address)

    def join(self, *others):
        for other in others:
            self.run('ip', 'route', 'delete', 'blackhole', other.address)

    def unplug(self):
        """Cut off from all, the hub too."""
        run('ip', 'link', 'set', f'hub{self.number}', 'down')

    def plug(self):
        run('ip', 'link', 'set', f'hub{self.number}', 'up')


def small_disk(folder, path, mebibytes):
    """A file system of that size over a path in the folder."""
    run('mount', '-t', 'tmpfs', '-o', f'size={mebibytes}m', 'none', str(path))
    folder.at_end.append(lambda: run('umount', '--lazy', str(path)))


def fill(path):
    """Writes until nothing more fits, and returns the file."""
    name = os.path.join(path, 'ballast')
    with open(name, 'wb', buffering=0) as file:
        block = bytes(1 << 16)
        while True:
            try:
                file.write(block)
            except OSError:
                if len(block) == 1:
                    return name
                block = block[:max(1, len(block) // 16)]
