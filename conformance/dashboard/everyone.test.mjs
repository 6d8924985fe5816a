// The page for everyone: by keyboard, in the dark, on a phone, read aloud; and against
// those who send markup.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import {createRequire} from 'node:module';
import {after, before, test} from 'node:test';
import {call, key, launch, open, ready, shot, views} from './setup.mjs';

const axe = fs.readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

let browser;
before(async () => { browser = await launch(); });
after(() => browser?.close());

test('is used by the keyboard alone', async () => {
  const {page, quiet} = await open(browser, '#/logs', {signedIn: false});
  const press = async (...keys) => { for (const k of keys) await page.keyboard.press(k); };
  const focus = () => page.evaluate(() => document.activeElement.id || document.activeElement.textContent.trim());
  await page.locator('#key').waitFor();
  await page.keyboard.type(key);
  await press('Enter');
  await ready(page, 'logs');
  assert.equal(await focus(), 'main');
  await page.reload();
  await ready(page, 'logs');
  await press('Tab');
  assert.equal(await focus(), 'skip');
  assert.ok((await page.locator('#skip').boundingBox()).y >= 0);
  await press('Enter');
  assert.equal(await focus(), 'main');
  let stops = 0;
  while (!(await page.evaluate(() => document.activeElement.matches('tbody tr')))) {
    await press('Tab');
    assert.ok(++stops < 40, 'the table can not be reached');
    const seen = await page.evaluate(() => {
      const s = getComputedStyle(document.activeElement);
      return document.activeElement === document.body || s.outlineStyle !== 'none';
    });
    assert.ok(seen, `no ring around ${await focus()}`);
  }
  await press('ArrowDown', 'ArrowDown', 'ArrowUp');
  assert.equal(await page.evaluate(() => [...document.querySelectorAll('tbody tr')].indexOf(document.activeElement)), 1);
  await press('End', 'Home', 'ArrowDown', 'Enter');
  await page.locator('dialog[open] .facts').first().waitFor();
  assert.ok(await page.evaluate(() => document.querySelector('dialog').contains(document.activeElement)));
  await press('Escape');
  await page.waitForFunction(() => document.activeElement.matches('tbody tr'));
  assert.equal(await page.evaluate(() => [...document.querySelectorAll('tbody tr')].indexOf(document.activeElement)), 1);
  await page.goto(`${page.url().split('#')[0]}#/overview?range=7d`);
  await ready(page, 'overview');
  await page.locator('.plot').first().focus();
  await press('ArrowLeft', 'ArrowLeft');
  assert.match(await page.locator('.plot').first().getAttribute('aria-valuetext'), /: did well \d.*, failed \d/);
  assert.equal(await page.locator('.tip:visible').count(), 1);
  await press('Escape');
  assert.equal(await page.locator('.tip:visible').count(), 0);
  await page.getByRole('button', {name: 'Requests as a table'}).focus();
  await press('Enter');
  await page.getByRole('region', {name: 'Requests, as a table'}).locator('tbody tr').first().waitFor();
  await quiet();
});

const ground = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor.match(/[\d.]+/g).slice(0, 3).reduce((a, b) => a + Number(b), 0) / 3);

test('is light and dark, as the system or the user wants it', async () => {
  const {page, quiet} = await open(browser, '#/overview', {colorScheme: 'dark'});
  await ready(page, 'overview');
  assert.ok(await ground(page) < 60);
  await page.locator('#theme').click();
  assert.ok(await ground(page) > 200);
  await page.reload();
  await ready(page, 'overview');
  assert.ok(await ground(page) > 200, 'the choice is kept');
  await page.locator('#theme').click();
  assert.ok(await ground(page) < 60);
  for (const view of Object.keys(views)) {
    await page.locator(`#nav [data-view=${view}]`).click();
    await ready(page, view);
    await shot(page, `${view}-dark`, {fullPage: view !== 'logs'});
  }
  await quiet();
});

for (const width of [320, 390]) {
  test(`fits a phone of ${width} pixels`, async () => {
    const {id} = await call({messages: [{role: 'user', content: `Fit ${'long'.repeat(60)}`}]}, {'x-gateway-config': 'fallback'});
    const {page, quiet} = await open(browser, '#/overview', {viewport: {width, height: 780}, hasTouch: true, isMobile: true});
    const fits = async (where) => {
      const over = await page.evaluate(() => document.scrollingElement.scrollWidth - innerWidth);
      assert.ok(over <= 0, `${where} is ${over} pixels too wide`);
    };
    for (const view of Object.keys(views)) {
      await page.locator(`#nav [data-view=${view}]`).tap();
      await ready(page, view);
      await fits(view);
      if (width > 320) await shot(page, `${view}-phone`, {fullPage: view !== 'logs'});
    }
    await page.goto(`${page.url().split('#')[0]}#/logs`);
    await page.locator(`tr[data-id="${id}"]`).tap();
    await page.locator('dialog[open] .waterfall').waitFor();
    const box = await page.locator('.record-body').evaluate((e) => e.scrollWidth - e.clientWidth);
    assert.ok(box <= 0, `the call is ${box} pixels too wide`);
    await fits('the call');
    if (width > 320) await shot(page, 'record-phone');
    await page.getByRole('button', {name: 'Close'}).tap();
    await page.getByRole('button', {name: '+ Filter'}).tap();
    await fits('the filter form');
    await quiet();
  });
}

