/**
 * The site library: who makes a cloud call, told to Murphy's proxy by headers on the call itself.
 *
 * Loaded into the process of a test by `NODE_OPTIONS=--require .../murphy_site.cjs`; without MURPHY_SITE=1 it does nothing. It hooks `http`, `https`
 * and undici (and so `fetch`), and the entries of the SDKs of AWS, Azure and Google Cloud, where all attempts of one operation have the same caller.
 * The test that runs is told by murphy_worker.mjs; in mocha, jest and node:test without it, by hooks below; else by MURPHY_TEST. It
 * shortens the back-off of SDKs. It decides nothing about faults, and a hook of it that fails is said once and never fails a test.
 *
 * One file, nothing but Node 18 or newer.
 */
'use strict';
const { AsyncLocalStorage, AsyncResource } = require('node:async_hooks');
const diagnostics = require('node:diagnostics_channel');
const fs = require('node:fs');
const http = require('node:http');
const https = require('node:https');
const Module = require('node:module');
const path = require('node:path');
const timers = require('node:timers');
const { fileURLToPath } = require('node:url');
const { promisify } = require('node:util');
const { threadId } = require('node:worker_threads');

const LOADED = Symbol.for('murphy.site');
/** Application frames that make the identity of a site. */
const STACK_LENGTH = 6;
/** Frames of one exception in a result. */
const FRAMES = 20;
/** The frames of an SDK lie between a request and the application. */
const CAPTURED_FRAMES = 100;
/** Ids that SDKs give to their operations, kept for the attempts to come. */
const KEPT_IDS = 1000;
/** A wait that is shorter, in ms, is left as it is: scaling it gains nothing. */
const SHORTEST_BACKOFF = 10;
const TEXT_LIMIT = 4 * 1024;

// ---- settings ----

const inherited = { test: process.env.MURPHY_TEST, phase: process.env.MURPHY_TEST_PHASE };
const debugging = process.env.MURPHY_SITE_DEBUG === '1';
const backoffScale = Number(process.env.MURPHY_BACKOFF_SCALE || '0.01');
const roots = bothPaths(process.env.MURPHY_PROJECT || process.cwd());
/** Path prefixes and names of packages that count as application. */
const more = (process.env.MURPHY_APP || '').split(path.delimiter).filter(Boolean);
const morePaths = more.filter((each) => each.includes(path.sep) || each.startsWith('.')).flatMap((each) => bothPaths(path.resolve(roots[0], each)));

/** A path as it is written and as the file system knows it. */
function bothPaths(written) {
  const absolute = path.resolve(written);
  try {
    return [...new Set([absolute, fs.realpathSync(absolute)])];
  } catch {
    return [absolute];
  }
}

let warned = false;

/** What `hook` returns. Where it fails the test goes on, and the first failure is said. */
function guard(hook) {
  try {
    return hook();
  } catch (error) {
    if (!warned) {
      warned = true;
      say(`the site library failed, so call sites may be missing: ${error?.stack || error}`);
    }
    return undefined;
  }
}

function say(text) {
  fs.writeSync(2, `murphy: ${text}\n`);
}

// ---- the test that runs ----

/** One run of a test, from its set-up to its tear-down. */
class Scope {
  ended = false;
  lastCall = undefined;
  lastFailed = undefined;

  constructor(test, phase) {
    Object.assign(this, { test, phase });
  }
}

/** What each asynchronous context knows: the scope that it was started in, and the cloud call that it belongs to. */
const contexts = new AsyncLocalStorage();
/** What runs outside any test; in a process that a test has started, that test. */
const outside = new Scope(inherited.test, inherited.phase ?? (inherited.test ? 'call' : 'none'));
/** For contexts that began before the test, such as those of a server of the application. */
let current = outside;
let managed = false;

function scopeNow() {
  return contexts.getStore()?.scope ?? current;
}

function begin(test, phase) {
  current.ended = current !== outside;
  current = new Scope(test, phase);
  tellChildren();
  return current;
}

function setPhase(phase, scope = current) {
  scope.phase = phase;
  if (scope === current) tellChildren();
}

function end() {
  current.ended = current !== outside;
  current = outside;
  tellChildren();
}

/** Processes that the test starts find its name in the environment. */
function tellChildren() {
  for (const [name, value] of [['MURPHY_TEST', current.test], ['MURPHY_TEST_PHASE', current.test && current.phase]]) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
}

/** Calls `body` so that all that it starts belongs to the current test, also when the next one runs. */
function runInTest(body) {
  return contexts.run({ ...contexts.getStore(), scope: current }, body);
}

// ---- which code is the application's ----

const testFiles = new Set();
const kinds = new Map();

function addTestFiles(files) {
  for (const file of files) {
    if (typeof file !== 'string' || !path.isAbsolute(file)) continue;
    for (const each of bothPaths(file)) testFiles.add(each);
  }
  kinds.clear();
}

