"""The number of nodes of each level of P-games before and after nodes are combined, as in [Childs Figure 1].

Written to levels.svg where matplotlib is installed.
"""

import importlib.util

import ucd_envs
from ucd_envs.boards.sums import level_counts

DEPTH, SHARES = 16, (0, 10, 20, 40, 80)

counts = {}
for share in SHARES:
    rules = ucd_envs.make_rules("p_game_v0", depth=DEPTH, dag_combination=share, seed=1)
    counts[share] = level_counts(rules)
print("level" + "".join(f"{share:>8} %" for share in SHARES))
for level in range(DEPTH + 1):
    print(f"{level:5}" + "".join(f"{counts[share][level][1]:10,}" for share in SHARES))

if importlib.util.find_spec("matplotlib"):
    from matplotlib.figure import Figure

    axis = (figure := Figure(layout="constrained")).subplots()
    for place, share in enumerate(SHARES):
        before, after = zip(*counts[share], strict=True)
        axis.plot(after, f"C{place}-", label=f"{share} percent combined")
        if share:
            axis.plot(before, f"C{place}:")
    axis.set(yscale="log", xlabel="level", ylabel="nodes (dotted: before pairs are combined)")
    axis.legend()
    figure.savefig("levels.svg")
