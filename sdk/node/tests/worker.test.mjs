/**
 * What mocha and vitest have in common as workers. RUNNER names one of them and MODULES the node_modules that it is in; `../test` sets both.
 * Each file of a project is written once for both: vitest's names are mocha's.
 */
import assert from 'node:assert/strict';
import http from 'node:http';
import { afterEach, test } from 'node:test';
import { Worker } from './control.mjs';

const { RUNNER: runner, MODULES: modules } = process.env;
const isMocha = runner === 'mocha';
const VITEST = "import { describe, it, beforeEach, afterEach, beforeAll as before, afterAll as after } from 'vitest';\n";
const HEAD = isMocha ? '' : VITEST;
const HEADERS = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', tracestate: 'murphy=e1', baggage: 'murphy=e1' };
const place = (name) => (isMocha ? `test/${name}.spec.mjs` : `test/${name}.test.mjs`);
const id = (file, ...titles) => `${place(file)} > ${titles.join(isMocha ? ' ' : ' > ')}`;

let running = [];
afterEach(() => {
  for (const worker of running) worker.close();
  running = [];
});

async function start(files, options = {}) {
  const text = typeof files === 'string' ? { it: files } : files;
  const named = Object.fromEntries(Object.entries(text).map(([name, body]) => [place(name), HEAD + "import assert from 'node:assert';\n" + body]));
  const args = isMocha ? ['test/*.spec.mjs'] : [];
  const worker = await Worker.start({ runner, modules, files: named, args: [...args, ...(options.args ?? [])], env: options.env, token: options.token });
  running.push(worker);
  return worker;
}

test('lists tests with unique names, static skips, and files that cannot be loaded', async () => {
  const worker = await start({
    a: "describe('shop', () => { it('same', () => {}); it('same', () => {}); it.skip('not today', () => {}); });",
    b: "describe('shop', () => { it('same', () => {}); it('with spaces and übermut', () => { console.log('got it'); }); });",
    c: "import 'nothing-like-this';",
  });
  const { runner: name, tests, problems } = await worker.list();
  assert.match(name, new RegExp(`^${runner} \\d+\\.`));
  const skips = Object.fromEntries(tests.map((each) => [each.id, each.skip]));
  const expected = [id('a', 'shop', 'same'), `${id('a', 'shop', 'same')} #2`, id('a', 'shop', 'not today'), id('b', 'shop', 'same')];
  assert.deepEqual(Object.keys(skips).sort(), [...expected, id('b', 'shop', 'with spaces and übermut')].sort());
  assert.deepEqual(Object.entries(skips).filter(([, skip]) => skip).map(([each]) => each), [id('a', 'shop', 'not today')]);
  assert.equal(problems.length, 1);
  assert.match(problems[0], /^test\/c\..*nothing-like-this/);
  for (const each of expected.filter((each) => !skips[each])) {
    const result = await worker.run(each);
    assert.equal(result.outcome, 'passed', JSON.stringify(result));
  }
  assert.match((await worker.run(id('b', 'shop', 'with spaces and übermut'))).output, /got it/);
  const unknown = await worker.run('no such test');
  assert.deepEqual([unknown.outcome, unknown.message], ['error', 'no test `no such test` was found']);
  assert.equal(await worker.stop(), 0);
});

test('runs one test again and again, between its own hooks', async () => {
  const worker = await start(`
    let all = 0, each = 0, ended = 0;
    before(() => { all++; });
    describe('shop', () => {
      beforeEach(() => { each++; });
      afterEach(() => { ended++; });
      it('counts', () => { console.log('all', all, 'each', each, 'ended', ended); });
      it('never runs', () => { console.log('the other test ran'); });
    });
    after(() => {});`);
  for (let run = 1; run <= 5; run++) {
    const result = await worker.run(id('it', 'shop', 'counts'));
    assert.equal(result.outcome, 'passed', JSON.stringify(result));
    assert.deepEqual(result.phases, ['setup', 'call', 'teardown']);
    // vitest reads a file anew for each run of it; what mocha has read stays.
    assert.match(result.output, isMocha ? new RegExp(`all 1 each ${run} ended ${run - 1}`) : /all 1 each 1 ended 0/);
    assert.doesNotMatch(result.output, /the other test ran/);
  }
});

