/** Real emulators, a proxy in front of them that records and injects, and projects that call them. Shared by the tests of the site library. */
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const LIBRARY = fileURLToPath(new URL('../murphy_site.cjs', import.meta.url));
const START_LIMIT = 60_000;

/** The error that each service answers, as §8 of its dialect has it. */
const REFUSALS = {
  s3: { 'content-type': 'application/xml', 'x-amz-request-id': 'murphy-1', body: '<?xml version="1.0"?><Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message><RequestId>murphy-1</RequestId></Error>' },
  sqs: { 'content-type': 'application/x-amz-json-1.0', 'x-amzn-requestid': 'murphy-1', 'x-amzn-query-error': 'ServiceUnavailable;Receiver', body: '{"__type":"com.amazonaws.sqs#ServiceUnavailable","message":"try again"}' },
  dynamodb: { 'content-type': 'application/x-amz-json-1.0', 'x-amzn-requestid': 'murphy-1', body: '{"__type":"com.amazon.coral.availability#ServiceUnavailableException","message":"try again"}' },
  google: { 'content-type': 'application/json', body: '{"error":{"code":503,"message":"try again","errors":[{"domain":"global","reason":"backendError"}]}}' },
  azure: { 'content-type': 'application/xml', 'x-ms-error-code': 'ServerBusy', 'x-ms-request-id': 'murphy-1', body: '<?xml version="1.0" encoding="utf-8"?><Error><Code>ServerBusy</Code><Message>The server is busy.</Message></Error>' },
};

/** Forwards without the headers of the library. `inject(request, number)` says `close` (after the effect), `refuse`, or nothing. */
export class Proxy {
  requests = [];
  inject = () => undefined;

  static async start(upstream) {
    const proxy = new Proxy();
    proxy.server = http.createServer((asked, answer) => proxy.handle(asked, answer, upstream));
    proxy.url = `http://127.0.0.1:${await listen(proxy.server)}`;
    return proxy;
  }

  handle(asked, answer, upstream) {
    const seen = { method: asked.method, path: asked.url, headers: asked.headers };
    const number = this.requests.push(seen);
    const injected = this.inject(seen, number);
    if (injected === 'refuse') return asked.resume().on('end', () => refuse(answer, seen));
    const headers = asked.rawHeaders.filter((_, at) => !asked.rawHeaders[at - (at % 2)].toLowerCase().startsWith('x-murphy-'));
    const onward = http.request({ ...upstream, method: asked.method, path: asked.url, headers }, (given) => {
      seen.status = given.statusCode;
      if (injected === 'close') return given.resume().on('end', () => asked.socket.destroy());
      answer.writeHead(given.statusCode, given.rawHeaders);
      given.pipe(answer);
    });
    onward.on('error', () => asked.socket.destroy());
    asked.pipe(onward);
    return undefined;
  }

  /** What was seen since the last time. */
  take() {
    return this.requests.splice(0);
  }

  close() {
    this.server.close();
    this.server.closeAllConnections();
  }
}

function refuse(answer, { headers }) {
  const scope = /Credential=[^/]+\/\d+\/[^/]+\/(\w+)\//.exec(headers.authorization ?? '')?.[1];
  const { body, ...told } = REFUSALS[scope ?? (headers['x-goog-api-client'] ? 'google' : 'azure')];
  answer.writeHead(503, { ...told, 'content-length': Buffer.byteLength(body) });
  answer.end(body);
}

function listen(server) {
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server.address().port)));
}

async function freePort() {
  const server = net.createServer();
  const port = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A process that answers on a port. */
class Emulator {
  static async start(command, args, port) {
    const emulator = new Emulator();
    emulator.port = port;
    emulator.process = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'], env: withoutMurphy() });
    let printed = '';
    emulator.process.stderr.on('data', (data) => (printed += data));
    for (const begun = Date.now(); !(await answers(port)); ) {
      if (emulator.process.exitCode !== null || Date.now() - begun > START_LIMIT) throw new Error(`${command} does not answer: ${printed}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return emulator;
  }

  close() {
    this.process.kill('SIGKILL');
  }
}

function answers(port) {
  return new Promise((resolve) => {
    const asked = http.get({ host: '127.0.0.1', port }, (answer) => resolve(Boolean(answer.resume())));
    asked.on('error', () => resolve(false));
  });
}

export async function startMoto() {
  const port = await freePort();
  return Emulator.start(path.join(process.env.EMULATORS, 'moto_server'), ['-H', '127.0.0.1', '-p', String(port)], port);
}

export async function startAzurite(modules, service) {
  const port = await freePort();
  const main = path.join(modules, 'azurite', 'dist', 'src', service, 'main.js');
  const args = [`--${service}Host`, '127.0.0.1', `--${service}Port`, String(port), '--inMemoryPersistence', '--skipApiVersionCheck', '--loose', '--disableTelemetry', '--silent'];
  return Emulator.start(process.execPath, [main, ...args], port);
}

export async function startGoogle() {
  const port = await freePort();
  return Emulator.start(path.join(process.env.EMULATORS, 'gcp-storage-emulator'), ['start', '--host=127.0.0.1', `--port=${port}`, '--in-memory'], port);
}

export function withoutMurphy() {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(MURPHY|VITEST|NODE_TEST|NODE_ENV|NODE_OPTIONS|FORCE_COLOR|AWS_)/.test(name)));
}

/** What an AWS client needs to find the proxy. */
export function awsEnvironment(proxy) {
  return { AWS_ENDPOINT_URL: proxy.url, AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'secret', AWS_REGION: 'us-east-1' };
}

const AZURE_KEY = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==';

export function azureEnvironment(blob, queue) {
  const account = 'devstoreaccount1';
  const text = `DefaultEndpointsProtocol=http;AccountName=${account};AccountKey=${AZURE_KEY};BlobEndpoint=${blob.url}/${account};QueueEndpoint=${queue.url}/${account};`;
  return { AZURE_STORAGE_CONNECTION_STRING: text };
}

/** A project in a folder of its own, whose processes load the library. */
export class Project {
  constructor(modules, files) {
    this.directory = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'murphy-site-')));
    fs.symlinkSync(modules, path.join(this.directory, 'node_modules'));
    for (const [name, text] of Object.entries({ 'package.json': '{"name":"project"}', ...files })) {
      fs.mkdirSync(path.dirname(path.join(this.directory, name)), { recursive: true });
      fs.writeFileSync(path.join(this.directory, name), text);
    }
  }

  environment(more = {}) {
    return { ...withoutMurphy(), NO_COLOR: '1', NODE_OPTIONS: `--require ${LIBRARY}`, MURPHY_SITE: '1', MURPHY_PROJECT: this.directory, ...more };
  }

  /** Runs Node to its end. */
  node(args, more = {}) {
    const child = spawn(process.execPath, args, { cwd: this.directory, env: this.environment(more) });
    let printed = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (printed += data));
    return new Promise((resolve) => child.on('close', (code) => resolve({ code, printed })));
  }

  close() {
    fs.rmSync(this.directory, { recursive: true, force: true });
  }
}
