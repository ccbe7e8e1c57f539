// SPDX-License-Identifier: Apache-2.0
// The engine of Perfetto's UI (a worker of the browser, in WebAssembly) run by node: hands requests over
// and writes all replies to a file. trace_formats.py makes the requests and reads the replies.
//
//   node perfetto_engine.js DIR-OF-THE-UI REQUESTS.json REPLIES
'use strict';
const fs = require('fs');
const path = require('path');
const vm = require('vm');

const [folder, requests, replies] = process.argv.slice(2);
const bytesOf = (url) => fs.readFileSync(path.join(folder, path.basename(String(url))));
const quiet = () => {};

class XMLHttpRequest {
  open(method, url) {
    this.url = url;
  }
  send() {
    const bytes = bytesOf(this.url);
    this.response = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
  }
}

const worker = {
  console: {log: quiet, warn: quiet, info: quiet, debug: quiet, assert: quiet, error: console.error},
  performance, TextDecoder, TextEncoder, URL, XMLHttpRequest, crypto, setTimeout, clearTimeout, setInterval,
  clearInterval, queueMicrotask,
  location: {href: 'http://x/v/engine_bundle.js', protocol: 'http:', host: 'x', search: ''},
  navigator: {userAgent: 'node'},
  WorkerGlobalScope: class {},
  importScripts: quiet,
};
worker.self = worker;
vm.createContext(worker);
vm.runInContext(bytesOf('engine_bundle.js').toString(), worker);

const got = [];
const port = {postMessage: (bytes) => got.push(Buffer.from(bytes))};
worker.onmessage({data: port});
setTimeout(() => { // the module is loaded; what waits for it runs first
  const make = vm.runInContext('(n) => new Uint8Array(n)', worker);
  for (const hex of JSON.parse(fs.readFileSync(requests))) {
    const bytes = Buffer.from(hex, 'hex');
    const data = make(bytes.length);
    data.set(bytes);
    port.onmessage({data});
  }
  fs.writeFileSync(replies, Buffer.concat(got));
  process.exit(0);
}, 0);
