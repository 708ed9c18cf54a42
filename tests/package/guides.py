# SPDX-License-Identifier: BSD-3-Clause
"""Does what a guide says, in a new directory: runs its blocks of shell commands in order, and
compares what it shows of their output.

    python3 guides.py GUIDE.md [NAME=FILE]...

What stands in the Markdown in front of a block says more, and is not seen by readers:

    <!-- file: app.c -->             the block is put into this file before anything is run
    <!-- not run: REASON -->         its commands are not run; of an output: it is not compared

A block of commands is one of the language sh. A block without a language is output of the commands
before it: each of its lines must be among theirs, in any order, since ranks print when they like. A
number with a decimal point stands for any such number, and so do addresses and the host in
[RANK@HOST]; a line of three dots stands for what is left out. NAME=FILE puts a copy of FILE there
as the program that the guide takes the reader to have.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

MARK = re.compile(r"<!-- (file|not run): (.*?) -->")
SAME = (
    (re.compile(r"\b\d+\.\d+\b"), "N.N"),
    (re.compile(r"\b0x[0-9a-f]+\b"), "0xN"),
    (re.compile(r"\[(\d+)@[^]]*\]"), r"[\1@host]"),
)
SECONDS = 120  # that a block may take on a machine that does other things, too


class Block:
    """A fenced block: where it begins, its language, the mark in front of it, and its lines."""

    def __init__(self, line, language, mark):
        self.line, self.language, self.mark, self.lines = line, language, mark, []

    @property
    def text(self):
        return "".join(self.lines)


def blocks_of(guide):
    """The blocks of a Markdown file, in order."""
    found, block, mark = [], None, None
    for number, line in enumerate(open(guide, encoding="utf-8"), 1):
        if line.startswith("```"):
            if block is None:
                block = Block(number, line[3:].strip(), mark)
            else:
                found.append(block)
                block = mark = None
        elif block is not None:
            block.lines.append(line)
        elif line.strip():
            mark = MARK.fullmatch(line.strip())
    return found


def run(text):
    """Runs commands; returns their status, None if they took too long, and what they printed."""
    shell = subprocess.Popen(
        ["sh", "-eu", "-c", text],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    )
    try:
        output, _ = shell.communicate(timeout=SECONDS)
        return shell.returncode, output
    except subprocess.TimeoutExpired:
        os.killpg(shell.pid, signal.SIGKILL)
        return None, shell.communicate()[0]


def end_of(output):
    """What is shown of it when something is wrong."""
    return "".join(output.splitlines(True)[-30:])


def comparable(line):
    """A line with what differs between runs and machines taken out."""
    for pattern, word in SAME:
        line = pattern.sub(word, line)
    return " ".join(line.split())


def missing(shown, output):
    """The lines that the guide shows and the commands have not printed."""
    printed = {comparable(line) for line in output.splitlines()}
    return [
        line
        for line in shown
        if line.strip() not in ("", "...") and comparable(line) not in printed
    ]


def prepare(blocks, given):
    """Puts the files there that commands need."""
    for block in blocks:
        if block.mark and block.mark[1] == "file":
            with open(block.mark[2], "w", encoding="utf-8") as file:
                file.write(block.text)
    for argument in given:
        name, _, source = argument.partition("=")
        shutil.copyfile(source, name)


def follow(name, blocks):
    """Does it; returns the numbers of blocks that were run, compared and left out."""
    ran = compared = left = 0
    output = None
    for block in blocks:
        skipped = block.mark is not None and block.mark[1] == "not run"
        if block.language == "sh":
            output = None
            if skipped:
                left += 1
                print(f"   {name}:{block.line}: not run: {block.mark[2]}")
                continue
            status, output = run(block.text)
            if status != 0:
                what = "took too long" if status is None else f"exit status {status}"
                sys.exit(f"{end_of(output)}FAIL {name}:{block.line}: {what} of\n{block.text}")
            ran += 1
        elif block.language == "" and not skipped:
            if output is None:
                sys.exit(f"FAIL {name}:{block.line}: output of commands that are not run; mark it")
            absent = missing(block.lines, output)
            if absent:
                sys.exit(
                    f"{end_of(output)}FAIL {name}:{block.line}: not printed:\n{''.join(absent)}"
                )
            compared += 1
    return ran, compared, left


def main():
    guide = os.path.abspath(sys.argv[1])
    name = os.path.basename(guide)
    blocks = blocks_of(guide)
    given = [f"{n}={os.path.abspath(f)}" for n, _, f in (a.partition("=") for a in sys.argv[2:])]
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        prepare(blocks, given)
        ran, compared, left = follow(name, blocks)
        os.chdir("/")
    if ran == 0:
        sys.exit(f"FAIL {name}: nothing to run")
    print(f"ok {name}: {ran} blocks run, {compared} outputs compared, {left} not run")


if __name__ == "__main__":
    main()
