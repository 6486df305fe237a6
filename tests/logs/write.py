"""Writes the logs beside it with the tools themselves: `python write.py TOOL`, in an environment that has the tool.

Every run's metric is known: after step s, `loss` of arm a and seed r is 4 / (1 + s / a) + r / 100.
"""

import math
import sys
from pathlib import Path

HERE = Path(__file__).parent
ARMS, SEEDS, STEPS = {"slow": 100.0, "fast": 40.0}, (0, 1), range(0, 201, 50)


def loss(scale, seed, step):
    return 4 / (1 + step / scale) + seed / 100


def runs():
    for arm, scale in ARMS.items():
        for seed in SEEDS:
            yield arm, seed, [(step, loss(scale, seed, step)) for step in STEPS]


def lightning():
    from lightning.pytorch.loggers import CSVLogger

    for arm, seed, rows in runs():
        logger = CSVLogger(HERE / "lightning", name=arm, version=f"seed_{seed}")
        logger.log_hyperparams({"arm": arm, "seed": seed})
        for step, value in rows:
            logger.log_metrics({"train_loss": value + 0.5}, step)
            logger.log_metrics({"val_loss": value}, step)
        logger.save()


def trainer():
    from transformers import TrainerState

    for arm, seed, rows in runs():
        state = TrainerState(max_steps=200)
        for step, value in rows:
            state.log_history.append({"loss": value + 0.5, "learning_rate": 1e-3, "epoch": step / 100, "step": step})
            state.log_history.append({"eval_loss": value, "eval_runtime": 0.1, "epoch": step / 100, "step": step})
            if step in (100, 200):
                folder = HERE / "trainer" / f"{arm}_{seed}" / f"checkpoint-{step}"
                folder.mkdir(parents=True, exist_ok=True)
                state.save_to_json(str(folder / "trainer_state.json"))


def tensorboard():
    from torch.utils.tensorboard import SummaryWriter

    for arm, seed, rows in runs():
        writer = SummaryWriter(HERE / "tensorboard" / arm / f"seed_{seed}")
        for step, value in rows:
            writer.add_scalar("val/loss", value, step)
        writer.close()


def keras():
    import os

    os.environ["KERAS_BACKEND"] = "torch"
    from keras.callbacks import CSVLogger

    for arm, seed, rows in runs():
        folder = HERE / "keras"
        folder.mkdir(exist_ok=True)
        logger = CSVLogger(str(folder / f"{arm}-{seed}.csv"))
        logger.set_model(type("Model", (), {"stop_training": False, "optimizer": None})())
        logger.on_train_begin()
        for epoch, (_, value) in enumerate(rows):
            logger.on_epoch_end(epoch, {"loss": value + 0.5, "val_loss": value})
        logger.on_train_end()


def mlflow():
    import mlflow as ml

    ml.set_tracking_uri((HERE / "mlruns").as_uri())
    ml.set_experiment("losses")
    for arm, seed, rows in runs():
        with ml.start_run(run_name=f"{arm}-{seed}"):
            ml.log_params({"arm": arm, "seed": seed})
            for step, value in rows:
                ml.log_metric("val_loss", value, step=step)


def trackio():
    import os

    os.environ["TRACKIO_DIR"] = str(HERE / "trackio")
    import trackio as tracker

    for arm, seed, rows in runs():
        tracker.init(project="losses", name=f"{arm}-{seed}", config={"arm": arm, "seed": seed}, embed=False)
        for step, value in rows:
            tracker.log({"val_loss": value}, step=step)
        tracker.finish()


def wandb():
    import os

    os.environ |= {"WANDB_MODE": "offline", "WANDB_DIR": str(HERE / "wandb-offline"), "WANDB_SILENT": "true"}
    import wandb as w

    (HERE / "wandb-offline").mkdir(exist_ok=True)
    for arm, seed, rows in runs():
        run = w.init(project="losses", name=f"{arm}-{seed}", config={"arm": arm, "seed": seed})
        for step, value in rows:
            run.log({"val_loss": value}, step=step)
        run.finish()


def plain():
    """Formats of no tool: long CSV, JSON lines, text as speedruns write it; one run diverges, others were resumed."""
    import json

    lines = ["arm,seed,step,metric,value"]
    for arm, seed, rows in runs():
        lines += [f"{arm},{seed},{step},val_loss,{value}" for step, value in rows]
        with (HERE / "plain" / f"{arm}-{seed}.jsonl").open("w") as file:
            for step, value in rows:
                gone = arm == "slow" and seed == 1 and step > 100
                row = {"step": step, "val": {"loss": math.nan if gone else value}, "config": {"arm": arm, "seed": seed}}
                file.write(json.dumps(row) + "\n")
        with (HERE / "plain" / f"{arm}-{seed}.log").open("w") as file:
            file.write("import torch\n")
            for step, value in rows[:3] + rows[2:]:
                file.write(f"step:{step}/200 val_loss:{value:.4f} train_time:{step * 30}ms step_avg:30.00ms\n")
    (HERE / "plain" / "long.csv").write_text("\n".join(lines) + "\n")
    head = ["Step"] + [f"{arm}-{seed} - val_loss{bound}" for arm, seed, _ in runs() for bound in ("", "__MIN", "__MAX")]
    table = [",".join(f'"{name}"' for name in head)]
    for i, step in enumerate(STEPS):
        cells = [str(step)]
        for k, (_, _, rows) in enumerate(runs()):
            value = "" if (i + k) % 2 and i not in (0, 4) else str(rows[i][1])  # not evaluated: as the export has it
            cells += [value] * 3
        table.append(",".join(f'"{cell}"' for cell in cells))
    (HERE / "plain" / "exported.csv").write_text("\n".join(table) + "\n")


if __name__ == "__main__":
    (HERE / "plain").mkdir(exist_ok=True)
    globals()[sys.argv[1]]()
