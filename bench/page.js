// How long a page of many rounds takes to open, frozen and live, and how smoothly each scrolls.
//   node bench/page.js KINDRED [ROUNDS CLIENTS TURNS]
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openBrowser, openPage, root, run, startRun, until } from '../tests/page/browser.js';
import { writeLargeRun } from '../tests/page/large_run.js';

const [kindred, rounds = '10000', clients = '100', turns = '5'] = process.argv.slice(2);
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const folder = mkdtempSync(join(tmpdir(), 'kindred-bench-'));
const browser = await openBrowser();

// A run's folder with so many rounds under a coordinator that waits for clients who never come: its page is live.
async function serveLargeRun() {
  const pki = join(folder, 'pki');
  const served = join(folder, 'served');
  run(kindred, ['pki', 'init', '--out', pki]);
  for (const name of ['a', 'b']) run(kindred, ['pki', 'issue', name, '--pki', pki, '--server', '127.0.0.1:1', '--out', join(folder, name)]);
  const config = ['--config', join(root, 'configs/tiny.toml'), '--set', `train.rounds=${rounds}`];
  const serving = await startRun(kindred, [...config, '--listen', '127.0.0.1:0', '--pki', pki, '--out', served], 'serve');
  while (!statSync(join(served, 'metrics.jsonl'), { throwIfNoEntry: false })) await new Promise((done) => setTimeout(done, 50));
  writeLargeRun(served, Number(rounds), Number(clients));
  return serving;
}

async function measure(name, url) {
  const opened = [];
  let page;
  for (let turn = 0; turn < Number(turns); ++turn) {
    await page?.close();
    const start = performance.now();
    page = await openPage(browser, url);
    await until(page, () => document.querySelectorAll('.plot canvas').length >= 8);
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    opened.push((performance.now() - start) / 1000);
  }
  const shown = await page.textContent('#tile-round');
  if (shown !== `${rounds} of ${rounds}`) throw new Error(`the ${name} page shows ${shown}`);
  const frames = await page.evaluate(async () => {
    const times = [];
    const height = document.documentElement.scrollHeight;
    let last = await new Promise(requestAnimationFrame);
    for (let y = 0; y < height; y += 40) {
      scrollTo(0, y);
      const now = await new Promise(requestAnimationFrame);
      times.push(now - last);
      last = now;
    }
    return times;
  });
  await page.close();
  const slow = frames.filter((time) => time > 34).length;
  console.log(`${name}: opens in ${median(opened).toFixed(2)} s (median of ${turns}, charts drawn); scrolls through ${frames.length} frames: median ${median(frames).toFixed(1)} ms, ${slow} above 34 ms`);
}

let serving;
try {
  const large = join(folder, 'run');
  writeLargeRun(large, Number(rounds), Number(clients));
  const file = join(folder, 'report.html');
  const before = performance.now();
  run(kindred, ['report', large, '--out', file]);
  console.log(`${rounds} rounds of ${clients} clients: report written in ${((performance.now() - before) / 1000).toFixed(2)} s, ${(statSync(file).size / 1e6).toFixed(1)} MB`);
  await measure('report', `file://${file}`);
  serving = await serveLargeRun();
  await measure('live', serving.url);
} finally {
  serving?.stop();
  await serving?.ended;
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}
