/**
 * The site library in mocha and vitest, which murphy_worker.mjs keeps warm, and in jest, node:test and mocha alone. MODULES is the node_modules
 * that they are in, EMULATORS the folder of moto's server; `../test` sets both.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { LIBRARY, Project, Proxy, awsEnvironment, startMoto } from './cloud.mjs';
import { Worker } from './control.mjs';

const { MODULES: modules } = process.env;
let moto, aws, worker;

before(async () => {
  moto = await startMoto();
  aws = await Proxy.start({ host: '127.0.0.1', port: moto.port });
});
after(() => [moto, aws].forEach((each) => each?.close()));
afterEach(() => {
  aws.inject = () => undefined;
  aws.take();
  worker?.close();
  worker = undefined;
});

const STORE = `const { S3 } = require('@aws-sdk/client-s3');
const s3 = new S3({ forcePathStyle: true });
exports.create = () => s3.createBucket({ Bucket: 'bucket' });
exports.put = async (Key) => {
  await null;
  await s3.putObject({ Bucket: 'bucket', Key, Body: 'text' });
};
exports.read = async (Key) => {
  try {
    return await s3.getObject({ Bucket: 'bucket', Key });
  } catch (error) {
    throw { notFound: Key };
  }
};
exports.wrap = async (Key) => {
  try {
    await exports.put(Key);
  } catch (error) {
    throw new Error('cannot store', { cause: error });
  }
};
exports.leave = (Key) => void new Promise((resolve) => (exports.release = resolve)).then(() => exports.put(Key));
`;

/** One suite for all runners; the names of its hooks are theirs. */
const suite = (before, after, more = '') => `
${before}(async () => { await store.create(); });
beforeEach(async () => { await store.put('each'); });
afterEach(async () => { await store.put('afterwards'); });
${after}(async () => { await store.put('end'); });
describe('shop', () => {
  it('puts', async () => { await store.put('in'); });
  ${more}
});
`;
const MORE = `
  it('wraps', async () => { await store.wrap('w'); });
  it('reads', async () => { await store.read('r'); });
  it('asserts', async () => { await store.put('a').catch(() => {}); assert.strictEqual('stored', 'SlowDown'); });
  it('leaves', async () => { store.leave('late'); });
  it('releases', async () => { store.release(); await new Promise((resolve) => setTimeout(resolve, 500)); });
`;

function told() {
  return aws.take().map(({ path: url, headers }) => {
    const value = (name) => headers[`x-murphy-${name}`] && decodeURIComponent(headers[`x-murphy-${name}`]);
    return [url.split('?')[0].replace('/bucket/', ''), value('phase'), value('test'), value('stack'), value('line')];
  });
}

const lineOf = (text, part) => text.split('\n').findIndex((line) => line.includes(part)) + 1;
const PUT = 'store.cjs:6:exports.put'.replace('exports.', '');

async function startWorker(runner, files, args = [], more = {}) {
  const env = { ...awsEnvironment(aws), MURPHY_SITE: '1', NODE_OPTIONS: `--require ${LIBRARY}`, ...more };
  // Nothing is ever to be too late on a busy machine.
  const patient = { mocha: ['--timeout=30000'], vitest: ['--testTimeout=30000', '--hookTimeout=30000'] }[runner];
  worker = await Worker.start({ runner, modules, files: { 'store.cjs': STORE, ...files }, args: [...patient, ...args], env });
  return worker;
}

const MOCHA = `const assert = require('node:assert'), store = require('../store.cjs');${suite('before', 'after', MORE)}`;
const VITEST = `import assert from 'node:assert'; import { describe, it, beforeAll, afterAll, beforeEach, afterEach } from 'vitest'; import store from '../store.cjs';${suite('beforeAll', 'afterAll', MORE)}`;
const WARM = [
  { name: 'mocha', runner: 'mocha', file: 'test/it.js', text: MOCHA, separator: ' ', lasts: true },
  { name: 'vitest in processes', runner: 'vitest', file: 'test/it.test.mjs', text: VITEST, separator: ' > ', args: ['--pool=forks'] },
  { name: 'vitest in threads', runner: 'vitest', file: 'test/it.test.mjs', text: VITEST, separator: ' > ', args: ['--pool=threads'] },
];

