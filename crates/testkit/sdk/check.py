"""The vendors' own Python clients against our model server: what they accept is what the real services send.

usage: check.py PATH_OF_THE_SERVER_EXAMPLE
"""

import json
import subprocess
import sys
import tempfile

import anthropic
import openai
from google import genai
from google.genai import types

SCENARIO = """
steps:
  - when: { user: "say hello" }
    text: "Hello 你好 😀, how are you?"
    chunk: 1
    usage: { input: 9, output: 7, cache_read: 4 }
    repeat: always
  - when: { user: "look at both", tool_result: "second" }
    text: Both are fine.
    repeat: always
  - when: { user: "look at both" }
    thinking: Let me see.
    text: Looking.
    tools:
      - { name: read_file, arguments: { path: "é/first.txt" } }
      - { name: read_file, arguments: { path: second.txt } }
    chunk: 3
    repeat: always
  - when: { user: "be busy" }
    error: { kind: rate_limited }
    repeat: always
"""

PARAMETERS = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
HELLO = "Hello 你好 😀, how are you?"
PATHS = ["é/first.txt", "second.txt"]
RESULTS = ["first", "second"]


def same(what, got, expected):
    if got != expected:
        sys.exit(f"{what}: {got!r}, expected {expected!r}")


def check_anthropic(base_url):
    client = anthropic.Anthropic(api_key="k", base_url=base_url, max_retries=0)
    tools = [{"name": "read_file", "description": "Reads.", "input_schema": PARAMETERS}]

    def ask(messages):
        with client.messages.stream(model="claude-x", max_tokens=500, messages=messages, tools=tools) as stream:
            return stream.get_final_message()

    answer = ask([{"role": "user", "content": "say hello"}])
    same("anthropic text", answer.content[0].text, HELLO)
    same("anthropic usage", (answer.usage.output_tokens, answer.usage.cache_read_input_tokens), (7, 4))
    history = [{"role": "user", "content": "look at both"}]
    answer = ask(history)
    same("anthropic blocks", [block.type for block in answer.content], ["thinking", "text", "tool_use", "tool_use"])
    calls = [block for block in answer.content if block.type == "tool_use"]
    same("anthropic calls", [call.input["path"] for call in calls], PATHS)
    history.append({"role": "assistant", "content": answer.content})
    results = [
        {"type": "tool_result", "tool_use_id": call.id, "content": text} for call, text in zip(calls, RESULTS)
    ]
    history.append({"role": "user", "content": results})
    same("anthropic end", ask(history).content[0].text, "Both are fine.")
    try:
        ask([{"role": "user", "content": "be busy"}])
        sys.exit("anthropic: no error")
    except anthropic.RateLimitError as error:
        same("anthropic error", error.status_code, 429)
    same("anthropic models", [model.id for model in client.models.list()], ["m", "other"])


def check_chat(base_url):
    client = openai.OpenAI(api_key="k", base_url=base_url, max_retries=0)
    tools = [{"type": "function", "function": {"name": "read_file", "description": "Reads.", "parameters": PARAMETERS}}]

    def ask(messages):
        with client.chat.completions.stream(
            model="gpt-x", messages=messages, tools=tools, stream_options={"include_usage": True}
        ) as stream:
            return stream.get_final_completion()

    answer = ask([{"role": "user", "content": "say hello"}])
    same("chat text", answer.choices[0].message.content, HELLO)
    same("chat usage", (answer.usage.completion_tokens, answer.usage.prompt_tokens_details.cached_tokens), (7, 4))
    history = [{"role": "user", "content": "look at both"}]
    message = ask(history).choices[0].message
    same("chat calls", [json.loads(call.function.arguments)["path"] for call in message.tool_calls], PATHS)
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.function.name, "arguments": call.function.arguments}}
        for call in message.tool_calls
    ]
    history.append({"role": "assistant", "content": message.content, "tool_calls": calls})
    for call, text in zip(calls, RESULTS):
        history.append({"role": "tool", "tool_call_id": call["id"], "content": text})
    same("chat end", ask(history).choices[0].message.content, "Both are fine.")
    try:
        ask([{"role": "user", "content": "be busy"}])
        sys.exit("chat: no error")
    except openai.RateLimitError as error:
        same("chat error", error.status_code, 429)
    same("openai models", [model.id for model in client.models.list()], ["m", "other"])