/** `application`, `test`, or `other`: the library's, the runner's, Node's. */
function kindOf(file) {
  let kind = kinds.get(file);
  if (!kind) kinds.set(file, (kind = findKind(file)));
  return kind;
}

function findKind(file) {
  if (!path.isAbsolute(file) || file === __filename || file.endsWith('murphy_worker.mjs')) return 'other';
  if (testFiles.has(file)) return 'test';
  if (morePaths.some((prefix) => isBelow(file, prefix)) || more.includes(packageOf(file))) return 'application';
  const below = roots.find((root) => isBelow(file, root));
  return below && !/[\\/](node_modules|vendor)[\\/]/.test(file.slice(below.length)) ? 'application' : 'other';
}

function isBelow(file, folder) {
  return file === folder || file.startsWith(folder.endsWith(path.sep) ? folder : folder + path.sep);
}

function packageOf(file) {
  return /.*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)/.exec(file)?.[1].replace('\\', '/');
}

/** From the project's root where it is below it, from the package where it is in one. */
function shortPath(file) {
  const root = roots.find((each) => isBelow(file, each));
  const library = /.*[\\/]node_modules[\\/](.*)/.exec(file)?.[1];
  return (library ?? (root ? path.relative(root, file) : file)).split(path.sep).join('/');
}

/** The file of a frame, as `file:` URLs, bundlers' queries and paths name it. */
function fileOf(name) {
  const plain = name.replace(/\?[^\\/]*$/, '');
  return plain.startsWith('file:') ? fileURLToPath(plain) : plain;
}

// ---- stacks ----

/** The frames of the caller, through `await` too, innermost first, and how the process writes a stack. */
function captureSites(limit, above) {
  const { stackTraceLimit, prepareStackTrace } = Error;
  const holder = {};
  try {
    Error.stackTraceLimit = limit;
    Error.prepareStackTrace = (_, sites) => sites;
    Error.captureStackTrace(holder, above);
    return { sites: Array.isArray(holder.stack) ? holder.stack : [], prepare: prepareStackTrace };
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
    if (prepareStackTrace === undefined) delete Error.prepareStackTrace;
    else Error.prepareStackTrace = prepareStackTrace;
  }
}

/** Application frames outwards up to the first frame of a test, and that frame. */
function captureStack(above) {
  const { sites, prepare } = captureSites(CAPTURED_FRAMES, above);
  const stack = [];
  for (const site of sites) {
    const name = site.getFileName();
    if (!name || name.startsWith('node:')) continue;
    const file = fileOf(name);
    const kind = kindOf(file);
    if (kind === 'other') continue;
    const { place, line } = positionOf(site, file, prepare);
    if (kind === 'test') return { stack, line: `${place}:${line}` };
    if (stack.length < STACK_LENGTH) stack.push(`${place}:${line}:${functionName(site.getFunctionName())}`);
  }
  return { stack, line: undefined };
}

const positions = new Map();

/** The place in the source, where what runs was made from it (TypeScript, vitest, jest). */
function positionOf(site, file, prepare) {
  const line = site.getLineNumber();
  if (typeof prepare !== 'function' && !process.sourceMapsEnabled) return { place: shortPath(file), line };
  const key = `${file}:${line}:${site.getColumnNumber()}`;
  let position = positions.get(key);
  if (!position) {
    const source = typeof prepare === 'function' ? writtenPosition(site, prepare) : mappedPosition(site, file);
    position = { place: shortPath(source?.file ?? file), line: source?.line ?? line };
    positions.set(key, position);
  }
  return position;
}

/** As the runner's own preparation of stacks, which knows its source maps, writes it. */
function writtenPosition(site, prepare) {
  const written = prepare.call(Error, new Error('site'), [site]);
  const frame = typeof written === 'string' ? parseFrame(written.trim().split('\n').at(-1)) : undefined;
  return frame && path.isAbsolute(frame.file) ? frame : undefined;
}

/** By Node's own source maps (--enable-source-maps). */
function mappedPosition(site, file) {
  const entry = Module.findSourceMap(file)?.findEntry(site.getLineNumber() - 1, site.getColumnNumber() - 1);
  if (!entry?.originalSource) return undefined;
  return { file: path.resolve(path.dirname(file), fileOf(entry.originalSource)), line: entry.originalLine + 1 };
}

function functionName(name) {
  return name?.replace(/ \[as .*\]$/, '').split('.').at(-1).replace(/^(async|new) /, '') || '<anonymous>';
}

/** One line of a written stack. */
function parseFrame(text) {
  const found = /^\s*at (?:(.*?) \()?((?:file:\/\/|[\\/]|[A-Za-z]:[\\/]|node:).*?):(\d+):\d+\)?$/.exec(text);
  return found && { file: fileOf(found[2]), line: Number(found[3]), name: functionName(found[1]) };
}

