// One call, whole, in a dialog beside the list.
import * as api from './api.js';
import {button, copier, el, put, say} from './dom.js';
import {count, money, ms, NONE, when} from './format.js';
import {problem} from './frame.js';

// record makes the dialog of a view of logs. show opens it for an id and a time, or for
// the newest of an id, and closes it for none.
export function record(ctx, list) {
  let shown = {id: '', time: ''};
  const inside = el('div', {class: 'record-body'});
  const name = el('h2', {id: 'record-name', text: 'Call'});
  const step = (text, by, label) => button(text, () => {
    const r = list.beside(shown, by);
    if (r) list.go(r);
  }, {'aria-label': label, class: 'quiet', dataset: {by}});
  const box = el('dialog', {class: 'record', 'aria-labelledby': 'record-name', on: {
    close: () => { if (ctx.route.id) list.leave(); },
    click: (e) => { if (e.target === box) box.close(); },
  }},
  el('div', {class: 'record-head'}, name, el('span', {class: 'grow'}), step('↑', -1, 'The newer call'), step('↓', 1, 'The older call'), button('Close', () => box.close(), {class: 'quiet', 'aria-keyshortcuts': 'Escape'})), inside);
  document.body.append(box);
  const load = async (mine) => {
    put(inside, el('p', {class: 'muted', text: 'Loading …'}));
    try {
      const {r, older} = await found(mine);
      if (shown !== mine) return;
      mine.time = r.time;
      put(inside, whole(r, older, () => load(mine)));
    } catch (e) {
      if (e.name !== 'AbortError' && shown === mine) put(inside, problem(e));
    }
  };
  // found asks for a record. The gateway has the newest of an id whole, of an older one
  // what the list has.
  const found = async ({id, time}) => {
    const newest = await ctx.get(`logs/${encodeURIComponent(id)}`);
    if (!time || newest.time === time) return {r: newest};
    const at = micros(time);
    let r = list.records[list.find({id, time})];
    if (!r && !Number.isNaN(at)) r = (await ctx.get('logs', {'id[eq]': id, from: moment(at), to: moment(at + 1)})).data.find((o) => o.time === time);
    if (!r) throw new Error('There is no call of this id at this time, or it is not kept any more.');
    return {r, older: true};
  };
  return {
    show({id, time}) {
      const was = shown;
      shown = {id, time};
      if (!id) {
        if (box.open) box.close();
        if (was.id) list.focus(was);
        return;
      }
      if (!box.open) box.showModal();
      for (const b of box.querySelectorAll('[data-by]')) b.disabled = !list.beside(shown, Number(b.dataset.by));
      load(shown);
    },
    drop() {
      ctx.route = {...ctx.route, id: ''};
      box.remove();
    },
  };
}

// whole shows a record; older says that there is a newer one of its id.
function whole(r, older, again) {
  return [
    el('div', {class: 'record-sum'}, el('span', {class: `tag ${r.error ? 'bad' : 'plain'}`, text: r.error ? 'failed' : 'ok'}), el('b', {text: r.model || r.requested_model || r.operation}), el('span', {class: 'muted'}, when(r.time, 'full'))),
    r.error && failure(r.error), attempts(r), warnings(r), facts(r), metadata(r), content(r, older), feedback(r, older, again),
    part('As JSON', el('details', {}, el('summary', {text: 'The whole record'}), code(JSON.stringify(r, null, 2)))),
  ];
}

const part = (title, ...inside) => el('section', {class: 'part', 'aria-label': title}, el('h3', {text: title}), inside);

function failure(e) {
  return el('div', {class: 'failure'}, el('b', {text: e.code}), el('p', {text: e.message}),
    el('p', {class: 'muted', text: [e.status && `Status ${e.status} of the platform.`, e.param && `Member: ${e.param}.`, e.sent ? 'The request may have reached a model.' : 'Nothing reached a model.'].filter(Boolean).join(' ')}));
}

// micros reads a time in microseconds, which Date does not have.
function micros(t) {
  const m = /^(.*?:\d\d)(?:\.(\d+))?(Z|[+-].*)$/.exec(t || '');
  return m ? Date.parse(m[1] + m[3]) * 1000 + Number((m[2] || '').padEnd(6, '0').slice(0, 6)) : NaN;
}

// moment is the inverse of micros.
const moment = (t) => `${new Date(Math.floor(t / 1000)).toISOString().slice(0, -1)}${String(t % 1000).padStart(3, '0')}Z`;

