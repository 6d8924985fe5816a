// Tables that are sorted by their heads and walked by the arrow keys.
import {el, put} from './dom.js';

// sorted orders rows by the column that sort names, such as "-cost" for the largest
// first. What is not known comes last.
export function sorted(rows, columns, sort) {
  const column = columns.find((c) => c.id === sort.replace('-', ''));
  if (!column?.value) return rows;
  const way = sort.startsWith('-') ? -1 : 1;
  return [...rows].sort((a, b) => {
    const x = column.value(a), y = column.value(b);
    if (x === y) return 0;
    if (x === null || x === undefined) return 1;
    if (y === null || y === undefined) return -1;
    return (x < y ? -1 : 1) * way;
  });
}

// table makes one. columns are {id, text, show(row), value(row) to sort by, num, wide
// (hidden where there is little room), doc}; open(row) is what Enter and a click do.
export function table({caption, columns, rows, sort, resort, open}) {
  const head = columns.map((c) => {
    const props = {scope: 'col', class: classes(c), title: c.doc};
    if (!resort || !c.value) return el('th', {...props, text: c.text});
    const is = sort.replace('-', '') === c.id, down = sort.startsWith('-');
    return el('th', {...props, 'aria-sort': is ? (down ? 'descending' : 'ascending') : 'none'},
      el('button', {type: 'button', class: 'head', dataset: {sort: c.id}, on: {click: () => resort(is ? (down ? c.id : `-${c.id}`) : (c.num ? `-${c.id}` : c.id))}},
        c.text, el('span', {'aria-hidden': 'true', class: 'arrow', text: is ? (down ? '▾' : '▴') : ''})));
  });
  const body = el('tbody', {}, (resort ? sorted(rows, columns, sort) : rows).map((r) => row(columns, r, open)));
  if (open) walk(body);
  return el('div', {class: 'scroll', tabindex: open ? null : '0', role: 'region', 'aria-label': caption},
    el('table', {class: open && 'walked'}, el('caption', {class: 'only-read', text: open ? `${caption}. Arrow keys move between the rows, Enter opens one.` : caption}),
      el('thead', {}, el('tr', {}, head)), body));
}

// row makes one row.
export function row(columns, r, open) {
  const tr = el('tr', {tabindex: open && '-1'}, columns.map((c) => put(el(c.row ? 'th' : 'td', {class: classes(c), scope: c.row && 'row'}), c.show(r))));
  if (open) {
    tr.addEventListener('click', (e) => {
      if (!e.target.closest('a, button') && !String(getSelection())) open(r);
    });
    tr.addEventListener('keydown', (e) => {
      if (e.key !== 'Enter' || e.target !== tr) return;
      e.preventDefault();
      open(r);
    });
  }
  return tr;
}

const classes = (c) => [c.num && 'num', c.wide && 'wide', c.class].filter(Boolean).join(' ') || null;

// walk lets the arrow keys move between rows, of which one at a time is a stop of
// the Tab key.
export function walk(body) {
  const stop = () => {
    if (!body.querySelector('tr[tabindex="0"]')) body.rows[0]?.setAttribute('tabindex', '0');
  };
  stop();
  new MutationObserver(stop).observe(body, {childList: true});
  body.addEventListener('focusin', (e) => {
    const now = e.target.closest('tr');
    for (const tr of body.querySelectorAll('tr[tabindex="0"]')) tr.setAttribute('tabindex', '-1');
    now.setAttribute('tabindex', '0');
  });
  const moves = {
    ArrowDown: (tr) => tr.nextElementSibling, ArrowUp: (tr) => tr.previousElementSibling,
    Home: () => body.firstElementChild, End: () => body.lastElementChild,
  };
  body.addEventListener('keydown', (e) => {
    const move = moves[e.key];
    if (!move || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    move(e.target.closest('tr'))?.focus();
  });
}