/** The written frames of an error, innermost first. */
function framesOf(error) {
  const text = typeof error === 'object' && error !== null && typeof error.stack === 'string' ? error.stack : '';
  const isOurs = ({ file }) => file === __filename || file.endsWith('murphy_worker.mjs');
  return text.split('\n').map(parseFrame).filter((frame) => frame && !frame.file.startsWith('node:') && !isOurs(frame));
}

// ---- cloud calls ----

/** All attempts of one operation of an SDK; outside the SDKs, one request. */
class Call {
  done = false;

  constructor(operation, { stack, line }) {
    const scope = scopeNow();
    Object.assign(this, { operation, stack, line, scope, test: scope.test, phase: scope.ended ? 'none' : scope.phase });
    this.id = `${process.pid}-${threadId ? `${threadId}-` : ''}${++calls}`;
    scope.lastCall = this;
    if (debugging) say(`call ${this.id} ${operation ?? '?'} at ${stack.join(' < ') || '?'} of ${line ?? '?'} in ${this.test ?? '?'} (${this.phase})`);
  }
}

let calls = 0;

/** The SDK's family is that of `wrapOuter`: what a method of it has kept is nearer than what lies between. */
function newCall(operation, above, family) {
  const store = contexts.getStore();
  const outer = family && store?.outer?.family === family ? store.outer : undefined;
  return new Call(operation, outer ?? joinParent(captureStack(above), store?.parent ?? store?.call));
}

/** A stack that does not reach the test goes on where the call around it, or a server of the test, was entered. */
function joinParent(own, parent) {
  if (own.line || !parent) return own;
  const places = new Set(own.stack.map(withoutLine));
  const outer = parent.stack.filter((frame) => !places.has(withoutLine(frame)));
  return { stack: [...own.stack, ...outer].slice(0, STACK_LENGTH), line: parent.line };
}

function withoutLine(frame) {
  return frame.replace(/:\d+:([^:]*)$/, ':$1');
}

function activeCall() {
  const call = contexts.getStore()?.call;
  return call && !call.done ? call : undefined;
}

const callsBySdkId = new Map();

/** For SDKs that are not hooked: their own id of the operation, or else every request is a call. */
function callOfRequest(header, above) {
  const id = header('amz-sdk-invocation-id') ?? header('x-ms-client-request-id') ?? /gccl-invocation-id\/(\S+)/.exec(header('x-goog-api-client') ?? '')?.[1];
  if (id === undefined) return newCall(undefined, above);
  let call = callsBySdkId.get(id);
  if (!call) {
    call = newCall(undefined, above, header('x-goog-api-client') ? 'google' : undefined);
    callsBySdkId.set(id, call);
    if (callsBySdkId.size > KEPT_IDS) callsBySdkId.delete(callsBySdkId.keys().next().value);
  }
  return call;
}

/** What the proxy is told about a request. */
function headersOf(call, method, header) {
  call.operation ??= operationOf(method, header);
  const values = {
    'x-murphy-call': call.id,
    'x-murphy-operation': call.operation,
    'x-murphy-site': call.stack[0],
    'x-murphy-stack': call.stack.join(' < '),
    'x-murphy-line': call.line,
    'x-murphy-phase': call.phase,
    'x-murphy-test': call.test,
    'x-murphy-pid': String(process.pid),
  };
  return Object.entries(values).filter(([, value]) => value).map(([name, value]) => [name, encode(value)]);
}

function encode(value) {
  return Buffer.from(value).toString().replace(/[^\x20-\x7e]|[%,]/gu, encodeURIComponent);
}

/** Azure's clients name their package, some a wrong one; the method is all that they tell of the operation. */
function operationOf(method, header) {
  const named = /azsdk-js-([\w-]+)\//.exec(header('user-agent') ?? header('x-ms-useragent') ?? '')?.[1];
  const service = named && (contexts.getStore()?.outer?.service ?? named);
  return service && `${service}.${method || 'GET'}`;
}

// ---- requests ----

function patchRequests(module) {
  const original = module.request;
  // Options, not setHeader: with `Expect: 100-continue` the constructor sends the headers.
  const request = function (...args) {
    return original.apply(this, guard(() => withHeaders(args, request)) ?? args);
  };
  const get = function (...args) {
    const asked = module.request.apply(this, args);
    asked.end();
    return asked;
  };
  module.request = named(request, original);
  module.get = named(get, module.get);
}

function named(replacement, original) {
  return Object.defineProperties(replacement, { name: { value: original.name }, length: { value: original.length } });
}

function withHeaders(args, above) {
  const at = isUrl(args[0]) ? 1 : 0;
  const given = typeof args[at] === 'object' && args[at] !== null ? args[at] : undefined;
  const header = (name) => headerIn(given?.headers, name);
  const call = activeCall() ?? callOfRequest(header, above);
  const options = { ...given, headers: addHeaders(given?.headers, headersOf(call, given?.method, header)) };
  return [...args.slice(0, at), options, ...args.slice(given ? at + 1 : at)];
}

