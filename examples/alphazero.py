"""A small AlphaZero for Hex or Connect Four: a network learns from games that PUCT, guided by it, plays against itself.

Each generation plays games side by side and learns from the samples of the last few generations, each mapped by a symmetry of
the game. Every few generations the network meets UCT with as many playouts as it has evaluations, and is placed on the game's
rated ladder. The learning curve, curve.svg, tells with how many playouts UCT is as strong. Written too are games.npz, the games
of the last generation, and the network for `puct(net="net.onnx",...)` in any match: net.onnx, which is the faster one for a
search alone, and net.pt.

    Silver et al.: A general reinforcement learning algorithm that masters chess, shogi, and Go through self-play. Science 2018

With a graphics card, `--device cuda` trains and evaluates there.
"""

import argparse
from collections import deque
from pathlib import Path

import numpy as np
import torch
from matplotlib import pyplot
from torch import nn
from torch.nn import functional

from ucd_envs import make_rules
from ucd_planners import Episodes, SelfPlay, puct, uct
from ucd_planners.arena.match import Match, play_match
from ucd_planners.ratings.ladder import Ladder, Placed, ladder_of
from ucd_planners.ratings.openings import RandomOpenings
from ucd_planners.ratings.placing import Placing

GAMES = {"hex": {"size": 5}, "connect_four": {}}


