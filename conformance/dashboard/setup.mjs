// What the tests share: the browser, pages that note what must not happen, and calls
// through the gateway.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import {chromium} from 'playwright-core';

export const url = process.env.GATEWAY_URL;
export const bareURL = process.env.GATEWAY_BARE_URL;
export const key = process.env.GATEWAY_KEY;
export const clientKey = process.env.GATEWAY_CLIENT_KEY;
const prefix = process.env.GATEWAY_PREFIX;

const WIDE = {width: 1360, height: 900};

export const launch = () => chromium.launch({
  executablePath: process.env.GATEWAY_CHROMIUM, headless: true,
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});

// open shows the dashboard in a browser of its own kind: quiet() at the end fails when
// there was an error, a violation of the policy, or a request to somebody else.
export async function open(browser, hash = '', {signedIn = true, bare = false, own = false, viewport = WIDE, ...options} = {}) {
  const base = (bare ? bareURL : url) + (own ? '/own' : prefix) + '/';
  const context = await browser.newContext({viewport, locale: 'en-US', timezoneId: 'Europe/Berlin', acceptDownloads: true, ...options});
  const noise = [];
  context.on('request', (r) => {
    if (!`${r.url()}/`.startsWith(base) && !r.url().startsWith('blob:')) noise.push(`request to ${r.url()}`);
  });
  const page = await context.newPage();
  page.setDefaultTimeout(20000);
  page.on('console', (m) => { if (['error', 'warning'].includes(m.type())) noise.push(`${m.type()}: ${m.text()}`); });
  page.on('pageerror', (e) => noise.push(`exception: ${e.message}`));
  page.on('dialog', (d) => { noise.push(`dialog: ${d.message()}`); d.dismiss(); });
  await page.exposeBinding('noteViolation', (_, what) => noise.push(`violation: ${what}`));
  await page.addInitScript(({k, name}) => {
    document.addEventListener('securitypolicyviolation', (e) => window.noteViolation(`${e.violatedDirective} ${e.blockedURI}`));
    if (k && !sessionStorage.getItem('seen')) sessionStorage.setItem(name, k);
    sessionStorage.setItem('seen', '1');
  }, {k: signedIn ? key : '', name: 'gateway-dashboard-key'});
  await page.goto(base + hash);
  return {
    page, base, noise,
    async quiet() {
      assert.deepEqual(noise, []);
      assert.equal(await page.evaluate(() => window.hacked), undefined, 'markup of data was run');
      await context.close();
    },
  };
}

// views are all of them, with what says that they are there.
export const views = {
  overview: '.tiles', cache: '.tiles', models: 'tbody tr', errors: '.chart', logs: 'tbody tr', prompts: '.prompt', catalog: '.cards',
};

export async function ready(page, view) {
  await page.waitForFunction((v) => location.hash.startsWith(`#/${v}`) || (v === 'overview' && !location.hash), view);
  await page.locator(`#nav [data-view=${view}][aria-current=page]`).waitFor();
  await page.locator(`main ${views[view]}`).first().waitFor();
}

// call asks a model through the front.
export async function call(body = {}, headers = {}) {
  const res = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST', headers: {'x-gateway-api-key': key, 'content-type': 'application/json', ...headers},
    body: JSON.stringify({model: '@vx/gemini-2.5-flash', messages: [{role: 'user', content: 'Hello there'}], ...body}),
  });
  await res.text();
  return {status: res.status, id: res.headers.get('x-gateway-request-id')};
}

// api asks the dashboard's own data.
export const api = async (what) => (await fetch(`${url}${prefix}/api/${what}`, {headers: {'x-gateway-api-key': key}})).json();

export async function shot(page, name, options = {}) {
  fs.mkdirSync(process.env.GATEWAY_SHOTS, {recursive: true});
  await page.screenshot({path: path.join(process.env.GATEWAY_SHOTS, `${name}.png`), ...options});
}