/** As Node tells a URL from options, which may be those that `url.parse` made of one. */
function isUrl(given) {
  return typeof given === 'string' || Boolean(given?.href && given.protocol && given.auth === undefined && given.path === undefined);
}

function headerIn(headers, wanted) {
  const value = pairsOf(headers).find(([name]) => String(name).toLowerCase() === wanted)?.[1];
  return value === undefined ? undefined : String(value);
}

/** Node takes headers as an object, as a list of pairs, and as one list of names and values. */
function pairsOf(headers) {
  if (!Array.isArray(headers)) return Object.entries(headers ?? {});
  if (Array.isArray(headers[0])) return headers;
  return headers.filter((_, index) => index % 2 === 0).map((name, index) => [name, headers[2 * index + 1]]);
}

function addHeaders(headers, added) {
  if (!Array.isArray(headers)) return { ...headers, ...Object.fromEntries(added) };
  return headers.concat(Array.isArray(headers[0]) ? added : added.flat());
}

/** Node's fetch, and undici installed by the project. */
function patchUndici() {
  diagnostics.channel('undici:request:create').subscribe(({ request }) => guard(() => addToUndici(request)));
  const original = globalThis.fetch;
  if (typeof original !== 'function') return;
  const fetch = function (...args) {
    const call = activeCall() ? undefined : guard(() => newCall(undefined, fetch));
    return call ? follow(call, () => original.apply(this, args)) : original.apply(this, args);
  };
  globalThis.fetch = named(fetch, original);
}

function addToUndici(request) {
  const header = (name) => headerIn(undiciHeaders(request.headers), name);
  for (const [name, value] of headersOf(activeCall() ?? callOfRequest(header, addToUndici), request.method, header)) {
    if (typeof request.addHeader === 'function') request.addHeader(name, value);
    else if (Array.isArray(request.headers)) request.headers.push(name, value);
    else request.headers += `${name}: ${value}\r\n`;
  }
}

function undiciHeaders(written) {
  if (Array.isArray(written)) return written;
  return String(written ?? '').split('\r\n').filter(Boolean).map((line) => [line.split(':')[0], line.split(':').slice(1).join(':').trim()]);
}

/** A server of the application in a process with this library: what it calls belongs to the test that called it. */
function patchServer({ Server }) {
  const { emit } = Server.prototype;
  Server.prototype.emit = function (event, asked, ...rest) {
    const store = event === 'request' ? guard(() => contextOfRequest(asked)) : undefined;
    return store ? contexts.run(store, () => emit.call(this, event, asked, ...rest)) : emit.call(this, event, asked, ...rest);
  };
}

function contextOfRequest(asked) {
  const told = {};
  const raw = asked.rawHeaders ?? [];
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at].toLowerCase();
    if (name.startsWith('x-murphy-')) told[name.slice('x-murphy-'.length)] = decodeURIComponent(raw[at + 1]);
  }
  if (!told.call) return undefined;
  // The application sees the request as it was made.
  asked.rawHeaders = raw.filter((_, at) => !raw[at - (at % 2)].toLowerCase().startsWith('x-murphy-'));
  for (const name of Object.keys(told)) delete asked.headers[`x-murphy-${name}`];
  const mine = told.test === current.test || told.test === undefined;
  const scope = mine ? current : new Scope(told.test, told.phase ?? 'call');
  return { scope, parent: { stack: told.stack ? told.stack.split(' < ') : [], line: told.line } };
}

// ---- entries of SDKs ----

/** Errors by the call that they ended. */
const failures = new WeakMap();

/** Runs one operation of an SDK as one cloud call. What it returns settles when the call is over. */
function follow(call, operation) {
  const returned = contexts.run({ ...contexts.getStore(), call }, operation);
  if (typeof returned?.then !== 'function') return returned;
  return returned.then(
    (value) => {
      call.done = true;
      return value;
    },
    (error) => {
      failed(call, error);
      throw error;
    },
  );
}

function failed(call, error) {
  call.done = true;
  call.scope.lastFailed = call;
  if (error !== null && typeof error === 'object') failures.set(error, call);
}

/** Replaces a method once, also where several modules export its class. */
function wrapMethod(prototype, name, wrap) {
  const original = prototype?.[name];
  if (typeof original !== 'function' || original[LOADED]) return;
  prototype[name] = Object.assign(named(wrap(original), original), { [LOADED]: true });
}

/** AWS: `client.send(command)`, and so `client.putObject(…)`. */
function wrapSend(original) {
  return function send(command, ...rest) {
    const call = guard(() => newCall(smithyOperation(this, command), send, 'aws'));
    if (!call) return original.call(this, command, ...rest);
    const at = rest.findIndex((each) => typeof each === 'function');
    if (at >= 0) {
      const callback = rest[at];
      rest[at] = function (error, ...results) {
        if (error) failed(call, error);
        call.done = true;
        return callback.call(this, error, ...results);
      };
    }
    return follow(call, () => original.call(this, command, ...rest));
  };
}