def check_responses(base_url):
    client = openai.OpenAI(api_key="k", base_url=base_url, max_retries=0)
    tools = [{"type": "function", "name": "read_file", "description": "Reads.", "parameters": PARAMETERS, "strict": False}]

    def ask(items):
        with client.responses.stream(
            model="gpt-5.5", input=items, tools=tools, store=False, include=["reasoning.encrypted_content"]
        ) as stream:
            return stream.get_final_response()

    answer = ask([{"role": "user", "content": [{"type": "input_text", "text": "say hello"}]}])
    same("responses text", answer.output_text, HELLO)
    same("responses usage", (answer.usage.output_tokens, answer.usage.input_tokens_details.cached_tokens), (7, 4))
    history = [{"role": "user", "content": [{"type": "input_text", "text": "look at both"}]}]
    answer = ask(history)
    kinds = [item.type for item in answer.output]
    same("responses items", kinds, ["reasoning", "message", "function_call", "function_call"])
    calls = [item for item in answer.output if item.type == "function_call"]
    same("responses calls", [json.loads(call.arguments)["path"] for call in calls], PATHS)
    for item in answer.output:
        history.append(item.model_dump(exclude_none=True, exclude={"parsed_arguments"}))
    for call, text in zip(calls, RESULTS):
        history.append({"type": "function_call_output", "call_id": call.call_id, "output": text})
    same("responses end", ask(history).output_text, "Both are fine.")
    try:
        ask([{"role": "user", "content": [{"type": "input_text", "text": "be busy"}]}])
        sys.exit("responses: no error")
    except openai.RateLimitError as error:
        same("responses error", error.status_code, 429)


def check_gemini(base_url):
    options = types.HttpOptions(base_url=base_url.removesuffix("/v1beta"), api_version="v1beta")
    client = genai.Client(api_key="k", http_options=options)
    declaration = {"name": "read_file", "description": "Reads.", "parameters": PARAMETERS}
    config = {
        "tools": [{"function_declarations": [declaration]}],
        "automatic_function_calling": {"disable": True},
    }

    def ask(contents):
        chunks = list(
            client.models.generate_content_stream(model="gemini-3-pro", contents=contents, config=config)
        )
        parts = [
            part
            for chunk in chunks
            for candidate in chunk.candidates or []
            for part in (candidate.content and candidate.content.parts) or []
        ]
        return parts, chunks[-1].usage_metadata

    def text(parts):
        return "".join(part.text or "" for part in parts if not part.thought)

    parts, usage = ask("say hello")
    same("gemini text", text(parts), HELLO)
    same("gemini usage", (usage.candidates_token_count, usage.cached_content_token_count), (7, 4))
    question = types.Content(role="user", parts=[types.Part(text="look at both")])
    parts, _ = ask([question])
    same("gemini thought", "".join(part.text for part in parts if part.thought), "Let me see.")
    calls = [part.function_call for part in parts if part.function_call]
    same("gemini calls", [call.args["path"] for call in calls], PATHS)
    results = [
        types.Part(function_response=types.FunctionResponse(id=call.id, name=call.name, response={"output": text}))
        for call, text in zip(calls, RESULTS)
    ]
    answer = types.Content(role="model", parts=[part for part in parts if not part.thought])
    parts, _ = ask([question, answer, types.Content(role="user", parts=results)])
    same("gemini end", text(parts), "Both are fine.")
    try:
        ask("be busy")
        sys.exit("gemini: no error")
    except genai.errors.ClientError as error:
        same("gemini error", (error.code, error.status), (429, "RESOURCE_EXHAUSTED"))
    same("gemini models", [model.name for model in client.models.list()], ["models/m", "models/other"])


def main():
    with tempfile.NamedTemporaryFile("w", suffix=".yaml", encoding="utf-8") as scenario:
        scenario.write(SCENARIO)
        scenario.flush()
        with subprocess.Popen(
            [sys.argv[1], scenario.name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as server:
            try:
                addresses = json.loads(server.stdout.readline())
                check_anthropic(addresses["anthropic"])
                check_chat(addresses["openai"])
                check_responses(addresses["openai"])
                check_gemini(addresses["gemini"])
            finally:
                server.stdin.close()
    print("the official clients of Anthropic, OpenAI and Google agree with the model server")


if __name__ == "__main__":
    main()
