"""The view and the batch sampler under the frameworks themselves: every global batch is the stream's, also resumed
and on another number of ranks. Needs the extra `data-test`; canaries say which bugs upstream are still there."""

import os
import socket
import warnings

import numpy as np
import pytest

import lopsided.data as ld
from lopsided.core.errors import InputError

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.slow]
N, SKILLS, TOTAL, BATCH = 5000, 50, 9600, 96


class Data:
    """Example i is the number i."""

    def __len__(self):
        return N

    def __getitem__(self, i):
        return i


def stream(total=TOTAL, seed=7):
    return ld.Stream(ld.Groups(np.arange(N) % SKILLS), ld.Anneal(1.5, 0), total, seed)


def view(total=TOTAL):
    return ld.View(Data(), stream(total), BATCH)


EXPECTED = stream().at(np.arange(TOTAL))


def read(loader):
    return np.concatenate([np.asarray(batch) for batch in loader])


def same_batches(ranks, offset=0):
    """Every step's batches of all ranks together are the stream's global batch."""
    per_step = [r.reshape(-1, BATCH // len(ranks)) for r in ranks]
    steps = min(len(r) for r in per_step)
    for s in range(steps):
        together = sorted(np.concatenate([r[s] for r in per_step]))
        begin = offset + s * BATCH
        assert together == sorted(EXPECTED[begin : begin + BATCH]), s
    return steps


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_data_loader(workers):
    from torch.utils.data import DataLoader

    assert (read(DataLoader(view(), batch_size=BATCH, num_workers=workers)) == EXPECTED).all()
    sampler = ld.BatchSampler(stream(), BATCH)
    assert (read(DataLoader(Data(), batch_sampler=sampler, num_workers=workers)) == EXPECTED).all()


@pytest.mark.parametrize("workers", [0, 2])
def test_a_second_pass_is_refused_unless_it_is_meant(workers):
    """An epoch loop began the run anew, annealing and all, without a word."""
    from torch.utils.data import DataLoader

    loader = DataLoader(view(), batch_size=BATCH, num_workers=workers)
    next(iter(loader))  # a look at the first batch is no pass
    read(loader)
    with pytest.raises(InputError, match="pass 2 begins, and a run is one pass"):
        read(loader)


def test_several_passes_are_the_same_run():
    from torch.utils.data import DataLoader

    loader = DataLoader(ld.View(Data(), stream(), BATCH, epochs=2), batch_size=BATCH)
    assert (read(loader) == read(loader)).all()
    with pytest.raises(InputError, match="pass 3 begins"):
        read(loader)


@pytest.mark.parametrize("how", ["shuffle", "random sampler", "weighted"])
def test_a_loader_that_shuffles_is_named(how):
    from torch.utils.data import DataLoader, RandomSampler, WeightedRandomSampler

    options = {
        "shuffle": {"shuffle": True},
        "random sampler": {"sampler": RandomSampler(range(TOTAL))},
        "weighted": {"sampler": WeightedRandomSampler(torch.ones(TOTAL), TOTAL)},
    }[how]
    with pytest.raises(InputError, match=r"read out of order.*shuffle=False"):
        read(DataLoader(view(), batch_size=BATCH, **options))


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("kind", ["view", "batch sampler"])
def test_stateful_data_loader(kind, workers):
    loading = pytest.importorskip("torchdata.stateful_dataloader")

    def make():
        if kind == "view":
            return loading.StatefulDataLoader(view(), batch_size=BATCH, num_workers=workers)
        return loading.StatefulDataLoader(Data(), batch_sampler=ld.BatchSampler(stream(), BATCH), num_workers=workers)

    first = make()
    batches = iter(first)
    head = [np.asarray(next(batches)) for _ in range(37)]
    state = first.state_dict()
    second = make()
    second.load_state_dict(state)
    assert (np.concatenate([*head, read(second)]) == EXPECTED).all()


def test_the_state_goes_to_another_number_of_ranks():
    two = [ld.BatchSampler(stream(), BATCH, rank, 2) for rank in range(2)]
    readers = [iter(sampler) for sampler in two]
    found = [np.concatenate([next(r) for r in readers]) for _ in range(30)]
    four = [ld.BatchSampler(stream(), BATCH, rank, 4) for rank in range(4)]
    for sampler in four:
        sampler.load_state_dict(two[0].state_dict())
    found += [np.concatenate(parts) for parts in zip(*four, strict=True)]
    assert (np.concatenate(found) == EXPECTED).all()
    with pytest.raises(InputError, match="another stream"):
        ld.BatchSampler(stream(seed=8), BATCH).load_state_dict(two[0].state_dict())


def test_with_workers_the_loop_counts_what_was_trained():
    """A loader with workers asks a sampler for batches ahead: its own state would leave them out."""
    from torch.utils.data import DataLoader

    sampler = ld.BatchSampler(stream(), BATCH)
    batches = iter(DataLoader(Data(), batch_sampler=sampler, num_workers=2))
    head = [np.asarray(next(batches)) for _ in range(37)]
    assert sampler.state_dict()["position"] > 37 * BATCH
    other = ld.BatchSampler(stream(), BATCH)
    other.load_state_dict(stream().state(37 * BATCH))
    assert (np.concatenate([*head, read(DataLoader(Data(), batch_sampler=other, num_workers=2))]) == EXPECTED).all()


def _in_processes(work, world, *arguments):
    """What `work(rank, world, *arguments)` gives on each rank, in gloo processes."""
    import torch.multiprocessing as mp

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    context = mp.get_context("spawn")
    queue = context.Queue()
    ranks = [context.Process(target=_one, args=(work, r, world, port, queue, arguments)) for r in range(world)]
    for process in ranks:
        process.start()
    try:
        found = dict(queue.get(timeout=120) for _ in ranks)
    finally:
        for process in ranks:
            process.join(30)
            process.kill()
    failed = [f for f in found.values() if isinstance(f, str)]
    assert not failed, failed[0]
    return [found[rank] for rank in range(world)]


def _one(work, rank, world, port, queue, arguments):
    warnings.simplefilter("ignore")
    os.environ |= {
        "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "RANK": str(rank), "WORLD_SIZE": str(world),
        "LOCAL_RANK": str(rank), "LOCAL_WORLD_SIZE": str(world), "ACCELERATE_USE_CPU": "true", "OMP_NUM_THREADS": "1",
    }  # fmt: skip
    try:
        queue.put((rank, work(rank, world, *arguments)))
    except Exception as error:
        import traceback

        queue.put((rank, f"{error}\n{traceback.format_exc()}"))


def _ddp(rank, world):
    import torch.distributed as dist
    from torch.utils.data import DataLoader, DistributedSampler, WeightedRandomSampler

    dist.init_process_group("gloo", rank=rank, world_size=world)
    v = view()
    found = {
        "view": read(DataLoader(v, batch_size=BATCH // world, sampler=DistributedSampler(v, shuffle=False))),
        "sampler": read(DataLoader(Data(), batch_sampler=ld.BatchSampler(stream(), BATCH, rank, world))),
    }
    # What people do today: each rank draws with weights of its own.
    torch.manual_seed(rank)
    drawn = list(WeightedRandomSampler(torch.ones(N), N, replacement=False))
    found["weighted"] = np.array(drawn[rank::world])
    dist.barrier()
    dist.destroy_process_group()
    return found


def test_ddp_on_two_processes():
    ranks = _in_processes(_ddp, 2)
    for kind in ("view", "sampler"):
        assert same_batches([r[kind] for r in ranks]) == TOTAL // BATCH
    common = set(ranks[0]["weighted"]) & set(ranks[1]["weighted"])
    assert len(common) > 1000  # canary: WeightedRandomSampler under DDP doubles examples (pytorch #77154)


def _accelerate(rank, world):
    from accelerate import Accelerator, skip_first_batches
    from accelerate.utils import DataLoaderConfiguration
    from torch.utils.data import DataLoader

    found = {}
    for split in (False, True):
        accelerator = Accelerator(cpu=True, dataloader_config=DataLoaderConfiguration(split_batches=split))
        size = BATCH if split else BATCH // world
        found[f"whole {split}"] = read(accelerator.prepare(DataLoader(view(), batch_size=size)))
        resumed = accelerator.prepare(DataLoader(view(), batch_size=size))
        found[f"resumed {split}"] = read(skip_first_batches(resumed, 40))
    sharded = DataLoader(Data(), batch_sampler=ld.BatchSampler(stream(), BATCH, rank, world))
    found["twice"] = read(accelerator.prepare(sharded))
    import torch.distributed as dist

    dist.barrier()
    dist.destroy_process_group()
    return found


def test_accelerate_on_two_processes():
    pytest.importorskip("accelerate")
    ranks = _in_processes(_accelerate, 2)
    for split in (False, True):
        assert same_batches([r[f"whole {split}"] for r in ranks]) == TOTAL // BATCH
        assert same_batches([r[f"resumed {split}"] for r in ranks], 40 * BATCH) == TOTAL // BATCH - 40
    seen = np.concatenate([r["twice"] for r in ranks])
    assert len(seen) < TOTAL  # canary: Accelerate shards a sampler that is sharded already (#4075)


def _trainer(rank, world, folder, stop, resume, steps=60, batch=32):
    """(examples seen in order, final weights) of a tiny model under transformers.Trainer."""
    import transformers
    from transformers import Trainer, TrainerCallback, TrainingArguments

    transformers.logging.set_verbosity_error()
    inputs = torch.randn(N, 8, generator=torch.Generator().manual_seed(0))
    labels = (inputs[:, :2].prod(1) > 0).long()

    class Rows(Data):
        def __getitem__(self, i):
            return {"x": inputs[i], "labels": labels[i], "i": torch.tensor(i)}

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            torch.manual_seed(1)
            self.layers = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))
            self.seen = []

        def forward(self, x, i, labels=None):
            self.seen += i.tolist()
            logits = self.layers(x)
            return {"loss": torch.nn.functional.cross_entropy(logits, labels), "logits": logits}

    class Stop(TrainerCallback):
        def on_step_end(self, args, state, control, **_):
            if state.global_step == stop:
                control.should_save = control.should_training_stop = True
            return control

    total = steps * batch
    shaped = ld.View(Rows(), stream(total), batch)
    arguments = TrainingArguments(
        folder, per_device_train_batch_size=batch // world // 2, gradient_accumulation_steps=2, num_train_epochs=1,
        save_strategy="no", report_to=[], disable_tqdm=True, use_cpu=True, train_sampling_strategy="sequential",
        dataloader_drop_last=True, logging_strategy="no", remove_unused_columns=False, lr_scheduler_type="linear",
    )  # fmt: skip
    net = Net()
    Trainer(net, arguments, train_dataset=shaped, callbacks=[Stop()]).train(resume_from_checkpoint=resume)
    weights = [p.detach().numpy().copy() for p in net.parameters()]
    if world > 1:
        import torch.distributed as dist

        dist.barrier()
        dist.destroy_process_group()
    return net.seen, weights


@pytest.mark.parametrize("world", [1, 2])
def test_trainer_killed_and_resumed_ends_with_the_same_weights(world, tmp_path):
    pytest.importorskip("transformers")
    runs = [(0, None), (37, None), (0, str(tmp_path / "out/checkpoint-37"))]
    whole, _, resumed = (_in_processes(_trainer, world, str(tmp_path / "out"), *run) for run in runs)
    expected = stream(60 * 32).at(np.arange(60 * 32))
    for s in range(60):
        per = 32 // world
        together = sorted(i for seen, _ in whole for i in seen[s * per : (s + 1) * per])
        assert together == sorted(expected[s * 32 : (s + 1) * 32].tolist())
    for (_, one), (_, other) in zip(whole, resumed, strict=True):
        assert all((a == b).all() for a, b in zip(one, other, strict=True))
    assert len(resumed[0][0]) == 23 * 32 // world


def _lightning(folder, loader, **fit):
    """The examples that a run sees; it saves a checkpoint after every 20th step."""
    import lightning
    from lightning.pytorch.callbacks import ModelCheckpoint

    seen, steps = [], fit.pop("max_steps", -1)

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.w = torch.nn.Parameter(torch.zeros(1))

        def training_step(self, batch, _):
            seen.extend(batch.tolist())
            return (self.w * batch.float().mean()).sum()

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=1e-9)

    saving = ModelCheckpoint(folder, "{step}", every_n_train_steps=20, save_top_k=-1)
    lightning.Trainer(
        max_epochs=1, max_steps=steps, accelerator="cpu", logger=False, enable_progress_bar=False, callbacks=[saving],
        enable_model_summary=False, use_distributed_sampler=False, default_root_dir=str(folder),
    ).fit(Module(), loader, **fit)  # fmt: skip
    return np.array(seen)


@pytest.mark.parametrize("workers", [0, 2])
def test_lightning_with_a_batch_sampler_stopped_and_resumed(tmp_path, workers):
    pytest.importorskip("lightning")
    loading = pytest.importorskip("torchdata.stateful_dataloader")

    def loader():
        sampler = ld.BatchSampler(stream(), BATCH)
        return loading.StatefulDataLoader(Data(), batch_sampler=sampler, num_workers=workers)

    assert (_lightning(tmp_path / "whole", loader()) == EXPECTED).all()
    head = _lightning(tmp_path / "part", loader(), max_steps=40)
    rest = _lightning(tmp_path / "rest", loader(), ckpt_path=str(tmp_path / "part" / "step=40.ckpt"))
    assert (np.concatenate([head, rest]) == EXPECTED).all()


def test_grain(tmp_path):
    grain = pytest.importorskip("grain")

    def make():
        return grain.MapDataset.select_from_datasets([grain.MapDataset.range(N)], ld.GrainSelection(stream()))

    assert [make()[i] for i in range(300)] == EXPECTED[:300].tolist()
    batches = iter(make().batch(BATCH).to_iter_dataset())
    for _ in range(37):
        next(batches)
    other = iter(make().batch(BATCH).to_iter_dataset())
    other.set_state(batches.get_state())
    assert (np.concatenate([np.asarray(b) for b in other]) == EXPECTED[37 * BATCH :]).all()


def test_grain_reads_several_data_sets():
    grain = pytest.importorskip("grain")
    labels = np.repeat(np.arange(3), (10, 20, 30))
    mixed = ld.Stream(ld.Groups(labels), ld.Uniform(), 90)
    sources = [grain.MapDataset.range(n).map(lambda i, k=k: (k, i)) for k, n in enumerate((10, 20, 30))]
    found = list(grain.MapDataset.select_from_datasets(sources, ld.GrainSelection(mixed, (10, 20, 30))))
    index = mixed.at(range(90))
    assert found == [(int(labels[i]), int(i - (0, 10, 30)[labels[i]])) for i in index]
    with pytest.raises(InputError, match="60 examples"):
        ld.GrainSelection(mixed, (10, 20))


def _grpo(folder, resume=None):
    """The prompts of each step of a run of TRL's GRPOTrainer, four answers each, saved after every second step."""
    from datasets import Dataset
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM
    from trl import GRPOConfig, GRPOTrainer

    torch.manual_seed(0)
    words = {word: i for i, word in enumerate(["<pad>", "<eos>", *"0123456789"])}
    by_word = Tokenizer(models.WordLevel(words))
    by_word.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=by_word, pad_token="<pad>", eos_token="<eos>")
    small = {"hidden_size": 8, "intermediate_size": 8, "num_attention_heads": 1, "num_key_value_heads": 1}
    prompts = Dataset.from_dict({"prompt": [f"{i % 10} {i // 10}" for i in range(60)], "number": list(range(60))})
    harder = ld.Blend(ld.Weights([1, 4]), ld.Weights([4, 1]))
    order, seen = ld.Stream(ld.Groups(np.arange(60) % 2), harder, 12), []

    def reward(completions, number, **_):
        seen.append(number)
        return [float(len(set(text))) for text in completions]

    shared = {"max_steps": 6, "per_device_train_batch_size": 8, "num_generations": 4, "max_completion_length": 2}
    args = GRPOConfig(
        folder, shuffle_dataset=False, use_cpu=True, bf16=False, save_steps=2, report_to=[], disable_tqdm=True, **shared
    )
    model = Qwen2ForCausalLM(Qwen2Config(vocab_size=len(words), num_hidden_layers=1, **small))
    data = ld.select(prompts, order)
    trainer = GRPOTrainer(model, reward, args=args, train_dataset=data, processing_class=tokenizer)
    trainer.train(resume_from_checkpoint=resume)
    return seen, order.at(range(12)).tolist()


