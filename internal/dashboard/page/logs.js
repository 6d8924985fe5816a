// The view of single calls, which follows what comes in.
import * as api from './api.js';
import {button, el, empty, put, say} from './dom.js';
import {brief, money, ms, NONE, when} from './format.js';
import {filterBar, filtersOf} from './filters.js';
import {head, orNone} from './frame.js';
import {rangeOf} from './range.js';
import {record} from './record.js';
import {row, walk} from './table.js';

export const title = 'Logs';

const POLL = 2000; // ms
const PAGE = 50;
const MOST = 1000; // rows, beyond which it begins anew

// tone is how a call went.
export const tone = (r) => (r.error ? 'bad' : /Hit/.test(r.cache_status || '') ? 'good' : r.warnings?.length ? 'warn' : 'plain');
// keyOf is what tells a call apart. Callers choose ids, so that one may come again at
// another time.
const keyOf = (r) => `${r.id} ${r.time}`;
const WORD = {bad: 'failed', good: 'from the cache', warn: 'with warnings', plain: 'did well'};

const columns = [
  {id: 'time', text: 'Time', show: (r) => when(r.time)},
  {id: 'status', text: 'Status', show: (r) => el('span', {class: `tag ${tone(r)}`, title: WORD[tone(r)], text: r.error ? r.error.code : tone(r) === 'good' ? 'hit' : 'ok'})},
  {id: 'operation', text: 'Operation', wide: true, class: 'clip', show: (r) => [r.operation, r.stream && el('span', {class: 'muted', text: ' stream'})]},
  {id: 'model', text: 'Model', row: true, class: 'clip', show: (r) => [orNone(r.model || r.requested_model), r.slug && el('span', {class: 'muted', text: ` @${r.slug}`})]},
  {id: 'tokens', text: 'Tokens', num: true, wide: true, show: (r) => (r.tokens ? brief(r.tokens.total) : NONE)},
  {id: 'cost', text: 'Cost', num: true, wide: true, show: (r) => (r.cost_usd === undefined ? el('span', {class: 'muted', text: r.tokens ? 'unknown' : NONE}) : money(r.cost_usd))},
  {id: 'latency', text: 'Latency', num: true, show: (r) => ms(r.duration_ms)},
  {id: 'first', text: 'First chunk', num: true, wide: true, show: (r) => (r.first_chunk_ms ? ms(r.first_chunk_ms) : NONE)},
  {id: 'tries', text: 'Attempts', num: true, wide: true, show: (r) => (r.attempts ? String(r.attempts.length) : NONE)},
  {id: 'user', text: 'User', wide: true, class: 'clip', show: (r) => orNone(r.user)},
];

// query is what the gateway is asked for.
function query(params) {
  const out = filtersOf(params);
  if (params.get('q')) out.push(['q', params.get('q')]);
  if (params.get('range') || params.get('from')) out.push(...Object.entries(rangeOf(params).params));
  return out;
}

const same = (a, b) => String(new URLSearchParams(a)) === String(new URLSearchParams(b));

export async function open(ctx) {
  if (!ctx.about.logs) {
    put(ctx.main, el('h1', {text: title}), empty('No records are kept', 'Give the client a log with a store: gateway.WithLog(log). Then every call is here.'));
    return undefined;
  }
  const list = new List(ctx);
  await list.load();
  put(ctx.main, head(title, list.status, list.pauseButton, exportButton(ctx, 'jsonl'), exportButton(ctx, 'csv')),
    el('div', {class: 'controls'}, search(ctx), quick(ctx), await filterBar(ctx)), list.view);
  ctx.every(POLL, () => list.poll());
  const shown = record(ctx, list);
  ctx.signal.addEventListener('abort', () => shown.drop());
  shown.show(ctx.route);
  return (route) => {
    if (!same(route.params, ctx.route.params)) return false;
    ctx.route = route;
    shown.show(route);
    return true;
  };
}