function smithyOperation(client, command) {
  const service = client.config?.serviceId ?? client.constructor?.name.replace(/Client$/, '');
  const operation = command?.constructor?.name.replace(/Command$/, '');
  return service && operation ? `${service.toLowerCase().replace(/\s+/g, '')}.${operation}` : undefined;
}

/** Azure: all policies of one request, the retry among them. */
function wrapPipeline(original) {
  return function sendRequest(...args) {
    const call = activeCall() ? undefined : guard(() => newCall(undefined, sendRequest, 'azure'));
    return call ? follow(call, () => original.apply(this, args)) : original.apply(this, args);
  };
}

/** Methods above the entry, from which the entry is reached by events or a race: they keep the stack of who called them. */
function wrapOuter(family, service) {
  return (original) =>
    function outer(...args) {
      const store = guard(() => contextOfOuter(outer, family, service));
      return store ? contexts.run(store, () => original.apply(this, args)) : original.apply(this, args);
    };
}

function contextOfOuter(above, family, service) {
  const store = contexts.getStore();
  // Methods of an SDK call each other.
  if (store?.outer?.family === family && callerKind(above) === 'other') return undefined;
  const own = joinParent(captureStack(above), store?.parent ?? store?.call);
  return own.stack.length || own.line ? { ...store, outer: { ...own, family, service } } : undefined;
}

function callerKind(above) {
  const name = captureSites(1, above).sites[0]?.getFileName();
  return name ? kindOf(fileOf(name)) : 'other';
}

function wrapClasses(exported, names, family, service) {
  for (const name of names) {
    const prototype = exported[name]?.prototype;
    for (const method of Object.getOwnPropertyNames(prototype ?? {})) {
      const { value } = Object.getOwnPropertyDescriptor(prototype, method);
      if (method !== 'constructor' && typeof value === 'function') wrapMethod(prototype, method, wrapOuter(family, service));
    }
  }
}

/** What is hooked in the exports of which modules. */
const ENTRIES = [
  [/[\\/]@(?:smithy|aws-sdk)[\\/](?:core|smithy-client)[\\/]/, ({ Client }) => Client?.prototype?.destroy && wrapMethod(Client.prototype, 'send', wrapSend)],
  [/[\\/]@aws-sdk[\\/]lib-storage[\\/]/, (exported) => wrapClasses(exported, ['Upload'], 'aws')],
  [
    /[\\/](?:@azure[\\/]core-rest-pipeline|@typespec[\\/]ts-http-runtime)[\\/]/,
    ({ createEmptyPipeline }) => createEmptyPipeline && wrapMethod(Object.getPrototypeOf(createEmptyPipeline()), 'sendRequest', wrapPipeline),
  ],
  [
    /[\\/]@azure[\\/]storage-blob[\\/]dist[\\/]/,
    (exported) => wrapClasses(exported, ['BlobClient', 'BlockBlobClient', 'AppendBlobClient', 'PageBlobClient', 'ContainerClient', 'BlobServiceClient'], 'azure', 'azure-storage-blob'),
  ],
  [/[\\/]@azure[\\/]storage-queue[\\/]dist[\\/]/, (exported) => wrapClasses(exported, ['QueueClient', 'QueueServiceClient'], 'azure', 'azure-storage-queue')],
  [/[\\/]@google-cloud[\\/]storage[\\/]/, (exported) => wrapClasses(exported, ['File', 'Bucket', 'Storage'], 'google')],
  [/[\\/]jest-runtime[\\/]/, (exported) => patchJest(exported.default ?? exported)],
  [/[\\/]mocha[\\/]lib[\\/]runnable\.js$/, (exported) => patchMocha(exported)],
];
/** Most files are none of them; this is asked for each that is loaded. */
const ENTRY_FILES = new RegExp(ENTRIES.map(([file]) => file.source).join('|'));

function instrument(file, exported) {
  if (!ENTRY_FILES.test(file) || (typeof exported !== 'object' && typeof exported !== 'function') || exported === null) return;
  guard(() => {
    for (const [pattern, hook] of ENTRIES) if (pattern.test(file)) hook(exported);
  });
}

