#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the shells complete, and what the manual page names, is what irisctl --help tells.

    test-irisctl-completion.py PATH-OF-irisctl SOURCE-DIRECTORY
"""
import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

IRISCTL, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
COMPLETION = SOURCE / "clients/irisctl/completion"
# Every command has it, and --help does not list it in the same form.
OF_ALL = {"--help"}


@functools.cache
def help_of(*words):
    return subprocess.run([IRISCTL, *words, "--help"], check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout


def commands():
    text = help_of().split("Commands:\n")[1].split("\n\n")[0]
    return [line.split()[0] for line in text.splitlines() if re.match(r"  \w", line)]


def options_of(command):
    return set(re.findall(r"^  (?:-\w, )?(--[a-z-]+)", help_of(command), re.M)) | OF_ALL


class Fake:
    """An environment whose irisctl knows two places without irisd, and whose shells know nothing of ours."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        path = pathlib.Path(self.folder.name) / "irisctl"
        path.write_text("#!/bin/sh\n[ \"$1\" != --complete ] || exec '%s' \"$@\"\nprintf 'id name\\n0 package:0\\n1 package:1\\n'\n"
                        % IRISCTL)
        path.chmod(0o755)
        return {"PATH": "%s:%s" % (self.folder.name, os.environ["PATH"]), "HOME": self.folder.name, "TERM": "dumb",
                "LC_ALL": "C.UTF-8"}

    def __exit__(self, *_):
        self.folder.cleanup()


