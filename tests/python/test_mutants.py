"""Small faults in the traced programs of the published models: validation must notice those that matter."""

from pathlib import Path
from typing import Any

import pytest
from oracle import mutant_trial, mutate
from oracle.alir_text import read

MUTANTS = 10
SEED = 20


@pytest.fixture(scope="module")
def trials() -> dict[str, mutant_trial.Trial]:
    return {}


@pytest.mark.parametrize("model", sorted(mutant_trial.EXAMPLES))
def test_mutants_are_rejected(solar: Any, tmp_path: Path, trials: dict[str, mutant_trial.Trial], model: str) -> None:
    trial = mutant_trial.run(solar, mutant_trial.EXAMPLES[model], tmp_path, MUTANTS, SEED)
    trials[model] = trial
    print(f"seed {SEED}", mutant_trial.describe(trial), sep="\n")
    assert len(trial.verdicts) == MUTANTS
    assert trial.changed >= MUTANTS // 2, "too few mutants change the function to tell anything"
    assert trial.refused_though_equal == []
    # One of twenty may pass, so of each model's ten at most one; all together are counted below.
    assert len(trial.missed) <= 1


def test_nearly_all_mutants_are_rejected(trials: dict[str, mutant_trial.Trial]) -> None:
    """At least 95 % of the mutants that change the function, over the models tried in this run."""
    changed = sum(trial.changed for trial in trials.values())
    caught = sum(trial.caught for trial in trials.values())
    assert caught >= 0.95 * changed


ATTENTION = """
fn scores<B, S, D, type T>(q: T[B, S, D], k: T[B, S, D]) -> (s) {
  kernel s: T[B, S, S] { for b:B, i:S, j:S, d:D where j <= i   s[b,i,j] += q[b,i,d] * k[b,j,d] }
}
program attention(input q: f32[B, D, S], input k: f32[B, S, D]) -> (e) {
  dims B = 2, S = 4, D = 3
  view t = q { b, d, s -> b, s, d }
  let s = scores(t, k)
  kernel e: f32[B, S, S] { for b:B, i:S, j:S where j <= i   e[b,i,j] = exp(0.5 * s[b,i,j])   else 0 }
}
"""


def test_mutation_is_seeded_and_knows_every_kind() -> None:
    first, again = (mutate.mutants(ATTENTION, [], 30, 4, lambda text: True) for _ in range(2))
    assert [m.text for m in first] == [m.text for m in again]
    assert {m.kind for m in first} == set(mutate.KINDS)
    assert len({m.text for m in first}) == 30
    for mutant in first:
        changed = read(mutant.text)
        assert changed.program is not None
        # A fault inside the function stands in a copy; the function itself is as it was.
        assert ("scores_changed" in changed.functions) == mutant.note.endswith("in scores")
        assert changed.text[slice(*changed.functions["scores"].at)] in ATTENTION