function patchModules() {
  const compile = Module.prototype._compile;
  Module.prototype._compile = function (content, filename, ...rest) {
    const result = compile.call(this, content, filename, ...rest);
    instrument(filename, this.exports);
    return result;
  };
  // The thread of its own takes 50 ms of a process's start, and of these SDKs only AWS's is never an ES module.
  if (!Module.registerHooks && !isInstalled('@azure') && !isInstalled('@google-cloud')) return;
  const hook = esmHook(ENTRY_FILES.source, 'Symbol.for("murphy.site")');
  // In the thread itself since Node 22.15; in a thread of its own, which gets the source of the hook, since 18.19.
  if (Module.registerHooks) Module.registerHooks({ load: hook });
  else if (Module.register) {
    Module.register(`data:text/javascript,export const load = (${encodeURIComponent(`${esmHook})(${JSON.stringify(ENTRY_FILES.source)}, 'Symbol.for("murphy.site")')`)}`);
    avoidRequireOfModules();
  }
}

/**
 * What is required although it is an ES module passes the thread of the hooks by, with all that it imports. Runners that ask
 * whether that is possible (mocha) import where it is not.
 */
function avoidRequireOfModules() {
  if (!process.features.require_module) return;
  guard(() => Object.defineProperty(process.features, 'require_module', { value: false, configurable: true, enumerable: true }));
}

function isInstalled(name) {
  for (const start of [...roots, process.cwd()]) {
    for (let folder = start; ; folder = path.dirname(folder)) {
      if (fs.existsSync(path.join(folder, 'node_modules', name))) return true;
      if (folder === path.dirname(folder)) break;
    }
  }
  return false;
}

/** Hands the exports of SDKs that are ES modules to `instrument`: by a line at their end, where a module sees itself. Uses nothing around it. */
function esmHook(entryFiles, library) {
  const pattern = new RegExp(entryFiles);
  const withLine = (url, loaded) => {
    if (loaded.format !== 'module' || !loaded.source) return loaded;
    const line = `import * as murphyModule from ${JSON.stringify(url)}; globalThis[${library}]?.instrument?.(${JSON.stringify(url)}, murphyModule);`;
    const source = Buffer.from(loaded.source).toString();
    // Once: Node loads this file into the thread of the hooks, too.
    return source.includes(line) ? loaded : { ...loaded, source: `${source}\n${line}\n` };
  };
  return (url, context, nextLoad) => {
    const loaded = nextLoad(url, context);
    if (!pattern.test(url)) return loaded;
    return typeof loaded.then === 'function' ? loaded.then((each) => withLine(url, each)) : withLine(url, loaded);
  };
}

// ---- back-off ----

/** Where SDKs wait before an attempt. Their time limits, and waits until a deadline, are elsewhere. */
const BACKOFF = new RegExp(
  [
    '@smithy[\\\\/](?:core[\\\\/].*[\\\\/]retry|middleware-retry|util-retry)[\\\\/]',
    '@aws-sdk[\\\\/](?:middleware-retry|util-retry|credential-provider-http)[\\\\/]',
    '@azure[\\\\/](?:core-util|storage-[a-z-]+|core-rest-pipeline)[\\\\/](?!.*(?:odeHttpClient|fetchHttpClient|crc64|utils[\\\\/]utils\\.js))',
    '@typespec[\\\\/]ts-http-runtime[\\\\/].*[\\\\/]util[\\\\/]',
    '@google-cloud[\\\\/]',
    'gaxios[\\\\/].*retry',
    '(?:retry-request|p-retry|retry|async-retry|promise-retry|exponential-backoff|axios-retry)[\\\\/]',
  ]
    .map((each) => `[\\\\/]node_modules[\\\\/]${each}`)
    .join('|'),
);
const waiters = new Map();

/** The wait, shorter where an SDK asks for it. */
function scaled(delay, above) {
  if (!(delay >= SHORTEST_BACKOFF)) return delay;
  return (guard(() => isBackoff(above)) ? delay * backoffScale : delay);
}

function isBackoff(above) {
  const file = captureSites(1, above).sites[0]?.getFileName();
  if (!file) return false;
  let answer = waiters.get(file);
  if (answer === undefined) waiters.set(file, (answer = BACKOFF.test(fileOf(file))));
  return answer;
}

function patchTimers() {
  const original = globalThis.setTimeout;
  const setTimeout = function (callback, delay, ...args) {
    return original.call(this, callback, scaled(delay, setTimeout), ...args);
  };
  const wait = original[promisify.custom];
  const waiting = function (delay, ...rest) {
    return wait.call(this, scaled(delay, waiting), ...rest);
  };
  named(setTimeout, original);
  Object.defineProperty(setTimeout, promisify.custom, { enumerable: true, value: named(waiting, wait) });
  globalThis.setTimeout = timers.setTimeout = setTimeout;
  require('node:timers/promises').setTimeout = waiting;
}

// ---- the current test without murphy_worker.mjs: mocha, jest, node:test ----

const HOOK_PHASES = { beforeEach: 'setup(function)', beforeAll: 'setup(wider)', before: 'setup(wider)', afterEach: 'teardown', afterAll: 'teardown', after: 'teardown' };

const prepared = new WeakSet();

/** The name that Murphy gave to the only test of the process is the one that it knows. */
function nameOfTest(found) {
  return inherited.test ?? found;
}