class Completion(unittest.TestCase):
    maxDiff = None

    def compare(self, completed):
        for command in commands():
            with self.subTest(command=command):
                self.assertEqual(sorted(completed(command) | OF_ALL), sorted(options_of(command)))

    def test_help_names_options(self):
        self.assertIn("submit", commands())
        self.assertIn("--key-prefix", options_of("submit"))

    def test_help_fits_into_80_columns(self):
        for words in [[], *([command] for command in commands())]:
            wide = [line for line in help_of(*words).splitlines() if len(line) > 80]
            self.assertEqual(wide, [], words)

    def test_irisctl_tells(self):
        def completed(command):
            done = subprocess.run([IRISCTL, "--complete", command, "--"], check=True, stdout=subprocess.PIPE,
                                  encoding="utf-8")
            return {line.split("\t")[0].rstrip("=") for line in done.stdout.splitlines()}

        self.compare(completed)

    def test_irisctl_tells_values(self):
        for words, wanted in ((["list", "--state=queued,b"], ["--state=queued,buried"]), (["kick", "--state", "d"], ["delayed"]),
                              (["submit", "--class", "v"], ["volatile"]), (["list", "--class", ""], ["durable", "relaxed"]),
                              (["map", "echo", ""], [":files"]), (["-d", "/tmp", "run", "-C", ""], [":directories"]),
                              (["run", "-C", "/", "--", ""], [":command 4"]), (["submit", "command", "--", "ls", ""], [":command 3"]),
                              (["submit", "echo", ""], []), (["nonsense", ""], []), (["help", "sta"], ["status"])):
            with self.subTest(words=words), Fake() as environment:
                done = subprocess.run([IRISCTL, "--complete", *words], check=True, env=environment, stdout=subprocess.PIPE,
                                      encoding="utf-8")
                self.assertEqual(sorted(line.split("\t")[0] for line in done.stdout.splitlines()), wanted)

    def test_items_of_another_node_are_asked_there(self):
        with Fake() as environment:
            fake = pathlib.Path(environment["HOME"]) / "irisctl"
            fake.write_text(fake.read_text().replace("\n", '\necho "$@" >>"$HOME/asked"\n', 1))
            asked = pathlib.Path(environment["HOME"]) / "asked"
            for words, wanted in ((["send", "--node", ""], "nodes"), (["show", "--node=b", ""], "list --reverse --limit=100 --node b"),
                                  (["cancel", "--node", "b", ""], "list --state=open --reverse --limit=100 --node b"),
                                  (["cancel", ""], "list --state=open --reverse --limit=100"), (["run", "--node", "b", "--place", ""], "")):
                with self.subTest(words=words):
                    asked.write_text("")
                    subprocess.run([IRISCTL, "--complete", *words], check=True, env=environment, stdout=subprocess.DEVNULL)
                    self.assertEqual(asked.read_text().strip(), wanted)

    def test_bash(self):
        script = 'source "$1"; COMP_WORDS=(irisctl "$2" --); COMP_CWORD=2; _irisctl; printf "%s\\n" "${COMPREPLY[@]}"'

        def completed(command):
            with Fake() as environment:
                done = subprocess.run(["bash", "-c", script, "bash", COMPLETION / "irisctl.bash", command], check=True,
                                      env=environment, stdout=subprocess.PIPE, encoding="utf-8")
            return set(done.stdout.split())

        self.compare(completed)

    def test_bash_names_the_commands(self):
        script = 'source "$1"; COMP_WORDS=(irisctl ""); COMP_CWORD=1; _irisctl; printf "%s\\n" "${COMPREPLY[@]}"'
        with Fake() as environment:
            done = subprocess.run(["bash", "-c", script, "bash", COMPLETION / "irisctl.bash"], check=True,
                                  env=environment, stdout=subprocess.PIPE, encoding="utf-8")
        self.assertLessEqual(set(commands()), set(done.stdout.split()))

    def test_bash_keeps_words_with_colons_together(self):
        script = ('source "$1"; COMP_WORDBREAKS=" =:"; COMP_WORDS=(irisctl "${@:2}"); COMP_CWORD=$(($# - 1)); _irisctl; '
                  'printf "%s\\n" "${COMPREPLY[@]}"')
        for words, wanted in ((["drain", ""], ["package:0", "package:1"]), (["drain", "package", ":"], ["0", "1"]),
                              (["drain", "package", ":", "1"], ["1"]), (["run", "--place", "="], ["package:0", "package:1"]),
                              (["run", "--place", "=", "package", ":", "0"], ["0"]), (["list", "--state", "=", "qu"], ["queued"])):
            with self.subTest(words=words), Fake() as environment:
                done = subprocess.run(["bash", "-c", script, "bash", COMPLETION / "irisctl.bash", *words], check=True,
                                      env=environment, stdout=subprocess.PIPE, encoding="utf-8")
                self.assertEqual(done.stdout.split(), wanted)

    @unittest.skipUnless(shutil.which("fish"), "fish is not installed")
    def test_fish_completes(self):
        def complete(line):
            with Fake() as environment:
                script = 'source "%s"; complete -C "%s"' % (COMPLETION / "irisctl.fish", line)
                done = subprocess.run(["fish", "-c", script], check=True, env=environment, stdout=subprocess.PIPE,
                                      encoding="utf-8")
            return [found.split("\t")[0] for found in done.stdout.splitlines()]

        self.assertLessEqual(set(commands()), set(complete("irisctl ")))
        self.assertEqual(set(commands()) | {"help"}, set(complete("irisctl help ")))
        self.compare(lambda command: set(complete("irisctl %s --" % command)))
        self.assertEqual(complete("irisctl drain "), ["package:0", "package:1"])
        self.assertEqual(complete("irisctl places "), [])
        for line in ("irisctl run -- ls --almost", "irisctl run -n 5 ls --almost", "irisctl submit -D command ls --almost"):
            self.assertEqual(complete(line), ["--almost-all"])

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh_completes(self):
        # Waits for what has to come; what does not come ends by the time limit.
        script = r"""
            zmodload zsh/zpty
            zpty shell zsh -f -i
            zpty -w shell "PS1=; fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -D; print READ''Y"
            zpty -r shell out '*READY*'
            for line wanted in "${@:2}"; do
                zpty -n -w shell "$line"$'\t'
                zpty -r shell out "*$wanted*"
                zpty -n -w shell $'\x15'
            done
            zpty -d shell
        """
        lines = ("irisctl dra", "irisctl drain", "irisctl drain packa", "irisctl drain package:",
                 "irisctl help stat", "irisctl help status", "irisctl submit --key-p", "irisctl submit --key-prefix=",
                 "irisctl list --state que", "irisctl list --state queued",
                 "irisctl -d /tmp send --near=/ --prio", "--priority=",
                 "irisctl run -- ls --almo", "irisctl run -- ls --almost-all",
                 "irisctl submit -D command -- ls --almo", "command -- ls --almost-all")
        with Fake() as environment:
            subprocess.run(["zsh", "-f", "-c", script, "zsh", COMPLETION, *lines], check=True, timeout=60,
                           env=environment, stdout=subprocess.PIPE)

    def test_manual(self):
        text = (SOURCE / "doc/man/irisctl.1").read_text()
        missing = {(command, option) for command in commands() for option in options_of(command) - OF_ALL
                   if re.search(re.escape(option) + r"(?![a-z-])", text) is None}
        missing |= {command for command in commands()
                    if re.search(r'(?m)^\.(B|BR) "?%s\b' % command, text) is None}
        self.assertEqual(missing, set())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
