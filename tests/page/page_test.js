// Drives the real page: a live run, its report, hostile names, a large run, a phone, the keyboard.
//   node tests/page/page_test.js KINDRED
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openBrowser, openPage, root, run, startRun, tile, until, violations } from './browser.js';
import { writeLargeRun } from './large_run.js';

const kindred = process.argv[2];
const folder = mkdtempSync(join(tmpdir(), 'kindred-page-'));
const live = join(folder, 'live');
const tiles = ['round', 'loss', 'knn', 'rank', 'down', 'up', 'digest', 'spent'];
let browser;
let passed = 0;

async function check(name, test) {
  await test();
  ++passed;
  console.log(`PASS  ${name}`);
}

try {
  browser = await openBrowser();
  let final = {};

  await check('live values move, and the page ends as the run does', async () => {
    const training = await startRun(kindred, ['--config', join(root, 'configs/tiny.toml'), '--set', 'train.rounds=40', '--set', 'eval.every=5', '--workers', '1', '--out', live]);
    const page = await openPage(browser, training.url);
    assert.ok(!page.url().includes('token'), 'the token stays out of the address bar');
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
    assert.match(await page.textContent('footer'), /obfuscated features, no formal guarantee/);
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
    } finally {
      training.stop();
      await training.ended;
    }
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
          assert.ok(shown.startsWith(cell.mean.toFixed(2)), `${shown} for ${cell.mean}`);
        }
      }
    }
    await page.selectOption('#run', { index: 1 });
    assert.equal(await page.textContent('h1'), 'small');
    assert.deepEqual(await violations(page), []);
    assert.deepEqual(page.troubles, []);
  });

  console.log(`\n${passed} passed`);
} finally {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
}
