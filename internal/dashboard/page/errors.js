// The view of what failed.
import {chart} from './chart.js';
import {el, empty} from './dom.js';
import {brief, count, percent, share, when} from './format.js';
import {frame, nothingYet, orNone, problem, report, times} from './frame.js';
import {kept} from './overview.js';
import {table} from './table.js';
import {filtersOf} from './filters.js';

export const title = 'Errors';

const COLORS = ['bad', 3, 4, 2, 1, 5, 6, 'none'];
const failed = [['failed[eq]', 'true']];

export const open = (ctx) => frame(ctx, title, {}, async (range) => {
  const [all, byCode, byBoth, latest] = await Promise.all([
    report(ctx, range), perhaps(report(ctx, range, {every: true, by: 'error_code', top: 7, filters: failed})),
    perhaps(report(ctx, range, {by: 'error_code,model', top: 50, filters: failed})),
    ctx.about.logs ? ctx.get('logs', [...Object.entries(range.params), ...filtersOf(ctx.route.params), ...failed, ['limit', '15']]) : {data: []}]);
  if (!all.total.requests) return nothingYet(range);
  if (!all.total.errors) return empty('No call failed', `All ${count(all.total.requests)} calls of ${range.label} did well.`);
  return [
    el('p', {class: 'lead'}, el('b', {class: 'bad', text: count(all.total.errors)}), ` of ${count(all.total.requests)} calls failed, ${percent(all.total.error_rate)}.`),
    overTime(byCode, range), el('section', {class: 'card'}, el('h2', {text: 'By code and model'}), byCodeAndModel(ctx, byBoth, all.total.errors)),
    latest.data.length > 0 && el('section', {class: 'card'}, el('h2', {text: 'The latest'}), theLatest(ctx, latest.data)),
  ];
});

// perhaps takes it that a source of reports can't tell this one.
const perhaps = (report) => report.catch((e) => {
  if (e.status !== 400) throw e;
  return {refused: e};
});

function overTime({groups = [], series: sum = [], refused}, range) {
  if (refused) return problem(refused);
  const list = groups.filter((g) => g.series?.length);
  const points = list[0]?.series || sum;
  const parts = list.map((g, i) => ({name: g.key[0] || 'no code', color: COLORS[i], values: g.series.map((p) => p.totals.requests)}));
  const rest = sum.map((p, i) => p.totals.requests - parts.reduce((n, s) => n + s.values[i], 0));
  if (rest.some((n) => n > 0)) parts.push({name: 'others', color: 'none', values: rest});
  return chart({title: 'Errors by code', times: times(points), step: range.step, format: brief, series: parts});
}

function byCodeAndModel(ctx, {groups = [], refused}, total) {
  if (refused) return problem(refused);
  const link = ({key: [code, model]}) => ctx.href('logs', [...kept(ctx), ['failed[eq]', 'true'], ...(code ? [['error_code[eq]', code]] : []), ...(model ? [['model[eq]', model]] : [])]);
  return table({caption: 'Errors by code and model', rows: groups, columns: [
    {id: 'code', text: 'Code', row: true, class: 'clip', show: (g) => el('a', {href: link(g), text: g.key[0] || 'no code'})},
    {id: 'model', text: 'Model', class: 'clip', show: (g) => orNone(g.key[1])},
    {id: 'errors', text: 'Errors', num: true, show: (g) => count(g.totals.requests)},
    {id: 'share', text: 'Share', num: true, show: (g) => percent(share(g.totals.requests, total))},
  ]});
}

function theLatest(ctx, records) {
  const go = (r) => { location.hash = ctx.href('logs', [['failed[eq]', 'true']], r.id, r.time); };
  return table({caption: 'The latest errors', rows: records, open: go, columns: [
    {id: 'time', text: 'Time', show: (r) => when(r.time)},
    {id: 'code', text: 'Code', row: true, show: (r) => el('span', {class: 'tag bad', text: r.error?.code || 'error'})},
    {id: 'model', text: 'Model', wide: true, class: 'clip', show: (r) => orNone(r.model || r.requested_model)},
    {id: 'message', text: 'Message', class: 'long', show: (r) => r.error?.message || ''},
  ]});
}
