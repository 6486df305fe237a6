"""Settings that the papers do not give, and several recipes need."""

from __future__ import annotations

from lopsided.claims.assumption import Assumption

PARITY_LOSS = Assumption("loss", "paper C names none for parity; its step counts fit logistic and square", "logistic")
GRID = Assumption(
    "optimizer.lr",
    "paper C says that rates are tuned, at most 1.2 times apart, and gives no grid; where the best rate is at an end, "
    "the sweep goes on",
)
DECAY = Assumption("optimizer.weight_decay", "paper C says AdamW and gives no decay; 0 here")
HEADS = Assumption("model.heads", "paper A gives the encoder's layers and width, not its heads")
START = Assumption("model.initialisation", "paper A names no initialisation; here PyTorch's")
MIXTURE = Assumption(
    "plan.name",
    "paper A's text lets the curriculum go from easier to harder examples, and its figure has a mixture of hops; here "
    "one mixture of 1 to 4 hops all the way",
    "curriculum",
)
QUESTIONS_DECAY = Assumption("optimizer.weight_decay", "paper A gives none for questions; 0.01, as for its arithmetic")
FACTS = Assumption(
    "task.facts",
    "paper A does not say which share of the documents are facts, nor by which law their relations come; here by that "
    "of the questions, so that facts about rare relations are rare",
)
ADDITION_SIZES = tuple(
    Assumption(f"task.{field}", "paper C names no size of modular addition") for field in ("n", "p", "base")
)
INDEX_SIZE = Assumption("task.d", "paper C speaks of 40 and 50 dimensions, and a file name of 40", 50)
DENSE_SET = Assumption("plan.size", "paper C does not say how small its small set of (10, 6)- and (10, 10)-parity is")
SMALL_OF_27 = Assumption("plan.size", "paper C gives no size of figure 27's small set", 768)
SOLUTION_ALONE = Assumption(
    "task.train_on", "paper A does not say whether a problem's own words are trained on; here its solution alone"
)
PROBLEMS = Assumption("task.name", "paper A takes the generator of GSM-Infinite; ours makes problems of the same kind")
HELD_OUT = Assumption(
    "task.held_out_sequences",
    "paper A tests random expressions and holds none out; here one of each operands' is, and the vocabulary is what "
    "expressions consist of",
)
LARGER_SETS = Assumption("plan.size", "paper C gives no sizes of sets for 80 dimensions", 256_000)

LENGTH = Assumption("steps", "paper C does not say how long its runs with AdamW are")
REGRESSION_SIZE = Assumption("task.d", "paper C names linear regression in a sentence, without a size")
THEORY_SIZES = Assumption("task.d", "a theorem holds at every d; which are run is ours")

PERCEPTRONS = (PARITY_LOSS, GRID)
TRANSFORMERS = (PARITY_LOSS, DECAY, GRID, LENGTH)
ENCODERS = (HEADS, START)
STUDENTS = tuple(
    Assumption(field, "paper B prints no sizes; they follow from its theorems")
    for field in ("task.d", "task.directions", "model.width", "steps")
)
