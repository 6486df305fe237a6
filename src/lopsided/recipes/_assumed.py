"""Settings that the papers do not give, and several recipes need."""

from __future__ import annotations

from lopsided.claims.assumption import Assumption

PARITY_LOSS = Assumption("loss", "paper C names none for parity; its step counts fit logistic and square", "logistic")
DECAY = Assumption("optimizer.weight_decay", "paper C says AdamW and gives no decay; 0 here")
HEADS = Assumption("model.heads", "paper A gives the encoder's layers and width, not its heads")
QUESTIONS_DECAY = Assumption("optimizer.weight_decay", "paper A gives none for questions; 0.01, as for its arithmetic")

PERCEPTRONS = (PARITY_LOSS,)
TRANSFORMERS = (PARITY_LOSS, DECAY)
