"""The client matrix in Python: official libraries run the same conversations. One JSON line in, one out; `id` joins the two."""
import json
import os
import socket
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import cache

warnings.simplefilter("ignore")
printing = threading.Lock()
answers = sys.stdout
# What a library prints is no answer.
sys.stdout = open(os.devnull, "w")


def tell(view):
    with printing:
        answers.write(json.dumps(view) + "\n")
        answers.flush()


# Only this machine may be reached: any other request is an error of the library and reported to the suite.
connect = socket.socket.connect


def connect_here(self, address):
    host = address[0] if isinstance(address, tuple) else "localhost"
    if host in ("127.0.0.1", "localhost", "::1"):
        return connect(self, address)
    tell({"id": None, "unhandled": f"a library connects to {host}"})
    raise OSError("Only loopback is allowed.")


socket.socket.connect = connect_here

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
NAME = "get_weather"
DESCRIPTION = "The weather in a city"
RESULT = "sunny"
MOST_TURNS = 3


@cache
def place():
    from pydantic import BaseModel

    class Place(BaseModel):
        city: str

    return Place


def loop(ask, more):
    """Asks until no tool is called any more: `ask` gives the message, its text and its calls; `more` is what the next turn adds."""
    calls, history = [], []
    for _ in range(MOST_TURNS):
        message, text, called = ask(history)
        if not called:
            return {"text": text, "calls": calls}
        calls += [[name, args] for _, name, args in called]
        history = history + more(message, called)
    raise RuntimeError("the loop does not end")


# Clients are kept as an application keeps them: each reads the certificate authorities anew, 25 ms of processor time.
@cache
def openai_client(key, url):
    from openai import OpenAI

    return OpenAI(api_key=key, base_url=url + "/v1", max_retries=0)


@cache
def anthropic_client(key, url):
    from anthropic import Anthropic

    return Anthropic(api_key=key, base_url=url, max_retries=0)


@cache
def gemini_client(key, url):
    from google import genai
    from google.genai import types

    options = types.HttpOptions(base_url=url, retry_options=types.HttpRetryOptions(attempts=1))
    return genai.Client(api_key=key, vertexai=False, http_options=options)


def opening(at):
    return [{"role": "system", "content": at["system"]}, {"role": "user", "content": at["prompt"]}]


def openai_chat(at):
    completions = openai_client(at["apiKey"], at["url"]).chat.completions
    more = {}
    if at["tools"]:
        function = {"name": NAME, "description": DESCRIPTION, "parameters": SCHEMA}
        more["tools"] = [{"type": "function", "function": function}]

    def ask(history):
        params = {"model": at["model"], "messages": [*opening(at), *history], **more}
        if at["schema"]:
            message = completions.parse(**params, response_format=place()).choices[0].message
            return message, message.parsed.model_dump_json(), []
        if at["stream"]:
            # The helper parses arguments of strict tools alone.
            with completions.stream(**params) as stream:
                message = stream.get_final_completion().choices[0].message
        else:
            message = completions.create(**params).choices[0].message
        calls = [(call.id, call.function.name, json.loads(call.function.arguments)) for call in message.tool_calls or []]
        return message, message.content or "", calls

    def goes_on(message, calls):
        reply = message.to_dict(exclude_unset=True)
        for call in reply.get("tool_calls") or []:
            call["function"].pop("parsed_arguments", None)
        reply.pop("parsed", None)
        return [reply, *({"role": "tool", "tool_call_id": id, "content": RESULT} for id, _, _ in calls)]

    return loop(ask, goes_on)


