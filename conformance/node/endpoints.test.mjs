import assert from 'node:assert/strict';
import {test} from 'node:test';
import OpenAI, {toFile} from 'openai';
import {models, openai} from './setup.mjs';

const client = openai();

test('text completions, of several prompts', async () => {
  const got = await client.completions.create({model: models.gemini, prompt: ['Please repeat: one.', 'Please repeat: two.'], max_tokens: 64});
  assert.equal(got.object, 'text_completion');
  assert.deepEqual(got.choices.map((c) => c.index), [0, 1]);
  assert.match(got.choices[0].text, /one/);
  assert.match(got.choices[1].text, /two/);
});

test('a text completion, streamed', async () => {
  let text = '', pieces = 0;
  for await (const chunk of await client.completions.create({model: models.gemini, prompt: 'Please repeat: one two three.', stream: true, max_tokens: 64})) {
    text += chunk.choices[0]?.text ?? '';
    pieces++;
  }
  assert.match(text, /one two three/);
  assert.ok(pieces > 1);
});

const isImage = (data) => {
  const bytes = Buffer.from(data, 'base64');
  return bytes.subarray(1, 4).toString() === 'PNG' || bytes.readUInt16BE(0) === 0xffd8;
};

for (const model of ['@vr/imagen-4.0-generate-001', '@vx/gemini-2.5-flash-image']) {
  test(`images of ${model}`, async () => {
    const got = await client.images.generate({model, prompt: 'A lighthouse at dusk', n: 2, size: '1024x1024', response_format: 'b64_json'});
    assert.equal(got.data.length, 2);
    assert.ok(got.data.every((d) => isImage(d.b64_json)));
  });
}

test('an image is edited', async () => {
  const {data: [first]} = await client.images.generate({model: '@vx/gemini-2.5-flash-image', prompt: 'A lighthouse', n: 1});
  const got = await client.images.edit({
    model: '@vx/gemini-2.5-flash-image', prompt: 'Make it night.', image: await toFile(Buffer.from(first.b64_json, 'base64'), 'lighthouse.png', {type: 'image/png'}),
  });
  assert.ok(isImage(got.data[0].b64_json));
});

test('speech', async () => {
  const response = await client.audio.speech.create({model: '@vx/gemini-2.5-flash-preview-tts', voice: 'alloy', input: 'Hello there.', response_format: 'wav'});
  const bytes = Buffer.from(await response.arrayBuffer());
  assert.equal(bytes.subarray(0, 4).toString(), 'RIFF');
});

test('errors name the field', async () => {
  await assert.rejects(client.completions.create({model: models.gemini}), (e) => e instanceof OpenAI.BadRequestError && e.param === 'prompt');
  await assert.rejects(client.images.generate({model: '@vr/imagen-4.0-generate-001'}), (e) => e instanceof OpenAI.BadRequestError && e.param === 'prompt');
});