for (const { name, runner, file, text, separator, args, lasts } of WARM) {
  const id = (title) => `${file} > shop${separator}${title}`;
  const at = (part) => `${file}:${lineOf(text, part)}`;

  test(`${name}: the test, its phases and its lines`, async () => {
    await startWorker(runner, { [file]: text }, args);
    const result = await worker.run(id('puts'));
    assert.equal(result.outcome, 'passed', JSON.stringify(result));
    assert.deepEqual([result.assertion, result.changed], [null, []]);
    const wide = (name) => at(name);
    const expected = [
      ['', 'setup(wider)', id('puts'), 'store.cjs:3:create', wide('store.create')],
      ['each', 'setup(function)', id('puts'), PUT, at('beforeEach(')],
      ['in', 'call', id('puts'), PUT, at("put('in')")],
      ['afterwards', 'teardown', id('puts'), PUT, at('afterEach(')],
    ];
    const seen = told();
    assert.deepEqual(seen.slice(0, 4), expected);
    // mocha's suites stay warm; vitest ends all with the test.
    assert.deepEqual(seen.slice(4), lasts ? [] : [['end', 'teardown', id('puts'), PUT, at("put('end')")]]);
    await worker.run(id('puts'));
    assert.equal(told().length, lasts ? 3 : 5);
  });

  test(`${name}: what a result tells of errors and assertions`, async () => {
    await startWorker(runner, { [file]: text }, args);
    aws.inject = ({ path, method }) => (/\/(w|r|a)\?/.test(path) ? 'refuse' : undefined);
    const wrapped = await worker.run(id('wraps'));
    assert.deepEqual([wrapped.outcome, wrapped.assertion], ['failed', null], JSON.stringify(wrapped));
    const [outer, inner] = wrapped.exceptions;
    assert.deepEqual([outer.message, outer.status, outer.code, outer.injected, outer.call], ['cannot store', null, null, false, null]);
    assert.deepEqual(outer.frames.slice(-2), [`${at("wrap('w')")}:<anonymous>`, 'store.cjs:19:wrap'], JSON.stringify(wrapped, null, 1));
    assert.deepEqual([inner.type, inner.status, inner.code, inner.request_id], ['SlowDown', 503, 'SlowDown', 'murphy-1']);
    assert.ok(inner.frames.length <= 20 && inner.frames.some((frame) => frame === PUT), JSON.stringify(inner));
    const call = aws.requests.findLast(({ path }) => path.includes('/w?')).headers['x-murphy-call'];
    assert.equal(inner.call, call);

    const { exceptions: [plain] } = await worker.run(id('reads'));
    assert.deepEqual(plain.frames, [`${at("read('r')")}:<anonymous>`, 'store.cjs:10:read'], 'the site of the call: a plain object has no stack');

    const asserted = await worker.run(id('asserts'));
    assert.equal(asserted.assertion.file, file);
    assert.equal(asserted.assertion.line, lineOf(text, "it('asserts'"));
    assert.match(asserted.assertion.text, /SlowDown/);
    assert.equal(asserted.exceptions[0].frames.at(-1).split(':').slice(0, 2).join(':'), at("it('asserts'"));
  });
}

test('mocha: what a test has left running is not booked on the next one', async () => {
  await startWorker('mocha', { 'test/it.js': MOCHA });
  await worker.run('test/it.js > shop leaves');
  await worker.run('test/it.js > shop releases');
  const late = told().filter(([key]) => key === 'late');
  assert.deepEqual(late.map(([, phase, test]) => [phase, test]), [['none', 'test/it.js > shop leaves']]);
});

test('vitest: lines are those of the source, in TypeScript too', async () => {
  const store = "import { S3 } from '@aws-sdk/client-s3';\n\ninterface Item {\n  key: string;\n}\n\nexport async function save(item: Item): Promise<void> {\n  await new S3({}).listBuckets({});\n}\n";
  const it = "import { it } from 'vitest';\nimport { save } from '../store';\n\ntype Key = string;\n\nit('saves', async () => {\n  const key: Key = 'k';\n  await save({ key });\n});\n";
  await startWorker('vitest', { 'store.ts': store, 'test/it.test.ts': it });
  assert.equal((await worker.run('test/it.test.ts > saves')).outcome, 'passed');
  assert.deepEqual(told().map(([, , , stack, line]) => [stack, line]), [['store.ts:8:save', 'test/it.test.ts:8']]);
});

test('a worker loads the library where NODE_OPTIONS does not, and tells nothing of it without MURPHY_SITE', async () => {
  await startWorker('mocha', { 'test/it.js': MOCHA }, [], { NODE_OPTIONS: '' });
  await worker.run('test/it.js > shop puts');
  assert.deepEqual(told().map(([, phase]) => phase), ['setup(wider)', 'setup(function)', 'call', 'teardown']);
  worker.close();
  await startWorker('mocha', { 'test/it.js': MOCHA }, [], { MURPHY_SITE: '' });
  aws.inject = ({ path }) => (path.includes('/w?') ? 'refuse' : undefined);
  const result = await worker.run('test/it.js > shop wraps');
  assert.equal('assertion' in result, false);
  assert.deepEqual(Object.keys(result.exceptions[1]), ['type', 'message']);
  assert.ok(told().every(([, phase, test, stack]) => phase === undefined && test === undefined && stack === undefined));
});

