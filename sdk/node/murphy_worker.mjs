/**
 * Warm mocha and vitest: they run one test per execution, when Murphy asks for it.
 *
 * Started as `node murphy_worker.mjs mocha|vitest ARGUMENTS`, with the arguments of the user's own command; the runner is the project's,
 * and no project has to be edited. Owns the conversation with Murphy (docs/guide/worker-protocol.md) and what makes a test repeatable in one
 * process. How a test runs is left to the runner: mocha's own hooks and tests are run by mocha's Runnable, vitest's by vitest.
 * vitest loads this same file once more in its workers, as its runner.
 *
 * One file, nothing but Node 18 or newer.
 */
import diagnostics from 'node:diagnostics_channel';
import fs from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** What a result holds at most of what a test printed; the end, where the failure is. */
const OUTPUT_LIMIT = 64 * 1024;
/** One message of an exception. Bodies of the protocol end at 1 MiB. */
const MESSAGE_LIMIT = 4 * 1024;
/** A chain of causes that is longer is cut. */
const CHAIN_LIMIT = 32;
/** Murphy answers a long poll after 20 s at the latest. */
const ANSWER_TIMEOUT = 60_000;
/** What is about to end gets this long, in ms, before it counts as left behind. */
const LEFT_BEHIND_GRACE = 100;
/** Differ between executions without the test having changed them. */
const OWN_VARIABLES = ['TRACEPARENT', 'TRACESTATE', 'BAGGAGE', 'MURPHY_EXECUTION', 'MURPHY_FAULTS', 'MURPHY_TEST', 'MURPHY_TEST_PHASE'];

const inVitestWorker = Boolean(globalThis.__vitest_worker__);
const cwd = process.cwd();
/** The site library, which wants to know the test and its phase; without MURPHY_SITE there is none. */
const site = siteLibrary();
// Before anything is patched, and before a test can.
const request = site?.request ?? http.request;

function siteLibrary() {
  if (process.env.MURPHY_SITE !== '1') return undefined;
  try {
    // A thread or process that did not inherit NODE_OPTIONS.
    const library = globalThis[Symbol.for('murphy.site')] ?? createRequire(import.meta.url)('./murphy_site.cjs');
    if (!library?.manage) return undefined;
    library.manage();
    return library;
  } catch (error) {
    say(`the site library cannot be loaded: ${error.message}`);
    return undefined;
  }
}

// ---- the conversation with Murphy ----

/** Murphy ended, or does not talk to this worker any more. */
class Gone extends Error {}

class Control {
  constructor({ url, token, worker }) {
    this.url = url.replace(/\/$/, '');
    this.token = token;
    this.worker = worker;
    this.agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  }

  /** What to do next, or null if there is nothing yet. */
  next() {
    return this.ask('GET', `/v1/worker/next?worker=${this.worker}`);
  }

  tests(body) {
    return this.ask('POST', `/v1/worker/tests?worker=${this.worker}`, body, [404, 409]); // given up meanwhile
  }

  async result(body) {
    const path = `/v1/worker/result?worker=${this.worker}`;
    try {
      await this.ask('POST', path, body, [404, 409]);
    } catch (refused) {
      if (refused.status !== 413) throw refused;
      await this.ask('POST', path, { ...body, output: body.output.slice(-1024), exceptions: body.exceptions.slice(0, 1) }, [404, 409]);
    }
  }

  phase(execution, name) {
    return this.ask('PUT', `/v1/executions/${encodeURIComponent(execution)}/phase`, { name }, [404, 409]);
  }

  async ask(method, path, body, tolerated = []) {
    const text = body === undefined ? undefined : JSON.stringify(printable(body));
    const { status, content } = await this.exchange(method, path, text);
    if (status === 401) throw new Gone('Murphy does not accept MURPHY_TOKEN');
    if (status < 400) return content ? JSON.parse(content) : null;
    if (tolerated.includes(status)) return null;
    throw Object.assign(new Error(`${status} ${content.slice(0, MESSAGE_LIMIT).trim()}`), { status });
  }