test('keeps still for those who want that', async () => {
  const {page, quiet} = await open(browser, '#/logs', {reducedMotion: 'reduce'});
  await ready(page, 'logs');
  const {id} = await call();
  await page.locator(`tr[data-id="${id}"].fresh`).waitFor();
  const moving = await page.evaluate(() => [...document.querySelectorAll('*')].filter((e) => getComputedStyle(e).animationName !== 'none').length);
  assert.equal(moving, 0);
  await quiet();
});

test('tells times in the local zone, and in UTC to hover over', async () => {
  const {page, quiet} = await open(browser, '#/logs?paused=1');
  await ready(page, 'logs');
  const [text, title, iso] = await page.locator('tbody time').first().evaluate((t) => [t.textContent, t.title, t.dateTime]);
  const berlin = new Intl.DateTimeFormat('en-US', {timeZone: 'Europe/Berlin', hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23'}).format(new Date(iso));
  assert.ok(text.endsWith(berlin), `${text}, want ${berlin}`);
  assert.equal(title, `${iso.replace('T', ' ').replace('Z', '')} UTC`);
  await quiet();
});

for (const colorScheme of ['light', 'dark']) {
  test(`has no serious fault for those who read it otherwise, ${colorScheme}`, async () => {
    const {id} = await call({}, {'x-gateway-config': 'fallback'});
    const {page, base, noise} = await open(browser, '#/overview', {colorScheme, bypassCSP: true, reducedMotion: 'reduce', signedIn: false});
    await page.locator('#key').waitFor();
    const check = async (where) => {
      await page.evaluate(axe);
      const {violations} = await page.evaluate(() => window.axe.run(document, {resultTypes: ['violations']}));
      const bad = violations.filter((v) => ['serious', 'critical'].includes(v.impact));
      assert.deepEqual(bad.map((v) => `${where}: ${v.id}: ${v.nodes.map((n) => `${n.html.slice(0, 160)} ${n.any[0]?.message ?? ''}`).join('\n  ')}`), []);
    };
    await check('sign in');
    await page.locator('#key').fill(key);
    await page.keyboard.press('Enter');
    for (const view of Object.keys(views)) {
      await page.goto(`${base}#/${view}`);
      await ready(page, view);
      for (const closed of await page.locator('main summary').all()) if (!(await closed.evaluate((s) => s.parentElement.open))) await closed.click({position: {x: 4, y: 8}});
      if (await page.getByRole('button', {name: '+ Filter'}).count()) await page.getByRole('button', {name: '+ Filter'}).click();
      await check(view);
    }
    await page.goto(`${base}#/logs/${id}`);
    await page.locator('dialog[open] .waterfall').waitFor();
    await check('one call');
    if (colorScheme === 'dark') await shot(page, 'record-dark');
    assert.deepEqual(noise, []);
    await page.context().close();
  });
}

test('runs no markup that others send', async () => {
  const {page, base, quiet} = await open(browser, '#/logs?q=onerror');
  const text = '<img src=x onerror=window.hacked=1>';
  await page.locator('tbody tr').first().click();
  const box = page.locator('dialog[open]');
  await box.locator('.waterfall').waitFor();
  for (const closed of await box.locator('summary').all()) await closed.click();
  assert.ok((await box.textContent()).split(text).length > 20, 'it is shown as text');
  await box.getByRole('button', {name: 'Close'}).click();
  for (const path of ['overview?range=30d', 'models?range=30d', 'models?group=metadata&key=team', 'models?group=user', 'models?group=provider', 'errors?range=1h', 'cache?range=1h', 'prompts/welcome', 'catalog',
    `logs?model[eq]=${encodeURIComponent(text)}`, `logs?q=${encodeURIComponent(text)}`, `models?group=metadata&key=${encodeURIComponent(text)}`, encodeURIComponent(text), `logs/${encodeURIComponent(`${text}?#%2e&id`)}`]) {
    await page.goto(`${base}#/${path}`);
    await page.reload();
    await page.locator('main h1, main .tiles, main .empty').first().waitFor();
    await page.waitForTimeout(300);
    assert.equal(await page.locator('img, script:not([src])').count(), 0, path);
  }
  await call({user: text, model: `@vx/${text}`}, {'x-gateway-metadata': JSON.stringify({team: text})});
  await page.goto(`${base}#/logs`);
  await page.locator('tbody tr', {hasText: text}).first().waitFor();
  assert.equal(await page.locator('img').count(), 0);
  await quiet();
});