def test_trl_answers_each_prompt_of_the_order_and_goes_on_from_a_checkpoint(tmp_path):
    pytest.importorskip("trl")
    seen, order = _grpo(str(tmp_path))
    assert seen == [[i for i in order[2 * s : 2 * s + 2] for _ in range(4)] for s in range(6)]
    again, _ = _grpo(str(tmp_path), resume=str(tmp_path / "checkpoint-4"))
    assert again == seen[4:]


def test_grain_goes_on_with_four_ranks_where_two_were():
    pytest.importorskip("grain")
    import grain
    from grain.experimental import ElasticIterator
    from grain.sharding import ShardOptions

    def make(rank, world):
        data = grain.MapDataset.select_from_datasets([grain.MapDataset.range(N)], ld.GrainSelection(stream()))
        return ElasticIterator(data, global_batch_size=BATCH, shard_options=ShardOptions(rank, world))

    two = [make(rank, 2) for rank in range(2)]
    found = [np.concatenate([np.asarray(next(i)) for i in two]) for _ in range(40)]
    four = [make(rank, 4) for rank in range(4)]
    for i in four:
        i.set_state(two[0].get_state())
    found += [np.concatenate([np.asarray(next(i)) for i in four]) for _ in range(40, 100)]
    for s, batch in enumerate(found):
        assert sorted(batch) == sorted(EXPECTED[s * BATCH : (s + 1) * BATCH])


