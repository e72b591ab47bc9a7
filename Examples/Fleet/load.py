"""What three processes of the service promise together, asked of them over HTTP.

    load.py BINARY ENDPOINT[,ENDPOINT...]

Starts the processes, kills the one that leads twice and starts it again, and ends with what it saw, or with the
first thing that is not as it should be.
"""

import os
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

FIRST_PORT = int(os.environ.get("FLEET_PORT", "18470"))
JOB_COUNT = 60
LIMIT_COUNT = 20
PATIENCE_SECONDS = 120


def check(holds, message):
    if not holds:
        raise AssertionError(message)


class Fleet:
    """The processes. `ask` asks one of them; one that was killed answers nothing."""

    def __init__(self, binary, endpoints):
        self.binary, self.endpoints = binary, endpoints
        self.namespace = f"fleet-{os.getpid()}"
        self.processes = {}

    def start(self, number):
        self.processes[number] = subprocess.Popen(
            [self.binary, f"p{number}", str(FIRST_PORT + number), self.namespace, self.endpoints],
            stdout=subprocess.DEVNULL)
        def is_up():
            status = self.processes[number].poll()
            check(status is None, f"p{number} ended with {status}")
            return self.ask(number, "GET", "health")[1] == f"p{number}"
        until(f"p{number} is up", is_up)

    def kill(self, number):
        self.processes[number].send_signal(signal.SIGKILL)
        self.processes[number].wait()

    def stop(self):
        for process in self.processes.values():
            process.terminate()
        for process in self.processes.values():
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def ask(self, number, method, path):
        request = urllib.request.Request(
            f"http://127.0.0.1:{FIRST_PORT + number}/{path}", method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                return response.status, response.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, ""
        except OSError:
            return 0, ""

    def ask_again(self, number, method, path):
        """As `ask`, for what may be asked twice: a call ends without an answer where the machine stands still."""
        end = time.monotonic() + PATIENCE_SECONDS
        while True:
            answer = self.ask(number, method, path)
            if not is_failure(answer[0]) or time.monotonic() > end:
                return answer
            time.sleep(0.1)


def is_failure(status):
    """Of the process or of what is between: nobody knows what became of the request."""
    return status == 0 or status >= 500


def until(what, holds):
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        answer = holds()
        if answer:
            return answer
        time.sleep(0.02)
    raise AssertionError(f"not within {PATIENCE_SECONDS} s: {what}")


class LeaderWatch:
    """Asks all three all the time whether they lead. Where two say so, the first is asked again: one that leads in
    the same term as before has led all the time between, and so while the second said that it does."""

    def __init__(self, fleet):
        self.fleet, self.is_ending, self.rounds, self.failure = fleet, False, 0, None
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def terms(self):
        """The terms that processes say they lead in, by their numbers."""
        said = ((n, self.fleet.ask(n, "GET", "leader")[1]) for n in range(3))
        return {n: term for n, term in said if term}

    def run(self):
        while not self.is_ending:
            terms = self.terms()
            if len(terms) > 1:
                first, second = list(terms)[:2]
                if self.fleet.ask(first, "GET", "leader")[1] == terms[first]:
                    self.failure = f"p{first} and p{second} lead at once"
            self.rounds += 1
            time.sleep(0.01)

    def end(self):
        self.is_ending = True
        self.thread.join()


def sessions(fleet):
    for number in range(30):
        _, token = fleet.ask_again(number % 3, "POST", f"login/user{number}/3600")
        for other in range(3):
            answer = fleet.ask_again(other, "GET", f"sessions/{token}")
            check(answer == (200, f"user{number}"), f"p{other} says {answer} to a session")
    _, token = fleet.ask_again(0, "POST", "login/short/1")
    time.sleep(1.05)
    for other in range(3):
        check(fleet.ask_again(other, "GET", f"sessions/{token}")[0] == 401, "a session outlives its time")
    print("sessions: 30 made at one process, each seen at all three at once; one that expired at none")


def flags(fleet):
    longest = 0
    for number in range(20):
        begin = time.monotonic()
        fleet.ask_again(number % 3, "PUT", f"flags/theme/v{number}")
        for other in range(3):
            until(f"flag v{number} at p{other}",
                  lambda: fleet.ask(other, "GET", "flags/theme")[1] == f"v{number}")
        longest = max(longest, time.monotonic() - begin)
    print(f"flags: 20 changes, each arrived at all three, within {longest * 1000:.0f} ms at most")


def limits(fleet):
    # What failed may have counted: then it is another client's turn.
    for client in range(3):
        with ThreadPoolExecutor(12) as pool:
            answers = list(pool.map(
                lambda n: fleet.ask(n % 3, "POST", f"limited/greedy{client}")[0], range(3 * LIMIT_COUNT)))
        if not any(is_failure(answer) for answer in answers):
            break
    allowed = answers.count(204)
    check(allowed == LIMIT_COUNT, f"{allowed} requests were let in, not {LIMIT_COUNT}")
    check(answers.count(429) == 2 * LIMIT_COUNT, f"answers {sorted(set(answers))}")
    print(f"limit: of {len(answers)} requests over all three {allowed} were let in")


def done_jobs(fleet, number):
    return dict(line.split() for line in fleet.ask_again(number, "GET", "jobs")[1].splitlines())


def failover(fleet, watch):
    times, done_counts = [], []
    for _ in range(2):
        leader, term = list(until("somebody leads", watch.terms).items())[0]
        done_counts.append(len(done_jobs(fleet, leader)))
        begin = time.monotonic()
        fleet.kill(leader)
        other, newer = list(until("another leads", watch.terms).items())[0]
        times.append(time.monotonic() - begin)
        check(other != leader, "one that was killed leads")
        check(int(newer) > int(term), f"term {newer} behind {term}")
        fleet.start(leader)
    print(f"leader: killed twice, when {done_counts[0]} and {done_counts[1]} jobs were done; "
          f"another led after {max(times):.1f} s at most")


def add_jobs(fleet):
    """The names of jobs that were taken. One without an answer may be done already, and would then be another job under
    its name: a further name takes its place."""
    def add(number):
        for attempt in range(10):
            name = f"j{number:04}-{attempt}"
            status = fleet.ask(number % 3, "POST", f"jobs/{name}")[0]
            if status == 202:
                return name
            check(is_failure(status), f"a job was answered {status}")
        raise AssertionError(f"no job of {name} and those before was taken")
    with ThreadPoolExecutor(6) as pool:
        return list(pool.map(add, range(JOB_COUNT)))


def jobs(fleet, names):
    def all_done():
        done = done_jobs(fleet, 0)
        return done if done.keys() >= set(names) else None
    found = until("every job is done", all_done)
    twice = {job: count for job, count in found.items() if count != "1"}
    check(not twice, f"done more than once: {twice}")
    print(f"jobs: {JOB_COUNT}, each done once")


def ledger(fleet):
    ticks = [line.split() for line in fleet.ask_again(1, "GET", "ledger")[1].splitlines()]
    terms = [int(term) for term, _ in ticks]
    check(terms == sorted(terms), "an older term was at work behind a newer one")
    check(len({tuple(tick) for tick in ticks}) == len(set(terms)), "two led in one term")
    check(len(set(terms)) >= 3, f"terms {sorted(set(terms))}")
    print(f"ledger: {len(ticks)} entries of {len(set(terms))} terms, in their order")


def main():
    fleet = Fleet(sys.argv[1], sys.argv[2])
    begin = time.monotonic()
    try:
        for number in range(3):
            fleet.start(number)
        watch = LeaderWatch(fleet)
        try:
            sessions(fleet)
            flags(fleet)
            limits(fleet)
            names = add_jobs(fleet)
            failover(fleet, watch)
            jobs(fleet, names)
            ledger(fleet)
        finally:
            watch.end()
        check(watch.failure is None, watch.failure)
        print(f"leaders: never two in {watch.rounds} rounds of questions")
    finally:
        fleet.stop()
    print(f"fleet: all as expected in {time.monotonic() - begin:.0f} s")


if __name__ == "__main__":
    try:
        main()
    except AssertionError as error:
        print(f"fleet: {error}", file=sys.stderr)
        sys.exit(1)
