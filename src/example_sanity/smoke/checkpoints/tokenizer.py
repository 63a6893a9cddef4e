"""A byte-level BPE tokenizer trained on the spot, with a chat template."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from example_sanity.smoke.checkpoints.configs import POSITIONS, VISION_TOKENS

END_OF_TEXT, TURN, END_OF_TURN = "<|endoftext|>", "<|im_start|>", "<|im_end|>"
SPECIAL = (END_OF_TEXT, TURN, END_OF_TURN, *VISION_TOKENS)
SIZE = 512
# Turn by turn it gives what it gives for the whole, which trainers of several turns insist on. Processors of models that see
# images pass the content as a list of parts.
TEMPLATE = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\\n' }}"
    "{% if message['content'] is string %}{{ message['content'] }}"
    "{% else %}{% for part in message['content'] %}{{ part['text'] }}{% endfor %}{% endif %}"
    "{{ '<|im_end|>' + '\\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)


def write(folder: Path, texts: Sequence[str]) -> None:
    """Train on ``texts`` and write ``tokenizer.json`` and its configuration. Needs the package tokenizers."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=SIZE,
        special_tokens=list(SPECIAL),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps(_configuration(), indent=2), "utf-8")
    (folder / "chat_template.jinja").write_text(TEMPLATE, "utf-8")


def _configuration() -> dict[str, object]:
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "eos_token": END_OF_TURN,
        "pad_token": END_OF_TEXT,
        "model_max_length": POSITIONS,
        "clean_up_tokenization_spaces": False,
        "chat_template": TEMPLATE,
    }