  exchange(method, path, text) {
    return new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${this.token}` };
      if (text !== undefined) Object.assign(headers, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
      const asked = request(this.url + path, { method, headers, agent: this.agent, timeout: ANSWER_TIMEOUT }, (answer) => {
        const parts = [];
        answer.on('data', (part) => parts.push(part));
        answer.on('end', () => resolve({ status: answer.statusCode, content: Buffer.concat(parts).toString() }));
        answer.on('error', failed);
      });
      // A connection that Murphy closed while a test ran is opened again, once.
      const failed = (error) =>
        asked.reusedSocket
          ? this.exchange(method, path, text).then(resolve, reject)
          : reject(new Gone(`Murphy is gone (${error.message || error.code})`));
      asked.on('error', failed);
      asked.on('timeout', () => asked.destroy(new Error(`no answer in ${ANSWER_TIMEOUT / 1000} s`)));
      asked.end(text);
    });
  }
}

/** The value with texts that are valid Unicode: half a surrogate pair is no JSON for most. */
function printable(value) {
  if (typeof value === 'string') return Buffer.from(value).toString();
  if (Array.isArray(value)) return value.map(printable);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, printable(inner)]));
}

function say(text) {
  fs.writeSync(2, `murphy: ${text}\n`);
}

/** Asks for orders until told to stop. The exit code. */
async function serve(control, { listing, run, end }) {
  try {
    for (;;) {
      const order = await control.next();
      if (!order) continue;
      if (order.do === 'stop') {
        await end();
        return 0;
      }
      if (order.do === 'list') await control.tests(listing());
      else if (order.do === 'run') await control.result(await run(order));
      else throw new Gone(`Murphy asks for \`${order.do}\`, which this worker does not know`);
    }
  } catch (error) {
    if (!(error instanceof Gone) && !error.status) throw error;
    say(`${error.message}: ending the tests`);
    await end();
    return 1;
  }
}

// ---- trace context: what the test's own calls carry ----

/** The headers of the execution that runs; empty between executions. */
let headers = {};

function patchClients() {
  for (const module of [http, https]) {
    const original = module.request;
    module.request = function (...args) {
      return original.apply(this, withContext(args));
    };
    module.get = function (...args) {
      const asked = module.request(...args);
      asked.end();
      return asked;
    };
  }
  syncBuiltinESMExports();
  // Both of Node's fetch and of undici installed by the project.
  diagnostics.channel('undici:request:create').subscribe(({ request: asked }) => {
    for (const [name, value] of Object.entries(headers)) {
      if (namesOf(asked.headers).includes(name.toLowerCase())) continue;
      if (typeof asked.addHeader === 'function') asked.addHeader(name, value);
      else if (Array.isArray(asked.headers)) asked.headers.push(name, value);
      else asked.headers += `${name}: ${value}\r\n`;
    }
  });
}

/** The arguments of a request with the headers that it does not set. With `Expect: 100-continue` Node sends what is in the options, at once. */
function withContext(args) {
  const at = isUrl(args[0]) ? 1 : 0;
  const given = typeof args[at] === 'object' && args[at] !== null ? args[at] : undefined;
  const own = given?.headers;
  const pairs = Array.isArray(own) && Array.isArray(own[0]);
  const set = namesOf(pairs ? own.flat() : Array.isArray(own) ? own : Object.entries(own ?? {}).flat());
  const added = Object.entries(headers).filter(([name]) => !set.includes(name.toLowerCase()));
  if (!added.length) return args;
  const all = Array.isArray(own) ? own.concat(pairs ? added : added.flat()) : { ...own, ...Object.fromEntries(added) };
  return [...args.slice(0, at), { ...given, headers: all }, ...args.slice(given ? at + 1 : at)];
}

/** As Node tells a URL from options, which may be those that `url.parse` made of one. */
function isUrl(given) {
  return typeof given === 'string' || Boolean(given?.href && given.protocol && given.auth === undefined && given.path === undefined);
}

function namesOf(written) {
  if (Array.isArray(written)) return written.filter((_, index) => index % 2 === 0).map((name) => String(name).toLowerCase());
  return String(written ?? '').split('\r\n').map((line) => line.split(':')[0].trim().toLowerCase());
}