def openai_responses(at):
    responses = openai_client(at["apiKey"], at["url"]).responses
    more = {"instructions": at["system"]}
    if at["tools"]:
        more["tools"] = [
            {"type": "function", "name": NAME, "description": DESCRIPTION, "strict": True, "parameters": SCHEMA}
        ]

    def ask(history):
        params = {"model": at["model"], "store": False, "input": [{"role": "user", "content": at["prompt"]}, *history], **more}
        if at["schema"]:
            reply = responses.parse(**params, text_format=place())
            return reply, reply.output_parsed.model_dump_json(), []
        if at["stream"]:
            with responses.stream(**params) as stream:
                reply = stream.get_final_response()
        else:
            reply = responses.create(**params)
        if reply.status == "failed":
            raise RuntimeError(f"failed: {reply.error}")
        calls = [
            (item.call_id, item.name, json.loads(item.arguments)) for item in reply.output if item.type == "function_call"
        ]
        return reply, reply.output_text, calls

    def goes_on(reply, calls):
        items = [item.to_dict(exclude_unset=True) for item in reply.output]
        for item in items:
            item.pop("parsed_arguments", None)
        return [*items, *({"type": "function_call_output", "call_id": id, "output": RESULT} for id, _, _ in calls)]

    return loop(ask, goes_on)


def anthropic_messages(at):
    messages = anthropic_client(at["apiKey"], at["url"]).messages
    more = {"max_tokens": 100, "system": at["system"]}
    if at["tools"]:
        more["tools"] = [{"name": NAME, "description": DESCRIPTION, "input_schema": SCHEMA}]

    def ask(history):
        params = {"model": at["model"], "messages": [{"role": "user", "content": at["prompt"]}, *history], **more}
        if at["schema"]:
            reply = messages.parse(**params, output_format=place())
            return reply, reply.parsed_output.model_dump_json(), []
        if at["stream"]:
            with messages.stream(**params) as stream:
                reply = stream.get_final_message()
        else:
            reply = messages.create(**params)
        text = "".join(block.text for block in reply.content if block.type == "text")
        return reply, text, [(block.id, block.name, block.input) for block in reply.content if block.type == "tool_use"]

    def goes_on(reply, calls):
        results = [{"type": "tool_result", "tool_use_id": id, "content": RESULT} for id, _, _ in calls]
        return [{"role": "assistant", "content": reply.content}, {"role": "user", "content": results}]

    return loop(ask, goes_on)


def gemini(at):
    from google import genai
    from google.genai import types

    options = types.HttpOptions(base_url=at["url"], retry_options=types.HttpRetryOptions(attempts=1))
    # The client closes its connections when it is not referenced any more.
    client = genai.Client(api_key=at["apiKey"], vertexai=False, http_options=options)
    models = client.models
    config = {"system_instruction": at["system"], "automatic_function_calling": {"disable": True}}
    if at["tools"]:
        declaration = {
            "name": NAME,
            "description": DESCRIPTION,
            "parameters": {"type": "OBJECT", "properties": {"city": {"type": "STRING"}}, "required": ["city"]},
        }
        config["tools"] = [{"function_declarations": [declaration]}]
    if at["schema"]:
        config |= {"response_mime_type": "application/json", "response_schema": place()}

    def ask(history):
        contents = [types.Content(role="user", parts=[types.Part(text=at["prompt"])]), *history]
        params = {"model": at["model"], "contents": contents, "config": config}
        answers = list(models.generate_content_stream(**params)) if at["stream"] else [models.generate_content(**params)]
        if at["schema"]:
            return None, answers[0].parsed.model_dump_json(), []
        parts = [part for answer in answers for one in answer.candidates or [] for part in (one.content.parts if one.content else None) or []]
        text = "".join(part.text for part in parts if part.text and not part.thought)
        return parts, text, [(part.function_call.id, part.function_call.name, part.function_call.args) for part in parts if part.function_call]

    def goes_on(parts, calls):
        results = [
            types.Part(function_response=types.FunctionResponse(id=id, name=name, response={"output": RESULT}))
            for id, name, _ in calls
        ]
        return [types.Content(role="model", parts=parts), types.Content(role="user", parts=results)]

    return loop(ask, goes_on)


