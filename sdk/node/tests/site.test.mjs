/**
 * The site library with the SDKs of AWS and Azure, over real emulators. MODULES is the node_modules that the SDKs are in and EMULATORS the folder of
 * moto's server; `../test` sets both. What each request carries is seen by a proxy, which also refuses and loses answers.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { LIBRARY, Project, Proxy, awsEnvironment, azureEnvironment, startAzurite, startGoogle, startMoto } from './cloud.mjs';

const { MODULES: modules } = process.env;
let running = [];
let aws, blob, queue, google, proxies, environment;

before(async () => {
  const emulators = await Promise.all([startMoto(), startAzurite(modules, 'blob'), startAzurite(modules, 'queue'), startGoogle()]);
  proxies = [aws, blob, queue, google] = await Promise.all(emulators.map(({ port }) => Proxy.start({ host: '127.0.0.1', port })));
  environment = { ...awsEnvironment(aws), ...azureEnvironment(blob, queue) };
  running = [...emulators, ...proxies];
});
after(() => running.forEach((each) => each.close()));

/** What the library told, of requests that carry anything of it. */
function told(requests) {
  return requests.map(({ headers, status }) => {
    const values = Object.entries(headers).filter(([name]) => name.startsWith('x-murphy-'));
    return { status, ...Object.fromEntries(values.map(([name, value]) => [name.slice('x-murphy-'.length), decodeURIComponent(value)])) };
  });
}

function takeAll() {
  return proxies.flatMap((proxy) => told(proxy.take()));
}

function injectAll(inject) {
  for (const proxy of proxies) proxy.inject = inject;
}

/** Runs the files as they are, in Node or (`--test`) in its test runner; the requests that they made. */
async function run(files, args, more = {}) {
  const project = new Project(modules, files);
  try {
    takeAll();
    const { code, printed } = await project.node(args, { ...environment, ...more });
    assert.equal(code, 0, printed);
    return { requests: takeAll(), printed, project };
  } finally {
    project.close();
  }
}

/** The place of the line that ends in `// NAME`, as a frame of the function. */
function frame(file, text, name, code = name) {
  return `${file}:${text.split('\n').findIndex((line) => line.endsWith(`// ${name}`)) + 1}:${code}`;
}

// ---- sites ----

const HEADS = {
  cjs: {
    load: (names, from) => `const { ${names} } = require('${from}');\n`,
    end: (names) => `module.exports = { ${names} };\n`,
  },
  mjs: {
    load: (names, from) => `import { ${names} } from '${from}';\n`,
    end: (names) => `export { ${names} };\n`,
  },
};

const AWS_STORE = ({ load, end }) => `${load('S3Client, S3, CreateBucketCommand, PutObjectCommand, GetObjectCommand', '@aws-sdk/client-s3')}
${load('SQS', '@aws-sdk/client-sqs')}
${load('DynamoDB', '@aws-sdk/client-dynamodb')}
const client = new S3Client({ forcePathStyle: true });
const sqs = new SQS(), dynamo = new DynamoDB();
const Bucket = 'bucket';
class Store {
  async put(Key) {
    await null;
    return client.send(new PutObjectCommand({ Bucket, Key, Body: 'text' })); // put
  }
  async save(keys) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    await Promise.all(keys.map((key) => this.put(key))); // save
  }
}
const create = () => client.send(new CreateBucketCommand({ Bucket })); // create
const get = async (Key) => (await new S3({ forcePathStyle: true }).getObject({ Bucket, Key })).Body.transformToString(); // get
function both(Key, done) {
  client.send(new GetObjectCommand({ Bucket, Key }), function second(error) { // first
    if (error) return done(error);
    client.send(new GetObjectCommand({ Bucket, Key }), done); // second
  });
}
const send = async () => {
  const { QueueUrl } = await sqs.createQueue({ QueueName: 'queue' }); // queue
  await sqs.sendMessage({ QueueUrl, MessageBody: 'text' }); // send
};
const table = () => dynamo.listTables({}); // table
${end('Store, create, get, both, send, table')}`;

