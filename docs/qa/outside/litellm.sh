#!/usr/bin/env bash
# Our four adapters as clients of a LiteLLM proxy, which is a client of testkit's model server: every wire format is
# read and written once by a program that others wrote. Prints one line for each request. Not part of CI: LiteLLM is
# large. Run it at the root of the repository, after `cargo build -p vibe-coder` and
# `cargo build -p testkit --example model_server`.
set -euo pipefail

here=docs/qa/outside
work=target/outside/litellm
port=4123
mkdir -p "$work/workspace"
[ -x target/outside/venv/bin/litellm ] || {
  python3 -m venv target/outside/venv
  target/outside/venv/bin/pip install --quiet 'litellm[proxy]'
}

# The model server ends with its standard input.
exec 3> >(target/debug/examples/model_server "$here/scenario.yaml" > "$work/addresses.json")
until [ -s "$work/addresses.json" ]; do sleep 0.1; done
address() { python3 -c "import json; print(json.load(open('$work/addresses.json'))['$1'])"; }
cat > "$work/config.yaml" <<YAML
model_list:
  - model_name: through-openai
    litellm_params: {model: openai/gpt-behind, api_key: none, api_base: "$(address openai)"}
  - model_name: through-anthropic
    litellm_params: {model: anthropic/claude-behind, api_key: none, api_base: "$(address anthropic)"}
litellm_settings: {num_retries: 0, drop_params: true}
YAML
export LITELLM_MASTER_KEY=sk-outside-123456
PATH="$PWD/target/outside/venv/bin:$PATH" litellm --config "$work/config.yaml" --host 127.0.0.1 --port $port \
  > "$work/server.log" 2>&1 &
litellm=$!
trap 'kill $litellm; exec 3>&-' EXIT
until curl --silent --output /dev/null "http://127.0.0.1:$port/health/liveliness"; do sleep 0.5; done

vibe=$PWD/target/debug/vibe-coder
export VIBE_CODER_HOME="$PWD/$work/home" VIBE_CODER_KEYRING=off OUTSIDE_KEY=$LITELLM_MASTER_KEY
echo '# Sample' > "$work/workspace/README.md"
cd "$work/workspace"
entry() { # id, wire format, path
  "$vibe" settings set "providers.$1" "{\"family\":\"$2\",\"baseUrl\":\"http://127.0.0.1:$port$3\",
    \"model\":\"through-openai\",\"apiKeyEnv\":\"OUTSIDE_KEY\",\"maxRetries\":0}" > /dev/null
}
entry chat openai-chat /v1
entry responses openai-responses /v1
entry messages anthropic ''
entry gemini gemini /v1beta
for model in through-openai through-anthropic; do
  for provider in chat responses messages gemini; do
    for text in 'Hello.' 'Read the README.' 'be busy' 'too long'; do
      result=$("$vibe" exec --json --provider "$provider" --model "$model" "$text" 2> /dev/null | tail -n 1 || true)
      printf '%s | %s | %s | %s\n' "$model" "$provider" "$text" "$(python3 -c '
import json, sys
result = json.loads(sys.argv[1])
print(result["state"], (result.get("error") or {}).get("code", ""), result["usage"]["input"], result["usage"]["output"])
' "$result")"
    done
  done
done
