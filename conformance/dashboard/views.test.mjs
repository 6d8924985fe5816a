// The views: who gets in, clicks, links, filters, numbers.
import assert from 'node:assert/strict';
import {after, before, test} from 'node:test';
import {api, call, clientKey, key, launch, open, ready, shot, views} from './setup.mjs';

let browser;
before(async () => { browser = await launch(); });
after(() => browser?.close());

test('asks for the key, tells a wrong one, and forgets it', async () => {
  const {page, quiet, base} = await open(browser, '#/models', {signedIn: false});
  const asked = [];
  page.on('request', (r) => { if (r.url().includes('/api/')) asked.push(r.url().split('/api/')[1]); });
  const input = page.getByLabel('API key of the gateway');
  await input.waitFor();
  assert.ok(await input.evaluate((e) => e === document.activeElement));
  await shot(page, 'sign-in');
  for (const wrong of ['wrong', 'nøt ascii', '"><b>']) {
    await input.fill(wrong);
    await page.keyboard.press('Enter');
    await page.getByText('This key is not right').waitFor();
  }
  assert.deepEqual([...new Set(asked)], ['about'], 'data was asked for without a key');
  await input.fill(` ${key} `);
  await page.getByRole('button', {name: 'Sign in'}).click();
  await ready(page, 'models');
  await page.reload();
  await ready(page, 'models');
  assert.equal(await page.evaluate(() => sessionStorage.getItem('gateway-dashboard-key')), key);
  assert.equal(await page.evaluate((k) => JSON.stringify(localStorage).includes(k) || document.cookie.includes(k) || location.href.includes(k), key), false);
  await page.getByRole('button', {name: 'Sign out'}).click();
  await input.waitFor();
  assert.equal(await page.evaluate(() => sessionStorage.getItem('gateway-dashboard-key')), null);
  await page.goto(`${base}#/logs`);
  await input.waitFor();
  assert.equal(await page.getByText('This key is not right').count(), 0);
  await quiet();
});

test('shows a client its own calls, or says that they are for others', async () => {
  const {id} = await call({}, {'x-gateway-api-key': clientKey});
  const {page, quiet} = await open(browser, '#/logs', {own: true, signedIn: false});
  await page.locator('#key').fill(clientKey);
  await page.keyboard.press('Enter');
  await page.locator(`tr[data-id="${id}"]`).waitFor();
  assert.equal(await page.locator('tbody tr').count(), 1);
  await page.getByText('your calls').waitFor();
  await quiet();
  const other = await open(browser, '#/logs', {signedIn: false});
  await other.page.locator('#key').fill(clientKey);
  await other.page.keyboard.press('Enter');
  await other.page.getByText('for the gateway\u2019s admin keys alone').or(other.page.getByText("for the gateway's admin keys alone")).waitFor();
  await other.quiet();
});

test('leads to its folder', async () => {
  const {page, base, quiet} = await open(browser, '#/catalog');
  await page.goto(base.slice(0, -1));
  await ready(page, 'overview');
  assert.equal(new URL(page.url()).pathname, new URL(base).pathname);
  await quiet();
});

test('shows all views by clicks', async () => {
  const {page, quiet} = await open(browser);
  for (const view of Object.keys(views)) {
    await page.locator(`#nav [data-view=${view}]`).click();
    await ready(page, view);
    assert.match(await page.title(), / · Gateway$/);
    assert.equal(await page.locator('h1').count(), 1);
    await page.evaluate(() => new Promise((f) => requestAnimationFrame(() => requestAnimationFrame(f))));
    await shot(page, `${view}-light`, {fullPage: view !== 'logs'});
  }
  await page.goBack();
  await ready(page, 'prompts');
  await quiet();
});

const tile = (page, name) => page.locator('.tile', {has: page.locator(`.tile-name > span:first-child:text-is("${name}")`)}).locator('.tile-value').textContent();

test('shows the numbers that the gateway reports', async () => {
  const {page, quiet} = await open(browser, '#/overview?range=7d');
  await ready(page, 'overview');
  const range = await page.evaluate(() => performance.getEntriesByType('resource').map((r) => r.name).find((n) => n.includes('every=')));
  const {total} = await api(`analytics?${range.split('?')[1]}`);
  assert.ok(total.requests > 500 && total.errors > 0 && total.cache.hits > 0);
  assert.equal(await tile(page, 'Requests'), total.requests.toLocaleString('en-US'));
  assert.equal(await tile(page, 'Errors'), String(total.errors));
  const cost = Number((await tile(page, 'Cost')).slice(1));
  assert.ok(Math.abs(cost - total.cost_usd) < total.cost_usd / 50, `${cost}, want ${total.cost_usd}`);
  const rate = (100 * total.cache.hit_rate).toFixed(1).replace(/\.0$/, '');
  assert.equal(await tile(page, 'Cache hit rate'), `${rate} %`);
  await quiet();
});

