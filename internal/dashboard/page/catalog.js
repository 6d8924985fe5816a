// The view of the catalog: where calls can go, and the configs that say where they do.
import {copier, el, empty, put} from './dom.js';
import {count} from './format.js';
import {head} from './frame.js';

export const title = 'Catalog';

export async function open(ctx) {
  const {entries, configs} = await ctx.get('catalog');
  put(ctx.main, head('Catalog & configs', el('span', {class: 'muted', text: `${count(entries.length)} ${entries.length === 1 ? 'entry' : 'entries'}, ${count(configs.length)} ${configs.length === 1 ? 'config' : 'configs'}`})), el('div', {class: 'content'},
    el('p', {class: 'muted', text: 'Credentials, values of headers and parameters of configs that could hold secrets are never shown here.'}),
    el('h2', {text: 'Entries'}), entries.length ? el('div', {class: 'cards'}, entries.map((e) => entry(ctx, e))) : empty('No entries', 'Give the client a catalog: gateway.WithCatalog(catalog). Its entries name providers with their credentials.'),
    el('h2', {text: 'Configs'}), configs.length ? configs.map((c) => config(ctx, c)) : empty('No configs', 'A config says where a call goes and what happens when that fails. Put them into the catalog file, as "configs": {"ID": {…}}.')));
  return (route) => String(route.params) === String(ctx.route.params);
}

const FACTS = [['Provider', 'provider'], ['Project', 'project_id'], ['Region', 'region'], ['Credentials', 'credentials'], ['Address', 'base_url'], ['Bucket', 'bucket'], ['Storage', 'storage_url'], ['Universe', 'universe_domain'], ['Quota project', 'quota_project'], ['API version', 'api_version'], ['Headers', 'headers']];

function entry(ctx, e) {
  return el('section', {class: 'card'}, el('div', {class: 'card-head'}, el('h3', {}, el('code', {text: `@${e.slug}`})), el('span', {class: 'grow'}), el('a', {href: ctx.href('logs', [['slug[eq]', e.slug]]), text: 'Calls', 'aria-label': `Calls of ${e.slug}`})),
    el('dl', {class: 'facts'}, FACTS.filter(([, k]) => e[k]?.length).map(([name, k]) => el('div', {}, el('dt', {text: name}), el('dd', {text: Array.isArray(e[k]) ? e[k].join(', ') : e[k]})))));
}

function config(ctx, c) {
  const text = JSON.stringify(c.config, null, 2);
  return el('details', {class: 'card'}, el('summary', {}, el('code', {text: c.id}), el('span', {class: 'muted', text: sum(c.config)})),
    el('p', {}, el('a', {href: ctx.href('logs', [['config_id[eq]', c.id]]), text: 'Calls with it'})),
    el('ul', {class: 'tree'}, node(c.config, 'config')), el('div', {class: 'code'}, copier(() => text), el('pre', {tabindex: '0', text})));
}

const sum = (c) => [c.strategy?.mode, c.targets && `${c.targets.length} targets`, c.cache && `cache ${c.cache.mode}`, c.retry && `${c.retry.attempts} retries`].filter(Boolean).join(', ');

// node shows a target with those below.
function node(t, name) {
  const more = [t.provider, t.override_params?.model, t.strategy && `by ${t.strategy.mode}`, t.weight !== undefined && `weight ${t.weight}`, t.cache && `cache ${t.cache.mode}`].filter(Boolean).join(' · ');
  return el('li', {}, el('b', {text: t.name || name}), el('span', {class: 'muted', text: more ? ` ${more}` : ''}), t.targets?.length > 0 && el('ul', {}, t.targets.map((x, i) => node(x, `targets[${i}]`))));
}
