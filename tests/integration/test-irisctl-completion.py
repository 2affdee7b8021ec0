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
# Every command has these two; that they are completed is checked by the shells' files alone.
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
    """An environment whose irisctl knows two places, and whose shells know nothing of ours."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        path = pathlib.Path(self.folder.name) / "irisctl"
        path.write_text("#!/bin/sh\nprintf 'id name\\n0 package:0\\n1 package:1\\n'\n")
        path.chmod(0o755)
        return {"PATH": "%s:%s" % (self.folder.name, os.environ["PATH"]), "HOME": self.folder.name, "TERM": "dumb",
                "LC_ALL": "C.UTF-8"}

    def __exit__(self, *_):
        self.folder.cleanup()


class Completion(unittest.TestCase):
    maxDiff = None

    def compare(self, completed):
        """`completed` is given all commands, and returns a set for each."""
        for command, found in zip(commands(), completed(commands()), strict=True):
            with self.subTest(command=command):
                self.assertEqual(sorted(found | OF_ALL), sorted(options_of(command)))

    def test_help_names_options(self):
        self.assertIn("submit", commands())
        self.assertIn("--key-prefix", options_of("submit"))

    def test_bash(self):
        script = ('source "$1"; for word in "${@:2}"; do COMP_WORDS=(irisctl "$word" --); COMP_CWORD=2; COMPREPLY=(); '
                  '_irisctl; echo "${COMPREPLY[@]}"; done')

        def completed(names):
            done = subprocess.run(["bash", "-c", script, "bash", COMPLETION / "irisctl.bash", *names], check=True,
                                  stdout=subprocess.PIPE, encoding="utf-8")
            return [set(line.split()) for line in done.stdout.splitlines()]

        self.compare(completed)

    def test_bash_names_the_commands(self):
        script = 'source "$1"; COMP_WORDS=(irisctl ""); COMP_CWORD=1; _irisctl; printf "%s\\n" "${COMPREPLY[@]}"'
        done = subprocess.run(["bash", "-c", script, "bash", COMPLETION / "irisctl.bash"], check=True,
                              stdout=subprocess.PIPE, encoding="utf-8")
        self.assertLessEqual(set(commands()), set(done.stdout.split()))

    def test_zsh(self):
        text = (COMPLETION / "_irisctl").read_text()
        lists = {name: body for name, body in re.findall(r"^  (\w+)=\(\n(.*?)\n  \)", text, re.M | re.S)}
        blocks = dict(re.findall(r"^        ([a-z*]+)\)(.*?);;", text.split("argument)")[1], re.M | re.S))

        def completed(command):
            body = blocks.get(command, blocks["*"])
            body += "".join(lists[name] for name in re.findall(r"\$(\w+)", body) if name in lists)
            return set(re.findall(r"(?<![\w-])(--[a-z-]+)", body))

        self.compare(lambda names: map(completed, names))
        for command in commands():
            self.assertIn("'%s[" % command, text)

    def test_fish(self):
        text = (COMPLETION / "irisctl.fish").read_text().replace("\\\n", "")
        everything = commands()

        def completed(command):
            found = set()
            for line in text.splitlines():
                option = re.search(r" -l ([a-z-]+)", line)
                where = re.search(r'-n "(not )?__fish_seen_subcommand_from ([^"]*)"', line)
                if not line.startswith("complete") or option is None or (where is not None and where[1]):
                    continue
                if where is None or command in where[2].replace("$commands", " ".join(everything)).split():
                    found.add("--" + option[1])
            return found

        self.compare(lambda names: map(completed, names))
        for command in everything:
            self.assertIn('-a "%s" -d' % command, text)

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
        def complete(*lines):
            script = 'source "%s"; for line in $argv; complete -C $line; echo; end' % (COMPLETION / "irisctl.fish")
            with Fake() as environment:
                done = subprocess.run(["fish", "-c", script, *lines], check=True, env=environment, stdout=subprocess.PIPE,
                                      encoding="utf-8")
            return [[found.split("\t")[0] for found in part.splitlines()] for part in re.findall(r"((?:.+\n)*)\n", done.stdout)]

        names, helped, places, none, *others = complete(
            "irisctl ", "irisctl help ", "irisctl drain ", "irisctl places ", "irisctl run -- ls --almost",
            "irisctl run -n 5 ls --almost", "irisctl submit -D command ls --almost")
        self.assertLessEqual(set(commands()), set(names))
        self.assertEqual(set(commands()) | {"help"}, set(helped))
        self.compare(lambda names: map(set, complete(*("irisctl %s --" % name for name in names))))
        self.assertEqual(places, ["package:0", "package:1"])
        self.assertEqual(none, [])
        self.assertEqual(others, [["--almost-all"]] * 3)

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