class Net(nn.Module):
    """Residual blocks of 3x3 convolutions, with a head for the policy and one for the value.

    Takes observations, [n, planes, rows, columns] float32. Returns logits, [n, actions], and payoffs of the player to move in
    [0, 1], [n].
    """

    def __init__(self, planes: tuple[int, int, int], actions: int, channels: int, blocks: int) -> None:
        super().__init__()
        rows, columns, depth = planes
        self.first = nn.Conv2d(depth, channels, 3, padding=1)
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.Conv2d(channels, channels, 3, padding=1), nn.ReLU(), nn.Conv2d(channels, channels, 3, padding=1))
            for _ in range(blocks)
        )
        self.policy = nn.Sequential(nn.Conv2d(channels, 4, 1), nn.ReLU(), nn.Flatten(), nn.Linear(4 * rows * columns, actions))
        self.value = nn.Sequential(
            *(nn.Conv2d(channels, 2, 1), nn.ReLU(), nn.Flatten()),
            *(nn.Linear(2 * rows * columns, 64), nn.ReLU(), nn.Linear(64, 1)),
        )

    def forward(self, seen: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x = functional.relu(self.first(seen))
        for block in self.blocks:
            x = functional.relu(x + block(x))
        return self.policy(x), torch.sigmoid(self.value(x)).squeeze(1)


def learn(net: Net, optimizer: torch.optim.Optimizer, kept: list[Episodes], steps: int, batch: int, seed: int) -> list[float]:
    """Trains the network on the samples of some episodes; returns the mean losses of policy and value."""
    rng = np.random.default_rng(seed)
    parts = [episodes.samples(augment=rng) for episodes in kept]
    seen, masks, policies, _, outcomes = (np.concatenate(part) for part in zip(*parts, strict=True))
    device, losses = next(net.parameters()).device, np.zeros(2)
    net.train()
    for _ in range(steps):
        chosen = rng.integers(len(outcomes), size=batch)
        x, mask, policy, outcome = (
            torch.from_numpy(part[chosen]).to(device, torch.float32) for part in (seen, masks, policies, outcomes)
        )
        logits, values = net(x.permute(0, 3, 1, 2).contiguous())
        shares = functional.log_softmax(logits.masked_fill(mask == 0, -1e9), dim=1)
        of_policy, of_value = -(policy * shares).sum(1).mean(), functional.binary_cross_entropy(values, outcome)
        optimizer.zero_grad()
        (of_policy + of_value).backward()
        optimizer.step()
        losses += of_policy.item(), of_value.item()
    net.eval()
    return (losses / steps).tolist()


def draw(curve: list[tuple[int, Placed]], ladder: Ladder, evaluations: int, path: Path) -> None:
    """Draws with how many playouts UCT is as strong as the network after each generation, within the ladder."""
    generations = [generation for generation, _ in curve]
    rungs = [playouts for _, playouts in ladder.rungs]
    places = [(place.playouts, place.fewest, place.most) for _, place in curve]
    playouts, fewest, most = np.clip(places, rungs[0], rungs[-1]).T
    pyplot.rcParams |= {"svg.hashsalt": "curve", "svg.fonttype": "none"}  # the same curve is the same file
    figure, axes = pyplot.subplots(figsize=(6, 3.2), layout="constrained")
    axes.plot(generations, playouts, marker="o", markersize=3)
    axes.fill_between(generations, fewest, most, alpha=0.25, label="95% interval")
    axes.axhline(evaluations, color="grey", linewidth=0.8, label=f"UCT with {evaluations} playouts")
    axes.set(xlabel="generation", ylabel="as strong as UCT with playouts", yscale="log")
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.legend(frameon=False)
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", choices=GAMES, default="hex")
    parser.add_argument("--size", type=int, help="of the board of Hex, 5 by default")
    parser.add_argument("--generations", type=int, default=20)
    parser.add_argument("--games", type=int, default=256, help="games of a generation")
    parser.add_argument("--playouts", type=int, default=64, help="evaluations of a search")
    parser.add_argument("--steps", type=int, default=200, help="batches of a generation")
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--window", type=int, default=5, help="generations whose games are learned from")
    parser.add_argument("--channels", type=int, default=32)
    parser.add_argument("--blocks", type=int, default=3)
    parser.add_argument("--every", type=int, default=5, help="generations between two matches")
    parser.add_argument("--matches", type=int, default=100, help="games of each match, an even number")
    parser.add_argument("--place", type=int, default=100, help="games on the ladder at most, an even number, or 0")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--folder", type=Path, default=Path("."), help="where everything is written")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(options.seed)
    torch.set_num_threads(1)  # fastest for small networks

    settings = GAMES[options.game] if options.size is None else {"size": options.size}
    rules = make_rules(options.game, **settings)
    net = Net(rules.planes, rules.actions, options.channels, options.blocks).to(options.device).eval()
    optimizer = torch.optim.AdamW(net.parameters(), lr=2e-3, weight_decay=1e-4)
    common = {"playouts": options.playouts, "batch": options.games}
    learner = puct(net, noise=(0.25, 10 / rules.actions), **common)  # noise in the priors of roots, for games that differ
    player = puct(net, **common)
    selfplay = SelfPlay(learner, rules, games=options.games, seed=options.seed, temperature_plies=rules.max_plies // 3)

    ladder = ladder_of(options.game, settings) if options.place else None
    curve: list[tuple[int, Placed]] = []

    def meet(generation: int) -> None:
        """Plays a match against UCT at equal evaluations, from random openings, and games on the ladder."""
        opponent, openings = uct(playouts=options.playouts), RandomOpenings(2, options.seed)
        player.forget()  # what the last network has answered
        match = Match(options.game, player, opponent, settings, {}, options.matches, options.seed, openings)
        score = play_match(match).score()
        low, high = score.interval
        print(f"generation {generation}: {score.mean:.0%} against UCT ({low:.0%} to {high:.0%})", flush=True)
        if ladder is None:
            return
        placing = Placing(ladder, player, games=options.place, seed=options.seed)
        placing.play()
        place = placing.place
        assert place is not None
        curve.append((generation, place))
        print(f"on the ladder: {place.elo:.0f} Elo ({place.low:.0f} to {place.high:.0f})", end="")
        print(f", as strong as UCT with {place.playouts:,.0f} playouts ({place.fewest:,.0f} to {place.most:,.0f})", flush=True)

    meet(0)
    kept: deque[Episodes] = deque(maxlen=options.window)
    for generation in range(1, options.generations + 1):
        kept.append(selfplay.episodes(options.games))
        of_policy, of_value = learn(net, optimizer, list(kept), options.steps, options.batch, options.seed + generation)
        learner.forget()
        moves = np.mean([len(episode.moves) for episode in kept[-1]])
        print(f"generation {generation}: {moves:.1f} moves a game, loss {of_policy:.3f} + {of_value:.3f}", flush=True)
        if generation % options.every == 0 or generation == options.generations:
            meet(generation)

    kept[-1].save(options.folder / "games.npz")
    example = torch.zeros(2, rules.planes[2], *rules.planes[:2], device=options.device)
    torch.jit.trace(net, example).save(str(options.folder / "net.pt"))
    number, path = torch.export.Dim("number"), str(options.folder / "net.onnx")
    torch.onnx.export(net, (example,), path, dynamic_shapes=({0: number},), external_data=False, verbose=False)
    if ladder is not None:
        draw(curve, ladder, options.playouts, options.folder / "curve.svg")


if __name__ == "__main__":
    main()
