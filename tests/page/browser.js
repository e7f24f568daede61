// What the tests and pictures of the page have in common: Debian's browser, the program, a run.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const browserPath = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync);

export const openBrowser = () => chromium.launch({ executablePath: browserPath, args: ['--no-sandbox', '--disable-gpu'] });

// A page that remembers what went wrong in it.
export async function openPage(browser, url, options = {}) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.troubles = [];
  page.on('console', (line) => {
    if (line.type() === 'error' || line.type() === 'warning') page.troubles.push(line.text());
  });
  page.on('pageerror', (error) => page.troubles.push(String(error)));
  page.on('dialog', (dialog) => {
    page.troubles.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(url);
  return page;
}

// `kindred train` with a dashboard: its address, and a promise of its end.
export async function startRun(kindred, args) {
  const child = spawn(kindred, ['train', '--dashboard', '127.0.0.1:0', ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  const url = await new Promise((found, failed) => {
    child.stderr.on('data', (bytes) => {
      log += bytes;
      const match = /dashboard: (\S+)/.exec(log);
      if (match) found(match[1]);
    });
    child.on('exit', () => failed(new Error(`the run ended before it had a page:\n${log}`)));
  });
  const ended = new Promise((done) => child.on('exit', (code) => done(code)));
  return { url, ended, log: () => log, stop: () => child.kill('SIGINT') };
}

export function run(kindred, args) {
  const result = spawnSync(kindred, args, { encoding: 'utf8' });
  if (result.status !== 0) throw new Error(`kindred ${args.join(' ')}: ${result.stderr}`);
  return result.stdout;
}

export async function violations(page) {
  const axe = readFileSync(join(root, 'tests/page/node_modules/axe-core/axe.min.js'), 'utf8');
  await page.evaluate(axe);
  const found = await page.evaluate(() => globalThis.axe.run(document));
  return found.violations.map((each) => `${each.id}: ${each.nodes.map((node) => node.html.slice(0, 120)).join(' | ')}`);
}

export const tile = (page, name) => page.textContent(`#tile-${name}`);

// Waits until the function holds in the page. Playwright's own waiting needs eval, which the page's policy forbids.
export async function until(page, holds, given, seconds = 60) {
  for (let tries = 0; tries < 20 * seconds; ++tries) {
    if (await page.evaluate(holds, given)) return;
    await new Promise((done) => setTimeout(done, 50));
  }
  throw new Error(`never: ${holds}; the page says: ${(await page.textContent('body')).slice(0, 2000)}`);
}