function beginUnlessRunning(key, test, phase) {
  if (current.key !== key || current === outside) begin(nameOfTest(test), phase).key = key;
  else setPhase(phase);
}

/** jest: its test environment hears of all that runs, and its runtime loads the SDKs. */
function patchJest(Runtime) {
  for (const name of ['requireModule', 'requireInternalModule', 'requireModuleOrMock', 'unstable_importModule']) {
    wrapMethod(Runtime?.prototype, name, (original) =>
      function (...args) {
        guard(() => prepareJest(this));
        return original.apply(this, args);
      },
    );
  }
}

function prepareJest(runtime) {
  if (prepared.has(runtime)) return;
  prepared.add(runtime);
  const { _environment: environment, _testPath: file, _config: config } = runtime;
  addTestFiles([file, ...(config?.setupFiles ?? []), ...(config?.setupFilesAfterEnv ?? [])]);
  const loads = (original) =>
    function (module, from, name, file, ...rest) {
      const result = original.call(this, module, from, name, file, ...rest);
      if (typeof file === 'string') instrument(file, module.exports);
      return result;
    };
  wrapMethod(Object.getPrototypeOf(runtime), '_loadModule', loads); // jest 29
  if (runtime.cjsLoader) wrapMethod(Object.getPrototypeOf(runtime.cjsLoader), 'loadModule', loads); // jest 30
  const { handleTestEvent } = environment;
  environment.handleTestEvent = function (event, ...rest) {
    guard(() => jestEvent(event, path.relative(roots[0], fs.realpathSync(file))));
    return handleTestEvent?.call(this, event, ...rest);
  };
}

function jestEvent({ name, test, hook }, file) {
  if (managed) return;
  if (name === 'test_start') beginUnlessRunning(test, `${file} > ${jestName(test)}`, 'setup(function)');
  else if (name === 'hook_start') current === outside ? (outside.phase = HOOK_PHASES[hook.type]) : setPhase(HOOK_PHASES[hook.type]);
  else if (name === 'test_fn_start') setPhase('call');
  else if (name === 'test_done') end();
}

function jestName(test) {
  const names = [];
  for (let each = test; each && each.name !== 'ROOT_DESCRIBE_BLOCK'; each = each.parent) names.unshift(each.name);
  return names.join(' ');
}

/** mocha, where it is not warm. */
function patchMocha(Runnable) {
  wrapMethod(Runnable?.prototype, 'run', (original) =>
    function (done, ...rest) {
      if (managed) return original.call(this, done, ...rest);
      // The context of the test before goes on into what comes after it.
      const store = guard(() => beginMocha(this)) ? { scope: current } : undefined;
      return contexts.run(store, () => original.call(this, done, ...rest));
    },
  );
}

/** Hooks at the top do not know their file. */
function addFilesOfMocha(runnable) {
  let suite = runnable.parent;
  while (suite?.parent) suite = suite.parent;
  if (!suite || prepared.has(suite)) return;
  prepared.add(suite);
  const files = [];
  suite.eachTest((test) => files.push(test.file));
  addTestFiles(files);
}

/** Whether what runs belongs to one test. */
function beginMocha(runnable) {
  addFilesOfMocha(runnable);
  const kind = runnable.type === 'hook' ? /^"(before|after) (all|each)" hook/.exec(runnable.title ?? runnable.originalTitle) : undefined;
  const phase = runnable.type !== 'hook' ? 'call' : kind?.[1] === 'after' ? 'teardown' : kind?.[2] === 'each' ? 'setup(function)' : 'setup(wider)';
  const test = runnable.type === 'hook' ? (kind?.[2] === 'each' ? runnable.ctx?.currentTest : undefined) : runnable;
  if (!test) {
    end();
    outside.phase = phase;
    return false;
  }
  const file = test.file ? `${path.relative(roots[0], test.file)} > ` : '';
  beginUnlessRunning(test, `${file}${test.fullTitle()}`, phase);
  return true;
}

/** node:test: its tests and hooks are asynchronous resources, however they were imported. */
function patchNodeTest() {
  if (!process.env.NODE_TEST_CONTEXT && !process.execArgv.some((each) => each.startsWith('--test'))) return;
  const original = AsyncResource.prototype.runInAsyncScope;
  AsyncResource.prototype.runInAsyncScope = function (body, self, ...args) {
    const store = guard(() => contextOfNodeTest(this, args[0]));
    if (!store) return original.call(this, body, self, ...args);
    const inTest = function (...given) {
      return contexts.run(store, () => body.apply(this, given));
    };
    return original.call(this, named(inTest, body), self, ...args);
  };
}

