// Drawings of values over time: bars on top of each other, or lines. They are read
// by mouse, by the arrow keys, and as a table.
import {el, put, svg} from './dom.js';
import {moment, NONE} from './format.js';

const HEIGHT = 168, TOP = 10, BOTTOM = 22, RIGHT = 8;

// chart makes a figure. series are {name, color (1 to 8, or ok, bad, warn), values}, with
// null where there is nothing; times are numbers; format shows a value; kind is bars or
// lines; max is the end of the axis where that is known.
export function chart({title, note, kind = 'bars', series, times, step, format, max}) {
  const draw = {title, kind, series, times, step, format, max, at: -1};
  const plot = el('div', {
    class: 'plot', tabindex: '0', role: 'slider', 'aria-label': `${title}, over time`, 'aria-orientation': 'horizontal',
    'aria-valuemin': 0, 'aria-valuemax': Math.max(0, times.length - 1), 'aria-valuenow': Math.max(0, times.length - 1), 'aria-valuetext': 'use the arrow keys to read it',
  });
  const tip = el('div', {class: 'tip', hidden: true, 'aria-hidden': 'true'});
  const body = el('div', {class: 'plot-frame'}, plot, tip);
  const table = el('div', {class: 'scroll', hidden: true, tabindex: '0', role: 'region', 'aria-label': `${title}, as a table`});
  const toggle = el('button', {type: 'button', class: 'small quiet', 'aria-pressed': 'false', text: 'Table', 'aria-label': `${title} as a table`, on: {click: () => {
    table.hidden = !table.hidden;
    body.hidden = !table.hidden;
    toggle.setAttribute('aria-pressed', String(!table.hidden));
    if (!table.hidden) put(table, asTable(draw));
  }}});
  listen(draw, plot, tip);
  new ResizeObserver(() => redraw(draw, plot)).observe(plot);
  const empty = series.every((s) => s.values.every((v) => !v));
  return el('figure', {class: 'card chart'},
    el('figcaption', {}, el('span', {class: 'chart-title', text: title}), note && el('span', {class: 'muted', text: note}), el('span', {class: 'grow'}), toggle),
    body, table,
    el('ul', {class: 'legend'}, series.map((s) => el('li', {}, el('span', {class: `key c-${s.color}`}), s.name))),
    empty && el('p', {class: 'muted nothing', text: 'Nothing in this range.'}));
}

function redraw(d, plot) {
  const width = plot.clientWidth;
  if (!width || width === d.width) return;
  d.width = width;
  const {top, ticks} = scale(d);
  const labels = ticks.map((v) => d.format(v));
  d.left = Math.min(84, 12 + 6.4 * Math.max(...labels.map((l) => l.length)));
  d.x = (i) => d.left + (i + 0.5) * (width - d.left - RIGHT) / d.times.length;
  d.y = (v) => HEIGHT - BOTTOM - v / top * (HEIGHT - TOP - BOTTOM);
  d.cursor = svg('line', {class: 'cursor', y1: TOP, y2: HEIGHT - BOTTOM, visibility: 'hidden'});
  put(plot, svg('svg', {width, height: HEIGHT, 'aria-hidden': 'true', focusable: 'false'},
    ticks.map((v, i) => [
      svg('line', {class: v ? 'grid' : 'axis', x1: d.left, x2: width - RIGHT, y1: d.y(v), y2: d.y(v)}),
      svg('text', {class: 'tick', x: d.left - 6, y: d.y(v) + 3.5, 'text-anchor': 'end', text: labels[i]}),
    ]),
    timeTicks(d, width), d.kind === 'bars' ? bars(d, width) : lines(d), d.cursor));
}

// scale returns where the axis ends and its ticks.
function scale(d) {
  let most = 0;
  d.times.forEach((_, i) => {
    const values = d.series.map((s) => s.values[i] || 0);
    most = Math.max(most, d.kind === 'bars' ? values.reduce((a, b) => a + b, 0) : Math.max(...values));
  });
  if (d.max) return {top: d.max, ticks: [0, d.max / 2, d.max]};
  if (!most) return {top: 1, ticks: [0]};
  const rough = most / 3, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((n) => n * power).find((n) => n >= rough * 0.999);
  const steps = Math.ceil(most / step - 1e-9);
  return {top: steps * step, ticks: Array.from({length: steps + 1}, (_, i) => i * step)};
}

// timeTicks writes as many times as there is room for.
function timeTicks(d, width) {
  const form = d.step >= 86400e3 ? 'day' : d.times.at(-1) - d.times[0] > 36 * 3600e3 ? 'both' : 'minute';
  const room = form === 'both' ? 96 : 64;
  const every = Math.max(1, Math.ceil(d.times.length / Math.max(1, Math.floor((width - d.left) / room))));
  return d.times.map((t, i) => i % every === 0 && d.x(i) < width - room / 2.4
    && svg('text', {class: 'tick', x: Math.max(d.x(i), d.left + 12), y: HEIGHT - 6, 'text-anchor': 'middle', text: moment(t, form)}));
}

