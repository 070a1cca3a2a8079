// Servers that speak the protocols of chat models, over a model that is a function. What a
// provider's API would refuse, these refuse: a field that it does not have, a call of a tool that
// is not answered, a schema that is none.

import { once } from "node:events";
import { createServer } from "node:http";
import Ajv from "ajv";

/**
 * A server at `url` that answers with what `model({ system, turns, tools })` says: `{ text }` or
 * `{ calls: [{ name, args }] }`. A turn is `{ role: "user" | "assistant", text }`, or has `calls`
 * in the place of the text, or is `{ role: "tool", id, text }`. `requests` has what was asked:
 * the same, with `sent` (its messages as they came) and `streamed`; `refused` why it was not.
 */
export async function serveModel(name, model) {
  const protocol = PROTOCOLS[name];
  const requests = [];
  const refused = [];
  const server = createServer(async (request, response) => {
    try {
      const body = JSON.parse(await textOf(request));
      const streamed = protocol.isStreamed(request, body);
      check(request, body, protocol, streamed);
      const asked = { ...protocol.read(body), streamed };
      checkTurns(asked.turns);
      checkTools(asked.tools);
      requests.push(asked);
      const { type, parts } = protocol.write(model(asked), body.model ?? name, streamed);
      response.writeHead(200, { "content-type": type });
      for (const part of parts) {
        response.write(part);
        await new Promise(setImmediate); // a packet of its own
      }
    } catch (error) {
      refused.push(error.message);
      response.writeHead(400, { "content-type": "application/json" });
      response.write(
        JSON.stringify({ error: { type: "invalid_request_error", message: error.message } }),
      );
    }
    response.end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = () => new Promise((closed) => server.close(closed));
  return {
    url: `http://127.0.0.1:${server.address().port}${protocol.base}`,
    requests,
    refused,
    close,
  };
}

/**
 * A server of embeddings: those of texts about the same are near to each other. `requests` has the
 * texts of each call.
 */
export async function serveEmbeddings(name) {
  const { path, headers, isBody, read, write, base } = EMBEDDINGS[name];
  const requests = [];
  const refused = [];
  const server = createServer(async (request, response) => {
    try {
      const body = JSON.parse(await textOf(request));
      check(request, body, { path: () => path, headers, isBody });
      requests.push(read(body));
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify(write(body)));
    } catch (error) {
      refused.push(error.message);
      response.writeHead(400, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: error.message } }));
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = () => new Promise((closed) => server.close(closed));
  return { url: `http://127.0.0.1:${server.address().port}${base}`, requests, refused, close };
}

async function textOf(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

const ajv = new Ajv({ strict: true, allErrors: true, allowUnionTypes: true });

function check(request, body, { path, headers, isBody }, streamed) {
  const wanted = path(body, streamed);
  if (request.method !== "POST" || request.url !== wanted) {
    throw new Error(`${request.method} ${request.url}: it is POST ${wanted}`);
  }
  for (const [header, value] of Object.entries({
    ...headers,
    "content-type": "application/json",
  })) {
    if (request.headers[header] !== value) {
      throw new Error(`the header ${header} is ${request.headers[header]}`);
    }
  }
  if (!isBody(body)) throw new Error(ajv.errorsText(isBody.errors, { dataVar: "body" }));
}

// A call is answered at once, each by its id, and whoever asks speaks last.
function checkTurns(turns) {
  let open = [];
  for (const { role, calls, id, text } of turns) {
    if (role === "tool") {
      if (!open.includes(id)) throw new Error(`the tool's answer ${id} belongs to no call`);
      open = open.filter((one) => one !== id);
    } else if (open.length > 0) {
      throw new Error(`the call ${open} has no answer`);
    }
    if (calls) open = calls.map((call) => call.id);
    else if (!text) throw new Error(`a turn of ${role} says nothing`);
  }
  if (open.length > 0) throw new Error(`the call ${open} has no answer`);
  if (turns.at(-1)?.role === "assistant") throw new Error("nothing is asked");
}

function checkTools(tools) {
  const names = tools.map(({ name }) => name);
  if (new Set(names).size < names.length) throw new Error(`two tools have one name: ${names}`);
  for (const { name, schema } of tools) {
    if (schema.type !== "object") throw new Error(`${name} takes no object`);
    ajv.compile(schema);
  }
}

// ---- parts of JSON schemas

const text = { type: "string", minLength: 1 };
const only = (value) => ({ const: value });
const list = (items, minItems = 1) => ({ type: "array", items, minItems });
// All properties are required, but those that begin with "?".
const object = (properties) => ({
  type: "object",
  additionalProperties: false,
  required: Object.keys(properties).filter((key) => !key.startsWith("?")),
  properties: Object.fromEntries(
    Object.entries(properties).map(([key, value]) => [key.replace("?", ""), value]),
  ),
});
const anything = { type: "object" };
const oneOf = (...schemas) => ({ anyOf: schemas });
const STREAM = { "?stream": { type: "boolean" } };

// ---- the protocols

const id = (kind) => `${kind}_${Math.random().toString(36).slice(2, 12)}`;

// A text in pieces, as a model says it.
const pieces = (whole) => whole.match(/\S+\s*|\s+/g) ?? [];
const halves = (whole) => [whole.slice(0, whole.length >> 1), whole.slice(whole.length >> 1)];
const events = (list) => list.map((data) => `data: ${JSON.stringify(data)}\n\n`);
const named = (list) =>
  list.map((data) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`);
const json = (data) => ({ type: "application/json", parts: [JSON.stringify(data)] });
const sse = (parts) => ({ type: "text/event-stream", parts });

const functions = list(
  object({
    type: only("function"),
    function: object({ name: text, description: text, parameters: anything }),
  }),
);
const toolsOfFunctions = (tools) =>
  tools.map(({ function: { name, description, parameters } }) => ({
    name,
    description,
    schema: parameters,
  }));

const CONTENT = oneOf(text, list(object({ type: only("text"), text })));

const completions = {
  base: "/v1",
  path: () => "/v1/chat/completions",
  headers: { authorization: "Bearer a-key" },
  isStreamed: (_, body) => body.stream === true,
  isBody: ajv.compile(
    object({
      model: text,
      ...STREAM,
      "?stream_options": object({ include_usage: { type: "boolean" } }),
      tools: functions,
      messages: list(
        oneOf(
          object({ role: { enum: ["system", "developer"] }, content: CONTENT }),
          object({ role: only("user"), content: CONTENT, "?name": text }),
          object({ role: only("assistant"), content: CONTENT, "?name": text }),
          object({
            role: only("assistant"),
            content: { type: ["string", "null"] },
            "?name": text,
            tool_calls: list(
              object({
                id: text,
                type: only("function"),
                function: object({ name: text, arguments: text }),
              }),
            ),
          }),
          object({ role: only("tool"), tool_call_id: text, content: CONTENT, "?name": text }),
        ),
      ),
    }),
  ),
  read: ({ messages, tools }) => {
    const plain = (content) =>
      Array.isArray(content) ? content.map((part) => part.text).join("") : content;
    const [system, ...rest] = messages;
    const turns = rest.map(({ role, content, tool_calls, tool_call_id }) => {
      if (role === "tool") return { role, id: tool_call_id, text: plain(content) };
      if (!tool_calls) return { role, text: plain(content) };
      const calls = tool_calls.map((call) => ({
        id: call.id,
        name: call.function.name,
        args: JSON.parse(call.function.arguments),
      }));
      return { role, calls };
    });
    return {
      system: plain(system.content),
      turns,
      tools: toolsOfFunctions(tools),
      sent: messages,
    };
  },
  write: ({ text, calls }, model, streamed) => {
    const tool_calls = calls?.map(({ name, args }) => ({
      id: id("call"),
      type: "function",
      function: { name, arguments: JSON.stringify(args) },
    }));
    const finish_reason = calls ? "tool_calls" : "stop";
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
    const head = { id: id("chatcmpl"), created: 1_790_000_000, model };
    if (!streamed) {
      const message = { role: "assistant", content: text ?? null, refusal: null, tool_calls };
      const choices = [{ index: 0, message, logprobs: null, finish_reason }];
      return json({ ...head, object: "chat.completion", choices, usage });
    }
    const chunk = (delta, reason = null) => ({
      ...head,
      object: "chat.completion.chunk",
      choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }],
      usage: null,
    });
    const said = text
      ? pieces(text).map((content) => ({ content }))
      : tool_calls.flatMap((call, index) => [
          {
            tool_calls: [{ index, ...call, function: { name: call.function.name, arguments: "" } }],
          },
          ...halves(call.function.arguments).map((part) => ({
            tool_calls: [{ index, function: { arguments: part } }],
          })),
        ]);
    const last = { ...head, object: "chat.completion.chunk", choices: [], usage };
    const chunks = [
      chunk({ role: "assistant", content: text ? "" : null, refusal: null }),
      ...said.map((delta) => chunk(delta)),
      chunk({}, finish_reason),
      last,
    ];
    return sse([...events(chunks), "data: [DONE]\n\n"]);
  },
};

const responses = {
  base: "/v1",
  path: () => "/v1/responses",
  headers: { authorization: "Bearer a-key" },
  isStreamed: (_, body) => body.stream === true,
  isBody: ajv.compile(
    object({
      model: text,
      ...STREAM,
      "?text": anything,
      tools: list(
        object({
          type: only("function"),
          name: text,
          description: text,
          parameters: anything,
          strict: { type: ["boolean", "null"] },
        }),
      ),
      input: list(
        oneOf(
          object({
            "?type": only("message"),
            role: { enum: ["system", "developer", "user"] },
            content: oneOf(text, list(object({ type: only("input_text"), text }))),
          }),
          object({
            type: only("message"),
            "?id": { type: "string", pattern: "^msg_" },
            "?status": only("completed"),
            role: only("assistant"),
            content: oneOf(
              text,
              list(object({ type: only("output_text"), text, annotations: list(anything, 0) })),
            ),
          }),
          object({
            type: only("function_call"),
            "?id": { type: "string", pattern: "^fc_" },
            "?status": only("completed"),
            call_id: text,
            name: text,
            arguments: text,
          }),
          object({
            type: only("function_call_output"),
            "?id": text,
            "?status": only("completed"),
            call_id: text,
            output: oneOf(text, list(object({ type: only("input_text"), text }))),
          }),
        ),
      ),
    }),
  ),
  read: ({ input, tools }) => {
    const plain = (content) =>
      Array.isArray(content) ? content.map((part) => part.text).join("") : content;
    const [system, ...rest] = input;
    const turns = [];
    for (const item of rest) {
      if (item.type === "function_call") {
        const call = { id: item.call_id, name: item.name, args: JSON.parse(item.arguments) };
        if (turns.at(-1)?.calls) turns.at(-1).calls.push(call);
        else turns.push({ role: "assistant", calls: [call] });
      } else if (item.type === "function_call_output") {
        turns.push({ role: "tool", id: item.call_id, text: plain(item.output) });
      } else {
        turns.push({ role: item.role, text: plain(item.content) });
      }
    }
    const ours = tools.map(({ name, description, parameters }) => ({
      name,
      description,
      schema: parameters,
    }));
    return { system: plain(system.content), turns, tools: ours, sent: input };
  },
  write: ({ text, calls }, model, streamed) => {
    const output = text
      ? [
          {
            type: "message",
            id: id("msg"),
            status: "completed",
            role: "assistant",
            content: [{ type: "output_text", text, annotations: [] }],
          },
        ]
      : calls.map(({ name, args }) => ({
          type: "function_call",
          id: id("fc"),
          call_id: id("call"),
          status: "completed",
          name,
          arguments: JSON.stringify(args),
        }));
    const response = {
      id: id("resp"),
      object: "response",
      created_at: 1_790_000_000,
      status: "completed",
      error: null,
      incomplete_details: null,
      instructions: null,
      model,
      output,
      parallel_tool_calls: true,
      tools: [],
      usage: {
        input_tokens: 10,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens: 5,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 15,
      },
    };
    if (!streamed) return json(response);
    const begun = { ...response, status: "in_progress", output: [], usage: null };
    const said = output.flatMap((item, output_index) => {
      const at = { item_id: item.id, output_index };
      if (item.type === "function_call") {
        return [
          {
            type: "response.output_item.added",
            output_index,
            item: { ...item, status: "in_progress", arguments: "" },
          },
          ...halves(item.arguments).map((delta) => ({
            type: "response.function_call_arguments.delta",
            ...at,
            delta,
          })),
          { type: "response.function_call_arguments.done", ...at, arguments: item.arguments },
          { type: "response.output_item.done", output_index, item },
        ];
      }
      const [part] = item.content;
      const inside = { ...at, content_index: 0 };
      return [
        {
          type: "response.output_item.added",
          output_index,
          item: { ...item, status: "in_progress", content: [] },
        },
        { type: "response.content_part.added", ...inside, part: { ...part, text: "" } },
        ...pieces(part.text).map((delta) => ({
          type: "response.output_text.delta",
          ...inside,
          delta,
          logprobs: [],
        })),
        { type: "response.output_text.done", ...inside, text: part.text, logprobs: [] },
        { type: "response.content_part.done", ...inside, part },
        { type: "response.output_item.done", output_index, item },
      ];
    });
    const all = [
      { type: "response.created", response: begun },
      ...said,
      { type: "response.completed", response },
    ];
    return sse(named(all.map((event, sequence_number) => ({ ...event, sequence_number }))));
  },
};

const messages = {
  base: "",
  path: () => "/v1/messages",
  headers: { "x-api-key": "a-key", "anthropic-version": "2023-06-01" },
  isStreamed: (_, body) => body.stream === true,
  isBody: ajv.compile(
    object({
      model: text,
      max_tokens: { type: "integer", minimum: 1 },
      ...STREAM,
      system: CONTENT,
      tools: list(object({ name: text, description: text, input_schema: anything })),
      messages: list(
        oneOf(
          object({
            role: only("user"),
            content: oneOf(
              text,
              list(
                oneOf(
                  object({ type: only("text"), text }),
                  object({
                    type: only("tool_result"),
                    tool_use_id: text,
                    content: CONTENT,
                    "?is_error": { type: "boolean" },
                  }),
                ),
              ),
            ),
          }),
          object({
            role: only("assistant"),
            content: oneOf(
              text,
              list(
                oneOf(
                  object({ type: only("text"), text }),
                  object({ type: only("tool_use"), id: text, name: text, input: anything }),
                ),
              ),
            ),
          }),
        ),
      ),
    }),
  ),
  read: ({ system, messages, tools }) => {
    const blocks = (content) =>
      typeof content === "string" ? [{ type: "text", text: content }] : content;
    const plain = (content) =>
      blocks(content)
        .map((block) => block.text)
        .join("");
    const turns = messages.flatMap(({ role, content }) => {
      const calls = blocks(content).filter(({ type }) => type === "tool_use");
      if (calls.length > 0) {
        return [{ role, calls: calls.map(({ id, name, input }) => ({ id, name, args: input })) }];
      }
      return blocks(content).map((block) =>
        block.type === "tool_result"
          ? { role: "tool", id: block.tool_use_id, text: plain(block.content) }
          : { role, text: block.text },
      );
    });
    const ours = tools.map(({ name, description, input_schema }) => ({
      name,
      description,
      schema: input_schema,
    }));
    return { system: plain(system), turns, tools: ours, sent: messages };
  },
  write: ({ text, calls }, model, streamed) => {
    const content = text
      ? [{ type: "text", text }]
      : calls.map(({ name, args }) => ({ type: "tool_use", id: id("toolu"), name, input: args }));
    const stop = { stop_reason: calls ? "tool_use" : "end_turn", stop_sequence: null };
    const usage = { input_tokens: 10, output_tokens: 5 };
    const message = {
      id: id("msg"),
      type: "message",
      role: "assistant",
      model,
      content,
      ...stop,
      usage,
    };
    if (!streamed) return json(message);
    const said = content.flatMap((block, index) => {
      const empty = block.type === "text" ? { ...block, text: "" } : { ...block, input: {} };
      const deltas =
        block.type === "text"
          ? pieces(block.text).map((part) => ({ type: "text_delta", text: part }))
          : halves(JSON.stringify(block.input)).map((partial_json) => ({
              type: "input_json_delta",
              partial_json,
            }));
      return [
        { type: "content_block_start", index, content_block: empty },
        ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
        { type: "content_block_stop", index },
      ];
    });
    const begun = {
      ...message,
      content: [],
      stop_reason: null,
      usage: { input_tokens: 10, output_tokens: 1 },
    };
    return sse(
      named([
        { type: "message_start", message: begun },
        ...said,
        { type: "message_delta", delta: stop, usage: { output_tokens: 5 } },
        { type: "message_stop" },
      ]),
    );
  },
};

// Its own part of JSON Schema.
const geminiSchemas = {
  $defs: {
    schema: object({
      type: { enum: ["object", "string", "integer", "number", "boolean", "array"] },
      "?description": text,
      "?properties": { type: "object", additionalProperties: { $ref: "#/$defs/schema" } },
      "?required": list(text),
      "?items": { $ref: "#/$defs/schema" },
      "?enum": list(text),
      "?minimum": { type: "number" },
      "?maximum": { type: "number" },
    }),
  },
};
const part = object({ text });

const gemini = {
  base: "",
  path: (_, streamed) =>
    `/v1beta/models/gemini-2.5-flash:${streamed ? "streamGenerateContent?alt=sse" : "generateContent"}`,
  headers: { "x-goog-api-key": "a-key" },
  isStreamed: (request) => request.url.includes(":streamGenerateContent"),
  isBody: ajv.compile({
    ...geminiSchemas,
    ...object({
      systemInstruction: object({ "?role": text, parts: list(part) }),
      "?generationConfig": object({ "?candidateCount": only(1) }),
      tools: list(
        object({
          functionDeclarations: list(
            object({ name: text, description: text, parameters: { $ref: "#/$defs/schema" } }),
          ),
        }),
      ),
      contents: list(
        oneOf(
          object({
            role: only("user"),
            parts: list(
              oneOf(part, object({ functionResponse: object({ name: text, response: anything }) })),
            ),
          }),
          object({
            role: only("model"),
            parts: list(
              oneOf(part, object({ functionCall: object({ name: text, args: anything }) })),
            ),
          }),
        ),
      ),
    }),
  }),
  // A call has no id: what answers it stands behind it, in the same order.
  read: ({ systemInstruction, contents, tools }) => {
    let open = [];
    let count = 0;
    const turns = contents.flatMap(({ role, parts }) => {
      const calls = parts.filter((part) => part.functionCall);
      if (calls.length > 0) {
        open = calls.map(({ functionCall: { name, args } }) => ({
          id: `call ${++count}`,
          name,
          args,
        }));
        return [{ role: "assistant", calls: open }];
      }
      return parts.map((part) => {
        if (part.functionResponse) {
          const call = open.find(({ name }) => name === part.functionResponse.name);
          return {
            role: "tool",
            id: call?.id,
            text: JSON.stringify(part.functionResponse.response),
          };
        }
        return { role: role === "model" ? "assistant" : role, text: part.text };
      });
    });
    const ours = tools.flatMap(({ functionDeclarations }) =>
      functionDeclarations.map(({ name, description, parameters }) => ({
        name,
        description,
        schema: parameters,
      })),
    );
    const system = systemInstruction.parts.map((part) => part.text).join("");
    return { system, turns, tools: ours, sent: contents };
  },
  write: ({ text, calls }, model, streamed) => {
    const answer = (parts, finishReason) => ({
      candidates: [{ content: { role: "model", parts }, index: 0, finishReason }],
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
      modelVersion: model,
      responseId: "an-answer",
    });
    const parts = text
      ? pieces(text).map((part) => ({ text: part }))
      : calls.map(({ name, args }) => ({ functionCall: { name, args } }));
    if (!streamed) return json(answer(text ? [{ text }] : parts, "STOP"));
    return sse(
      events(parts.map((part, i) => answer([part], i === parts.length - 1 ? "STOP" : undefined))),
    );
  },
};

const ollama = {
  base: "",
  path: () => "/api/chat",
  headers: {},
  isStreamed: (_, body) => body.stream !== false,
  isBody: ajv.compile(
    object({
      model: text,
      ...STREAM,
      options: anything,
      tools: functions,
      messages: list(
        oneOf(
          object({ role: { enum: ["system", "user", "assistant", "tool"] }, content: text }),
          object({
            role: only("assistant"),
            content: { type: "string" },
            tool_calls: list(
              object({
                "?id": text,
                "?type": only("function"),
                function: object({ name: text, arguments: anything }),
              }),
            ),
          }),
        ),
      ),
    }),
  ),
  // As with Gemini, what answers a call stands behind it.
  read: ({ messages: [system, ...rest], tools }) => {
    let open = [];
    let count = 0;
    const turns = rest.map(({ role, content, tool_calls }) => {
      if (role === "tool") return { role, id: open.shift()?.id, text: content };
      if (!tool_calls) return { role, text: content };
      const calls = tool_calls.map(({ function: { name, arguments: args } }) => ({
        id: `call ${++count}`,
        name,
        args,
      }));
      open = [...calls];
      return { role, calls };
    });
    return {
      system: system.content,
      turns,
      tools: toolsOfFunctions(tools),
      sent: [system, ...rest],
    };
  },
  write: ({ text, calls }, model, streamed) => {
    const created_at = "2026-11-29T12:00:00Z";
    const tool_calls = calls?.map(({ name, args }) => ({ function: { name, arguments: args } }));
    const end = {
      done: true,
      done_reason: "stop",
      total_duration: 10,
      load_duration: 1,
      prompt_eval_count: 10,
      prompt_eval_duration: 5,
      eval_count: 5,
      eval_duration: 5,
    };
    const line = (message, rest) => ({
      model,
      created_at,
      message: { role: "assistant", content: "", ...message },
      ...rest,
    });
    const whole = text ? { content: text } : { tool_calls };
    if (!streamed) return json(line(whole, end));
    const said = text ? pieces(text).map((content) => ({ content })) : [whole];
    const lines = [...said.map((message) => line(message, { done: false })), line({}, end)];
    return {
      type: "application/x-ndjson",
      parts: lines.map((data) => `${JSON.stringify(data)}\n`),
    };
  },
};

const PROTOCOLS = { completions, responses, messages, gemini, ollama };

// ---- embeddings

const TOPICS = [/dog|animal/, /tea|drink/, /sister|family/];

function vectorOf(words, dims) {
  const vector = Array.from({ length: dims }, (_, i) => Number(TOPICS[i]?.test(words) ?? 0.001));
  const length = Math.hypot(...vector);
  return vector.map((x) => x / length);
}

const EMBEDDINGS = {
  openai: {
    base: "/v1",
    path: "/v1/embeddings",
    headers: { authorization: "Bearer a-key" },
    isBody: ajv.compile(
      object({
        model: only("text-embedding-3-small"),
        input: oneOf(text, list(text)),
        "?encoding_format": { enum: ["float", "base64"] },
      }),
    ),
    read: ({ input }) => [input].flat(),
    write: ({ input, model, encoding_format }) => ({
      object: "list",
      model,
      data: [input].flat().map((words, index) => {
        const vector = vectorOf(words, 1536);
        const bytes = Buffer.from(Float32Array.from(vector).buffer);
        const embedding = encoding_format === "base64" ? bytes.toString("base64") : vector;
        return { object: "embedding", index, embedding };
      }),
      usage: { prompt_tokens: 5, total_tokens: 5 },
    }),
  },
  ollama: {
    base: "",
    path: "/api/embed",
    headers: {},
    isBody: ajv.compile(
      object({
        model: only("nomic-embed-text"),
        input: oneOf(text, list(text)),
        "?options": anything,
        "?truncate": { type: "boolean" },
        "?keep_alive": { type: ["string", "integer"] },
      }),
    ),
    read: ({ input }) => [input].flat(),
    write: ({ input, model }) => ({
      model,
      embeddings: [input].flat().map((words) => vectorOf(words, 768)),
      total_duration: 10,
      load_duration: 1,
      prompt_eval_count: 5,
    }),
  },
};
