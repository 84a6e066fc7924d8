"""The play of blocks: agents are built, hands are played, refereed and scored, and the hands to keep are packed."""

import dataclasses
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from plurispiel.agents.base import Agent, TellsOrigins
from plurispiel.agents.baselines.simple import FoldAgent
from plurispiel.agents.factory import make_agent
from plurispiel.agents.specs import parse_spec
from plurispiel.evaluation.aivat import Aivat
from plurispiel.evaluation.duplicate import AgentScore, play_group
from plurispiel.evaluation.hand import Hand
from plurispiel.evaluation.referee import Referee
from plurispiel.evaluation.streams import Streams
from plurispiel.evaluation.value_choice import make_value_function
from plurispiel.tournaments.contestants.isolated import IsolatedAgent, Limits
from plurispiel.tournaments.contestants.isolation import isolate
from plurispiel.tournaments.contestants.sandbox import Sandbox
from plurispiel.tournaments.contestants.speaker import Speaker
from plurispiel.tournaments.run.block_rows import DECIDED, Played, pack_rows
from plurispiel.tournaments.run.config import TournamentConfig
from plurispiel.tournaments.run.hand_story import hand_story
from plurispiel.tournaments.run.kept_hands import SAMPLE_DECKS, is_kept, pack_group, pack_stories
from plurispiel.tournaments.run.schedule import Block, make_lineups
from plurispiel.tournaments.run.witness import Witness

_SILENT = Agent()


class RunAborted(RuntimeError):
    """An agent committed a fault in a run with ``on_fault = "abort"``."""


class Job(NamedTuple):
    """A block to play, and the numbers of the agents that are retired: their seats only fold."""

    block: Block
    retired: frozenset[int]


@dataclass(frozen=True)
class Conduct:
    """How a run is played. No field changes the results, unless an agent remembers hands, or depends on time or files.

    Attributes
    ----------
    workers : int
        The number of worker processes. With 1, hands are played in this process. Isolated agents always have processes
        of their own.
    isolate : {"foreign", "all"}
        Agents that run in their own processes: those from outside the package, or all.
    keep : {"sample", "all", "none"}
        The hands to keep (`kept_hands.is_kept`).
    logs : Path or None
        Folder for the output of isolated agents.
    processes : {"rotation", "one"}
        Processes of an outside agent. ``rotation``: one for each rotation, so that no process sees a deck twice.
        ``one``: one for all rotations, for agents that are trusted to forget, or if no deck is dealt twice.
    sandbox : Sandbox or None
        Limits the files, processes and networks that isolated agents see. None: they see as much as the run itself.
    """

    workers: int = 1
    isolate: str = "foreign"
    keep: str = "none"
    logs: Path | None = None
    processes: str = "rotation"
    sandbox: Sandbox | None = None

    def is_isolated(self, spec: str) -> bool:
        """Return whether an agent runs in its own process."""
        return self.isolate == "all" or parse_spec(spec).is_foreign


class AgentPlace(NamedTuple):
    """The key of an agent object: `BlockPlayer` builds one agent for each place.

    Attributes
    ----------
    number : int
        Number of the agent.
    copy : int
        0 for the first of the agent's positions in the line-up, 1 for the second, ...
    is_control : bool
        Whether the agent sits at the table of the Control (package `run`), where the deck is played again.
    rotation : int
        Number of the rotation; 0 for an agent that plays all rotations.
    """

    number: int
    copy: int
    is_control: bool = False
    rotation: int = 0


