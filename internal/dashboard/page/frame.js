// What the views share: their head, their reload, tiles, sums as series.
import {button, el, empty, put, svg} from './dom.js';
import {moment, NONE, UNKNOWN} from './format.js';
import {rangeOf, rangePicker} from './range.js';
import {filterBar, filtersOf} from './filters.js';

const AGAIN = 30e3; // ms between loads of a view that nobody is busy in

// frame shows a view: load(range) makes its content, which is made again from time to
// time unless the focus is in it.
export async function frame(ctx, title, {extra = [], fallback, filters = true} = {}, load) {
  if (!ctx.about.analytics) {
    put(ctx.main, el('h1', {text: title}), empty('No records are kept', 'Give the client a log: gateway.WithLog(log). Then what is called is summed up here.'));
    return;
  }
  const body = el('div', {class: 'content'});
  const at = el('span', {class: 'muted at'});
  const fresh = async () => {
    const content = await load(rangeOf(ctx.route.params, fallback));
    put(body, content);
    at.textContent = `as of ${moment(Date.now(), 'clock')}`;
  };
  await fresh();
  const bar = filters ? await filterBar(ctx) : null;
  put(ctx.main, head(title, at, button('Refresh', () => fresh().catch((e) => put(body, problem(e))), {class: 'quiet'}), rangePicker(ctx.route.params, (c) => ctx.change(c), fallback)),
    el('div', {class: 'controls'}, extra, bar), body);
  ctx.every(AGAIN, () => {
    if (!body.contains(document.activeElement) && !body.querySelector('.tip:not([hidden])')) fresh().catch(() => { at.textContent = 'not updated: the gateway does not answer'; });
  });
}

// head makes the head of a view.
export const head = (title, ...tools) => el('div', {class: 'head-row'}, el('h1', {text: title}), el('span', {class: 'grow'}), tools);

export const problem = (e) => el('div', {role: 'alert'}, empty('This could not be loaded', e.message));

// report asks for sums over the range, with the filters of the view.
export function report(ctx, range, {every = false, by, top, before = false, filters = []} = {}) {
  const params = [...Object.entries(before ? range.before : range.params), ...filtersOf(ctx.route.params), ...filters];
  if (every) params.push(['every', every === true ? range.every : every]);
  if (by) params.push(['group_by', by]);
  if (top) params.push(['top', top]);
  return ctx.get('analytics', params);
}

// series takes values out of the points of a report.
export const series = (points, name, color, of) => ({name, color, values: points.map((p) => of(p.totals))});
export const times = (points) => points.map((p) => Date.parse(p.time));

// tile shows one number. spark draws its course, delta compares with the time before.
export function tile(name, value, {note, spark, delta, tone} = {}) {
  const unknown = value === UNKNOWN;
  return el('div', {class: 'tile'},
    el('div', {class: 'tile-name'}, el('span', {text: name}), el('span', {class: 'grow'}), delta),
    el('div', {class: `tile-value ${unknown ? 'unknown' : tone || ''}`, text: value}),
    el('div', {class: 'tile-note', text: note || ''}), spark && sparkline(spark));
}

// change tells how a number differs from the one of the range before; better says
// which way is good: 1, -1 or 0 for neither.
export function change(now, before, better = 0) {
  if (!before || now === null || now === undefined) return null;
  const by = (now - before) / before, way = Math.abs(by) < 0.005 ? 0 : Math.sign(by);
  const tone = way && better ? (way === better ? 'good' : 'poor') : '';
  const text = way ? `${way > 0 ? '▲' : '▼'} ${Math.abs(by) >= 9.995 ? `${Math.round(Math.abs(by) + 1)}×` : `${Math.round(Math.abs(by) * 100)} %`}` : '= same';
  return el('span', {class: `delta ${tone}`, title: 'against the same time before', text});
}

function sparkline(values) {
  const known = values.filter((v) => v !== null), most = Math.max(...known, 0);
  if (!most) return null;
  const points = values.map((v, i) => (v === null ? null : `${(i / Math.max(1, values.length - 1) * 100).toFixed(1)},${(22 - v / most * 20).toFixed(1)}`)).filter(Boolean);
  return svg('svg', {class: 'spark', viewBox: '0 0 100 24', preserveAspectRatio: 'none', 'aria-hidden': 'true'}, svg('polyline', {points: points.join(' ')}));
}

// orNone shows a text, or that there is none.
export const orNone = (text) => text || el('span', {class: 'muted', text: NONE});

// nothingYet is for a range without calls.
export const nothingYet = (range) => empty('No calls yet', `There was no call in ${range.label}. Choose a longer range, take filters away, or make a call: it is here at once.`);
