// How long a page of many rounds takes to open, and how smoothly it scrolls.
//   node bench/page.js KINDRED [ROUNDS CLIENTS]
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openBrowser, openPage, run, until } from '../tests/page/browser.js';
import { writeLargeRun } from '../tests/page/large_run.js';

const [kindred, rounds = '10000', clients = '100'] = process.argv.slice(2);
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const folder = mkdtempSync(join(tmpdir(), 'kindred-bench-'));
const browser = await openBrowser();
try {
  const large = join(folder, 'run');
  writeLargeRun(large, Number(rounds), Number(clients));
  const file = join(folder, 'report.html');
  const before = performance.now();
  run(kindred, ['report', large, '--out', file]);
  console.log(`${rounds} rounds of ${clients} clients: report written in ${((performance.now() - before) / 1000).toFixed(2)} s, ${(statSync(file).size / 1e6).toFixed(1)} MB`);
  const opened = [];
  let page;
  for (let turn = 0; turn < 5; ++turn) {
    const start = performance.now();
    page = await openPage(browser, `file://${file}`);
    await until(page, () => document.querySelectorAll('.plot canvas').length >= 8);
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    opened.push((performance.now() - start) / 1000);
  }
  console.log(`opens in ${median(opened).toFixed(2)} s (median of 5, charts drawn)`);
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
  const slow = frames.filter((time) => time > 34).length;
  console.log(`scrolls through ${frames.length} frames: median ${median(frames).toFixed(1)} ms, ${slow} above 34 ms`);
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}
