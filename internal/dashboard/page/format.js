// How values are shown. What is not known is "unknown", and never 0.
import {el} from './dom.js';

export const UNKNOWN = 'unknown';
export const NONE = '–';

const whole = new Intl.NumberFormat(undefined, {maximumFractionDigits: 0});
const short = new Intl.NumberFormat(undefined, {notation: 'compact', maximumFractionDigits: 1});
const two = new Intl.NumberFormat(undefined, {maximumFractionDigits: 2});

const known = (v) => typeof v === 'number' && Number.isFinite(v);

// count shows a whole number, brief one in few letters.
export const count = (v) => (known(v) ? whole.format(v) : UNKNOWN);
export const brief = (v) => (known(v) ? (Math.abs(v) < 10000 ? two.format(v) : short.format(v)) : UNKNOWN);

// percent shows a share.
export function percent(v) {
  if (!known(v)) return UNKNOWN;
  const p = v * 100;
  return `${trim(p.toFixed(p && p < 0.1 ? 2 : 1))} %`;
}

// money shows dollars with as many digits as say something.
export function money(v) {
  if (!known(v)) return UNKNOWN;
  const a = Math.abs(v);
  if (a === 0) return '$0';
  if (a < 0.01) return `$${trim(v.toFixed(Math.min(9, 2 - Math.floor(Math.log10(a)))))}`;
  if (a < 1) return `$${trim(v.toFixed(4)).replace(/\.\d$/, '$&0')}`;
  return a < 10000 ? `$${v.toFixed(2)}` : `$${short.format(v)}`;
}

const trim = (s) => s.replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '');

// cost shows what calls cost together, unpriced how many there are whose price is not known.
export function cost(usd, unpriced) {
  const note = `and ${count(unpriced)} calls whose price is not known`;
  if (!unpriced) return money(usd);
  return usd ? el('span', {title: note}, money(usd), el('span', {class: 'muted', 'aria-label': note, text: ' + ?', role: 'img'})) : el('span', {class: 'muted', title: note, text: UNKNOWN});
}

// ms shows a duration.
export function ms(v) {
  if (!known(v)) return UNKNOWN;
  if (v < 1000) return `${v > 0 && v < 10 ? trim(v.toFixed(v < 1 ? 2 : 1)) : Math.round(v)} ms`;
  const s = v / 1000;
  if (s < 60) return `${trim(s.toFixed(s < 10 ? 2 : 1))} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${Math.floor(s % 60)} s`;
  return s < 48 * 3600 ? `${Math.floor(s / 3600)} h ${Math.floor(s % 3600 / 60)} min` : `${two.format(s / 86400)} days`;
}

// latency shows a member of a distribution, nothing for one of no calls.
export const latency = (l, member) => (l && l.count ? ms(l[member]) : NONE);

// share divides, and is null where there is nothing to divide by.
export const share = (part, of) => (of ? part / of : null);

const clock = {hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23'};
const day = {month: 'short', day: 'numeric'};
const dates = {
  clock: new Intl.DateTimeFormat(undefined, clock),
  minute: new Intl.DateTimeFormat(undefined, {hour: '2-digit', minute: '2-digit', hourCycle: 'h23'}),
  day: new Intl.DateTimeFormat(undefined, day),
  both: new Intl.DateTimeFormat(undefined, {...day, hour: '2-digit', minute: '2-digit', hourCycle: 'h23'}),
  full: new Intl.DateTimeFormat(undefined, {year: 'numeric', ...day, ...clock, fractionalSecondDigits: 3, timeZoneName: 'short'}),
};

// moment shows a time in the local zone, in the form of that name.
export function moment(t, form = 'full') {
  const d = new Date(t);
  return Number.isNaN(d.getTime()) ? UNKNOWN : dates[form].format(d);
}

// when makes a time: the clock alone for one of today, with the UTC to hover over.
export function when(t, form) {
  const d = new Date(t);
  if (Number.isNaN(d.getTime())) return UNKNOWN;
  const today = new Date().toDateString() === d.toDateString();
  const text = form ? moment(t, form) : today ? moment(t, 'clock') : `${moment(t, 'day')} ${moment(t, 'clock')}`;
  return el('time', {datetime: d.toISOString(), title: `${d.toISOString().replace('T', ' ').replace('Z', '')} UTC`, text});
}
