// The range of time that a view is about.
import {button, el} from './dom.js';

const MINUTE = 60e3, HOUR = 3600e3, DAY = 24 * HOUR;

const RANGES = {
  '1h': {text: '1 h', label: 'the last hour', length: HOUR, step: MINUTE},
  '24h': {text: '24 h', label: 'the last 24 hours', length: DAY, step: 30 * MINUTE},
  '7d': {text: '7 d', label: 'the last 7 days', length: 7 * DAY, step: 3 * HOUR},
  '30d': {text: '30 d', label: 'the last 30 days', length: 30 * DAY, step: DAY},
};
const STEPS = [MINUTE, 5 * MINUTE, 15 * MINUTE, 30 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY];
const MOST = 62; // steps of a custom range

// rangeOf reads the range from the parameters of the view. Its ends are on steps, so
// that no bar but the last is of a part of one.
export function rangeOf(params, fallback = '24h') {
  const from = Date.parse(params.get('from')), to = Date.parse(params.get('to'));
  if (from < to) {
    const step = STEPS.find((s) => (to - from) / s <= MOST) || DAY * Math.ceil((to - from) / DAY / 365);
    return made('custom', from, to, step, 'the chosen range');
  }
  const name = RANGES[params.get('range')] ? params.get('range') : fallback;
  const {length, step, label} = RANGES[name];
  const end = Math.ceil(Date.now() / step) * step;
  return made(name, end - length, end, step, label);
}

function made(name, from, to, step, label) {
  return {
    name, from, to, step, label, every: `${step / MINUTE}m`,
    params: {from: new Date(from).toISOString(), to: new Date(to).toISOString()},
    before: {from: new Date(2 * from - to).toISOString(), to: new Date(from).toISOString()},
  };
}

// rangePicker makes the choice of a range; change gets the parameters that differ.
export function rangePicker(params, change, fallback = '24h') {
  const now = rangeOf(params, fallback);
  const group = el('div', {class: 'segments', role: 'group', 'aria-label': 'Range of time'},
    Object.entries(RANGES).map(([name, r]) => button(r.text, () => change({range: name, from: null, to: null}),
      {'aria-pressed': String(now.name === name), title: r.label})));
  const custom = button('Custom', () => {
    form.hidden = !form.hidden;
    custom.setAttribute('aria-expanded', String(!form.hidden));
    if (!form.hidden) form.elements.from.focus();
  }, {'aria-pressed': String(now.name === 'custom'), 'aria-expanded': String(now.name === 'custom')});
  group.append(custom);
  const form = el('form', {class: 'custom', hidden: now.name !== 'custom', on: {submit: (e) => {
    e.preventDefault();
    const from = new Date(form.elements.from.value), to = new Date(form.elements.to.value);
    const good = from < to;
    form.elements.to.setCustomValidity(good ? '' : 'The end must be after the begin.');
    if (good) change({range: null, from: from.toISOString(), to: to.toISOString()});
    else form.reportValidity();
  }, input: () => form.elements.to.setCustomValidity('')}},
  el('label', {class: 'field'}, el('span', {text: 'From'}), el('input', {type: 'datetime-local', name: 'from', required: true, value: local(now.from)})),
  el('label', {class: 'field'}, el('span', {text: 'To'}), el('input', {type: 'datetime-local', name: 'to', required: true, value: local(now.to)})),
  el('button', {type: 'submit', text: 'Apply'}));
  return el('div', {class: 'range'}, group, form);
}

// local writes a time as its input reads it.
function local(t) {
  const d = new Date(t);
  return new Date(d.getTime() - d.getTimezoneOffset() * MINUTE).toISOString().slice(0, 16);
}