// search looks for a text while it is typed.
function search(ctx) {
  let timer;
  const go = () => ctx.change({q: input.value.trim()});
  const input = el('input', {type: 'search', name: 'q', id: 'q', placeholder: 'Search ids, models, users, errors, metadata', value: ctx.route.params.get('q') || '', autocomplete: 'off', spellcheck: 'false', 'aria-label': 'Search',
    on: {input: () => { clearTimeout(timer); timer = setTimeout(go, 600); }, search: go}});
  ctx.signal.addEventListener('abort', () => clearTimeout(timer));
  return el('form', {class: 'search', role: 'search', on: {submit: (e) => { e.preventDefault(); clearTimeout(timer); go(); }}}, input);
}

// quick are filters that are wanted often.
function quick(ctx) {
  const params = ctx.route.params;
  const one = (text, name, value) => {
    const on = params.getAll(name).includes(value);
    return button(text, () => ctx.change({[name]: on ? null : value}), {'aria-pressed': String(on)});
  };
  const range = (name) => button(name === '' ? 'Any time' : `Last ${name}`, () => ctx.change({range: name || null, from: null, to: null}), {'aria-pressed': String((params.get('range') || (params.get('from') ? 'custom' : '')) === name)});
  return [el('div', {class: 'segments', role: 'group', 'aria-label': 'Often used filters'},
    one('Failed', 'failed[eq]', 'true'), one('Cache hits', 'cache_status[in]', 'Cache Hit,Cache Semantic Hit'), one('Over 5 s', 'duration_ms[gt]', '5000'), one('With warnings', 'warnings[gt]', '0')),
  el('div', {class: 'segments', role: 'group', 'aria-label': 'Range of time'}, ['', '1h', '24h', '7d'].map(range))];
}

function exportButton(ctx, format) {
  const b = button(format === 'csv' ? 'Export CSV' : 'Export JSONL', async () => {
    b.disabled = true;
    try {
      await api.download('logs/export', [...query(ctx.route.params), ['format', format]], `gateway-logs.${format}`);
      say('The export is saved');
    } catch (e) {
      say(e.message);
      b.title = e.message;
      b.textContent = 'Export failed';
    }
    b.disabled = false;
  }, {class: 'quiet'});
  return b;
}

// List is the table of calls, the newest first. Rows stay the same elements while
// others come in, so that focus and place are kept.
class List {
  constructor(ctx) {
    this.ctx = ctx;
    this.records = [];
    this.rows = new Map(); // by keyOf
    this.next = '';
    this.paused = ctx.route.params.get('paused') === '1';
    this.status = el('span', {class: 'muted at'});
    this.pauseButton = button('', () => this.pause(!this.paused), {class: 'quiet pause'});
    this.body = el('tbody');
    this.more = button('Older calls', () => this.older(), {class: 'more'});
    this.note = el('div');
    this.frame = el('div', {class: 'card scroll', role: 'region', 'aria-label': 'Calls'},
      el('table', {class: 'walked logs'}, el('caption', {class: 'only-read', text: 'Calls, the newest first. Arrow keys move between the rows, Enter opens one.'}),
        el('thead', {}, el('tr', {}, columns.map((c) => el('th', {scope: 'col', text: c.text, class: [c.num && 'num', c.wide && 'wide'].filter(Boolean).join(' ') || null})))), this.body));
    this.view = el('div', {class: 'content'}, this.frame, this.note, el('div', {class: 'center'}, this.more));
    walk(this.body);
    this.pause(this.paused);
  }

  pause(paused) {
    this.paused = paused;
    put(this.pauseButton, el('span', {'aria-hidden': 'true', text: paused ? '▶ ' : '❚❚ '}), paused ? 'Follow' : 'Pause', el('span', {class: 'only-read', text: paused ? ' new calls' : ' following new calls'}));
    put(this.status, el('span', {class: `pulse ${paused ? 'off' : ''}`}), paused ? 'paused' : 'live');
    if (!paused && this.loaded) this.poll();
  }

