import assert from 'node:assert/strict';
import {test} from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import {anthropic, models, weather} from './setup.mjs';

const client = anthropic();
const ask = (model, content, more = {}) => ({model, max_tokens: 4096, messages: [{role: 'user', content}], ...more});
const tools = [{name: weather.name, description: weather.description, input_schema: weather.parameters}];
const textOf = (message) => message.content.filter((b) => b.type === 'text').map((b) => b.text).join('');

for (const model of [models.claude, models.gemini, models.signing]) {
  test(`a message of ${model}`, async () => {
    const got = await client.messages.create(ask(model, 'Please repeat: one two three.'));
    assert.match(textOf(got), /one two three/);
    assert.equal(got.stop_reason, 'end_turn');
    assert.ok(got.usage.output_tokens > 0);
  });

  test(`a stream of ${model}`, async () => {
    const stream = client.messages.stream(ask(model, 'Please repeat: one two three.'));
    let text = '';
    stream.on('text', (piece) => { text += piece; });
    const whole = await stream.finalMessage();
    assert.match(text, /one two three/);
    assert.equal(textOf(whole), text);
  });

  test(`a tool loop of ${model}`, async () => {
    const messages = [{role: 'user', content: 'What is the weather in Paris?'}];
    const first = await client.messages.create({model, max_tokens: 4096, messages, tools});
    const call = first.content.find((b) => b.type === 'tool_use');
    assert.equal(call.input.city, 'Paris');
    messages.push({role: 'assistant', content: first.content},
      {role: 'user', content: [{type: 'tool_result', tool_use_id: call.id, content: 'clear'}]});
    assert.match(textOf(await client.messages.create({model, max_tokens: 4096, messages, tools})), /clear/);
  });
}

test('thinking comes first, with its signature, and goes back', async () => {
  const thinking = {type: 'enabled', budget_tokens: 2048};
  const first = await client.messages.create(ask(models.claude, 'Why is the sky blue?', {thinking}));
  assert.equal(first.content[0].type, 'thinking');
  assert.ok(first.content[0].signature);
  const second = await client.messages.create({...ask(models.claude, '', {thinking}), messages: [
    {role: 'user', content: 'Why is the sky blue?'}, {role: 'assistant', content: first.content}, {role: 'user', content: 'And at night?'}]});
  assert.ok(textOf(second));
});

test('tokens are counted', async () => {
  const got = await client.messages.countTokens({model: models.claude, messages: [{role: 'user', content: 'Hello, Claude.'}]});
  assert.ok(got.input_tokens > 0);
});

test('errors are the classes that callers catch', async () => {
  await assert.rejects(anthropic({apiKey: 'wrong'}).messages.create(ask(models.claude, 'Hi')), Anthropic.AuthenticationError);
  await assert.rejects(client.messages.create(ask('@vx/no-such-model', 'Hi')), Anthropic.NotFoundError);
  await assert.rejects(client.messages.create({...ask(models.claude, 'Hi'), max_tokens: 0}), Anthropic.BadRequestError);
});
