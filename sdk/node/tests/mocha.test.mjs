/** What only mocha has: suites that stay warm, errors that nobody waits for, its own ways to run. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { afterEach, test } from 'node:test';
import { Worker } from './control.mjs';

const { RUNNER: runner, MODULES: modules } = process.env;
const options = { skip: runner !== 'mocha' };
let worker;
afterEach(() => worker?.close());

async function start(files, args = []) {
  worker = await Worker.start({ runner: 'mocha', modules, files, args });
}

const WARM = `
  const fs = require('fs');
  const log = (text) => fs.appendFileSync('log', text + '\\n');
  before(() => log('before root')); after(() => log('after root'));
  describe('a', () => {
    before(() => log('before a')); after(() => log('after a'));
    it('one', () => log('one'));
    describe('inner', () => { before(() => log('before inner')); after(() => log('after inner')); it('two', () => log('two')); });
  });
  describe('b', () => { it('three', () => log('three')); });`;

const log = () => fs.readFileSync(path.join(worker.directory, 'log'), 'utf8').trim().split('\n').join(', ');

test('suites stay warm until a test runs that is not in them', options, async () => {
  await start({ 'test/it.js': WARM });
  const result = await worker.run('test/it.js > a one');
  assert.deepEqual(result.shares, ['before (suite root)', 'after (suite root)', 'before (suite a)', 'after (suite a)']);
  await worker.run('test/it.js > a one');
  await worker.run('test/it.js > a inner two');
  await worker.run('test/it.js > a one');
  await worker.run('test/it.js > b three');
  assert.equal(await worker.stop(), 0);
  assert.equal(log(), 'before root, before a, one, one, before inner, two, after inner, one, after a, three, after root');
});

test('fresh fixtures tear everything down', options, async () => {
  await start({ 'test/it.js': WARM });
  for (let run = 0; run < 2; run++) await worker.run('test/it.js > a one', { fresh_fixtures: true });
  const once = 'before root, before a, one, after a, after root';
  assert.equal(log(), `${once}, ${once}`);
});

test('a wide set-up that failed once is set up anew', options, async () => {
  await start({ 'test/it.js': "let n = 0; before(() => { if (!n++) throw new Error('only the first time'); }); it('it', () => {});" });
  assert.equal((await worker.run('test/it.js > it')).message, 'Error: only the first time');
  assert.equal((await worker.run('test/it.js > it')).outcome, 'passed');
});

test('errors that nobody waits for fail the test that runs, and time limits hold', options, async () => {
  await start({
    'test/it.js': `
      it('throws later', (done) => { setTimeout(() => { throw new Error('from a timer'); }, 5); });
      it('rejects alone', (done) => { Promise.reject(new Error('alone')); });
      it('done twice', (done) => { done(); done(); });
      it('too slow', function (done) { this.timeout(30); });
      it('passes', () => {});`,
  });
  for (let run = 0; run < 2; run++) {
    assert.equal((await worker.run('test/it.js > throws later')).message, 'Error: from a timer');
    assert.equal((await worker.run('test/it.js > rejects alone')).message, 'Error: alone');
    assert.match((await worker.run('test/it.js > too slow')).message, /Timeout of 30ms exceeded/);
    assert.equal((await worker.run('test/it.js > passes')).outcome, 'passed');
  }
});

test('arguments and files of the project hold: .mocharc, grep, root hooks, parallel is off', options, async () => {
  await start(
    {
      '.mocharc.json': '{"require": ["./hooks.js"], "spec": "checks/*.js", "parallel": true, "bail": true, "retries": 3}',
      'hooks.js': "exports.mochaHooks = { beforeEach() { console.log('root hook'); } };",
      'checks/it.js': "it('wanted one', () => {}); it('wanted two', () => { throw new Error('x'); }); it('other', () => {});",
    },
    ['--grep', 'wanted'],
  );
  const { tests } = await worker.list();
  assert.deepEqual(tests.map((each) => each.id), ['checks/it.js > wanted one', 'checks/it.js > wanted two']);
  assert.match((await worker.run('checks/it.js > wanted two')).output, /root hook/);
  assert.match((await worker.run('checks/it.js > wanted one')).output, /root hook/);
  assert.equal(await worker.stop(), 0);
});