const AZURE_STORE = ({ load, end }) => `${load('BlobServiceClient', '@azure/storage-blob')}
${load('QueueServiceClient', '@azure/storage-queue')}
${load('Readable', 'node:stream')}
const blobs = BlobServiceClient.fromConnectionString(process.env.AZURE_STORAGE_CONNECTION_STRING);
const queues = QueueServiceClient.fromConnectionString(process.env.AZURE_STORAGE_CONNECTION_STRING);
const container = blobs.getContainerClient('container' + process.pid);
const create = () => container.create(); // create
const upload = async (name) => {
  await null;
  await container.getBlockBlobClient(name).upload('text', 4); // upload
};
const stream = () => container.getBlockBlobClient('s').uploadStream(Readable.from([Buffer.alloc(4), Buffer.alloc(3000)]), 1024); // stream
const list = async () => {
  for await (const _ of container.listBlobsFlat()); // list
};
const send = async () => {
  const queue = queues.getQueueClient('queue' + process.pid);
  await queue.create(); // queue
  await queue.sendMessage('text'); // send
};
${end('create, upload, stream, list, send')}`;

for (const kind of ['cjs', 'mjs']) {
  const { load } = HEADS[kind];

  test(`AWS: sites through wrappers, async functions, Promise.all and callbacks, as ${kind}`, async () => {
    const store = AWS_STORE(HEADS[kind]);
    const file = `store.${kind}`;
    const it = `${load('test', 'node:test')}${load('Store, create, get, both, send, table', `./${file}`)}
      test('all, of it', async () => {
        await create(); // 1
        await new Store().save(['a', 'b']); // 2
        await get('a'); // 3
        await new Promise((resolve, reject) => both('a', (error) => error ? reject(error) : resolve())); // 4
        await send(); // 5
        await table(); // 6
      });`;
    const { requests } = await run({ [file]: store, [`it.test.${kind}`]: it }, ['--test', `it.test.${kind}`]);
    const frames = (...names) => names.map((name) => frame(file, store, ...[name].flat())).join(' < ');
    const line = (name) => frame(`it.test.${kind}`, it, name).replace(/:[^:]*$/, '');
    assert.deepEqual(
      requests.map(({ operation, stack, line }) => [operation, stack, line]),
      [
        ['s3.CreateBucket', frames('create'), line('1')],
        ['s3.PutObject', frames('put', 'save'), line('2')],
        ['s3.PutObject', frames('put', 'save'), line('2')],
        ['s3.GetObject', frames('get'), line('3')],
        ['s3.GetObject', frames(['first', 'both']), line('4')],
        ['s3.GetObject', frames('second', ['first', 'both']), line('4')],
        ['sqs.CreateQueue', frames(['queue', 'send']), line('5')],
        ['sqs.SendMessage', frames('send'), line('5')],
        ['dynamodb.ListTables', frames('table'), line('6')],
      ],
    );
    assert.equal(new Set(requests.map(({ call }) => call)).size, requests.length);
    for (const each of requests) {
      assert.deepEqual([each.status, each.test, each.phase, each.site], [200, 'all, of it', 'call', each.stack.split(' < ')[0]]);
      assert.match(each.call, new RegExp(`^${each.pid}-\\d+$`));
      assert.equal(each.raises, undefined, 'no answer is to be lost by an exception of ours');
    }
  });

  test(`Azure: sites of uploads, streams and lists, as ${kind}`, async () => {
    const store = AZURE_STORE(HEADS[kind]);
    const file = `store.${kind}`;
    const it = `${load('test', 'node:test')}${load('create, upload, stream, list, send', `./${file}`)}
      test('all', async () => {
        await create(); // 1
        await Promise.all(['a', 'b'].map(upload)); // 2
        await stream(); // 3
        await list(); // 4
        await send(); // 5
      });`;
    const { requests } = await run({ [file]: store, [`it.test.${kind}`]: it }, ['--test', `it.test.${kind}`]);
    const expected = [
      ['azure-storage-blob.PUT', frame(file, store, 'create'), '1'],
      ...Array(2).fill(['azure-storage-blob.PUT', frame(file, store, 'upload'), '2']),
      ...Array(4).fill(['azure-storage-blob.PUT', frame(file, store, 'stream'), '3']),
      ['azure-storage-blob.GET', frame(file, store, 'list'), '4'],
      ['azure-storage-queue.PUT', frame(file, store, 'queue', 'send'), '5'],
      ['azure-storage-queue.POST', frame(file, store, 'send'), '5'],
    ];
    const line = (name) => frame(`it.test.${kind}`, it, name).replace(/:[^:]*$/, '');
    assert.deepEqual(requests.map(({ operation, stack, line }) => [operation, stack, line]), expected.map(([operation, stack, name]) => [operation, stack, line(name)]));
    // azurite checks the signature of the shared key.
    assert.ok(requests.every(({ status }) => status >= 200 && status < 300), JSON.stringify(requests));
    assert.equal(new Set(requests.map(({ call }) => call)).size, requests.length);
  });
}

