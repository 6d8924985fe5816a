// The data of the page, all below api/ and all with the key.

const NAME = 'gateway-dashboard-key';
let memory = ''; // where the browser keeps nothing

function stored() {
  try {
    return sessionStorage.getItem(NAME) || '';
  } catch {
    return memory;
  }
}

// key returns the key of this tab; setKey keeps one, and '' forgets it.
export const key = () => stored();
export function setKey(value) {
  memory = value;
  try {
    if (value) sessionStorage.setItem(NAME, value);
    else sessionStorage.removeItem(NAME);
  } catch { /* the variable has it */ }
}

// Failure is an answer that is an error, or none at all.
export class Failure extends Error {
  constructor(status, message, code = '') {
    super(message);
    this.status = status;
    this.code = code;
  }
}

async function send(path, {params, method = 'GET', body, signal} = {}) {
  const url = new URL(`api/${path}`, document.baseURI);
  url.hash = '';
  if (params) url.search = new URLSearchParams(params).toString();
  const headers = {};
  if (stored()) headers['x-gateway-api-key'] = stored();
  if (body) headers['content-type'] = 'application/json';
  let res;
  try {
    res = await fetch(url, {method, headers, body: body && JSON.stringify(body), signal, credentials: 'same-origin', redirect: 'error', cache: 'no-store'});
  } catch (e) {
    if (e.name === 'AbortError') throw e;
    throw new Failure(0, 'The gateway does not answer. Is it running, and is the network there?');
  }
  if (res.ok) return res;
  const text = await res.text();
  let said = {};
  try {
    said = JSON.parse(text).error || {};
  } catch { /* no envelope */ }
  if (res.status === 401) window.dispatchEvent(new CustomEvent('gateway-locked'));
  throw new Failure(res.status, said.message || `The gateway answered with status ${res.status}.`, said.code);
}

// get reads JSON.
export async function get(path, params, signal) {
  return (await send(path, {params, signal})).json();
}

// post sends JSON.
export async function post(path, body) {
  await send(path, {method: 'POST', body});
}

// download saves an answer as a file.
export async function download(path, params, name) {
  const blob = await (await send(path, {params})).blob();
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
