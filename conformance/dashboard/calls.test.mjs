// Calls as they come in, one call as a whole, and what is exported.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import {after, before, test} from 'node:test';
import {api, call, launch, open, ready, shot} from './setup.mjs';

let browser;
before(async () => { browser = await launch(); });
after(() => browser?.close());

const mine = (page, id) => page.locator(`tbody tr[data-id="${id}"]`);

test('shows a call that was made just now', async () => {
  const {page, quiet} = await open(browser, '#/logs');
  await ready(page, 'logs');
  const {id, status} = await call({user: 'live-user'});
  assert.equal(status, 200);
  await mine(page, id).waitFor();
  assert.match(await mine(page, id).getAttribute('class'), /fresh/);
  assert.equal(await page.locator('tbody tr').first().getAttribute('data-id'), id);
  await page.waitForFunction(() => document.getElementById('live').textContent.includes('new call'));
  await shot(page, 'logs-live');
  await quiet();
});

test('pauses, and takes up what came meanwhile', async () => {
  const {page, quiet} = await open(browser, '#/logs');
  await ready(page, 'logs');
  await page.getByRole('button', {name: 'Pause following new calls'}).click();
  const {id} = await call();
  await page.waitForTimeout(5000);
  assert.equal(await mine(page, id).count(), 0);
  await page.getByRole('button', {name: 'Follow new calls'}).click();
  await mine(page, id).waitFor();
  await quiet();
});

test('pages back', async () => {
  const {page, quiet} = await open(browser, '#/logs?paused=1');
  await ready(page, 'logs');
  assert.equal(await page.locator('tbody tr').count(), 50);
  for (const n of [100, 150]) {
    await page.getByRole('button', {name: 'Older calls'}).click();
    await page.waitForFunction((want) => document.querySelectorAll('tbody tr').length === want, n);
  }
  const times = await page.locator('tbody time').evaluateAll((list) => list.map((t) => t.dateTime));
  assert.deepEqual(times, [...times].sort().reverse());
  assert.equal(new Set(await page.locator('tbody tr').evaluateAll((list) => list.map((t) => t.dataset.id))).size, 150);
  await quiet();
});

test('opens a call with its attempts and its content', async () => {
  const {id, status} = await call({messages: [{role: 'user', content: 'Which way?'}]}, {'x-gateway-config': 'fallback', 'x-gateway-metadata': '{"team":"browser"}'});
  assert.equal(status, 200);
  const {page, quiet} = await open(browser, '#/logs');
  await mine(page, id).click();
  const box = page.locator('dialog[open]');
  await box.locator('.waterfall li').first().waitFor();
  assert.equal(await box.locator('.waterfall li').count(), 2);
  assert.match(await box.locator('.waterfall li').first().textContent(), /gemini-9-none.*404/s);
  assert.match(await box.locator('.waterfall li').nth(1).textContent(), /gemini-2\.5-flash.*200/s);
  assert.ok((await box.locator('.water-bar').nth(0).boundingBox()).x <= (await box.locator('.water-bar').nth(1).boundingBox()).x);
  for (const text of ['Which way?', 'browser', 'Active', id]) await box.getByText(text, {exact: false}).first().waitFor();
  await shot(page, 'record-light');
  const link = page.url();
  assert.match(link, new RegExp(`#/logs/${id}/[^/?]+$`)); // and its time
  await page.keyboard.press('Escape');
  await page.waitForFunction(() => location.hash === '#/logs');
  await page.waitForFunction((want) => document.activeElement?.dataset.id === want, id);
  await page.goto(link);
  await page.locator('dialog[open] .waterfall').waitFor();
  await page.reload();
  await page.locator('dialog[open] .waterfall').waitFor();
  await page.locator('dialog[open]').getByRole('button', {name: 'The older call'}).click();
  await page.waitForFunction((want) => !location.hash.includes(want), id);
  await page.goBack();
  await page.waitForFunction((want) => location.hash.includes(want), id);
  await page.locator('dialog[open]').getByRole('button', {name: 'Close'}).click();
  await page.waitForFunction(() => location.hash === '#/logs');
  await quiet();
});

