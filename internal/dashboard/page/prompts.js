// The view of stored prompts.
import {el, empty, put} from './dom.js';
import {count, NONE} from './format.js';
import {head} from './frame.js';

export const title = 'Prompts';

export async function open(ctx) {
  const {data} = await ctx.get('prompts');
  put(ctx.main, head(title, el('span', {class: 'muted', text: count(data.length)})), el('div', {class: 'content'}, data.length ? data.map((p) => prompt(ctx, p, p.id === ctx.route.id || data.length === 1))
    : empty('No prompts', 'Put them into the catalog file, as "prompts": {"ID": {"versions": {…}}}. Prompts that a library keeps elsewhere are not listed.')));
  const open = ctx.main.querySelector('details[open]');
  open?.scrollIntoView({block: 'nearest'});
  return (route) => !route.id && String(route.params) === String(ctx.route.params);
}

function prompt(ctx, p, open) {
  return el('details', {class: 'card prompt', open},
    el('summary', {}, el('code', {text: p.id}), el('span', {class: 'muted', text: p.description || ''}), el('span', {class: 'grow'}),
      Object.entries(p.labels || {}).map(([label, version]) => el('span', {class: 'tag plain', text: `${label} → ${version}`})), el('span', {class: 'muted', text: p.versions.length === 1 ? '1 version' : `${p.versions.length} versions`})),
    el('p', {}, el('a', {href: ctx.href('logs', [['prompt_id[eq]', p.id]]), text: 'Calls with it'})),
    p.versions.map((v) => el('section', {class: 'part'}, el('h3', {}, `Version ${v.version}`, p.default === v.version && el('span', {class: 'tag good', text: 'default'}), v.description && el('span', {class: 'muted', text: ` ${v.description}`})),
      el('p', {class: 'muted', text: `Model: ${v.model || NONE}`}),
      el('ol', {class: 'talk'}, (v.messages || []).map((m) => el('li', {class: 'message'}, el('span', {class: 'role', text: m.role}), el('div', {class: 'said', text: m.text})))))));
}
