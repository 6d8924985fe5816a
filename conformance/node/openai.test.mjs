import assert from 'node:assert/strict';
import {test} from 'node:test';
import OpenAI from 'openai';
import {models, openai, relaxed, weather} from './setup.mjs';

const client = openai();
const ask = (model, content, more = {}) => ({model, messages: [{role: 'user', content}], ...more});
const tools = [{type: 'function', function: weather}];

test('a completion', async () => {
  const {data, response} = await client.chat.completions.create(ask(models.gemini, 'Hello!')).withResponse();
  assert.equal(data.choices[0].message.content, 'Hello! How can I help you today?');
  assert.equal(data.choices[0].finish_reason, 'stop');
  assert.equal(data.usage.total_tokens, data.usage.prompt_tokens + data.usage.completion_tokens);
  assert.equal(response.headers.get('x-gateway-provider'), 'vx');
});

for (const model of [models.gemini, models.signing, models.claude]) {
  test(`a stream of ${model}`, async () => {
    const stream = await client.chat.completions.create(
      ask(model, 'Please repeat: one two three.', {stream: true, stream_options: {include_usage: true}}));
    let text = '', usage, chunks = 0;
    for await (const chunk of stream) {
      chunks++;
      text += chunk.choices[0]?.delta?.content ?? '';
      usage = chunk.usage ?? usage;
    }
    assert.match(text, /one two three/);
    assert.ok(chunks > 2 && usage.completion_tokens > 0);
  });

  test(`a tool loop of ${model}, by the client's own runner`, async () => {
    const cities = [];
    const runner = client.chat.completions.runTools(ask(model, 'What is the weather in Paris and Rome?', {
      tools: [{type: 'function', function: {...weather, parse: JSON.parse, function: ({city}) => {
        cities.push(city);
        return {city, sky: 'clear'};
      }}}],
    }), relaxed);
    assert.match(await runner.finalContent(), /clear/);
    assert.deepEqual(cities.sort(), ['Paris', 'Rome']);
  });

  test(`a streamed tool loop of ${model} that keeps what it does not know`, async () => {
    const messages = [{role: 'user', content: 'What is the weather in Paris?'}];
    const first = await client.chat.completions.stream({model, messages, tools}, relaxed).finalChatCompletion();
    const {message} = first.choices[0];
    assert.equal(JSON.parse(message.tool_calls[0].function.arguments).city, 'Paris');
    messages.push(message, {role: 'tool', tool_call_id: message.tool_calls[0].id, content: '{"sky":"clear"}'});
    const second = await client.chat.completions.create({model, messages, tools}, relaxed);
    assert.match(second.choices[0].message.content, /clear/);
  });
}

test('thinking', async () => {
  const got = await client.chat.completions.create(
    ask(models.claude, 'Why is the sky blue?', {thinking: {type: 'enabled', budget_tokens: 2048}, max_tokens: 4096}), relaxed);
  const kinds = got.choices[0].message.content_blocks.map((b) => b.type);
  assert.deepEqual(kinds, ['thinking', 'text']);
});

test('an answer in JSON by a schema', async () => {
  const got = await client.chat.completions.create(ask(models.gemini, 'Name a city.', {
    response_format: {type: 'json_schema', json_schema: {name: 'city', strict: true, schema: {
      type: 'object', properties: {name: {type: 'string'}}, required: ['name'], additionalProperties: false}}},
  }));
  assert.equal(typeof JSON.parse(got.choices[0].message.content).name, 'string');
});

test('embeddings, which the client asks for as base64', async () => {
  const got = await client.embeddings.create({model: models.embedding, input: ['a cat', 'the cat', 'stocks fell'], dimensions: 256});
  const [a, b, c] = got.data.map((d) => d.embedding);
  const likeness = (x, y) => x.reduce((sum, v, i) => sum + v * y[i], 0);
  assert.equal(a.length, 256);
  assert.ok(Math.abs(likeness(a, a) - 1) < 1e-4);
  assert.ok(likeness(a, b) > likeness(a, c));
});

test('models', async () => {
  const ids = [];
  for await (const model of client.models.list()) ids.push(model.id);
  assert.ok(ids.includes(models.gemini));
  assert.equal((await client.models.retrieve(models.gemini)).id, models.gemini);
});

test('errors are the classes that callers catch', async () => {
  await assert.rejects(openai({apiKey: 'wrong'}).chat.completions.create(ask(models.gemini, 'Hi')), OpenAI.AuthenticationError);
  await assert.rejects(client.chat.completions.create(ask('@vx/no-such-model', 'Hi')), OpenAI.NotFoundError);
  await assert.rejects(client.chat.completions.create({model: models.gemini, messages: []}),
    (e) => e instanceof OpenAI.BadRequestError && e.param === 'messages');
  await assert.rejects(client.chat.completions.create(ask(models.gemini, 'Hi', {temperature: 7})), OpenAI.BadRequestError);
  await assert.rejects(client.embeddings.create({model: models.embedding, input: [[1, 2]]}), OpenAI.BadRequestError);
});

test('a stream that is left ends the call', async () => {
  const stream = await client.chat.completions.create(ask(models.gemini, 'Tell me of the sea.', {stream: true}));
  for await (const chunk of stream) {
    assert.ok(chunk.id);
    break;
  }
  assert.ok(stream.controller.signal.aborted);
});
