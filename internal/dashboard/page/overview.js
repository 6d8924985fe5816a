// The view of everything at a glance.
import {chart} from './chart.js';
import {el} from './dom.js';
import {brief, cost, count, latency, money, ms, NONE, percent, UNKNOWN} from './format.js';
import {change, frame, nothingYet, report, series, tile, times} from './frame.js';
import {row, table} from './table.js';

export const title = 'Overview';

const ok = (t) => t.requests - t.errors;
const orNull = (n, v) => (n ? v : null);

export const open = (ctx) => frame(ctx, title, {}, async (range) => {
  const [now, before, byModel] = await Promise.all([
    report(ctx, range, {every: true}), report(ctx, range, {before: true}), report(ctx, range, {by: 'model', top: 6})]);
  if (!now.total.requests) return nothingYet(range);
  return [tiles(now, before.total, range), charts(now, range), top(ctx, byModel)];
});

function tiles({total: t, series: points = []}, b, range) {
  const of = (f) => points.map((p) => f(p.totals));
  const looked = t.cache.hits + t.cache.semantic_hits + t.cache.misses;
  const perMinute = t.requests / ((Math.min(range.to, Date.now()) - range.from) / 60e3);
  return el('section', {class: 'tiles', 'aria-label': 'Sums of the range'},
    tile('Requests', brief(t.requests), {note: perMinute < 1 ? `${brief(perMinute * 60)} an hour` : `${brief(perMinute)} a minute`, spark: of((x) => x.requests), delta: change(t.requests, b.requests)}),
    tile('Errors', brief(t.errors), {note: `${percent(t.error_rate)} of requests`, tone: t.errors ? 'bad' : '', spark: of((x) => x.errors), delta: change(t.error_rate, b.error_rate, -1)}),
    tile('Cost', t.unpriced && !t.cost_usd ? UNKNOWN : money(t.cost_usd), {note: t.unpriced ? `${count(t.unpriced)} calls without a known price` : `${money(t.requests ? t.cost_usd / t.requests : 0)} a request`, spark: of((x) => x.cost_usd), delta: change(t.cost_usd, b.cost_usd)}),
    tile('Tokens', brief(t.tokens.total), {note: `${brief(t.tokens.prompt)} in, ${brief(t.tokens.completion)} out`, spark: of((x) => x.tokens.total), delta: change(t.tokens.total, b.tokens.total)}),
    tile('Latency p50', latency(t.duration_ms, 'p50'), {note: `first chunk ${latency(t.first_chunk_ms, 'p50')}`, spark: of((x) => orNull(x.duration_ms.count, x.duration_ms.p50)), delta: change(t.duration_ms.p50, b.duration_ms.p50, -1)}),
    tile('Latency p95', latency(t.duration_ms, 'p95'), {note: `first chunk ${latency(t.first_chunk_ms, 'p95')}`, spark: of((x) => orNull(x.duration_ms.count, x.duration_ms.p95)), delta: change(t.duration_ms.p95, b.duration_ms.p95, -1)}),
    tile('Cache hit rate', looked ? percent(t.cache.hit_rate) : NONE, {note: looked ? `${count(t.cache.hits + t.cache.semantic_hits)} of ${count(looked)}` : 'the cache was not asked', spark: of((x) => orNull(x.cache.hits + x.cache.semantic_hits + x.cache.misses, x.cache.hit_rate)), delta: change(t.cache.hit_rate, b.cache.hit_rate, 1)}),
    tile('Saved by the cache', money(t.cache.money_saved_usd), {note: `${ms(t.cache.time_saved_ms)} of waiting`, tone: t.cache.money_saved_usd ? 'good' : '', spark: of((x) => x.cache.money_saved_usd), delta: change(t.cache.money_saved_usd, b.cache.money_saved_usd, 1)}));
}

function charts({series: p = []}, range) {
  const common = {times: times(p), step: range.step};
  return el('section', {class: 'charts', 'aria-label': 'Over time'},
    chart({...common, title: 'Requests', format: brief, series: [series(p, 'did well', 'ok', ok), series(p, 'failed', 'bad', (t) => t.errors)]}),
    chart({...common, title: 'Latency', kind: 'lines', format: ms, series: [
      series(p, 'p50', 1, (t) => orNull(t.duration_ms.count, t.duration_ms.p50)), series(p, 'p95', 3, (t) => orNull(t.duration_ms.count, t.duration_ms.p95)),
      series(p, 'first chunk p50', 2, (t) => orNull(t.first_chunk_ms.count, t.first_chunk_ms.p50))]}),
    chart({...common, title: 'Cost', note: 'US dollars, of known prices', format: money, series: [series(p, 'cost', 1, (t) => t.cost_usd)]}),
    chart({...common, title: 'Tokens', format: brief, series: [series(p, 'in', 1, (t) => t.tokens.prompt), series(p, 'out', 2, (t) => t.tokens.completion)]}),
    chart({...common, title: 'Errors', kind: 'lines', note: 'share of requests', format: percent, series: [series(p, 'error rate', 'bad', (t) => orNull(t.requests, t.error_rate))]}),
    chart({...common, title: 'Cache', note: 'answers of calls that looked', format: brief, series: [
      series(p, 'hits', 'ok', (t) => t.cache.hits), series(p, 'by meaning', 2, (t) => t.cache.semantic_hits), series(p, 'misses', 'none', (t) => t.cache.misses)]}));
}

function top(ctx, {groups = [], other}) {
  const columns = [
    {id: 'model', text: 'Model', row: true, class: 'clip', show: (g) => el('a', {href: g.key[0] ? ctx.href('logs', [...kept(ctx), ['model[eq]', g.key[0]]]) : ctx.href('logs', kept(ctx)), text: g.key[0] || 'no model'})},
    {id: 'requests', text: 'Requests', num: true, show: (g) => count(g.totals.requests)},
    {id: 'errors', text: 'Errors', num: true, show: (g) => el('span', {class: g.totals.errors ? 'bad' : 'muted', text: count(g.totals.errors)})},
    {id: 'tokens', text: 'Tokens', num: true, wide: true, show: (g) => brief(g.totals.tokens.total)},
    {id: 'cost', text: 'Cost', num: true, show: (g) => cost(g.totals.cost_usd, g.totals.unpriced)},
    {id: 'p95', text: 'p95', num: true, show: (g) => latency(g.totals.duration_ms, 'p95')},
  ];
  const made = table({caption: 'Models with the most requests', columns, rows: groups});
  if (other?.requests) made.querySelector('tbody').append(row([{...columns[0], show: () => 'all others'}, ...columns.slice(1)], {key: [''], totals: other}));
  return el('section', {class: 'card'}, el('div', {class: 'card-head'}, el('h2', {text: 'Models'}), el('span', {class: 'grow'}), el('a', {href: ctx.href('models', kept(ctx)), text: 'All models'})), made);
}

// kept are the parameters that other views understand too.
export const kept = (ctx) => [...ctx.route.params].filter(([name]) => !['group', 'key', 'sort'].includes(name));