  fetch(more = []) {
    return this.ctx.get('logs', [...query(this.ctx.route.params), ['limit', PAGE], ...more]);
  }

  async load() {
    const page = await this.fetch();
    this.loaded = true;
    this.next = page.next_cursor || '';
    this.take(page.data);
  }

  async poll() {
    if (this.paused || this.busy) return;
    this.busy = true;
    try {
      const page = await this.fetch();
      const known = page.data.some((r) => this.rows.has(keyOf(r)));
      // When more came in than a page has, what is between is behind its cursor.
      if ((!known && page.next_cursor) || (this.records.length > MOST && scrollY < 200)) {
        this.records = [];
        this.rows.clear();
        this.body.replaceChildren();
      }
      if (!this.rows.size) this.next = page.next_cursor || '';
      this.take(page.data, true);
      this.status.lastChild.textContent = 'live';
    } catch (e) {
      if (e.name !== 'AbortError') this.status.lastChild.textContent = e.message;
    } finally {
      this.busy = false;
    }
  }

  async older() {
    this.more.disabled = true;
    try {
      const page = await this.fetch([['cursor', this.next]]);
      this.next = page.next_cursor || '';
      this.take(page.data);
    } catch (e) {
      if (e.name !== 'AbortError') say(e.message);
    }
    this.more.disabled = false;
    this.more.hidden = !this.next;
  }

  // take puts records where their time says; fresh ones are marked for a while.
  take(records, mark = false) {
    let fresh = 0;
    for (const r of records) {
      const key = keyOf(r), text = JSON.stringify(r), old = this.rows.get(key);
      if (old?.text === text) continue;
      const tr = row(columns, r, () => this.go(r));
      tr.dataset.id = r.id;
      this.rows.set(key, {text, tr});
      if (old) {
        this.records[this.records.findIndex((o) => keyOf(o) === key)] = r;
        const focused = old.tr === document.activeElement;
        old.tr.replaceWith(tr);
        if (focused) tr.focus();
        continue;
      }
      const at = this.records.findIndex((o) => o.time < r.time);
      const before = at < 0 ? null : this.rows.get(keyOf(this.records[at])).tr;
      this.records.splice(at < 0 ? this.records.length : at, 0, r);
      this.body.insertBefore(tr, before);
      if (mark) {
        fresh++;
        tr.classList.add('fresh');
        setTimeout(() => tr.classList.remove('fresh'), 3000);
      }
    }
    if (fresh) say(`${fresh} new ${fresh === 1 ? 'call' : 'calls'}`);
    this.frame.hidden = !this.records.length;
    this.more.hidden = !this.next;
    put(this.note, !this.records.length && this.nothing());
  }

  nothing() {
    return query(this.ctx.route.params).length
      ? empty('No call fits', 'Take filters away, or search for something else. New calls that fit come up by themselves.')
      : empty('No calls yet', 'Send one to the gateway, and it is here within seconds. For example:', el('pre', {tabindex: '0', text: example()}));
  }

  go(r) { location.hash = this.ctx.href('logs', this.ctx.route.params, r.id, r.time); }
  leave() { location.hash = this.ctx.href('logs', this.ctx.route.params); }

  // find returns where a record is, -1 for nowhere; without a time the newest of the id.
  find({id, time}) { return this.records.findIndex((r) => r.id === id && (!time || r.time === time)); }

  focus(which) {
    const r = this.records[this.find(which)];
    if (r) this.rows.get(keyOf(r)).tr.focus();
  }

  // beside returns the record that stands by places further down.
  beside(which, by) {
    const at = this.find(which);
    return at < 0 ? undefined : this.records[at + by];
  }
}

const example = () => `curl ${location.origin}/v1/chat/completions \\
  -H 'x-gateway-api-key: KEY' -H 'content-type: application/json' \\
  -d '{"model": "gemini-2.5-flash", "messages": [{"role": "user", "content": "Hello"}]}'`;
