// The view of what the response cache does.
import {chart, proportions} from './chart.js';
import {el} from './dom.js';
import {brief, count, latency, money, ms, NONE, percent} from './format.js';
import {change, frame, nothingYet, report, series, tile, times} from './frame.js';
import {kept} from './overview.js';
import {table} from './table.js';

export const title = 'Cache';

const DAY = 86400e3;
const hits = (c) => c.hits + c.semantic_hits;
const looked = (c) => hits(c) + c.misses;
const orNull = (n, v) => (n ? v : null);

export const open = (ctx) => frame(ctx, title, {fallback: '30d', extra: [
  el('p', {class: 'muted note', text: 'The hit rate is the share of hits, of both kinds, among the calls that looked: hits and misses.'})]}, async (range) => {
  const daily = range.to - range.from > 2 * DAY;
  const every = daily ? '24h' : range.every;
  const [now, before, byModel] = await Promise.all([
    report(ctx, range, {every}), report(ctx, range, {before: true}), report(ctx, range, {by: 'model'})]);
  if (!now.total.requests) return nothingYet(range);
  const c = now.total.cache, b = before.total.cache;
  const of = (f) => (now.series || []).map((p) => f(p.totals.cache));
  return [
    el('section', {class: 'tiles', 'aria-label': 'Sums of the range'},
      tile('Hit rate', looked(c) ? percent(c.hit_rate) : NONE, {note: `${count(hits(c))} of ${count(looked(c))} calls that looked`, delta: change(c.hit_rate, b.hit_rate, 1), spark: of((x) => orNull(looked(x), x.hit_rate))}),
      tile('Money saved', money(c.money_saved_usd), {note: 'of hits with a known price', tone: c.money_saved_usd ? 'good' : '', delta: change(c.money_saved_usd, b.money_saved_usd, 1), spark: of((x) => x.money_saved_usd)}),
      tile('Time saved', ms(c.time_saved_ms), {note: 'against the calls that made the answers', delta: change(c.time_saved_ms, b.time_saved_ms, 1), spark: of((x) => x.time_saved_ms)}),
      tile('Latency of hits', latency(c.latency_ms, 'mean'), {note: `on average; p95 ${latency(c.latency_ms, 'p95')}`, delta: change(c.latency_ms.mean, b.latency_ms.mean, -1), spark: of((x) => orNull(x.latency_ms.count, x.latency_ms.mean))})),
    charts(now.series || [], daily ? DAY : range.step, daily,
      proportions('Statuses', [
        {name: 'Cache Hit', color: 'ok', value: c.hits}, {name: 'Cache Semantic Hit', color: 2, value: c.semantic_hits}, {name: 'Cache Miss', color: 3, value: c.misses},
        {name: 'Cache Refreshed', color: 4, value: c.refreshes}, {name: 'Cache Disabled', color: 'none', value: c.disabled}], count)),
    byModels(ctx, byModel.groups || []),
  ];
});

function charts(p, step, daily, statuses) {
  const common = {times: times(p), step};
  return el('section', {class: 'charts', 'aria-label': 'Over time'},
    chart({...common, title: daily ? 'Daily hit rate' : 'Hit rate', note: daily ? 'days of UTC' : '', kind: 'lines', max: 1, format: percent, series: [series(p, 'hit rate', 1, (t) => orNull(looked(t.cache), t.cache.hit_rate))]}),
    chart({...common, title: 'Average latency', kind: 'lines', format: ms, series: [
      series(p, 'hits', 'ok', (t) => orNull(t.cache.latency_ms.count, t.cache.latency_ms.mean)), series(p, 'all calls', 1, (t) => orNull(t.duration_ms.count, t.duration_ms.mean))]}),
    chart({...common, title: 'Time saved', format: ms, series: [series(p, 'time saved', 2, (t) => t.cache.time_saved_ms)]}),
    chart({...common, title: 'Money saved', note: 'US dollars', format: money, series: [series(p, 'money saved', 'ok', (t) => t.cache.money_saved_usd)]}),
    chart({...common, title: 'Answers', format: brief, series: [
      series(p, 'hits', 'ok', (t) => t.cache.hits), series(p, 'by meaning', 2, (t) => t.cache.semantic_hits), series(p, 'misses', 3, (t) => t.cache.misses), series(p, 'refreshed', 4, (t) => t.cache.refreshes)]}), statuses);
}

function byModels(ctx, groups) {
  const rows = groups.filter((g) => looked(g.totals.cache) + g.totals.cache.refreshes > 0).sort((x, y) => hits(y.totals.cache) - hits(x.totals.cache));
  const columns = [
    {id: 'model', text: 'Model', row: true, class: 'clip', show: (g) => el('a', {href: ctx.href('logs', [...kept(ctx), ['model[eq]', g.key[0]], ['cache_status[in]', 'Cache Hit,Cache Semantic Hit']]), text: g.key[0] || 'no model'})},
    {id: 'hits', text: 'Hits', num: true, show: (g) => count(g.totals.cache.hits)},
    {id: 'semantic', text: 'By meaning', num: true, wide: true, show: (g) => count(g.totals.cache.semantic_hits)},
    {id: 'misses', text: 'Misses', num: true, show: (g) => count(g.totals.cache.misses)},
    {id: 'rate', text: 'Hit rate', num: true, show: (g) => (looked(g.totals.cache) ? percent(g.totals.cache.hit_rate) : NONE)},
    {id: 'saved', text: 'Saved', num: true, show: (g) => money(g.totals.cache.money_saved_usd)},
  ];
  return el('section', {class: 'card'}, el('h2', {text: 'Hits by model'}),
    rows.length ? table({caption: 'Hits by model', columns, rows}) : el('p', {class: 'muted', text: 'No call looked into the cache. Switch it on with gateway.WithCache, or the member "cache" of a config.'}));
}
