// The view of what calls sum up to, by one of their fields.
import * as api from './api.js';
import {choice, el} from './dom.js';
import {brief, cost, count, latency, NONE, percent} from './format.js';
import {frame, nothingYet, report} from './frame.js';
import {kept} from './overview.js';
import {table} from './table.js';

export const title = 'Models';

const GROUPS = [
  ['model', 'model'], ['provider', 'provider'], ['slug', 'entry of the catalog'], ['user', 'user'], ['requested_model', 'model as asked for'], ['operation', 'operation'],
  ['config_id', 'config'], ['prompt_id', 'prompt'], ['key_id', 'API key (its digest)'], ['surface', 'surface'], ['finish_reason', 'finish reason'], ['metadata', 'metadata key …'],
];

// groupOf returns the field to group by, '' while the key of the metadata is missing.
function groupOf(params) {
  const group = GROUPS.some(([name]) => name === params.get('group')) ? params.get('group') : 'model';
  if (group !== 'metadata') return {group, field: group};
  return {group, field: params.get('key') ? `metadata.${params.get('key')}` : ''};
}

export function open(ctx) {
  const {group, field} = groupOf(ctx.route.params);
  const sort = ctx.route.params.get('sort') || '-requests';
  const extra = [choice('By', GROUPS, group, (v) => ctx.change({group: v === 'model' ? null : v, key: null}), {id: 'group'}), group === 'metadata' && metadataKey(ctx)];
  return frame(ctx, title, {extra}, async (range) => {
    if (!field) return el('p', {class: 'muted', text: 'Say which key of the metadata to group by, such as "team".'});
    const {groups = [], other, total} = await report(ctx, range, {by: field, top: 200});
    if (!total.requests) return nothingYet(range);
    const cols = columns(ctx, field, total);
    return [el('section', {class: 'card'}, table({caption: `Calls by ${field}`, columns: cols, rows: groups, sort, resort: (s) => ctx.change({sort: s === '-requests' ? null : s})}),
      other?.requests > 0 && el('p', {class: 'muted', text: `${count(other.requests)} more calls are in smaller groups.`})),
    field === 'model' && await known(ctx)];
  });
}

function metadataKey(ctx) {
  const input = el('input', {name: 'key', value: ctx.route.params.get('key') || '', autocomplete: 'off', spellcheck: 'false', placeholder: 'team', required: true});
  return el('form', {class: 'row', on: {submit: (e) => {
    e.preventDefault();
    ctx.change({key: input.value.trim()});
  }}}, el('label', {class: 'field'}, el('span', {text: 'Key'}), input), el('button', {type: 'submit', text: 'Show'}));
}

function columns(ctx, field, total) {
  const name = GROUPS.find(([id]) => id === field)?.[1].replace(/^./, (c) => c.toUpperCase()) || field;
  const link = (g) => ctx.href('logs', [...kept(ctx), g.key[0] ? [`${field}[eq]`, g.key[0]] : [`${field}[missing]`, 'true']]);
  const n = (id, text, value, show, more) => ({id, text, num: true, value: (g) => value(g.totals), show: (g) => show(g.totals), ...more});
  const timed = (member, name) => (t) => (t[member].count ? t[member][name] : null);
  return [
    {id: 'name', text: name, row: true, class: 'clip', value: (g) => g.key[0].toLowerCase(), show: (g) => el('a', {href: link(g), text: g.key[0] || 'none', class: g.key[0] ? null : 'muted'})},
    n('requests', 'Requests', (t) => t.requests, (t) => [el('span', {class: 'meter', 'aria-hidden': 'true'}, el('span', {style: {width: `${100 * t.requests / total.requests}%`}})), count(t.requests)], {class: 'metered'}),
    n('errors', 'Errors', (t) => t.errors, (t) => el('span', {class: t.errors ? 'bad' : 'muted', text: count(t.errors)})),
    n('rate', 'Error rate', (t) => t.error_rate, (t) => percent(t.error_rate), {wide: true}),
    n('in', 'Tokens in', (t) => t.tokens.prompt, (t) => brief(t.tokens.prompt), {wide: true}),
    n('out', 'Tokens out', (t) => t.tokens.completion, (t) => brief(t.tokens.completion), {wide: true}),
    n('cost', 'Cost', (t) => (t.unpriced && !t.cost_usd ? null : t.cost_usd), (t) => cost(t.cost_usd, t.unpriced)),
    n('p50', 'p50', timed('duration_ms', 'p50'), (t) => latency(t.duration_ms, 'p50')),
    n('p95', 'p95', timed('duration_ms', 'p95'), (t) => latency(t.duration_ms, 'p95')),
    n('first', 'First chunk p50', timed('first_chunk_ms', 'p50'), (t) => latency(t.first_chunk_ms, 'p50'), {wide: true}),
    n('hits', 'Hit rate', (t) => (t.cache.hits + t.cache.semantic_hits + t.cache.misses ? t.cache.hit_rate : null), (t) => (t.cache.hits + t.cache.semantic_hits + t.cache.misses ? percent(t.cache.hit_rate) : NONE), {wide: true}),
    n('feedback', 'Feedback', (t) => t.feedback?.mean ?? null, (t) => (t.feedback ? `${t.feedback.mean.toFixed(1)} (${count(t.feedback.count)})` : NONE), {wide: true, doc: 'weighted mean, and how many there are'}),
  ];
}

// known lists what can be asked for.
async function known(ctx) {
  const {data = []} = await ctx.get('models').catch((e) => {
    if (e instanceof api.Failure) return {};
    throw e;
  });
  if (!data.length) return null;
  const columns = [
    {id: 'id', text: 'Model', row: true, show: (m) => el('code', {text: m.id})},
    {id: 'type', text: 'Type', show: (m) => m.type || NONE},
    {id: 'by', text: 'Made by', wide: true, show: (m) => m.owned_by},
    {id: 'context', text: 'Context', num: true, show: (m) => (m.context_window || m.max_input_tokens ? brief(m.context_window || m.max_input_tokens) : NONE)},
    {id: 'out', text: 'Output', num: true, wide: true, show: (m) => (m.max_output_tokens ? brief(m.max_output_tokens) : NONE)},
    {id: 'reads', text: 'Reads', wide: true, show: (m) => (m.input_modalities || []).join(', ') || NONE},
  ];
  return el('details', {class: 'card'}, el('summary', {text: `Models that can be asked for (${count(data.length)})`}), table({caption: 'Models that can be asked for', columns, rows: data}));
}
