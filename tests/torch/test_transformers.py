# SPDX-License-Identifier: Apache-2.0
"""Models of Hugging Face transformers, tiny, with seeded weights: the CPU's tokens."""
import pytest
import torch
import transformers

SMALL = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2,
         "num_attention_heads": 4, "vocab_size": 101, "max_position_embeddings": 64}
WRITERS = {
    "gpt2": lambda: transformers.GPT2LMHeadModel(transformers.GPT2Config(
        n_embd=32, n_layer=2, n_head=4, n_positions=64, vocab_size=101, bos_token_id=1,
        eos_token_id=2)),
    "llama": lambda: transformers.LlamaForCausalLM(transformers.LlamaConfig(
        **SMALL, num_key_value_heads=2)),
    "qwen2": lambda: transformers.Qwen2ForCausalLM(transformers.Qwen2Config(
        **SMALL, num_key_value_heads=2)),
    "mistral": lambda: transformers.MistralForCausalLM(transformers.MistralConfig(
        **SMALL, num_key_value_heads=2)),
}


def made(factory):
    torch.manual_seed(0)
    return factory().eval()


def tokens_of(model, device, **arguments):
    model = model.to(device)
    arguments = {key: value.to(device) if isinstance(value, torch.Tensor) else value
                 for key, value in arguments.items()}
    with torch.no_grad():
        return model.generate(max_new_tokens=12, pad_token_id=0, **arguments).cpu()


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("way", [{"do_sample": False}, {"num_beams": 3, "do_sample": False}],
                         ids=["greedy", "beams"])
def test_a_decoder_writes_the_same_tokens(name, way):
    prompt = torch.randint(3, 101, (2, 7), generator=torch.Generator().manual_seed(1))
    arguments = {"input_ids": prompt, "attention_mask": torch.ones_like(prompt), **way}
    expected = tokens_of(made(WRITERS[name]), "cpu", **arguments)
    assert torch.equal(tokens_of(made(WRITERS[name]), "npu", **arguments), expected)


def t5():
    return transformers.T5ForConditionalGeneration(transformers.T5Config(
        d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, vocab_size=101,
        decoder_start_token_id=0))


def whisper():
    return transformers.WhisperForConditionalGeneration(transformers.WhisperConfig(
        vocab_size=101, num_mel_bins=16, d_model=32, encoder_layers=2, decoder_layers=2,
        encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=64,
        decoder_ffn_dim=64, max_source_positions=20, max_target_positions=32, pad_token_id=0,
        bos_token_id=1, eos_token_id=2, decoder_start_token_id=1, suppress_tokens=None,
        begin_suppress_tokens=None))


@pytest.mark.parametrize("factory,inputs", [
    (t5, lambda g: {"input_ids": torch.randint(3, 101, (2, 9), generator=g)}),
    (whisper, lambda g: {"input_features": torch.randn(2, 16, 40, generator=g)}),
], ids=["t5", "whisper"])
def test_an_encoder_and_decoder_write_the_same_tokens(factory, inputs):
    arguments = {**inputs(torch.Generator().manual_seed(1)), "do_sample": False}
    expected = tokens_of(made(factory), "cpu", **arguments)
    assert torch.equal(tokens_of(made(factory), "npu", **arguments), expected)


def bert():
    return transformers.BertForMaskedLM(transformers.BertConfig(**SMALL))


def vit():
    return transformers.ViTForImageClassification(transformers.ViTConfig(
        hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
        image_size=32, patch_size=8, num_labels=7))


@pytest.mark.parametrize("factory,inputs", [
    (bert, lambda g: {"input_ids": torch.randint(3, 101, (2, 9), generator=g),
                      "attention_mask": torch.tensor([[1] * 9, [1] * 6 + [0] * 3])}),
    (vit, lambda g: {"pixel_values": torch.randn(2, 3, 32, 32, generator=g)}),
], ids=["bert", "vit"])
def test_an_encoder_gives_the_same_scores(factory, inputs):
    arguments = inputs(torch.Generator().manual_seed(1))
    with torch.no_grad():
        expected = made(factory)(**arguments).logits
        actual = made(factory).npu()(**{k: v.npu() for k, v in arguments.items()}).logits.cpu()
    torch.testing.assert_close(actual, expected, rtol=1e-4, atol=1e-5)
