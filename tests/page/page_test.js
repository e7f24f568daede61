// Drives the real page: a live run, its report, hostile names, a large run, a phone, the keyboard.
//   node tests/page/page_test.js KINDRED
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { browserPath, freePort, openBrowser, openPage, root, run, start, startRun, tile, until, violations } from './browser.js';
import { writeLargeRun } from './large_run.js';

const kindred = process.argv[2];
if (!browserPath) {
  console.log('no chromium here');
  process.exit(77);
}
const folder = mkdtempSync(join(tmpdir(), 'kindred-page-'));
const live = join(folder, 'live');
const tiny = ['--config', join(root, 'configs/tiny.toml'), '--workers', '1'];
const tiles = ['round', 'loss', 'knn', 'rank', 'down', 'up', 'digest', 'spent'];
let browser;
let passed = 0;

async function check(name, test) {
  await test();
  ++passed;
  console.log(`PASS  ${name}`);
}

// The files below a folder that hold the text.
function filesWith(text, below) {
  return readdirSync(below, { withFileTypes: true }).flatMap((entry) => {
    const path = join(below, entry.name);
    if (entry.isDirectory()) return filesWith(text, path);
    return entry.isFile() && readFileSync(path).includes(text) ? [path] : [];
  });
}

try {
  browser = await openBrowser();
  let final = {};

  await check('live values move, and the page ends as the run does', async () => {
    const training = await startRun(kindred, ['--config', join(root, 'configs/tiny.toml'), '--set', 'train.rounds=40', '--set', 'eval.every=5', '--workers', '1', '--out', live]);
    const page = await openPage(browser, training.url);
    assert.ok(!page.url().includes('token'), 'the token stays out of the address bar');
    const token = /token=(\w{64})$/.exec(training.url)[1];
    await until(page, () => /^[1-9]/.test(document.querySelector('#tile-round')?.textContent ?? ''));
    const early = { round: await tile(page, 'round'), loss: await tile(page, 'loss') };
    assert.equal(await tile(page, 'state'), 'training');
    assert.notEqual(await tile(page, 'left'), '–');
    await until(page, (before) => document.querySelector('#tile-round')?.textContent !== before, early.round);
    await until(page, (before) => document.querySelector('#tile-loss')?.textContent !== before, early.loss);
    await page.waitForSelector('#features canvas');
    // A reload goes on: the token is kept for this tab.
    await page.reload();
    await page.waitForSelector('#tile-round');
    assert.equal(await training.ended, 0, training.log());
    await until(page, () => document.querySelector('#tile-state')?.textContent === 'finished');
    await until(page, () => document.querySelector('#tile-round')?.textContent === '40 of 40');
    await until(page, () => document.querySelector('#features .words')?.textContent?.includes('round 40'));
    for (const name of tiles) final[name] = await tile(page, name);
    const summary = JSON.parse(readFileSync(join(live, 'summary.json'), 'utf8'));
    assert.equal(final.digest, summary.model_digest.slice(0, 12));
    assert.equal(final.knn, `${(100 * summary.knn_last).toFixed(2)} %`);
    assert.deepEqual(await violations(page), []);
    // The run is gone, so one look for events fails; nothing else may.
    const others = page.troubles.filter((line) => !line.includes('ERR_CONNECTION_REFUSED'));
    assert.deepEqual(others, []);
    assert.ok(statSync(join(live, 'train.log')).size > 0);
    assert.deepEqual(filesWith(token, live), [], 'the run keeps its token to itself');
  });

  const report = join(folder, 'report.html');
  const asFile = (path) => `file://${path}`;

  await check('the report has the numbers that the live page ended with', async () => {
    run(kindred, ['report', live, '--out', report]);
    const page = await openPage(browser, asFile(report));
    await page.waitForSelector('#tile-round');
    for (const name of tiles) assert.equal(await tile(page, name), final[name], name);
    assert.equal(await page.locator('#partition svg rect').count() >= 10, true);
    assert.equal(await page.locator('#samples img').count(), 2);
    for (const image of await page.locator('#samples img').all()) assert.ok((await image.evaluate((node) => node.naturalWidth)) > 50);
    assert.match(await page.textContent('footer'), /InstaHide is obfuscation .*not encryption\. No formal guarantee\./);
    assert.deepEqual(await violations(page), []);
    assert.deepEqual(page.troubles, []);
  });

  await check('the report names no file and holds no image when asked', async () => {
    const text = readFileSync(report, 'utf8');
    assert.ok(!text.includes(root) && !text.includes(folder), 'a path is in the page');
    const bare = join(folder, 'bare.html');
    run(kindred, ['report', live, '--out', bare, '--without-images']);
    assert.ok(!readFileSync(bare, 'utf8').includes('base64,iVBOR'));
  });

  await check('without its token the page shows nothing', async () => {
    const training = await startRun(kindred, ['--config', join(root, 'configs/tiny.toml'), '--set', 'train.rounds=400', '--workers', '1', '--out', join(folder, 'closed')]);
    try {
      const page = await openPage(browser, training.url.replace(/#.*/, ''));
      await page.waitForSelector('.message');
      assert.match(await page.textContent('main'), /needs the address/);
      const wrong = await openPage(browser, training.url.replace(/token=.*/, 'token=0000000000000000'));
      await until(wrong, () => document.querySelector('main')?.textContent?.includes('not of this run'));
      // Other troubles are told as what they are, and it goes on when they end.
      const cut = await openPage(browser, 'about:blank');
      await cut.route('**/data', (route) => route.abort());
      await cut.goto(training.url);
      await until(cut, () => document.querySelector('main')?.textContent?.includes('No connection'));
      await cut.unroute('**/data');
      await cut.route('**/data', (route) => route.fulfill({ status: 500 }));
      await until(cut, () => document.querySelector('main')?.textContent?.includes('status 500'));
      await cut.unroute('**/data');
      await until(cut, () => document.querySelector('#tile-round') !== null);
    } finally {
      training.stop();
      await training.ended;
    }
  });

  await check('a token that stays is read from its owner’s file alone and told to nobody', async () => {
    const file = join(folder, 'token');
    const out = join(folder, 'kept');
    const token = 'a-token-that-stays.0123456789';
    writeFileSync(file, `${token}\n`, { mode: 0o644 });
    const args = ['--dashboard-token', file, '--out', out];
    const open = spawnSync(kindred, ['train', '--dashboard', '127.0.0.1:0', ...tiny, ...args], { encoding: 'utf8' });
    assert.equal(open.status, 2);
    assert.match(open.stderr, /others may read it; chmod 600/);
    rmSync(file);
    writeFileSync(file, `${token}\n`, { mode: 0o600 });
    const training = await startRun(kindred, [...tiny, '--set', 'train.rounds=40', ...args]);
    const address = training.url.replace(/#.*/, '');
    const answer = await fetch(`${address}metrics`, { headers: { Authorization: `Bearer ${token}` } });
    assert.equal(answer.status, 200);
    assert.equal((await fetch(`${address}metrics`)).status, 401);
    training.stop();
    await training.ended;
    assert.ok(!training.log().includes(token), training.log());
    assert.ok(training.log().includes(file), training.log());
    assert.deepEqual(filesWith(token, out), []);
  });

  await check('the dashboard of a coordinator shows its clients, the rounds and the end', async () => {
    const here = join(folder, 'federation');
    mkdirSync(here);
    const address = `127.0.0.1:${await freePort()}`;
    run(kindred, ['pki', 'init', '--out', join(here, 'pki')]);
    const config = ['--config', join(root, 'configs/tiny.toml'), '--set', 'train.rounds=30', '--set', 'partition.clients=2'];
    const names = ['north', 'south'];
    for (const name of names) {
      run(kindred, ['pki', 'issue', name, '--pki', join(here, 'pki'), '--server', address, '--out', join(here, name)]);
    }
    const serving = await startRun(kindred, [...config, '--listen', address, '--pki', join(here, 'pki'), '--out', join(here, 'served')], 'serve');
    const joined = [];
    try {
      const page = await openPage(browser, serving.url);
      await until(page, () => document.querySelector('#tile-state') !== null);
      for (const [place, name] of names.entries()) {
        joined.push(start(kindred, ['join', '--kit', join(here, name), ...config, '--set', `client.share=${place}/${names.length}`, '--set', 'train.workers=1', '--out', join(here, `of-${name}`)]));
      }
      await until(page, () => /^[1-9]/.test(document.querySelector('#tile-round')?.textContent ?? ''));
      const early = await tile(page, 'round');
      await until(page, (before) => document.querySelector('#tile-round')?.textContent !== before, early);
      for (const name of names) assert.ok((await page.textContent('#clients')).includes(name), name);
      assert.equal(await page.locator('#clients tbody tr').count(), 2);
      assert.match(await page.textContent('#events'), /join/);
      assert.equal(await serving.ended, 0, serving.log());
      for (const client of joined) assert.equal(await client.ended, 0, client.log());
      await until(page, () => document.querySelector('#tile-state')?.textContent === 'finished');
      assert.equal(await tile(page, 'round'), '30 of 30');
      const counts = JSON.parse(readFileSync(join(here, 'served', 'summary.json'), 'utf8'));
      assert.equal(await tile(page, 'digest'), counts.model_digest.slice(0, 12));
      // Each event stands there once: as in the file, which the report is of.
      const lines = readFileSync(join(here, 'served', 'audit.jsonl'), 'utf8').trim().split('\n').map((line) => JSON.parse(line));
      const accepted = lines.filter((line) => line.event === 'accept').length;
      assert.ok((await page.textContent('#events .note')).includes(`accept ${accepted}`));
      assert.match(await page.textContent('footer'), /InstaHide is obfuscation .*not encryption\. No formal guarantee\./);
      assert.deepEqual(await violations(page), []);
      assert.deepEqual(page.troubles.filter((line) => !line.includes('ERR_CONNECTION_REFUSED')), []);
    } finally {
      for (const each of [serving, ...joined]) each.stop();
      await Promise.all([serving, ...joined].map((each) => each.ended));
    }
  });

  await check('the page says what the run shares', async () => {
    const said = async (name, ...args) => {
      const out = join(folder, name);
      run(kindred, ['train', ...tiny, ...args, '--set', 'train.rounds=1', '--out', out]);
      run(kindred, ['report', out, '--out', `${out}.html`]);
      const finished = await (await openPage(browser, asFile(`${out}.html`))).textContent('footer');
      rmSync(join(out, 'summary.json')); // and of one that goes on
      run(kindred, ['report', out, '--out', `${out}.html`, '--force']);
      assert.equal(await (await openPage(browser, asFile(`${out}.html`))).textContent('footer'), finished);
      return finished;
    };
    assert.match(await said('plain', '--set', 'privacy.features=plain'), /^Clients shared features of plain images \(a simulation, for comparison\): .*No formal guarantee/);
    const none = await said('none', '--config', join(root, 'configs/methods/simclr.toml'));
    assert.match(none, /^Clients share models and no features\. No formal guarantee/);
    assert.ok(!none.includes('InstaHide'));
  });

  await check('damage is told, and leaves the other parts alone', async () => {
    const copy = join(folder, 'damaged');
    cpSync(live, copy, { recursive: true });
    const metrics = readFileSync(join(copy, 'metrics.jsonl'), 'utf8').split('\n');
    writeFileSync(join(copy, 'metrics.jsonl'), `${metrics.slice(0, 4).join('\n')}\n{half\n`);
    writeFileSync(join(copy, 'audit.jsonl'), `${JSON.stringify({ time: 1e300, event: 'refuse', client: 'a' })}\n`);
    writeFileSync(join(copy, 'page/embedding.json'), JSON.stringify({ features: 'x', points: [1], dim: -1 }));
    const out = join(folder, 'damaged.html');
    const told = spawnSync(kindred, ['report', copy, '--out', out, '--json'], { encoding: 'utf8' });
    assert.equal(told.status, 0);
    assert.match(told.stderr, /1 line could not be read/);
    assert.match(Object.values(JSON.parse(told.stdout).damaged)[0][1], /ends with round 3, summary.json tells of 40/);
    const page = await openPage(browser, asFile(out));
    await page.waitForSelector('#damage');
    assert.match(await page.textContent('#damage'), /1 line could not be read; metrics.jsonl ends with round 3/);
    // What the summary tells holds.
    for (const name of ['round', 'knn', 'down', 'up', 'digest', 'spent']) assert.equal(await tile(page, name), final[name], name);
    for (const part of ['clients', 'partition', 'samples']) assert.equal(await page.locator(`#${part}`).count(), 1, part);
    assert.deepEqual(page.troubles.filter((line) => !line.startsWith('a part of the page could not be shown')), []);
    // What is not known of the features that are shared is not claimed.
    rmSync(join(copy, 'summary.json'));
    writeFileSync(join(copy, 'config.json'), '{"train":{"rounds":40}}');
    run(kindred, ['report', copy, '--out', out, '--force']);
    const other = await openPage(browser, asFile(out));
    assert.match(await other.textContent('footer'), /not known of this run/);
    assert.equal(await tile(other, 'left'), '–', 'nobody goes on with it');
  });

  await check('a hostile name stays text', async () => {
    const hostile = '<img src=x onerror=alert(1)></script><script>alert(2)</script>';
    const copy = join(folder, 'hostile');
    cpSync(live, copy, { recursive: true });
    const clients = JSON.parse(readFileSync(join(copy, 'page/clients.json'), 'utf8'));
    clients.clients[0].name = hostile;
    clients.classes[0] = hostile;
    writeFileSync(join(copy, 'page/clients.json'), JSON.stringify(clients));
    writeFileSync(join(copy, 'audit.jsonl'), JSON.stringify({ time: 1, event: 'refuse', client: hostile, round: 1, reason: hostile, detail: hostile }) + '\n');
    const samples = JSON.parse(readFileSync(join(copy, 'page/samples.json'), 'utf8'));
    samples.views = 'javascript:alert(3)';
    writeFileSync(join(copy, 'page/samples.json'), JSON.stringify(samples));
    const out = join(folder, 'hostile.html');
    run(kindred, ['report', copy, '--out', out]);
    const page = await openPage(browser, asFile(out));
    await page.waitForSelector('#clients');
    assert.ok((await page.textContent('#clients')).includes(hostile));
    assert.ok((await page.textContent('#events')).includes(hostile));
    assert.equal(await page.locator('img[src="x"]').count(), 0);
    assert.deepEqual(page.troubles, []);
    // And no script but the page's own can run, by its policy.
    const ran = await page.evaluate(() => {
      const script = document.createElement('script');
      script.textContent = 'globalThis.ran = true';
      document.body.append(script);
      return globalThis.ran === true;
    });
    assert.equal(ran, false);
  });

  await check('everything can be reached and chosen by keyboard; UMAP comes on demand', async () => {
    const page = await openPage(browser, asFile(report));
    await page.waitForSelector('#features canvas');
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement?.className), 'skip');
    const reached = new Set();
    for (let i = 0; i < 60; ++i) {
      await page.keyboard.press('Tab');
      reached.add(await page.evaluate(() => document.activeElement?.id || document.activeElement?.getAttribute('aria-label') || document.activeElement?.tagName));
    }
    for (const name of ['scatter-color', 'scatter-view', 'Table of clients', 'SUMMARY']) assert.ok(reached.has(name), `${name} of ${[...reached].join(', ')}`);
    await page.focus('#scatter-color');
    await page.keyboard.press('ArrowDown');
    assert.match(await page.getAttribute('#features canvas', 'aria-label'), /by client/);
    await page.focus('#scatter-view');
    await page.keyboard.press('ArrowDown');
    await until(page, () => document.querySelector('#features .words')?.textContent?.startsWith('UMAP of round'));
    assert.deepEqual(page.troubles, []);
  });

  await check('a phone in the dark reads it without scrolling sideways', async () => {
    const page = await openPage(browser, asFile(report), { viewport: { width: 375, height: 740 }, colorScheme: 'dark' });
    await page.waitForSelector('#features canvas');
    const [wide, seen] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    assert.ok(wide <= seen, `${wide} > ${seen}`);
    const back = await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    assert.match(back, /rgb\((\d|[1-4]\d), /);
    assert.deepEqual(await violations(page), []);
  });

  await check('10,000 rounds of 100 clients open whole', async () => {
    const large = join(folder, 'large');
    writeLargeRun(large, 10000, 100);
    const out = join(folder, 'large.html');
    run(kindred, ['report', large, '--out', out]);
    const page = await openPage(browser, asFile(out));
    await page.waitForSelector('#tile-round');
    assert.equal(await tile(page, 'round'), '10000 of 10000');
    assert.match(await page.textContent('.timeline .words'), /10000 of 10000 rounds, 100 clients, 50\.\d a round/);
    assert.equal(await page.locator('#clients tbody tr').count(), 100);
    assert.deepEqual(await violations(page), []);
    assert.deepEqual(page.troubles, []);
  });

  await check('several runs and the tables are one page', async () => {
    const tables = join(folder, 'tables');
    run(kindred, ['reproduce', '--scale', 'tiny', '--datasets', 'shapes', '--settings', 'noniid1', '--table', 'linear,ablation', '--methods', 'ccl,simclr,random,cl', '--set', 'train.rounds=1', '--set', 'eval.limit=60', '--out', tables]);
    const out = join(folder, 'all.html');
    const small = join(folder, 'small');
    mkdirSync(small);
    writeLargeRun(small, 20, 5);
    run(kindred, ['report', live, small, tables, '--out', out]);
    const page = await openPage(browser, asFile(out));
    await page.waitForSelector('#comparison');
    assert.equal(await page.locator('#comparison tbody tr').count(), 2);
    const numbers = JSON.parse(readFileSync(join(tables, 'tables.json'), 'utf8'));
    for (const [index, table] of numbers.tables.entries()) {
      for (const [row, cells] of table.cells.entries()) {
        for (const [column, cell] of cells.entries()) {
          const shown = await page.locator(`#table-${table.name}-${index} tbody tr`).nth(row).locator('td').nth(column).textContent();
          assert.ok(shown.startsWith(cell.text), `${shown} for ${cell.text}`);
        }
      }
      // Where each number comes from, for fingers and keyboards too.
      const part = page.locator(`#table-${table.name}-${index}`);
      await part.locator('.origins summary').focus();
      await page.keyboard.press('Enter');
      const scores = table.cells.flat().flatMap((cell) => cell.scores ?? []);
      await part.locator('.origins tbody tr').first().waitFor();
      assert.equal(await part.locator('.origins tbody tr').count(), scores.length);
      const origins = await part.locator('.origins').textContent();
      for (const score of scores) {
        for (const key of ['protocol', 'run_config_hash', 'encoder_digest', 'data_hash']) assert.ok(origins.includes(score[key].slice(0, 12)), key);
        assert.ok(!score.training || origins.includes(score.training.model_digest.slice(0, 12)));
      }
      assert.match(await part.locator('.notes').textContent(), /One standard error of a number is up to \d+\.\d points, by its 60 test images/);
    }
    assert.equal(await page.locator('[title]').count(), 0, 'nothing is said by pointing alone');
    await page.selectOption('#run', { index: 1 });
    assert.equal(await page.textContent('h1'), 'small');
    // Every chart follows the light.
    await page.evaluate(() => document.querySelectorAll('.plot canvas').forEach((canvas) => canvas.classList.add('before')));
    await page.emulateMedia({ colorScheme: 'dark' });
    await until(page, () => document.querySelectorAll('.plot canvas.before').length === 0);
    assert.equal(await page.locator('#comparison .plot canvas').count(), 1);
    assert.deepEqual(await violations(page), []);
    assert.deepEqual(page.troubles, []);
  });

  await check('a phone shows the names and numbers of tables whole', async () => {
    const tables = join(folder, 'wide');
    run(kindred, ['reproduce', '--scale', 'tiny', '--only-tables', '--out', tables]);
    const again = join(folder, 'again', 'wide');
    cpSync(tables, again, { recursive: true });
    const broken = JSON.parse(readFileSync(join(again, 'tables.json'), 'utf8'));
    broken.tables = [broken.tables[0], { name: 'x' }];
    writeFileSync(join(again, 'tables.json'), JSON.stringify(broken));
    const out = join(folder, 'wide.html');
    run(kindred, ['report', tables, again, '--out', out]);
    const page = await openPage(browser, asFile(out), { viewport: { width: 390, height: 740 } });
    await page.waitForSelector('.numbers');
    const heights = await page.locator('.numbers tbody :is(th, td)').evaluateAll((cells) => cells.map((cell) => cell.getBoundingClientRect().height));
    assert.ok(Math.max(...heights) < 40, `${Math.max(...heights)} pixels: more than a line`);
    const [wide, seen] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    assert.ok(wide <= seen, `${wide} > ${seen}`);
    // Each says where it is from, and a damaged one takes no other with it.
    const titles = await page.locator('h2').allTextContents();
    assert.equal(titles.filter((title) => title.endsWith(', wide')).length, 4);
    assert.equal(titles.filter((title) => title.endsWith(', wide (2)')).length, 1);
    assert.match(await page.textContent('main'), /A table is damaged/);
  });

  await check('what failed says why, in words', async () => {
    const tables = join(folder, 'failed');
    const args = ['reproduce', '--scale', 'tiny', '--datasets', 'shapes', '--settings', 'noniid1', '--table', 'linear', '--methods', 'ccl', '--set', 'data.limit=200', '--set', 'privacy.mix=64', '--out', tables];
    assert.equal(spawnSync(kindred, args).status, 3);
    const page = await openPage(browser, asFile(join(tables, 'tables.html')));
    await page.waitForSelector('.notes');
    assert.match(await page.textContent('.notes'), /Failed: CCL \(proposed\) on .*privacy\.mix/);
    assert.match(await page.textContent('footer'), /differs from row to row/);
    assert.deepEqual(await violations(page), []);
    assert.deepEqual(page.troubles, []);
  });

  console.log(`\n${passed} passed`);
} finally {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
}