// attempts draws who was asked when, as a waterfall.
function attempts(r) {
  if (!r.attempts?.length) return null;
  const start = micros(r.time);
  const spans = r.attempts.map((a) => {
    const from = a.start ? Math.max(0, (micros(a.start) - start) / 1000) : NaN;
    return {from, wait: a.wait_ms || 0, length: a.duration_ms || 0};
  });
  const total = Math.max(r.duration_ms, ...spans.map((s) => (Number.isNaN(s.from) ? 0 : s.from + s.length)), 0.001);
  const at = (v) => `${Math.min(100, Math.max(0, 100 * v / total))}%`;
  return part(`Attempts (${r.attempts.length})`, el('ol', {class: 'waterfall'}, r.attempts.map((a, i) => {
    const s = spans[i], good = !a.skipped && !a.code && !(a.status >= 400);
    const how = a.skipped ? `passed over: ${a.skipped}` : [a.status || null, a.code, !a.code && !a.status && 'answered'].filter(Boolean).join(' ');
    const drawn = !Number.isNaN(s.from) && !a.skipped;
    return el('li', {class: a.skipped ? 'skipped' : null},
      el('div', {class: 'water-name'}, el('b', {text: a.model || a.provider || 'target'}), a.slug && el('span', {class: 'muted', text: ` @${a.slug}`}), a.target && el('span', {class: 'muted', text: ` ${a.target}`}),
        el('span', {class: 'grow'}), a.retry > 0 && el('span', {class: 'tag plain', text: `retry ${a.retry}`}), a.hedged && el('span', {class: 'tag plain', text: 'hedged'}), el('span', {class: `tag ${a.skipped ? 'plain' : good ? 'good' : 'bad'}`, text: how})),
      el('div', {class: 'water'}, drawn && [
        s.wait > 0 && el('span', {class: 'water-wait', style: {left: at(s.from - s.wait), width: at(Math.min(s.wait, s.from))}}),
        el('span', {class: `water-bar ${good ? '' : 'bad'}`, style: {left: at(s.from), width: at(s.length)}})]),
      el('div', {class: 'water-note muted', text: a.skipped ? '' : [Number.isNaN(s.from) ? null : `began at ${ms(s.from)}`, `took ${ms(s.length)}`, s.wait > 0 && `waited ${ms(s.wait)} before`].filter(Boolean).join(', ')}));
  })), el('p', {class: 'muted', text: `The whole call took ${ms(r.duration_ms)}${r.first_chunk_ms ? `, its first chunk came after ${ms(r.first_chunk_ms)}` : ''}.`}));
}

function warnings(r) {
  if (!r.warnings?.length) return null;
  return part(`Warnings (${r.warnings.length})`, el('ul', {class: 'warnings'}, r.warnings.map((w) => el('li', {}, Object.values(w).filter((v) => typeof v === 'string' && v).map((v, i) => el(i ? 'span' : 'b', {text: `${v} `}))))));
}

const GROUPS = [
  ['Call', [['Id', 'id'], ['Surface', 'surface'], ['Operation', 'operation'], ['Stream', 'stream'], ['User', 'user'], ['API key', 'key_id'], ['Finish reason', 'finish_reason']]],
  ['Target', [['Asked for', 'requested_model'], ['Provider', 'provider'], ['Entry', 'slug'], ['Model', 'model'], ['Model as it answered', 'response_model'], ['Id of the answer', 'response_id'], ['Config', 'config_id'], ['Prompt', 'prompt_id'], ['Version', 'prompt_version']]],
  ['What the gateway did', [['Cache', 'cache_status'], ['Similarity', 'similarity'], ['Retry', 'retry_status'], ['Fallback', 'fallback_status'], ['Load balance', 'loadbalance_status'], ['Guards that said no', 'guards_denied']]],
];