test('says what failed, where, and why', async () => {
  const worker = await start(`
    describe('shop', () => {
      it('raises', () => {
        console.log('to stdout'); console.error('to stderr');
        throw new TypeError('no cart\\nsecond line', { cause: new Error('refused') });
      });
      it('asserts', () => { assert.strictEqual(503, 200); });
      it('rejects', async () => { await null; throw new Error('later'); });
      it('throws no error', () => { throw 'a text'; });
      it('half a pair', () => { throw new Error('half: \\ud800'); });
    });
    describe('set-up', () => { beforeEach(() => { throw new Error('cannot set up'); }); it('it', () => {}); });
    describe('tear-down', () => { afterEach(() => { throw new Error('cannot tear down'); }); it('it', () => {}); });
    describe('wide set-up', () => { before(() => { throw new Error('cannot begin'); }); it('it', () => {}); });`);
  for (let run = 0; run < 2; run++) {
    const raised = await worker.run(id('it', 'shop', 'raises'));
    assert.deepEqual([raised.outcome, raised.phase, raised.message], ['failed', 'call', 'TypeError: no cart']);
    assert.deepEqual(raised.exceptions, [{ type: 'TypeError', message: 'no cart\nsecond line' }, { type: 'Error', message: 'refused' }]);
    for (const text of ['to stdout', 'to stderr', 'no cart', place('it')]) assert.ok(raised.output.includes(text), raised.output);
    assert.equal(raised.output.split('to stdout').length, 2, 'nothing of the run before');
    const asserted = await worker.run(id('it', 'shop', 'asserts'));
    assert.equal(asserted.message, 'Expected values to be strictly equal: 503 !== 200');
    assert.equal((await worker.run(id('it', 'shop', 'rejects'))).message, 'Error: later');
    assert.match((await worker.run(id('it', 'shop', 'throws no error'))).message, /a text/);
    assert.match((await worker.run(id('it', 'shop', 'half a pair'))).message, /^Error: half: \ufffd/);
    const outcome = ({ outcome, phase, message }) => [outcome, phase, message];
    assert.deepEqual(outcome(await worker.run(id('it', 'set-up', 'it'))), ['error', 'setup', 'Error: cannot set up']);
    assert.deepEqual(outcome(await worker.run(id('it', 'tear-down', 'it'))), ['error', 'teardown', 'Error: cannot tear down']);
    assert.deepEqual(outcome(await worker.run(id('it', 'wide set-up', 'it'))), ['error', 'setup', 'Error: cannot begin']);
  }
});

test('does not try again by itself', async () => {
  const options = isMocha ? "function () { this.retries(5);" : "{ retry: 5 }, () => {";
  const worker = await start(`let n = 0; it('flaky', ${options} console.log('try', ++n); throw new Error('once'); });`);
  const result = await worker.run(id('it', 'flaky'));
  assert.equal(result.outcome, 'failed');
  assert.equal(result.output.match(/try \d/g).length, 1, result.output);
});

test('a test that skips itself', async () => {
  const worker = await start(isMocha ? "it('skips', function () { this.skip(); });" : "it('skips', ({ skip }) => { skip(); });");
  for (let run = 0; run < 2; run++) assert.equal((await worker.run(id('it', 'skips'))).outcome, 'skipped');
});