test('says that a cost is unknown, and never that it is nothing', async () => {
  const model = encodeURIComponent('qwen/qwen3-next-80b-a3b-instruct-maas');
  const {page, quiet} = await open(browser, `#/overview?range=30d&model[eq]=${model}`);
  await ready(page, 'overview');
  assert.equal(await tile(page, 'Cost'), 'unknown');
  await page.goto(`${page.url().split('#')[0]}#/models?range=30d`);
  const row = page.locator('tbody tr', {hasText: 'qwen'});
  await row.waitFor();
  assert.match(await row.textContent(), /unknown/);
  await quiet();
});

test('chooses ranges, and keeps them in the URL', async () => {
  const {page, quiet} = await open(browser, '#/cache');
  await ready(page, 'cache');
  await page.getByRole('heading', {name: 'Cache'}).waitFor();
  await page.getByText('Daily hit rate').waitFor();
  await page.getByRole('button', {name: '1 h', exact: true}).click();
  await page.waitForFunction(() => location.hash === '#/cache?range=1h');
  await page.locator('.segments button[aria-pressed=true]', {hasText: /^1 h$/}).waitFor();
  await page.getByRole('button', {name: 'Custom'}).click();
  const day = (n) => new Date(Date.now() - n * 864e5).toISOString().slice(0, 16);
  await page.getByLabel('From').fill(day(2));
  await page.getByLabel('To', {exact: true}).fill(day(9));
  await page.getByRole('button', {name: 'Apply'}).click();
  assert.ok(page.url().endsWith('range=1h'), 'a range that ends before it begins');
  await page.getByLabel('From').fill(day(9));
  await page.getByLabel('To', {exact: true}).fill(day(2));
  await page.getByRole('button', {name: 'Apply'}).click();
  await page.waitForFunction(() => /from=.*&to=/.test(location.hash) && !location.hash.includes('range'));
  const link = page.url();
  await page.reload();
  await ready(page, 'cache');
  assert.equal(page.url(), link);
  assert.equal(await page.getByRole('button', {name: 'Custom'}).getAttribute('aria-pressed'), 'true');
  await page.goBack();
  await page.waitForFunction(() => location.hash === '#/cache?range=1h');
  await quiet();
});

test('groups and sorts models, and links to the calls', async () => {
  const {page, quiet} = await open(browser, '#/models?range=30d&group=metadata&key=team&sort=cost');
  await ready(page, 'models');
  assert.equal(await page.getByRole('columnheader', {name: 'Cost'}).getAttribute('aria-sort'), 'ascending');
  const order = async () => (await page.locator('tbody th').allTextContents());
  const up = (await order()).filter((n) => !n.includes('<'));
  await page.getByRole('button', {name: 'Cost'}).click();
  await page.waitForFunction(() => location.hash.includes('sort=-cost'));
  await page.locator('th[aria-sort=descending]', {hasText: 'Cost'}).waitFor();
  assert.deepEqual((await order()).filter((n) => !n.includes('<')), up.reverse());
  await page.getByRole('link', {name: 'support'}).click();
  await ready(page, 'logs');
  assert.match(decodeURIComponent(page.url()), /metadata\.team\[eq\]=support/);
  await page.goto(`${page.url().split('#')[0]}#/models`);
  await ready(page, 'models');
  await page.locator('#group').selectOption('user');
  await page.locator('tbody th', {hasText: 'ada'}).waitFor();
  await page.locator('#group').selectOption('metadata');
  await page.getByRole('textbox', {name: 'Key'}).fill('env');
  await page.getByRole('button', {name: 'Show'}).click();
  await page.locator('tbody th', {hasText: 'prod'}).waitFor();
  await quiet();
});