test('a chain of frames ends at six, and the line of the test is told all the same', async () => {
  const names = 'abcdefgh'.split('');
  const store = names.map((name, at) => (at ? `const ${name} = async () => { await ${names[at - 1]}(); };` : "const a = () => fetch(process.env.AWS_ENDPOINT_URL);")).join('\n');
  const { requests } = await run(
    { 'store.cjs': `${store}\nmodule.exports = h;`, 'it.test.cjs': "require('node:test')('it', async () => {\n await require('./store.cjs')();\n});" },
    ['--test', 'it.test.cjs'],
  );
  const stack = names.slice(0, 6).map((name, at) => `store.cjs:${at + 1}:${name}`).join(' < ');
  assert.deepEqual(requests.map(({ stack, line }) => [stack, line]), [[stack, 'it.test.cjs:2']]);
});

// ---- attempts ----

/** The attempts of each cloud call, by its id. */
function byCall(requests) {
  const calls = new Map();
  for (const each of requests) calls.set(each.call, [...(calls.get(each.call) ?? []), each]);
  return [...calls.values()];
}

for (const kind of ['cjs', 'mjs']) {
  for (const how of ['refuse', 'close']) {
    test(`all attempts of a call have its id and its site, as ${kind}, after ${how}`, async () => {
      const { load, end } = HEADS[kind];
      const store = `${load('S3', '@aws-sdk/client-s3')}${load('SQS', '@aws-sdk/client-sqs')}${load('DynamoDB', '@aws-sdk/client-dynamodb')}
        ${load('BlobServiceClient', '@azure/storage-blob')}${load('QueueServiceClient', '@azure/storage-queue')}
        const s3 = new S3({ forcePathStyle: true }), sqs = new SQS(), dynamo = new DynamoDB();
        const azure = (Service) => Service.fromConnectionString(process.env.AZURE_STORAGE_CONNECTION_STRING);
        const name = 'n' + process.pid + '${how}${kind}';
        const container = azure(BlobServiceClient).getContainerClient(name), messages = azure(QueueServiceClient).getQueueClient(name);
        const calls = {
          bucket: () => s3.createBucket({ Bucket: name }), object: () => s3.putObject({ Bucket: name, Key: 'key', Body: 'text' }),
          queue: () => sqs.createQueue({ QueueName: name }), table: () => dynamo.listTables({}),
          container: () => container.create(), upload: () => container.getBlockBlobClient('blob').upload('text', 4),
          messages: () => messages.create(), message: () => messages.sendMessage('text'),
        };
        ${end('calls')}`;
      const it = `${load('calls', `./store.${kind}`)}
        (async () => { for (const [name, call] of Object.entries(calls)) await call().catch((error) => console.log(name, error.name)); })();`;
      const attempts = new Map();
      // Every call at first, by what does not depend on the library.
      injectAll(({ method, path, headers }) => {
        const name = [method, path, headers['x-amz-target']].join(' ');
        attempts.set(name, (attempts.get(name) ?? 0) + 1);
        return attempts.get(name) === 1 ? how : undefined;
      });
      try {
        const begun = Date.now();
        const { requests, printed } = await run({ [`store.${kind}`]: store, [`main.${kind}`]: it }, [`main.${kind}`]);
        const calls = byCall(requests);
        assert.deepEqual(calls.map((each) => each.length), Array(8).fill(2), JSON.stringify(requests));
        for (const [first, second] of calls) assert.deepEqual([second.stack, second.operation], [first.stack, first.operation]);
        // What was created before its answer was lost is there already: the retry finds it.
        assert.deepEqual(printed.split('\n').filter((line) => /^\w+ \w+Error$|^\w+ \w+$/.test(line)), how === 'refuse' ? [] : ['container RestError']);
        assert.ok(Date.now() - begun < 10_000, 'back-off of 4 s and more is scaled');
      } finally {
        injectAll(() => undefined);
      }
    });
  }
}