test('reports and puts back what a test changes', async () => {
  const worker = await start(
    `import http from 'node:http'; import os from 'node:os';
    it('changes', () => {
      process.env.HOME = '/elsewhere'; process.env.ADDED = '1'; delete process.env.OF_TEST;
      if (${isMocha}) process.chdir(os.tmpdir());
      http.createServer().listen(0);
      setInterval(() => {}, 1000);
    });
    it('is clean', () => { assert.equal(process.env.OF_TEST, 'a'); assert.equal(process.env.ADDED, undefined); });`,
    { env: { OF_TEST: 'a' } },
  );
  for (let run = 0; run < 2; run++) {
    const { changed, outcome } = await worker.run(id('it', 'changes'));
    assert.equal(outcome, 'passed');
    const directory = isMocha ? ['working directory'] : [];
    assert.deepEqual(changed.filter((each) => !/^(servers|timers)/.test(each)), [...directory, 'environment: ADDED, HOME, OF_TEST']);
    assert.ok(changed.includes('servers: 1'), changed.join());
    // vitest's own timers come and go meanwhile.
    assert.ok(!isMocha || changed.includes('timers: 1'), changed.join());
    const clean = await worker.run(id('it', 'is clean'));
    assert.deepEqual([clean.outcome, clean.changed], ['passed', []]);
  }
});

test('sets variables for the execution only', async () => {
  const worker = await start("it('prints', () => { console.log('ENV', process.env.TRACEPARENT, process.env.MURPHY_EXECUTION, process.env.MURPHY_FAULTS); });");
  const { output, execution } = await worker.run(id('it', 'prints'), { headers: HEADERS, faults: ['cart = 503'] });
  assert.ok(output.includes(`ENV ${HEADERS.traceparent} ${execution} ["cart = 503"]`), output);
  assert.match((await worker.run(id('it', 'prints'))).output, /ENV undefined e2 \[\]/);
});

