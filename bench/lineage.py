"""Other solvers for all minimal hitting sets of up to a size, for bench/lineage.

Reads {"instances": [{"clauses": [[..]], "most": k, "limit": seconds}]} as JSON and writes one JSON line per
instance and solver: seconds, found, ended. Every solver runs in a process of its own, which is ended at the limit.
"""

import json
import multiprocessing
import os
import sys
import time


def algorithm_1(clauses, most, found):
    """FastFI's algorithm 1 as printed; solutions are looked up in a set, not in a list."""
    hits = {}
    for at, clause in enumerate(clauses):
        for element in clause:
            hits[element] = hits.get(element, 0) | 1 << at
    full = (1 << len(clauses)) - 1

    def is_minimal(chosen):
        for spared in chosen:
            open_clauses = full
            for other in chosen:
                if other != spared:
                    open_clauses &= ~hits[other]
            if open_clauses == 0:
                return False
        return True

    best_depth = {}
    stack = [(full, 0, frozenset())]
    solutions = set()
    while stack:
        open_clauses, depth, chosen = stack.pop()
        if open_clauses == 0:
            if chosen not in solutions and is_minimal(chosen):
                solutions.add(chosen)
                found.value += 1
            continue
        if depth >= most or depth > best_depth.get(open_clauses, most + 1):
            continue
        best_depth[open_clauses] = depth
        lowest = (open_clauses & -open_clauses).bit_length() - 1
        for element in clauses[lowest]:
            if element not in chosen:
                stack.append((open_clauses & ~hits[element], depth + 1, chosen | {element}))


def shrunk(chosen, clauses):
    """A minimal hitting set inside."""
    for element in sorted(chosen, reverse=True):
        fewer = chosen - {element}
        if all(not fewer.isdisjoint(clause) for clause in clauses):
            chosen = fewer
    return chosen


def z3_blocking(clauses, most, found):
    import z3

    elements = sorted({element for clause in clauses for element in clause})
    variables = {element: z3.Bool(f"x{element}") for element in elements}
    solver = z3.Solver()
    for clause in clauses:
        solver.add(z3.Or([variables[element] for element in clause]))
    solver.add(z3.AtMost(*variables.values(), most))
    sets = [set(clause) for clause in clauses]
    while solver.check() == z3.sat:
        model = solver.model()
        chosen = {element for element in elements if z3.is_true(model[variables[element]])}
        solver.add(z3.Or([z3.Not(variables[element]) for element in shrunk(chosen, sets)]))
        found.value += 1


def cadical_blocking(clauses, most, found):
    from pysat.card import CardEnc, EncType
    from pysat.solvers import Solver

    elements = sorted({element for clause in clauses for element in clause})
    literals = {element: at + 1 for at, element in enumerate(elements)}
    names = {literal: element for element, literal in literals.items()}
    solver = Solver(name="cadical195")
    for clause in clauses:
        solver.add_clause([literals[element] for element in clause])
    at_most = CardEnc.atmost(list(names), bound=most, encoding=EncType.seqcounter)
    for clause in at_most.clauses:
        solver.add_clause(clause)
    sets = [set(clause) for clause in clauses]
    while solver.solve():
        chosen = {names[literal] for literal in solver.get_model() if literal in names}
        solver.add_clause([-literals[element] for element in shrunk(chosen, sets)])
        found.value += 1


def hitman(clauses, most, found):
    from pysat.examples.hitman import Hitman

    with Hitman(bootstrap_with=clauses, htype="sorted") as sets:
        while True:
            chosen = sets.get()
            if chosen is None or len(chosen) > most:
                return
            sets.block(chosen)
            found.value += 1


SOLVERS = {"algorithm 1": algorithm_1, "z3": z3_blocking, "cadical": cadical_blocking, "hitman": hitman}


def child(solve, instance, found, seconds):
    elements = {element for clause in instance["clauses"] for element in clause}
    most = len(elements) if instance["most"] is None else instance["most"]
    start = time.perf_counter()
    solve(instance["clauses"], most, found)
    seconds.value = time.perf_counter() - start


def timed(solve, instance):
    """Seconds, sets found, and whether the solver came to its end."""
    found = multiprocessing.Value("l", 0, lock=False)
    seconds = multiprocessing.Value("d", -1.0, lock=False)
    process = multiprocessing.Process(target=child, args=(solve, instance, found, seconds))
    process.start()
    process.join(instance["limit"])
    if process.is_alive():
        process.kill()
        process.join()
        return instance["limit"], found.value, False
    if seconds.value < 0:
        sys.exit(f"{solve.__name__} failed with exit code {process.exitcode}")
    return seconds.value, found.value, True


# Below this a run says little; the middle one of three is taken.
SHORT = 0.05


def median(solve, instance):
    first = timed(solve, instance)
    if first[0] > SHORT:
        return first
    return sorted([first, timed(solve, instance), timed(solve, instance)])[1]


def main():
    # Imported before the first fork, so that no run pays for it.
    import pysat.card
    import pysat.examples.hitman
    import z3

    multiprocessing.set_start_method("fork")
    request = json.load(sys.stdin)
    for at, instance in enumerate(request["instances"]):
        for name, solve in SOLVERS.items():
            seconds, found, ended = median(solve, instance)
            line = {"instance": at, "solver": name, "seconds": seconds, "found": found, "ended": ended}
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    os.environ["OMP_NUM_THREADS"] = "1"
    main()