test('a call that is refused to the end has three attempts, and its own retry by the application is another call', async () => {
  aws.inject = () => 'refuse';
  try {
    const { requests, printed } = await run(
      {
        'main.cjs': `const { S3 } = require('@aws-sdk/client-s3');
          const put = () => new S3({ forcePathStyle: true }).putObject({ Bucket: 'b', Key: 'k', Body: 't' });
          put().catch(() => put()).catch((error) => console.log(error.name, error.$metadata.requestId));`,
      },
      ['main.cjs'],
    );
    assert.deepEqual(byCall(requests).map((each) => each.length), [3, 3]);
    assert.match(printed, /SlowDown murphy-1/);
  } finally {
    injectAll(() => undefined);
  }
});

test('what a call rejects with and nobody waits for still ends the process', async () => {
  aws.inject = () => 'refuse';
  try {
    const files = { 'main.cjs': "new (require('@aws-sdk/client-s3').S3)({ maxAttempts: 1 }).listBuckets({});" };
    await assert.rejects(run(files, ['main.cjs']), /SlowDown/);
  } finally {
    injectAll(() => undefined);
  }
});

test('moto checks signatures, and accepts them', async () => {
  /** Moto looks at signatures after this many requests to its services. */
  const checkAfter = (count) => fetch(`${aws.url}/moto-api/reset-auth`, { method: 'POST', body: count });
  const ask = async (body) => {
    const headers = { authorization: 'AWS4-HMAC-SHA256 Credential=key/20260101/us-east-1/iam/aws4_request', 'content-type': 'application/x-www-form-urlencoded' };
    return (await fetch(aws.url, { method: 'POST', body, headers })).text();
  };
  await checkAfter('3');
  try {
    await ask('Action=CreateUser&UserName=user');
    const keys = await ask('Action=CreateAccessKey&UserName=user');
    const [AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY] = ['AccessKeyId', 'SecretAccessKey'].map((name) => new RegExp(`<${name}>(.*?)</`).exec(keys)[1]);
    const document = JSON.stringify({ Version: '2012-10-17', Statement: [{ Effect: 'Allow', Action: '*', Resource: '*' }] });
    await ask(`Action=PutUserPolicy&UserName=user&PolicyName=all&PolicyDocument=${encodeURIComponent(document)}`);
    const files = {
      'main.cjs': `const { S3 } = require('@aws-sdk/client-s3'), { SQS } = require('@aws-sdk/client-sqs');
        const s3 = new S3({ forcePathStyle: true });
        const say = (name) => (error) => console.log(name, error.name);
        (async () => {
          await s3.createBucket({ Bucket: 'signed' }).catch(say('bucket'));
          await s3.putObject({ Bucket: 'signed', Key: 'key', Body: 'text' }).catch(say('put'));
          await new SQS().listQueues({}).catch(say('list'));
        })();`,
    };
    const { requests, printed } = await run(files, ['main.cjs'], { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY });
    assert.deepEqual(requests.map(({ status }) => status), [200, 200, 200], printed);
    const wrong = await run(files, ['main.cjs'], { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY: 'wrong' });
    assert.deepEqual(wrong.requests.map(({ status }) => status), [403, 403, 403]);
  } finally {
    await checkAfter('Infinity');
  }
});

// ---- requests of other clients ----

test('every way to make a request carries the headers, and keeps its own', async () => {
  const files = {
    'main.mjs': `
      import http, { request, get } from 'node:http'; import axios from 'axios'; import { request as undici } from 'undici'; import { parse } from 'node:url';
      const url = process.env.AWS_ENDPOINT_URL + '/x', own = { own: 'yes' };
      const over = (asked) => new Promise((resolve, reject) => asked.on('response', (answer) => answer.resume().on('end', resolve)).on('error', reject));
      const { hostname, port } = new URL(url);
      await over(request(url, { method: 'POST', headers: own }).end('body'));
      await over(http.request(new URL(url), { headers: Object.entries({ ...own, host: hostname }) }).end());
      await over(http.request({ hostname, port, path: '/x', headers: ['own', 'yes', 'host', hostname] }).end());
      await over(http.request({ hostname, port, path: '/x', method: 'PUT', headers: { ...own, Expect: '100-continue', 'content-length': 4 } }).end('body'));
      await new Promise((resolve) => get(url, { headers: own }, (answer) => answer.resume().on('end', resolve)));
      await (await fetch(url, { headers: own })).text();
      await (await fetch(new Request(url, { method: 'POST', body: 'b', headers: own }))).text();
      await axios.get(url, { headers: own, validateStatus: () => true });
      await (await undici(url, { headers: own })).body.text();
      await over(http.request({ ...parse(url), headers: own }).end());
      await over(get(url).on('socket', () => {}));`,
  };
  takeAll();
  const project = new Project(modules, files);
  try {
    const { code, printed } = await project.node(['main.mjs'], environment);
    assert.equal(code, 0, printed);
    const requests = aws.take();
    assert.equal(requests.length, 11);
    const main = files['main.mjs'].split('\n');
    const at = (text) => main.findIndex((line) => line.includes(text)) + 1;
    const first = at('await over(request(url');
    for (const [number, { headers }] of requests.entries()) {
      assert.match(headers['x-murphy-site'], new RegExp(`^main\\.mjs:${first + number}:`));
      assert.equal(headers.own, number === 10 ? undefined : 'yes', String(number));
    }
    assert.equal(new Set(requests.map(({ headers }) => headers['x-murphy-call'])).size, 11);
  } finally {
    project.close();
  }
});

