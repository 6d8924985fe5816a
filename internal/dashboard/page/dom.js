// Elements. Text is only ever set as text: nothing here, and nothing else in the
// page, reads markup from data.

const SVG = 'http://www.w3.org/2000/svg';

// el makes an element: class, text, style (an object), dataset, on (listeners),
// other members are attributes; false, null and undefined leave one out.
export function el(tag, props = {}, ...children) {
  return fill(document.createElement(tag), props, children);
}

// svg makes an element of a drawing.
export function svg(tag, props = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), props, children);
}

function fill(node, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (value === false || value === null || value === undefined) continue;
    if (name === 'text') node.textContent = value;
    else if (name === 'class') node.setAttribute('class', value);
    else if (name === 'style') for (const [k, v] of Object.entries(value)) node.style.setProperty(k, v);
    else if (name === 'dataset') Object.assign(node.dataset, value);
    else if (name === 'on') for (const [k, f] of Object.entries(value)) node.addEventListener(k, f);
    else node.setAttribute(name, value === true ? '' : value);
  }
  add(node, children);
  return node;
}

// add appends nodes and texts, however deep the lists; empty ones are left out.
export function add(node, children) {
  for (const child of [children].flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) node.append(child);
  }
  return node;
}

// put replaces what is in a node.
export function put(node, ...children) {
  node.replaceChildren();
  return add(node, children);
}

// button makes one that does something.
export function button(text, click, props = {}) {
  return el('button', {type: 'button', ...props, text, on: {click}});
}

// choice makes a labelled list to choose from: options are [value, text].
export function choice(label, options, value, change, props = {}) {
  const list = el('select', {...props, on: {change: () => change(list.value)}},
    options.map(([v, text]) => el('option', {value: v, text, selected: v === value})));
  return el('label', {class: 'field'}, el('span', {text: label}), list);
}

// empty says that there is nothing, and what to do about it.
export function empty(title, text, ...more) {
  return el('div', {class: 'empty'}, el('strong', {text: title}), el('p', {text}), more);
}

// say tells those who listen to the page.
export function say(text) {
  const live = document.getElementById('live');
  live.textContent = text;
}

// copier makes a button that copies a text.
export function copier(text, label = 'Copy') {
  const b = button(label, async () => {
    let done = 'Copied';
    try {
      await navigator.clipboard.writeText(text());
    } catch {
      done = 'Not allowed';
    }
    b.textContent = done;
    say(done);
    setTimeout(() => { b.textContent = label; }, 1500);
  }, {class: 'small'});
  return b;
}
