// Filters: conditions on fields, which stand in the URL of the view as they go to the
// gateway: model[eq]=gemini-2.5-flash.
import {button, choice, el, put} from './dom.js';

const OWN = new Set(['range', 'from', 'to', 'q', 'group', 'key', 'sort', 'cursor', 'limit', 'paused']);

const OPS = {
  eq: ['=', 'is'], ne: ['≠', 'is not'], in: ['∈', 'is one of'], nin: ['∉', 'is none of'], prefix: ['^', 'begins with'],
  lt: ['<', 'is below'], lte: ['≤', 'is at most'], gt: ['>', 'is above'], gte: ['≥', 'is at least'], missing: ['∅', 'is missing'],
};
const BY_KIND = {
  word: ['eq', 'ne', 'in', 'nin', 'prefix', 'missing'], number: ['gte', 'lte', 'gt', 'lt', 'eq', 'ne', 'missing'], flag: ['eq'],
};
const KNOWN = {
  cache_status: ['Cache Hit', 'Cache Semantic Hit', 'Cache Miss', 'Cache Refreshed', 'Cache Disabled'], surface: ['go', 'http', 'transport'],
  fallback_status: ['Active', 'Disabled'], loadbalance_status: ['Active', 'Disabled'],
};

let fields = null; // the same for as long as the page lives

// fieldsOf returns the table of fields as [{name, kind, doc}].
export async function fieldsOf(ctx) {
  fields ??= (await ctx.get('logs/fields')).data.filter((f) => !f.name.startsWith('metadata.'));
  return fields;
}

// filtersOf returns the filters among the parameters of a view.
export const filtersOf = (params) => [...params].filter(([name]) => !OWN.has(name));

function parts(name) {
  const m = /^(.*)\[(\w+)\]$/.exec(name);
  return m ? [m[1], m[2]] : [name, 'in'];
}

// filterBar shows the filters of a view, and lets them be changed.
export async function filterBar(ctx) {
  const table = ctx.about.logs ? await fieldsOf(ctx).catch(() => []) : [];
  const now = filtersOf(ctx.route.params);
  const without = (i) => {
    const changes = {};
    now.forEach(([name], j) => { if (j !== i) changes[name] ??= []; else changes[name] ??= []; });
    now.forEach(([name, value], j) => { if (j !== i) changes[name].push(value); });
    for (const name of Object.keys(changes)) if (!changes[name].length) changes[name] = null;
    return changes;
  };
  const chips = now.map(([name, value], i) => {
    const [field, op] = parts(name);
    return el('li', {class: 'chip'}, el('span', {text: field}), el('b', {text: ` ${(OPS[op] || [op])[0]} `}), el('span', {text: value}),
      button('×', () => ctx.change(without(i)), {class: 'bare', 'aria-label': `Remove the filter ${field} ${(OPS[op] || [op, op])[1]} ${value}`}));
  });
  const form = table.length > 0 && filterForm(ctx, table);
  const more = form && button('+ Filter', () => {
    form.hidden = !form.hidden;
    more.setAttribute('aria-expanded', String(!form.hidden));
    if (!form.hidden) form.querySelector('select').focus();
  }, {class: 'quiet', 'aria-expanded': 'false'});
  form?.addEventListener('keydown', (e) => {
    if (e.key !== 'Escape') return;
    more.click();
    more.focus();
  });
  return el('div', {class: 'filters'}, el('ul', {'aria-label': 'Filters', hidden: !chips.length, class: 'chips'}, chips),
    now.length > 1 && button('Clear all', () => ctx.change(Object.fromEntries(now.map(([name]) => [name, null]))), {class: 'quiet small'}), more, form);
}

function filterForm(ctx, table) {
  const names = [...table.map((f) => f.name), 'metadata.'];
  let field = 'model';
  const inside = el('span', {class: 'row'});
  const draw = () => {
    const kind = table.find((f) => f.name === field)?.kind || 'word';
    const doc = table.find((f) => f.name === field)?.doc || 'an entry of the metadata';
    const list = KNOWN[field] && el('datalist', {id: 'known-values'}, KNOWN[field].map((v) => el('option', {value: v})));
    const value = kind === 'flag'
      ? el('select', {name: 'value'}, el('option', {value: 'true', text: 'true'}), el('option', {value: 'false', text: 'false'}))
      : el('input', {name: 'value', required: true, autocomplete: 'off', spellcheck: 'false', inputmode: kind === 'number' ? 'decimal' : null, list: list ? 'known-values' : null});
    put(inside,
      field === 'metadata.' && el('label', {class: 'field'}, el('span', {text: 'Key'}), el('input', {name: 'key', required: true, autocomplete: 'off', spellcheck: 'false'})),
      choice('Condition', BY_KIND[kind].map((op) => [op, OPS[op][1]]), BY_KIND[kind][0], () => {}, {name: 'op'}),
      el('label', {class: 'field'}, el('span', {text: 'Value'}), value, list), el('span', {class: 'muted doc', text: doc}));
  };
  const form = el('form', {class: 'filter-form', hidden: true, on: {submit: (e) => {
    e.preventDefault();
    const of = (name) => form.elements[name]?.value.trim() ?? '';
    const op = of('op'), name = `${field}${field === 'metadata.' ? of('key') : ''}[${op}]`;
    ctx.change({[name]: [...ctx.route.params.getAll(name), op === 'missing' ? (of('value') === 'false' ? 'false' : 'true') : of('value')]});
  }}},
  choice('Field', names.map((n) => [n, n === 'metadata.' ? 'metadata …' : n]), field, (v) => { field = v; draw(); }, {name: 'field'}),
  inside, el('button', {type: 'submit', text: 'Add'}));
  draw();
  return form;
}