function beginContext(order) {
  headers = { ...order.headers };
  for (const [name, value] of Object.entries(headers)) {
    if (OWN_VARIABLES.includes(name.toUpperCase())) process.env[name.toUpperCase()] = value;
  }
  process.env.MURPHY_EXECUTION = order.execution;
  process.env.MURPHY_FAULTS = JSON.stringify(order.faults ?? []);
}

function endContext() {
  headers = {};
  for (const name of OWN_VARIABLES) delete process.env[name];
}

// ---- what a test prints, and what it leaves changed ----

/** The end of what is added. */
class Tail {
  parts = [];
  size = 0;

  add(chunk) {
    this.parts.push(chunk);
    this.size += chunk.length;
    if (this.size > 2 * OUTPUT_LIMIT) {
      this.parts = [Buffer.from(Buffer.concat(this.parts).subarray(-OUTPUT_LIMIT))];
      this.size = this.parts[0].length;
    }
  }

  take() {
    const text = Buffer.concat(this.parts).toString();
    this.parts = [];
    this.size = 0;
    return text;
  }
}

/** Holds back what is printed, and keeps its end. */
class Capture {
  constructor() {
    const tail = (this.tail = new Tail());
    this.streams = [process.stdout, process.stderr].map((stream) => ({ stream, write: stream.write }));
    for (const { stream } of this.streams) {
      stream.write = (chunk, encoding, done) => {
        tail.add(typeof chunk === 'string' ? Buffer.from(chunk, typeof encoding === 'string' ? encoding : undefined) : Buffer.from(chunk));
        const called = typeof encoding === 'function' ? encoding : done;
        if (called) process.nextTick(called);
        return true;
      };
    }
  }

  end() {
    for (const { stream, write } of this.streams) stream.write = write;
    return this.tail.take();
  }
}

function endOf(text) {
  const bytes = Buffer.from(text);
  return bytes.length <= OUTPUT_LIMIT ? text : bytes.subarray(-OUTPUT_LIMIT).toString().replace(/^\uFFFD+/, '');
}

const RESOURCES = { TCPServerWrap: 'servers', PipeServerWrap: 'servers', ProcessWrap: 'child processes', MessagePort: 'threads', Timeout: 'timers' };

/** Working directory, environment, and what keeps the process busy. */
class ProcessState {
  constructor() {
    this.directory = directory();
    this.environment = environment();
    this.resources = resources();
  }

  async putBack() {
    const changed = [];
    if (this.directory && directory() !== this.directory) {
      changed.push('working directory');
      process.chdir(this.directory);
    }
    const now = environment();
    const names = [...new Set([...Object.keys(now), ...Object.keys(this.environment)])].filter((name) => now[name] !== this.environment[name]);
    for (const name of names) {
      if (name in this.environment) process.env[name] = this.environment[name];
      else delete process.env[name];
    }
    if (names.length) changed.push(`environment: ${names.sort().join(', ')}`);
    return changed.concat(await this.leftBehind());
  }

  async leftBehind() {
    for (let waited = 0; ; waited += 10) {
      const now = resources();
      const more = Object.keys(now).filter((name) => now[name] > (this.resources[name] ?? 0));
      if (!more.length || waited >= LEFT_BEHIND_GRACE) return more.map((name) => `${name}: ${now[name] - (this.resources[name] ?? 0)}`);
      await new Promise((resolve) => realSetTimeout(resolve, 10));
    }
  }
}

const realSetTimeout = setTimeout;

function environment() {
  const all = { ...process.env };
  for (const name of OWN_VARIABLES) delete all[name];
  return all;
}

function directory() {
  try {
    return process.cwd();
  } catch {
    return undefined; // deleted under our feet
  }
}

