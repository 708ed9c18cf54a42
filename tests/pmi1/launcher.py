#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""launcher.py - a launcher that speaks PMI-1 alone, for tests.

  launcher.py [--port] [--vallen BYTES] [--version N] [--other refuse|end] -n RANKS PROGRAM...

It ends the job, with that status, when a rank fails or leaves without cmd=finalize; the others have
a second to end by themselves. It knows nothing of libarmci.

--port: ranks connect to a port (PMI_PORT) instead of inheriting a socket (PMI_FD).
--vallen: a value has less than so many bytes.
--version: the version of PMI that it says it speaks.
--other: what it does when it is asked for another.
"""
import argparse
import os
import selectors
import socket
import subprocess
import sys
import time


class Rank:
    """A process of the job, or one that has connected to the port and not said which it is."""

    def __init__(self, number, process, sock):
        self.number, self.process, self.sock = number, process, sock
        self.unread = b""
        self.waiting, self.joined, self.finalized = False, False, False

    def answer(self, text):
        try:
            self.sock.sendall(text.encode() + b"\n")
        except OSError:
            pass  # it has ended


class Job:
    """The ranks, what they have stored, and where they ask."""

    def __init__(self, options):
        self.options, self.values, self.ranks = options, {}, []
        self.selector = selectors.DefaultSelector()
        self.listener = socket.create_server(("127.0.0.1", 0)) if options.port else None
        for number in range(options.n):
            self.start(number)

    def start(self, number):
        """Starts a rank, and listens to it: at its socket, or with the last one at the port."""
        ours, theirs = None, None
        env = {**os.environ, "PMI_DEBUG": "0"}
        if self.listener:
            env["PMI_PORT"] = "127.0.0.1:%d" % self.listener.getsockname()[1]
            env["PMI_ID"] = str(number)
        else:
            ours, theirs = socket.socketpair()
            env.update(PMI_FD=str(theirs.fileno()), PMI_RANK=str(number),
                       PMI_SIZE=str(self.options.n))
        process = subprocess.Popen(self.options.program, env=env,
                                   pass_fds=[theirs.fileno()] if theirs else [])
        rank = Rank(number, process, ours)
        self.ranks.append(rank)
        if ours:
            theirs.close()
            self.selector.register(ours, selectors.EVENT_READ, rank)
        elif number == self.options.n - 1:
            self.selector.register(self.listener, selectors.EVENT_READ, None)

    def end_job(self, status, why):
        """Ends the launcher with that status. Ranks that go on for a second are killed."""
        sys.stderr.write("launcher: %s, status %d\n" % (why, status))  # one write: ranks write, too
        patience = time.monotonic() + 1
        for rank in self.ranks:
            try:
                rank.process.wait(max(0, patience - time.monotonic()))
            except subprocess.TimeoutExpired:
                rank.process.kill()
                rank.process.wait()
        sys.exit(status)

    def serve(self):
        """Answers requests until all ranks have ended."""
        while any(rank.process.poll() is None for rank in self.ranks):
            for key, _ in self.selector.select(0.05):
                if key.fileobj is self.listener:
                    conn, _ = self.listener.accept()
                    self.selector.register(conn, selectors.EVENT_READ, Rank(-1, None, conn))
                else:
                    self.receive(key.data)
            self.check()
        for key in list(self.selector.get_map().values()):  # what was sent last
            if key.data:
                self.receive(key.data)
        self.check()
        if any(rank.joined and not rank.finalized for rank in self.ranks):
            self.end_job(1, "a rank has not said cmd=finalize")

    def check(self):
        """Ends the job if a rank has failed."""
        for rank in self.ranks:
            status = rank.process.poll()
            if status:
                self.end_job(128 - status if status < 0 else status,
                             "rank %d has failed" % rank.number)

    def receive(self, rank):
        """Reads what a rank has sent, and answers each whole line."""
        try:
            new = rank.sock.recv(1024)
        except ConnectionError:
            new = b""
        if not new:
            self.selector.unregister(rank.sock)
            return
        *lines, rest = (rank.unread + new).split(b"\n")
        for line in lines:
            rank = self.answer_request(rank, line.decode())
        rank.unread = rest

    def answer_request(self, rank, line):
        """Answers one line; returns the rank that it came from, which initack tells."""
        words = dict(word.split("=", 1) for word in line.split(" "))
        command = words["cmd"]
        if len(line) >= 1024:
            self.end_job(3, "a line of %d bytes" % len(line))
        elif command == "initack":
            rank = self.connected(rank, int(words["pmiid"]))
        elif command == "init":
            self.agree(rank, words["pmi_version"])
        elif command == "get_maxes":
            rank.answer("cmd=maxes kvsname_max=64 keylen_max=32 vallen_max=%d"
                        % self.options.vallen)
        elif command == "get_my_kvsname":
            rank.answer("cmd=my_kvsname kvsname=kvs_0")
        elif command == "put":
            if len(words["value"]) >= self.options.vallen or len(words["key"]) >= 32:
                self.end_job(3, "too long: " + line)
            self.values[words["key"]] = words["value"]
            rank.answer("cmd=put_result rc=0 msg=success")
        elif command == "get":
            value = self.values.get(words["key"])
            rank.answer("cmd=get_result rc=0 msg=success value=" + value if value
                        else "cmd=get_result rc=-1 msg=key_not_found")
        elif command == "barrier_in":
            self.barrier(rank)
        elif command == "finalize":
            rank.finalized = True
            rank.answer("cmd=finalize_ack rc=0")
        elif command == "abort":
            self.end_job(int(words["exitcode"]), "rank %d aborts the job" % rank.number)
        else:
            self.end_job(3, "no command of PMI-1: " + line)
        return rank

    def connected(self, stranger, number):
        """A process at the port has said its number: tells it its rank."""
        rank = self.ranks[number]
        rank.sock = stranger.sock
        self.selector.modify(rank.sock, selectors.EVENT_READ, rank)
        rank.answer("cmd=initack\ncmd=set size=%d\ncmd=set rank=%d\ncmd=set debug=0"
                    % (self.options.n, number))
        return rank

    def agree(self, rank, version):
        """Answers to cmd=init, by --version and --other."""
        rank.joined = True
        if version == self.options.version:
            rank.answer("cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1")
        elif self.options.other == "end":
            self.end_job(3, "asked for version %s" % version)
        else:
            rank.answer("cmd=response_to_init rc=-1 pmi_version=%s pmi_subversion=0"
                        % self.options.version)

    def barrier(self, rank):
        """Answers all ranks once the last of them has come."""
        rank.waiting = True
        if all(other.waiting for other in self.ranks):
            for other in self.ranks:
                other.waiting = False
                other.answer("cmd=barrier_out")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", action="store_true")
    parser.add_argument("--vallen", type=int, default=1024)
    parser.add_argument("--version", default="1")
    parser.add_argument("--other", choices=["refuse", "end"], default="end")
    parser.add_argument("-n", type=int, required=True)
    parser.add_argument("program", nargs=argparse.REMAINDER)
    Job(parser.parse_args()).serve()


main()
