import assert from 'node:assert/strict';
import {test} from 'node:test';
import {setTimeout as pause} from 'node:timers/promises';
import OpenAI, {toFile} from 'openai';
import {openai} from './setup.mjs';

// Files and batches are those of one catalog entry, which a header names.
const client = openai({defaultHeaders: {'x-gateway-provider': '@vx'}});
const models = {gemini: '@vx/gemini-2.5-flash', claude: '@vx/anthropic.claude-sonnet-5'};

const lines = (model, words) => words.map((word, i) => JSON.stringify({
  custom_id: `line-${i}`, method: 'POST', url: '/v1/chat/completions',
  body: {model, messages: [{role: 'user', content: `Please repeat: ${word}.`}]},
})).join('\n');

test('a file comes back as it was', async () => {
  const text = lines(models.gemini, ['one', 'two']);
  const file = await client.files.create({file: await toFile(Buffer.from(text), 'in.jsonl'), purpose: 'batch'});
  assert.equal(file.bytes, Buffer.byteLength(text));
  assert.equal((await client.files.retrieve(file.id)).filename, 'in.jsonl');
  assert.equal(await (await client.files.content(file.id)).text(), text);
  const ids = [];
  for await (const f of client.files.list()) ids.push(f.id);
  assert.ok(ids.includes(file.id));
  assert.equal((await client.files.delete(file.id)).deleted, true);
  await assert.rejects(client.files.retrieve(file.id), OpenAI.NotFoundError);
});

for (const model of [models.gemini, models.claude]) {
  test(`a batch of ${model}`, async () => {
    const words = ['one', 'two', 'three'];
    const input = await client.files.create({file: await toFile(Buffer.from(lines(model, words)), 'in.jsonl'), purpose: 'batch'});
    let batch = await client.batches.create({input_file_id: input.id, endpoint: '/v1/chat/completions', completion_window: '24h'});
    for (let i = 0; i < 100 && !['completed', 'failed'].includes(batch.status); i++) {
      await pause(100);
      batch = await client.batches.retrieve(batch.id);
    }
    assert.equal(batch.status, 'completed');
    assert.equal(batch.request_counts.completed, words.length);
    const results = (await (await client.files.content(batch.output_file_id)).text()).trim().split('\n').map(JSON.parse);
    const byID = Object.fromEntries(results.map((r) => [r.custom_id, r.response.body.choices[0].message.content]));
    words.forEach((word, i) => assert.match(byID[`line-${i}`], new RegExp(word)));
  });
}