def test_hugging_face_datasets():
    datasets = pytest.importorskip("datasets")

    table = datasets.Dataset.from_dict({"i": list(range(N))})
    assert ld.select(table, stream(), 100, 400)["i"] == EXPECTED[100:400].tolist()
    shaped = ld.View(table, stream(), BATCH)
    assert [row["i"] for row in shaped.__getitems__(list(range(64)))] == EXPECTED[:64].tolist()
    with pytest.raises(InputError, match="examples"):
        ld.View(datasets.Dataset.from_dict({"i": [1, 2]}), stream())


def test_sources_are_interleaved_and_resumed():
    datasets = pytest.importorskip("datasets")
    shape = ld.Weights({"web": 0.6, "code": 0.3, "books": 0.1})
    sizes = {"web": 500, "code": 200, "books": 50}
    rows = {name: [f"{name} {i}" for i in range(n)] for name, n in sizes.items()}
    mapped = ld.interleave({n: datasets.Dataset.from_dict({"text": r}) for n, r in rows.items()}, shape, 2000, seed=1)
    whole = [row["text"] for row in mapped]
    counts = {name: sum(text.startswith(name) for text in whole) for name in sizes}
    assert counts == {"web": 1200, "code": 600, "books": 200}
    assert [row["text"] for row in mapped.iterate(700)] == whole[700:]
    streams = {
        n: datasets.IterableDataset.from_generator(lambda r=r: ({"text": t} for t in r)) for n, r in rows.items()
    }
    streamed = ld.interleave(streams, shape, 2000, seed=1)
    read_through = [row["text"] for row in streamed]
    assert {name: sum(text.startswith(name) for text in read_through) for name in sizes} == counts
    assert [row["text"] for row in streamed.iterate(700)] == read_through[700:]