function facts(r) {
  const list = (rows) => el('dl', {class: 'facts'}, rows.map(([name, value]) => el('div', {}, el('dt', {text: name}), el('dd', {}, value))));
  const text = (v) => (Array.isArray(v) ? v.join(', ') : typeof v === 'boolean' ? (v ? 'yes' : 'no') : String(v));
  const t = r.tokens;
  const numbers = [
    ['Duration', ms(r.duration_ms)], r.first_chunk_ms > 0 && ['First chunk', ms(r.first_chunk_ms)], r.time_saved_ms && ['Time saved', ms(r.time_saved_ms)],
    ['Cost', money(r.cost_usd)], r.saved_usd !== undefined && ['Saved', money(r.saved_usd)],
    ...(t ? [['Tokens in', count(t.prompt)], ['Tokens out', count(t.completion)], ['Tokens', count(t.total)]] : [['Tokens', 'unknown']]),
    ...[['of it cached', 'cached'], ['of it written to a cache', 'cache_write'], ['of it reasoning', 'reasoning'], ['of it audio in', 'audio_in'], ['of it audio out', 'audio_out']].map(([name, k]) => t?.[k] > 0 && [name, count(t[k])]),
  ].filter(Boolean);
  return el('div', {class: 'fact-groups'}, part('Numbers', list(numbers)),
    GROUPS.map(([title, rows]) => part(title, list(rows.filter(([, k]) => r[k] !== undefined && r[k] !== '').map(([n, k]) => [n, k === 'id' ? [el('code', {text: r.id}), ' ', copier(() => r.id)] : text(r[k])])))));
}

function metadata(r) {
  const rows = Object.entries(r.metadata || {});
  return rows.length > 0 && part('Metadata', el('dl', {class: 'facts'}, rows.map(([k, v]) => el('div', {}, el('dt', {text: k}), el('dd', {text: v})))));
}

const code = (text) => el('div', {class: 'code'}, copier(() => text), el('pre', {tabindex: '0', text}));
const pretty = (v) => (typeof v === 'string' ? v : JSON.stringify(v, null, 2));

function content(r, older) {
  const c = r.content;
  if (older) return part('Content', el('p', {class: 'muted', text: 'A newer call has this id: what was asked and answered is shown of the newest alone.'}));
  if (!c) return part('Content', el('p', {class: 'muted', text: 'Prompts and answers are not kept unless the options of the log ask for them.'}));
  return part('Content', c.truncated && el('p', {class: 'muted', text: 'A part was larger than what is kept, and is cut.'}),
    [['Request', c.request, messagesOf(c.request?.messages)], ['Response', c.response, messagesOf(c.response?.choices?.map((x) => x.message).filter(Boolean))]].map(([name, value, talk]) => value !== undefined && el('div', {},
      el('h4', {text: name}), talk, talk ? el('details', {}, el('summary', {text: `${name} as JSON`}), code(pretty(value))) : code(pretty(value)))));
}

// messagesOf shows a conversation, null where there is none.
function messagesOf(messages) {
  if (!Array.isArray(messages) || !messages.length) return null;
  return el('ol', {class: 'talk'}, messages.map((m) => el('li', {class: 'message'}, el('span', {class: 'role', text: String(m?.role ?? 'message')}),
    el('div', {class: 'said', text: said(m)}), copier(() => said(m)))));
}

function said(m) {
  const body = m?.content;
  const parts = typeof body === 'string' ? [body] : Array.isArray(body) ? body.map((p) => (typeof p?.text === 'string' ? p.text : `[${p?.type ?? 'part'}]`)) : [];
  for (const call of m?.tool_calls || []) parts.push(`${call?.function?.name ?? 'tool'}(${call?.function?.arguments ?? ''})`);
  return parts.join('\n') || NONE;
}

function feedback(r, older, again) {
  const note = el('input', {name: 'comment', maxlength: 1000, autocomplete: 'off', placeholder: 'Comment, if you like', 'aria-label': 'Comment'});
  const failedNote = el('p', {class: 'wrong', role: 'alert', hidden: true});
  const give = async (value) => {
    try {
      await api.post(`logs/${encodeURIComponent(r.id)}/feedback`, note.value ? {value, comment: note.value} : {value});
      say('Feedback is kept');
      await again();
    } catch (e) {
      failedNote.textContent = e.message;
      failedNote.hidden = false;
    }
  };
  const given = (r.feedback || []).length > 0 && el('ul', {class: 'said-of'}, r.feedback.map((f) => el('li', {},
    el('span', {class: `tag ${f.value > 0 ? 'good' : f.value < 0 ? 'bad' : 'plain'}`, text: f.value > 0 ? `+${f.value}` : String(f.value)}), el('span', {class: 'muted'}, ' ', when(f.time), ' '), el('span', {text: f.comment || ''}))));
  if (older) return part('Feedback', given, el('p', {class: 'muted', text: 'A newer call has this id, and takes what is said of it.'}));
  return part('Feedback', given, el('div', {class: 'row thumbs'}, button('👍', () => give(1), {'aria-label': 'Good answer'}), button('👎', () => give(-1), {'aria-label': 'Poor answer'}), note), failedNote);
}