function contextOfNodeTest(resource, context) {
  const kind = resource.constructor.name;
  if (!['Test', 'TestHook', 'Suite'].includes(kind) || !('harness' in resource)) return undefined;
  addTestFiles([resource.loc?.file ? fileOf(resource.loc.file) : process.argv[1]]);
  const isRoot = kind === 'Test' && !resource.parent;
  if (kind === 'Suite' || isRoot) return undefined;
  const phase = kind === 'Test' ? 'call' : (HOOK_PHASES[resource.hookType] ?? 'setup(function)');
  const ofOneTest = kind === 'Test' || ['beforeEach', 'afterEach'].includes(resource.hookType);
  if (!ofOneTest || context?.name === undefined) {
    end();
    outside.phase = phase;
    return undefined;
  }
  beginUnlessRunning(context.name, context.name, phase);
  return { ...contexts.getStore(), scope: current };
}

// ---- what a result tells of an error ----

/** Additions to one exception of a result. */
function describe(error) {
  const isObject = typeof error === 'object' && error !== null;
  const call = isObject ? (failures.get(error) ?? callsBySdkId.get(error.request?.requestId)) : undefined;
  const metadata = isObject ? error.$metadata : undefined;
  const answer = isObject && typeof error.response === 'object' ? error.response : undefined;
  const code = isObject ? (error.Code ?? error.errors?.[0]?.reason ?? error.code ?? error.details?.errorCode ?? (metadata ? error.name : undefined)) : undefined;
  const id = metadata?.requestId ?? error?.requestId ?? error?.RequestId ?? error?.details?.requestId ?? headerOf(answer, 'x-ms-request-id');
  return {
    frames: framesToTell(error, call),
    status: [metadata?.httpStatusCode, error?.statusCode, error?.status, answer?.status, answer?.statusCode].find(Number.isInteger) ?? null,
    code: code === undefined || code === null ? null : String(code),
    request_id: id === undefined || id === null ? null : String(id),
    injected: false,
    call: call?.id ?? null,
  };
}

function headerOf(answer, name) {
  return typeof answer?.headers?.get === 'function' ? answer.headers.get(name) : answer?.headers?.[name];
}

/** Innermost last. What was thrown without a stack, and errors of sockets, were caused at the site of the call. */
function framesToTell(error, call) {
  const own = framesOf(error);
  const told = own.slice(0, FRAMES).reverse().map((frame) => `${shortPath(frame.file)}:${frame.line}:${frame.name}`);
  if (own.some((frame) => ['application', 'test'].includes(kindOf(frame.file)))) return told;
  const cause = call ?? (own.length ? undefined : (current.lastFailed ?? current.lastCall));
  if (!cause) return told;
  return [...(cause.line ? [`${cause.line}:<anonymous>`] : []), ...cause.stack.slice().reverse(), ...told].slice(-FRAMES);
}

/** Where an assertion failed, and what it says, or null. */
function assertionOf(error) {
  if (typeof error !== 'object' || error === null) return null;
  const isAssertion = error.code === 'ERR_ASSERTION' || error.matcherResult !== undefined || /Assertion/.test(`${error.name} ${error.constructor?.name}`);
  if (!isAssertion) return null;
  const frame = framesOf(error).find(({ file }) => kindOf(file) !== 'other');
  const compared = ['actual', 'expected'].filter((name) => error[name] !== undefined).map((name) => `${name}: ${shown(error[name])}`);
  const text = [String(error.message ?? ''), ...compared].join('\n').slice(0, TEXT_LIMIT);
  return { file: frame ? shortPath(frame.file) : null, line: frame?.line ?? null, text };
}

function shown(value) {
  try {
    return typeof value === 'string' ? value : JSON.stringify(value);
  } catch {
    return String(value);
  }
}

// ---- where it begins ----

function load() {
  const request = http.request;
  for (const patch of [() => patchRequests(http), () => patchRequests(https), () => patchServer(http), () => patchServer(https), patchUndici, patchModules, patchNodeTest]) guard(patch);
  if (backoffScale !== 1 && backoffScale >= 0) guard(patchTimers);
  guard(() => Module.syncBuiltinESMExports());
  return {
    /** As it was before, for calls that are not the test's. */
    request,
    /** From here on only the caller says which test runs. */
    manage: () => void (managed = true),
    /** For the line that `esmHook` adds. */
    instrument: (url, exported) => instrument(fileURLToPath(url), exported),
    addTestFiles: (files) => guard(() => addTestFiles(files)),
    begin: (test, phase) => guard(() => begin(test, phase)),
    setPhase: (phase) => guard(() => setPhase(phase)),
    end: () => guard(end),
    runInTest,
    describe: (error) => guard(() => describe(error)) ?? {},
    assertionOf: (error) => guard(() => assertionOf(error)) ?? null,
  };
}

if (process.env.MURPHY_SITE === '1' && !globalThis[LOADED]) {
  Object.defineProperty(globalThis, LOADED, { value: guard(load) ?? {}, configurable: true });
}
module.exports = globalThis[LOADED];
