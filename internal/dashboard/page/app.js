// The frame of the page: which view there is, who may see it, light and dark.
import * as api from './api.js';
import {button, el, empty, put, say} from './dom.js';
import * as overview from './overview.js';
import * as cache from './cache.js';
import * as models from './models.js';
import * as errors from './errors.js';
import * as logs from './logs.js';
import * as prompts from './prompts.js';
import * as catalog from './catalog.js';

const VIEWS = {overview, cache, models, errors, logs, prompts, catalog};
const main = document.getElementById('main');
const nav = document.getElementById('nav');
let shown = null; // {name, route, end, update}
let about = null; // what the gateway has

// read returns the view that the URL names, its record, of which there may be several
// with the id and one at the time, and its parameters.
function read() {
  const [path, query = ''] = location.hash.replace(/^#\/?/, '').split('?');
  const [name, id = '', time = ''] = path.split('/');
  return {name: VIEWS[name] ? name : 'overview', id: decode(id), time: decode(time), params: new URLSearchParams(query)};
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

// href returns the URL of a view.
export function href(name, params, id, time) {
  const query = new URLSearchParams(params).toString();
  return `#/${[name, id, id && time].filter(Boolean).map(encodeURIComponent).join('/')}${query ? `?${query}` : ''}`;
}

// View is what a view is given.
function context(route, ended) {
  return {
    main, about, route, signal: ended.signal, href,
    get: (path, params) => api.get(path, params, ended.signal),
    // change sets parameters of the URL; null takes one out.
    change(changes, {quietly = false} = {}) {
      const params = new URLSearchParams(read().params);
      for (const [name, value] of Object.entries(changes)) {
        params.delete(name);
        for (const v of [value].flat()) if (v !== null && v !== '') params.append(name, v);
      }
      const url = href(route.name, params);
      if (quietly) history.replaceState(null, '', url);
      else if (url !== location.hash) location.hash = url;
    },
    // every calls f again and again while the view and the page are looked at.
    every(interval, f) {
      const timer = setInterval(() => { if (!document.hidden) f(); }, interval);
      ended.signal.addEventListener('abort', () => clearInterval(timer));
    },
  };
}

async function open() {
  const route = read();
  mark(route.name);
  if (shown?.name === route.name && shown.update?.(route)) return;
  close();
  const ended = new AbortController();
  const same = shown?.name === route.name;
  const mine = shown = {name: route.name, end: ended};
  document.title = `${VIEWS[route.name].title} · Gateway`;
  try {
    if (!about) {
      const said = await api.get('about', null, ended.signal);
      if (!said.admitted) {
        refused(said.reason);
        return;
      }
      about = said;
    }
    nav.hidden = false;
    document.getElementById('own').hidden = !about.own;
    document.getElementById('out').hidden = !api.key();
    if (!same) put(main, el('p', {class: 'muted loading', text: 'Loading …'}));
    mine.update = await VIEWS[route.name].open(context(route, ended));
  } catch (e) {
    if (e.name === 'AbortError' || ended.signal.aborted || e.status === 401) return;
    put(main, el('h1', {text: VIEWS[route.name].title}), failed(e));
  }
}

function close() {
  shown?.end.abort();
}

// failed shows an error with a way on.
function failed(e) {
  if (!(e instanceof api.Failure)) console.error(e);
  return el('div', {role: 'alert'}, empty(e instanceof api.Failure ? 'This could not be loaded' : 'The page failed', e.message, button('Try again', open)));
}

function mark(name) {
  for (const link of nav.children) {
    if (link.dataset.view !== name) {
      link.removeAttribute('aria-current');
      continue;
    }
    link.setAttribute('aria-current', 'page');
    nav.scrollLeft = link.offsetLeft - nav.offsetLeft - (nav.clientWidth - link.offsetWidth) / 2;
  }
}

// lock asks for the key. wrong says why the one there was is not right.
function lock(wrong) {
  close();
  shown = about = null;
  nav.hidden = document.getElementById('own').hidden = true;
  document.getElementById('out').hidden = true;
  document.title = 'Sign in · Gateway';
  const input = el('input', {type: 'password', id: 'key', name: 'key', required: true, autocomplete: 'off', spellcheck: 'false', 'aria-describedby': 'key-note', 'aria-invalid': wrong ? 'true' : null});
  const form = el('form', {class: 'card sign-in', on: {submit: (e) => {
    e.preventDefault();
    api.setKey(input.value.trim());
    if (/^[\x21-\x7e]+$/.test(api.key())) open().then(() => main.focus());
    else refused();
  }}},
  el('h1', {text: 'Sign in'}),
  wrong && el('p', {class: 'wrong', role: 'alert', text: wrong}),
  el('label', {for: 'key', text: 'API key of the gateway'}), input,
  el('p', {class: 'muted', id: 'key-note', text: 'It is kept in this tab until you sign out or close it, and sent to this gateway only.'}),
  el('button', {type: 'submit', class: 'main', text: 'Sign in'}));
  put(main, form);
  input.focus();
}

// refused forgets a key that is not right.
function refused(reason = '') {
  const wrong = api.key() && (reason || 'This key is not right. Check it, or ask whoever runs the gateway for one.');
  api.setKey('');
  lock(wrong);
}

// The themes: as the system has it, light, dark.
const THEMES = ['system', 'light', 'dark'];
const theme = {
  button: document.getElementById('theme'),
  get now() {
    try {
      return THEMES.includes(localStorage.getItem('gateway-theme')) ? localStorage.getItem('gateway-theme') : 'system';
    } catch {
      return document.documentElement.dataset.theme || 'system';
    }
  },
  show(name) {
    document.documentElement.dataset.theme = name;
    put(this.button, el('span', {class: 'only-read', text: 'Colours: '}), el('span', {'aria-hidden': 'true', text: {system: '◐ ', light: '○ ', dark: '● '}[name]}), {system: 'Auto', light: 'Light', dark: 'Dark'}[name]);
    this.button.title = 'Colours: as the system has them, light, or dark';
  },
  next() {
    const name = THEMES[(THEMES.indexOf(this.now) + 1) % THEMES.length];
    try {
      localStorage.setItem('gateway-theme', name);
    } catch { /* for this page only */ }
    this.show(name);
    say(`Colours: ${name}`);
  },
};

theme.show(theme.now);
theme.button.addEventListener('click', () => theme.next());
document.getElementById('skip').addEventListener('click', (e) => {
  e.preventDefault();
  main.focus();
});
document.getElementById('out').addEventListener('click', () => {
  api.setKey('');
  lock('');
  say('Signed out');
});
window.addEventListener('gateway-locked', () => refused());
window.addEventListener('hashchange', open);
put(nav, Object.entries(VIEWS).map(([name, v]) => el('a', {href: `#/${name}`, dataset: {view: name}, text: v.title})));
open();