test('adds and removes filters', async () => {
  const {page, quiet} = await open(browser, '#/logs');
  await ready(page, 'logs');
  await page.getByRole('button', {name: '+ Filter'}).click();
  await page.getByLabel('Field').selectOption('model');
  await page.getByLabel('Condition').selectOption('prefix');
  await page.getByLabel('Value').fill('text-emb');
  await page.getByRole('button', {name: 'Add'}).click();
  await page.waitForFunction(() => decodeURIComponent(location.hash).includes('model[prefix]=text-emb'));
  await page.locator('.chip', {hasText: 'text-emb'}).waitFor();
  const models = new Set(await page.locator('tbody tr th').allTextContents());
  assert.deepEqual([...models], ['text-embedding-005 @vx']);
  await page.getByRole('button', {name: '+ Filter'}).click();
  await page.getByLabel('Field').selectOption('duration_ms');
  await page.getByLabel('Condition').selectOption('gt');
  await page.getByLabel('Value').fill('999999999');
  await page.getByRole('button', {name: 'Add'}).click();
  await page.getByText('No call fits').waitFor();
  await page.getByRole('button', {name: /Remove the filter duration_ms/}).click();
  await page.locator('tbody tr').first().waitFor();
  await page.getByRole('button', {name: 'Failed', exact: true}).click();
  await page.waitForFunction(() => decodeURIComponent(location.hash).includes('failed[eq]=true'));
  await page.getByRole('button', {name: 'Clear all'}).click();
  await page.waitForFunction(() => location.hash === '#/logs');
  await page.getByLabel('Search').fill('past000042');
  await page.waitForFunction(() => location.hash.includes('q=past000042') && document.querySelectorAll('tbody tr').length === 1);
  await quiet();
});

test('shows a mistake in a link as what it is', async () => {
  const {page, noise} = await open(browser, '#/logs?modle[eq]=x');
  await page.getByRole('alert').waitFor();
  assert.match(await page.getByRole('alert').textContent(), /modle|model/);
  assert.equal(noise.filter((n) => !n.includes('400')).length, 0);
  await page.context().close();
});

test('shows errors by code and the latest of them', async () => {
  const {page, quiet} = await open(browser, '#/errors?range=30d');
  await ready(page, 'errors');
  await page.locator('table', {has: page.getByText('By code', {exact: false})}).first().waitFor();
  const {total} = await api(`analytics?from=${new Date(Date.now() - 30 * 864e5).toISOString()}`);
  assert.ok(total.errors > 20);
  assert.match(await page.locator('.lead').textContent(), /of .* calls failed/);
  await page.getByRole('link', {name: 'rate_limited'}).first().click();
  await ready(page, 'logs');
  assert.match(decodeURIComponent(page.url()), /error_code\[eq\]=rate_limited/);
  await page.goBack();
  await ready(page, 'errors');
  await page.locator('.walked tbody tr').first().click();
  await page.locator('dialog[open] .failure').waitFor();
  await quiet();
});

test('shows prompts and the catalog without any secret', async () => {
  const {page, quiet} = await open(browser, '#/prompts/welcome');
  await ready(page, 'prompts');
  await page.getByText('You work for {{company}}.').waitFor();
  assert.match(await page.locator('.prompt').textContent(), /production → 1/);
  await page.goto(`${page.url().split('#')[0]}#/catalog`);
  await ready(page, 'catalog');
  await page.locator('summary', {hasText: 'fallback'}).click();
  await page.getByText('targets[0]').or(page.getByText('new', {exact: true})).first().waitFor();
  const text = await page.locator('main').textContent();
  assert.match(text, /acme-prod/);
  assert.doesNotMatch(text, /CANARY/);
  await quiet();
});

test('says what to do where there is nothing', async () => {
  const {page, quiet} = await open(browser, '', {bare: true});
  for (const [view, text] of Object.entries({overview: 'WithLog', cache: 'WithLog', models: 'WithLog', errors: 'WithLog', logs: 'WithLog', prompts: 'No prompts', catalog: 'WithCatalog'})) {
    await page.locator(`#nav [data-view=${view}]`).click();
    await page.locator('.empty', {hasText: text}).waitFor();
  }
  await quiet();
});

test('tells when the gateway is gone, and goes on when it is back', async () => {
  const {page, noise} = await open(browser, '#/logs');
  await ready(page, 'logs');
  await page.context().setOffline(true);
  await page.locator('.at', {hasText: 'does not answer'}).waitFor();
  await page.locator('#nav [data-view=overview]').click();
  await page.getByText('This could not be loaded').waitFor();
  await page.context().setOffline(false);
  await page.getByRole('button', {name: 'Try again'}).click();
  await ready(page, 'overview');
  assert.deepEqual(noise.filter((n) => !n.includes('ERR_INTERNET_DISCONNECTED')), []);
  await page.context().close();
});

test('asks again with the tag of what it has', async () => {
  const {page, base, quiet} = await open(browser);
  const first = await page.request.get(`${base}app.js`);
  const again = await page.request.get(`${base}app.js`, {headers: {'if-none-match': first.headers().etag}});
  assert.equal(again.status(), 304);
  await ready(page, 'overview');
  await quiet();
});