test("calls of a server in the same process belong to who called it, and the server sees its caller's headers alone", async () => {
  const app = `const http = require('node:http');
    exports.server = http.createServer(async (asked, answer) => {
      await (await fetch(process.env.AWS_ENDPOINT_URL)).text(); // handle
      answer.end(JSON.stringify([asked.headers, asked.rawHeaders]));
    });`;
  const { requests, printed } = await run(
    {
      'app.cjs': app,
      'it.test.cjs': `const { test, before, after } = require('node:test'), { server } = require('./app.cjs');
        before(() => new Promise((resolve) => server.listen(0, '127.0.0.1', resolve)));
        after(() => { server.close(); server.closeAllConnections(); });
        for (const name of ['one', 'two']) test(name, async () => {
          console.log(await (await fetch('http://127.0.0.1:' + server.address().port)).text()); // call
        });`,
    },
    ['--test', 'it.test.cjs'],
  );
  assert.deepEqual(requests.map(({ test, phase, stack, line }) => [test, phase, stack, line]), ['one', 'two'].map((name) => [name, 'call', frame('app.cjs', app, 'handle', '<anonymous>'), 'it.test.cjs:5']));
  assert.doesNotMatch(printed, /x-murphy/);
});

// ---- what is the application ----

test('application is what is below the project, and what MURPHY_APP adds', async () => {
  const files = {
    'vendor/lib.cjs': 'module.exports = (call) => call();',
    'own/node_modules/own-package/index.js': 'module.exports = () => fetch(process.env.AWS_ENDPOINT_URL);',
    'own/main.cjs': "const call = require('own-package');\nrequire('../vendor/lib.cjs')(() => call());",
  };
  const stacks = async (more) => (await run(files, ['own/main.cjs'], more)).requests.map(({ stack }) => stack);
  assert.deepEqual(await stacks(), ['own/main.cjs:2:<anonymous> < own/main.cjs:2:<anonymous>']);
  assert.deepEqual(await stacks({ MURPHY_APP: 'own-package' }), ['own-package/index.js:1:module.exports < own/main.cjs:2:<anonymous> < own/main.cjs:2:<anonymous>'].map((each) => each.replace('module.exports', 'exports')));
  assert.deepEqual(await stacks({ MURPHY_APP: ['./vendor', 'none'].join(path.delimiter) }), ['own/main.cjs:2:<anonymous> < vendor/lib.cjs:1:exports < own/main.cjs:2:<anonymous>']);
});

// ---- back-off ----