test('trace context goes with calls that expect 100-continue', async () => {
  const text = "const http = require('node:http'); it('it', (done) => { http.request(process.env.AWS_ENDPOINT_URL, { method: 'PUT', headers: { Expect: '100-continue' } }, (answer) => { answer.resume(); done(); }).end('x'); });";
  await startWorker('mocha', { 'test/it.js': text }, [], { MURPHY_SITE: '' });
  await worker.run('test/it.js > it', { headers: { traceparent: '00-1-2-01' } });
  assert.deepEqual(aws.take().map(({ headers }) => [headers.expect, headers.traceparent]), [['100-continue', '00-1-2-01']]);
});

// ---- runners that are not warm ----

const JEST = `const store = require('../store.cjs');${suite('beforeAll', 'afterAll')}`;
const NODE = `const { describe, it, before, after, beforeEach, afterEach } = require('node:test'), store = require('../store.cjs');${suite('before', 'after')}`;
const NODE_DEFAULT = `import test, { beforeEach } from 'node:test'; import store from '../store.cjs';
beforeEach(async () => { await store.put('each'); });
test('puts', async () => { await store.put('in'); });`;
const MOCHA_ALONE = `const store = require('../store.cjs');${suite('before', 'after')}`;
const ALONE = [
  { name: 'jest', file: 'test/it.test.js', text: JEST, id: 'test/it.test.js > shop puts', args: ['node_modules/jest/bin/jest.js', '--runInBand', '--testTimeout=30000'] },
  { name: 'jest, in its workers', file: 'test/it.test.js', text: JEST, id: 'test/it.test.js > shop puts', args: ['node_modules/jest/bin/jest.js', '--maxWorkers=2', '--testTimeout=30000'], more: { 'test/other.test.js': "test('x', () => {});" } },
  { name: 'node:test', file: 'test/it.test.cjs', text: NODE, id: 'puts', args: ['--test', 'test/it.test.cjs'] },
  { name: 'mocha alone', file: 'test/it.js', text: MOCHA_ALONE, id: 'test/it.js > shop puts', args: ['node_modules/mocha/bin/mocha.js', '--timeout=30000', 'test/it.js'] },
];

for (const { name, file, text, id, args, more } of ALONE) {
  for (const given of [undefined, 'the name that Murphy knows']) {
    test(`${name}: the test and its phases${given ? ', with MURPHY_TEST' : ''}`, async () => {
      const project = new Project(modules, { 'store.cjs': STORE, [file]: text, 'jest.config.js': 'module.exports = {};', ...more });
      try {
        const { code, printed } = await project.node(args, { ...awsEnvironment(aws), ...(given && { MURPHY_TEST: given }) });
        assert.equal(code, 0, printed);
        const at = (part) => `${file}:${lineOf(text, part)}`;
        const test = given ?? id;
        const wide = given;
        assert.deepEqual(told(), [
          ['', 'setup(wider)', wide, 'store.cjs:3:create', at('store.create')],
          ['each', 'setup(function)', test, PUT, at('beforeEach(')],
          ['in', 'call', test, PUT, at("put('in')")],
          ['afterwards', 'teardown', test, PUT, at('afterEach(')],
          ['end', 'teardown', wide, PUT, at("put('end')")],
        ]);
      } finally {
        project.close();
      }
    });
  }
}

test('node:test: also by its default export', async () => {
  const project = new Project(modules, { 'store.cjs': STORE, 'test/it.test.mjs': NODE_DEFAULT });
  try {
    const { code, printed } = await project.node(['--test', 'test/it.test.mjs'], awsEnvironment(aws));
    assert.equal(code, 0, printed);
    assert.deepEqual(told().map(([key, phase, test, , line]) => [key, phase, test, line]), [['each', 'setup(function)', 'puts', 'test/it.test.mjs:2'], ['in', 'call', 'puts', 'test/it.test.mjs:3']]);
  } finally {
    project.close();
  }
});

test('jest: all attempts of a call have its id', async () => {
  const project = new Project(modules, { 'store.cjs': STORE, 'it.test.js': "const store = require('./store.cjs'); test('puts', () => store.put('in'));", 'jest.config.js': 'module.exports = {};' });
  let seen = 0;
  aws.inject = () => (seen++ ? undefined : 'close');
  try {
    await project.node(['node_modules/jest/bin/jest.js'], awsEnvironment(aws));
    const requests = aws.take();
    assert.equal(requests.length, 2);
    assert.deepEqual(requests.map(({ headers }) => headers['x-murphy-operation']), ['s3.PutObject', 's3.PutObject']);
    assert.equal(requests[0].headers['x-murphy-call'], requests[1].headers['x-murphy-call']);
  } finally {
    project.close();
  }
});