def chained(model):
    def run(at):
        from langchain_core.messages import HumanMessage, SystemMessage, ToolMessage

        chat = model(at)
        if at["schema"]:
            found = chat.with_structured_output(place(), method="json_schema").invoke([SystemMessage(at["system"]), HumanMessage(at["prompt"])])
            return {"text": found.model_dump_json(), "calls": []}
        if at["tools"]:
            function = {"name": NAME, "description": DESCRIPTION, "parameters": SCHEMA}
            chat = chat.bind_tools([{"type": "function", "function": function}])

        def ask(history):
            params = [SystemMessage(at["system"]), HumanMessage(at["prompt"]), *history]
            if at["stream"]:
                message = None
                for chunk in chat.stream(params):
                    message = chunk if message is None else message + chunk
            else:
                message = chat.invoke(params)
            return message, message.text, [(call["id"], call["name"], call["args"]) for call in message.tool_calls]

        return loop(ask, lambda message, calls: [message, *(ToolMessage(RESULT, tool_call_id=id) for id, _, _ in calls)])

    return run


def chained_openai(uses_responses):
    def model(at):
        from langchain_openai import ChatOpenAI

        return ChatOpenAI(
            model=at["model"],
            api_key=at["apiKey"],
            base_url=at["url"] + "/v1",
            max_retries=0,
            use_responses_api=uses_responses,
            **({"store": False} if uses_responses else {}),
        )

    return chained(model)


def chained_anthropic(at):
    from langchain_anthropic import ChatAnthropic

    return ChatAnthropic(model=at["model"], api_key=at["apiKey"], base_url=at["url"], max_retries=0, max_tokens=100)


def litellm_loop(provider, path):
    """`provider`: whose format LiteLLM speaks to the gateway; its users see chat completions whatever that is."""

    def run(at):
        import litellm

        more = {}
        if at["tools"]:
            function = {"name": NAME, "description": DESCRIPTION, "parameters": SCHEMA}
            more["tools"] = [{"type": "function", "function": function}]
        if at["schema"]:
            more["response_format"] = place()

        def ask(history):
            params = {
                "model": f"{provider}/{at['model']}",
                "api_key": at["apiKey"],
                "api_base": at["url"] + path,
                "messages": [*opening(at), *history],
                "num_retries": 0,
                "max_retries": 0,
                "max_tokens": 100,
                **more,
            }
            if at["stream"]:
                chunks = list(litellm.completion(**params, stream=True))
                message = litellm.stream_chunk_builder(chunks).choices[0].message
            else:
                message = litellm.completion(**params).choices[0].message
            calls = [(call.id, call.function.name, json.loads(call.function.arguments)) for call in message.tool_calls or []]
            return message, message.content or "", calls

        def goes_on(message, calls):
            return [message.model_dump(exclude_none=True), *({"role": "tool", "tool_call_id": id, "content": RESULT} for id, _, _ in calls)]

        return loop(ask, goes_on)

    return run


LIBRARIES = {
    "litellm (Python)": {
        "openai-chat": litellm_loop("openai", "/v1"),
        "anthropic-messages": litellm_loop("anthropic", ""),
    },
    "openai (Python)": {"openai-chat": openai_chat, "openai-responses": openai_responses},
    "anthropic (Python)": {"anthropic-messages": anthropic_messages},
    "google-genai (Python)": {"gemini": gemini},
    "langchain (Python)": {
        "openai-chat": chained_openai(False),
        "openai-responses": chained_openai(True),
        "anthropic-messages": chained(chained_anthropic),
    },
}


def run(scenario):
    view = {"id": scenario["id"]}
    try:
        view["reply"] = LIBRARIES[scenario["library"]][scenario["format"]](scenario)
    except Exception as thrown:  # Whatever a library raises is what its user sees.
        status = getattr(thrown, "status_code", None) or getattr(thrown, "code", None)
        view["error"] = {
            "class": type(thrown).__name__,
            "status": status if isinstance(status, int) else None,
            "message": str(thrown)[:600],
        }
    tell(view)


with ThreadPoolExecutor(8) as pool:
    for line in sys.stdin:
        pool.submit(run, json.loads(line))