test('waits of SDKs between attempts are scaled, their time limits and the timers of the application are not', async () => {
  const files = {
    'main.cjs': `const { BlobServiceClient } = require('@azure/storage-blob'), { S3 } = require('@aws-sdk/client-s3'), pause = require('node:timers/promises').setTimeout;
      const since = (begun) => Date.now() - begun;
      (async () => {
        let begun = Date.now();
        await BlobServiceClient.fromConnectionString(process.env.AZURE_STORAGE_CONNECTION_STRING).getProperties().catch((error) => console.log(error.statusCode));
        console.log('azure', since(begun) < 2000);
        begun = Date.now();
        await new Promise((resolve) => setTimeout(resolve, 200));
        await pause(200);
        await require('node:util').promisify(setTimeout)(200);
        console.log('own', since(begun) >= 595);
        // Answered after 300 ms: a scaled limit would have ended it.
        await new S3({ forcePathStyle: true, requestHandler: { requestTimeout: 5000, connectionTimeout: 5000, throwOnRequestTimeout: true }, maxAttempts: 1 }).listBuckets({});
        console.log('limit', true);
      })();`,
  };
  blob.inject = () => 'refuse';
  const { handle } = aws;
  aws.handle = function (...args) {
    setTimeout(() => handle.apply(this, args), 300);
  };
  try {
    const { printed, requests } = await run(files, ['main.cjs']);
    for (const expected of ['503', 'azure true', 'own true', 'limit true']) assert.ok(printed.includes(expected), printed);
    assert.deepEqual(byCall(requests).map((each) => each.length), [1, 4]);
  } finally {
    delete aws.handle;
    injectAll(() => undefined);
  }
});

// ---- the library itself ----

test('without MURPHY_SITE nothing is hooked', async () => {
  const files = { 'main.cjs': "const { request } = require('node:http'); console.log(request.toString().includes('ClientRequest')); fetch(process.env.AWS_ENDPOINT_URL).then((answer) => answer.text());" };
  const { requests, printed } = await run(files, ['main.cjs'], { MURPHY_SITE: '' });
  assert.match(printed, /^true/);
  assert.deepEqual(requests.map(({ status, ...rest }) => rest), [{}]);
});

test('loaded twice is loaded once', async () => {
  const files = { 'copy.cjs': fs.readFileSync(LIBRARY), 'main.mjs': "await (await fetch(process.env.AWS_ENDPOINT_URL)).text();" };
  const { requests } = await run(files, ['--require', './copy.cjs', '--require', LIBRARY, 'main.mjs']);
  assert.equal(requests.length, 1);
  assert.match(requests[0].call, /^\d+-1$/);
});

test('a hook that fails is said once, and the calls are made', async () => {
  const files = {
    'main.cjs': `const { S3 } = require('@aws-sdk/client-s3');
      Error.captureStackTrace = () => { throw new Error('broken on purpose'); };
      (async () => { for (let n = 0; n < 3; n++) await fetch(process.env.AWS_ENDPOINT_URL); console.log('done', (await new S3({}).listBuckets({})).$metadata.httpStatusCode); })();`,
  };
  const { printed, requests } = await run(files, ['main.cjs']);
  assert.equal(printed.match(/^murphy: /gm).length, 1, printed);
  assert.match(printed, /broken on purpose/);
  assert.match(printed, /done 200/);
  assert.equal(requests.length, 4);
});

test('a process that a test starts knows the test', async () => {
  const { requests } = await run(
    {
      'child.cjs': 'fetch(process.env.AWS_ENDPOINT_URL).then((answer) => answer.text());',
      'it.test.cjs': `const { test, beforeEach } = require('node:test'), { promisify } = require('node:util'), run = promisify(require('node:child_process').execFile);
        const child = () => run(process.execPath, ['child.cjs']);
        beforeEach(child); test('parent', child);`,
    },
    ['--test', 'it.test.cjs'],
  );
  assert.deepEqual(requests.map(({ test, phase, site }) => [test, phase, site]), [['parent', 'setup(function)', 'child.cjs:1:<anonymous>'], ['parent', 'call', 'child.cjs:1:<anonymous>']]);
});

test('what goes into a header is printable', async () => {
  const { requests } = await run({ 'ü 100%, ok.cjs': 'fetch(process.env.AWS_ENDPOINT_URL).then((answer) => answer.text());' }, ['ü 100%, ok.cjs'], { MURPHY_TEST: 'ein Täst, 50% \u{1f600}' });
  assert.deepEqual(requests.map(({ site, test, phase }) => [site, test, phase]), [['ü 100%, ok.cjs:1:<anonymous>', 'ein Täst, 50% \u{1f600}', 'call']]);
});