function resources() {
  const counts = {};
  for (const kind of process.getActiveResourcesInfo?.() ?? []) {
    const name = RESOURCES[kind];
    if (name) counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

// ---- what is reported ----

function result(order, outcome, phase, error) {
  const failure = error === undefined || outcome === 'skipped' ? undefined : error;
  return {
    execution: order.execution,
    test: order.test,
    outcome,
    phase,
    message: error === undefined ? '' : headline(messageOf(error)) || 'failed',
    exceptions: failure === undefined ? [] : chain(failure),
    ...(site && { assertion: site.assertionOf(failure) }),
    output: '',
    took_ms: 0,
    shares: [],
    changed: [],
  };
}

function messageOf(error) {
  try {
    if (error === null || typeof error !== 'object') return String(error);
    const name = nameOf(error);
    const message = String(error.message ?? '');
    return name === 'AssertionError' || !message || message.startsWith(name) ? message || name : `${name}: ${message}`;
  } catch {
    return 'its text cannot be read';
  }
}

function nameOf(error) {
  return String(error?.name || error?.constructor?.name || typeof error);
}

function firstLine(text) {
  return (String(text).split('\n').find((line) => line.trim()) ?? '').trim().slice(0, MESSAGE_LIMIT);
}

/** The first line; with the next one where it only announces what follows, as those of `node:assert` do. */
function headline(text) {
  const lines = String(text).split('\n').filter((line) => line.trim());
  return lines[0]?.trim().endsWith(':') && lines[1] ? firstLine(`${lines[0].trim()} ${lines[1].trim()}`) : firstLine(text);
}

/** The error and its causes, outermost first; the members of an aggregate after it. */
function chain(error) {
  const found = [];
  const seen = new Set();
  const waiting = [error];
  while (waiting.length && found.length < CHAIN_LIMIT) {
    const next = waiting.shift();
    if (next === undefined || next === null || seen.has(next)) continue;
    seen.add(next);
    const message = typeof next === 'object' ? String(next.message ?? '') : String(next);
    found.push({ type: nameOf(next), message: message.slice(0, MESSAGE_LIMIT), ...site?.describe(next) });
    if (typeof next !== 'object') continue;
    waiting.unshift(next.cause);
    if (Array.isArray(next.errors)) waiting.push(...next.errors);
  }
  return found;
}

function stackOf(error) {
  const text = String(error?.stack || messageOf(error)).split('\n').filter((line) => !line.includes('murphy_worker.mjs:')).join('\n');
  const cause = error?.cause;
  return cause && typeof cause === 'object' && cause.stack && !text.includes(cause.stack) ? `${text}\ncaused by: ${cause.stack}` : text;
}

/** Names for tests that stay the same in the next process. */
class Names {
  used = new Map();
  add(name) {
    const number = (this.used.get(name) ?? 0) + 1;
    this.used.set(name, number);
    return number === 1 ? name : `${name} #${number}`;
  }
}

function packageOf(name) {
  const find = createRequire(path.join(cwd, 'package.json'));
  try {
    return { find, folder: path.dirname(find.resolve(`${name}/package.json`)), version: find(`${name}/package.json`).version };
  } catch {
    throw new Error(`${name} is not installed in ${cwd}: murphy runs the project's own`);
  }
}

// ---- mocha ----

async function mocha(args, control) {
  const { find, folder, version } = packageOf('mocha');
  const module = find('mocha');
  const Mocha = module.default ?? module;
  const problems = loadFileByFile(Mocha);
  Mocha.prototype.run = function () {
    if (!this.suite.tests.length && !this.suite.suites.length && this.files?.length && !this.loadedForMurphy) {
      return void this.loadFilesAsync().then(() => this.run());
    }
    new WarmMocha(this, version, problems, control).serve().then(
      (code) => process.exit(code),
      (error) => {
        say(error.stack);
        process.exit(70);
      },
    );
    return undefined;
  };
  const cli = await import(pathToFileURL(path.join(folder, 'lib', 'cli', 'cli.js')));
  const main = cli.main ?? cli.default.main;
  // Murphy runs tests side by side, in a worker each, and asks again itself.
  const meant = args.filter((arg) => !['--parallel', '-p', '--watch', '-w'].includes(arg));
  process.argv = [process.argv[0], path.join(folder, 'bin', 'mocha.js'), ...meant, '--no-parallel', '--no-watch'];
  main(process.argv.slice(2));
}

/** A file that cannot be loaded is a problem; the tests of the others count. */
function loadFileByFile(Mocha) {
  const problems = [];
  const load = Mocha.prototype.loadFilesAsync;
  Mocha.prototype.loadFilesAsync = async function (...args) {
    this.loadedForMurphy = true;
    const files = this.files;
    for (const file of files) {
      this.files = [file];
      try {
        await load.apply(this, args);
      } catch (error) {
        problems.push({ file: path.resolve(file), text: `${path.relative(cwd, file)}: ${firstLine(messageOf(error))}` });
      }
    }
    this.files = files;
  };
  return problems;
}

class WarmMocha {
  /** Suites whose `before` hooks have run, outermost first. */
  warm = [];
  tests = new Map();

  constructor(mocha, version, problems, control) {
    Object.assign(this, { mocha, version, problems, control });
  }

  async serve() {
    const { mocha } = this;
    if (mocha.options.delay) await new Promise((resolve) => mocha.suite.once('run', resolve));
    if (mocha.suite.hasOnly()) mocha.suite.filterOnly();
    this.collect();
    site?.addTestFiles([...mocha.files, ...[mocha.options.require ?? []].flat()].map((file) => path.resolve(file)));
    for (const event of ['uncaughtException', 'unhandledRejection']) {
      process.removeAllListeners(event);
      process.on(event, (error) => this.uncaught(error));
    }
    let context = {};
    if (mocha.hasGlobalSetupFixtures?.()) context = await mocha.runGlobalSetup(context);
    return serve(this.control, {
      listing: () => this.listing(),
      run: (order) => this.run(order),
      end: async () => {
        await this.leave([]);
        if (mocha.hasGlobalTeardownFixtures?.()) await mocha.runGlobalTeardown(context, { context });
      },
    });
  }

  collect() {
    const { grep, invert } = this.mocha.options;
    const names = new Names();
    const broken = new Set(this.problems.map(({ file }) => file));
    this.mocha.suite.eachTest((test) => {
      if (broken.has(path.resolve(test.file ?? ''))) return;
      if (grep && new RegExp(grep).test(test.fullTitle()) === Boolean(invert)) return;
      const file = path.relative(cwd, test.file ?? '');
      this.tests.set(names.add(`${file} > ${test.fullTitle()}`), { test, file });
    });
  }

  listing() {
    return {
      runner: `mocha ${this.version}`,
      tests: [...this.tests].map(([id, { test, file }]) => ({ id, file, line: null, skip: test.isPending() ? 'pending' : null })),
      problems: this.problems.map(({ text }) => text),
    };
  }

  async run(order) {
    const entry = this.tests.get(order.test);
    if (!entry) return result(order, 'error', 'setup', `no test \`${order.test}\` was found`);
    const begun = performance.now();
    const capture = new Capture();
    beginContext(order);
    let report;
    try {
      report = await this.phases(order, entry.test);
    } finally {
      endContext();
      site?.end();
      this.printed = capture.end();
    }
    report.output = endOf(this.printed + report.output);
    report.took_ms = Math.round(performance.now() - begun);
    return report;
  }

  async phases(order, test) {
    const chain = suitesOf(test);
    const failures = [];
    await this.control.phase(order.execution, 'setup');
    site?.begin(order.test, 'teardown');
    await this.leave(chain);
    site?.setPhase('setup(wider)');
    let failure = test.isPending() ? undefined : await this.enter(chain, test);
    const state = new ProcessState();
    const begun = [];
    let skipped = test.isPending();
    site?.setPhase('setup(function)');
    if (!failure && !skipped) [failure, skipped] = await this.beforeEach(chain, test, begun);
    if (failure) failures.push({ outcome: 'error', phase: 'setup', error: failure });
    if (!failure && !skipped) {
      await this.control.phase(order.execution, 'call');
      site?.setPhase('call');
      const error = await this.runnable(test, test, site?.runInTest);
      if (error) failures.push({ outcome: 'failed', phase: 'call', error });
      skipped = test.pending && !error;
    }
    await this.control.phase(order.execution, 'teardown');
    site?.setPhase('teardown');
    for (const suite of begun.reverse()) {
      for (const hook of suite._afterEach) {
        const error = await this.runnable(hook, test, site?.runInTest);
        if (error) failures.push({ outcome: 'error', phase: 'teardown', error });
      }
    }
    const changed = await state.putBack();
    // What could not be set up is set up anew next time.
    if (order.fresh_fixtures || failures.some(({ phase }) => phase === 'setup')) await this.leave([]);
    const { outcome, phase, error } = failures[0] ?? (skipped ? { outcome: 'skipped', phase: 'call', error: 'skipped' } : { outcome: 'passed', phase: 'call' });
    const report = result(order, outcome, phase, error);
    report.output = failures.map((each) => `---- ${each.phase} failed ----\n${stackOf(each.error)}\n`).join('');
    report.shares = chain.flatMap(sharedBy);
    report.changed = changed;
    return report;
  }

  async beforeEach(chain, test, begun) {
    for (const suite of chain) {
      begun.push(suite);
      for (const hook of suite._beforeEach) {
        const error = await this.runnable(hook, test, site?.runInTest);
        if (error) return [error, false];
        if (hook.pending) return [undefined, true];
      }
    }
    return [undefined, false];
  }

  /** Runs the `before` hooks of suites that are not warm yet. */
  async enter(chain, test) {
    for (const suite of chain.slice(this.warm.length)) {
      this.warm.push(suite);
      for (const hook of suite._beforeAll) {
        const error = await this.runnable(hook, test);
        if (error) return error;
      }
    }
    return undefined;
  }

  /** Runs the `after` hooks of suites that the test is not in. Their failure is not this test's. */
  async leave(chain) {
    while (this.warm.length && !chain.includes(this.warm.at(-1))) {
      for (const hook of this.warm.pop()._afterAll) {
        const error = await this.runnable(hook);
        if (error) say(`${hook.title} failed: ${messageOf(error)}`);
      }
    }
  }

  /** One hook or test, with mocha's own time limit. The error, or undefined. What belongs to one test alone is run by `inTest`. */
  runnable(runnable, test, inTest = (run) => run()) {
    runnable.reset?.();
    runnable.asyncOnly = Boolean(this.mocha.options.asyncOnly);
    if (runnable !== test && runnable.ctx) runnable.ctx.currentTest = test;
    return new Promise((resolve) => {
      const done = (error) => {
        this.current = undefined;
        runnable.clearTimeout();
        resolve(error ?? undefined);
      };
      runnable.removeAllListeners('error');
      runnable.on('error', done);
      this.current = done;
      inTest(() => runnable.run(done));
    });
  }

  uncaught(error) {
    if (this.current) this.current(error ?? new Error('rejected without a reason'));
    else say(`an error after the end of a test: ${messageOf(error)}`);
  }
}

/** The suites that a test is in, outermost first. */
function suitesOf(test) {
  const chain = [];
  for (let suite = test.parent; suite; suite = suite.parent) chain.unshift(suite);
  return chain;
}

function sharedBy(suite) {
  const names = [...suite._beforeAll, ...suite._afterAll].map((hook) => hook.title.replace(/^"(before|after) all" hook(: )?/, '$1 '));
  return [...new Set(names)].map((name) => `${name.trim()} (suite ${suite.title || 'root'})`);
}

// ---- vitest: the process that Murphy started ----

async function vitest(args, control) {
  const { folder, version } = packageOf('vitest');
  if (Number.parseInt(version, 10) < 3) throw new Error(`vitest ${version} is too old: a warm worker needs 3`);
  const { createVitest, parseCLI } = await import(pathToFileURL(path.join(folder, 'dist', 'node.js')));
  const meant = args.filter((arg) => !['run', 'watch', 'dev', '--watch', '-w', '--ui', '--coverage'].includes(arg));
  const { filter, options } = parseCLI(['vitest', 'run', ...meant]);
  const output = new Tail();
  const reporter = { onUserConsoleLog: (log) => output.add(Buffer.from(log.content)) };
  const context = await createVitest('test', {
    ...options,
    // Murphy asks again itself, and judges what fails under a fault.
    retry: 0,
    bail: 0,
    watch: false,
    run: true,
    passWithNoTests: true,
    includeTaskLocation: true,
    reporters: [reporter],
    runner: fileURLToPath(import.meta.url),
  });
  const code = await new WarmVitest(context, version, filter, output, control).serve();
  await context.close();
  process.exit(code);
}

class WarmVitest {
  tests = new Map();
  problems = [];

  constructor(vitest, version, filter, output, control) {
    Object.assign(this, { vitest, version, filter, output, control });
  }

  async serve() {
    await this.collect();
    return serve(this.control, { listing: () => this.listing(), run: (order) => this.run(order), end: async () => {} });
  }

  async collect() {
    const names = new Names();
    const { testModules, unhandledErrors } = await this.vitest.collect(this.filter);
    for (const module of testModules) {
      const file = path.relative(cwd, module.moduleId);
      for (const error of module.errors()) this.problems.push(`${file}: ${firstLine(messageOf(error))}`);
      for (const test of module.children.allTests()) {
        const { name, number } = this.place(test);
        this.tests.set(names.add(`${file} > ${test.fullName}`), { test, file, module, name, number });
      }
    }
    for (const error of unhandledErrors ?? []) this.problems.push(firstLine(messageOf(error)));
    this.output.take();
    this.vitest.state.clearErrors();
  }

  /** The name by which vitest filters, and which of the tests with this name it is. */
  place(test) {
    const names = [];
    for (let task = test; task.type !== 'module'; task = task.parent) names.unshift(task.name);
    const name = names.join(' ');
    const same = [...test.module.children.allTests()].filter((other) => other.fullName === test.fullName);
    return { name, number: same.findIndex((other) => other.id === test.id) };
  }

  listing() {
    return {
      runner: `vitest ${this.version}`,
      tests: [...this.tests].map(([id, { test, file }]) => ({
        id,
        file,
        line: test.location?.line ?? null,
        skip: ['skip', 'todo'].includes(test.options.mode) ? test.options.mode : null,
      })),
      problems: this.problems,
    };
  }

  async run(order) {
    const entry = this.tests.get(order.test);
    if (!entry) return result(order, 'error', 'setup', `no test \`${order.test}\` was found`);
    const begun = performance.now();
    const { url, token } = this.control;
    const project = entry.module.project;
    project.provide('murphy', { url, token, worker: this.control.worker, order, name: entry.name, number: entry.number });
    this.vitest.setGlobalTestNamePattern(new RegExp(`^${entry.name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`));
    // Before the file is read: what it calls then is set-up, too.
    await this.control.phase(order.execution, 'setup');
    const specification = project.createSpecification(entry.module.moduleId);
    const { testModules, unhandledErrors } = await this.vitest.runTestSpecifications([specification]);
    // vitest's answer may name other files that it has read.
    const module = testModules.find((each) => each.moduleId === entry.module.moduleId && each.project === project);
    const report = this.report(order, entry, module, unhandledErrors ?? []);
    report.output = endOf(this.output.take() + report.output);
    report.took_ms = Math.round(performance.now() - begun);
    this.vitest.state.clearErrors();
    return report;
  }

  report(order, entry, module, unhandled) {
    const tests = module ? [...module.children.allTests()].filter((test) => this.place(test).name === entry.name) : [];
    const test = tests[entry.number];
    const around = [...(module?.errors() ?? [])];
    for (let task = test?.parent; task && task.type === 'suite'; task = task.parent) around.push(...task.errors());
    const { state, errors = [], note } = test?.result() ?? { state: 'skipped' };
    const meta = test?.meta().murphy ?? {};
    let report;
    if (state === 'failed') report = result(order, meta.phase === 'call' ? 'failed' : 'error', meta.phase ?? 'setup', errors[0]);
    else if (around.length) report = result(order, 'error', meta.phase ? 'teardown' : 'setup', around[0]);
    else if (unhandled.length) report = result(order, 'failed', 'call', unhandled[0]);
    else if (!test) report = result(order, 'error', 'setup', 'vitest did not run it');
    else if (state === 'skipped') report = result(order, 'skipped', 'call', note || 'skipped');
    else report = result(order, 'passed', 'call');
    const failures = [...errors, ...around, ...unhandled];
    report.output = failures.map((error) => `---- failed ----\n${stackOf(error)}\n`).join('');
    report.shares = meta.shares ?? [];
    report.changed = meta.changed ?? [];
    // The worker saw the error itself, and which call it came from.
    if (state === 'failed' && meta.failure) Object.assign(report, meta.failure);
    return report;
  }
}

// ---- vitest: its worker, where this file is the runner ----

async function warmRunner() {
  patchClients();
  const { folder } = packageOf('vitest');
  const { VitestTestRunner } = await import(pathToFileURL(path.join(folder, 'dist', 'runners.js')));
  const { getFn } = await import(pathToFileURL(path.join(folder, 'dist', 'suite.js')));

  return class extends VitestTestRunner {
    given = this.startSite(globalThis.__vitest_worker__.providedContext.murphy);

    /** Before the file is read. */
    startSite(given) {
      const { ctx, config } = globalThis.__vitest_worker__;
      const files = (ctx.files ?? []).map((file) => file.filepath ?? file);
      site?.addTestFiles([...files, ...[config?.setupFiles ?? []].flat()]);
      if (given) site?.begin(given.order.test, 'setup(wider)');
      return given;
    }

    async onBeforeRunFiles(files) {
      if (this.given) {
        const { order, name, number } = this.given;
        let seen = 0;
        eachTest(files, (test, names) => {
          if (names !== name) return;
          if (seen++ !== number) test.mode = 'skip';
          test.retry = test.repeats = 0;
        });
        this.control = new Control(this.given);
        beginContext(order);
      }
      await super.onBeforeRunFiles?.(files);
    }

    async onBeforeTryTask(test, attempt) {
      if (this.given) {
        test.meta.murphy = { phase: 'setup', changed: [] };
        this.state = new ProcessState();
        site?.setPhase('setup(function)');
      }
      await super.onBeforeTryTask?.(test, attempt);
    }

    async runTask(test) {
      const meta = test.meta.murphy;
      if (meta) {
        await this.announce('call');
        meta.phase = 'call';
        site?.setPhase('call');
      }
      try {
        await getFn(test)();
      } catch (error) {
        if (meta && site) meta.failure = { exceptions: chain(error), assertion: site.assertionOf(error) };
        throw error;
      }
      if (meta) meta.called = true;
    }

    async onTaskFinished(test) {
      const meta = test.meta.murphy;
      if (meta) {
        await this.announce('teardown');
        site?.setPhase('teardown');
        if (test.result.state !== 'fail') meta.phase = 'teardown';
      }
      await super.onTaskFinished?.(test);
    }

    async onAfterRunTask(test) {
      if (test.meta.murphy) {
        endContext();
        test.meta.murphy.changed = await this.state.putBack();
      }
      await super.onAfterRunTask?.(test);
    }

    async onAfterRunFiles(files) {
      endContext();
      site?.end();
      await super.onAfterRunFiles?.(files);
      this.control?.agent.destroy();
    }

    async announce(name) {
      await this.control.phase(this.given.order.execution, name).catch(() => {}); // the process that Murphy started finds out by itself
    }
  };
}

function eachTest(tasks, visit, names = []) {
  for (const task of tasks) {
    const inner = task.type === 'suite' && task.filepath ? names : [...names, task.name];
    if (task.type === 'suite') eachTest(task.tasks, visit, inner);
    else visit(task, inner.join(' '));
  }
}

// ---- where it begins ----

async function main() {
  const [runner, ...args] = process.argv.slice(2);
  const { MURPHY_CONTROL_URL: url, MURPHY_TOKEN: token, MURPHY_WORKER: worker } = process.env;
  const run = { mocha, vitest }[runner];
  if (!run || !url || !token || !worker) {
    const missing = run ? 'MURPHY_CONTROL_URL, MURPHY_TOKEN and MURPHY_WORKER are set by Murphy' : 'the runner is `mocha` or `vitest`';
    throw new Error(`murphy_worker.mjs: ${missing}`);
  }
  if (run === mocha) patchClients();
  await run(args, new Control({ url, token, worker }));
}

export default inVitestWorker ? await warmRunner() : undefined;

if (!inVitestWorker) {
  main().catch((error) => {
    say(error.message);
    process.exit(2);
  });
}