test('shows every call of an id that was chosen more than once', async () => {
  const id = 'chosen-thrice';
  const {page, quiet} = await open(browser, '#/logs');
  await ready(page, 'logs');
  for (const content of ['The first', 'The second', 'The third']) {
    await call({messages: [{role: 'user', content}]}, {'x-gateway-trace-id': id});
    await page.waitForTimeout(20); // times are shown in milliseconds
  }
  await page.waitForFunction((want) => document.querySelectorAll(`tbody tr[data-id="${want}"]`).length === 3, id);
  const times = await mine(page, id).locator('time').evaluateAll((list) => list.map((t) => t.dateTime));
  assert.deepEqual(times, [...new Set(times)].sort().reverse());
  await mine(page, id).evaluateAll((list) => list.forEach((tr) => { tr.dataset.kept = ''; }));
  await page.waitForTimeout(5000);
  assert.equal(await page.locator(`tbody tr[data-id="${id}"][data-kept]`).count(), 3, 'rows were made again');
  const box = page.locator('dialog[open]');
  const shows = async (n) => {
    await box.locator(`.record-sum time[datetime="${times[n]}"]`).waitFor();
    assert.equal(await box.getByText('The third').count() > 0, n === 0);
    assert.equal(await box.getByRole('button', {name: 'Good answer'}).count(), n === 0 ? 1 : 0, 'feedback is for the newest');
    assert.equal(await box.getByText('A newer call has this id').count() > 0, n > 0);
  };
  for (const n of [0, 1, 2]) {
    await mine(page, id).nth(n).click();
    await shows(n);
    await page.keyboard.press('Escape');
    await page.waitForFunction(([want, at]) => document.activeElement === document.querySelectorAll(`tbody tr[data-id="${want}"]`)[at], [id, n]);
  }
  await mine(page, id).nth(0).click();
  await shows(0);
  await box.getByRole('button', {name: 'The older call'}).click();
  await shows(1);
  await box.getByRole('button', {name: 'The older call'}).click();
  await shows(2);
  await page.goBack();
  await shows(1);
  await page.reload();
  await shows(1);
  await page.goto(`${page.url()}?user[eq]=nobody`); // a list that has it not
  await page.reload();
  await shows(1);
  await quiet();
});

test('copies what was said', async () => {
  const {id} = await call({messages: [{role: 'user', content: 'Copy me'}]});
  const {page, quiet} = await open(browser, `#/logs/${id}`, {permissions: ['clipboard-read', 'clipboard-write']});
  await page.locator('dialog[open] .message', {hasText: 'Copy me'}).first().getByRole('button', {name: 'Copy'}).click();
  await page.getByText('Copied').first().waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), 'Copy me');
  await quiet();
});

test('tells a hit of the cache with what it saved', async () => {
  const ask = () => call({messages: [{role: 'user', content: 'Once and again'}]}, {'x-gateway-config': 'cached'});
  await ask();
  const {id} = await ask();
  const {page, quiet} = await open(browser, `#/logs/${id}`);
  const box = page.locator('dialog[open]');
  await box.getByText('Cache Hit', {exact: true}).waitFor();
  assert.match(await box.textContent(), /Saved\$0\.\d+/);
  await quiet();
});

test('keeps feedback', async () => {
  const {id} = await call();
  const {page, quiet} = await open(browser, `#/logs/${id}`);
  const box = page.locator('dialog[open]');
  await box.getByLabel('Comment').fill('well said <b>');
  await box.getByRole('button', {name: 'Good answer'}).click();
  await box.locator('.said-of li', {hasText: 'well said <b>'}).waitFor();
  await box.getByRole('button', {name: 'Poor answer'}).click();
  await box.locator('.said-of li').nth(1).waitFor();
  const {feedback} = await api(`logs/${id}`);
  assert.deepEqual(feedback.map((f) => [f.value, f.comment ?? '']), [[1, 'well said <b>'], [-1, '']]);
  await quiet();
});

test('says that a call is not there', async () => {
  const {page, noise} = await open(browser, '#/logs/nothing-like-it');
  await page.locator('dialog[open] [role=alert]').waitFor();
  assert.deepEqual(noise.filter((n) => !n.includes('404')), []);
  await page.context().close();
});

test('exports what is filtered', async () => {
  const {page, quiet} = await open(browser, '#/logs?model[eq]=text-embedding-005&failed[eq]=false&user[eq]=ada');
  await ready(page, 'logs');
  const want = (await api('logs?limit=1000&model[eq]=text-embedding-005&failed[eq]=false&user[eq]=ada')).data;
  const save = async (name) => {
    const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', {name}).click()]);
    return {name: file.suggestedFilename(), lines: fs.readFileSync(await file.path(), 'utf8').trim().split('\n')};
  };
  const jsonl = await save('Export JSONL');
  assert.equal(jsonl.name, 'gateway-logs.jsonl');
  assert.deepEqual(new Set(jsonl.lines.map((l) => JSON.parse(l).id)), new Set(want.map((r) => r.id)));
  const csv = await save('Export CSV');
  assert.equal(csv.name, 'gateway-logs.csv');
  assert.equal(csv.lines.length, want.length + 1);
  assert.match(csv.lines[0], /id/);
  await quiet();
});