test('parts of an upload by @aws-sdk/lib-storage come from who asked for it', async () => {
  const app = `const { S3 } = require('@aws-sdk/client-s3'), { Upload } = require('@aws-sdk/lib-storage');
    const client = new S3({ forcePathStyle: true });
    (async function main() {
      await client.createBucket({ Bucket: 'parts' });
      const upload = new Upload({ client, params: { Bucket: 'parts', Key: 'k', Body: Buffer.alloc(6 * 1024 * 1024) } });
      await upload.done(); // main
    })();`;
  const { requests } = await run({ 'main.cjs': app }, ['main.cjs']);
  const parts = requests.slice(1).map(({ operation, stack }) => [operation, stack]);
  const operations = ['s3.CreateMultipartUpload', 's3.UploadPart', 's3.UploadPart', 's3.CompleteMultipartUpload'];
  assert.deepEqual(parts, operations.map((name) => [name, frame('main.cjs', app, 'main')]));
});

for (const kind of ['cjs', 'mjs']) {
  test(`Google Cloud Storage: sites, and one id for all attempts, as ${kind}`, async () => {
    const store = `${HEADS[kind].load('Storage', '@google-cloud/storage')}
      const bucket = new Storage({ projectId: 'p', apiEndpoint: process.env.GCS }).bucket('${kind}');
      async function create() {
        await bucket.create(); // create
      }
      async function save(name) {
        await bucket.file(name).save('text', { resumable: false, validation: false }); // save
      }
      async function read(name) {
        return String((await bucket.file(name).download({ validation: false }))[0]); // read
      }
      (async () => { await create(); await save('a'); console.log(await read('a')); })();`;
    const file = `main.${kind}`;
    let seen = 0;
    google.inject = () => (seen++ === 0 ? 'refuse' : undefined);
    const { requests, printed } = await run({ [file]: store }, [file], { GCS: google.url });
    assert.match(printed, /text/);
    const calls = byCall(requests).map((attempts) => [attempts.length, attempts[0].stack.split(' < ')[0]]);
    assert.deepEqual(calls, [[2, frame(file, store, 'create')], [1, frame(file, store, 'save')], [1, frame(file, store, 'read')]], JSON.stringify(requests));
  });
}

// ---- what it costs ----

/** Figures, which the reporter does not show, for `../test`. */
function say(text) {
  if (process.env.FIGURES) fs.appendFileSync(process.env.FIGURES, `${text}\n`);
  else console.log(text);
}

test('what a request costs more', async () => {
  const files = {
    'calls.cjs': `const { S3 } = require('@aws-sdk/client-s3');
      const s3 = new S3({ forcePathStyle: true }), calls = Number(process.argv[2]);
      async function call() { await s3.putObject({ Bucket: 'cost', Key: 'k', Body: 'text' }); }
      (async () => {
        await s3.createBucket({ Bucket: 'cost' });
        for (let n = 0; n < 30; n++) await call();
        const begun = process.hrtime.bigint(), used = process.cpuUsage();
        for (let n = 0; n < calls; n++) await call();
        const { user, system } = process.cpuUsage(used);
        console.log(JSON.stringify([Number(process.hrtime.bigint() - begun) / 1000 / calls, (user + system) / calls]));
      })();`,
  };
  // A server that answers at once: what remains is the SDK's own work and the library's.
  const server = http.createServer((asked, answer) => asked.resume().on('end', () => answer.end()));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const project = new Project(modules, files);
  const run = async (url, calls, site) => {
    const { printed } = await project.node(['calls.cjs', String(calls)], { ...environment, AWS_ENDPOINT_URL: url, MURPHY_SITE: site });
    return JSON.parse(printed.trim().split('\n').at(-1));
  };
  /** The best of some, of the time and of the CPU's: other processes only add. */
  const measure = async (name, url, calls) => {
    const costs = { bare: [], library: [] };
    for (let round = 0; round < 4; round++) {
      costs.bare.push(await run(url, calls, ''));
      costs.library.push(await run(url, calls, '1'));
    }
    const [wall, cpu] = [0, 1].map((at) => ['bare', 'library'].map((kind) => Math.round(Math.min(...costs[kind].map((each) => each[at])))));
    const times = ([bare, library]) => `${bare} us bare, ${library} us with the library (${(library / bare).toFixed(2)} times)`;
    say(`one S3 PutObject to ${name}: ${times(wall)}; CPU ${times(cpu)}`);
    return cpu;
  };
  try {
    const [bare, library] = await measure('a server that answers at once', `http://127.0.0.1:${server.address().port}`, 300);
    assert.ok(library - bare < 1000, 'less than a millisecond of CPU');
    await measure('moto', aws.url, 60);
  } finally {
    project.close();
    server.close();
    server.closeAllConnections();
  }
});