test('puts trace context on calls of every client, and leaves what the test sets', async () => {
  const seen = [];
  const server = http.createServer((asked, answer) => {
    seen.push(asked.headers);
    asked.resume().on('end', () => answer.end('ok'));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const worker = await start(
      `import http, { get } from 'node:http'; import { parse } from 'node:url'; import axios from 'axios'; import { request } from 'undici';
      const url = process.env.SERVER, own = { Traceparent: 'own', TraceState: 'own=1', BAGGAGE: 'own=2' };
      const over = (asked) => new Promise((resolve) => asked.on('response', (answer) => answer.resume().on('end', resolve)));
      const calls = {
        'http.request': (headers) => { const asked = http.request(url, { method: 'POST', headers }); asked.end('body'); return over(asked); },
        'http.get': (headers) => over(get(url, { headers })),
        'url.parse': (headers) => { const asked = http.request({ ...parse(url), headers }); asked.end(); return over(asked); },
        list: (headers) => { const asked = http.request(new URL(url), { headers: Object.entries({ host: new URL(url).host, ...headers }).flat() }); asked.end(); return over(asked); },
        'Expect': (headers) => { const asked = http.request(url, { method: 'PUT', headers: { ...headers, Expect: '100-continue' } }); asked.end('body'); return over(asked); },
        fetch: async (headers) => (await fetch(url, { headers })).text(),
        Request: async (headers) => (await fetch(new Request(url, { method: 'POST', body: 'b', headers }))).text(),
        axios: (headers) => axios.post(url, { a: 1 }, { headers }),
        undici: async (headers) => (await request(url, { headers })).body.text(),
      };
      for (const [name, call] of Object.entries(calls)) { it(name, () => call({})); it(name + ' own', () => call(own)); }
      it('later', async () => { await new Promise((resolve) => setTimeout(resolve, 20)); await calls.fetch({}); });`,
      { env: { SERVER: `http://127.0.0.1:${server.address().port}` } },
    );
    for (const name of ['http.request', 'http.get', 'url.parse', 'list', 'Expect', 'fetch', 'Request', 'axios', 'undici', 'later']) {
      for (const run of [1, 2]) {
        const headers = { ...HEADERS, tracestate: `murphy=e${run}` };
        seen.length = 0;
        assert.equal((await worker.run(id('it', name), { headers })).outcome, 'passed', name);
        assert.equal(seen.length, 1);
        for (const [header, value] of Object.entries(headers)) assert.equal(seen[0][header], value, `${name} ${header}`);
      }
      if (name === 'later') continue;
      seen.length = 0;
      assert.equal((await worker.run(id('it', `${name} own`), { headers: HEADERS })).outcome, 'passed', name);
      assert.deepEqual([seen[0].traceparent, seen[0].tracestate, seen[0].baggage], ['own', 'own=1', 'own=2'], name);
    }
    seen.length = 0;
    await worker.run(id('it', 'fetch'));
    assert.equal(seen[0].traceparent, undefined, 'headers of an earlier execution');
  } finally {
    server.close();
    server.closeAllConnections();
  }
});

test('keeps 64 KiB of 100 MB', async () => {
  const worker = await start("it('prints', () => { for (let n = 0; n < 1000; n++) console.log('x'.repeat(100_000)); console.log('the end'); });");
  await worker.run(id('it', 'prints'));
  const memory = worker.memory();
  const { output } = await worker.run(id('it', 'prints'));
  assert.ok(Buffer.byteLength(output) <= 64 * 1024 && output.includes('the end'));
  assert.ok(worker.memory() - memory < 100_000, `${worker.memory() - memory} KiB more`);
  assert.ok(worker.printed.length < 100_000, "nothing of it on Murphy's terminal");
});

test('200 runs leave memory flat', async () => {
  const worker = await start("it('fails', () => { const held = Buffer.alloc(1_000_000); console.log('x'.repeat(10_000)); throw new Error(String(held.length)); });");
  const runs = isMocha ? 200 : 30;
  for (let run = 0; run < runs; run++) await worker.run(id('it', 'fails'));
  const memory = worker.memory();
  for (let run = 0; run < runs; run++) assert.equal((await worker.run(id('it', 'fails'))).outcome, 'failed');
  assert.ok(worker.memory() - memory < 40_000, `${worker.memory() - memory} KiB more after ${runs} runs`);
});

test('a result that was given up is dropped, one that is too long is cut', async () => {
  const worker = await start("it('fails', () => { console.log('x'.repeat(50_000)); throw new Error('y'); });");
  for (const status of [409, 404]) {
    worker.refuse[`e${worker.number + 1}`] = status;
    worker.order({ do: 'run', execution: `e${++worker.number}`, test: id('it', 'fails') });
    assert.equal((await worker.run(id('it', 'fails'))).outcome, 'failed');
  }
  worker.refuse[`e${worker.number + 1}`] = 413;
  assert.equal((await worker.run(id('it', 'fails'))).output.length, 1024);
});

test('no news is asked again; Murphy that is gone ends the worker', async () => {
  const worker = await start("it('passes', () => {});");
  for (let run = 0; run < 3; run++) worker.order(null);
  assert.equal((await worker.run(id('it', 'passes'))).outcome, 'passed');
  worker.die();
  assert.equal(await worker.exited, 1);
  assert.match(worker.printed, /murphy: Murphy is gone \(.*\): ending the tests/);
});

test('a wrong token ends the worker', async () => {
  const worker = await start("it('passes', () => {});", { token: 'another' });
  assert.equal(await worker.exited, 1);
  assert.match(worker.printed, /Murphy does not accept MURPHY_TOKEN/);
});

test('a test that ends the process, and one that hangs and is killed', async () => {
  const worker = await start("it('ends', () => { process.kill(process.pid, 'SIGKILL'); }); it('hangs', async function () { this?.timeout?.(0); await new Promise(() => { setInterval(() => {}, 1e6); }); }, 1e6);");
  worker.order({ do: 'run', execution: 'e1', test: id('it', 'hangs') });
  for (let wait = 0; worker.phases.get('e1')?.at(-1) !== 'call'; wait++) {
    assert.ok(wait < 3000, worker.printed);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  worker.process.kill('SIGKILL');
  assert.equal(await worker.exited, 'SIGKILL');
  if (!isMocha) return; // vitest survives the end of its own worker
  const other = await start("it('ends', () => { process.exit(7); });");
  other.order({ do: 'run', execution: 'e1', test: id('it', 'ends') });
  assert.equal(await other.exited, 7);
});