class BlockPlayer:
    """Plays blocks of one tournament.

    Parameters
    ----------
    config : TournamentConfig
        The settings, which decide the results.
    conduct : Conduct
        How the blocks are played.
    streams : Streams
        The source of decks and random numbers.
    aivat : Aivat, optional
        Scores the hands instead of the AIVAT that the settings ask for.
    """

    def __init__(self, config: TournamentConfig, conduct: Conduct, streams: Streams, aivat: Aivat | None = None):
        self._config = config
        self._conduct = conduct
        self._lineups = make_lineups(config)
        self._agents: dict[AgentPlace, Agent] = {}
        self._speakers: dict[AgentPlace, Speaker] = {}
        self._streams = streams
        self._check = Referee(config.rules).check if config.referee == "universal_poker" else _trust
        self._aivat = aivat
        numbers = [*range(len(config.agents)), 0]  # the Control, a copy of agent 0, comes last
        self._trusted = frozenset(k for k, number in enumerate(numbers) if number not in config.outsiders)
        if config.uses_aivat and aivat is None:
            self._aivat = Aivat(config.rules, make_value_function(config.values, config.rules))
        self._witness: Witness | None = None
        if conduct.keep != "none" and not all(map(self.is_deterministic, range(len(config.agents)))):
            self._witness = Witness(config)
        self._onlooker: Witness | None = None
        self._hands: list[tuple[Hand, Sequence[int]]] = []
        self._events: Counter[tuple[int, str]] = Counter()

    def play(self, job: Job) -> Played:
        """Play a block and return its result.

        The block ends early, after the group in which an agent's faults in this block reach `max_faults`.

        Raises
        ------
        RefereeDisagrees
            If the referee finds another result of a hand.
        RunAborted
            If an agent commits a fault under ``on_fault = "abort"``.
        """
        block, retired = job
        lineup = self._lineups[block.lineup]
        faults: Counter[int] = Counter()
        groups: list[dict[int, AgentScore]] = []
        kept: dict[int, bytes] = {}
        stories: dict[int, bytes] = {}
        for deck in range(block.first, block.first + block.num_decks):
            self._hands = []
            witness = self._witness if deck < SAMPLE_DECKS else None
            if witness is not None and self._aivat is None:
                self._onlooker = witness
                witness.restart(np.random.default_rng((block.lineup, deck)))
            aivat = None if self._aivat is None else witness or self._aivat
            group = self._play_group(lineup, lineup, retired, (block.lineup, deck), self._take, aivat)
            self._onlooker = None
            told = witness.take(self._hands) if witness else []
            if aivat is None and any(score.fault for one in told for score in one.scores):
                self._witness = None  # else an agent that dies when it is asked to report could die in every hand
            if told:
                stories[deck] = pack_stories(list(map(hand_story, told)))
            if self._config.controlled is not None:
                group = self._with_control(group, lineup, retired, (block.lineup, deck))
            groups.append(group)
            if is_kept(self._conduct.keep, deck, self._hands):
                kept[deck] = pack_group(self._hands)
            faults.update({number: score.faults for number, score in group.items()})
            if max(faults.values()) >= self._config.max_faults:
                break
        rows, remarks = pack_rows(self._config, block.lineup, block.first, groups)
        return Played(rows, remarks, kept, stories, self._new_events())

    def _new_events(self) -> Mapping[tuple[int, str], int]:
        """Return the events of the agents (`Played.events`) since the last call."""
        total: Counter[tuple[int, str]] = Counter()
        for place, agent in self._agents.items():
            if isinstance(agent, IsolatedAgent):
                total[place.number, "fallbacks"] += agent.num_fallbacks
                if agent.learns:
                    total[place.number, "starts"] += agent.num_starts
                    total[place.number, "processes"] += 1
            elif isinstance(agent, TellsOrigins) and not place.is_control:
                total.update({(place.number, f"{DECIDED}{origin}"): count for origin, count in agent.origins.items()})
                total[place.number, "clamped"] += agent.clamped
        new = total - self._events
        self._events = total
        return dict(new)

    def is_deterministic(self, number: int) -> bool:
        """Return whether an agent is known to act and report as before when a hand is replayed.

        False for every agent in its own process.

        Raises
        ------
        ValueError
            If the agent cannot be built.
        """
        isolated = self._conduct.is_isolated(self._config.agents[number])
        return not isolated and self._agent(AgentPlace(number, 0)).is_deterministic

    def replay(
        self, group: tuple[int, int], retired: frozenset[int]
    ) -> tuple[dict[int, AgentScore], Sequence[tuple[Hand, Sequence[int]]]]:
        """Replay a group, given as (line-up, deck), without the Control.

        Returns
        -------
        dict
            The scores by agent number.
        sequence of (Hand, sequence of int)
            The hand of each rotation with the agent number in every seat.
        """
        self._hands = []
        lineup = self._lineups[group[0]]
        return self._play_group(lineup, lineup, retired, group, self._take, self._aivat), self._hands

    def _play_group(
        self,
        lineup: Sequence[int],
        contestants: Sequence[int],
        retired: frozenset[int],
        group: tuple[int, int],
        on_hand: Callable[[Hand, Sequence[int], Sequence[Agent]], None],
        aivat: Aivat | None,
        is_control: bool = False,
    ) -> dict[int, AgentScore]:
        """Return the scores of a group.

        Parameters
        ----------
        lineup : sequence of int
            The agent that plays each position.
        contestants : sequence of int
            The number under which each position is scored. The Control has another number here than in `lineup`.
        group : (int, int)
            The numbers of the line-up and of the deck.
        on_hand : callable
            Called after each hand with the hand, the `contestants` by seat, and the agents (or their speakers) by seat.
        """
        places = [
            AgentPlace(number, list(lineup[:position]).count(number), is_control)
            for position, number in enumerate(lineup)
        ]
        outsiders = self._config.outsiders.intersection(lineup)

        def players(rotation: int) -> list[Agent]:
            return [FoldAgent() if place.number in retired else self._agent(place, rotation) for place in places]

        same = players(0)
        return play_group(
            self._config.rules,
            players if outsiders else lambda rotation: same,
            contestants,
            self._streams.without(retired),
            group,
            on_hand,
            repair=self._config.on_fault == "repair",
            aivat=aivat,
            trusted=self._trusted,
            speakers=[None if place.number in retired else self._speaker(place) for place in places]
            if outsiders
            else (),
        )

    def _with_control(
        self,
        played: dict[int, AgentScore],
        lineup: Sequence[int],
        retired: frozenset[int],
        group: tuple[int, int],
    ) -> dict[int, AgentScore]:
        """Return a group's scores together with the score of the Control, a copy of the first agent.

        The Control plays in place of the second agent, with the same deck, seats and random streams. The luck that both
        share cancels in the difference of their scores. The Control's faults count as faults of the first agent. Faults
        of the other copies at the Control's table are not counted.
        """
        number = len(self._config.agents)
        contestants = [number if one == self._config.controlled else one for one in lineup]
        table = [0] * len(lineup)
        scores = self._play_group(table, contestants, retired, group, self._take_control, self._aivat, True)
        control = scores[number]
        own = dataclasses.replace(
            played[0],
            faults=played[0].faults + control.faults,
            first_fault=played[0].first_fault or control.first_fault,
            fault_kinds=f"{played[0].fault_kinds} {control.fault_kinds}".strip(),
        )
        without = dataclasses.replace(
            control, faults=0, first_fault="", fault_kinds="", table_sum=self._table_sum(scores)
        )
        return played | {0: own, number: without}

    def _table_sum(self, scores: dict[int, AgentScore]) -> float | None:
        """Return the sum of a table's scores, in which agents from outside count with the reduced form of AIVAT.

        None without AIVAT, or if an agent of this package lacks a correction.
        """
        known = [
            each
            for number, score in scores.items()
            if (each := score.full if number in self._trusted else score.reduced) is not None
        ]
        return sum(known) if self._aivat is not None and len(known) == len(scores) else None

    def processes(self) -> list[tuple[AgentPlace, IsolatedAgent | Speaker]]:
        """Return the agents built so far that run in a process of their own, each with its place.

        A believed agent has players, and also `Speaker` objects, which report its strategies.
        """
        agents = (*self._agents.items(), *self._speakers.items())
        return [(place, agent) for place, agent in agents if isinstance(agent, IsolatedAgent | Speaker)]

    def close(self) -> None:
        """End the processes of agents."""
        for _, agent in self.processes():
            agent.close()

    def _take_control(self, hand: Hand, numbers: Sequence[int], agents: Sequence[Agent]) -> None:
        self._check(hand)
        self._abort_on_fault(hand, [0] * len(numbers))

    def _take(self, hand: Hand, numbers: Sequence[int], agents: Sequence[Agent]) -> None:
        self._check(hand)
        self._abort_on_fault(hand, numbers)
        if self._onlooker is not None:
            self._onlooker.scores(hand, agents)
        self._hands.append((hand, numbers))

    def _abort_on_fault(self, hand: Hand, numbers: Sequence[int]) -> None:
        if hand.faults and self._config.on_fault == "abort":
            fault = hand.faults[0]
            raise RunAborted(
                f"{self._config.names[numbers[fault.seat]]} committed a fault ({fault.kind}): {fault.message}"
            )

    def _agent(self, place: AgentPlace, rotation: int = 0) -> Agent:
        """Return the agent of a place, which is built on first use.

        An agent of this package plays all rotations, as it keeps nothing between hands.
        """
        number = place.number
        if self._conduct.processes != "one" and number in self._config.outsiders:
            place = place._replace(rotation=rotation)
        if place not in self._agents:
            spec = self._config.agents[number]
            isolated = self._conduct.is_isolated(spec)
            self._agents[place] = make_contestant(self._config, self._conduct, number) if isolated else make_agent(spec)
        return self._agents[place]

    def _speaker(self, place: AgentPlace) -> Agent | None:
        """Return the agent that reports strategies in place of an outside agent.

        For a believed agent the result is a `Speaker`, for any other outside agent an agent that reports nothing. The
        result is None for an agent of this package, which reports its strategy itself.
        """
        number = place.number
        if number not in self._config.outsiders:
            return None
        if number not in self._config.believed:
            return _SILENT
        if place not in self._speakers:
            self._speakers[place] = Speaker(make_contestant(self._config, self._conduct, number))
        return self._speakers[place]


def make_contestant(config: TournamentConfig, conduct: Conduct, number: int) -> IsolatedAgent:
    """Return the stand-in for an agent that runs in its own process; the process starts when it is first needed."""
    log = conduct.logs / f"agent-{number}.log" if conduct.logs else None
    limits = Limits(config.time_limit, config.memory_limit)
    rivals = [spec for spec in config.agents if spec != config.agents[number]]
    return isolate(config.agents[number], limits, log, conduct.sandbox, rivals)


def _trust(hand: Hand) -> None:
    """Accept a hand without a referee."""
