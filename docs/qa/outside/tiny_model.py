"""A tiny model with random weights in GGUF: it says nothing sensible, but a real server serves it."""
import sys
import numpy as np
import gguf

WIDTH, HEADS, LAYERS, INNER, CONTEXT = 64, 4, 1, 128, 512
tokens = [b"<unk>", b"<s>", b"</s>"] + [f"<0x{byte:02X}>".encode() for byte in range(256)]
kinds = [gguf.TokenType.UNKNOWN, gguf.TokenType.CONTROL, gguf.TokenType.CONTROL] + [gguf.TokenType.BYTE] * 256
words = ["▁", "▁the", "▁a", "▁file", "▁code", "▁is", "e", "t", "a", "o", "é", "你", "好", "😀"]
tokens += [word.encode() for word in words]
kinds += [gguf.TokenType.NORMAL] * len(words)

writer = gguf.GGUFWriter(sys.argv[1], "llama")
writer.add_name("tiny")
writer.add_context_length(CONTEXT)
writer.add_embedding_length(WIDTH)
writer.add_block_count(LAYERS)
writer.add_feed_forward_length(INNER)
writer.add_head_count(HEADS)
writer.add_head_count_kv(HEADS)
writer.add_layer_norm_rms_eps(1e-5)
writer.add_rope_dimension_count(WIDTH // HEADS)
writer.add_vocab_size(len(tokens))
writer.add_tokenizer_model("llama")
writer.add_token_list(tokens)
writer.add_token_scores([0.0] * len(tokens))
writer.add_token_types(kinds)
writer.add_bos_token_id(1)
writer.add_eos_token_id(2)
random = np.random.default_rng(7)


def weights(name, *shape):
    writer.add_tensor(name, (random.standard_normal(shape) * 0.2).astype(np.float32))


weights("token_embd.weight", len(tokens), WIDTH)
weights("output.weight", len(tokens), WIDTH)
writer.add_tensor("output_norm.weight", np.ones(WIDTH, dtype=np.float32))
for layer in range(LAYERS):
    for name in ["attn_q", "attn_k", "attn_v", "attn_output"]:
        weights(f"blk.{layer}.{name}.weight", WIDTH, WIDTH)
    weights(f"blk.{layer}.ffn_gate.weight", INNER, WIDTH)
    weights(f"blk.{layer}.ffn_up.weight", INNER, WIDTH)
    weights(f"blk.{layer}.ffn_down.weight", WIDTH, INNER)
    for name in ["attn_norm", "ffn_norm"]:
        writer.add_tensor(f"blk.{layer}.{name}.weight", np.ones(WIDTH, dtype=np.float32))
writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()
