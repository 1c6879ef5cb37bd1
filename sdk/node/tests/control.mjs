/** Murphy's side of the worker protocol, as small as it can be; the only double in these tests. */
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const WORKER = fileURLToPath(new URL('../murphy_worker.mjs', import.meta.url));
const TOKEN = 'secret-of-this-run';

export class Worker {
  orders = [];
  results = new Map();
  phases = new Map();
  sockets = new Set();
  number = 0;
  refuse = {};
  printed = '';

  /** A real runner over `files`, with the packages in `modules`, started as Murphy starts it. */
  static async start({ runner, modules, files, args = [], env = {}, token = TOKEN }) {
    const worker = new Worker();
    await worker.listen();
    worker.directory = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'murphy-node-')));
    fs.symlinkSync(modules, path.join(worker.directory, 'node_modules'));
    for (const [name, text] of Object.entries({ 'package.json': '{"name":"project","type":"commonjs"}', ...files })) {
      fs.mkdirSync(path.dirname(path.join(worker.directory, name)), { recursive: true });
      fs.writeFileSync(path.join(worker.directory, name), text);
    }
    const clean = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(MURPHY|VITEST|NODE_TEST|NODE_ENV|FORCE_COLOR)/.test(name)));
    worker.process = spawn(process.execPath, [WORKER, runner, ...args], {
      cwd: worker.directory,
      env: { ...clean, NO_COLOR: '1', MURPHY_CONTROL_URL: worker.url, MURPHY_TOKEN: token, MURPHY_WORKER: '0', ...env },
    });
    for (const stream of [worker.process.stdout, worker.process.stderr]) stream.on('data', (data) => (worker.printed += data));
    worker.exited = new Promise((resolve) => worker.process.on('exit', (code, signal) => resolve(code ?? signal)));
    return worker;
  }

  listen() {
    this.server = http.createServer((asked, answer) => this.handle(asked, answer));
    this.server.on('connection', (socket) => this.sockets.add(socket));
    return new Promise((resolve) =>
      this.server.listen(0, '127.0.0.1', () => {
        this.url = `http://127.0.0.1:${this.server.address().port}`;
        resolve();
      }),
    );
  }

  async handle(asked, answer) {
    let text = '';
    for await (const part of asked) text += part;
    const body = text ? JSON.parse(text) : null;
    const say = (status, content) => {
      answer.writeHead(status, { 'content-type': 'application/json' });
      answer.end(content === undefined ? undefined : JSON.stringify(content));
    };
    if (asked.headers.authorization !== `Bearer ${TOKEN}`) return say(401);
    if (asked.headers.traceparent) return say(400, { error: 'the control connection carries trace context' });
    const route = `${asked.method} ${asked.url}`;
    const phase = /^PUT \/v1\/executions\/(\w+)\/phase$/.exec(route);
    if (route === 'GET /v1/worker/next?worker=0') {
      this.waiting = say;
      return this.hand();
    }
    if (route === 'POST /v1/worker/tests?worker=0') {
      this.listed(body);
      return say(204);
    }
    if (route === 'POST /v1/worker/result?worker=0') {
      const status = this.refuse[body.execution] ?? 204;
      delete this.refuse[body.execution];
      if (status === 204) this.results.get(body.execution)?.(body);
      return status === 204 ? say(204) : say(status, { error: 'as the test wants it' });
    }
    if (phase) {
      this.phases.set(phase[1], [...(this.phases.get(phase[1]) ?? []), body.name]);
      return say(200, { in_flight: 0, armed: body.name === 'call' });
    }
    return say(404, { error: route });
  }

  hand() {
    if (!this.waiting || !this.orders.length) return;
    const say = this.waiting;
    this.waiting = undefined;
    const order = this.orders.shift();
    if (order === null) say(204);
    else say(200, order);
  }

  order(order) {
    this.orders.push(order);
    this.hand();
  }

  /** The answer, unless the worker ends before it. */
  async answered(promise) {
    let timer;
    const over = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer in 60 s: ${this.printed}`)), 60_000);
      this.exited.then((code) => reject(new Error(`the worker ended (${code}): ${this.printed}`)));
    });
    return Promise.race([promise, over]).finally(() => clearTimeout(timer));
  }

  list() {
    const listed = new Promise((resolve) => (this.listed = resolve));
    this.order({ do: 'list', unknown: 1 });
    return this.answered(listed);
  }

  async run(test, more = {}) {
    const execution = `e${++this.number}`;
    const arrived = new Promise((resolve) => this.results.set(execution, resolve));
    this.order({ do: 'run', execution, test, phases: ['call'], timeout_ms: 60000, faults: [], unknown: {}, ...more });
    const result = await this.answered(arrived);
    this.results.delete(execution);
    return { ...result, phases: this.phases.get(execution) };
  }

  stop() {
    this.order({ do: 'stop' });
    return this.exited;
  }

  /** As when Murphy is killed. */
  die() {
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
  }

  close() {
    this.process.kill('SIGKILL');
    this.die();
    fs.rmSync(this.directory, { recursive: true, force: true });
  }

  /** Resident memory, in KiB. */
  memory() {
    return Number(/VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${this.process.pid}/status`, 'utf8'))[1]);
  }
}