function bars(d, width) {
  const room = (width - d.left - RIGHT) / d.times.length, wide = Math.max(1, Math.min(40, room * 0.76));
  return d.times.map((_, i) => {
    let below = 0;
    return d.series.map((s) => {
      const v = s.values[i] || 0;
      if (!v) return null;
      const y = d.y(below + v), height = Math.max(1, d.y(below) - y);
      below += v;
      return svg('rect', {class: `c-${s.color}`, x: d.x(i) - wide / 2, y, width: wide, height, rx: Math.min(1.5, wide / 3)});
    });
  });
}

// lines leaves gaps where there is no value, and a dot for one alone.
function lines(d) {
  return d.series.map((s) => {
    const parts = [];
    let open = [];
    s.values.forEach((v, i) => {
      if (v === null || v === undefined) {
        open = [];
        return;
      }
      if (!open.length) parts.push(open);
      open.push([d.x(i), d.y(v)]);
    });
    return parts.map((p) => (p.length === 1
      ? svg('circle', {class: `c-${s.color}`, cx: p[0][0], cy: p[0][1], r: 2.5})
      : svg('polyline', {class: `line l-${s.color}`, points: p.map((q) => q.map((n) => n.toFixed(1)).join()).join(' ')})));
  });
}

const stepName = (d, i) => moment(d.times[i], d.step >= 86400e3 ? 'day' : 'both');
const shown = (d, s, i) => (s.values[i] === null || s.values[i] === undefined ? NONE : d.format(s.values[i]));

// listen shows what is at the mouse, or at the place the arrow keys went to.
function listen(d, plot, tip) {
  const show = (i) => {
    if (!d.x || i < 0 || i >= d.times.length) return;
    d.at = i;
    put(tip, el('strong', {text: stepName(d, i)}),
      d.series.map((s) => el('div', {}, el('span', {class: `key c-${s.color}`}), el('span', {class: 'grow', text: s.name}), el('b', {text: shown(d, s, i)}))));
    tip.hidden = false;
    const x = d.x(i);
    tip.style.setProperty('left', `${Math.max(0, Math.min(d.width - tip.offsetWidth, x > d.width / 2 ? x - tip.offsetWidth - 10 : x + 10))}px`);
    for (const end of ['x1', 'x2']) d.cursor.setAttribute(end, x);
    d.cursor.setAttribute('visibility', 'visible');
    plot.setAttribute('aria-valuenow', i);
    plot.setAttribute('aria-valuetext', `${stepName(d, i)}: ${d.series.map((s) => `${s.name} ${shown(d, s, i)}`).join(', ')}`);
  };
  const hide = () => {
    tip.hidden = true;
    d.cursor?.setAttribute('visibility', 'hidden');
  };
  const moves = {ArrowLeft: (i) => i - 1, ArrowRight: (i) => i + 1, Home: () => 0, End: () => d.times.length - 1};
  plot.addEventListener('pointermove', (e) => {
    const x = e.clientX - plot.getBoundingClientRect().left - d.left;
    show(Math.max(0, Math.min(d.times.length - 1, Math.floor(x / (d.width - d.left - RIGHT) * d.times.length))));
  });
  plot.addEventListener('pointerleave', hide);
  plot.addEventListener('blur', hide);
  plot.addEventListener('keydown', (e) => {
    if (e.key === 'Escape') hide();
    if (!moves[e.key]) return;
    e.preventDefault();
    show(Math.max(0, Math.min(d.times.length - 1, moves[e.key](d.at < 0 ? d.times.length : d.at))));
  });
}

function asTable(d) {
  return el('table', {}, el('caption', {class: 'only-read', text: d.title}),
    el('thead', {}, el('tr', {}, el('th', {scope: 'col', text: 'Time'}), d.series.map((s) => el('th', {scope: 'col', class: 'num', text: s.name})))),
    el('tbody', {}, d.times.map((_, i) => el('tr', {}, el('th', {scope: 'row', text: stepName(d, i)}), d.series.map((s) => el('td', {class: 'num', text: shown(d, s, i)}))))));
}

// proportions draws parts of a whole as one bar with a legend.
export function proportions(title, parts, format) {
  const total = parts.reduce((sum, p) => sum + p.value, 0);
  return el('section', {class: 'card'}, el('h2', {text: title}),
    total > 0 && el('div', {class: 'whole', 'aria-hidden': 'true'}, parts.map((p) => p.value > 0
      && el('span', {class: `c-${p.color}`, style: {'flex-grow': String(p.value)}}))),
    el('ul', {class: 'parts'}, parts.map((p) => el('li', {}, el('span', {class: `key c-${p.color}`}),
      el('span', {class: 'grow', text: p.name}), el('b', {text: format(p.value)}), el('span', {class: 'muted num', text: total ? `${Math.round(100 * p.value / total)} %` : NONE})))));
}
